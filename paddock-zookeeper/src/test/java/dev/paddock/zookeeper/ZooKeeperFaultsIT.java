/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.zookeeper;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.paddock.Lease;
import dev.paddock.LeaseEvent;
import dev.paddock.LeaseLock;
import dev.paddock.LeaseOptions;
import dev.paddock.StoreException;
import dev.paddock.spi.LeaseExtension;
import dev.paddock.spi.LeaseReply;
import dev.paddock.spi.LeaseRequest;
import dev.paddock.spi.LeaseStore;
import dev.paddock.spi.StoreOptions;
import dev.paddock.testkit.FaultProxy;
import dev.paddock.testkit.RealTimeEnvironment;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.apache.curator.retry.RetryNTimes;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingServer;
import org.apache.zookeeper.CreateMode;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Sessions that end, servers that go, and clients that are somebody else's. */
final class ZooKeeperFaultsIT {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final int TICK_MILLIS = 500;
  private static final int SESSION_MILLIS = 10_000;
  private static final String PATH = "/paddock/leases/job";
  private static final LeaseOptions PATIENT =
      LeaseOptions.defaults().leaseTime(Duration.ofSeconds(5)).waitTime(LIMIT);
  private static final LeaseOptions RENEWED = PATIENT.renewFor(Duration.ofMinutes(10));

  private final List<LeaseEvent> events = new CopyOnWriteArrayList<>();
  private @Nullable TestingServer server;
  private @Nullable CuratorFramework client;

  @BeforeEach
  void setUp() throws Exception {
    server =
        new TestingServer(
            new InstanceSpec(null, -1, -1, -1, true, 1, TICK_MILLIS, -1, null, "127.0.0.1"), true);
    client =
        CuratorFrameworkFactory.builder()
            .connectString(server().getConnectString())
            .sessionTimeoutMs(SESSION_MILLIS)
            .connectionTimeoutMs(SESSION_MILLIS)
            .retryPolicy(new RetryNTimes(10, 500))
            .build();
    client().start();
    assertThat(client().blockUntilConnected(60, TimeUnit.SECONDS)).isTrue();
  }

  @AfterEach
  void tearDown() throws Exception {
    client().close();
    server().close();
  }

  private TestingServer server() {
    return requireNonNull(server);
  }

  private CuratorFramework client() {
    return requireNonNull(client);
  }

  private String uri() {
    return "zookeeper://" + server().getConnectString();
  }

  /** A lock on the application's client, whose events are kept. */
  private LeaseLock onClient() {
    return builder().store(ZooKeeperLeases.using(client())).listener(events::add).build();
  }

  /** A lock with a client of its own. */
  private LeaseLock own() {
    return builder()
        .store(ZooKeeperLeases.connect(uri(), options -> options.sessionTimeoutMs(SESSION_MILLIS)))
        .build();
  }

  private static LeaseLock.Builder builder() {
    return LeaseLock.newBuilder().connectTimeout(LIMIT).commandTimeout(Duration.ofSeconds(10));
  }

  private LeaseStore storeOnClient(RealTimeEnvironment environment) {
    return ZooKeeperLeases.using(client()).open(environment, new StoreOptions(LIMIT, LIMIT));
  }

  private static LeaseReply acquired(LeaseStore store, String owner) {
    LeaseReply reply =
        store
            .acquire(new LeaseRequest("job", owner, 5_000, 60_000, LeaseRequest.Waiting.NOBODY))
            .toCompletableFuture()
            .join();
    assertThat(reply.status()).isEqualTo(LeaseReply.Status.GRANTED);
    return reply;
  }

  private void expireSession() throws Exception {
    client().getZookeeperClient().getZooKeeper().getTestable().injectSessionExpiration();
  }

  @Test
  void connect_byUri_findsTheProvider() {
    try (LeaseLock lock = LeaseLock.connect(uri() + "/some/where")) {
      Lease lease =
          lock.tryAcquire("job", LeaseOptions.defaults().leaseTime(Duration.ofSeconds(4)))
              .orElseThrow();
      assertThat(lease.fencingToken()).isPositive();
      assertThat(lease.release()).isEqualTo(dev.paddock.LeaseOutcome.RELEASED);
    }
  }

  @Test
  void connect_nobodyThere_failsInTimeWithoutThePassword() {
    assertThatThrownBy(
            () ->
                LeaseLock.newBuilder()
                    .store("zookeeper://user:s3cret@127.0.0.1:1")
                    .connectTimeout(Duration.ofMillis(500))
                    .build())
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("127.0.0.1:1")
        .hasMessageNotContaining("s3cret");
  }

  @Test
  void leaseTime_longerThanHalfTheSession_isRefused() {
    try (LeaseLock lock = own()) {
      assertThatThrownBy(
              () ->
                  lock.tryAcquire(
                      "job", LeaseOptions.defaults().leaseTime(Duration.ofMillis(5_001))))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("zookeeper");
    }
  }

  @Test
  void session_expired_isToldAsLostBeforeAnotherHolds() throws Exception {
    try (FaultProxy proxy = FaultProxy.to(server().getPort());
        LeaseLock lock =
            builder()
                .store(
                    ZooKeeperLeases.connect(
                        "zookeeper://127.0.0.1:" + proxy.port(),
                        options -> options.sessionTimeoutMs(SESSION_MILLIS)))
                .build();
        LeaseLock another = own()) {
      AtomicBoolean told = new AtomicBoolean();
      Lease first = lock.tryAcquire("job", RENEWED).orElseThrow();
      first.onLost(() -> told.set(true));
      CompletableFuture<Optional<Lease>> waiting = another.tryAcquireAsync("job", PATIENT);
      CompletableFuture<Boolean> inOrder =
          waiting.thenApply(granted -> told.get() && !first.isValid());

      // The server hears no more of the session, and ends it in its own time.
      proxy.blackHoleUp(true);
      proxy.blackHoleDown(true);

      Lease second = waiting.get(60, TimeUnit.SECONDS).orElseThrow();
      assertThat(inOrder.get(60, TimeUnit.SECONDS)).isTrue();
      assertThat(second.fencingToken()).isGreaterThan(first.fencingToken());
      assertThat(first.outcome()).isPresent();
      assertThat(second.isValid()).isTrue();
      second.close();
    }
  }

  @Test
  void session_endedAtOnce_isToldAndTheNextTokenIsGreater() throws Exception {
    try (LeaseLock lock = onClient();
        LeaseLock another = own()) {
      AtomicBoolean told = new AtomicBoolean();
      Lease first = lock.tryAcquire("job", RENEWED).orElseThrow();
      first.onLost(() -> told.set(true));
      CompletableFuture<Optional<Lease>> waiting = another.tryAcquireAsync("job", PATIENT);

      // The client itself ends its session then, and tells its listeners on another thread.
      expireSession();

      Lease second = waiting.get(60, TimeUnit.SECONDS).orElseThrow();
      assertThat(second.fencingToken()).isGreaterThan(first.fencingToken());
      await().atMost(LIMIT).until(() -> told.get() && !first.isValid());
      assertThat(first.release()).isEqualTo(dev.paddock.LeaseOutcome.LOST);
      assertThat(second.isValid()).isTrue();
      second.close();
    }
  }

  @Test
  void session_expired_isToldByTheSessionNotByTheTime() throws Exception {
    try (LeaseLock lock = onClient()) {
      // Nobody renews it, so nobody but the session can tell.
      Lease lease = lock.tryAcquire("job", PATIENT).orElseThrow();
      expireSession();
      await()
          .atMost(LIMIT)
          .until(() -> events.stream().anyMatch(LeaseEvent.Lost.class::isInstance));
      assertThat(events)
          .contains(new LeaseEvent.Lost("job", lease.fencingToken(), LeaseEvent.LossReason.TAKEN));
      assertThat(lease.isValid()).isFalse();
    }
  }

  @Test
  void session_new_doesNotAdoptWhatTheOldOneLeft() throws Exception {
    RealTimeEnvironment environment = RealTimeEnvironment.create();
    LeaseStore store = storeOnClient(environment);
    LeaseReply first = acquired(store, "a");
    long before = client().getZookeeperClient().getZooKeeper().getSessionId();
    expireSession();
    await()
        .atMost(LIMIT)
        .ignoreExceptions()
        .until(
            () ->
                client().getZookeeperClient().isConnected()
                    && client().getZookeeperClient().getZooKeeper().getSessionId() != before
                    && client().checkExists().forPath("/") != null);

    // The old session's node is still there: nobody has told the server that it ended.
    assertThat(store.extend("job", "a", first.token(), 5_000).toCompletableFuture().join())
        .isEqualTo(LeaseExtension.LOST);
    assertThat(store.release("job", "a").toCompletableFuture().join()).isFalse();
    store.close();
    environment.close();
  }

  @Test
  void extend_nodeReplacedInTheSameSession_isLost() throws Exception {
    RealTimeEnvironment environment = RealTimeEnvironment.create();
    LeaseStore store = storeOnClient(environment);
    LeaseReply first = acquired(store, "a");
    byte[] data = client().getData().forPath(PATH);
    client().delete().forPath(PATH);
    client().create().withMode(CreateMode.EPHEMERAL).forPath(PATH, data);

    assertThat(store.extend("job", "a", first.token(), 5_000).toCompletableFuture().join())
        .isEqualTo(LeaseExtension.LOST);
    store.close();
    environment.close();
  }

  @Test
  void release_nodeOfAnother_leavesIt() throws Exception {
    RealTimeEnvironment environment = RealTimeEnvironment.create();
    LeaseStore store = storeOnClient(environment);
    acquired(store, "a");
    client().delete().forPath(PATH);
    client().create().withMode(CreateMode.EPHEMERAL).forPath(PATH, "b 5000".getBytes(UTF_8));

    assertThat(store.release("job", "a").toCompletableFuture().join()).isFalse();
    assertThat(client().getData().forPath(PATH)).asString(UTF_8).isEqualTo("b 5000");
    store.close();
    environment.close();
  }

  @Test
  void acquire_parentsRemovedMeanwhile_makesThemAgain() throws Exception {
    try (LeaseLock lock = onClient()) {
      client().delete().deletingChildrenIfNeeded().forPath("/paddock");
      assertThat(lock.tryAcquire("job", PATIENT)).isPresent();
    }
  }

  @Test
  void node_deletedByHand_isToldAsLost() throws Exception {
    try (LeaseLock lock = onClient()) {
      Lease lease = lock.tryAcquire("job", PATIENT).orElseThrow();
      client().delete().forPath(PATH);
      await()
          .atMost(LIMIT)
          .untilAsserted(
              () ->
                  assertThat(events)
                      .contains(
                          new LeaseEvent.Lost(
                              "job", lease.fencingToken(), LeaseEvent.LossReason.TAKEN)));
      assertThat(lease.isValid()).isFalse();
    }
  }

  @Test
  void server_restartedWithinTheSession_leaseIsKeptOrToldLost() throws Exception {
    try (LeaseLock lock = onClient()) {
      Lease lease = lock.tryAcquire("job", RENEWED).orElseThrow();

      server().restart();
      int before = events.size();

      await()
          .atMost(LIMIT)
          .until(
              () ->
                  events.stream()
                      .skip(before)
                      .anyMatch(
                          event ->
                              event instanceof LeaseEvent.Extended
                                  || event instanceof LeaseEvent.Lost));
      boolean lost = events.stream().anyMatch(LeaseEvent.Lost.class::isInstance);
      if (!lost) {
        assertThat(client().checkExists().forPath(PATH).getCzxid()).isEqualTo(lease.fencingToken());
      }
      lease.close();
      await().atMost(LIMIT).until(() -> client().checkExists().forPath(PATH) == null);
    }
  }

  @Test
  void close_onTheApplicationsClient_leavesItOpenAndFreesWhatIsHeldLater() throws Exception {
    LeaseLock lock = onClient();
    Lease lease = lock.tryAcquire("job", PATIENT).orElseThrow();
    lock.close();

    assertThat(client().getState()).isEqualTo(CuratorFrameworkState.STARTED);
    assertThat(client().checkExists().forPath("/")).isNotNull();
    assertThat(lease.isValid()).isFalse();
    await().atMost(LIMIT).until(() -> client().checkExists().forPath(PATH) == null);
  }

  @Test
  void close_whileHolding_doesNotLetAnotherInBeforeTheSessionTimesOut() throws Exception {
    LeaseLock lock = own();
    assertThat(lock.tryAcquire("job", PATIENT)).isPresent();
    lock.close();

    // The session ends by itself only: had it been closed, the node would be gone by now.
    assertThat(client().checkExists().forPath(PATH)).isNotNull();
    try (LeaseLock another = own()) {
      another.tryAcquire("job", PATIENT).orElseThrow().close();
    }
  }

  @Test
  void close_whileHoldingAndConnectingAgain_doesNotEndTheSession() throws Exception {
    try (FaultProxy proxy = FaultProxy.to(server().getPort())) {
      LeaseLock lock =
          builder()
              .store(
                  ZooKeeperLeases.connect(
                      "zookeeper://127.0.0.1:" + proxy.port(),
                      options -> options.sessionTimeoutMs(SESSION_MILLIS)))
              .build();
      assertThat(lock.tryAcquire("job", PATIENT)).isPresent();
      // The connection goes, and the next one waits for the server's answer.
      proxy.delayDown(Duration.ofSeconds(3));
      proxy.reset();
      await().atMost(LIMIT).until(() -> proxy.connections() == 1);
      lock.close();

      assertThat(client().checkExists().forPath(PATH)).isNotNull();
    }
  }

  @Test
  void close_ofItsOwnClient_leavesNoThread() throws Exception {
    // It might lose its session, and start threads for another.
    client().close();
    Set<Thread> before = Thread.getAllStackTraces().keySet();
    LeaseLock lock = own();
    lock.tryAcquire("job", PATIENT).orElseThrow().close();
    assertThat(lock.tryAcquire("other", PATIENT)).isPresent();
    lock.close();

    await()
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(
                        Thread.getAllStackTraces().keySet().stream()
                            .filter(thread -> !before.contains(thread))
                            .map(Thread::getName)
                            .filter(
                                name ->
                                    !name.startsWith("NIOWorkerThread")
                                        && !name.startsWith("VirtualThread-")
                                        && !name.startsWith("ForkJoinPool")
                                        && !name.startsWith("awaitility"))
                            .collect(Collectors.toList()))
                    .isEmpty());
  }
}
