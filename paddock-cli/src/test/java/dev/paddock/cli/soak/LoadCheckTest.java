/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Fabricated histories of loads: what has a reason passes, what has none is found. */
final class LoadCheckTest {
  private static final long TTL = Terms.TIME_TO_LIVE.toMillis();
  private static final LoadCheck.Causes NONE = (worker, from, to) -> false;

  private static long ms(long millis) {
    return TimeUnit.MILLISECONDS.toNanos(millis);
  }

  private static LoadCheck.Load load(
      String worker, long begun, boolean leased, @Nullable String fill) {
    LoadCheck.Load load = new LoadCheck.Load(worker, 1, ms(begun), leased);
    load.ended = ms(begun + 100);
    load.fill = fill;
    load.fillAt = ms(begun + 110);
    return load;
  }

  private static LoadCheck.Load stored(String worker, long begun) {
    return load(worker, begun, true, "STORED");
  }

  private static List<Violation> judge(LoadCheck.Load... loads) {
    return LoadCheck.judge(List.of(loads), List.of(), List.of(), NONE).violations();
  }

  @Test
  void judge_loadAfterTheValueEnded_isInOrder() {
    assertThat(judge(stored("0", 0), stored("1", 200 + TTL), stored("0", 400 + 2 * TTL))).isEmpty();
  }

  @Test
  void judge_twoLoadsAtOnce_isAViolation() {
    List<Violation> found = judge(stored("0", 0), stored("1", 50));

    assertThat(found).hasSize(1);
    assertThat(found.get(0).at()).isEqualTo(ms(50));
    assertThat(found.get(0).what()).contains("worker 1").contains("without a reason");
  }

  @Test
  void judge_loadWhileTheValueIsFresh_isAViolation() {
    assertThat(judge(stored("0", 0), stored("1", TTL / 2))).hasSize(1);
  }

  @Test
  void judge_oneReasonForTwoLoads_isAViolationOfTheSecond() {
    List<LoadCheck.Reason> once = List.of(new LoadCheck.Reason("invalidated", ms(300), ms(310)));

    assertThat(
            LoadCheck.judge(
                    List.of(stored("0", 0), stored("1", 320), stored("2", 330)),
                    once,
                    List.of(),
                    NONE)
                .violations())
        .extracting(Violation::at)
        .containsExactly(ms(330));
  }

  @Test
  void judge_reasonFromBeforeTheLoadBefore_doesNotCount() {
    List<LoadCheck.Reason> early = List.of(new LoadCheck.Reason("invalidated", ms(100), ms(110)));

    assertThat(
            LoadCheck.judge(List.of(stored("0", 200), stored("1", 500)), early, List.of(), NONE)
                .violations())
        .hasSize(1);
  }

  @Test
  void judge_loadAfterALostLease_isInOrder() {
    LoadCheck.Load lost = stored("0", 0);
    lost.lostAt = ms(2000);
    lost.ended = ms(2100);
    lost.fillAt = ms(2110);

    assertThat(judge(lost, stored("1", 1100))).isEmpty();
    assertThat(judge(lost, stored("1", 1100), stored("2", 1150))).hasSize(1);
  }

  @Test
  void judge_loadAfterOneThatCameToNothing_isInOrder() {
    LoadCheck.Load failed = load("0", 0, true, null);
    failed.failed = true;
    LoadCheck.Load killed = new LoadCheck.Load("1", 1, ms(500), true);

    assertThat(judge(failed, killed, stored("2", 1600))).isEmpty();
    assertThat(judge(load("0", 0, true, "INVALIDATED"), stored("1", 150))).isEmpty();
    assertThat(judge(load("0", 0, true, "UNKNOWN"), stored("1", 150))).isEmpty();
  }

  @Test
  void judge_loadWithoutALease_takesACauseThatWasTold() {
    LoadCheck.Load unleased = load("1", 50, false, null);

    assertThat(
            LoadCheck.judge(List.of(stored("0", 0), unleased), List.of(), List.of(), NONE)
                .violations())
        .singleElement()
        .satisfies(found -> assertThat(found.what()).contains("without a lease"));
    assertThat(
            LoadCheck.judge(
                    List.of(stored("0", 0), unleased),
                    List.of(),
                    List.of(),
                    (worker, from, to) -> worker.equals("1"))
                .violations())
        .isEmpty();
  }

  @Test
  void judge_whileServersMayForget_passesOver() {
    LoadCheck.Outcome outcome =
        LoadCheck.judge(
            List.of(stored("0", 0), stored("1", 50), stored("2", 5000), stored("0", 5010)),
            List.of(),
            List.of(new Span(ms(20), ms(300))),
            NONE);

    assertThat(outcome.passedOver()).isEqualTo(2);
    assertThat(outcome.violations()).extracting(Violation::at).containsExactly(ms(5010));
  }
}
