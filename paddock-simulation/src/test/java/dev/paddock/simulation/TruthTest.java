/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What is asked of reads, and what is not. */
final class TruthTest {
  private final Truth truth = new Truth();

  @Test
  void floor_invalidateReturned_isItsVersion() {
    truth.change();
    Truth.Begun begun = truth.begin();
    truth.change();
    assertThat(truth.floor()).isZero();
    truth.returned(begun);
    assertThat(truth.floor()).isEqualTo(2);
  }

  @Test
  void floor_putUnderWay_isNoHigherThanWhatItBrings() {
    Truth.Begun put = truth.beginPut();
    truth.change();
    truth.returned(truth.begin());
    assertThat(truth.floor()).isEqualTo(1);
    truth.returned(put);
    truth.returned(truth.begin());
    assertThat(truth.floor()).isEqualTo(2);
  }

  @Test
  void floor_putsAtTheSameTime_isThatOfTheOlder() {
    truth.change();
    Truth.Begun older = truth.beginPut();
    truth.change();
    Truth.Begun newer = truth.beginPut();
    truth.returned(older);
    truth.returned(newer);
    assertThat(truth.floor()).isEqualTo(2);
  }

  @Test
  void floor_serverSetBack_beginsAnewWithWhatBeganAfterIt() {
    truth.change();
    Truth.Begun before = truth.begin();
    truth.setBack();
    truth.returned(before);
    assertThat(truth.floor()).isZero();
    truth.returned(truth.begin());
    assertThat(truth.floor()).isEqualTo(2);
  }
}
