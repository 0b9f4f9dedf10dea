/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.soak;

import dev.paddock.LeaseLock;
import dev.paddock.redis.RedlockBootstrap;
import dev.paddock.redis.lettuce.LettuceRedis;
import dev.paddock.redis.lettuce.LettuceRedlock;
import dev.paddock.testkit.RedisServerProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Five masters that know nothing of each other. All clients of such a group must know them by the
 * same names, so the workers share the ways to them.
 */
final class RedlockField implements Field {
  private static final int SIZE = 5;

  private final List<RedisServerProcess> servers = new ArrayList<>();
  private final List<Links> links = new ArrayList<>();
  private @Nullable LeaseLock looking;

  private RedlockField() {}

  static Field start(@Nullable Path program) {
    RedlockField field = new RedlockField();
    try {
      for (int i = 0; i < SIZE; i++) {
        field.servers.add(
            program == null ? RedisServerProcess.start() : RedisServerProcess.start(program));
      }
      field.servers.forEach(server -> field.links.add(new Links(List.of(server))));
      field.redlock().bootstrap(RedlockBootstrap.NEW_SERVERS);
      field.looking =
          LeaseLock.newBuilder()
              .store(field.redlock())
              .connectTimeout(Duration.ofSeconds(30))
              .build();
      return field;
    } catch (RuntimeException e) {
      field.close();
      throw e;
    }
  }

  private LettuceRedlock redlock() {
    return LettuceRedis.redlock(uris()).longestLease(Terms.LONGEST_LEASE);
  }

  @Override
  public List<String> uris() {
    return links.stream()
        .flatMap(each -> each.ports().values().stream())
        .map(port -> "redis://127.0.0.1:" + port)
        .toList();
  }

  @Override
  public List<Links> sharedLinks() {
    return List.copyOf(links);
  }

  @Override
  public List<RedisServerProcess> servers() {
    return List.copyOf(servers);
  }

  @Override
  public List<RedisServerProcess> processes() {
    return servers();
  }

  @Override
  public Map<Fault, String> leftOut() {
    return Map.of(
        Fault.FAILOVER, "no replicas, which Redlock must not have", Fault.SLOT_MOVE, "no slots");
  }

  @Override
  public RedisServerProcess writable(SplittableRandom random) {
    return servers.get(random.nextInt(SIZE));
  }

  @Override
  public String whoRules() {
    return "all";
  }

  /** Waits until all may vote: the servers that forgot must not, for as long as a lease lasts. */
  @Override
  public void awaitSettled() {
    LeaseLock lock = looking;
    if (lock == null) {
      return;
    }
    try {
      Field.await(
          "all servers to vote",
          () ->
              lock.inspect("soak").join().nodes().stream().allMatch(node -> node.error() == null));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new SoakException("interrupted", e);
    }
  }

  @Override
  public void kill(SplittableRandom random) {
    RedisServerProcess one = writable(random);
    one.kill();
    Field.pause(random.nextInt(200, 1500));
    one.restart();
    awaitSettled();
  }

  @Override
  public void failOver(SplittableRandom random) {
    throw new SoakException("no replicas");
  }

  @Override
  public void moveSlot(SplittableRandom random) {
    throw new SoakException("no slots");
  }

  @Override
  public void close() {
    if (looking != null) {
      looking.close();
    }
    links.forEach(Links::close);
    servers.forEach(RedisServerProcess::close);
  }
}
