/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.paddock.Lease;
import dev.paddock.LeaseEvent;
import dev.paddock.LeaseLock;
import dev.paddock.LeaseOptions;
import dev.paddock.StoreException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Members that are killed or stopped while a lease is held. */
final class EtcdNemesisIT {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final int ROUNDS = 5;

  private final List<LeaseEvent> events = new CopyOnWriteArrayList<>();

  private LeaseLock lock(EtcdCluster cluster) {
    return LeaseLock.newBuilder()
        .store(cluster.uri())
        .connectTimeout(LIMIT)
        .commandTimeout(Duration.ofSeconds(2))
        .listener(events::add)
        .build();
  }

  /** Acquires; servers that have just lost one of them are asked again. */
  private static Lease acquired(LeaseLock lock, LeaseOptions options) {
    return await()
        .atMost(LIMIT)
        .ignoreException(StoreException.class)
        .until(() -> lock.tryAcquire("job", options), Optional::isPresent)
        .orElseThrow();
  }

  private long count(Class<? extends LeaseEvent> kind) {
    return events.stream().filter(kind::isInstance).count();
  }

  @Test
  void leader_killedWhileAHolderRenews_leaseIsKeptOrToldLostBeforeAnotherHolds() {
    try (EtcdCluster cluster = EtcdCluster.start(3);
        LeaseLock lock = lock(cluster);
        LeaseLock another = lock(cluster)) {
      LeaseOptions options = LeaseOptions.defaults().leaseTime(Duration.ofSeconds(10));
      Lease first = acquired(lock, options.renewFor(Duration.ofMinutes(10)));
      long token = first.fencingToken();

      cluster.leader().kill();

      long before = count(LeaseEvent.Extended.class);
      await()
          .atMost(LIMIT)
          .until(
              () ->
                  count(LeaseEvent.Extended.class) > before + 1
                      || count(LeaseEvent.Lost.class) > 0);
      // Whichever it was: nobody else gets in while the first still counts on it.
      boolean[] overlap = new boolean[1];
      Optional<Lease> second =
          await()
              .atMost(LIMIT)
              .ignoreException(StoreException.class)
              .until(
                  () -> {
                    Optional<Lease> granted = another.tryAcquire("job", options);
                    overlap[0] |= granted.isPresent() && first.isValid();
                    return granted;
                  },
                  granted -> true);
      assertThat(overlap[0]).isFalse();
      if (second.isEmpty()) {
        assertThat(first.fencingToken()).isEqualTo(token);
        first.close();
        second = Optional.of(acquired(another, options));
      } else {
        assertThat(count(LeaseEvent.Lost.class)).isPositive();
      }
      assertThat(second.orElseThrow().fencingToken()).isGreaterThan(token);
      second.orElseThrow().close();
    }
  }

  @Test
  void etcd_stoppedPastTheLease_lossIsToldBeforeTheValidityEnded() {
    try (EtcdCluster cluster = EtcdCluster.start(1);
        LeaseLock lock = lock(cluster)) {
      long last = 0;
      boolean inTime = false;
      // The loss is told a tenth of a second before the end, which a busy machine may oversleep:
      // once
      // in time is enough, told without a word from the server it must be each time.
      for (int round = 0; round < ROUNDS && !inTime; round++) {
        AtomicLong told = new AtomicLong();
        Lease lease =
            acquired(
                lock,
                LeaseOptions.defaults()
                    .leaseTime(Duration.ofSeconds(2))
                    .renewFor(Duration.ofMinutes(10)));
        assertThat(lease.fencingToken()).isGreaterThan(last);
        last = lease.fencingToken();
        lease.onLost(() -> told.set(lease.remaining().toNanos() + 1));
        cluster.members().get(0).pause();
        try {
          await().atMost(LIMIT).until(() -> told.get() != 0);
          inTime = told.get() > 1;
          await().atMost(LIMIT).until(() -> !lease.isValid());
        } finally {
          cluster.members().get(0).resume();
        }
        lease.close();
      }
      assertThat(inTime).isTrue();
    }
  }
}
