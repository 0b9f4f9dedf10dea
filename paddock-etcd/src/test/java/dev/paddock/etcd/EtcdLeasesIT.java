/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.etcd;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.paddock.Lease;
import dev.paddock.LeaseEvent;
import dev.paddock.LeaseLock;
import dev.paddock.LeaseOptions;
import dev.paddock.LeaseOutcome;
import dev.paddock.StoreException;
import dev.paddock.spi.LeaseExtension;
import dev.paddock.spi.LeaseReply;
import dev.paddock.spi.LeaseRequest;
import dev.paddock.spi.LeaseStore;
import dev.paddock.spi.StoreOptions;
import dev.paddock.testkit.RealTimeEnvironment;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.options.LeaseOption;
import io.etcd.jetcd.options.PutOption;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Keys that others change, acquisitions nobody remembers, and clients that are somebody else's. */
final class EtcdLeasesIT {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final StoreOptions OPTIONS = new StoreOptions(LIMIT, LIMIT);
  private static final ByteSequence KEY = LeaseRecord.key("job");
  private static final LeaseOptions MINUTES =
      LeaseOptions.defaults().leaseTime(Duration.ofMinutes(5));

  private static @Nullable EtcdCluster cluster;

  private final RealTimeEnvironment environment = RealTimeEnvironment.create();
  private final List<LeaseEvent> events = new CopyOnWriteArrayList<>();
  private @Nullable Client client;

  @BeforeAll
  static void startServer() {
    cluster = EtcdCluster.start(1);
  }

  @AfterAll
  static void stopServer() {
    if (cluster != null) {
      cluster.close();
    }
  }

  @BeforeEach
  void setUp() {
    client = Client.builder().endpoints(cluster().uri().replace("etcd://", "http://")).build();
  }

  @AfterEach
  void tearDown() {
    now(client().getKVClient().delete(KEY));
    client().close();
    environment.close();
  }

  private static EtcdCluster cluster() {
    return requireNonNull(cluster);
  }

  private Client client() {
    return requireNonNull(client);
  }

  private static <T> T now(CompletionStage<T> stage) {
    return stage.toCompletableFuture().orTimeout(60, TimeUnit.SECONDS).join();
  }

  private LeaseStore open() {
    return EtcdLeases.connect(cluster().uri()).open(environment, OPTIONS);
  }

  private LeaseLock.Builder lock() {
    return LeaseLock.newBuilder().connectTimeout(LIMIT).commandTimeout(LIMIT).listener(events::add);
  }

  private static LeaseReply acquire(LeaseStore store, String owner) {
    return now(
        store.acquire(
            new LeaseRequest("job", owner, 300_000, 60_000, LeaseRequest.Waiting.NOBODY)));
  }

  private KeyValue stored() {
    return now(client().getKVClient().get(KEY)).getKvs().get(0);
  }

  private long leftSeconds(long etcdLease) {
    return now(client().getLeaseClient().timeToLive(etcdLease, LeaseOption.DEFAULT)).getTTL();
  }

  private static ByteSequence text(String value) {
    return ByteSequence.from(value, UTF_8);
  }

  @Test
  void connect_byUri_findsTheProvider() {
    try (LeaseLock lock = LeaseLock.connect(cluster().uri())) {
      // With the short time-outs of the defaults, a slow machine may need more than one attempt.
      Lease lease =
          await()
              .atMost(LIMIT)
              .ignoreException(StoreException.class)
              .until(() -> lock.tryAcquire("job", MINUTES).orElse(null), held -> held != null);
      assertThat(lease.fencingToken()).isEqualTo(stored().getCreateRevision());
      assertThat(stored().getValue().toString(UTF_8)).startsWith(lease.uniqueId());
    }
  }

  @Test
  void connect_nobodyThere_failsInTimeWithoutThePassword() {
    assertThatThrownBy(
            () ->
                LeaseLock.newBuilder()
                    .store("etcd://user:s3cret@127.0.0.1:1")
                    .connectTimeout(Duration.ofMillis(500))
                    .build())
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("127.0.0.1:1")
        .hasMessageNotContaining("s3cret");
  }

  @Test
  void acquire_twoLeases_haveAnEtcdLeaseEach() {
    LeaseStore store = open();
    acquire(store, "a");
    now(
        store.acquire(
            new LeaseRequest("other", "b", 300_000, 60_000, LeaseRequest.Waiting.NOBODY)));
    long other =
        now(client().getKVClient().get(LeaseRecord.key("other"))).getKvs().get(0).getLease();

    assertThat(stored().getLease()).isNotZero().isNotEqualTo(other);
    assertThat(now(store.release("other", "b"))).isTrue();
    store.close();
  }

  @Test
  void acquire_refused_leavesNoEtcdLease() {
    LeaseStore store = open();
    acquire(store, "a");
    int before = cluster().members().get(0).etcdLeases();
    assertThat(before).isPositive();
    for (int i = 0; i < 5; i++) {
      assertThat(acquire(store, "b" + i).status()).isEqualTo(LeaseReply.Status.HELD);
    }

    await().atMost(LIMIT).until(() -> cluster().members().get(0).etcdLeases() <= before);
    store.close();
  }

  @Test
  void release_byAStoreWithoutMemoryOfIt_freesKeyAndEtcdLease() {
    LeaseStore store = open();
    acquire(store, "a");
    long etcdLease = stored().getLease();
    LeaseStore another = open();

    assertThat(now(another.release("job", "a"))).isTrue();

    assertThat(now(client().getKVClient().get(KEY)).getKvs()).isEmpty();
    await().atMost(LIMIT).until(() -> leftSeconds(etcdLease) < 0);
    store.close();
    another.close();
  }

  @Test
  void release_keyOfAnother_leavesIt() {
    LeaseStore store = open();
    acquire(store, "a");
    now(client().getKVClient().put(KEY, text("b 300")));

    assertThat(now(store.release("job", "a"))).isFalse();
    assertThat(stored().getValue().toString(UTF_8)).isEqualTo("b 300");
    store.close();
  }

  @Test
  void release_keepsTheLeaseThatIsItsOwn_notTheNext() {
    LeaseStore store = open();
    acquire(store, "a");
    assertThat(now(store.release("job", "a"))).isTrue();
    LeaseReply next = acquire(store, "b");

    assertThat(now(store.release("job", "a"))).isFalse();
    assertThat(stored().getCreateRevision()).isEqualTo(next.token());
    store.close();
  }

  @Test
  void extend_keyReplacedUnderALivingEtcdLease_isLost() {
    LeaseStore store = open();
    LeaseReply first = acquire(store, "a");
    KeyValue before = stored();
    now(client().getKVClient().delete(KEY));
    now(
        client()
            .getKVClient()
            .put(
                KEY,
                before.getValue(),
                PutOption.builder().withLeaseId(before.getLease()).build()));

    assertThat(now(store.extend("job", "a", first.token(), 300_000)))
        .isEqualTo(LeaseExtension.LOST);
    store.close();
  }

  @Test
  void extend_etcdLeaseRevoked_isLostAndRecreatesNothing() {
    LeaseStore store = open();
    LeaseReply first = acquire(store, "a");
    now(client().getLeaseClient().revoke(stored().getLease()));

    assertThat(now(store.extend("job", "a", first.token(), 300_000)))
        .isEqualTo(LeaseExtension.LOST);
    assertThat(now(client().getKVClient().get(KEY)).getKvs()).isEmpty();
    store.close();
  }

  @Test
  void key_deletedByHand_isToldAsLost() {
    try (LeaseLock lock = lock().store(cluster().uri()).build()) {
      Lease lease = lock.tryAcquire("job", MINUTES).orElseThrow();

      now(client().getKVClient().delete(KEY));

      await()
          .atMost(LIMIT)
          .untilAsserted(
              () ->
                  assertThat(events)
                      .contains(
                          new LeaseEvent.Lost(
                              "job", lease.fencingToken(), LeaseEvent.LossReason.TAKEN)));
      assertThat(lease.isValid()).isFalse();
      assertThat(lease.release()).isEqualTo(LeaseOutcome.LOST);
    }
  }

  @Test
  void close_onTheApplicationsClient_leavesItOpen() {
    LeaseLock lock = lock().store(EtcdLeases.using(client())).build();
    Lease lease = lock.tryAcquire("job", MINUTES).orElseThrow();
    lock.close();

    assertThat(lease.isValid()).isFalse();
    // It runs out by itself: its work may not have ended.
    assertThat(stored().getCreateRevision()).isEqualTo(lease.fencingToken());
    assertThat(leftSeconds(stored().getLease())).isPositive();
  }

  @Test
  void close_ofItsOwnClient_leavesNoThread() {
    Set<Thread> before = Thread.getAllStackTraces().keySet();
    LeaseLock lock = lock().store(cluster().uri()).build();
    lock.tryAcquire("job", MINUTES).orElseThrow().close();
    assertThat(lock.tryAcquire("left behind", MINUTES)).isPresent();
    lock.close();

    await()
        .atMost(LIMIT.multipliedBy(2))
        .untilAsserted(
            () ->
                assertThat(
                        Thread.getAllStackTraces().keySet().stream()
                            .filter(thread -> !before.contains(thread))
                            .map(Thread::getName)
                            // Of the JVM, and of gRPC for all channels of the JVM.
                            .filter(
                                name ->
                                    !name.startsWith("HttpClient")
                                        && !name.startsWith("VirtualThread-")
                                        && !name.startsWith("ForkJoinPool")
                                        && !name.startsWith("grpc-default-executor")
                                        && !name.startsWith("CompletableFutureDelayScheduler")
                                        && !name.startsWith("FailsafeDelayScheduler")
                                        && !name.startsWith("awaitility"))
                            .collect(Collectors.toList()))
                    .isEmpty());
  }
}
