/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.soak;

import dev.paddock.testkit.RedisServerProcess;
import dev.paddock.testkit.SentinelGroup;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** A primary with replicas, and Sentinels that replace it. */
final class SingleField implements Field {
  /** Longer than a server is stopped or made to wait. */
  private static final Duration DOWN_AFTER = Duration.ofSeconds(3);

  private final SentinelGroup group;

  private SingleField(SentinelGroup group) {
    this.group = group;
  }

  static Field start(@Nullable Path program) {
    return new SingleField(
        program == null
            ? SentinelGroup.start(DOWN_AFTER)
            : SentinelGroup.start(DOWN_AFTER, List.of(program.toString())));
  }

  @Override
  public List<String> uris() {
    return List.of(group.uri());
  }

  @Override
  public List<RedisServerProcess> servers() {
    return group.servers();
  }

  @Override
  public List<RedisServerProcess> processes() {
    List<RedisServerProcess> all = new ArrayList<>(group.sentinels());
    all.addAll(group.servers());
    return all;
  }

  @Override
  public Map<Fault, String> leftOut() {
    return Map.of(Fault.SLOT_MOVE, "no slots");
  }

  @Override
  public RedisServerProcess writable(SplittableRandom random) {
    return group.primary();
  }

  @Override
  public String whoRules() {
    return Integer.toString(group.primary().port());
  }

  @Override
  public void awaitSettled() {
    group.awaitSync();
  }

  @Override
  public void kill(SplittableRandom random) {
    RedisServerProcess old = group.killPrimary();
    group.awaitNewPrimary(old);
    old.restart();
    group.awaitSync();
  }

  @Override
  public void failOver(SplittableRandom random) {
    RedisServerProcess old = group.failover();
    group.awaitNewPrimary(old);
    group.awaitSync();
  }

  @Override
  public void moveSlot(SplittableRandom random) {
    throw new SoakException("no slots");
  }

  @Override
  public void close() {
    group.close();
  }
}
