/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.paddock.StoreException;
import dev.paddock.spi.HintSubscription;
import dev.paddock.spi.LeaseExtension;
import dev.paddock.spi.LeaseReply;
import dev.paddock.spi.LeaseRequest;
import dev.paddock.spi.StoreOptions;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What acknowledgements by replicas are worth, and when. */
final class RedisLeaseStoreAcksTest {
  private static final String OWNER = "0123456789abcdef0123456789abcdef";
  private static final String NOW = "0001795966624165";
  private static final String NONE = "0000000000000000";

  private final Transport transport = new Transport();
  private final RedisLeaseStore store =
      RedisLeaseStore.open(
          transport,
          new FakeEnvironment(),
          new StoreOptions(Duration.ofSeconds(1), Duration.ofSeconds(1)),
          2);

  private CompletionStage<LeaseReply> acquire() {
    return store.acquire(
        new LeaseRequest("job", OWNER, 10_000, 1_000, LeaseRequest.Waiting.NOBODY));
  }

  @Test
  void grant_acknowledgedByEnough_isGranted() {
    transport.reply = reply("GRANTED", NOW, "0001795966624165000", NONE);
    transport.acks = 2;

    assertThat(value(acquire()).status()).isEqualTo(LeaseReply.Status.GRANTED);
    assertThat(transport.asked).isEqualTo("2 within 500");
    assertThat(store.patience(Duration.ofSeconds(1))).isEqualTo(Duration.ofSeconds(2));
  }

  @Test
  void grant_acknowledgedByTooFew_isAFailureWhoseLeaseMayBeThere() {
    transport.reply = reply("GRANTED", NOW, "0001795966624165000", NONE);
    transport.acks = 1;

    assertThatThrownBy(() -> value(acquire()))
        .cause()
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("1 of 2 replicas")
        .matches(error -> ((StoreException) error).mayHaveHappened());
  }

  @Test
  void grant_acknowledgedOverANewConnection_isAFailure() {
    transport.reply = reply("GRANTED", NOW, "0001795966624165000", NONE);
    transport.acks = 2;
    // The new connection has written nothing, so any replica acknowledges all of it.
    transport.onWait = () -> transport.node = "connection 2";

    assertThatThrownBy(() -> value(acquire()))
        .cause()
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("the connection was lost");
  }

  @Test
  void refusal_asksNoReplica() {
    transport.reply = reply("HELD", NOW, "0000000000000000000", NONE);

    assertThat(value(acquire()).status()).isEqualTo(LeaseReply.Status.HELD);
    assertThat(transport.asked).isEmpty();
  }

  @Test
  void extension_acknowledgedByTooFew_isUnknown() {
    transport.reply = reply("EXTENDED", NOW);
    transport.acks = 0;

    assertThatThrownBy(() -> value(store.extend("job", OWNER, 1, 10_000)))
        .cause()
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("0 of 2 replicas");
    transport.acks = 2;
    assertThat(value(store.extend("job", OWNER, 1, 10_000)).extended()).isTrue();
  }

  @Test
  void lostLease_asksNoReplica() {
    transport.reply = reply("LOST", NOW);

    assertThat(value(store.extend("job", OWNER, 1, 10_000))).isEqualTo(LeaseExtension.LOST);
    assertThat(transport.asked).isEmpty();
  }

  @Test
  void transportThatCannotWait_isRefusedAndClosed() {
    ScriptedTransport plain = new ScriptedTransport();
    StoreOptions options = new StoreOptions(Duration.ofSeconds(1), Duration.ofSeconds(1));

    assertThatThrownBy(() -> RedisLeaseStore.open(plain, new FakeEnvironment(), options, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Cluster");
    assertThat(plain.closes).isEqualTo(1);
  }

  private static <T> T value(CompletionStage<T> stage) {
    CompletableFuture<T> future = stage.toCompletableFuture();
    assertThat(future).isDone();
    return future.join();
  }

  private static List<byte[]> reply(String... parts) {
    return Arrays.stream(parts).map(part -> part.getBytes(US_ASCII)).toList();
  }

  /** One connection to a primary with replicas. */
  private static final class Transport implements RedisTransport, ReplicaAcks {
    List<byte[]> reply = List.of();
    Object node = "connection 1";
    long acks;
    String asked = "";
    Runnable onWait = () -> {};

    @Override
    public CompletionStage<Long> awaitReplicas(int replicas, long millis) {
      asked = replicas + " within " + millis;
      onWait.run();
      return CompletableFuture.completedFuture(acks);
    }

    @Override
    public CompletionStage<byte @Nullable []> get(byte[] key) {
      throw new AssertionError("leases are not read by GET");
    }

    @Override
    public CompletionStage<List<byte[]>> evalsha(String sha1, byte[][] keys, byte[][] args) {
      return CompletableFuture.completedFuture(reply);
    }

    @Override
    public CompletionStage<List<byte[]>> eval(byte[] script, byte[][] keys, byte[][] args) {
      throw new AssertionError("the script is known");
    }

    @Override
    public CompletionStage<Long> timeMicros(byte[] key) {
      return CompletableFuture.completedFuture(1_795_966_624_165_000L);
    }

    @Override
    public Object nodeOf(byte[] key) {
      return node;
    }

    @Override
    public boolean shardedChannels() {
      return false;
    }

    @Override
    public HintSubscription subscribe(byte[] channel, Consumer<byte[]> onMessage) {
      return NoHints.INSTANCE;
    }

    @Override
    public void close() {}
  }
}
