/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks.jmh;

import static java.util.Objects.requireNonNull;

import dev.paddock.Cache;
import dev.paddock.CallOptions;
import dev.paddock.Codecs;
import dev.paddock.Loader;
import dev.paddock.Paddock;
import dev.paddock.redis.lettuce.LettuceRedis;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Callers join a flight whose load is under way, and are answered when it ends: {@code ./paddock
 * benchmark --only join}. One flight, its commands among them, is shared by so many callers that it
 * counts for little.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class JoinBenchmark {
  private static final int CALLERS = 1000;

  /** By what: PADDOCK, or BARE for a map of futures. */
  @Param({"PADDOCK", "BARE"})
  public String way = "";

  /** Where Redis is. */
  @Param("redis://127.0.0.1:6379")
  public String uri = "";

  private final byte[] value = new byte[200];
  private final ConcurrentHashMap<String, CompletableFuture<byte[]>> flights =
      new ConcurrentHashMap<>();
  private @Nullable Paddock paddock;
  private @Nullable Cache<String, byte[]> cache;
  private @Nullable CallOptions<String, byte[]> options;
  private long round;

  /** Makes the benchmark. */
  public JoinBenchmark() {}

  /** Connects. */
  @Setup
  public void open() {
    if (way.equals("PADDOCK")) {
      Paddock connected = Paddock.newBuilder().store(LettuceRedis.connect(uri)).build();
      Cache<String, byte[]> made = connected.<String, byte[]>cache("jmh", Codecs.bytes()).build();
      paddock = connected;
      cache = made;
      // Without the GET, which callers share before there is a flight.
      options = made.options().expectMiss();
    }
  }

  /**
   * Lets callers join one flight.
   *
   * @return the answer of the last of them
   * @throws InterruptedException if the thread was interrupted
   */
  @Benchmark
  @OperationsPerInvocation(CALLERS)
  public byte @Nullable [] join() throws InterruptedException {
    String key = "join-" + ProcessHandle.current().pid() + "-" + round++;
    return way.equals("PADDOCK") ? joinFlight(key) : joinFuture(key);
  }

  private byte @Nullable [] joinFlight(String key) throws InterruptedException {
    Cache<String, byte[]> all = requireNonNull(cache);
    CallOptions<String, byte[]> miss = requireNonNull(options);
    CompletableFuture<byte[]> load = new CompletableFuture<>();
    CountDownLatch loading = new CountDownLatch(1);
    Loader<String, byte[]> loader =
        Loader.async(
            asked -> {
              loading.countDown();
              return load;
            });
    CompletableFuture<?>[] callers = new CompletableFuture<?>[CALLERS];
    CompletableFuture<byte @Nullable []> last = all.getAsync(key, loader, miss);
    loading.await();
    for (int i = 0; i < CALLERS; i++) {
      last = all.getAsync(key, loader, miss);
      callers[i] = last;
    }
    load.complete(value);
    CompletableFuture.allOf(callers).join();
    return last.join();
  }

  private byte[] joinFuture(String key) {
    CompletableFuture<byte[]> load = new CompletableFuture<>();
    flights.put(key, load);
    CompletableFuture<?>[] callers = new CompletableFuture<?>[CALLERS];
    CompletableFuture<byte[]> last = load;
    for (int i = 0; i < CALLERS; i++) {
      last = requireNonNull(flights.get(key)).copy();
      callers[i] = last;
    }
    flights.remove(key);
    load.complete(value);
    CompletableFuture.allOf(callers).join();
    return last.join();
  }

  /** Disconnects. */
  @TearDown
  public void close() {
    if (paddock != null) {
      paddock.close();
    }
  }
}
