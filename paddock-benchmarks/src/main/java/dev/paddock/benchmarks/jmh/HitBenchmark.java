/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks.jmh;

import static java.util.Objects.requireNonNull;

import dev.paddock.Cache;
import dev.paddock.Codecs;
import dev.paddock.Paddock;
import dev.paddock.redis.lettuce.LettuceRedis;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.codec.StringCodec;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** One thread reads a stored value: {@code ./paddock benchmark --only join}. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class HitBenchmark {
  private static final String KEY = "jmh-hit";

  /** By what: PADDOCK, or PLAIN for GET by Lettuce. */
  @Param({"PADDOCK", "PLAIN"})
  public String way = "";

  /** Where Redis is. */
  @Param("redis://127.0.0.1:6379")
  public String uri = "";

  private @Nullable Runnable close;
  private @Nullable Read read;

  /** Makes the benchmark. */
  public HitBenchmark() {}

  private interface Read {
    byte @Nullable [] read();
  }

  /** Connects, and stores the value. */
  @Setup
  public void open() {
    byte[] value = new byte[200];
    if (way.equals("PADDOCK")) {
      Paddock paddock = Paddock.newBuilder().store(LettuceRedis.connect(uri)).build();
      Cache<String, byte[]> cache = paddock.<String, byte[]>cache("jmh", Codecs.bytes()).build();
      cache.put(KEY, value);
      close = paddock::close;
      read = () -> cache.get(KEY, key -> value);
    } else {
      RedisClient client = RedisClient.create(uri);
      StatefulRedisConnection<String, byte[]> connection =
          client.connect(RedisCodec.of(StringCodec.UTF8, ByteArrayCodec.INSTANCE));
      connection.sync().set(KEY, value);
      close = client::shutdown;
      read = () -> connection.sync().get(KEY);
    }
  }

  /**
   * Reads.
   *
   * @return the value
   */
  @Benchmark
  public byte @Nullable [] get() {
    return requireNonNull(read).read();
  }

  /** Disconnects. */
  @TearDown
  public void close() {
    requireNonNull(close).run();
  }
}
