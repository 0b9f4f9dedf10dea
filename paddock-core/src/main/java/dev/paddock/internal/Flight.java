/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import dev.paddock.CacheConfiguration;
import dev.paddock.CacheEvent;
import dev.paddock.CacheEvent.LoadEnd;
import dev.paddock.CacheEvent.WaitEnd;
import dev.paddock.CallOptions;
import dev.paddock.FillTimeoutException;
import dev.paddock.LoadFailedException;
import dev.paddock.Loader;
import dev.paddock.Lookup;
import dev.paddock.PaddockClosedException;
import dev.paddock.PaddockInterruptedException;
import dev.paddock.StoreException;
import dev.paddock.spi.AcquireReply;
import dev.paddock.spi.AcquireRequest;
import dev.paddock.spi.Environment;
import dev.paddock.spi.FillOutcome;
import dev.paddock.spi.FillRequest;
import dev.paddock.spi.StoreKey;
import dev.paddock.spi.StoredEntry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One load of one key in this process, shared by the callers that may share it. */
final class Flight<K, V> {
  /*
   * States
   *
   *   NEW -> ACQUIRING -> LOADING -> FILLING -> DONE
   *            |  ^  |       \
   *            v  |  |        `-> ABANDONED -> DONE     (maxLoadTime; the loader may still run)
   *          WAITING |
   *                  `-> QUIET -> DONE
   *
   *   WAITING: another process loads; a hint, a poll, or the end of its lease lead back.
   *   QUEUED: between ACQUIRING and LOADING, where as many loads run as may; the lease is kept.
   *   QUIET: nobody here needs the value, and another process is loading it or nobody may. Remembered
   *   for that long, so that not every stale hit asks again; a caller that needs the value wakes it.
   *
   * Turns
   *   All fields are touched only inside `serial`, which runs one task at a time. User code never runs
   *   in a turn: loaders, codecs and fallbacks run in a caller's context.
   *
   * Who may share what
   *   Callers are `covered` if they were there when the last command was sent, or before the load
   *   began: an answer made of that command or load is younger than their calls. The `late` ones came
   *   after. They share a result only if they were there when the fill was sent and the store proves
   *   that nothing had been invalidated since the grant (STORED, STORED_LATE, SUPERSEDED); otherwise
   *   they read again. A fill says nothing about what happens while its reply is on its way. So a read that starts after an
   *   invalidation has returned never gets a value loaded before it, and the price is at worst the load
   *   in flight and the next.
   *
   *   Where the store has failed a late caller too, nothing can be proven, and it shares the result
   *   of the load: an outage costs the protection, not a wait for one load after the other.
   *
   *   A caller with a loader that finds a flight for a key known to be missing joins it without a read
   *   of its own, as a late one: so commands grow with processes, however the callers of one trickle in.
   *
   * Fairness under invalidations
   *   Each invalidation frees the lease, and any process may take it next: where they come faster than
   *   loads end, a waiting process might lose every time. One that has seen several holders come to
   *   nothing, and a caller of which has used up half of its `maxWait`, loads for itself and stores
   *   nothing.
   *
   * Order at the end
   *   The flight leaves the map before any caller is told, so a retry in a callback starts afresh.
   *
   * Invariants
   *   - at most one load runs under one (epoch, seq): a leader that leaves in mid-load gives its lease
   *     back and the next leader acquires anew;
   *   - a lease that was not used up by a stored fill is given back in one place, `dropLease`;
   *   - every caller that has joined is answered exactly once, or has left by itself.
   */
  private enum State {
    NEW,
    ACQUIRING,
    WAITING,
    QUIET,
    QUEUED,
    LOADING,
    FILLING,
    ABANDONED,
    DONE
  }

  private static final int FILL_RETRIES = 2;

  /** At least between two refreshes of a value that is then not stored. */
  private static final long UNSTORED_MILLIS = 1_000;

  /** Between two looks whether anybody is left of those who stand in line. */
  private static final long LOOK_NANOS = 100_000_000L;

  /** See the waiter's fairness under invalidations above. */
  private static final int MAX_DISAPPOINTMENTS = 3;

  final long id;
  private final CacheEngine<K, V> cache;
  private final Engine engine;
  private final CacheConfiguration<K, V> config;
  private final Gateway gateway;
  private final StoreKey key;
  private final K userKey;

  /** Loads for nobody in particular; null if the flight exists for its callers alone. */
  private @Nullable Loader<K, V> background;

  private CallOptions<K, V> backgroundOptions;

  /** The fresh value that this flight replaces before it expires; null if it does not. */
  private final @Nullable StoredEntry early;

  /** This flight is one caller's attempt at the degraded load; it is not in the map. */
  private final boolean degraded;

  private final Serial serial = new Serial(this::onInternalFailure);
  private final Callers<K, V> callers;
  private final HolderWatch watch;
  private State state = State.NEW;

  /** The last look found no value at all; read outside of turns too. */
  private volatile boolean missKnown;

  /** The end of a quiet time, or of the time that a load may take. */
  private Environment.@Nullable Timer timer;

  // What was asked of the store, and what is known of another holder.
  private boolean localOnly;

  /** What is loaded now is kept here for a moment, because the store can't take it. */
  private boolean outage;

  private @Nullable String owner;
  private long holderUntilNanos;
  private long holderEpoch;
  private int disappointments;
  private boolean contentionTold;

  // The load.
  private @Nullable FillLease lease;
  private boolean degradedLease;
  private @Nullable Call<K, V> leader;

  /** Whose loader and options the load has: the leader, or one whose load runs on the executor. */
  private @Nullable Call<K, V> sponsor;

  private @Nullable LoadRun<K, V> run;
  private LoadGate.@Nullable Ticket ticket;
  private @Nullable StoredEntry staleEntry;

  /** A load was told as begun, and not yet as ended. */
  private boolean loadTold;

  private long loadStartNanos;
  private long loadStartMillis;
  private long loadNanos;
  private List<String> tags = List.of();

  Flight(
      long id,
      CacheEngine<K, V> cache,
      Call<K, V> call,
      @Nullable Loader<K, V> background,
      @Nullable StoredEntry early,
      boolean degraded) {
    this.id = id;
    this.cache = cache;
    this.engine = cache.engine();
    this.config = cache.configuration();
    this.gateway = engine.gateway();
    this.key = call.storeKey;
    this.userKey = call.key;
    this.background = background;
    this.backgroundOptions = call.options;
    this.early = early;
    this.degraded = degraded;
    this.callers = new Callers<>(engine, config.name(), serial::execute, this::onMaxWait);
    this.watch = new HolderWatch(engine, key, serial::execute, this::lookAgain, this::takeNews);
  }

  // ---------------------------------------------------------------- entrances

  /** Starts the flight, for callers that all share it from the start, or in the background. */
  void begin(List<Call<K, V>> first) {
    serial.execute(
        () -> {
          first.forEach(this::addLate);
          localOnly = !first.isEmpty() && first.stream().allMatch(call -> call.storeFailed);
          if (engine.isClosed()) {
            onClose(new ArrayList<>());
          } else {
            acquire();
          }
        });
  }

  /** Lets a caller share the flight. If it has ended meanwhile the caller starts over. */
  void join(Call<K, V> call) {
    serial.execute(
        () -> {
          switch (state) {
            case DONE, ABANDONED -> cache.startOver(List.of(call));
            case QUIET -> {
              // What the store did to those before says nothing about this caller.
              localOnly = call.storeFailed;
              addLate(call);
              acquire();
            }
            default -> {
              addLate(call);
              callers.startWait(call);
            }
          }
        });
  }

  /** A look has just found nothing. Called before anybody can find the flight. */
  void knowMiss() {
    missKnown = true;
  }

  /** Whether a read now would most likely find nothing and lead here. */
  boolean isMissKnown() {
    return missKnown;
  }

  /** The key was written or invalidated by this process: new callers can't find the flight now. */
  void detached() {
    serial.execute(
        () -> {
          if (state == State.QUIET) {
            finish();
          }
        });
  }

  /**
   * Ends the flight because the Paddock closes; adds what has to happen before the store closes.
   */
  void close(List<CompletableFuture<Void>> releases) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    releases.add(done);
    serial.execute(
        () -> {
          List<CompletableFuture<Void>> mine = new ArrayList<>();
          onClose(mine);
          CompletionStage<Void> all =
              CompletableFuture.allOf(mine.toArray(CompletableFuture[]::new));
          all.thenRun(() -> done.complete(null));
        });
  }

  private void onClose(List<CompletableFuture<Void>> releases) {
    if (state == State.DONE) {
      return;
    }
    FillLease held = lease;
    // An acquire under way may be granted: what it asked for is given back as well.
    String holder = held != null ? held.owner : state == State.ACQUIRING ? owner : null;
    lease = null;
    if (held != null) {
      held.end();
    }
    if (holder != null) {
      CompletableFuture<Void> released = new CompletableFuture<>();
      releases.add(released);
      release(holder, 0, () -> released.complete(null));
    }
    LoadRun<K, V> loaded = state == State.FILLING ? run : null;
    List<Call<K, V>> served = loaded == null ? List.of() : callers.covered();
    Call<K, V> loading = leader;
    if (state != State.LOADING || loading == null || !isInsideLoader(loading)) {
      loading = null;
    }
    for (Call<K, V> call : finish()) {
      if (call == loading) {
        // Its thread is inside the loader; it gets what the loader says.
        state = State.ABANDONED;
        callers.addLate(call);
        callers.coverAll();
      } else if (loaded != null && served.contains(call)) {
        callers.endWait(call, WaitEnd.ANSWERED);
        call.answer(cache.loaded(loaded.value()));
      } else {
        callers.endWait(call, WaitEnd.FAILED);
        call.fail(new PaddockClosedException("closed while waiting for " + key));
      }
    }
  }

  private void onInternalFailure(Throwable bug) {
    dropLease(0);
    for (Call<K, V> call : finish()) {
      call.fail(
          new LoadFailedException(
              "loading " + key + " failed inside Paddock: please report this", bug, Duration.ZERO));
    }
  }

  // ---------------------------------------------------------------- acquire

  private void lookAgain() {
    if (state == State.WAITING) {
      acquire();
    }
  }

  /**
   * Answers with a value that came with a hint, which saves another look. Only if it was filled in
   * the very epoch that the last look has seen: an epoch ends with each invalidation, so nothing
   * was invalidated between the value's load and that look, which is younger than the calls it
   * covers. A hint that lingered has another epoch.
   */
  private boolean takeNews(StoredEntry entry) {
    if (state != State.WAITING
        || entry.epoch() == StoredEntry.NO_EPOCH
        || entry.epoch() != holderEpoch
        || gateway.store().nowMillis(key) >= entry.softExpiryMillis()) {
      return false;
    }
    if (callers.late().isEmpty()) {
      onHit(entry);
      return true;
    }
    // Those who came since go by the next look, all together.
    List<Call<K, V>> served = callers.covered();
    served.forEach(callers::remove);
    serve(served, entry);
    acquire();
    return true;
  }

  private void addLate(Call<K, V> call) {
    callers.addLate(call);
    startSoftTimer(call);
  }

  /**
   * Lets a caller with a stale value at hand leave when it has waited long enough for a fresh one.
   */
  private void startSoftTimer(Call<K, V> call) {
    if (cache.softTimeoutNanos() != CacheEngine.NO_TIMEOUT && call.spare != null) {
      long waited = engine.env().nanoTime() - call.startNanos;
      callers.startLoadTimer(call, cache.softTimeoutNanos() - waited, this::onSoftTimeout);
    }
  }

  private void onSoftTimeout(Call<K, V> call) {
    if (cache.serveSpare(call)) {
      leaveLoad(call);
    } else if (call == sponsor) {
      // Too old by now.
      startHardTimer(call);
    }
  }

  private void startHardTimer(Call<K, V> call) {
    long hard = cache.hardTimeoutNanos();
    if (hard != CacheEngine.NO_TIMEOUT) {
      long loading = engine.env().nanoTime() - loadStartNanos;
      callers.startLoadTimer(call, hard - loading, this::onHardTimeout);
    }
  }

  private void onHardTimeout(Call<K, V> call) {
    FillLease held = lease;
    leaveLoad(call);
    cache.onHardTimeout(
        call, Duration.ofNanos(Math.max(held == null ? 0 : held.leftNanos(), 1_000_000L)));
  }

  /**
   * A caller has its answer before the load has ended, which goes on for the others and the store.
   */
  private void leaveLoad(Call<K, V> call) {
    callers.remove(call);
    callers.endWait(call, WaitEnd.TIMED_OUT);
    if (callers.isEmpty() && background == null) {
      if (state == State.WAITING) {
        finish();
      } else if (state == State.ACQUIRING || state == State.QUEUED) {
        background = call.backgroundLoader();
        backgroundOptions = call.options;
      }
    }
  }

  private void acquire() {
    cancelTimer();
    watch.looking();
    callers.prune();
    if (callers.isEmpty() && background == null) {
      finish();
      return;
    }
    callers.coverAll();
    staleEntry = null;
    outage = false;
    if (localOnly) {
      serveOutageValues();
      loadLocally(gateway.timeoutMillis());
      return;
    }
    state = State.ACQUIRING;
    // One owner until it is granted or in doubt: polls of one wait are one acquisition.
    String asking = owner == null ? engine.newOwner() : owner;
    owner = asking;
    long leaseMillis = cache.leases().leaseMillis();
    AcquireRequest request = request(asking, leaseMillis);
    for (Call<K, V> call : callers.covered()) {
      call.forced = false;
    }
    long sentNanos = engine.env().nanoTime();
    gateway.ask(
        config.name(),
        "GET_OR_ACQUIRE",
        key,
        () -> gateway.store().acquire(request),
        (reply, error) ->
            serial.execute(() -> onAcquired(asking, sentNanos, leaseMillis, reply, error)),
        reply -> {
          // Given up, but granted all the same: a ghost that would block the key for a lease.
          if (reply.granted()) {
            release(asking, 0, null);
          }
        });
  }

  private AcquireRequest request(String asking, long leaseMillis) {
    AcquireRequest.Mode mode =
        early == null ? AcquireRequest.Mode.NORMAL : AcquireRequest.Mode.REPLACE_STALE;
    StoredEntry seen = early;
    for (Call<K, V> call : callers.covered()) {
      if (call.forced) {
        mode = AcquireRequest.Mode.FORCED;
        seen = null;
        break;
      }
      if (call.broken != null) {
        mode = AcquireRequest.Mode.REPLACE_BROKEN;
        seen = call.broken;
      }
    }
    return new AcquireRequest(
        key,
        asking,
        leaseMillis,
        CacheEngine.graceMillis(leaseMillis),
        engine.newEpoch(),
        mode,
        degraded,
        seen,
        gateway.timeoutMillis());
  }

  private void onAcquired(
      String asked,
      long sentNanos,
      long leaseMillis,
      @Nullable AcquireReply reply,
      @Nullable StoreException error) {
    if (state != State.ACQUIRING) {
      // Closed meanwhile, and given back then.
      return;
    }
    if (reply == null) {
      if (error == null || error.mayHaveHappened()) {
        release(asked, 0, null);
      }
      goOnWithoutStore();
      return;
    }
    holderUntilNanos = engine.env().nanoTime() + reply.leftMillis() * 1_000_000L;
    missKnown =
        reply.status() == AcquireReply.Status.GRANTED || reply.status() == AcquireReply.Status.WAIT;
    StoredEntry entry = reply.entry();
    if (reply.status() != AcquireReply.Status.DEGRADED) {
      keepSpares(entry);
    }
    switch (reply.status()) {
      case HIT -> onHit(entry);
      case FRESH -> {
        if (early != null && callers.isEmpty()) {
          // Another process is at it.
          quiet(reply.leftMillis());
        } else {
          onHit(entry);
        }
      }
      case GRANTED, STALE_GRANTED, MINE -> {
        staleEntry = entry;
        Call<K, V> served = giveStale(entry, false);
        if (callers.isEmpty() && background == null && served != null) {
          background = served.backgroundLoader();
          backgroundOptions = served.options;
        }
        onGranted(reply, asked, sentNanos, leaseMillis);
      }
      case DEGRADED -> onGranted(reply, asked, sentNanos, leaseMillis);
      case STALE -> {
        giveStale(entry, true);
        waitForHolder(reply);
      }
      case WAIT -> waitForHolder(reply);
      case COOLDOWN -> {
        giveStale(entry, true);
        onCoolDown(reply.leftMillis());
      }
      case HOLDOFF -> {
        giveStale(entry, false);
        loadUnstored("in the hold-off after an invalidation", reply.leftMillis());
      }
      case NO_LEASE -> {
        giveStale(entry, false);
        serveOutageValues();
        outage = true;
        loadUnstored("the store can't take a lease now", gateway.timeoutMillis());
      }
      case TOO_LATE -> goOnWithoutStore();
    }
  }

  /**
   * What the look has found serves those whose load fails or takes too long; nothing older does.
   */
  private void keepSpares(@Nullable StoredEntry entry) {
    for (Call<K, V> call : callers.covered()) {
      call.spare = cache.spare(call, entry);
      startSoftTimer(call);
    }
  }

  /** The store failed: each process goes on by itself, one load per key. */
  private void goOnWithoutStore() {
    localOnly = true;
    for (Call<K, V> call : callers.covered()) {
      call.storeFailed = true;
    }
    serveOutageValues();
    loadLocally(gateway.timeoutMillis());
  }

  /** The late ones too: the store would tell them the same. */
  private void serveOutageValues() {
    for (Call<K, V> call : callers.all()) {
      if (cache.serveOutageValue(call)) {
        callers.remove(call);
        callers.endWait(call, WaitEnd.ANSWERED);
      }
    }
  }

  /** The store is well, but what is loaded now must not, or can't, be stored. */
  private void loadUnstored(String reason, long leftMillis) {
    if (!callers.isEmpty() && engine.events().on()) {
      engine.events().emit(new CacheEvent.NotStored(config.name(), key.toString(), reason));
    }
    loadLocally(leftMillis);
  }

  private void loadLocally(long quietMillis) {
    owner = null;
    if (degraded) {
      failDegraded();
    } else if (callers.isEmpty()) {
      // A refresh in the background is not worth a load that would not be stored.
      quiet(quietMillis);
    } else {
      startLoad(null);
    }
  }

  private void onHit(@Nullable StoredEntry entry) {
    List<Call<K, V>> served = callers.covered();
    List<Call<K, V>> again = callers.late();
    finish();
    serve(served, entry);
    startOver(again);
  }

  private void serve(List<Call<K, V>> served, @Nullable StoredEntry entry) {
    for (Call<K, V> call : served) {
      callers.endWait(call, WaitEnd.ANSWERED);
      call.execute(() -> cache.useAcquired(call, entry));
    }
  }

  /**
   * Serves a stale value to those who accept it, with {@code atHand} to a refresh as well.
   *
   * @return the first who took it, or null
   */
  private @Nullable Call<K, V> giveStale(@Nullable StoredEntry entry, boolean atHand) {
    Call<K, V> first = null;
    if (entry != null) {
      for (Call<K, V> call : callers.covered()) {
        if (call.refresh ? atHand && cache.isGood(call, entry) : cache.acceptsStale(call, entry)) {
          callers.remove(call);
          callers.endWait(call, WaitEnd.ANSWERED);
          call.execute(() -> cache.useStale(call, entry));
          first = first == null ? call : first;
        }
      }
    }
    return first;
  }

  private void onGranted(AcquireReply reply, String asked, long sentNanos, long leaseMillis) {
    degradedLease = reply.status() == AcquireReply.Status.DEGRADED;
    owner = null;
    FillLease granted =
        new FillLease(
            engine.env(),
            gateway,
            engine.events(),
            config.name(),
            key,
            asked,
            reply.epoch(),
            reply.seq(),
            sentNanos,
            leaseMillis,
            CacheEngine.graceMillis(leaseMillis),
            config.renewal() ? cache.leases().firstRenewalNanos(leaseMillis) : 0);
    if (engine.events().on()) {
      engine
          .events()
          .emit(
              new CacheEvent.LeaseGranted(
                  config.name(), key.toString(), reply.epoch(), reply.seq(), degradedLease));
      if (degradedLease) {
        engine
            .events()
            .emit(
                new CacheEvent.Degraded(
                    config.name(), key.toString(), CacheEvent.Degraded.How.LOAD));
      }
    }
    startLoad(granted);
  }

  // ---------------------------------------------------------------- wait

  /** Another process loads: wait for it, or, if nobody here needs the value, leave it alone. */
  private void waitForHolder(AcquireReply reply) {
    long leftMillis = reply.leftMillis();
    if (degraded) {
      failDegraded();
      return;
    }
    if (reply.epoch() != holderEpoch) {
      holderEpoch = reply.epoch();
      disappointments++;
    }
    if (!contentionTold && engine.events().on()) {
      contentionTold = true;
      engine
          .events()
          .emit(
              new CacheEvent.LeaseContended(
                  config.name(), key.toString(), Duration.ofMillis(leftMillis)));
    }
    if (callers.isEmpty()) {
      quiet(leftMillis);
      return;
    }
    if (disappointments > MAX_DISAPPOINTMENTS && callers.someHasWaitedHalf()) {
      loadUnstored("invalidated faster than loads end", leftMillis);
      return;
    }
    state = State.WAITING;
    callers.startWaits(null);
    watch.waitFor(leftMillis * 1_000_000L);
  }

  private void onMaxWait(Call<K, V> call) {
    FillLease held = lease;
    long left = held != null ? held.leftNanos() : holderUntilNanos - engine.env().nanoTime();
    cache.degrade(call, Duration.ofNanos(Math.max(left, 1_000_000L)), state == State.QUEUED);
    if (state == State.QUEUED) {
      endsForNobody();
    }
    if (state == State.WAITING && callers.isEmpty()) {
      if (background == null) {
        finish();
      } else {
        quiet(Math.max(left / 1_000_000L, 1));
      }
    }
  }

  private void onCoolDown(long leftMillis) {
    if (degraded) {
      failDegraded();
      return;
    }
    List<Call<K, V>> all = callers.all();
    if (background == null) {
      finish();
    } else {
      callers.clear();
      quiet(leftMillis);
    }
    for (Call<K, V> call : all) {
      callers.endWait(call, WaitEnd.FAILED);
      cache.onCoolDown(call, Duration.ofMillis(leftMillis));
    }
  }

  private void failDegraded() {
    long left = Math.max(holderUntilNanos - engine.env().nanoTime(), 1_000_000L);
    for (Call<K, V> call : finish()) {
      callers.endWait(call, WaitEnd.FAILED);
      cache.failTimedOut(call, Duration.ofNanos(left));
    }
  }

  private void quiet(long millis) {
    passOver();
    state = State.QUIET;
    owner = null;
    watch.close();
    startTimer(Math.max(millis, 1) * 1_000_000L, this::detached);
  }

  // ---------------------------------------------------------------- load

  private void startLoad(@Nullable FillLease held) {
    callers.prune();
    watch.close();
    lease = held;
    if (held != null && !degradedLease) {
      held.start();
    }
    // A load that a loader waits for must not wait for that one's place; nor may the keys of a bulk
    // load, which is one call of its loader, wait for one another's.
    boolean beside =
        background instanceof BulkLoad
            || callers.all().stream()
                .anyMatch(call -> call.nested || call.loader instanceof BulkLoad);
    LoadGate.Ticket place =
        beside
            ? cache.room().enterBeside()
            : cache.room().enter(() -> serial.execute(this::onPlace));
    ticket = place;
    if (place == null) {
      onLoadRefused();
    } else if (place.isIn()) {
      beginLoad();
    } else {
      state = State.QUEUED;
      callers.startWaits(null);
      lookForCallers();
    }
  }

  /** In line: callers who leave by themselves tell nobody, and must not keep place and lease. */
  private void lookForCallers() {
    startTimer(LOOK_NANOS, () -> serial.execute(this::onLook));
  }

  private void onLook() {
    if (state != State.QUEUED) {
      return;
    }
    if (!endsForNobody()) {
      lookForCallers();
    }
  }

  private void onPlace() {
    if (state == State.QUEUED && !endsForNobody()) {
      beginLoad();
    }
  }

  /** Ends the flight, and gives its lease back, if nobody is left who needs its load. */
  private boolean endsForNobody() {
    callers.prune();
    if (!callers.isEmpty() || background != null) {
      return false;
    }
    dropLease(0);
    finish();
    return true;
  }

  private void onLoadRefused() {
    if (engine.events().on()) {
      engine.events().emit(new CacheEvent.LoadRefused(config.name(), key.toString()));
    }
    dropLease(0);
    if (callers.isEmpty()) {
      // Not again at each stale hit.
      quiet(gateway.timeoutMillis());
      return;
    }
    for (Call<K, V> call : finish()) {
      callers.endWait(call, WaitEnd.FAILED);
      cache.onLoadRefused(call);
    }
  }

  private void beginLoad() {
    FillLease held = lease;
    callers.coverAll();
    state = State.LOADING;
    loadStartNanos = engine.env().nanoTime();
    loadStartMillis = gateway.store().earliestMillis(key);
    if (engine.events().on()) {
      loadTold = true;
      engine
          .events()
          .emit(
              new CacheEvent.LoadStarted(
                  config.name(), key.toString(), held != null && !degradedLease));
    }
    StoredEntry replaced = early;
    if (replaced != null && held != null && staleEntry != null) {
      cache.refreshedEarly(key, replaced);
    }
    handOver();
  }

  /** Hands the load to the first caller that is still there, else to the executor. */
  private void handOver() {
    leader = null;
    sponsor = null;
    run = null;
    for (Call<K, V> call : callers.covered()) {
      Loader<K, V> loader = call.loader;
      if (loader == null) {
        continue;
      }
      if (cache.loadsOnExecutor()) {
        loadFor(call, loader);
        break;
      }
      LoadRun<K, V> next = newRun(call.key, loader, call);
      if (call.execute(stepOf(next))) {
        run = next;
        leader = call;
        sponsor = call;
        callers.endWait(call, WaitEnd.ANSWERED);
        break;
      }
    }
    Loader<K, V> own = background;
    if (run == null && own != null) {
      LoadRun<K, V> next = newRun(userKey, own, null);
      if (engine.execute(next::run)) {
        run = next;
      }
    }
    if (run == null) {
      // Nobody is left who could load.
      dropLease(0);
      finish();
      return;
    }
    callers.startWaits(sponsor);
    startTimer(config.maxLoadTime().toNanos(), () -> serial.execute(this::onMaxLoadTime));
  }

  /** Loads for a caller that may leave before the load ends, and so not in its context. */
  private void loadFor(Call<K, V> call, Loader<K, V> loader) {
    LoadRun<K, V> next = newRun(call.key, loader, null);
    if (!engine.execute(next::run)) {
      return;
    }
    run = next;
    sponsor = call;
    callers.endWait(call, WaitEnd.ANSWERED);
    if (call.spare != null && cache.softTimeoutNanos() != CacheEngine.NO_TIMEOUT) {
      startSoftTimer(call);
    } else {
      startHardTimer(call);
    }
  }

  private Call.Step stepOf(LoadRun<K, V> next) {
    return new Call.Step() {
      @Override
      public void run() {
        next.run();
      }

      @Override
      public void dropped() {
        serial.execute(() -> onLeaderLeft(next));
      }
    };
  }

  private LoadRun<K, V> newRun(K loadKey, Loader<K, V> loader, @Nullable Call<K, V> by) {
    StoredEntry entry = staleEntry;
    Supplier<@Nullable V> stale = () -> entry == null ? null : cache.decodeStale(entry);
    FillLease own = degradedLease ? null : lease;
    LoadGate.Ticket place = ticket;
    return new LoadRun<>(
        loadKey,
        key,
        loader,
        own,
        lease != null,
        stale,
        cache.kept(),
        cache.hasTags(),
        ended -> {
          if (place != null) {
            place.leave();
          }
          onRunEnded(ended, by);
        });
  }

  /** The leader left before its loader began, so the lease is as good as new. */
  private void onLeaderLeft(LoadRun<K, V> dropped) {
    if (run == dropped && state == State.LOADING) {
      Call<K, V> left = leader;
      if (left != null) {
        callers.remove(left);
      }
      cancelTimer();
      handOver();
    }
  }

  /** On the thread where the loader ended: encodes there, then takes a turn. */
  private void onRunEnded(LoadRun<K, V> ended, @Nullable Call<K, V> by) {
    String notStored = null;
    if (ended.failure() == null) {
      if (by != null) {
        by.loadDone();
      }
      notStored = cache.encode(ended);
    }
    String reason = notStored;
    serial.execute(() -> onLoaded(ended, by, reason));
  }

  private void onMaxLoadTime() {
    if (state != State.LOADING) {
      return;
    }
    emitLoadEnded(LoadEnd.ABANDONED);
    cache.leases().loaded(engine.env().nanoTime() - loadStartNanos);
    FillLease held = lease;
    if (held != null) {
      // Kept for the fill that may still come; only its renewal ends, so that it lapses.
      held.end();
    }
    leaveGate();
    List<Call<K, V>> all = callers.all();
    cache.remove(key, this);
    callers.clear();
    state = State.ABANDONED;
    for (Call<K, V> call : all) {
      if (call == leader && isInsideLoader(call)) {
        // It gets what the loader says, whenever that is.
        callers.addLate(call);
        callers.coverAll();
      } else {
        callers.endWait(call, WaitEnd.TIMED_OUT);
        if (cache.serveSpare(call)) {
          continue;
        }
        call.fail(
            new FillTimeoutException(
                "the load of "
                    + key
                    + " took longer than maxLoadTime = "
                    + config.maxLoadTime()
                    + ": look for a loader that hangs, or raise it",
                config.coolDown()));
      }
    }
  }

  /** Whether the thread of the leader is inside its loader, and can't leave it. */
  private boolean isInsideLoader(Call<K, V> call) {
    LoadRun<K, V> loading = run;
    return call.blocks() && loading != null && !loading.runsElsewhere();
  }

  private void emitLoadEnded(LoadEnd end) {
    if (loadTold) {
      loadTold = false;
      engine
          .events()
          .emit(
              new CacheEvent.LoadEnded(
                  config.name(),
                  key.toString(),
                  Duration.ofNanos(engine.env().nanoTime() - loadStartNanos),
                  end));
    }
  }

  private void onLoaded(LoadRun<K, V> ended, @Nullable Call<K, V> by, @Nullable String notStored) {
    if (ended != run || (state != State.LOADING && state != State.ABANDONED)) {
      // Closed meanwhile: the callers have been told.
      return;
    }
    cancelTimer();
    loadNanos = engine.env().nanoTime() - loadStartNanos;
    Throwable failure = ended.failure();
    if (failure == null) {
      if (state == State.LOADING) {
        cache.leases().loaded(loadNanos);
      }
      emitLoadEnded(ended.value() == null ? LoadEnd.ABSENT : LoadEnd.LOADED);
      onValue(ended, notStored);
    } else if (ended.isGivenUp() || (by != null && ended.failedByInterrupt())) {
      emitLoadEnded(LoadEnd.INTERRUPTED);
      onLeaderInterrupted(by, failure);
    } else {
      emitLoadEnded(LoadEnd.FAILED);
      onLoadFailed(failure, ended.ownCoolDown());
    }
  }

  private void onValue(LoadRun<K, V> ended, @Nullable String notStored) {
    FillLease held = lease;
    EntryCoder.Payload payload = ended.payload;
    if (localOnly || outage) {
      cache.keepForOutage(ended, sponsor);
    }
    if (held == null || payload == null) {
      if (notStored != null && engine.events().on()) {
        engine.events().emit(new CacheEvent.NotStored(config.name(), key.toString(), notStored));
      }
      dropLease(0);
      if (callers.isEmpty() && background != null && state == State.LOADING) {
        // A refresh whose value can't be stored must not follow each hit.
        quiet(Math.max(Limits.millisRoundedUp(config.coolDown()), UNSTORED_MILLIS));
        return;
      }
      settle(ended.value(), false);
      return;
    }
    held.end();
    if (!degradedLease && state == State.LOADING) {
      cache.leases().leaseEnded(key.toString(), held.leaseMillis(), held.renewals(), held.ranOut());
    }
    CacheEngine.Ttl ttl = cache.ttl(ended, sponsor);
    Call<K, V> by = sponsor;
    tags = cache.tags(ended, by == null ? backgroundOptions : by.options, staleEntry);
    loadStartMillis = cache.startOf(tags, loadStartMillis, loadStartNanos);
    StoredEntry entry =
        new StoredEntry(
            payload.negative,
            payload.compressed,
            gateway.store().nowMillis(key) + ttl.softMillis(),
            loadStartMillis,
            loadNanos / 1_000_000L,
            held.epoch,
            held.seq,
            cache.coder().schemaVersion(),
            tags,
            payload.bytes);
    if (state == State.LOADING) {
      state = State.FILLING;
      callers.late().forEach(call -> call.beforeFill = true);
    }
    fill(new FillRequest(key, held.owner, entry, ttl.hardMillis()), ended.value(), FILL_RETRIES);
  }

  /** Only the interrupted call ends here: the others get a new lease and a new leader. */
  private void onLeaderInterrupted(@Nullable Call<K, V> by, Throwable failure) {
    dropLease(0);
    leader = null;
    sponsor = null;
    run = null;
    if (by == null) {
      background = null;
    } else {
      callers.remove(by);
      by.fail(new PaddockInterruptedException("interrupted while loading " + key, failure));
    }
    if (state == State.ABANDONED) {
      finish();
    } else {
      acquire();
    }
  }

  private void onLoadFailed(Throwable failure, @Nullable Duration ownCoolDown) {
    Duration coolDown = ownCoolDown == null ? config.coolDown() : ownCoolDown;
    Duration retryAfter = lease == null ? Duration.ZERO : coolDown;
    dropLease(Limits.millisRoundedUp(coolDown));
    for (Call<K, V> call : finish()) {
      if (cache.serveSpare(call)) {
        callers.endWait(call, WaitEnd.ANSWERED);
        continue;
      }
      callers.endWait(call, WaitEnd.FAILED);
      call.fail(
          new LoadFailedException(
              "loading " + key + " failed: " + failure.getClass().getName(), failure, retryAfter));
    }
  }

  // ---------------------------------------------------------------- fill

  private void fill(FillRequest request, @Nullable V value, int retries) {
    gateway.ask(
        config.name(),
        "FILL",
        key,
        () -> gateway.store().fill(request),
        (outcome, error) -> serial.execute(() -> onFilled(request, value, retries, outcome)),
        null);
  }

  private void onFilled(
      FillRequest request, @Nullable V value, int retries, @Nullable FillOutcome outcome) {
    boolean again = outcome == null && retries > 0 && !engine.isClosed();
    LoadRun<K, V> loaded = run;
    if (outcome == null && state != State.DONE && loaded != null) {
      cache.keepForOutage(loaded, sponsor);
    }
    if (!again && engine.events().on()) {
      engine.events().emit(new CacheEvent.FillEnded(config.name(), key.toString(), outcome));
    }
    boolean proven =
        outcome == FillOutcome.STORED
            || outcome == FillOutcome.STORED_LATE
            || outcome == FillOutcome.SUPERSEDED;
    if (proven) {
      lease = null;
      cache.replaced(key);
    } else if (!again) {
      dropLease(0);
    }
    if (state != State.DONE) {
      settle(value, proven);
    }
    if (again) {
      // Nobody waits for this any more; FILL knows a replay from a new fill.
      engine
          .env()
          .schedule(
              () -> serial.execute(() -> fill(request, value, retries - 1)),
              gateway.timeoutMillis() * 1_000_000L / (1L << retries));
    }
  }

  /**
   * Ends the flight with a value. It goes to all callers who were there when it was offered to the
   * store if that has proven that nothing was invalidated since the load began, else to those that
   * were there before, and to those whom the store has failed.
   */
  private void settle(@Nullable V value, boolean proven) {
    List<Call<K, V>> served = new ArrayList<>(callers.covered());
    List<Call<K, V>> again = new ArrayList<>();
    // What a tag's barrier outdates, the fill does not know of.
    boolean shared = proven && cache.mayShare(tags, loadStartMillis);
    for (Call<K, V> call : callers.late()) {
      boolean shares = (shared && call.beforeFill) || (localOnly && call.storeFailed);
      (shares ? served : again).add(call);
    }
    finish();
    Lookup<V> result = cache.loaded(value);
    for (Call<K, V> call : served) {
      callers.endWait(call, WaitEnd.ANSWERED);
      call.answer(result);
    }
    for (Call<K, V> call : again) {
      call.storeFailed |= localOnly;
    }
    startOver(again);
  }

  // ---------------------------------------------------------------- end

  private void startOver(List<Call<K, V>> calls) {
    for (Call<K, V> call : calls) {
      callers.endWait(call, WaitEnd.ANSWERED);
    }
    cache.startOver(calls);
  }

  /** Gives the lease back, if there is one. The only place that does, besides a stored fill. */
  private void dropLease(long coolDownMillis) {
    FillLease held = lease;
    lease = null;
    if (held != null) {
      held.end();
      // The degraded load has no lease of its own to give back, and starts no cool-down.
      if (!degradedLease) {
        release(held.owner, coolDownMillis, null);
      }
    }
  }

  private void release(String by, long coolDownMillis, @Nullable Runnable done) {
    gateway.call(
        config.name(),
        "RELEASE",
        key,
        () -> gateway.store().release(key, by, coolDownMillis, cache.graceMillis()),
        (released, error) -> {
          if (done != null) {
            done.run();
          } else if (error != null && error.mayHaveHappened() && !engine.isClosed()) {
            // Once more, for a reply that was lost; after that the lease lapses by itself.
            gateway.call(
                config.name(),
                "RELEASE",
                key,
                () -> gateway.store().release(key, by, coolDownMillis, cache.graceMillis()),
                (again, stillFailed) -> {});
          }
        });
  }

  private void leaveGate() {
    if (ticket != null) {
      ticket.leave();
      ticket = null;
    }
  }

  /**
   * The background load is not needed now; those it would go together with need not wait for it.
   */
  private void passOver() {
    if (background instanceof BulkLoad<K, V> together) {
      together.decided(key);
    }
  }

  private void startTimer(long nanos, Runnable task) {
    cancelTimer();
    timer = engine.env().schedule(task, nanos);
  }

  private void cancelTimer() {
    if (timer != null) {
      timer.cancel();
      timer = null;
    }
  }

  /**
   * Ends the flight.
   *
   * @return the callers, who are to be told afterwards
   */
  private List<Call<K, V>> finish() {
    passOver();
    // For a load that nobody was left to run, and one that the closing left behind.
    emitLoadEnded(run == null ? LoadEnd.INTERRUPTED : LoadEnd.ABANDONED);
    if (!degraded) {
      cache.remove(key, this);
    }
    engine.forget(this);
    // Where a loader still runs its place is given back when that ends.
    if (state != State.LOADING || run == null) {
      leaveGate();
    }
    state = State.DONE;
    List<Call<K, V>> all = callers.all();
    callers.clear();
    watch.close();
    cancelTimer();
    return all;
  }
}
