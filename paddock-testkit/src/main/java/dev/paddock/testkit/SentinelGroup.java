/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Three real Sentinels that watch over a primary and two replicas, each a {@link
 * RedisServerProcess} on a free port of the loopback interface. A primary that is silent for a
 * second, unless told otherwise, counts as dead; a failover then takes two to four seconds on an
 * idle machine.
 *
 * <p>A primary that was replaced and comes back begins as a primary and takes writes, which will be
 * lost, until the Sentinels make a replica of it: up to ten seconds and more.
 *
 * <p>Thread-safe. {@link #close()} ends all processes.
 *
 * @since 0.1.0
 */
public final class SentinelGroup implements AutoCloseable {
  /** The name under which the Sentinels know the primary. */
  public static final String NAME = "mymaster";

  private static final Duration DOWN_AFTER = Duration.ofSeconds(1);
  private static final int SENTINELS = 3;
  private static final int QUORUM = 2;
  private static final int REPLICAS = 2;

  private final List<RedisServerProcess> servers = new ArrayList<>();
  private final List<RedisServerProcess> sentinels = new ArrayList<>();
  private @Nullable PrimaryWithReplicas started;

  private SentinelGroup() {}

  /**
   * Starts all and waits until the replicas are in sync and the Sentinels know each other and them.
   *
   * @param settings added to the command line of the primary and the replicas
   * @return the group
   * @throws IllegalStateException if one does not come up, with its log, or they do not find each
   *     other
   */
  public static SentinelGroup start(String... settings) {
    return start(DOWN_AFTER, List.of(RedisServerProcess.chosen().toString()), settings);
  }

  /**
   * Starts all with a patience of one's own, and waits as {@link #start(String...)} does.
   *
   * @param downAfter how long a primary may be silent before it counts as dead; at least 1 ms. For
   *     tests that pause a primary and want no failover: a minute
   * @param settings added to the command line of the primary and the replicas
   * @return the group
   * @throws IllegalStateException if one does not come up, with its log, or they do not find each
   *     other
   */
  public static SentinelGroup start(Duration downAfter, String... settings) {
    return start(downAfter, List.of(RedisServerProcess.chosen().toString()), settings);
  }

  /**
   * Starts all by a command of one or more words, and waits as {@link #start(String...)} does.
   *
   * @param downAfter how long a primary may be silent before it counts as dead; at least 1 ms
   * @param command as for {@link RedisServerProcess#start(List, String...)}; with {@code
   *     --sentinel} it must be a Sentinel
   * @param settings added to the command line of the primary and the replicas
   * @return the group
   * @throws IllegalStateException if one does not come up, with its log, or they do not find each
   *     other
   */
  public static SentinelGroup start(Duration downAfter, List<String> command, String... settings) {
    SentinelGroup group = new SentinelGroup();
    try {
      PrimaryWithReplicas data = PrimaryWithReplicas.start(command, REPLICAS, settings);
      group.started = data;
      group.servers.add(data.primary());
      group.servers.addAll(data.replicas());
      String configuration =
          String.join(
              "\n",
              "sentinel monitor " + NAME + " 127.0.0.1 " + data.primary().port() + " " + QUORUM,
              "sentinel down-after-milliseconds " + NAME + " " + downAfter.toMillis(),
              "sentinel failover-timeout " + NAME + " 5000",
              "sentinel parallel-syncs " + NAME + " 1",
              "");
      for (int i = 0; i < SENTINELS; i++) {
        group.sentinels.add(RedisServerProcess.startSentinel(command, configuration));
      }
      group.awaitQuorum();
      return group;
    } catch (RuntimeException e) {
      group.close();
      throw e;
    }
  }

  private void awaitQuorum() {
    for (RedisServerProcess sentinel : sentinels) {
      ReplicationInfo.awaitUntil(
          "a Sentinel to know all others",
          () ->
              sentinel.console().text("SENTINEL", "CKQUORUM", NAME).startsWith("OK 3 ")
                  && replicasKnown(sentinel) == REPLICAS);
    }
  }

  private static int replicasKnown(RedisServerProcess sentinel) {
    return ((List<?>)
            requireNonNull(sentinel.console().command("SENTINEL", "REPLICAS", NAME), "REPLICAS"))
        .size();
  }

  /**
   * Returns the URI of the group, in Lettuce's syntax.
   *
   * @return {@code redis-sentinel://127.0.0.1:port,127.0.0.1:port,127.0.0.1:port#mymaster}
   */
  public String uri() {
    return "redis-sentinel://" + addresses() + "#" + NAME;
  }

  /**
   * Returns where the Sentinels listen.
   *
   * @return {@code 127.0.0.1:port}, three times, with commas in between
   */
  public String addresses() {
    return sentinels.stream()
        .map(each -> "127.0.0.1:" + each.port())
        .collect(Collectors.joining(","));
  }

  /**
   * Returns the Sentinels.
   *
   * @return three of them, always the same
   */
  public List<RedisServerProcess> sentinels() {
    return List.copyOf(sentinels);
  }

  /**
   * Returns the primary and the replicas.
   *
   * @return three servers, always the same, in no order that means anything after a failover
   */
  public List<RedisServerProcess> servers() {
    return List.copyOf(servers);
  }

  /**
   * Returns the current primary, as soon as all Sentinels that run name the same.
   *
   * @return the primary; it may be dead, if they have not noticed yet
   * @throws IllegalStateException if they do not agree within a minute
   */
  public RedisServerProcess primary() {
    List<RedisServerProcess> found = new ArrayList<>();
    ReplicationInfo.awaitUntil(
        "the Sentinels to agree",
        () -> {
          List<Integer> ports =
              sentinels.stream().map(SentinelGroup::primaryPort).distinct().toList();
          found.clear();
          servers.stream().filter(each -> ports.equals(List.of(each.port()))).forEach(found::add);
          return found.size() == 1;
        });
    return found.get(0);
  }

  private static int primaryPort(RedisServerProcess sentinel) {
    Object reply = sentinel.console().command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME);
    List<?> hostAndPort = (List<?>) requireNonNull(reply, "no such primary");
    return Integer.parseInt(new String((byte[]) requireNonNull(hostAndPort.get(1)), UTF_8));
  }

  /**
   * Kills the current primary (SIGKILL). The Sentinels notice after a second.
   *
   * @return the server that was the primary, for {@link #awaitNewPrimary}
   */
  public RedisServerProcess killPrimary() {
    RedisServerProcess old = primary();
    old.kill();
    return old;
  }

  /**
   * Asks for a failover (SENTINEL FAILOVER) although the primary is well, and does not wait for its
   * end.
   *
   * @return the server that was the primary, for {@link #awaitNewPrimary}
   * @throws IllegalStateException if no replica is fit to take over within a minute
   */
  public RedisServerProcess failover() {
    RedisServerProcess old = primary();
    ReplicationInfo.awaitUntil(
        "a failover to begin",
        () -> sentinels.get(0).console().text("SENTINEL", "FAILOVER", NAME).equals("OK"));
    return old;
  }

  /**
   * Waits until all Sentinels name another primary than the old one, and it takes writes.
   *
   * @param old the former primary
   * @return the new one
   * @throws IllegalStateException if that takes more than a minute
   */
  public RedisServerProcess awaitNewPrimary(RedisServerProcess old) {
    ReplicationInfo.awaitUntil(
        "a new primary",
        () -> {
          int port = primaryPort(sentinels.get(0));
          return port != old.port() && ReplicationInfo.of(byPort(port)).primary();
        });
    return primary();
  }

  private RedisServerProcess byPort(int port) {
    return servers.stream().filter(each -> each.port() == port).findFirst().orElseThrow();
  }

  /**
   * Waits until all servers but the primary are its replicas and in sync: after a failover, and
   * after the old primary was started again.
   *
   * @throws IllegalStateException if that takes more than a minute
   */
  public void awaitSync() {
    // Who is primary is asked each time: on a machine that stands still there may be another
    // failover meanwhile.
    ReplicationInfo.awaitUntil(
        "the replicas to be in sync",
        () -> {
          RedisServerProcess primary = primary();
          long offset = ReplicationInfo.of(primary).offset();
          return servers.stream()
              .filter(each -> each.port() != primary.port())
              .map(ReplicationInfo::of)
              .allMatch(info -> !info.primary() && info.inSync() && info.offset() >= offset);
        });
  }

  /** Ends all processes. Idempotent. */
  @Override
  public void close() {
    sentinels.forEach(RedisServerProcess::close);
    if (started != null) {
      started.close();
    }
  }
}
