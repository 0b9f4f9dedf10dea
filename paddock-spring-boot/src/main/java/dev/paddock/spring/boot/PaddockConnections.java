/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spring.boot;

import dev.paddock.redis.lettuce.LettuceRedis;
import dev.paddock.spi.LeaseStoreFactory;
import dev.paddock.spi.StoreFactory;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ReadFrom;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.StaticCredentialsProvider;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import java.lang.reflect.Field;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.RedisPassword;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConverters;
import org.springframework.util.ReflectionUtils;

/**
 * A client of the application's Redis, made the first time that it is needed: with the client
 * resources, options (TLS by SSL bundles is among them), credentials and servers of its connection
 * factory. It is a client of its own because Spring stops the factory's while beans still run, and
 * whenever it pauses a context.
 */
final class PaddockConnections implements DisposableBean {
  private final Supplier<@Nullable RedisConnectionFactory> factories;
  private final ReentrantLock lock = new ReentrantLock();
  private @Nullable AbstractRedisClient client;
  private @Nullable RedisURI uri;
  private @Nullable ReadFrom readFrom;

  PaddockConnections(Supplier<@Nullable RedisConnectionFactory> factories) {
    this.factories = factories;
  }

  StoreFactory store() {
    AbstractRedisClient opened = open();
    if (opened instanceof RedisClusterClient cluster) {
      return LettuceRedis.using(cluster);
    }
    return LettuceRedis.using(
        (RedisClient) opened, address(), readFrom == null ? ReadFrom.UPSTREAM : readFrom);
  }

  LeaseStoreFactory leases() {
    AbstractRedisClient opened = open();
    return opened instanceof RedisClusterClient cluster
        ? LettuceRedis.leasesUsing(cluster)
        : LettuceRedis.leasesUsing((RedisClient) opened, address());
  }

  private RedisURI address() {
    RedisURI known = uri;
    if (known == null) {
      throw new IllegalStateException("there is no client yet");
    }
    return known;
  }

  private AbstractRedisClient open() {
    lock.lock();
    try {
      AbstractRedisClient open = client;
      if (open == null) {
        open = create(factory());
        client = open;
      }
      return open;
    } finally {
      lock.unlock();
    }
  }

  private LettuceConnectionFactory factory() {
    RedisConnectionFactory found = factories.get();
    if (found instanceof LettuceConnectionFactory lettuce) {
      return lettuce;
    }
    throw new IllegalStateException(
        found == null
            ? "Paddock finds no RedisConnectionFactory, or several: set spring.data.redis.*, mark one"
                + " as @Primary, or define a bean of type dev.paddock.spi.StoreFactory"
            : "Paddock uses Lettuce, and the RedisConnectionFactory is a "
                + found.getClass().getName()
                + ": leave out spring.data.redis.client-type, or define a bean of type"
                + " dev.paddock.spi.StoreFactory");
  }

  private AbstractRedisClient create(LettuceConnectionFactory factory) {
    refuseUnsupported(factory);
    LettuceClientConfiguration configuration = factory.getClientConfiguration();
    RedisClusterConfiguration clusterConfiguration = factory.getClusterConfiguration();
    if (clusterConfiguration != null && factory.isClusterAware()) {
      List<RedisURI> nodes = new ArrayList<>();
      for (RedisNode node : clusterConfiguration.getClusterNodes()) {
        Integer port = node.getPort();
        RedisURI each =
            uri(
                Objects.requireNonNull(node.getHost(), "host of a cluster's node"),
                port == null ? RedisURI.DEFAULT_REDIS_PORT : port);
        settings(each, factory, configuration);
        credentials(
            each,
            configuration,
            clusterConfiguration,
            clusterConfiguration.getUsername(),
            clusterConfiguration.getPassword());
        nodes.add(each);
      }
      RedisClusterClient cluster =
          configuration
              .getClientResources()
              .map(resources -> RedisClusterClient.create(resources, nodes))
              .orElseGet(() -> RedisClusterClient.create(nodes));
      configuration
          .getClientOptions()
          .ifPresent(
              options ->
                  cluster.setOptions(
                      options instanceof ClusterClientOptions known
                          ? known
                          : ClusterClientOptions.builder(options).build()));
      return cluster;
    }
    uri = address(factory, configuration);
    readFrom = configuration.getReadFrom().orElse(null);
    RedisClient single =
        configuration.getClientResources().map(RedisClient::create).orElseGet(RedisClient::create);
    configuration.getClientOptions().ifPresent(single::setOptions);
    return single;
  }

  private static RedisURI address(
      LettuceConnectionFactory factory, LettuceClientConfiguration configuration) {
    RedisSentinelConfiguration sentinels = factory.getSentinelConfiguration();
    if (sentinels != null && factory.isRedisSentinelAware()) {
      RedisURI address = LettuceConverters.sentinelConfigurationToRedisURI(sentinels);
      settings(address, factory, configuration);
      address.getSentinels().forEach(each -> settings(each, factory, configuration));
      address.setDatabase(factory.getDatabase());
      configuration
          .getRedisCredentialsProviderFactory()
          .ifPresent(
              provider -> {
                address.setCredentialsProvider(provider.createCredentialsProvider(sentinels));
                address
                    .getSentinels()
                    .forEach(
                        each ->
                            each.setCredentialsProvider(
                                provider.createSentinelCredentialsProvider(sentinels)));
              });
      return address;
    }
    RedisStandaloneConfiguration standalone = factory.getStandaloneConfiguration();
    RedisURI address = uri(standalone.getHostName(), standalone.getPort());
    settings(address, factory, configuration);
    address.setDatabase(factory.getDatabase());
    credentials(
        address, configuration, standalone, standalone.getUsername(), standalone.getPassword());
    return address;
  }

  private static RedisURI uri(String host, int port) {
    return RedisURI.builder().withHost(host).withPort(port).build();
  }

  private static void settings(
      RedisURI uri, LettuceConnectionFactory factory, LettuceClientConfiguration configuration) {
    uri.setSsl(configuration.isUseSsl());
    uri.setStartTls(configuration.isStartTls());
    uri.setVerifyPeer(configuration.getVerifyMode());
    String name = factory.getClientName();
    if (name != null) {
      uri.setClientName(name);
    }
  }

  private static void credentials(
      RedisURI uri,
      LettuceClientConfiguration configuration,
      RedisConfiguration source,
      @Nullable String user,
      RedisPassword password) {
    if (configuration.getRedisCredentialsProviderFactory().isPresent()) {
      uri.setCredentialsProvider(
          configuration
              .getRedisCredentialsProviderFactory()
              .get()
              .createCredentialsProvider(source));
      return;
    }
    if (password.isPresent()) {
      uri.setCredentialsProvider(
          new StaticCredentialsProvider(
              user == null || user.isEmpty() ? null : user, password.get()));
    }
  }

  private static void refuseUnsupported(LettuceConnectionFactory factory) {
    if (factory.getSocketConfiguration() != null) {
      throw new IllegalStateException(
          "Paddock does not connect through a Unix socket: define a bean of type"
              + " dev.paddock.spi.StoreFactory");
    }
    // There is no accessor, and what accessors return then is localhost.
    Field field = ReflectionUtils.findField(LettuceConnectionFactory.class, "configuration");
    if (field != null && field.trySetAccessible()) {
      Object source = ReflectionUtils.getField(field, factory);
      if (source instanceof RedisConfiguration.StaticMasterReplicaConfiguration) {
        throw new IllegalStateException(
            "Paddock does not know which node of a static list is the primary: name it by"
                + " spring.data.redis.host, use Sentinels, or define a bean of type"
                + " dev.paddock.spi.StoreFactory");
      }
    }
  }

  @Override
  public void destroy() {
    AbstractRedisClient open = client;
    if (open != null) {
      // Connections are closed by then; resources that are the application's stay open.
      open.shutdown(Duration.ZERO, Duration.ofSeconds(2));
    }
  }
}
