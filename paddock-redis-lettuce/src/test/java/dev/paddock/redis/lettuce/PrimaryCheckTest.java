/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static dev.paddock.redis.lettuce.Transports.bytes;
import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.testkit.VirtualEnvironment;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.ValueOutput;
import io.lettuce.core.protocol.CommandType;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

final class PrimaryCheckTest {
  private static final Duration BRIDGE = Duration.ofSeconds(1);
  private static final SocketAddress A = InetSocketAddress.createUnresolved("a", 1);
  private static final SocketAddress B = InetSocketAddress.createUnresolved("b", 1);
  private static final List<Object> PRIMARY = List.of(bytes("master"), 1L, List.of());
  private static final List<Object> REPLICA = List.of(bytes("slave"), bytes("h"), 1L);

  private final VirtualEnvironment environment = new VirtualEnvironment(1);
  private final List<Call<?>> wired = new ArrayList<>();
  private final List<CompletableFuture<List<Object>>> asked = new ArrayList<>();
  private final AtomicInteger reconnects = new AtomicInteger();
  private final List<SocketAddress> left = new ArrayList<>();
  private boolean closed;
  private final Link link =
      new Link(
          environment,
          "m",
          RedisUris.secrets(RedisUris.parse("redis://h:1")),
          BRIDGE.toNanos(),
          100,
          wired::add,
          () -> {});
  private final PrimaryCheck check =
      new PrimaryCheck(
          environment, link, BRIDGE.toNanos(), this::role, reconnects::incrementAndGet, left::add);

  private CompletionStage<List<Object>> role() {
    if (closed) {
      throw new IllegalStateException("closed");
    }
    CompletableFuture<List<Object>> answer = new CompletableFuture<>();
    asked.add(answer);
    return answer;
  }

  private Call<byte[]> send() {
    return link.send(
        new Call<>(
            link,
            CommandType.GET,
            new ValueOutput<>(ByteArrayCodec.INSTANCE),
            Call.args().add("k")));
  }

  private void sendAndForget() {
    Call<?> unused = send();
  }

  private void connected(SocketAddress address) {
    check.connected(address);
  }

  private void answer(List<Object> role) {
    asked.get(asked.size() - 1).complete(role);
  }

  @Test
  void commands_untilThePrimaryHasSaidSo_wait() {
    check.begin(A);
    Call<byte[]> early = send();
    assertThat(wired).isEmpty();
    answer(PRIMARY);

    assertThat(wired).containsExactly(early);
    assertThat(environment.pendingTimers()).isZero();
    assertThat(left).isEmpty();
  }

  @Test
  void replica_isLeft_andGetsNoCommand() {
    check.begin(A);
    sendAndForget();
    answer(REPLICA);
    environment.advance(Duration.ofMillis(250));
    assertThat(reconnects).hasValue(1);
    assertThat(wired).isEmpty();
    check.lost();
    connected(B);
    answer(PRIMARY);

    assertThat(wired).hasSize(1);
  }

  @Test
  void primaryThatMoved_isToldWithItsFormerAddress() {
    check.begin(A);
    answer(PRIMARY);
    check.lost();
    connected(A);
    answer(PRIMARY);
    assertThat(left).isEmpty();
    check.lost();
    connected(B);
    answer(PRIMARY);

    assertThat(left).containsExactly(A);
  }

  @Test
  void clock_ofAnotherServer_isAnotherNode() {
    check.begin(A);
    answer(PRIMARY);
    Object node = link.node();
    check.lost();
    connected(B);
    assertThat(link.node()).isEqualTo(node);
    answer(PRIMARY);

    assertThat(link.node()).isNotEqualTo(node);
  }

  @Test
  void noAnswerOrNoRightOrNoConnection_letsThrough() {
    check.begin(A);
    Call<byte[]> first = send();
    environment.advance(BRIDGE);
    assertThat(link.open()).isLessThanOrEqualTo(1);
    assertThat(send()).isNotDone();
    assertThat(first.isDone() || wired.contains(first)).isTrue();
    int before = wired.size();

    check.lost();
    connected(A);
    asked.get(1).completeExceptionally(new IllegalStateException("NOPERM"));
    sendAndForget();
    assertThat(wired).hasSize(before + 1);

    closed = true;
    check.lost();
    connected(A);
    sendAndForget();
    assertThat(wired).hasSize(before + 2);
  }

  @Test
  void answerOfAFormerConnection_isIgnored() {
    check.begin(A);
    check.lost();
    connected(B);
    asked.get(0).complete(REPLICA);
    asked.get(1).complete(PRIMARY);
    environment.advance(Duration.ofMinutes(1));

    assertThat(reconnects).hasValue(0);
    assertThat(send()).isNotDone();
    assertThat(wired).hasSize(1);
  }

  @Test
  void replicaThatSentinelsInsistOn_isUsedAsOne_andLeftFromTimeToTime() {
    check.begin(A);
    for (int i = 1; i <= PrimaryCheck.REPLICAS_MAX; i++) {
      answer(REPLICA);
      environment.advance(Duration.ofMillis(250));
      assertThat(reconnects).hasValue(i);
      check.lost();
      connected(A);
    }
    assertThat(wired).isEmpty();
    answer(REPLICA);
    sendAndForget();
    assertThat(wired).hasSize(1);
    environment.advance(Duration.ofSeconds(4));
    assertThat(reconnects).hasValue(PrimaryCheck.REPLICAS_MAX);
    environment.advance(Duration.ofSeconds(1));
    assertThat(reconnects).hasValue(PrimaryCheck.REPLICAS_MAX + 1);
  }
}
