/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.soak;

import dev.paddock.StoreException;
import dev.paddock.redis.RedisReplyException;
import dev.paddock.testkit.RedisServerProcess;
import dev.paddock.testkit.ServerClocks;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** The servers of a topology, and what can be done to them. */
interface Field extends AutoCloseable {
  long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(90);

  /**
   * Starts servers.
   *
   * @param topology how they are arranged
   * @param clocks moves their clocks; null if that can't be done
   * @return servers that are ready
   */
  static Field start(Topology topology, @Nullable ServerClocks clocks) {
    Path program = clocks == null ? null : clocks.program(RedisServerProcess.installed());
    return switch (topology) {
      case SINGLE -> SingleField.start(program);
      case REDLOCK -> RedlockField.start(program);
      case CLUSTER -> ClusterField.start(program);
    };
  }

  /** Where Paddock is told that they are. */
  List<String> uris();

  /** Those that keep data. */
  List<RedisServerProcess> servers();

  /** All of them, also such as do not run now. */
  List<RedisServerProcess> processes();

  default List<Long> pids() {
    return processes().stream().map(RedisServerProcess::pid).toList();
  }

  /** Ways to single servers that all workers share; empty if each worker has its own to all. */
  default List<Links> sharedLinks() {
    return List.of();
  }

  /** What can't be done to them, and why. */
  Map<Fault, String> leftOut();

  /** Chooses a server that takes writes. */
  RedisServerProcess writable(SplittableRandom random);

  /** Says who takes writes; the text changes when somebody takes over. */
  String whoRules();

  /** Waits until all is as it should be after a change of who takes writes. */
  void awaitSettled();

  /** Kills a server that takes writes, waits for what takes its place, and starts it again. */
  void kill(SplittableRandom random);

  /** Lets a replica take over. */
  void failOver(SplittableRandom random);

  /** Moves a slot. */
  void moveSlot(SplittableRandom random);

  @Override
  void close();

  /** Waits until something holds; what can't be asked is asked again. */
  static void await(String what, BooleanSupplier condition) throws InterruptedException {
    long start = System.nanoTime();
    while (!holds(condition)) {
      if (System.nanoTime() - start > LIMIT_NANOS) {
        throw new SoakException("waited in vain for " + what);
      }
      TimeUnit.MILLISECONDS.sleep(50);
    }
  }

  private static boolean holds(BooleanSupplier condition) {
    try {
      return condition.getAsBoolean();
    } catch (StoreException | RedisReplyException | IllegalStateException e) {
      return false;
    }
  }

  static void pause(long millis) {
    try {
      TimeUnit.MILLISECONDS.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new SoakException("interrupted", e);
    }
  }
}
