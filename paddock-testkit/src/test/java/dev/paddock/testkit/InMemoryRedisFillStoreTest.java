/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.spi.AcquireReply;
import dev.paddock.spi.AcquireRequest;
import dev.paddock.spi.FillStore;
import dev.paddock.spi.StoreKey;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The conformance suite on the model, and what only a model can be made to do. */
final class InMemoryRedisFillStoreTest extends FillStoreTck {

  @Override
  protected FillStoreHarness newHarness() {
    return new InMemoryHarness(1);
  }

  @Test
  void acquire_serverClockStepsBack_endsTheLease() {
    InMemoryHarness harness = new InMemoryHarness(2);
    FillStore store = harness.open(harness.environment());
    StoreKey key = StoreKey.of("pdk-test:c:k");
    AcquireReply first = harness.await(store.acquire(request(key, "a", 10_000)));
    assertThat(first.status()).isEqualTo(AcquireReply.Status.GRANTED);
    harness.redis.stepClock(Duration.ofMinutes(-1));
    AcquireReply second = harness.await(store.acquire(request(key, "b", 10_000)));
    assertThat(second.status()).isEqualTo(AcquireReply.Status.GRANTED);
    assertThat(second.epoch()).isEqualTo(first.epoch());
    assertThat(second.seq()).isEqualTo(first.seq() + 1);
    store.close();
  }

  @Test
  void acquire_serverClockStepsForward_endsTheLease() {
    InMemoryHarness harness = new InMemoryHarness(3);
    FillStore store = harness.open(harness.environment());
    StoreKey key = StoreKey.of("pdk-test:c:k");
    harness.await(store.acquire(request(key, "a", 10_000)));
    harness.redis.stepClock(Duration.ofSeconds(11));
    AcquireReply second = harness.await(store.acquire(request(key, "b", 10_000)));
    assertThat(second.status()).isEqualTo(AcquireReply.Status.GRANTED);
    assertThat(second.seq()).isEqualTo(2);
    store.close();
  }

  private static AcquireRequest request(StoreKey key, String owner, long leaseMillis) {
    return new AcquireRequest(
        key,
        owner.repeat(32),
        leaseMillis,
        600_000,
        owner.charAt(0),
        AcquireRequest.Mode.NORMAL,
        false,
        null,
        60_000);
  }
}
