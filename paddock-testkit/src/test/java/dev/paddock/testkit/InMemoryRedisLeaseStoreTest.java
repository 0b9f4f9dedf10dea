/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import dev.paddock.redis.RedisLeaseStore;
import dev.paddock.spi.LeaseStore;
import dev.paddock.spi.StoreOptions;
import java.time.Duration;

/** The conformance suite of leases on the model, in virtual time. */
final class InMemoryRedisLeaseStoreTest extends LeaseStoreTck {
  @Override
  protected LeaseStoreHarness newHarness() {
    return new Harness();
  }

  private static final class Harness extends VirtualLeaseHarness {
    private final InMemoryRedis redis = new InMemoryRedis(environment);
    private int clients;

    @Override
    public LeaseStore open() {
      return await(
          RedisLeaseStore.openAsync(
              redis.connect("client-" + ++clients, environment),
              environment,
              new StoreOptions(Duration.ofSeconds(10), Duration.ofSeconds(10))));
    }

    @Override
    public void close() {
      redis.close();
    }
  }
}
