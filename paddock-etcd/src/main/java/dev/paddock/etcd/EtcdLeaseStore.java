/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.etcd;

import dev.paddock.LeaseInspection;
import dev.paddock.spi.Environment;
import dev.paddock.spi.HintSubscription;
import dev.paddock.spi.LeaseExtension;
import dev.paddock.spi.LeaseReply;
import dev.paddock.spi.LeaseRequest;
import dev.paddock.spi.LeaseStore;
import dev.paddock.spi.LossWatch;
import dev.paddock.spi.StoreOptions;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KV;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.Lease;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.lease.LeaseKeepAliveResponse;
import io.etcd.jetcd.lease.LeaseRevokeResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.LeaseOption;
import io.etcd.jetcd.options.PutOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Leases as keys under etcd leases. */
final class EtcdLeaseStore implements LeaseStore, LossWatch {
  /*
   * ACQUIRE  grant an etcd lease, then in one transaction: no key -> put it under that etcd lease. The
   *          create revision is the token. An etcd lease serves one acquisition only: etcd's own locks
   *          are per etcd lease, and so would be a revocation.
   * EXTEND   keep the etcd lease alive, and only then read the key. Neither answer is enough alone:
   *          - The keep-alive is answered by whoever thinks to be the leader, out of its memory. A
   *            leader that was paused or cut off may answer after its successor has begun to count the
   *            lease's time by itself. So the read, which a majority confirms, must come from the same
   *            Raft term as the keep-alive: then no successor had been elected when it was answered.
   *          - "No such lease" may come from a new leader that has not caught up. Only the read tells.
   * RELEASE  in one transaction: the value is ours -> delete. Then the etcd lease is revoked, since a
   *          put whose outcome is unknown may still be on its way: without its etcd lease it fails.
   *
   * Validity is counted from before the request. etcd counts from when it executed it, and starts anew
   * with each new leader, so it never frees a lease earlier.
   */
  private static final Duration LEASE_TIME_MIN = Duration.ofSeconds(1);
  private static final Duration LEASE_TIME_MAX = Duration.ofDays(1);
  private static final int STEPS_MAX = 3;

  private final Client client;
  private final boolean ownClient;
  private final String address;
  private final Environment environment;
  private final Commands commands;
  private final KV kv;
  private final Lease leases;
  private final Map<String, Acquisition> acquisitions = new ConcurrentHashMap<>();
  private final Set<KeyWatch> watches = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean closed = new AtomicBoolean();

  EtcdLeaseStore(
      Client client,
      boolean ownClient,
      String address,
      Environment environment,
      StoreOptions options) {
    this.client = client;
    this.ownClient = ownClient;
    this.address = address;
    this.environment = environment;
    this.commands = new Commands(environment, options.commandTimeout());
    this.kv = client.getKVClient();
    this.leases = client.getLeaseClient();
  }

  /** Completes when a majority has answered. */
  CompletionStage<?> probe() {
    return kv.get(LeaseRecord.key(""));
  }

  @Override
  public String kind() {
    return "etcd";
  }

  @Override
  public Duration leaseTimeMin() {
    return LEASE_TIME_MIN;
  }

  @Override
  public Duration leaseTimeMax() {
    return LEASE_TIME_MAX;
  }

  @Override
  public Duration patience(Duration commandTimeout) {
    return commandTimeout.multipliedBy(STEPS_MAX);
  }

  /**
   * How long a lease is valid: what was asked for, or what etcd granted if that is less, without
   * one per cent and 2 ms for clocks that run at different rates.
   */
  static long validMillis(long leaseMillis, long ttlSeconds) {
    long millis = Math.min(leaseMillis, TimeUnit.SECONDS.toMillis(ttlSeconds));
    return millis - (millis + 99) / 100 - 2;
  }

  @Override
  public CompletionStage<LeaseReply> acquire(LeaseRequest request) {
    if (closed.get()) {
      return CompletableFuture.failedFuture(Failures.closed("ACQUIRE", request.name()));
    }
    long askedNanos = environment.nanoTime();
    Acquisition own = new Acquisition();
    acquisitions.putIfAbsent(request.owner(), own);
    CompletableFuture<LeaseReply> reply =
        commands
            .send(
                "ACQUIRE",
                request.name(),
                () -> {
                  CompletableFuture<GrantedLease> granted =
                      leases
                          .grant((request.leaseMillis() + 999) / 1000)
                          .thenApply(
                              answer ->
                                  new GrantedLease(
                                      answer.getID(),
                                      answer.getTTL(),
                                      own.write(answer.getID(), answer.getTTL())));
                  // Given up while it was on its way: nothing else would end it before its time.
                  CompletionStage<GrantedLease> late = granted;
                  late.thenAccept(
                      lease -> {
                        if (!lease.wanted()) {
                          revokeSometime(lease.id());
                        }
                      });
                  return granted;
                })
            .thenCompose(
                lease -> {
                  if (!lease.wanted()) {
                    throw Failures.givenUp(request.name());
                  }
                  long waited = TimeUnit.NANOSECONDS.toMillis(environment.nanoTime() - askedNanos);
                  if (waited > request.validForMillis()) {
                    giveUp(request.owner(), own, lease.id());
                    return CompletableFuture.completedFuture(
                        new LeaseReply(LeaseReply.Status.TOO_LATE, 0, 0));
                  }
                  return put(request, own, lease);
                });
    CompletionStage<LeaseReply> watched = reply;
    watched.whenComplete(
        (answer, error) -> {
          if (error == null) {
            return;
          }
          boolean nothing =
              own.stop() == Acquisition.State.GRANTING
                  || !Failures.of("ACQUIRE", request.name(), error).mayHaveHappened();
          // Else the engine releases it, which takes what is known of it here.
          if (nothing) {
            giveUp(request.owner(), own, own.etcdLease());
          }
        });
    return reply;
  }

  /**
   * An etcd lease.
   *
   * @param wanted false if the acquisition was given up meanwhile
   */
  private record GrantedLease(long id, long ttlSeconds, boolean wanted) {}

  private CompletableFuture<LeaseReply> put(
      LeaseRequest request, Acquisition own, GrantedLease lease) {
    ByteSequence key = LeaseRecord.key(request.name());
    ByteSequence value = new LeaseRecord(request.owner(), lease.ttlSeconds()).value();
    long validMillis = validMillis(request.leaseMillis(), lease.ttlSeconds());
    return commands
        .send(
            "ACQUIRE",
            request.name(),
            () ->
                kv.txn()
                    .If(new Cmp(key, Cmp.Op.EQUAL, CmpTarget.createRevision(0)))
                    .Then(
                        Op.put(key, value, PutOption.builder().withLeaseId(lease.id()).build()),
                        Op.get(key, GetOption.DEFAULT))
                    .Else(Op.get(key, GetOption.DEFAULT))
                    .commit())
        .thenCompose(
            answer -> {
              KeyValue found = only(answer.getGetResponses().get(0));
              if (found != null && found.getLease() == lease.id()) {
                acquisitions.put(request.owner(), own);
                return CompletableFuture.completedFuture(
                    own.held(found.getCreateRevision(), validMillis));
              }
              if (found != null && owns(request.owner(), found)) {
                // A replay: the time of the first request's etcd lease runs already.
                revokeSometime(lease.id());
                long token = found.getCreateRevision();
                return extend(request.name(), request.owner(), token, request.leaseMillis())
                    .thenApply(extension -> replayed(token, extension))
                    .toCompletableFuture();
              }
              giveUp(request.owner(), own, lease.id());
              return CompletableFuture.completedFuture(
                  new LeaseReply(LeaseReply.Status.HELD, 0, 0));
            });
  }

  private static LeaseReply replayed(long token, LeaseExtension extension) {
    return extension.extended()
        ? new LeaseReply(LeaseReply.Status.GRANTED, token, extension.millis())
        : new LeaseReply(LeaseReply.Status.HELD, 0, 0);
  }

  private static @Nullable KeyValue only(GetResponse response) {
    List<KeyValue> found = response.getKvs();
    return found.isEmpty() ? null : found.get(0);
  }

  private static boolean owns(String owner, KeyValue found) {
    return LeaseRecord.ownerIn(found.getValue()).equals(owner);
  }

  private void giveUp(String owner, Acquisition own, long etcdLease) {
    acquisitions.remove(owner, own);
    revokeSometime(etcdLease);
  }

  /** Ends an etcd lease that holds no key of ours any more; its own time ends it otherwise. */
  private void revokeSometime(long etcdLease) {
    if (etcdLease != 0 && !closed.get()) {
      CompletableFuture<LeaseRevokeResponse> unused = leases.revoke(etcdLease);
    }
  }

  @Override
  public CompletionStage<LeaseExtension> extend(
      String name, String owner, long token, long leaseMillis) {
    if (closed.get()) {
      return CompletableFuture.failedFuture(Failures.closed("EXTEND", name));
    }
    Acquisition own = acquisitions.get(owner);
    if (own != null && own.etcdLease() != 0) {
      return extend(name, owner, token, leaseMillis, own.etcdLease());
    }
    return read("EXTEND", name)
        .thenCompose(
            response -> {
              KeyValue found = only(response);
              return found != null && isStill(owner, token, found)
                  ? extend(name, owner, token, leaseMillis, found.getLease())
                  : CompletableFuture.completedFuture(LeaseExtension.LOST);
            });
  }

  private static boolean isStill(String owner, long token, KeyValue found) {
    return found.getCreateRevision() == token && owns(owner, found);
  }

  private CompletableFuture<GetResponse> read(String operation, String name) {
    return commands.send(operation, name, () -> kv.get(LeaseRecord.key(name)));
  }

  private CompletableFuture<LeaseExtension> extend(
      String name, String owner, long token, long leaseMillis, long etcdLease) {
    return commands
        .send("EXTEND", name, () -> keptAlive(etcdLease))
        .thenCompose(
            kept ->
                read("EXTEND", name)
                    .thenApply(
                        response -> {
                          KeyValue found = only(response);
                          if (found == null || !isStill(owner, token, found)) {
                            acquisitions.remove(owner);
                            return LeaseExtension.LOST;
                          }
                          if (kept.ttlSeconds() <= 0) {
                            throw Failures.notCaughtUp(name);
                          }
                          if (kept.term() != response.getHeader().getRaftTerm()) {
                            throw Failures.newLeader(name);
                          }
                          return new LeaseExtension(
                              true, validMillis(leaseMillis, kept.ttlSeconds()));
                        }));
  }

  /**
   * The answer to a keep-alive.
   *
   * @param ttlSeconds 0 if the server knows no such etcd lease
   */
  private record Kept(long ttlSeconds, long term) {
    static final Kept UNKNOWN_LEASE = new Kept(0, 0);

    static Kept of(LeaseKeepAliveResponse answer) {
      return new Kept(answer.getTTL(), answer.getHeader().getRaftTerm());
    }
  }

  private CompletionStage<Kept> keptAlive(long etcdLease) {
    CompletableFuture<Kept> result = new CompletableFuture<>();
    CompletionStage<LeaseKeepAliveResponse> sent = leases.keepAliveOnce(etcdLease);
    sent.whenComplete(
        (answer, error) -> {
          if (error == null) {
            result.complete(Kept.of(answer));
          } else if (Failures.isNotFound(error)) {
            result.complete(Kept.UNKNOWN_LEASE);
          } else {
            result.completeExceptionally(error);
          }
        });
    return result;
  }

  @Override
  public CompletionStage<Boolean> release(String name, String owner) {
    if (closed.get()) {
      return CompletableFuture.failedFuture(Failures.closed("RELEASE", name));
    }
    Acquisition own = acquisitions.get(owner);
    if (own == null) {
      return releaseFound(name, owner);
    }
    Acquisition.State before = own.stop();
    if (before == Acquisition.State.GRANTING || before == Acquisition.State.STOPPED) {
      acquisitions.remove(owner, own);
      return CompletableFuture.completedFuture(false);
    }
    ByteSequence value = new LeaseRecord(owner, own.ttlSeconds()).value();
    return delete(name, value)
        .thenCompose(
            deleted -> {
              if (before == Acquisition.State.HELD) {
                giveUp(owner, own, own.etcdLease());
                return CompletableFuture.completedFuture(deleted);
              }
              // The put may still be on its way.
              return revoke(name, own.etcdLease())
                  .thenApply(
                      revoked -> {
                        acquisitions.remove(owner, own);
                        return deleted;
                      });
            });
  }

  /** Releases what this store has no memory of: the key says which etcd lease it hangs on. */
  private CompletionStage<Boolean> releaseFound(String name, String owner) {
    return read("RELEASE", name)
        .thenCompose(
            response -> {
              KeyValue found = only(response);
              if (found == null || !owns(owner, found)) {
                return CompletableFuture.completedFuture(false);
              }
              return delete(name, found.getValue())
                  .thenApply(
                      deleted -> {
                        revokeSometime(found.getLease());
                        return deleted;
                      });
            });
  }

  /** Deletes the key if its value, which holds the owner, is still this. */
  private CompletableFuture<Boolean> delete(String name, ByteSequence value) {
    ByteSequence key = LeaseRecord.key(name);
    return commands
        .send(
            "RELEASE",
            name,
            () ->
                kv.txn()
                    .If(new Cmp(key, Cmp.Op.EQUAL, CmpTarget.value(value)))
                    .Then(Op.delete(key, DeleteOption.DEFAULT))
                    .commit())
        .thenApply(TxnResponse::isSucceeded);
  }

  private CompletableFuture<Boolean> revoke(String name, long etcdLease) {
    return commands.send(
        "RELEASE",
        name,
        () -> {
          CompletableFuture<Boolean> result = new CompletableFuture<>();
          CompletionStage<LeaseRevokeResponse> sent = leases.revoke(etcdLease);
          sent.whenComplete(
              (answer, error) -> {
                if (error == null || Failures.isNotFound(error)) {
                  result.complete(true);
                } else {
                  result.completeExceptionally(error);
                }
              });
          return result;
        });
  }

  @Override
  public HintSubscription subscribe(String name, Runnable onHint) {
    CompletableFuture<Boolean> ready = new CompletableFuture<>();
    if (closed.get()) {
      ready.complete(false);
      return new Hints(ready, () -> {});
    }
    Runnable end =
        watch(
            name,
            0,
            new KeyWatch.Listener() {
              @Override
              public void onReady(boolean again) {
                ready.complete(true);
                if (again) {
                  onHint.run();
                }
              }

              @Override
              public void onGone() {
                onHint.run();
              }

              @Override
              public void onBroken() {
                ready.complete(false);
              }
            });
    return new Hints(ready, end);
  }

  /** A subscription. */
  private record Hints(CompletableFuture<Boolean> standing, Runnable end)
      implements HintSubscription {
    @Override
    public CompletionStage<Boolean> ready() {
      return standing;
    }

    @Override
    public void close() {
      standing.complete(false);
      end.run();
    }
  }

  @Override
  public Runnable watch(String name, String owner, Consumer<Signal> onSignal) {
    if (closed.get()) {
      return () -> {};
    }
    Acquisition own = acquisitions.get(owner);
    return watch(
        name,
        own == null ? 0 : own.token() + 1,
        new KeyWatch.Listener() {
          @Override
          public void onReady(boolean again) {
            if (again || own == null) {
              onSignal.accept(Signal.SUSPECT);
            }
          }

          @Override
          public void onGone() {
            acquisitions.remove(owner);
            onSignal.accept(Signal.LOST);
          }

          @Override
          public void onBroken() {
            onSignal.accept(Signal.SUSPECT);
          }
        });
  }

  private Runnable watch(String name, long revision, KeyWatch.Listener listener) {
    KeyWatch watch =
        new KeyWatch(client.getWatchClient(), environment, LeaseRecord.key(name), listener);
    watches.add(watch);
    watch.start(revision);
    if (closed.get()) {
      watch.close();
    }
    return () -> {
      watches.remove(watch);
      watch.close();
    };
  }

  @Override
  public CompletionStage<LeaseInspection> inspect(String name) {
    if (closed.get()) {
      return CompletableFuture.failedFuture(Failures.closed("INSPECT", name));
    }
    return read("INSPECT", name)
        .thenCompose(
            response -> {
              KeyValue found = only(response);
              if (found == null) {
                return CompletableFuture.completedFuture(
                    inspection(name, LeaseInspection.Verdict.FREE, null, 0, Duration.ZERO));
              }
              String owner = LeaseRecord.ownerIn(found.getValue());
              return commands
                  .send(
                      "INSPECT",
                      name,
                      () -> leases.timeToLive(found.getLease(), LeaseOption.DEFAULT))
                  .thenApply(
                      left ->
                          inspection(
                              name,
                              LeaseInspection.Verdict.HELD,
                              owner,
                              found.getCreateRevision(),
                              // Below zero once it has run out but is not yet gone.
                              Duration.ofSeconds(Math.max(0, left.getTTL()))));
            });
  }

  private LeaseInspection inspection(
      String name,
      LeaseInspection.Verdict verdict,
      @Nullable String owner,
      long token,
      Duration remaining) {
    return new LeaseInspection(
        name,
        verdict,
        List.of(new LeaseInspection.Node(address, owner, token, remaining, null, null)));
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      watches.forEach(KeyWatch::close);
      watches.clear();
      acquisitions.clear();
      if (ownClient) {
        client.close();
      }
    }
  }
}
