/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

final class FencingGateTest {
  private final FencingGate gate = new FencingGate();
  private final List<String> written = new ArrayList<>();

  private FenceOutcome pass(long token, String id) {
    return gate.pass("r", token, id, () -> written.add(token + id));
  }

  @Test
  void pass_greaterToken_isAccepted() {
    assertThat(pass(33, "a")).isEqualTo(new FenceOutcome.Accepted(33));
    assertThat(pass(34, "b")).isEqualTo(new FenceOutcome.Accepted(34));
    assertThat(written).containsExactly("33a", "34b");
  }

  @Test
  void pass_smallerToken_isRejectedWithBothTokensAndWritesNothing() {
    pass(34, "b");

    FenceOutcome outcome = pass(33, "a");

    assertThat(outcome).isEqualTo(new FenceOutcome.Rejected(33, 34));
    assertThat(outcome.accepted()).isFalse();
    assertThat(written).containsExactly("34b");
  }

  @Test
  void pass_sameTokenOfTheSameLease_isAcceptedAgain() {
    pass(34, "b");
    assertThat(pass(34, "b").accepted()).isTrue();
  }

  @Test
  void pass_sameTokenOfAnotherLease_isRejected() {
    pass(34, "b");
    assertThat(pass(34, "c")).isEqualTo(new FenceOutcome.Rejected(34, 34));
  }

  @Test
  void pass_otherResource_hasAFenceOfItsOwn() {
    pass(34, "b");
    assertThat(gate.pass("other", 1, "a", () -> {}).accepted()).isTrue();
  }

  @Test
  void pass_writeThatFails_leavesTheTokenAccepted() {
    assertThatThrownBy(
            () ->
                gate.pass(
                    "r",
                    34,
                    "b",
                    () -> {
                      throw new IOException("disk");
                    }))
        .isInstanceOf(IOException.class);
    assertThat(pass(33, "a").accepted()).isFalse();
  }

  @Test
  void pass_whileAnotherWrites_waitsAndIsThenJudged() throws Exception {
    CountDownLatch writing = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    CompletableFuture<FenceOutcome> accepted = new CompletableFuture<>();
    Thread later =
        new Thread(
            () -> {
              try {
                accepted.complete(
                    gate.pass(
                        "r",
                        34,
                        "b",
                        () -> {
                          writing.countDown();
                          go.await();
                          written.add("34b");
                        }));
              } catch (InterruptedException e) {
                accepted.completeExceptionally(e);
              }
            });
    later.start();
    writing.await();
    List<FenceOutcome> outcome = new ArrayList<>();
    Thread stale = new Thread(() -> outcome.add(pass(33, "a")));
    stale.start();
    while (stale.getState() != Thread.State.WAITING) {
      Thread.onSpinWait();
    }
    go.countDown();
    later.join();
    stale.join();

    assertThat(accepted.get()).isEqualTo(new FenceOutcome.Accepted(34));
    assertThat(outcome).containsExactly(new FenceOutcome.Rejected(33, 34));
    assertThat(written).containsExactly("34b");
  }

  @Test
  void raiseFloor_refusesUpToItAndNeverLowers() {
    gate.raiseFloor("r", 50);
    gate.raiseFloor("r", 40);

    assertThat(pass(50, "a")).isEqualTo(new FenceOutcome.Rejected(50, 50));
    assertThat(pass(51, "a").accepted()).isTrue();
  }

  @Test
  void token_lessThanOne_isRefused() {
    assertThatThrownBy(() -> pass(0, "a"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("is 0");
    assertThatThrownBy(() -> gate.raiseFloor("r", -1)).isInstanceOf(IllegalArgumentException.class);
  }
}
