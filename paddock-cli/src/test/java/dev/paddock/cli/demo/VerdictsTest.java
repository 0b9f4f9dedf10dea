/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import static dev.paddock.cli.demo.Verdicts.NextLoad.BESIDE;
import static dev.paddock.cli.demo.Verdicts.NextLoad.IN_TIME;
import static dev.paddock.cli.demo.Verdicts.NextLoad.TOO_SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.FenceOutcome;
import dev.paddock.LeaseOutcome;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Each verdict can be met, and each can fail, for every reason that it looks at. */
final class VerdictsTest {
  private static final long LEASE = 150;

  private static List<Report.Answer> answers(int number) {
    return Collections.nCopies(number, new Report.Answer(0, 1, 7, 1, null));
  }

  private static List<Report.Answer> failures(int number, String error) {
    return Collections.nCopies(number, new Report.Answer(0, 1, 0, 0, error));
  }

  /** Loads of 200 ms each that were granted at the given milliseconds. */
  private static List<Load> granted(long... millis) {
    List<Load> loads = new ArrayList<>();
    for (long at : millis) {
      loads.add(new Load(0, loads.size() + 1, at * 1000, at * 1000, (at + 200) * 1000, false));
    }
    return loads;
  }

  private static List<Load> loads(int number) {
    return granted(new long[number]);
  }

  @Test
  void unprotected_fewerLoadsThanFourFifthsOfTheCallers_isNotMet() {
    assertThat(Verdicts.unprotected(200, 200).met()).isTrue();
    assertThat(Verdicts.unprotected(200, 160).met()).isTrue();
    assertThat(Verdicts.unprotected(200, 159).met()).isFalse();
    assertThat(Verdicts.unprotectedLoads(11)).isEqualTo(9);
  }

  @Test
  void inProcess_notExactlyOneLoadPerProcess_isNotMet() {
    assertThat(Verdicts.inProcess(4, 4, 1).met()).isTrue();
    assertThat(Verdicts.inProcess(4, 5, 2).met()).isFalse();
    assertThat(Verdicts.inProcess(4, 4, 2).met()).isFalse();
    assertThat(Verdicts.inProcess(4, 3, 1).met()).isFalse();
  }

  @Test
  void checkThenSet_oneLoad_isNotMet() {
    assertThat(Verdicts.checkThenSet(2).met()).isTrue();
    assertThat(Verdicts.checkThenSet(1).met()).isFalse();
    assertThat(Verdicts.checkThenSet(0).met()).isFalse();
  }

  @Test
  void setnxThenExpire_lockEndsOrSomebodyIsAnswered_isNotMet() {
    assertThat(Verdicts.setnxThenExpire(-1, 0, 150, 2000).met()).isTrue();
    assertThat(Verdicts.setnxThenExpire(90, 0, 150, 2000))
        .isEqualTo(
            new Verdict(false, "lock ends in 90 ms; 0 of 150 callers got a value in 2000 ms"));
    assertThat(Verdicts.setnxThenExpire(-2, 0, 150, 2000).met()).isFalse();
    assertThat(Verdicts.setnxThenExpire(-1, 1, 150, 2000).met()).isFalse();
  }

  @Test
  void locksOnePerLease_askedToBegun_countsWholeLeases() {
    assertThat(Verdicts.locksOnePerLease(granted(0, 150, 300), LEASE)).isEqualTo(3);
    assertThat(Verdicts.locksOnePerLease(granted(0, 299), LEASE)).isEqualTo(2);
    assertThat(Verdicts.locksOnePerLease(List.of(), LEASE)).isZero();
  }

  @Test
  void overlapOnePerLease_longestLoad_countsLeasesInIt() {
    assertThat(Verdicts.overlapOnePerLease(granted(0), LEASE)).isEqualTo(2);
    assertThat(Verdicts.overlapOnePerLease(granted(0), 201)).isEqualTo(1);
    assertThat(Verdicts.overlapOnePerLease(granted(0), 100)).isEqualTo(3);
  }

  @Test
  void plainDel_noMoreThanOneLoadPerLease_isNotMet() {
    assertThat(Verdicts.plainDel(granted(0, 150, 200), LEASE).met()).isTrue();
    assertThat(Verdicts.plainDel(granted(0, 150, 300), LEASE).met()).isFalse();
    assertThat(Verdicts.plainDel(List.of(), LEASE).met()).isFalse();
  }

  @Test
  void tokenRelease_moreThanOneLoadPerLease_isNotMet() {
    assertThat(Verdicts.tokenRelease(granted(0, 150, 300), LEASE).met()).isTrue();
    assertThat(Verdicts.tokenRelease(granted(0, 150, 200), LEASE).met()).isFalse();
    assertThat(Verdicts.tokenRelease(List.of(), LEASE).met()).isFalse();
  }

  @Test
  void tokenRelease_moreAtOnceThanLeasesInTheLongestLoad_isNotMet() {
    // Three within 1 ms of each other, and one much later, so that the number of loads is right.
    assertThat(Verdicts.tokenRelease(granted(0, 0, 1, 450), LEASE).met()).isFalse();
  }

  @Test
  void paddockWait_secondLoadOrCallerWithoutValue_isNotMet() {
    assertThat(Verdicts.paddockWait(200, 1, answers(200), 3))
        .isEqualTo(new Verdict(true, "1 load, lease renewed 3 times; 200 of 200 answered"));
    assertThat(Verdicts.paddockWait(200, 2, answers(200), 3).met()).isFalse();
    assertThat(Verdicts.paddockWait(200, 0, answers(200), 3).met()).isFalse();
    assertThat(Verdicts.paddockWait(200, 1, answers(199), 3).met()).isFalse();
  }

  @Test
  void paddockStale_secondLoadOrWaiterOrCallerWithoutValue_isNotMet() {
    assertThat(Verdicts.paddockStale(200, 1, 200, answers(200), 0).met()).isTrue();
    assertThat(Verdicts.paddockStale(200, 1, 150, answers(200), 0))
        .isEqualTo(new Verdict(true, "1 load; 150 stale, 50 fresh answers of 200; 0 waited"));
    assertThat(Verdicts.paddockStale(200, 2, 200, answers(200), 0).met()).isFalse();
    assertThat(Verdicts.paddockStale(200, 1, 200, answers(200), 1).met()).isFalse();
    assertThat(Verdicts.paddockStale(200, 1, 199, answers(199), 0).met()).isFalse();
    assertThat(Verdicts.paddockStale(200, 1, 0, answers(200), 0).met()).isFalse();
  }

  @Test
  void paddockKilled_otherThanTwoLoadsOrSurvivorWithoutValueOrTooLate_isNotMet() {
    assertThat(Verdicts.paddockKilled(150, loads(2), answers(150), 500, 3350).met()).isTrue();
    assertThat(Verdicts.paddockKilled(150, loads(1), answers(150), 500, 3350).met()).isFalse();
    assertThat(Verdicts.paddockKilled(150, loads(3), answers(150), 500, 3350).met()).isFalse();
    assertThat(Verdicts.paddockKilled(150, loads(2), answers(149), 500, 3350).met()).isFalse();
    assertThat(Verdicts.paddockKilled(150, loads(2), answers(150), 3351, 3350).met()).isFalse();
  }

  @Test
  void paddockPaused_lateFillWinsOrOlderValueShows_isNotMet() {
    assertThat(Verdicts.paddockPaused(4, "SUPERSEDED", "STORED_LATE", true, 0).met()).isTrue();
    assertThat(Verdicts.paddockPaused(4, "STORED_LATE", "STORED_LATE", true, 0).met()).isFalse();
    assertThat(Verdicts.paddockPaused(4, "SUPERSEDED", "STORED", true, 0).met()).isFalse();
    assertThat(Verdicts.paddockPaused(4, "SUPERSEDED", "STORED_LATE", false, 0).met()).isFalse();
    assertThat(Verdicts.paddockPaused(4, "SUPERSEDED", "STORED_LATE", true, 1).met()).isFalse();
  }

  @Test
  void paddockInvalidated_oldAnswerOrOldValueStoredOrHarmlessRecipe_isNotMet() {
    List<String> fills = List.of("INVALIDATED", "STORED");
    assertThat(Verdicts.paddockInvalidated(0, 600, 200, 200, fills).met()).isTrue();
    assertThat(Verdicts.paddockInvalidated(1, 600, 200, 200, fills).met()).isFalse();
    assertThat(Verdicts.paddockInvalidated(0, 600, 0, 200, fills).met()).isFalse();
    assertThat(Verdicts.paddockInvalidated(0, 600, 200, 200, List.of("STORED", "STORED")).met())
        .isFalse();
    assertThat(Verdicts.paddockInvalidated(0, 600, 200, 200, List.of("INVALIDATED")).met())
        .isFalse();
    assertThat(
            Verdicts.paddockInvalidated(
                    0, 600, 200, 200, List.of("INVALIDATED", "STORED", "STORED_LATE"))
                .met())
        .isFalse();
  }

  @Test
  void paddockChurn_oldAnswerOrErrorOrStoredValue_isNotMet() {
    assertThat(Verdicts.paddockChurn(0, 900, 0, 36, 0, false).met()).isTrue();
    assertThat(Verdicts.paddockChurn(1, 900, 0, 36, 0, false).met()).isFalse();
    assertThat(Verdicts.paddockChurn(0, 900, 1, 36, 0, false).met()).isFalse();
    assertThat(Verdicts.paddockChurn(0, 0, 0, 36, 0, false).met()).isFalse();
    assertThat(Verdicts.paddockChurn(0, 900, 0, 36, 1, false).met()).isFalse();
    assertThat(Verdicts.paddockChurn(0, 900, 0, 36, 0, true).met()).isFalse();
  }

  private static List<Load> failing(long... beginMillis) {
    return granted(beginMillis).stream()
        .map(
            load ->
                new Load(
                    0,
                    load.version(),
                    load.askedMicros(),
                    load.beganMicros(),
                    load.endedMicros(),
                    true))
        .toList();
  }

  @Test
  void nextLoads_afterLoadsThatFailed_tellsWhenTheyBegan() {
    assertThat(Verdicts.nextLoads(failing(0, 700, 1500), 500)).containsExactly(IN_TIME);
    assertThat(Verdicts.nextLoads(failing(0, 698), 500)).containsExactly(IN_TIME);
    assertThat(Verdicts.nextLoads(failing(0, 697), 500)).containsExactly(TOO_SOON);
    assertThat(Verdicts.nextLoads(failing(0, 199), 500)).containsExactly(BESIDE);
    assertThat(Verdicts.nextLoads(failing(0, 700, 1300), 500)).containsExactly(IN_TIME, TOO_SOON);
    assertThat(Verdicts.nextLoads(granted(0, 10), 500)).isEmpty();
    assertThat(Verdicts.nextLoads(List.of(), 500)).isEmpty();
  }

  @Test
  void paddockFailing_everythingAsItShould_isMet() {
    assertThat(failingVerdict(failures(200, LOAD_FAILED), 600, 600, 400, failing(0, 700)))
        .isEqualTo(
            new Verdict(
                true,
                "200 of 200 told LoadFailedException; 600 of 600 served stale; cool-downs kept;"
                    + " 400 of 400 fresh after recovery"));
  }

  @Test
  void paddockFailing_anyPartWrong_isNotMet() {
    List<Report.Answer> clear = failures(200, LOAD_FAILED);
    assertThat(failingVerdict(failures(200, "java.lang.Error"), 6, 6, 400, failing(0)).met())
        .isFalse();
    assertThat(failingVerdict(failures(199, LOAD_FAILED), 6, 6, 400, failing(0)).met()).isFalse();
    assertThat(failingVerdict(clear, 6, 5, 400, failing(0)).met()).isFalse();
    assertThat(failingVerdict(clear, 0, 0, 400, failing(0)).met()).isFalse();
    assertThat(failingVerdict(clear, 6, 6, 399, failing(0)).met()).isFalse();
    assertThat(failingVerdict(clear, 6, 6, 400, failing(0, 697)).met()).isFalse();
  }

  @Test
  void paddockMigrated_notOneLoadForAllOrNotAtTheNewMaster_isNotMet() {
    assertThat(Verdicts.paddockMigrated(400, 1, answers(400), true, true).met()).isTrue();
    assertThat(Verdicts.paddockMigrated(400, 2, answers(400), true, true).met()).isFalse();
    assertThat(Verdicts.paddockMigrated(400, 1, answers(399), true, true).met()).isFalse();
    assertThat(Verdicts.paddockMigrated(400, 1, answers(400), false, true).met()).isFalse();
    assertThat(Verdicts.paddockMigrated(400, 1, answers(400), true, false).met()).isFalse();
  }

  @Test
  void paddockFailover_unansweredOrLoadsTogetherOrNoProtectionAfter_isNotMet() {
    assertThat(failoverVerdict(granted(0, 200), 200, 1, 200, 0).met()).isTrue();
    assertThat(failoverVerdict(granted(0, 199), 200, 1, 200, 0).met()).isFalse();
    assertThat(failoverVerdict(List.of(), 200, 1, 200, 0).met()).isFalse();
    assertThat(failoverVerdict(granted(0), 199, 1, 200, 0).met()).isFalse();
    assertThat(failoverVerdict(granted(0), 200, 2, 200, 0).met()).isFalse();
    assertThat(failoverVerdict(granted(0), 200, 0, 200, 0).met()).isFalse();
    assertThat(failoverVerdict(granted(0), 200, 1, 199, 0).met()).isFalse();
    assertThat(failoverVerdict(granted(0), 200, 1, 200, 1).met()).isFalse();
  }

  private static Verdict failoverVerdict(
      List<Load> loads, int answered, int loadsAfter, int answeredAfter, int outdated) {
    return Verdicts.paddockFailover(
        200, loads, answers(answered), loadsAfter, answers(answeredAfter), outdated, 900);
  }

  private static final String LOAD_FAILED = "dev.paddock.LoadFailedException";

  private static Verdict failingVerdict(
      List<Report.Answer> cold, int asked, int stale, int recovered, List<Load> loads) {
    return Verdicts.paddockFailing(200, cold, asked, stale, recovered, List.of(loads), 500);
  }

  @Test
  void leaseMayBeLost_oneLoadTooManyAndNothingElse_isTrue() {
    List<String> fills = List.of("INVALIDATED", "STORED", "STORED_LATE");
    List<Report.Answer> clear = failures(200, LOAD_FAILED);
    assertThat(
            List.of(
                Verdicts.paddockWait(200, 2, answers(200), 3),
                Verdicts.paddockStale(200, 2, 200, answers(200), 0),
                Verdicts.paddockKilled(150, loads(3), answers(150), 500, 3350),
                Verdicts.paddockPaused(5, "STORED", "STORED_LATE", true, 0),
                Verdicts.paddockInvalidated(0, 600, 200, 200, fills),
                Verdicts.paddockMigrated(400, 2, answers(400), true, true),
                failoverVerdict(granted(0), 200, 2, 200, 0),
                failingVerdict(clear, 6, 6, 400, failing(0, 199))))
        .allSatisfy(
            verdict -> {
              assertThat(verdict.met()).isFalse();
              assertThat(verdict.leaseMayBeLost()).isTrue();
            });
  }

  @Test
  void leaseMayBeLost_anythingElseIsWrong_isFalse() {
    List<String> fills = List.of("INVALIDATED", "STORED", "STORED_LATE");
    List<Report.Answer> clear = failures(200, LOAD_FAILED);
    assertThat(
            List.of(
                Verdicts.paddockWait(200, 2, answers(199), 3),
                Verdicts.paddockWait(200, 0, answers(200), 3),
                Verdicts.paddockStale(200, 2, 200, answers(200), 1),
                Verdicts.paddockKilled(150, loads(1), answers(150), 500, 3350),
                Verdicts.paddockKilled(150, loads(3), answers(150), 4000, 3350),
                Verdicts.paddockPaused(5, "STORED", "STORED_LATE", false, 0),
                Verdicts.paddockPaused(4, "STORED", "STORED_LATE", true, 0),
                Verdicts.paddockInvalidated(1, 600, 200, 200, fills),
                Verdicts.paddockInvalidated(0, 600, 200, 200, List.of("STORED", "STORED")),
                Verdicts.paddockChurn(1, 900, 0, 36, 0, false),
                Verdicts.paddockMigrated(400, 2, answers(400), false, true),
                failoverVerdict(granted(0, 100), 200, 2, 200, 0),
                failoverVerdict(granted(0), 200, 2, 200, 1),
                failingVerdict(clear, 6, 6, 400, failing(0, 300))))
        .allSatisfy(
            verdict -> {
              assertThat(verdict.met()).isFalse();
              assertThat(verdict.leaseMayBeLost()).isFalse();
            });
  }

  @Test
  void twoHolders_asExpected_isMet() {
    assertThat(twoHolders(true, 7, 9, true, new FenceOutcome.Rejected(7, 9), "new", "stale").met())
        .isTrue();
  }

  @Test
  void twoHolders_oneHolderOrSmallerTokenOrAcceptedWriteOrWrongValue_isNotMet() {
    FenceOutcome refused = new FenceOutcome.Rejected(7, 9);
    assertThat(twoHolders(false, 7, 9, true, refused, "new", "stale").met()).isFalse();
    assertThat(twoHolders(true, 9, 7, true, new FenceOutcome.Rejected(9, 7), "new", "stale").met())
        .isFalse();
    assertThat(twoHolders(true, 7, 9, false, refused, "new", "stale").met()).isFalse();
    assertThat(twoHolders(true, 7, 9, true, new FenceOutcome.Accepted(7), "new", "stale").met())
        .isFalse();
    assertThat(twoHolders(true, 7, 9, true, refused, "stale", "stale").met()).isFalse();
    assertThat(twoHolders(true, 7, 9, true, refused, "new", "new").met())
        .as("the unfenced twin has to lose an update, or nothing was shown")
        .isFalse();
  }

  private static Verdict twoHolders(
      boolean both,
      long old,
      long next,
      boolean accepted,
      FenceOutcome late,
      String fenced,
      String unfenced) {
    return Verdicts.twoHolders(both, old, next, accepted, late, fenced, unfenced);
  }

  @Test
  void lostMinority_asExpected_isMet() {
    assertThat(Verdicts.lostMinority(true, LeaseOutcome.RELEASED, 7, 9, 1000, 5000).met()).isTrue();
  }

  @Test
  void lostMinority_lostOrSmallerTokenOrGrantedOrRefusedLate_isNotMet() {
    assertThat(Verdicts.lostMinority(false, LeaseOutcome.RELEASED, 7, 9, 1000, 5000).met())
        .isFalse();
    assertThat(Verdicts.lostMinority(true, LeaseOutcome.EXPIRED, 7, 9, 1000, 5000).met()).isFalse();
    assertThat(Verdicts.lostMinority(true, LeaseOutcome.RELEASED, 9, 7, 1000, 5000).met())
        .isFalse();
    assertThat(Verdicts.lostMinority(true, LeaseOutcome.RELEASED, 7, 9, -1, 5000).met()).isFalse();
    assertThat(Verdicts.lostMinority(true, LeaseOutcome.RELEASED, 7, 9, 5001, 5000).met())
        .isFalse();
  }
}
