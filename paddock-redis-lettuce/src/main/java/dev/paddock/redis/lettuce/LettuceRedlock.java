/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static java.util.Objects.requireNonNull;

import dev.paddock.LeaseLock;
import dev.paddock.redis.RedlockBootstrap;
import dev.paddock.redis.RedlockLeaseStore;
import dev.paddock.redis.RedlockNode;
import dev.paddock.spi.Environment;
import dev.paddock.spi.LeaseStore;
import dev.paddock.spi.LeaseStoreFactory;
import dev.paddock.spi.StoreOptions;
import io.lettuce.core.ReadFrom;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

/**
 * Leases by a majority of independent Redis servers, see {@link RedlockLeaseStore} for what that
 * guarantees and what it takes.
 *
 * <p>One Lettuce client for all servers, with one connection for commands to each and one for push
 * hints once somebody waits. A server that is away when a lock is opened is connected to in the
 * background; the others need to be a majority.
 *
 * <p>Immutable and thread-safe. As a factory it may open any number of locks. {@code toString}
 * shows no credentials.
 *
 * @since 0.1.0
 */
public final class LettuceRedlock implements LeaseStoreFactory {
  private final List<RedisURI> uris;
  private final Duration longestLease;

  /**
   * Makes a factory.
   *
   * @param uris copies that nobody else changes
   */
  LettuceRedlock(List<RedisURI> uris, Duration longestLease) {
    this.uris = uris;
    this.longestLease = longestLease;
  }

  /**
   * Sets the longest lease that can be asked for. A server that was restarted stays away from votes
   * for that long. All clients of the servers need the same; to change it, stop them all and
   * {@linkplain #bootstrap bootstrap} the servers again.
   *
   * @param duration 10 ms to 1 day; 1 minute by default
   * @return a copy
   */
  public LettuceRedlock longestLease(Duration duration) {
    return new LettuceRedlock(uris, requireNonNull(duration, "duration"));
  }

  /**
   * Lets servers vote that do not remember what they granted: at the first start, or when too many
   * of them have lost their memory at once. Does nothing if a majority votes already. To be called
   * by people or by what installs the servers, not by each process: it is the statement that no
   * lease is held that the servers don't know. Blocks until it is done.
   *
   * @param occasion why, and so whether leases of before have to be waited for
   * @throws IllegalArgumentException if the number of servers or the longest lease is out of range,
   *     or a server is named twice
   * @throws dev.paddock.StoreException if it failed, with what to do; it may be repeated
   * @throws dev.paddock.PaddockInterruptedException if the thread is interrupted while it waits
   */
  public void bootstrap(RedlockBootstrap occasion) {
    requireNonNull(occasion, "occasion");
    LeaseStoreFactory bootstrapping =
        (environment, options) -> {
          RedlockLeaseStore.bootstrap(
              nodes(environment, options), longestLease, occasion, environment, options);
          return open(environment, options);
        };
    // A lock brings the environment, and shows that the servers can be used.
    LeaseLock.newBuilder().store(bootstrapping).build().close();
  }

  @Override
  public LeaseStore open(Environment environment, StoreOptions options) {
    return RedlockLeaseStore.open(nodes(environment, options), longestLease, environment, options);
  }

  /** Begins to connect to all servers, with one client that ends with the last connection. */
  private List<RedlockNode> nodes(Environment environment, StoreOptions options) {
    OwnedClient owned = new OwnedClient(environment, options.connectTimeout(), options);
    RedisClient client = owned.client();
    AtomicInteger open = new AtomicInteger(uris.size());
    Runnable onClosed =
        () -> {
          if (open.decrementAndGet() == 0) {
            CompletionStage<Void> unused = owned.shutdown();
          }
        };
    List<RedlockNode> nodes = new ArrayList<>();
    for (RedisURI uri : uris) {
      LettuceStoreFactory connector = new LettuceStoreFactory(client, uri, ReadFrom.UPSTREAM);
      LateTransport transport =
          new LateTransport(
              RedisUris.address(uri),
              environment,
              () -> connector.transport(environment, options),
              onClosed);
      transport.begin();
      nodes.add(new RedlockNode(name(uri), transport));
    }
    return nodes;
  }

  /** Databases of one server hold different keys. */
  private static String name(RedisURI uri) {
    return RedisUris.address(uri) + (uri.getDatabase() == 0 ? "" : "/" + uri.getDatabase());
  }

  @Override
  public String toString() {
    return uris.stream()
        .map(LettuceRedlock::name)
        .collect(Collectors.joining(",", "LettuceRedlock[", "]"));
  }
}
