/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.soak;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** What the workers of one topology said. Thread-safe. */
final class History {
  /** Stopped workers say late what happened early, so reads are judged late. */
  private static final long READ_LAG_NANOS = TimeUnit.SECONDS.toNanos(15);

  /** An invalidation that took longer may have met a connection that broke. */
  private static final long AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** A put that failed invalidates the key, and what was given up may be executed late. */
  private static final long REMOVAL_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** Enough to see what is wrong. */
  private static final int VIOLATIONS_MAX = 50;

  private record Call(String worker, int key, long begun, long ended, long result) {}

  private final ReentrantLock lock = new ReentrantLock();
  private final Map<Integer, List<LoadCheck.Load>> loads = new TreeMap<>();
  private final Map<String, LoadCheck.Load> byNumber = new HashMap<>();
  private final Map<String, LoadCheck.Load> latest = new HashMap<>();
  private final Map<Integer, List<LoadCheck.Reason>> invalidations = new HashMap<>();
  private final Map<String, Integer> pending = new HashMap<>();
  private final Map<Integer, List<FreshnessCheck.Invalidation>> acknowledged = new HashMap<>();
  private final Map<String, List<Span>> stalls = new HashMap<>();
  private final Map<String, List<Long>> unprotected = new HashMap<>();
  private final Map<String, NavigableSet<Long>> outageServed = new HashMap<>();
  private final List<Span> puts = new ArrayList<>();
  private final List<Span> removals = new ArrayList<>();
  private final List<Span> misses = new ArrayList<>();
  private final Map<Integer, List<RegisterCheck.Update>> fenced = new TreeMap<>();
  private final Map<Integer, List<RegisterCheck.Update>> unfenced = new TreeMap<>();
  private final Map<String, Long> counts = new TreeMap<>();
  private final List<Violation> violations = new ArrayList<>();
  private List<Call> calls = new ArrayList<>();
  private final Set<String> expectedInHealth = new TreeSet<>();
  private final Set<String> happenedInHealth = new HashSet<>();
  private @Nullable Span health;
  private long endNanos = Long.MAX_VALUE;

  /** Faults at which servers may forget what they acknowledged; the last may still go on. */
  private final List<Span> forgetful = new ArrayList<>();

  /** Those, and clocks that jumped, at which values and leases end at odd times. */
  private final List<Span> unsteady = new ArrayList<>();

  /**
   * What is said of later than this does not count: the processes were being ended from outside.
   */
  void endAt(long nanos) {
    lock.lock();
    try {
      endNanos = Math.min(endNanos, nanos);
    } finally {
      lock.unlock();
    }
  }

  /** Counts something. */
  void count(String what, long n) {
    lock.lock();
    try {
      counts.merge(what, n, Long::sum);
    } finally {
      lock.unlock();
    }
  }

  /** A time that has begun. */
  final class Time {
    private final long from;
    private final List<List<Span>> lists;

    private Time(long from, List<List<Span>> lists) {
      this.from = from;
      this.lists = lists;
      lists.forEach(list -> list.add(new Span(from, Long.MAX_VALUE)));
    }

    void end(long to) {
      lock.lock();
      try {
        for (List<Span> list : lists) {
          list.remove(new Span(from, Long.MAX_VALUE));
          list.add(new Span(from, to));
        }
      } finally {
        lock.unlock();
      }
    }
  }

  /** Servers may forget from now on what they acknowledged. */
  Time forgetful(long from) {
    lock.lock();
    try {
      return new Time(from, List.of(forgetful, unsteady));
    } finally {
      lock.unlock();
    }
  }

  /** Clocks are wrong from now on, so values and leases end at odd times. */
  Time unsteady(long from) {
    lock.lock();
    try {
      return new Time(from, List.of(unsteady));
    } finally {
      lock.unlock();
    }
  }

  /**
   * Tells whether a worker is in the middle of a load.
   *
   * @param worker which one
   * @return true if one under a lease has begun and not ended
   */
  boolean isLoading(String worker) {
    lock.lock();
    try {
      return byNumber.entrySet().stream()
          .anyMatch(each -> each.getKey().startsWith(worker + "/") && each.getValue().leased);
    } finally {
      lock.unlock();
    }
  }

  /** Tells whether servers may be forgetting now. */
  boolean isForgetful(long now) {
    lock.lock();
    try {
      return Span.anyTouches(forgetful, now, now);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Nothing is harmed any more.
   *
   * @param span since when, and until when calls went on
   * @param expected what has to happen in that time, as {@link #happened} names it
   */
  void recovering(Span span, Set<String> expected) {
    lock.lock();
    try {
      health = span;
      expectedInHealth.addAll(expected);
    } finally {
      lock.unlock();
    }
  }

  static String storedValue(int slot) {
    return "value from the store in worker " + slot;
  }

  static String update(boolean fenced, int register) {
    return "update of " + (fenced ? "fenced" : "unfenced") + " register " + register;
  }

  private void happened(long at, String what) {
    if (health != null && health.touches(at, at)) {
      happenedInHealth.add(what);
    }
  }

  /** Adds a violation that needs no judging. */
  void violation(Violation violation) {
    lock.lock();
    try {
      add(violation);
    } finally {
      lock.unlock();
    }
  }

  private void add(Violation violation) {
    if (violation.at() < endNanos) {
      counts.merge("violations", 1L, Long::sum);
      if (violations.size() < VIOLATIONS_MAX) {
        violations.add(violation);
      }
    }
  }

  /**
   * Takes what a worker said.
   *
   * @param worker which one; a worker that takes the place of another has another name
   * @param said what
   */
  void take(String worker, Said said) {
    lock.lock();
    try {
      note(worker, said);
    } finally {
      lock.unlock();
    }
  }

  private void note(String worker, Said said) {
    if (said instanceof Said.Reads reads) {
      noteReads(worker, reads.rows());
    } else if (said instanceof Said.LoadBegan began) {
      LoadCheck.Load load = new LoadCheck.Load(worker, began.key(), began.at(), began.leased());
      loads.computeIfAbsent(began.key(), key -> new ArrayList<>()).add(load);
      byNumber.put(worker + "/" + began.load(), load);
      latest.put(worker + "/" + began.key(), load);
      counts.merge("loads", 1L, Long::sum);
    } else if (said instanceof Said.LoadEnded ended) {
      LoadCheck.Load load = byNumber.remove(worker + "/" + ended.load());
      if (load != null) {
        load.ended = ended.at();
        load.failed = ended.failed();
      }
    } else if (said instanceof Said.FillEnded fill) {
      LoadCheck.Load load = latest.get(worker + "/" + fill.key());
      if (load != null) {
        load.fill = fill.outcome();
        load.fillAt = fill.at();
      }
    } else if (said instanceof Said.LeaseLost lost) {
      LoadCheck.Load load = latest.get(worker + "/" + lost.key());
      if (load != null) {
        load.lostAt = lost.at();
      }
      // Lost between the grant and the begin of the load, as in a process that was stopped just
      // then, it leaves a load without a lease.
      unprotected.computeIfAbsent(worker, name -> new ArrayList<>()).add(lost.at());
      counts.merge("leasesLost", 1L, Long::sum);
    } else if (said instanceof Said.Invalidating begins) {
      List<LoadCheck.Reason> all =
          invalidations.computeIfAbsent(begins.key(), key -> new ArrayList<>());
      pending.put(worker, all.size());
      all.add(new LoadCheck.Reason("invalidated", begins.at(), Long.MAX_VALUE));
    } else if (said instanceof Said.Invalidated invalidated) {
      noteInvalidated(worker, invalidated);
    } else if (said instanceof Said.Stalled stall) {
      stalls
          .computeIfAbsent(worker, name -> new ArrayList<>())
          .add(new Span(stall.from(), stall.to()));
    } else if (said instanceof Said.Unprotected cause) {
      unprotected.computeIfAbsent(worker, name -> new ArrayList<>()).add(cause.at());
    } else if (said instanceof Said.OutageServed served) {
      outageServed
          .computeIfAbsent(worker + "/" + served.key(), key -> new TreeSet<>())
          .add(served.at());
    } else if (said instanceof Said.AnchorPut put) {
      if (put.acknowledged()) {
        puts.add(new Span(put.begun(), put.ended()));
      } else {
        removals.add(new Span(put.begun(), put.ended() + REMOVAL_NANOS));
      }
    } else if (said instanceof Said.AnchorMissed miss) {
      misses.add(new Span(miss.begun(), miss.ended()));
    } else if (said instanceof Said.Wrote wrote) {
      noteWrite(wrote);
    } else if (said instanceof Said.Done done) {
      done.counts().forEach((what, n) -> counts.merge(what, n, Long::sum));
    } else {
      noteOdd(worker, said);
    }
  }

  private void noteReads(String worker, long[] rows) {
    for (int i = 0; i + Said.Reads.WIDTH <= rows.length; i += Said.Reads.WIDTH) {
      calls.add(new Call(worker, (int) rows[i], rows[i + 1], rows[i + 2], rows[i + 3]));
      counts.merge("calls", 1L, Long::sum);
    }
  }

  private void noteInvalidated(String worker, Said.Invalidated said) {
    counts.merge("invalidations", 1L, Long::sum);
    List<LoadCheck.Reason> reasons =
        invalidations.computeIfAbsent(said.key(), key -> new ArrayList<>());
    if (!said.acknowledged() || said.ended() - said.begun() > AGAIN_NANOS) {
      // What was under way when its connection broke is sent again, and may happen twice.
      reasons.add(
          new LoadCheck.Reason(
              "invalidated again",
              said.begun(),
              said.acknowledged() ? said.ended() : Long.MAX_VALUE));
    }
    if (!said.acknowledged()) {
      // It may still be on its way, so its reason stays open.
      counts.merge("invalidationsUnacknowledged", 1L, Long::sum);
      return;
    }
    Integer index = pending.remove(worker);
    if (index != null) {
      reasons.set(index, new LoadCheck.Reason("invalidated", said.begun(), said.ended()));
    }
    acknowledged
        .computeIfAbsent(said.key(), key -> new ArrayList<>())
        .add(new FreshnessCheck.Invalidation(said.version(), said.begun(), said.ended()));
  }

  private void noteWrite(Said.Wrote wrote) {
    String twin = wrote.fenced() ? "fenced" : "unfenced";
    counts.merge(twin + "." + wrote.outcome(), 1L, Long::sum);
    if (wrote.outcome() == Said.Write.ACKNOWLEDGED) {
      (wrote.fenced() ? fenced : unfenced)
          .computeIfAbsent(wrote.register(), key -> new ArrayList<>())
          .add(new RegisterCheck.Update(wrote.token(), wrote.to(), wrote.at()));
    }
  }

  private void noteOdd(String worker, Said said) {
    if (said instanceof Said.OddError odd) {
      add(
          new Violation(
              "errors",
              "a call of worker " + worker + " for key " + odd.key() + " ended oddly",
              odd.begun(),
              "a value, the failure of a load, or the end of a wait",
              odd.error(),
              ofKey(odd.key(), odd.begun())));
    } else if (said instanceof Said.Unreadable unreadable) {
      add(
          new Violation(
              "errors",
              "worker " + worker + " found something that it can't read",
              unreadable.at(),
              "what Paddock itself has stored",
              unreadable.why()));
    } else if (said instanceof Said.Trouble trouble) {
      add(
          new Violation(
              "errors",
              "worker " + worker + " failed",
              System.nanoTime(),
              "no failure of a worker",
              trouble.message()));
    }
  }

  /** Judges reads that are old enough for all that concerns them to have been said. */
  void judgeReads() {
    judgeReads(System.nanoTime() - READ_LAG_NANOS);
  }

  private void judgeReads(long until) {
    lock.lock();
    try {
      List<Call> left = new ArrayList<>();
      for (Call call : calls) {
        if (call.ended >= until) {
          left.add(call);
        } else if (call.ended < endNanos) {
          judge(call);
        }
      }
      calls = left;
      // Only the last invalidations matter to the reads to come.
      acknowledged.values().forEach(all -> forget(all, until));
    } finally {
      lock.unlock();
    }
  }

  private static void forget(List<FreshnessCheck.Invalidation> all, long until) {
    long newest =
        all.stream()
            .filter(each -> each.ended() < until - READ_LAG_NANOS)
            .mapToLong(FreshnessCheck.Invalidation::version)
            .max()
            .orElse(0);
    all.removeIf(each -> each.version() < newest && each.ended() < until - READ_LAG_NANOS);
  }

  private void judge(Call call) {
    Violation wait =
        WaitCheck.judge(
            call.worker,
            call.key,
            call.begun,
            call.ended,
            stalls.getOrDefault(call.worker, List.of()));
    if (wait != null) {
      add(wait.with(ofKey(call.key, wait.at())));
    }
    if (call.result > 0 && (!Said.Reads.isLeased(call.result) || isServedInOutage(call))) {
      // While the store fails a process, its callers share loads of which nothing can be proven.
      counts.merge("callsNotJudged", 1L, Long::sum);
    } else if (call.result > 0) {
      happened(
          call.ended,
          storedValue(Integer.parseInt(call.worker.substring(0, call.worker.indexOf('.')))));
      FreshnessCheck.judge(
              new FreshnessCheck.Read(
                  call.worker, call.key, call.begun, call.ended, Said.Reads.version(call.result)),
              acknowledged.getOrDefault(call.key, List.of()),
              forgetful)
          .forEach(found -> add(found.with(ofKey(call.key, found.at()))));
    }
  }

  private boolean isServedInOutage(Call call) {
    NavigableSet<Long> served = outageServed.get(call.worker + "/" + call.key);
    Long first = served == null ? null : served.ceiling(call.begun);
    return first != null && first <= call.ended;
  }

  /**
   * Judges all that is left, once everything has been said.
   *
   * @param lastValues the last values of the fenced registers, then of the unfenced ones; {@link
   *     RegisterCheck#UNKNOWN} where they could not be read
   * @return what was found and counted
   */
  Findings judge(LastValues lastValues) {
    judgeReads(Long.MAX_VALUE);
    lock.lock();
    try {
      for (List<LoadCheck.Load> ofKey : loads.values()) {
        LoadCheck.Outcome outcome =
            LoadCheck.judge(
                ofKey,
                invalidations.getOrDefault(ofKey.get(0).key, List.of()),
                unsteady,
                this::toldNear);
        counts.merge("loadsJudged", (long) outcome.judged(), Long::sum);
        counts.merge("loadsUnleased", (long) outcome.unleased(), Long::sum);
        counts.merge("loadsPassedOver", (long) outcome.passedOver(), Long::sum);
        outcome.violations().forEach(found -> add(found.with(ofKey(ofKey.get(0).key, found.at()))));
      }
      List<Span> without = new ArrayList<>(forgetful);
      without.addAll(removals);
      AnchorCheck.judge(puts, misses, without)
          .forEach(found -> add(found.with(ofAnchor(found.at()))));
      judgeRecovery();
      long lostFenced = 0;
      long lostUnfenced = 0;
      for (int register = 0; register < Terms.REGISTERS; register++) {
        List<RegisterCheck.Update> kept = fenced.getOrDefault(register, List.of());
        lostFenced += RegisterCheck.lost(kept, lastValues.fenced(register));
        RegisterCheck.judge(register, kept, lastValues.fenced(register))
            .forEach(found -> add(found.with(ofRegister(kept, found.at()))));
        lostUnfenced +=
            RegisterCheck.lost(
                unfenced.getOrDefault(register, List.of()), lastValues.unfenced(register));
      }
      counts.put("fenced.lost", lostFenced);
      counts.put("unfenced.lost", lostUnfenced);
      return new Findings(new TreeMap<>(counts), List.copyOf(violations));
    } finally {
      lock.unlock();
    }
  }

  /** What is known of a key around a moment; reads are kept only until they are judged. */
  private List<String> ofKey(int key, long at) {
    Recent recent = new Recent(at);
    for (LoadCheck.Load load : loads.getOrDefault(key, List.of())) {
      String whose = "load of worker " + load.worker;
      recent.add(
          load.begun, whose + " begins " + (load.leased ? "under a lease" : "without a lease"));
      recent.add(load.lostAt, whose + ": its lease is lost");
      recent.add(load.ended, whose + (load.failed ? " fails" : " ends"));
      recent.add(load.fillAt, whose + ": its fill comes to " + load.fill);
    }
    for (LoadCheck.Reason reason : invalidations.getOrDefault(key, List.of())) {
      if (reason.what().equals("invalidated")) {
        recent.add(reason.from(), "an invalidation begins");
        recent.add(reason.to(), "an invalidation is acknowledged");
      }
    }
    for (Call call : calls) {
      if (call.key == key && call.result > 0) {
        recent.add(
            call.begun,
            "read by worker "
                + call.worker
                + " begins; version "
                + Said.Reads.version(call.result)
                + " after "
                + TimeUnit.NANOSECONDS.toMillis(call.ended - call.begun)
                + " ms");
      }
    }
    return recent.lines();
  }

  private List<String> ofAnchor(long at) {
    Recent recent = new Recent(at);
    for (Span put : puts) {
      recent.add(put.to(), "a put is acknowledged");
    }
    for (Span removal : removals) {
      recent.add(removal.from(), "a put begins that will fail, and may remove the value");
    }
    for (Span miss : misses) {
      recent.add(miss.from(), "a lookup begins that finds nothing");
    }
    return recent.lines();
  }

  private static List<String> ofRegister(List<RegisterCheck.Update> updates, long at) {
    Recent recent = new Recent(at);
    for (RegisterCheck.Update update : updates) {
      recent.add(update.at(), "token " + update.token() + " writes " + update.to());
    }
    return recent.lines();
  }

  private void judgeRecovery() {
    if (health == null) {
      return;
    }
    fenced.forEach(
        (register, all) -> all.forEach(each -> happened(each.at(), update(true, register))));
    unfenced.forEach(
        (register, all) -> all.forEach(each -> happened(each.at(), update(false, register))));
    RecoveryCheck.judge(health, expectedInHealth, happenedInHealth).forEach(this::add);
  }

  private boolean toldNear(String worker, long from, long to) {
    return unprotected.getOrDefault(worker, List.of()).stream()
        .anyMatch(at -> from <= at && at <= to);
  }

  /** The registers as they are in the end. */
  interface LastValues {
    long fenced(int register);

    long unfenced(int register);
  }

  /**
   * What came of it.
   *
   * @param counts how often what happened
   * @param violations those found, or the first of them
   */
  record Findings(Map<String, Long> counts, List<Violation> violations) {}
}
