/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spring.boot;

import dev.paddock.LeaseListener;
import dev.paddock.LeaseLock;
import dev.paddock.Paddock;
import dev.paddock.PaddockListener;
import dev.paddock.micrometer.PaddockMetrics;
import dev.paddock.spi.StoreFactory;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.beans.factory.config.EmbeddedValueResolver;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.interceptor.CacheErrorHandler;
import org.springframework.cache.interceptor.CacheInterceptor;
import org.springframework.cache.interceptor.CacheOperationSource;
import org.springframework.cache.interceptor.SimpleCacheErrorHandler;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * Makes the beans: a {@link Paddock} on the application's Redis, Spring's cache manager on it, and
 * a {@link LeaseLock}. Each backs off where the application defines its own. The cache manager also
 * does where {@code spring.cache.type} is set, which names another. Caching is switched on as by
 * {@link EnableCaching} unless the application does it by itself.
 *
 * <p>The names of Spring Boot's own configurations are given as text, because they differ between
 * its versions 3 and 4.
 */
@AutoConfiguration(
    afterName = {
      "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
      "org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration",
      "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
      "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration"
    },
    beforeName = {
      "org.springframework.boot.cache.autoconfigure.CacheAutoConfiguration",
      "org.springframework.boot.autoconfigure.cache.CacheAutoConfiguration"
    })
@ConditionalOnClass({LettuceConnectionFactory.class, Paddock.class})
@ConditionalOnProperty(prefix = "paddock", name = "enabled", matchIfMissing = true)
@EnableConfigurationProperties(PaddockProperties.class)
public final class PaddockAutoConfiguration {
  private static final Log log = LogFactory.getLog(PaddockAutoConfiguration.class);

  /** Made by Spring. */
  public PaddockAutoConfiguration() {}

  @Bean
  PaddockConnections paddockConnections(ObjectProvider<RedisConnectionFactory> factories) {
    return new PaddockConnections(factories::getIfUnique);
  }

  @Bean(destroyMethod = "close")
  @ConditionalOnMissingBean
  Paddock paddock(
      PaddockProperties properties,
      PaddockConnections connections,
      ObjectProvider<StoreFactory> stores,
      ObjectProvider<PaddockListener> listeners,
      ObjectProvider<PaddockCustomizer> customizers) {
    // Spring closes it, before the connections that it uses.
    Paddock.Builder builder = Paddock.newBuilder().closeOnShutdown(false);
    StoreFactory store = stores.getIfUnique();
    builder.store(store == null ? connections.store() : store);
    set("connect-timeout", properties.getConnectTimeout(), builder::connectTimeout);
    set("command-timeout", properties.getCommandTimeout(), builder::commandTimeout);
    set("max-concurrent-loads", properties.getMaxConcurrentLoads(), builder::maxConcurrentLoads);
    set("max-queued-loads", properties.getMaxQueuedLoads(), builder::maxQueuedLoads);
    listeners.orderedStream().forEach(builder::listener);
    customizers.orderedStream().forEach(each -> each.customize(builder));
    return builder.build();
  }

  @Bean(destroyMethod = "close")
  @ConditionalOnMissingBean
  @Lazy
  LeaseLock paddockLeaseLock(
      PaddockProperties properties,
      PaddockConnections connections,
      ObjectProvider<LeaseListener> listeners) {
    LeaseLock.Builder builder = LeaseLock.newBuilder();
    String uri = properties.getLeases().getUri();
    if (uri == null) {
      builder.store(connections.leases());
    } else {
      builder.store(uri);
    }
    set("connect-timeout", properties.getConnectTimeout(), builder::connectTimeout);
    set("command-timeout", properties.getCommandTimeout(), builder::commandTimeout);
    listeners.orderedStream().forEach(builder::listener);
    return builder.build();
  }

  private static <T> void set(
      String name, @Nullable T value, java.util.function.Consumer<T> setter) {
    if (value == null) {
      return;
    }
    try {
      setter.accept(value);
    } catch (IllegalArgumentException e) {
      throw new InvalidPropertyException("paddock." + name, value, e);
    }
  }

  /** Spring's cache. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnMissingBean(value = CacheManager.class, name = "cacheResolver")
  @Conditional(NoOtherCacheType.class)
  static final class CachingConfiguration {
    CachingConfiguration() {}

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static CacheMethods paddockCacheMethods() {
      return new CacheMethods();
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static CacheOperationSourceProcessor paddockCacheOperationSourceProcessor(
        ObjectProvider<CacheMethods> methods, Environment environment) {
      return new CacheOperationSourceProcessor(
          SingletonSupplier.of(methods::getObject),
          environment.getProperty("paddock.protect-all", Boolean.class, true));
    }

    @Bean
    @ConditionalOnMissingBean
    ValueCodecs paddockValueCodecs(PaddockProperties properties) {
      return Json.choose(properties.getJson());
    }

    @Bean
    PaddockCacheManager cacheManager(
        Paddock paddock,
        PaddockProperties properties,
        CacheMethods methods,
        ValueCodecs codecs,
        ObjectProvider<PaddockCacheCustomizer> customizers,
        ObjectProvider<CacheInterceptor> interceptors,
        ConfigurableBeanFactory beans) {
      ClassLoader loader = beans.getBeanClassLoader();
      return new PaddockCacheManager(
          paddock,
          properties,
          methods,
          codecs,
          customizers.orderedStream().toList(),
          () -> errorHandler(interceptors),
          loader == null ? PaddockCacheManager.class.getClassLoader() : loader);
    }

    private static CacheErrorHandler errorHandler(ObjectProvider<CacheInterceptor> interceptors) {
      CacheInterceptor interceptor = interceptors.getIfUnique();
      return interceptor == null ? new SimpleCacheErrorHandler() : interceptor.getErrorHandler();
    }

    @Bean
    StartCheck paddockStartCheck(CacheMethods methods, PaddockCacheManager manager) {
      return new StartCheck(methods, manager);
    }

    /** Switches caching on where the application does not. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnMissingBean(
        name = {
          "org.springframework.cache.config.internalCacheAdvisor",
          "org.springframework.cache.config.internalCacheAspect"
        })
    @EnableCaching
    static final class EnablingConfiguration {
      EnablingConfiguration() {}
    }
  }

  /** Meters, where there is a registry and {@code paddock-micrometer}. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({PaddockMetrics.class, MeterRegistry.class})
  @ConditionalOnBean(MeterRegistry.class)
  static final class MetricsConfiguration {
    MetricsConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    PaddockMetrics paddockMetrics(MeterRegistry registry) {
      return PaddockMetrics.of(registry);
    }
  }

  /** Methods that are {@link Leased}. */
  @Configuration(proxyBeanMethods = false)
  @Import(ProxyCreator.class)
  static final class LeasedConfiguration {
    LeasedConfiguration() {}

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static DefaultPointcutAdvisor paddockLeasedAdvisor(
        ObjectProvider<LeaseLock> lock,
        ObjectProvider<PaddockProperties> properties,
        ConfigurableBeanFactory beans) {
      LeasedMethods methods =
          new LeasedMethods(
              lock::getObject,
              properties::getObject,
              new EmbeddedValueResolver(beans)::resolveStringValue);
      DefaultPointcutAdvisor advisor = new DefaultPointcutAdvisor(methods, methods);
      // Outside of transactions, which are last by default.
      advisor.setOrder(Ordered.LOWEST_PRECEDENCE - 1_000);
      return advisor;
    }
  }

  /** Makes sure that somebody makes proxies. */
  static final class ProxyCreator implements ImportBeanDefinitionRegistrar {
    ProxyCreator() {}

    @Override
    public void registerBeanDefinitions(
        AnnotationMetadata importing, BeanDefinitionRegistry registry) {
      AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
    }
  }

  /** Not where the application names a cache of Spring Boot's. */
  static final class NoOtherCacheType implements Condition {
    NoOtherCacheType() {}

    @Override
    public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
      return !context.getEnvironment().containsProperty("spring.cache.type");
    }
  }

  /** Puts {@link ProtectingCacheOperationSource} in front of Spring's. */
  static final class CacheOperationSourceProcessor implements BeanPostProcessor, PriorityOrdered {
    private final Supplier<CacheMethods> methods;
    private final boolean protectAll;

    CacheOperationSourceProcessor(Supplier<CacheMethods> methods, boolean protectAll) {
      this.methods = methods;
      this.protectAll = protectAll;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String name) {
      return bean instanceof CacheOperationSource source
          ? new ProtectingCacheOperationSource(source, methods.get(), protectAll)
          : bean;
    }

    @Override
    public int getOrder() {
      return Ordered.HIGHEST_PRECEDENCE;
    }
  }

  /** Once all beans are there: refuses what can't work, and says what is not protected. */
  static final class StartCheck implements SmartInitializingSingleton {
    private final CacheMethods methods;
    private final PaddockCacheManager manager;

    StartCheck(CacheMethods methods, PaddockCacheManager manager) {
      this.methods = methods;
      this.manager = manager;
    }

    @Override
    public void afterSingletonsInstantiated() {
      methods.caches().forEach(manager::getCache);
      methods.check();
      Map<String, String> unprotected = methods.unprotected();
      if (!unprotected.isEmpty()) {
        StringBuilder hint =
            new StringBuilder(
                "Spring looks into the cache, calls the method and stores by itself, so many callers"
                    + " may load at once, for:");
        unprotected.forEach(
            (method, why) -> hint.append("\n  ").append(method).append(" because of ").append(why));
        log.warn(hint);
      }
    }
  }

  /** Which library makes JSON. */
  private static final class Json {
    private static final boolean JACKSON_3 =
        isPresent("dev.paddock.jackson.JacksonCodec", "tools.jackson.databind.json.JsonMapper");
    private static final boolean JACKSON_2 =
        isPresent(
            "dev.paddock.jackson2.Jackson2Codec", "com.fasterxml.jackson.databind.ObjectMapper");

    private Json() {}

    private static boolean isPresent(String... names) {
      for (String name : names) {
        if (!ClassUtils.isPresent(name, Json.class.getClassLoader())) {
          return false;
        }
      }
      return true;
    }

    static ValueCodecs choose(PaddockProperties.Json wanted) {
      boolean older = String.valueOf(SpringBootVersion.getVersion()).startsWith("3.");
      boolean use2 =
          wanted == PaddockProperties.Json.JACKSON2
              || (wanted == PaddockProperties.Json.AUTO && JACKSON_2 && (older || !JACKSON_3));
      if (use2 ? !JACKSON_2 : !JACKSON_3) {
        throw new InvalidPropertyException(
            "paddock.json",
            wanted,
            new IllegalStateException(
                "add paddock-jackson (Jackson 3) or paddock-jackson2 (Jackson 2), or define a bean"
                    + " of type ValueCodecs"));
      }
      return use2 ? new Jackson2Codecs() : new Jackson3Codecs();
    }
  }
}
