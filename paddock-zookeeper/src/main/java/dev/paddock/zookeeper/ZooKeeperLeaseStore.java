/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.zookeeper;

import dev.paddock.LeaseInspection;
import dev.paddock.StoreException;
import dev.paddock.spi.Environment;
import dev.paddock.spi.HintSubscription;
import dev.paddock.spi.LeaseExtension;
import dev.paddock.spi.LeaseReply;
import dev.paddock.spi.LeaseRequest;
import dev.paddock.spi.LeaseStore;
import dev.paddock.spi.LossWatch;
import dev.paddock.spi.StoreOptions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.framework.state.ConnectionStateListener;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.proto.CreateRequest;
import org.jspecify.annotations.Nullable;

/** Leases as ephemeral nodes of one session. */
final class ZooKeeperLeaseStore implements LeaseStore, LossWatch {
  /*
   * ACQUIRE  create an ephemeral node. The id of the transaction (czxid) is the token.
   * EXTEND   confirm: a transaction that changes nothing, so that a majority has seen the session alive,
   *          and a read that shows the node to be still the same: czxid, session, owner. A mere read
   *          could be answered by a server that has lost the others. How long the session then lives is
   *          reckoned in SessionLife.
   * RELEASE  confirm, compare, delete. ZooKeeper can't compare in the same step. It is safe all the same:
   *          a node of our session can go by our own delete, of which there is one at a time, or by
   *          the end of the session, and then the delete fails with it. (Somebody who deletes nodes by
   *          hand is outside of that.)
   *
   * Each request goes to one session and is never repeated in the next. A lease belongs to the session
   * that made it: under any other it is lost, even while its node is still to be seen.
   */
  private static final Duration LEASE_TIME_MIN = Duration.ofMillis(100);
  private static final int STEPS_MAX = 3;
  private static final long AGAIN_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final CuratorFramework client;
  private final LeavingZooKeeper.@Nullable Factory own;
  private final LeaseNodes nodes;
  private final String address;
  private final Environment environment;
  private final Sessions sessions;
  private final Duration leaseTimeMax;
  private final Map<String, Acquisition> acquisitions = new ConcurrentHashMap<>();
  private final Set<NodeHints> hints = ConcurrentHashMap.newKeySet();
  private final ConnectionStateListener listener = this::onConnectionState;
  private final AtomicBoolean closed = new AtomicBoolean();

  private ZooKeeperLeaseStore(
      CuratorFramework client,
      LeavingZooKeeper.@Nullable Factory own,
      LeaseNodes nodes,
      String address,
      Environment environment,
      Sessions sessions,
      Duration leaseTimeMax) {
    this.client = client;
    this.own = own;
    this.nodes = nodes;
    this.address = address;
    this.environment = environment;
    this.sessions = sessions;
    this.leaseTimeMax = leaseTimeMax;
  }

  /**
   * Puts a store on a client that is connected.
   *
   * @param startNanos before the client was started, if it is ours
   */
  static ZooKeeperLeaseStore open(
      CuratorFramework client,
      LeavingZooKeeper.@Nullable Factory own,
      LeaseNodes nodes,
      String address,
      Environment environment,
      StoreOptions options,
      long startNanos)
      throws Exception {
    Sessions sessions =
        new Sessions(
            client,
            environment,
            options.commandTimeout(),
            nodes.parentPath(),
            own != null,
            startNanos);
    Session session = sessions.now();
    if (session == null) {
      throw new StoreException(
          "ZooKeeper at " + address + " can't be opened: the connection was lost again",
          null,
          false);
    }
    ZooKeeperLeaseStore store =
        new ZooKeeperLeaseStore(
            client, own, nodes, address, environment, sessions, session.timeout().dividedBy(2));
    client.getConnectionStateListenable().addListener(store.listener);
    sessions.start();
    return store;
  }

  @Override
  public String kind() {
    return "zookeeper";
  }

  @Override
  public Duration leaseTimeMin() {
    return LEASE_TIME_MIN;
  }

  /** Half of the session time-out: the session surely lives so long after a write in it. */
  @Override
  public Duration leaseTimeMax() {
    return leaseTimeMax;
  }

  @Override
  public Duration patience(Duration commandTimeout) {
    return commandTimeout.multipliedBy(STEPS_MAX);
  }

  /**
   * How long a lease is valid: what was asked for, or what the session surely lives if that is
   * less, without one per cent and 2 ms for clocks that run at different rates.
   */
  static long validMillis(long leaseMillis, long sentNanos, long aliveUntilNanos) {
    long millis = Math.min(leaseMillis, TimeUnit.NANOSECONDS.toMillis(aliveUntilNanos - sentNanos));
    return millis - (millis + 99) / 100 - 2;
  }

  private static <T> CompletableFuture<T> failed(StoreException error) {
    return CompletableFuture.failedFuture(error);
  }

  /** Completes as a stage does, or with a {@link StoreException}. */
  private static <T> CompletableFuture<T> told(
      String operation, String name, CompletionStage<T> stage) {
    CompletableFuture<T> result = new CompletableFuture<>();
    stage.whenComplete(
        (value, error) -> {
          if (error == null) {
            result.complete(value);
          } else {
            result.completeExceptionally(Failures.of(operation, name, error));
          }
        });
    return result;
  }

  @Override
  public CompletionStage<LeaseReply> acquire(LeaseRequest request) {
    String name = request.name();
    if (closed.get()) {
      return failed(Failures.closed("ACQUIRE", name));
    }
    Session session = sessions.now();
    if (session == null) {
      return failed(Failures.notConnected("ACQUIRE", name));
    }
    CreateRequest create;
    try {
      create = nodes.request(name, LeaseNodes.data(request.owner(), request.leaseMillis()));
    } catch (Exception e) {
      return failed(new StoreException("ACQUIRE of the lease " + name + " failed", e, false));
    }
    Acquisition own =
        new Acquisition(name, request.owner(), session, environment, this::onTimeOver);
    Acquisition before = acquisitions.putIfAbsent(request.owner(), own);
    return before == null
        ? told("ACQUIRE", name, create(request, create, own, true))
        : replay(request, before);
  }

  private CompletionStage<LeaseReply> replay(LeaseRequest request, Acquisition before) {
    long token = before.token();
    if (token == 0) {
      return failed(
          new StoreException(
              "ACQUIRE of the lease " + request.name() + " is under way already", null, true));
    }
    return extend(request.name(), request.owner(), token, request.leaseMillis())
        .thenApply(
            extension ->
                extension.extended()
                    ? new LeaseReply(LeaseReply.Status.GRANTED, token, extension.millis())
                    : new LeaseReply(LeaseReply.Status.HELD, 0, 0));
  }

  private CompletableFuture<LeaseReply> create(
      LeaseRequest request, CreateRequest create, Acquisition own, boolean again) {
    long sentNanos = environment.nanoTime();
    CompletableFuture<LeaseReply> result = new CompletableFuture<>();
    CompletionStage<Session.Written<Stat>> creating = own.session().create(create);
    creating.whenComplete(
        (written, error) -> {
          if (error == null) {
            try {
              result.complete(created(request, own, sentNanos, written));
            } catch (StoreException e) {
              result.completeExceptionally(e);
            }
          } else if (Failures.is(error, KeeperException.Code.NODEEXISTS)) {
            acquisitions.remove(request.owner(), own);
            result.complete(new LeaseReply(LeaseReply.Status.HELD, 0, 0));
          } else if (again && Failures.is(error, KeeperException.Code.NONODE)) {
            CompletionStage<LeaseReply> second =
                parents().thenCompose(made -> create(request, create, own, false));
            second.whenComplete(
                (reply, failure) -> {
                  if (failure == null) {
                    result.complete(reply);
                  } else {
                    result.completeExceptionally(failure);
                  }
                });
          } else {
            StoreException known = Failures.of("ACQUIRE", request.name(), error);
            if (!known.mayHaveHappened()) {
              acquisitions.remove(request.owner(), own);
            }
            // Else the engine releases it: the node may be there, or still come.
            result.completeExceptionally(known);
          }
        });
    return result;
  }

  private LeaseReply created(
      LeaseRequest request, Acquisition own, long sentNanos, Session.Written<Stat> written) {
    long token = written.value().getCzxid();
    long valid = validMillis(request.leaseMillis(), sentNanos, written.aliveUntilNanos());
    long tookMillis = TimeUnit.NANOSECONDS.toMillis(environment.nanoTime() - sentNanos);
    if (tookMillis > request.validForMillis()) {
      onTimeOver(own);
      return new LeaseReply(LeaseReply.Status.TOO_LATE, 0, 0);
    }
    if (!own.hold(token, request.leaseMillis())) {
      onTimeOver(own);
      throw new StoreException(
          "ACQUIRE of the lease " + request.name() + " was given up", null, true);
    }
    if (valid <= 0) {
      throw Failures.silentSession("ACQUIRE", request.name());
    }
    return new LeaseReply(LeaseReply.Status.GRANTED, token, valid);
  }

  /** Somebody has removed the node above all leases. */
  private CompletableFuture<Boolean> parents() {
    CompletableFuture<Boolean> made = new CompletableFuture<>();
    try {
      client
          .create()
          .creatingParentsIfNeeded()
          .inBackground((curator, event) -> made.complete(true))
          .forPath(nodes.parent(), new byte[0]);
    } catch (Exception e) {
      made.completeExceptionally(e);
    }
    return made;
  }

  @Override
  public CompletionStage<LeaseExtension> extend(
      String name, String owner, long token, long leaseMillis) {
    if (closed.get()) {
      return failed(Failures.closed("EXTEND", name));
    }
    Acquisition own = acquisitions.get(owner);
    if (own == null || own.token() != token || !own.name().equals(name)) {
      return CompletableFuture.completedFuture(LeaseExtension.LOST);
    }
    Session session = sessions.now();
    if (session == null) {
      return failed(Failures.notConnected("EXTEND", name));
    }
    if (!isSame(session, own.session())) {
      lose(own);
      return CompletableFuture.completedFuture(LeaseExtension.LOST);
    }
    long sentNanos = environment.nanoTime();
    return told(
        "EXTEND",
        name,
        confirm("EXTEND", session, name)
            .thenApply(
                found -> {
                  if (found == null
                      || found.value().stat().getCzxid() != token
                      || !isOurs(session, owner, found.value())
                      || !own.extend(leaseMillis)) {
                    lose(own);
                    return LeaseExtension.LOST;
                  }
                  long valid = validMillis(leaseMillis, sentNanos, found.aliveUntilNanos());
                  if (valid <= 0) {
                    throw Failures.silentSession("EXTEND", name);
                  }
                  return new LeaseExtension(true, valid);
                }));
  }

  @SuppressWarnings("ReferenceEquality") // one object for each session
  private static boolean isSame(Session one, Session other) {
    return one == other;
  }

  private static boolean isOurs(Session session, String owner, Session.Node node) {
    return session.owns(node.stat()) && LeaseNodes.ownerIn(node.text()).equals(owner);
  }

  /** Completes with null if there is no node, or no session any more. */
  private CompletionStage<Session.@Nullable Written<Session.Node>> confirm(
      String operation, Session session, String name) {
    String path;
    try {
      path = nodes.path(name);
    } catch (Exception e) {
      return failed(new StoreException(operation + " of the lease " + name + " failed", e, false));
    }
    CompletableFuture<Session.@Nullable Written<Session.Node>> result = new CompletableFuture<>();
    CompletionStage<Session.Written<Session.Node>> confirmed = session.confirm(operation, path);
    confirmed.whenComplete(
        (found, error) -> {
          if (error == null) {
            result.complete(found);
          } else if (Failures.is(error, KeeperException.Code.NONODE)
              || Failures.is(error, KeeperException.Code.SESSIONEXPIRED)) {
            result.complete(null);
          } else {
            result.completeExceptionally(error);
          }
        });
    return result;
  }

  private void lose(Acquisition own) {
    own.end();
    acquisitions.remove(own.owner(), own);
    own.tell(Signal.LOST);
  }

  @Override
  public CompletionStage<Boolean> release(String name, String owner) {
    if (closed.get()) {
      return failed(Failures.closed("RELEASE", name));
    }
    Acquisition own = acquisitions.get(owner);
    if (own != null) {
      return release(own);
    }
    Session session = sessions.now();
    return session == null
        ? failed(Failures.notConnected("RELEASE", name))
        : told("RELEASE", name, free(session, name, owner));
  }

  private CompletionStage<Boolean> release(Acquisition own) {
    own.end();
    CompletableFuture<Boolean> mine = new CompletableFuture<>();
    CompletableFuture<Boolean> one = own.releasing(mine);
    if (isMine(one, mine)) {
      if (sessions.now() == null) {
        // The client would keep it for later; the engine knows better when to ask again.
        mine.completeExceptionally(Failures.notConnected("RELEASE", own.name()));
      } else {
        CompletionStage<Boolean> freeing = free(own.session(), own.name(), own.owner());
        freeing.whenComplete(
            (freed, error) -> {
              if (error == null) {
                acquisitions.remove(own.owner(), own);
                mine.complete(freed);
              } else {
                mine.completeExceptionally(Failures.of("RELEASE", own.name(), error));
              }
            });
      }
    }
    return one.copy();
  }

  @SuppressWarnings("ReferenceEquality") // whether it was taken
  private static boolean isMine(CompletableFuture<?> one, CompletableFuture<?> mine) {
    return one == mine;
  }

  private CompletableFuture<Boolean> free(Session session, String name, String owner) {
    return confirm("RELEASE", session, name)
        .thenCompose(
            found -> {
              if (found == null || !isOurs(session, owner, found.value())) {
                return CompletableFuture.completedFuture(false);
              }
              return deleted(session, name, found.value().stat().getVersion());
            })
        .toCompletableFuture();
  }

  private CompletionStage<Boolean> deleted(Session session, String name, int version) {
    String path;
    try {
      path = nodes.path(name);
    } catch (Exception e) {
      return failed(new StoreException("RELEASE of the lease " + name + " failed", e, false));
    }
    CompletableFuture<Boolean> result = new CompletableFuture<>();
    CompletionStage<Boolean> deleting = session.delete(path, version);
    deleting.whenComplete(
        (done, error) -> {
          if (error == null) {
            result.complete(true);
          } else if (Failures.is(error, KeeperException.Code.NONODE)
              || Failures.is(error, KeeperException.Code.SESSIONEXPIRED)) {
            result.complete(false);
          } else {
            result.completeExceptionally(error);
          }
        });
    return result;
  }

  /** Frees a lease whose time is over, until that has an answer or its session is gone. */
  private void onTimeOver(Acquisition own) {
    if (closed.get()) {
      return;
    }
    release(own)
        .whenComplete(
            (freed, error) -> {
              if (error != null && !closed.get()) {
                try {
                  environment.schedule(() -> onTimeOver(own), AGAIN_NANOS);
                } catch (RejectedExecutionException e) {
                  // Shut down: the session's end frees it.
                  acquisitions.remove(own.owner(), own);
                }
              }
            });
  }

  @Override
  public HintSubscription subscribe(String name, Runnable onHint) {
    String path;
    try {
      path = nodes.path(name);
    } catch (Exception e) {
      return new NoHints();
    }
    if (closed.get()) {
      return new NoHints();
    }
    NodeHints[] self = new NodeHints[1];
    NodeHints made = new NodeHints(sessions, path, onHint, () -> hints.remove(self[0]));
    self[0] = made;
    hints.add(made);
    made.start();
    if (closed.get()) {
      made.close();
    }
    return made;
  }

  /** The subscription of a store that can't give any. */
  private record NoHints() implements HintSubscription {
    @Override
    public CompletionStage<Boolean> ready() {
      return CompletableFuture.completedFuture(false);
    }

    @Override
    public void close() {}
  }

  @Override
  public Runnable watch(String name, String owner, Consumer<Signal> onSignal) {
    Acquisition own = acquisitions.get(owner);
    if (own == null) {
      if (!closed.get()) {
        // Lost between the grant and this call.
        onSignal.accept(Signal.LOST);
      }
      return () -> {};
    }
    own.addWatcher(onSignal);
    AtomicBoolean ended = new AtomicBoolean();
    watchNode(own, ended);
    return () -> {
      ended.set(true);
      own.removeWatcher(onSignal);
    };
  }

  private void watchNode(Acquisition own, AtomicBoolean ended) {
    String path;
    try {
      path = nodes.path(own.name());
    } catch (Exception e) {
      own.tell(Signal.SUSPECT);
      return;
    }
    Watcher watcher =
        event -> {
          if (!ended.get() && event.getType() == Watcher.Event.EventType.NodeDeleted) {
            lose(own);
          } else if (!ended.get() && event.getState() == Watcher.Event.KeeperState.Expired) {
            lose(own);
          }
        };
    CompletionStage<Stat> watching = own.session().watch(path, watcher);
    watching.whenComplete(
        (stat, error) -> {
          if (ended.get()) {
            return;
          }
          if (error == null) {
            if (stat.getCzxid() != own.token()) {
              lose(own);
            }
          } else if (Failures.is(error, KeeperException.Code.NONODE)
              || Failures.is(error, KeeperException.Code.SESSIONEXPIRED)) {
            lose(own);
          } else {
            own.tell(Signal.SUSPECT);
          }
        });
  }

  private void onConnectionState(CuratorFramework curator, ConnectionState state) {
    switch (state) {
      case SUSPENDED -> acquisitions.values().forEach(own -> own.tell(Signal.SUSPECT));
      case LOST -> {
        sessions.onLost();
        loseOtherSessions();
      }
      case CONNECTED, RECONNECTED -> {
        loseOtherSessions();
        hints.forEach(NodeHints::start);
      }
      default -> {
        // Read-only servers grant nothing.
      }
    }
  }

  /** What another session than that of now has acquired is lost; without one, all is. */
  private void loseOtherSessions() {
    Session now = sessions.now();
    for (Acquisition own : acquisitions.values()) {
      if (now == null || !isSame(now, own.session())) {
        lose(own);
      }
    }
  }

  @Override
  public CompletionStage<LeaseInspection> inspect(String name) {
    if (closed.get()) {
      return failed(Failures.closed("INSPECT", name));
    }
    Session session = sessions.now();
    if (session == null) {
      return failed(Failures.notConnected("INSPECT", name));
    }
    return told(
        "INSPECT",
        name,
        confirm("INSPECT", session, name)
            .thenApply(
                found ->
                    found == null
                        ? inspection(name, LeaseInspection.Verdict.FREE, null, 0, 0)
                        : inspection(
                            name,
                            LeaseInspection.Verdict.HELD,
                            LeaseNodes.ownerIn(found.value().text()),
                            found.value().stat().getCzxid(),
                            // Its holder knows when it was extended last; this is the most.
                            LeaseNodes.leaseMillisIn(found.value().text()))));
  }

  private LeaseInspection inspection(
      String name,
      LeaseInspection.Verdict verdict,
      @Nullable String owner,
      long token,
      long remainingMillis) {
    return new LeaseInspection(
        name,
        verdict,
        List.of(
            new LeaseInspection.Node(
                address, owner, token, Duration.ofMillis(remainingMillis), null, null)));
  }

  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    client.getConnectionStateListenable().removeListener(listener);
    sessions.close();
    List.copyOf(hints).forEach(NodeHints::close);
    boolean holding = false;
    for (Acquisition acquisition : acquisitions.values()) {
      long leftNanos = acquisition.leftNanos();
      acquisition.end();
      holding |= leftNanos > 0;
      if (leftNanos > 0 && own == null) {
        freeAfter(acquisition, leftNanos);
      }
    }
    acquisitions.clear();
    if (own != null) {
      if (holding) {
        // Without ending the session, connected or not: the work of those who hold leases may still
        // run, and the end of the session would let others begin.
        own.end();
      }
      client.close();
      own.end();
    }
  }

  /**
   * Frees a lease at the end of its time, in a session of the application that goes on. The
   * environment ends with the store, so this is left to the JVM's own timer.
   */
  private void freeAfter(Acquisition own, long leftNanos) {
    CompletableFuture.delayedExecutor(leftNanos, TimeUnit.NANOSECONDS)
        .execute(
            () -> {
              String path;
              try {
                path = nodes.path(own.name());
              } catch (Exception e) {
                // The client was closed, and its session with it.
                return;
              }
              Session session = own.session();
              session
                  .handle()
                  .getData(
                      path,
                      false,
                      (code, asked, context, data, stat) -> {
                        if (code == KeeperException.Code.OK.intValue()
                            && isOurs(session, own.owner(), Session.Node.of(data, stat))) {
                          session
                              .handle()
                              .delete(path, stat.getVersion(), (rc, deleted, ctx) -> {}, null);
                        }
                      },
                      null);
            });
  }
}
