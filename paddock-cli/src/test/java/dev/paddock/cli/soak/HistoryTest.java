/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;

/** From what workers say to what is found. */
final class HistoryTest {
  private final History history = new History();

  private static long ms(long millis) {
    return TimeUnit.MILLISECONDS.toNanos(millis);
  }

  private static History.LastValues values(long fenced, long unfenced) {
    return new History.LastValues() {
      @Override
      public long fenced(int register) {
        return register == 0 ? fenced : 0;
      }

      @Override
      public long unfenced(int register) {
        return register == 0 ? unfenced : 0;
      }
    };
  }

  private List<String> checks() {
    return history.judge(values(0, 0)).violations().stream().map(Violation::check).toList();
  }

  private void load(String worker, int number, long begun) {
    history.take(worker, new Said.LoadBegan(1, number, ms(begun), true));
    history.take(worker, new Said.LoadEnded(1, number, ms(begun + 100), false));
    history.take(worker, new Said.FillEnded(1, ms(begun + 110), "STORED"));
  }

  private void read(long begun, long version, boolean leased) {
    history.take(
        "0.0",
        new Said.Reads(
            new long[] {1, ms(begun), ms(begun + 1), Said.Reads.value(version, leased)}));
  }

  @Test
  void judge_ofAQuietHistory_findsNothing() {
    load("0.0", 1, 0);
    history.take("0.0", new Said.Invalidating(1, 2, ms(400)));
    history.take("0.0", new Said.Invalidated(1, 2, ms(400), ms(402), true));
    load("1.1", 1, 500);
    read(600, 2, true);

    assertThat(checks()).isEmpty();
  }

  private void invalidatedBefore400() {
    load("0.0", 1, 0);
    history.take("0.0", new Said.Invalidating(1, 2, ms(390)));
    history.take("0.0", new Said.Invalidated(1, 2, ms(390), ms(392), true));
  }

  @Test
  void judge_anOldValueFromTheStore_isFound() {
    invalidatedBefore400();
    read(400, 1, true);

    assertThat(checks()).containsExactly("freshness");
  }

  @Test
  void judge_anOldValueThatTheProcessHadKeptInAnOutage_isPassedOver() {
    invalidatedBefore400();
    history.take("0.0", new Said.OutageServed(1, ms(400)));
    read(400, 1, true);

    assertThat(checks()).isEmpty();
  }

  @Test
  void judge_anOldValueBesideAnotherThatWasKeptInAnOutage_isFound() {
    invalidatedBefore400();
    history.take("0.0", new Said.OutageServed(1, ms(395)));
    history.take("0.0", new Said.OutageServed(2, ms(400)));
    history.take("1.0", new Said.OutageServed(1, ms(400)));
    history.take("0.0", new Said.OutageServed(1, ms(402)));
    read(400, 1, true);

    assertThat(checks()).containsExactly("freshness");
  }

  @Test
  void judge_twoLoadsAfterOneInvalidation_areFound() {
    load("0.0", 1, 0);
    history.take("0.0", new Said.Invalidating(1, 2, ms(400)));
    history.take("0.0", new Said.Invalidated(1, 2, ms(400), ms(402), true));
    load("1.1", 1, 405);
    load("1.1", 2, 520);

    assertThat(checks()).containsExactly("loads");
  }

  @Test
  void judge_aViolationOnAKey_showsWhatHappenedToIt() {
    load("0.0", 1, 0);
    history.take("0.0", new Said.Invalidating(1, 2, ms(400)));
    history.take("0.0", new Said.Invalidated(1, 2, ms(400), ms(402), true));
    load("1.1", 1, 405);
    load("1.1", 2, 520);

    assertThat(history.judge(values(0, 0)).violations())
        .singleElement()
        .extracting(Violation::recent)
        .asInstanceOf(InstanceOfAssertFactories.list(String.class))
        .containsSubsequence(
            "  -0.520 s  load of worker 0.0 begins under a lease",
            "  -0.410 s  load of worker 0.0: its fill comes to STORED",
            "  -0.120 s  an invalidation begins",
            "  -0.118 s  an invalidation is acknowledged",
            "  -0.115 s  load of worker 1.1 begins under a lease",
            "  +0.000 s  load of worker 1.1 begins under a lease",
            "  +0.100 s  load of worker 1.1 ends");
  }

  @Test
  void judge_aReadOfSomethingOld_showsTheInvalidationAndOtherReads() {
    history.take("0.0", new Said.Invalidating(1, 2, ms(400)));
    history.take("0.0", new Said.Invalidated(1, 2, ms(400), ms(402), true));
    read(500, 2, true);
    read(600, 1, true);

    assertThat(history.judge(values(0, 0)).violations())
        .singleElement()
        .extracting(Violation::recent)
        .asInstanceOf(InstanceOfAssertFactories.list(String.class))
        .containsExactly(
            "  -0.200 s  an invalidation begins",
            "  -0.198 s  an invalidation is acknowledged",
            "  -0.100 s  read by worker 0.0 begins; version 2 after 1 ms",
            "  +0.000 s  read by worker 0.0 begins; version 1 after 1 ms");
  }

  @Test
  void recent_ofAMomentWithMuchAroundIt_keepsTheLast() {
    Recent recent = new Recent(ms(10_000));
    for (int i = 0; i < 100; i++) {
      recent.add(ms(9_000 + 20 * i), "event " + i);
    }
    recent.add(Long.MAX_VALUE, "never");
    recent.add(ms(60_000), "much later");

    assertThat(recent.lines())
        .hasSize(Recent.LINES_MAX)
        .startsWith("  -0.380 s  event 31")
        .contains("  +0.000 s  event 50")
        .endsWith("  +0.080 s  event 54");
  }

  @Test
  void judge_twoLoadsAfterAnInvalidationThatMayHaveHappenedTwice_areRight() {
    load("0.0", 1, 0);
    history.take("0.0", new Said.Invalidating(1, 2, ms(400)));
    history.take("0.0", new Said.Invalidated(1, 2, ms(400), ms(900), false));
    load("1.1", 1, 405);
    load("1.1", 2, 520);

    assertThat(checks()).isEmpty();
  }

  @Test
  void judge_stampede_isFound() {
    load("0.0", 1, 0);
    load("1.1", 1, 50);

    assertThat(checks()).containsExactly("loads");
  }

  @Test
  void judge_loadWithoutALease_isFoundUnlessTheWorkerToldALostLease() {
    history.take("0.0", new Said.LeaseLost(1, ms(10)));
    for (String worker : List.of("0.0", "1.1")) {
      history.take(worker, new Said.LoadBegan(1, 1, ms(20), false));
      history.take(worker, new Said.LoadEnded(1, 1, ms(120), false));
    }

    assertThat(history.judge(values(0, 0)).violations())
        .singleElement()
        .satisfies(found -> assertThat(found.what()).contains("by worker 1.1"));
  }

  @Test
  void judge_oldValueOfTheStore_isFoundAndOneOfALoadWithoutLeaseIsCounted() {
    history.take("1.1", new Said.Invalidated(1, 3, ms(10), ms(20), true));
    read(30, 2, true);
    read(40, 2, false);

    History.Findings findings = history.judge(values(0, 0));
    assertThat(findings.violations()).extracting(Violation::check).containsExactly("freshness");
    assertThat(findings.counts()).containsEntry("callsNotJudged", 1L);
  }

  @Test
  void judge_invalidationThatThrew_provesNothing() {
    history.take("1.1", new Said.Invalidated(1, 3, ms(10), ms(20), false));
    read(30, 2, true);

    assertThat(checks()).isEmpty();
  }

  @Test
  void judge_longWait_isFoundUnlessTheWorkerStoodStill() {
    long cap = Terms.CALL_MAX.toMillis();
    history.take("0.0", new Said.Reads(new long[] {1, 0, ms(cap + 1000), Said.Reads.TIMED_OUT}));
    history.take("1.1", new Said.Stalled(ms(100), ms(1200)));
    history.take("1.1", new Said.Reads(new long[] {1, 0, ms(cap + 1000), Said.Reads.TIMED_OUT}));

    assertThat(history.judge(values(0, 0)).violations())
        .singleElement()
        .satisfies(found -> assertThat(found.what()).contains("worker 0.0"));
  }

  @Test
  void judge_oddEndsOfCallsAndWorkers_areFound() {
    history.take("0.0", new Said.OddError(1, 1, 2, "StoreException"));
    history.take("0.0", new Said.Unreadable(3, "foreign bytes"));
    history.take("0.0", new Said.Trouble("it ended by itself"));

    assertThat(checks()).containsExactly("errors", "errors", "errors");
  }

  @Test
  void judge_anchorThatWasMissed_isFound() {
    history.take("0.0", new Said.AnchorPut(ms(0), ms(1), true));
    history.take("1.1", new Said.AnchorMissed(ms(50), ms(51)));

    assertThat(checks()).containsExactly("anchor");
  }

  @Test
  void judge_anchorAfterAPutThatFailed_isNotMissed() {
    history.take("0.0", new Said.AnchorPut(ms(0), ms(1), true));
    history.take("1.1", new Said.AnchorPut(ms(10), ms(20), false));
    history.take("0.0", new Said.AnchorMissed(ms(50), ms(51)));

    assertThat(checks()).isEmpty();
  }

  @Test
  void judge_lostUpdates_areViolationsOfTheFencedTwinOnly() {
    for (boolean fenced : new boolean[] {true, false}) {
      for (long token : new long[] {7, 8}) {
        history.take(
            "0.0", new Said.Wrote(fenced, 0, token, 1, ms(token), Said.Write.ACKNOWLEDGED));
      }
    }

    History.Findings findings = history.judge(values(1, 1));
    assertThat(findings.violations()).extracting(Violation::check).containsExactly("register");
    assertThat(findings.counts())
        .containsAllEntriesOf(Map.of("fenced.lost", 1L, "unfenced.lost", 1L));
  }

  @Test
  void judge_whatHasToGoOnAfterTheLastFault_isFoundIfItDoesNot() {
    read(150, 1, true);
    read(50, 1, true);
    history.take("0.0", new Said.Wrote(true, 0, 7, 1, ms(50), Said.Write.ACKNOWLEDGED));
    history.recovering(
        new Span(ms(100), ms(200)),
        Set.of(History.storedValue(0), History.storedValue(1), History.update(true, 0)));

    assertThat(history.judge(values(1, 0)).violations())
        .extracting(Violation::what)
        .containsExactly(
            "no update of fenced register 0 after the last fault had been lifted",
            "no value from the store in worker 1 after the last fault had been lifted");
  }

  @Test
  void judge_whatWasSaidAfterTheEnd_doesNotCount() {
    load("0.0", 1, 0);
    load("1.1", 1, 50);
    history.endAt(ms(40));

    assertThat(checks()).isEmpty();
  }

  @Test
  void judge_whileServersForget_isPassedOver() {
    History.Time time = history.forgetful(ms(30));
    load("0.0", 1, 0);
    load("1.1", 1, 50);
    time.end(ms(100));

    History.Findings findings = history.judge(values(0, 0));
    assertThat(findings.violations()).isEmpty();
    assertThat(findings.counts()).containsEntry("loadsPassedOver", 1L);
  }
}
