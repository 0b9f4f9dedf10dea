/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class SessionLifeTest {
  private static final long TIMEOUT = TimeUnit.SECONDS.toNanos(8);

  private static long seconds(long seconds) {
    return TimeUnit.SECONDS.toNanos(seconds);
  }

  @Test
  void write_inAFreshSession_countsFromItsBeginning() {
    assertThat(new SessionLife(TIMEOUT, 0).onWrite(seconds(1))).isEqualTo(TIMEOUT);
  }

  @Test
  void write_afterThingsSaid_countsFromTheLastThatWasReported() {
    SessionLife life = new SessionLife(TIMEOUT, 0);
    for (int second = 1; second <= 9; second++) {
      life.onAnswer(seconds(second));
    }
    // What was said in the last quarter may not have reached the leader.
    assertThat(life.onWrite(seconds(10))).isEqualTo(seconds(8) + TIMEOUT);
  }

  @Test
  void write_afterAPause_promisesLittleUntilTheSessionHasSpokenAgain() {
    SessionLife life = new SessionLife(TIMEOUT, 0);
    // Nothing was said for most of the time-out: the leader may be about to end the session.
    assertThat(life.onWrite(seconds(7)) - seconds(7)).isEqualTo(seconds(1));
    assertThat(life.onWrite(seconds(8)) - seconds(8)).isZero();
    assertThat(life.onWrite(seconds(9)) - seconds(9)).isEqualTo(seconds(6));
  }
}
