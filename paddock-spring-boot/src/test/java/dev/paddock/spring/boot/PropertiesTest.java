/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spring.boot;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.Cache;
import dev.paddock.CacheConfiguration;
import dev.paddock.LeaseLock;
import dev.paddock.Otherwise;
import dev.paddock.Paddock;
import dev.paddock.testkit.InMemoryPaddock;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

final class PropertiesTest {
  private final ApplicationContextRunner runner =
      Contexts.runner()
          .withBean("fleet", InMemoryPaddock.class, InMemoryPaddock::create)
          .withUserConfiguration(InMemory.class);

  @Configuration(proxyBeanMethods = false)
  static class InMemory {
    @Bean(destroyMethod = "")
    Paddock paddock(InMemoryPaddock fleet) {
      return fleet.paddock();
    }
  }

  private static CacheConfiguration<?, ?> configuration(CacheManager manager, String name) {
    return ((Cache<?, ?>) requireNonNull(manager.getCache(name)).getNativeCache()).configuration();
  }

  @Test
  void settings_ofOneCacheAndOfAll_reachTheCache() {
    runner
        .withPropertyValues(
            "paddock.defaults.time-to-live=2m",
            "paddock.defaults.jitter=0.2",
            "paddock.caches.posts.time-to-live=30s",
            "paddock.caches.posts.serve-stale-for=5m",
            "paddock.caches.posts.otherwise=load-degraded",
            "paddock.caches.posts.max-value-size=1MB",
            "paddock.caches.posts.compress-above=10KB",
            "paddock.caches.posts.always-fresh=true",
            "paddock.caches.posts.key-prefix=shop:",
            "paddock.caches.posts.max-concurrent-loads=3")
        .run(
            context -> {
              CacheConfiguration<?, ?> posts =
                  configuration(context.getBean(CacheManager.class), "posts");
              assertThat(posts.timeToLive()).isEqualTo(Duration.ofSeconds(30));
              assertThat(posts.serveStaleFor()).isEqualTo(Duration.ofMinutes(5));
              assertThat(posts.jitter()).isEqualTo(0.2);
              assertThat(posts.otherwise()).isInstanceOf(Otherwise.LoadDegraded.class);
              assertThat(posts.maxValueBytes()).isEqualTo(1024 * 1024);
              assertThat(posts.compressAbove()).isEqualTo(10 * 1024);
              assertThat(posts.staleAllowed()).isFalse();
              assertThat(posts.keyPrefix()).isEqualTo("shop:");
              assertThat(posts.maxConcurrentLoads()).isEqualTo(3);
              CacheConfiguration<?, ?> other =
                  configuration(context.getBean(CacheManager.class), "other");
              assertThat(other.timeToLive()).isEqualTo(Duration.ofMinutes(2));
              assertThat(other.jitter()).isEqualTo(0.2);
            });
  }

  @Test
  void value_outOfRange_stopsTheStartAndNamesPropertyAndRange() {
    runner
        .withPropertyValues("paddock.caches.posts.jitter=0.9")
        .run(
            context ->
                assertThat(context.getStartupFailure())
                    .hasStackTraceContaining("paddock.caches.posts.jitter = 0.9")
                    .hasStackTraceContaining("between 0 and 0.5"));
  }

  @Test
  void value_thatContradictsAnother_stopsTheStartAndNamesBoth() {
    runner
        .withPropertyValues(
            "paddock.caches.posts.lease-time=1s", "paddock.caches.posts.lease-floor=5s")
        .run(
            context ->
                assertThat(context.getStartupFailure())
                    .hasStackTraceContaining("paddock.caches.posts")
                    .hasStackTraceContaining("leaseTime PT1S is not between leaseFloor PT5S"));
  }

  @Test
  void defaults_outOfRange_stopTheStartWhereAMethodUsesACache() {
    runner
        .withBean(Posts.class)
        .withPropertyValues("paddock.defaults.time-to-live=0s")
        .run(
            context ->
                assertThat(context.getStartupFailure())
                    .hasStackTraceContaining("paddock.defaults.time-to-live = PT0S"));
  }

  @Test
  void value_ofAnotherType_stopsTheStartAndNamesTheProperty() {
    runner
        .withPropertyValues("paddock.caches.posts.time-to-live=soon")
        .run(
            context ->
                assertThat(context.getStartupFailure())
                    .hasStackTraceContaining("paddock.caches.posts.time-to-live"));
  }

  @Test
  void types_thatDoNotExist_stopTheStartAndNameTheProperty() {
    runner
        .withPropertyValues("paddock.caches.posts.types[0]=java.util.List<com.example.Nothing>")
        .run(
            context ->
                assertThat(context.getStartupFailure())
                    .hasStackTraceContaining("paddock.caches.posts.types[0]")
                    .hasStackTraceContaining("there is no class \"com.example.Nothing\""));
  }

  @Test
  void wrongProperty_atTheStart_isExplainedWithoutStackTrace() {
    InvalidPropertyException failure =
        new InvalidPropertyException(
            "paddock.caches.posts.jitter", 0.9, new IllegalArgumentException("must be below 0.5"));
    assertThat(
            requireNonNull(new InvalidPropertyFailureAnalyzer().analyze(failure)).getDescription())
        .isEqualTo("paddock.caches.posts.jitter = 0.9: must be below 0.5");
  }

  @Test
  void returnType_thatSaysNothing_stopsTheStartAndNamesTheMethod() {
    runner
        .withBean(Untyped.class)
        .run(
            context ->
                assertThat(context.getStartupFailure())
                    .hasStackTraceContaining("Untyped.anything")
                    .hasStackTraceContaining("paddock.caches.posts.types[0]"));
  }

  @Test
  void returnType_thatSaysNothing_isAcceptedWhereTypesAreNamed() {
    runner
        .withBean(Untyped.class)
        .withPropertyValues("paddock.caches.posts.types[0]=java.util.List<java.lang.String>")
        .run(context -> assertThat(context).hasNotFailed());
  }

  @Test
  void typesOfOneCache_thatValuesDoNotTellApart_stopTheStart() {
    runner
        .withBean(TwoLists.class)
        .run(
            context ->
                assertThat(context.getStartupFailure())
                    .hasStackTraceContaining("a value does not say which of the two it is")
                    .hasStackTraceContaining("TwoLists.texts"));
  }

  @Test
  void beans_ofTheApplication_replaceOurs() {
    Contexts.runner()
        .withBean(CacheManager.class, ConcurrentMapCacheManager::new)
        .withBean("fleet", InMemoryPaddock.class, InMemoryPaddock::create)
        .withUserConfiguration(InMemory.class)
        .run(
            context -> {
              assertThat(context).hasNotFailed();
              assertThat(context).doesNotHaveBean(PaddockCacheManager.class);
              assertThat(context).hasSingleBean(Paddock.class);
            });
  }

  @Test
  void cacheType_namedByTheApplication_isLeftToSpringBoot() {
    runner
        .withPropertyValues("spring.cache.type=none")
        .run(context -> assertThat(context).doesNotHaveBean(PaddockCacheManager.class));
  }

  @Test
  void switchedOff_makesNoBean() {
    Contexts.runner()
        .withPropertyValues("paddock.enabled=false")
        .run(
            context -> {
              assertThat(context).hasNotFailed();
              assertThat(context).doesNotHaveBean(Paddock.class);
              assertThat(context).doesNotHaveBean(LeaseLock.class);
            });
  }

  @Test
  void customizers_changePaddockAndCaches() {
    runner
        .withBean(
            PaddockCacheCustomizer.class,
            () -> (name, builder) -> builder.coolDown(Duration.ofSeconds(7)))
        .run(
            context ->
                assertThat(configuration(context.getBean(CacheManager.class), "posts").coolDown())
                    .isEqualTo(Duration.ofSeconds(7)));
  }

  @Test
  void leasedMethod_thatCantSayThatItWasSkipped_stopsTheStart() {
    runner
        .withBean(BadLeased.class)
        .run(
            context ->
                assertThat(context.getStartupFailure())
                    .hasStackTraceContaining("BadLeased.count")
                    .hasStackTraceContaining("which can't say that it was skipped"));
  }

  static class BadLeased {
    @Leased("count")
    public int count() {
      return 1;
    }
  }

  static class Posts {
    @Cacheable("posts")
    public String find(long id) {
      return "post " + id;
    }
  }

  static class Untyped {
    @Cacheable("posts")
    public Object anything(long id) {
      return List.of("post " + id);
    }
  }

  static class TwoLists {
    @Cacheable("posts")
    public List<String> texts() {
      return List.of();
    }

    @Cacheable("posts")
    public List<Long> numbers() {
      return List.of();
    }
  }
}
