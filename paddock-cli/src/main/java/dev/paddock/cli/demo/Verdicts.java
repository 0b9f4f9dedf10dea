/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import dev.paddock.FenceOutcome;
import dev.paddock.LeaseOutcome;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * What counts as expected. None of it depends on how fast the machine is, as long as callers that
 * are told to ask at the same instant do so well within one load; bounds on time are generous.
 */
final class Verdicts {
  /** Of 100 callers, how many load at least if nothing holds them back. */
  static final int UNPROTECTED_PERCENT = 80;

  /** What a busy machine may add to a time that is a sum of lease, load and polls. */
  static final long GENEROUS_MILLIS = 3000;

  /** Redis counts in milliseconds. */
  private static final long ROUNDING_MICROS = 2000;

  private Verdicts() {}

  static int unprotectedLoads(int callers) {
    return (callers * UNPROTECTED_PERCENT + 99) / 100;
  }

  static Verdict unprotected(int callers, int loads) {
    return new Verdict(
        loads >= unprotectedLoads(callers), loads + " loads for " + callers + " callers");
  }

  static Verdict inProcess(int processes, int loads, int mostInOneProcess) {
    return new Verdict(
        loads == processes && mostInOneProcess == 1,
        count(loads, "load") + ", at most " + mostInOneProcess + " in a process");
  }

  static Verdict checkThenSet(int loads) {
    return new Verdict(loads > 1, count(loads, "load") + " under one lock");
  }

  static Verdict setnxThenExpire(long lockTtlMillis, int answered, int callers, long patience) {
    String lock =
        lockTtlMillis == -1
            ? "lock without TTL"
            : lockTtlMillis == -2 ? "lock gone" : "lock ends in " + lockTtlMillis + " ms";
    return new Verdict(
        lockTtlMillis == -1 && answered == 0,
        lock + "; " + answered + " of " + callers + " callers got a value in " + patience + " ms");
  }

  /**
   * Finds how many locks can be granted if each is held for a whole lease.
   *
   * @param loads the loads that ran under them, in order
   * @param leaseMillis the lease
   * @return the largest number
   */
  static int locksOnePerLease(List<Load> loads, long leaseMillis) {
    if (loads.isEmpty()) {
      return 0;
    }
    long firstMicros = loads.stream().mapToLong(Load::askedMicros).min().orElseThrow();
    long lastMicros = loads.stream().mapToLong(Load::beganMicros).max().orElseThrow();
    return (int) ((lastMicros - firstMicros) / (leaseMillis * 1000)) + 1;
  }

  /**
   * Finds how many loads run at once at most if locks are granted one per lease: as many as leases
   * fit into the longest load, and one.
   *
   * @param loads the loads
   * @param leaseMillis the lease
   * @return the largest number
   */
  static int overlapOnePerLease(List<Load> loads, long leaseMillis) {
    long longest = loads.stream().mapToLong(Load::longestMicros).max().orElse(0);
    return (int) (longest / (leaseMillis * 1000)) + 1;
  }

  static Verdict plainDel(List<Load> loads, long leaseMillis) {
    int bound = locksOnePerLease(loads, leaseMillis);
    return new Verdict(
        loads.size() > bound,
        loads.size() + " loads where the lease allows " + bound + "; " + atOnce(loads));
  }

  static Verdict tokenRelease(List<Load> loads, long leaseMillis) {
    int locks = locksOnePerLease(loads, leaseMillis);
    int overlap = overlapOnePerLease(loads, leaseMillis);
    return new Verdict(
        !loads.isEmpty() && loads.size() <= locks && Measures.mostAtOnce(loads) <= overlap,
        loads.size() + " loads where the lease allows " + locks + "; " + atOnce(loads));
  }

  private static String atOnce(List<Load> loads) {
    return Measures.mostAtOnce(loads) + " at once";
  }

  static Verdict paddockWait(int callers, int loads, List<Report.Answer> answers, long renewals) {
    int answered = Measures.withValue(answers);
    boolean safe = answered == callers;
    return new Verdict(
        loads == 1 && safe,
        loads > 1 && safe,
        count(loads, "load")
            + ", lease renewed "
            + renewals
            + " times; "
            + answered
            + " of "
            + callers
            + " answered");
  }

  static Verdict paddockStale(
      int callers, int loads, int staleAnswers, List<Report.Answer> answers, long waited) {
    int answered = Measures.withValue(answers);
    boolean safe = waited == 0 && answered == callers && staleAnswers > 0;
    return new Verdict(
        loads == 1 && safe,
        loads > 1 && safe,
        count(loads, "load")
            + "; "
            + staleAnswers
            + " stale, "
            + (answered - staleAnswers)
            + " fresh answers of "
            + callers
            + "; "
            + waited
            + " waited");
  }

  static long killedLimitMillis(Settings settings) {
    return settings.leaseMillis() + settings.loadMillis() + GENEROUS_MILLIS;
  }

  static Verdict paddockKilled(
      int survivors, List<Load> loads, List<Report.Answer> answers, long lastMillis, long limit) {
    int answered = Measures.withValue(answers);
    boolean safe = answered == survivors && lastMillis <= limit;
    return new Verdict(
        loads.size() == 2 && safe,
        loads.size() > 2 && safe,
        count(loads.size(), "load")
            + "; "
            + answered
            + " of "
            + survivors
            + " survivors answered, the last "
            + lastMillis
            + " ms after the kill");
  }

  /**
   * Judges a holder that was stopped and came back, twice.
   *
   * @param loads how many loads there were in all
   * @param fillAfterNewer what became of its fill after the newer load had stored
   * @param fillBeforeNewer what became of its fill while the newer load ran
   * @param newestStored whether in the end the newest load's value was stored, both times
   * @param older how many later callers got another value than that
   * @return the verdict
   */
  static Verdict paddockPaused(
      int loads, String fillAfterNewer, String fillBeforeNewer, boolean newestStored, int older) {
    boolean safe = newestStored && older == 0;
    return new Verdict(
        fillAfterNewer.equals("SUPERSEDED") && fillBeforeNewer.equals("STORED_LATE") && safe,
        loads > 4 && safe,
        "late fill "
            + fillAfterNewer
            + " / "
            + fillBeforeNewer
            + "; "
            + (newestStored ? "newest" : "an older")
            + " value stored, "
            + older
            + " older answers");
  }

  static Verdict paddockInvalidated(
      int outdated, int answers, int recipeOutdated, int recipeAnswers, List<String> fills) {
    boolean safe = outdated == 0 && recipeOutdated > 0;
    return new Verdict(
        safe
            && Collections.frequency(fills, "INVALIDATED") == 1
            && Collections.frequency(fills, "STORED") == 1
            && fills.size() == 2,
        safe && fills.size() > 2,
        outdated
            + " old answers of "
            + answers
            + ", fills "
            + String.join(", ", fills)
            + "; cache-aside with DEL: "
            + recipeOutdated
            + " old of "
            + recipeAnswers);
  }

  static Verdict paddockChurn(
      int outdated, int answers, int errors, int invalidations, long stored, boolean present) {
    return new Verdict(
        outdated == 0 && errors == 0 && answers > 0 && stored == 0 && !present,
        outdated
            + " too old of "
            + answers
            + " answers, "
            + errors
            + " errors, "
            + invalidations
            + " invalidations; "
            + (stored == 0 && !present ? "nothing stored" : stored + " fills stored"));
  }

  static Verdict paddockMigrated(
      int callers, int loads, List<Report.Answer> answers, boolean stored, boolean arrived) {
    int answered = Measures.withValue(answers);
    boolean safe = answered == callers && stored && arrived;
    return new Verdict(
        loads == 1 && safe,
        loads > 1 && safe,
        count(loads, "load")
            + "; "
            + answered
            + " of "
            + callers
            + " answered; the value is "
            + (stored ? "stored" : "NOT stored")
            + ", "
            + (arrived ? "" : "NOT ")
            + "at the new master");
  }

  /**
   * Judges a server that was killed and replaced.
   *
   * @param callers how many callers asked, before the kill and again after the replacement
   * @param loads the loads for those before
   * @param answers what those before got
   * @param loadsAfter how many loads there were for those after
   * @param answersAfter what those after got
   * @param outdated how many answers were older than an invalidation allows
   * @param awayMillis how long after the replacement the last process got through to Redis; told,
   *     and not judged
   * @return the verdict
   */
  static Verdict paddockFailover(
      int callers,
      List<Load> loads,
      List<Report.Answer> answers,
      int loadsAfter,
      List<Report.Answer> answersAfter,
      int outdated,
      long awayMillis) {
    int answered = Measures.withValue(answers);
    int answeredAfter = Measures.withValue(answersAfter);
    int together = Measures.mostAtOnceInOneProcess(loads);
    boolean safe =
        answered == callers && answeredAfter == callers && together == 1 && outdated == 0;
    return new Verdict(
        loadsAfter == 1 && safe,
        loadsAfter > 1 && safe,
        answered
            + " of "
            + callers
            + " answered with "
            + count(loads.size(), "load")
            + ", at most "
            + together
            + " at once in a process; through to the new master after "
            + awayMillis
            + " ms, then "
            + answeredAfter
            + " of "
            + callers
            + " with "
            + count(loadsAfter, "load")
            + (outdated == 0 ? "" : ", " + outdated + " too old"));
  }

  /**
   * Judges two holders of one lease.
   *
   * @param both whether both believed that they held it
   * @param oldToken the token of the first
   * @param newToken the token of the second
   * @param accepted whether the fence accepted the second
   * @param late what the fence said to the first, which wrote after the second
   * @param fenced the value behind the fence in the end
   * @param unfenced the value without one in the end
   * @return the verdict
   */
  static Verdict twoHolders(
      boolean both,
      long oldToken,
      long newToken,
      boolean accepted,
      FenceOutcome late,
      String fenced,
      String unfenced) {
    return new Verdict(
        both
            && newToken > oldToken
            && accepted
            && late.equals(new FenceOutcome.Rejected(oldToken, newToken))
            && fenced.equals("new")
            && unfenced.equals("stale"),
        (both ? "2 holders" : "1 holder")
            + ", token "
            + (newToken > oldToken ? "greater by " + (newToken - oldToken) : "NOT greater")
            + "; late write "
            + (late.accepted() ? "ACCEPTED" : "refused")
            + "; fenced value "
            + fenced
            + ", unfenced "
            + unfenced);
  }

  /**
   * Judges a lease by quorum whose servers die.
   *
   * @param kept whether it was still held, and refused to others, when it had been renewed by what
   *     is left
   * @param outcome how it ended
   * @param oldToken its token
   * @param newToken the token of the next holder
   * @param refusedMillis how long it took to be refused where no majority is left; negative if it
   *     was granted
   * @param limitMillis how long it may take
   * @return the verdict
   */
  static Verdict lostMinority(
      boolean kept,
      LeaseOutcome outcome,
      long oldToken,
      long newToken,
      long refusedMillis,
      long limitMillis) {
    return new Verdict(
        kept
            && outcome == LeaseOutcome.RELEASED
            && newToken > oldToken
            && refusedMillis >= 0
            && refusedMillis <= limitMillis,
        (kept ? "held and renewed by 3 of 5" : "LOST with 3 of 5 left")
            + ", then "
            + outcome
            + "; next token "
            + (newToken > oldToken ? "greater" : "NOT greater")
            + "; with 2 of 5 "
            + (refusedMillis < 0 ? "GRANTED" : "refused after " + refusedMillis + " ms"));
  }

  /** When the load after a failed one began. */
  enum NextLoad {
    /** After the cool-down. */
    IN_TIME,
    /** In the cool-down. */
    TOO_SOON,
    /** Before the failed one had ended, so without its lease. */
    BESIDE
  }

  /**
   * Finds when loads began after failed ones.
   *
   * @param loads the loads of one cell, in order
   * @param coolDownMillis the cool-down
   * @return the cases that occurred
   */
  static Set<NextLoad> nextLoads(List<Load> loads, long coolDownMillis) {
    Set<NextLoad> found = EnumSet.noneOf(NextLoad.class);
    for (int i = 1; i < loads.size(); i++) {
      if (loads.get(i - 1).failed()) {
        long pauseMicros = loads.get(i).beganMicros() - loads.get(i - 1).endedMicros();
        found.add(
            pauseMicros < 0
                ? NextLoad.BESIDE
                : pauseMicros + ROUNDING_MICROS < coolDownMillis * 1000
                    ? NextLoad.TOO_SOON
                    : NextLoad.IN_TIME);
      }
    }
    return found;
  }

  /**
   * Judges a source that fails for a while.
   *
   * @param callers how many callers asked while there was no value
   * @param cold what they got
   * @param staleExpected how many callers asked while there was a stale value
   * @param stale how many of them got it
   * @param recovered how many callers got a fresh value in the end, of both kinds
   * @param loads the loads of both cells
   * @param coolDownMillis the cool-down
   * @return the verdict
   */
  static Verdict paddockFailing(
      int callers,
      List<Report.Answer> cold,
      int staleExpected,
      int stale,
      int recovered,
      List<List<Load>> loads,
      long coolDownMillis) {
    int failures =
        (int)
            cold.stream().filter(a -> "dev.paddock.LoadFailedException".equals(a.error())).count();
    Set<NextLoad> next = EnumSet.noneOf(NextLoad.class);
    loads.forEach(ofCell -> next.addAll(nextLoads(ofCell, coolDownMillis)));
    boolean apart = !next.contains(NextLoad.TOO_SOON);
    boolean alone = !next.contains(NextLoad.BESIDE);
    boolean served =
        failures == callers
            && stale == staleExpected
            && staleExpected > 0
            && recovered == 2 * callers;
    List<String> parts = new ArrayList<>();
    parts.add(failures + " of " + callers + " told LoadFailedException");
    parts.add(stale + " of " + staleExpected + " served stale");
    parts.add(
        apart && alone
            ? "cool-downs kept"
            : alone ? "a load inside a cool-down" : "a load beside a failing one");
    parts.add(recovered + " of " + 2 * callers + " fresh after recovery");
    return new Verdict(
        served && apart && alone, served && apart && !alone, String.join("; ", parts));
  }

  private static String count(int number, String noun) {
    return number + " " + noun + (number == 1 ? "" : "s");
  }
}
