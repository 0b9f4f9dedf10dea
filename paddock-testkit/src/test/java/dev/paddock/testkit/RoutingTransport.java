/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import dev.paddock.redis.RedisTransport;
import dev.paddock.spi.HintSubscription;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Plain transports to the masters of a cluster that does not change. */
final class RoutingTransport implements RedisTransport {
  private final RealServers servers;
  private final Map<RedisServerProcess, SocketRedisTransport> transports = new HashMap<>();

  RoutingTransport(RealServers servers) {
    this.servers = servers;
    servers.all().forEach(each -> transports.put(each, new SocketRedisTransport(each.port())));
  }

  private RedisTransport to(byte[] key) {
    SocketRedisTransport transport = transports.get(servers.ownerOf(key));
    if (transport == null) {
      throw new IllegalStateException("a key that no master has");
    }
    return transport;
  }

  @Override
  public CompletionStage<byte @Nullable []> get(byte[] key) {
    return to(key).get(key);
  }

  @Override
  public CompletionStage<List<byte[]>> evalsha(String sha1, byte[][] keys, byte[][] args) {
    return to(keys[0]).evalsha(sha1, keys, args);
  }

  @Override
  public CompletionStage<List<byte[]>> eval(byte[] script, byte[][] keys, byte[][] args) {
    return to(keys[0]).eval(script, keys, args);
  }

  @Override
  public CompletionStage<Long> timeMicros(byte[] key) {
    return to(key).timeMicros(key);
  }

  @Override
  public Object nodeOf(byte[] key) {
    return servers.ownerOf(key);
  }

  @Override
  public boolean shardedChannels() {
    return false;
  }

  @Override
  public HintSubscription subscribe(byte[] channel, Consumer<byte[]> onMessage) {
    return to(channel).subscribe(channel, onMessage);
  }

  @Override
  public void close() {
    transports.values().forEach(SocketRedisTransport::close);
  }
}
