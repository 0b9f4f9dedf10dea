/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import dev.paddock.Cache;
import dev.paddock.Codecs;
import dev.paddock.Paddock;
import dev.paddock.PaddockException;
import dev.paddock.redis.lettuce.LettuceRedis;
import dev.paddock.testkit.RedisServerProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** What 200 callers of 10 keys notice of a server that fails under them. */
final class Outages {
  private static final int CALLERS = 200;
  private static final int KEYS = 10;
  private static final long LOAD_MILLIS = 100;
  private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(1);
  private static final Duration OUTAGE_TTL = Duration.ofSeconds(5);
  private static final long PACE_MILLIS = 20;
  private static final long LOOK_MILLIS = 5;
  private static final double BACK_MILLIS = 2_000;

  /** What is done to the server. */
  private enum Kind {
    FROZEN("frozen") {
      @Override
      void begin(RedisServerProcess server) {
        server.pause();
      }

      @Override
      void end(RedisServerProcess server) {
        server.resume();
      }
    },
    KILLED("killed") {
      @Override
      void begin(RedisServerProcess server) {
        server.kill();
      }

      @Override
      void end(RedisServerProcess server) {
        server.restart();
      }
    },
    REPLICA("a replica") {
      @Override
      void begin(RedisServerProcess server) {
        server.console().command("REPLICAOF", "127.0.0.1", "1");
      }

      @Override
      void end(RedisServerProcess server) {
        server.console().command("REPLICAOF", "NO", "ONE");
      }
    },
    FULL("full") {
      @Override
      void begin(RedisServerProcess server) {
        server.console().command("CONFIG", "SET", "maxmemory", "1");
      }

      @Override
      void end(RedisServerProcess server) {
        server.console().command("CONFIG", "SET", "maxmemory", "0");
      }
    };

    private final String title;

    Kind(String title) {
      this.title = title;
    }

    abstract void begin(RedisServerProcess server);

    abstract void end(RedisServerProcess server);
  }

  /** One server, one process, and the callers in it. */
  private static final class Run {
    private final RedisServerProcess server;
    private final Cache<String, String> cache;
    private final Map<String, AtomicInteger> loads = new ConcurrentHashMap<>();
    private final Queue<Double> millis = new ConcurrentLinkedQueue<>();
    private final AtomicInteger failures = new AtomicInteger();
    private final AtomicBoolean stop = new AtomicBoolean();
    private final CountDownLatch done = new CountDownLatch(CALLERS);
    private volatile String phase = "before";

    Run(RedisServerProcess server, Cache<String, String> cache) {
      this.server = server;
      this.cache = cache;
    }

    private String load(String key) throws InterruptedException {
      loads.computeIfAbsent(key, k -> new AtomicInteger()).incrementAndGet();
      TimeUnit.MILLISECONDS.sleep(LOAD_MILLIS);
      return key;
    }

    private void call(int first) {
      try {
        for (int n = first; !stop.get(); n++) {
          String now = phase;
          long begin = System.nanoTime();
          try {
            cache.get(now + n % KEYS, this::load);
          } catch (PaddockException e) {
            failures.incrementAndGet();
          }
          if (now.equals("during")) {
            millis.add((System.nanoTime() - begin) / 1e6);
          }
          TimeUnit.MILLISECONDS.sleep(PACE_MILLIS);
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } finally {
        done.countDown();
      }
    }

    private List<Line> measure(Kind kind, long outageMillis) throws InterruptedException {
      for (int i = 0; i < CALLERS; i++) {
        int first = i;
        Thread thread = new Thread(() -> call(first), "caller-" + i);
        thread.setDaemon(true);
        thread.start();
      }
      TimeUnit.MILLISECONDS.sleep(Math.min(outageMillis, 2_000));
      kind.begin(server);
      phase = "during";
      TimeUnit.MILLISECONDS.sleep(outageMillis);
      // Whoever asks afterwards has the server fill the key, which is one more.
      double[] perKey = new double[KEYS];
      for (int i = 0; i < KEYS; i++) {
        AtomicInteger of = loads.get("during" + i);
        perKey[i] = of == null ? 0 : of.get();
      }
      kind.end(server);
      long backNanos = System.nanoTime();
      phase = "after";
      while (!isStored("c:after0")) {
        if (System.nanoTime() - backNanos > TimeUnit.MINUTES.toNanos(1)) {
          throw new BenchmarkException("a minute after the outage nothing is stored", null);
        }
        TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
      }
      double back = (System.nanoTime() - backNanos) / 1e6;
      stop.set(true);
      if (!done.await(1, TimeUnit.MINUTES)) {
        throw new BenchmarkException("callers did not come back from the outage", null);
      }
      double[] times = millis.stream().mapToDouble(Double::doubleValue).toArray();
      double mostLoads = 1 + Math.floor((double) outageMillis / OUTAGE_TTL.toMillis());
      double mostMillis = LOAD_MILLIS + COMMAND_TIMEOUT.toMillis();
      return List.of(
          line(kind, "p99 of a call", "ms", Pairs.quantile(0.99, times), mostMillis),
          line(kind, "loads of a key, at most", "", Pairs.quantile(1, perKey), mostLoads),
          line(kind, "calls that failed", "", failures.get(), 0),
          line(kind, "back after", "ms", back, BACK_MILLIS));
    }

    private static Line line(Kind kind, String what, String unit, double value, double atMost) {
      return Line.of(
          Figure.OUTAGE,
          kind.title + ", " + what,
          unit,
          new double[] {value},
          Target.atMost(atMost));
    }

    private boolean isStored(String key) {
      try {
        return server.console().text("EXISTS", key).equals("1");
      } catch (PaddockException e) {
        // The connection of before the outage, which is made anew.
        return false;
      }
    }
  }

  private Outages() {}

  static List<Line> measure(Bench bench) throws InterruptedException {
    List<Line> lines = new ArrayList<>();
    for (Kind kind : Kind.values()) {
      bench.say("  " + kind.title);
      try (RedisServerProcess server = RedisServerProcess.start();
          Paddock paddock =
              Paddock.newBuilder()
                  .store(LettuceRedis.connect(server.uri()))
                  .commandTimeout(COMMAND_TIMEOUT)
                  .build()) {
        Cache<String, String> cache =
            paddock
                .cache("c", Codecs.string())
                .timeToLive(Duration.ofMinutes(10))
                .outageTimeToLive(OUTAGE_TTL)
                .build();
        lines.addAll(new Run(server, cache).measure(kind, bench.scale().outageMillis()));
      }
    }
    return lines;
  }
}
