/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import dev.paddock.Cache;
import dev.paddock.CacheEvent;
import dev.paddock.Codecs;
import dev.paddock.Paddock;
import dev.paddock.redis.lettuce.LettuceRedis;
import dev.paddock.testkit.CommandCounter;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** Commands that one caller costs, alone. */
final class CommandCounts {
  private static final long REFRESH_SECONDS_MAX = 30;

  private CommandCounts() {}

  static List<Line> measure(Bench bench) throws InterruptedException {
    int calls = bench.scale().countedCalls();
    byte[] value = Worker.value();
    Semaphore fills = new Semaphore(0);
    try (Paddock paddock =
            Paddock.newBuilder()
                .store(LettuceRedis.connect(bench.server().uri()))
                .listener(
                    event -> {
                      if (event instanceof CacheEvent.FillEnded) {
                        fills.release();
                      }
                    })
                .build();
        CommandCounter counter = CommandCounter.on(bench.server())) {
      Cache<Integer, byte[]> cache =
          paddock
              .<Integer, byte[]>cache("counted", Codecs.bytes())
              .serveStaleFor(Duration.ofMinutes(5))
              .build();
      // The server learns the scripts.
      cache.get(-1, key -> value);
      cache.expire(-1);

      counter.reset();
      for (int i = 0; i < calls; i++) {
        cache.get(i, key -> value);
      }
      double coldFill = Bench.commands(counter) / (double) calls;

      counter.reset();
      for (int i = 0; i < calls; i++) {
        cache.get(i, key -> value);
      }
      double hit = Bench.commands(counter) / (double) calls;

      for (int i = 0; i < calls; i++) {
        cache.expire(i);
      }
      fills.drainPermits();
      counter.reset();
      for (int i = 0; i < calls; i++) {
        cache.get(i, key -> value);
        if (!fills.tryAcquire(REFRESH_SECONDS_MAX, TimeUnit.SECONDS)) {
          throw new BenchmarkException("a stale value was not refreshed", null);
        }
      }
      double refresh = Bench.commands(counter) / (double) calls;
      return List.of(
          line("hit", hit, 1), line("cold fill", coldFill, 3), line("refresh", refresh, 3));
    }
  }

  private static Line line(String what, double commands, double most) {
    return Line.of(Figure.COMMANDS, what, "", new double[] {commands}, Target.atMost(most));
  }
}
