/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Fabricated histories of reads, waits, lookups and registers. */
final class ChecksTest {
  private static long ms(long millis) {
    return TimeUnit.MILLISECONDS.toNanos(millis);
  }

  private static FreshnessCheck.Read read(long begun, long version) {
    return new FreshnessCheck.Read("0", 1, ms(begun), ms(begun + 5), version);
  }

  private static final List<FreshnessCheck.Invalidation> TO_SEVEN =
      List.of(
          new FreshnessCheck.Invalidation(6, ms(50), ms(60)),
          new FreshnessCheck.Invalidation(7, ms(100), ms(120)));

  @Test
  void freshness_oldValueAfterTheInvalidationReturned_isAViolation() {
    assertThat(FreshnessCheck.judge(read(121, 6), TO_SEVEN, List.of()))
        .singleElement()
        .satisfies(
            found -> {
              assertThat(found.expected()).contains("version 7");
              assertThat(found.actual()).isEqualTo("version 6");
            });
  }

  @Test
  void freshness_readThatBeganBefore_orIsNewEnough_isInOrder() {
    assertThat(FreshnessCheck.judge(read(119, 6), TO_SEVEN, List.of())).isEmpty();
    assertThat(FreshnessCheck.judge(read(121, 7), TO_SEVEN, List.of())).isEmpty();
    assertThat(FreshnessCheck.judge(read(121, 8), TO_SEVEN, List.of())).isEmpty();
    assertThat(FreshnessCheck.judge(read(119, 5), TO_SEVEN, List.of())).hasSize(1);
  }

  @Test
  void freshness_serverMayHaveForgotten_isNotJudged() {
    assertThat(FreshnessCheck.judge(read(500, 6), TO_SEVEN, List.of(new Span(ms(200), ms(300)))))
        .isEmpty();
    assertThat(FreshnessCheck.judge(read(500, 6), TO_SEVEN, List.of(new Span(ms(600), ms(700)))))
        .hasSize(1);
  }

  @Test
  void wait_beyondItsCap_isAViolationUnlessTheProcessStoodStill() {
    long cap = Terms.CALL_MAX.toMillis();

    assertThat(WaitCheck.judge("0", 1, 0, ms(cap), List.of())).isNull();
    assertThat(WaitCheck.judge("0", 1, 0, ms(cap + 1), List.of())).isNotNull();
    assertThat(WaitCheck.judge("0", 1, 0, ms(cap + 1), List.of(new Span(ms(-50), ms(1))))).isNull();
    assertThat(WaitCheck.judge("0", 1, 0, ms(cap + 100), List.of(new Span(ms(10), ms(60)))))
        .isNotNull();
  }

  @Test
  void anchor_missedAfterItWasStored_isAViolationUnlessServersMayHaveForgotten() {
    List<Span> puts = List.of(new Span(ms(0), ms(10)));
    List<Span> misses = List.of(new Span(ms(1000), ms(1001)));

    assertThat(AnchorCheck.judge(puts, misses, List.of())).hasSize(1);
    assertThat(AnchorCheck.judge(puts, misses, List.of(new Span(ms(500), ms(600))))).isEmpty();
    assertThat(AnchorCheck.judge(List.of(), misses, List.of())).isEmpty();
    assertThat(AnchorCheck.judge(List.of(new Span(ms(1002), ms(1003))), misses, List.of()))
        .isEmpty();
  }

  @Test
  void register_twoUpdatesToTheSameNumber_areOneThatWasLost() {
    List<RegisterCheck.Update> updates =
        List.of(
            new RegisterCheck.Update(10, 1, 1),
            new RegisterCheck.Update(12, 2, 2),
            new RegisterCheck.Update(11, 2, 3));

    assertThat(RegisterCheck.lost(updates, 2)).isEqualTo(1);
    assertThat(RegisterCheck.judge(0, updates, 2))
        .extracting(Violation::what)
        .anySatisfy(what -> assertThat(what).contains("lost updates"))
        .anySatisfy(what -> assertThat(what).contains("smaller token"));
  }

  @Test
  void register_thatFellBack_hasLostWhatCameBefore() {
    List<RegisterCheck.Update> updates =
        List.of(new RegisterCheck.Update(10, 1, 1), new RegisterCheck.Update(11, 2, 2));

    assertThat(RegisterCheck.lost(updates, 2)).isZero();
    assertThat(RegisterCheck.lost(updates, RegisterCheck.UNKNOWN)).isZero();
    assertThat(RegisterCheck.lost(updates, 1)).isEqualTo(1);
    assertThat(RegisterCheck.judge(0, updates, 2)).isEmpty();
  }

  @Test
  void register_updatesOfUnknownOutcome_hideNone() {
    // What reached 2 was not acknowledged; that it is there is no update kept of another.
    List<RegisterCheck.Update> updates =
        List.of(
            new RegisterCheck.Update(10, 1, 1),
            new RegisterCheck.Update(12, 3, 2),
            new RegisterCheck.Update(13, 3, 3));

    assertThat(RegisterCheck.lost(updates, 3)).isEqualTo(1);
  }
}
