/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.StoreException;
import dev.paddock.redis.RedisReplyException;
import dev.paddock.testkit.VirtualEnvironment;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.ValueOutput;
import io.lettuce.core.protocol.CommandType;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

final class LinkTest {
  private static final Duration BRIDGE = Duration.ofSeconds(1);
  private static final int OPEN_MAX = 3;

  private final VirtualEnvironment environment = new VirtualEnvironment(1);
  private final List<Call<?>> wired = new ArrayList<>();
  private final AtomicInteger readOnly = new AtomicInteger();
  private Consumer<Call<?>> wire = wired::add;
  private final Link link =
      new Link(
          environment,
          "h:1",
          RedisUris.secrets(RedisUris.parse("redis://:hunter22@h:1")),
          BRIDGE.toNanos(),
          OPEN_MAX,
          call -> wire.accept(call),
          readOnly::incrementAndGet);

  private Call<byte[]> call() {
    return new Call<>(
        link, CommandType.GET, new ValueOutput<>(ByteArrayCodec.INSTANCE), Call.args().add("k"));
  }

  private Call<byte[]> send() {
    return link.send(call());
  }

  private static void encode(Call<?> call) {
    call.encode(Unpooled.buffer());
  }

  private static Throwable failure(Call<?> call) {
    assertThat(call).isCompletedExceptionally();
    return call.handle((value, thrown) -> thrown).join();
  }

  private static StoreException storeFailure(Call<?> call) {
    assertThat(failure(call)).isInstanceOf(StoreException.class);
    return (StoreException) failure(call);
  }

  @Test
  void command_whileUp_isSentAtOnce() {
    Call<byte[]> call = send();

    assertThat(wired).containsExactly(call);
    assertThat(environment.pendingTimers()).isZero();
  }

  @Test
  void command_soonAfterTheLoss_isSentAfterTheReconnect() {
    link.lost();
    Call<byte[]> first = send();
    environment.advance(BRIDGE.minusMillis(1));
    Call<byte[]> second = send();
    assertThat(wired).isEmpty();
    link.up();

    assertThat(wired).containsExactly(first, second);
    assertThat(first).isNotDone();
    assertThat(environment.pendingTimers()).isZero();
  }

  @Test
  void command_atTheEndOfTheBridge_failsUnsent() {
    link.lost();
    Call<byte[]> call = send();
    environment.advance(BRIDGE);

    assertThat(storeFailure(call).mayHaveHappened()).isFalse();
    link.up();
    assertThat(wired).isEmpty();
  }

  @Test
  void command_longAfterTheLoss_failsAtOnce() {
    link.lost();
    environment.advance(BRIDGE);
    Call<byte[]> call = send();

    assertThat(storeFailure(call).mayHaveHappened()).isFalse();
    assertThat(call).isCompletedExceptionally();
    assertThat(storeFailure(call)).hasMessageContaining("h:1");
  }

  @Test
  void handshakeThatFails_duringTheOutage_bridgesNoAgain() {
    link.lost();
    environment.advance(BRIDGE);
    link.lost();

    assertThat(send()).isCompletedExceptionally();
  }

  @Test
  void bridge_afterAReconnect_isOfFullLength() {
    link.lost();
    environment.advance(BRIDGE.dividedBy(2));
    link.up();
    link.lost();
    environment.advance(BRIDGE.dividedBy(2).plusMillis(1));
    Call<byte[]> call = send();

    assertThat(call).isNotDone();
    environment.advance(BRIDGE.dividedBy(2));
    assertThat(call).isCompletedExceptionally();
  }

  @Test
  void link_afterAnOutage_isUpAgain() {
    link.lost();
    environment.advance(BRIDGE.multipliedBy(100));
    link.up();

    assertThat(wired).containsExactly(send());
  }

  @Test
  void link_closed_failsWaitingAndLaterCommands_forGood() {
    link.lost();
    Call<byte[]> waiting = send();
    link.close();
    Call<byte[]> later = send();
    link.up();
    Call<byte[]> last = send();

    assertThat(List.of(waiting, later, last))
        .allSatisfy(call -> assertThat(storeFailure(call).mayHaveHappened()).isFalse());
    assertThat(wired).isEmpty();
    assertThat(environment.pendingTimers()).isZero();
  }

  @Test
  void commands_withoutReply_areBounded_whereverTheyAre() {
    Call<byte[]> first = send();
    Call<byte[]> second = send();
    link.lost();
    Call<byte[]> third = send();
    Call<byte[]> tooMany = send();

    assertThat(storeFailure(tooMany).mayHaveHappened()).isFalse();
    assertThat(storeFailure(tooMany)).hasMessageContaining("3 commands");
    assertThat(link.open()).isEqualTo(3);
    assertThat(List.of(first, second, third)).noneMatch(Call::isDone);
    first.complete();
    assertThat(link.open()).isEqualTo(2);
    assertThat(send()).isNotDone();
  }

  @Test
  void command_isCountedOnce_howeverOftenItEnds() {
    Call<byte[]> call = send();
    call.complete();
    call.complete();
    call.cancel();
    call.completeExceptionally(new RedisException("late"));
    send().cancel(true);
    send().completeExceptionally(new RedisException("lost"));

    assertThat(link.open()).isZero();
  }

  @Test
  void reply_isTheValue() {
    Call<byte[]> call = send();
    encode(call);
    call.getOutput().set(ByteBuffer.wrap(new byte[] {7}));
    call.complete();

    assertThat(call.join()).containsExactly(7);
  }

  @Test
  void errorReply_isTheServersMessage_notWrapped() {
    Call<byte[]> call = send();
    encode(call);
    call.getOutput().setError("NOSCRIPT No matching script.");
    call.complete();

    assertThat(failure(call))
        .isInstanceOf(RedisReplyException.class)
        .hasMessage("NOSCRIPT No matching script.")
        .hasNoCause();
    assertThat(readOnly).hasValue(0);
  }

  @Test
  void errorReply_withReadOnlyAnywhere_isReported() {
    Call<byte[]> call = send();
    call.getOutput().setError("ERR Error running script: -READONLY You can't write. @user:12");
    call.complete();

    assertThat(readOnly).hasValue(1);
  }

  @Test
  void lostBeforeSending_certainlyDidNotHappen() {
    Call<byte[]> call = send();
    call.completeExceptionally(new RedisException("Connection is closed"));

    assertThat(storeFailure(call).mayHaveHappened()).isFalse();
    assertThat(storeFailure(call)).hasCauseInstanceOf(RedisException.class);
  }

  @Test
  void lostAfterSending_mayHaveHappened() {
    Call<byte[]> call = send();
    encode(call);
    call.completeExceptionally(new RedisException("Connection closed"));

    assertThat(storeFailure(call).mayHaveHappened()).isTrue();
  }

  @Test
  void closedAfterSending_mayHaveHappened_andIsNoCancellation() {
    Call<byte[]> call = send();
    encode(call);
    call.cancel();

    assertThat(storeFailure(call).mayHaveHappened()).isTrue();
    assertThat(call.isCancelled()).isFalse();
  }

  @Test
  void errorReplyToTheHandshake_isNoReplyToTheCommand() {
    Call<byte[]> call = send();
    call.completeExceptionally(new RedisCommandExecutionException("WRONGPASS invalid"));

    assertThat(storeFailure(call).mayHaveHappened()).isFalse();
  }

  @Test
  void failure_thatHoldsThePassword_isNotShown() {
    Call<byte[]> call = send();
    call.completeExceptionally(
        new RedisCommandExecutionException("ERR unknown command `AUTH`, with args: `hunter22`"));

    assertThat(storeFailure(call)).hasNoCause().hasMessageNotContaining("hunter22");
  }

  @Test
  void lettuceThatThrows_failsTheCommand() {
    wire =
        call -> {
          throw new IllegalStateException("event loop is shut down");
        };

    assertThat(storeFailure(send()).mayHaveHappened()).isFalse();
    assertThat(link.open()).isZero();
  }

  @Test
  void dependentStage_seesOurExceptions() {
    Call<byte[]> call = send();
    call.completeExceptionally(new RedisException("x"));

    assertThat(call.thenApply(value -> 1).handle((value, thrown) -> thrown).join())
        .isInstanceOf(CompletionException.class)
        .hasCauseInstanceOf(StoreException.class);
  }

  @Test
  void node_isTheSameUntilTheNextConnect() {
    Object before = link.node();
    link.lost();
    assertThat(link.node()).isEqualTo(before);
    link.up();

    assertThat(link.node()).isNotEqualTo(before).isEqualTo(link.node());
  }
}
