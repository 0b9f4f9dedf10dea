/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import dev.paddock.Lease;
import dev.paddock.LeaseLock;
import dev.paddock.LeaseOptions;
import dev.paddock.LeaseOutcome;
import dev.paddock.redis.lettuce.LettuceRedis;
import java.time.Duration;

/** Leases by Paddock. */
final class PaddockLocker implements Locker {
  private static final LeaseOptions OPTIONS =
      LeaseOptions.defaults()
          .leaseTime(Duration.ofMillis(LuaScript.LEASE_MILLIS))
          .waitTime(Duration.ofMinutes(1));

  private final LeaseLock leases;

  PaddockLocker(String uri) {
    leases = LeaseLock.newBuilder().store(LettuceRedis.leases(uri)).build();
  }

  @Override
  public Held acquire(String name) {
    Lease lease =
        leases
            .tryAcquire(name, OPTIONS)
            .orElseThrow(() -> new IllegalStateException("no lease in a minute"));
    return new Held() {
      @Override
      public long token() {
        return lease.fencingToken();
      }

      @Override
      public void release() {
        LeaseOutcome outcome = lease.release();
        if (outcome != LeaseOutcome.RELEASED) {
          throw new IllegalStateException("a lease ended as " + outcome);
        }
      }
    };
  }

  @Override
  public void close() {
    leases.close();
  }
}
