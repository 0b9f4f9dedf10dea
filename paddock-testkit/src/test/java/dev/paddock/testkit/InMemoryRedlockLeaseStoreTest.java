/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import dev.paddock.redis.RedlockBootstrap;
import dev.paddock.spi.LeaseStore;
import java.time.Duration;

/** The conformance suite of leases on five servers of the model, in virtual time. */
final class InMemoryRedlockLeaseStoreTest extends LeaseStoreTck {
  @Override
  protected LeaseStoreHarness newHarness() {
    return new Harness();
  }

  private static final class Harness extends VirtualLeaseHarness {
    private final InMemoryRedlock redlock =
        new InMemoryRedlock(environment, 5, Duration.ofMinutes(10));

    Harness() {
      redlock.bootstrap(RedlockBootstrap.NEW_SERVERS);
    }

    @Override
    public LeaseStore open() {
      return redlock.open();
    }

    @Override
    public void close() {
      redlock.close();
    }
  }
}
