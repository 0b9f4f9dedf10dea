/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import dev.paddock.Lease;
import dev.paddock.LeaseLock;
import dev.paddock.LeaseOptions;
import dev.paddock.StoreException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Contenders for one lease, each with a lock of its own, and what they saw. */
final class RedlockContenders {
  private static final LeaseOptions OPTIONS =
      LeaseOptions.defaults().leaseTime(Duration.ofSeconds(10)).waitTime(Duration.ofSeconds(60));

  private RedlockContenders() {}

  /**
   * One acquisition, by the monotonic clock, which on Linux is the same for all processes.
   *
   * @param asked before the lease was asked for
   * @param returned after it was returned
   * @param until when it was seen to be valid the last time
   */
  record Acquisition(long asked, long returned, long until, long token) {
    static Acquisition parse(String line) {
      String[] parts = line.split(" ", -1);
      return new Acquisition(
          Long.parseLong(parts[0]),
          Long.parseLong(parts[1]),
          Long.parseLong(parts[2]),
          Long.parseLong(parts[3]));
    }

    @Override
    public String toString() {
      return asked + " " + returned + " " + until + " " + token;
    }
  }

  /** Acquires and releases so many times by each of some contenders. */
  static List<Acquisition> run(List<String> uris, int contenders, int times) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(contenders);
    try {
      List<Future<List<Acquisition>>> all = new ArrayList<>();
      for (int i = 0; i < contenders; i++) {
        all.add(threads.submit(() -> one(uris, times)));
      }
      List<Acquisition> seen = new ArrayList<>();
      for (Future<List<Acquisition>> each : all) {
        seen.addAll(each.get());
      }
      return seen;
    } finally {
      threads.shutdownNow();
    }
  }

  private static List<Acquisition> one(List<String> uris, int times) {
    List<Acquisition> seen = new ArrayList<>();
    try (LeaseLock lock =
        LeaseLock.newBuilder()
            .store(LettuceRedis.redlock(uris))
            .commandTimeout(Duration.ofSeconds(5))
            .connectTimeout(Duration.ofSeconds(60))
            .build()) {
      while (seen.size() < times) {
        long asked = System.nanoTime();
        Optional<Lease> acquired;
        try {
          acquired = lock.tryAcquire("job", OPTIONS);
        } catch (StoreException e) {
          // A machine that stood still: nothing was granted, and it is tried again.
          continue;
        }
        long returned = System.nanoTime();
        if (acquired.isPresent()) {
          try (Lease lease = acquired.get()) {
            long until = returned;
            for (int i = 0; i < 3; i++) {
              long now = System.nanoTime();
              until = lease.isValid() ? now : until;
              Thread.onSpinWait();
            }
            seen.add(new Acquisition(asked, returned, until, lease.fencingToken()));
          }
        }
      }
    }
    return seen;
  }

  /** The second process: contenders, acquisitions of each, the file for what it saw, the URIs. */
  public static void main(String[] args) throws Exception {
    List<Acquisition> seen =
        run(
            Arrays.asList(args).subList(3, args.length),
            Integer.parseInt(args[0]),
            Integer.parseInt(args[1]));
    Files.write(Path.of(args[2]), seen.stream().map(Acquisition::toString).toList());
  }
}
