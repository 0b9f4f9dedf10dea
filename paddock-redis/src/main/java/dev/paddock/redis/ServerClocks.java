/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import dev.paddock.spi.Environment;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Estimates the clock of each server over the process's monotonic clock. */
final class ServerClocks {
  /*
   * A reply that holds the server's time S, to a request sent at t0 and answered at t1, says that at
   * t1 the server's clock was between S and S + (t1 - t0) (F. Cristian, Probabilistic clock
   * synchronization, 1989). The narrowest such interval is kept, widened with age by what two clocks
   * may drift apart; the estimate is its middle. A new reply takes its place when it is narrower,
   * when the kept one is old, or when the two have no point in common: then one of the clocks has
   * been set, and only the new one is right.
   *
   * Every script reply is such a reply. TIME is asked only of servers from which nothing else was
   * heard for a while although they are in use. One timer serves all servers; it stops when a whole
   * period saw no use, and the next use starts it again.
   *
   * used / armed: a use sets `used` and then looks at `armed`; the tick clears `armed` and then looks
   * at `used`. So one of the two sees the other, and no use is left without a timer.
   */
  static final long PERIOD_NANOS = TimeUnit.SECONDS.toNanos(30);
  static final long STALE_NANOS = TimeUnit.SECONDS.toNanos(60);
  static final long OLD_NANOS = TimeUnit.MINUTES.toNanos(5);
  static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(5);
  static final int SERVERS_MAX = 1024;
  private static final long DRIFT_PER_MILLION = 500;

  private final RedisTransport transport;
  private final Environment environment;
  private final ConcurrentHashMap<Object, ServerClock> clocks = new ConcurrentHashMap<>();
  private final AtomicBoolean armed = new AtomicBoolean();
  private volatile Sample latest;
  private volatile boolean closed;
  private volatile Environment.@Nullable Timer timer;

  /** Starts with a first reply, so that there always is an estimate. */
  ServerClocks(
      RedisTransport transport, Environment environment, byte[] key, Sample first, Object server) {
    this.transport = transport;
    this.environment = environment;
    this.latest = first;
    clockOf(server, key).merge(first);
  }

  /** Returns the estimate for the server that has the key, and counts as a use of that server. */
  long nowMillis(byte[] key) {
    Object server = transport.nodeOf(key);
    long now = environment.nanoTime();
    Sample sample = use(server, key, now).sample.get();
    return Math.floorDiv((sample == null ? latest : sample).microsAt(now), 1000);
  }

  /** Returns the lower end of the estimate for the server that has the key. */
  long earliestMillis(byte[] key) {
    Object server = transport.nodeOf(key);
    long now = environment.nanoTime();
    Sample sample = use(server, key, now).sample.get();
    return Math.floorDiv((sample == null ? latest : sample).earliestMicrosAt(now), 1000);
  }

  /** Counts as a use of the server that has the key. */
  Object use(byte[] key) {
    Object server = transport.nodeOf(key);
    use(server, key, environment.nanoTime());
    return server;
  }

  /** Takes note of the server's time in a reply, in milliseconds. */
  void heardMillis(Object server, byte[] key, long sentNanos, long millis) {
    long now = environment.nanoTime();
    heard(server, key, Sample.of(sentNanos, now, millis * 1000, 1000));
  }

  private void heard(Object server, byte[] key, Sample sample) {
    // A request that was redirected, or a topology that has changed since: whose time it is isn't
    // known.
    if (closed || !server.equals(transport.nodeOf(key))) {
      return;
    }
    clockOf(server, key).merge(sample);
    latest = sample;
  }

  private ServerClock use(Object server, byte[] key, long now) {
    ServerClock clock = clockOf(server, key);
    if (!clock.used) {
      clock.key = key;
      clock.used = true;
      arm();
    }
    if (clock.silentFor(now) >= STALE_NANOS) {
      refresh(clock, now);
    }
    return clock;
  }

  private ServerClock clockOf(Object server, byte[] key) {
    ServerClock clock = clocks.get(server);
    if (clock != null) {
      return clock;
    }
    if (clocks.size() >= SERVERS_MAX) {
      forgetOne();
    }
    return clocks.computeIfAbsent(
        server, s -> new ServerClock(s, key, environment.nanoTime() - RETRY_NANOS));
  }

  private void forgetOne() {
    Object victim = null;
    for (ServerClock clock : clocks.values()) {
      victim = clock.server;
      if (!clock.used) {
        break;
      }
    }
    if (victim != null) {
      clocks.remove(victim);
    }
  }

  private void arm() {
    if (!closed && armed.compareAndSet(false, true)) {
      schedule();
    }
  }

  private void schedule() {
    Environment.Timer next;
    try {
      next = environment.schedule(this::tick, PERIOD_NANOS);
    } catch (RejectedExecutionException e) {
      // The environment is closing; the caller's operation need not fail for the sake of a clock.
      armed.set(false);
      return;
    }
    timer = next;
    if (closed) {
      next.cancel();
    }
  }

  private void tick() {
    if (closed) {
      return;
    }
    long now = environment.nanoTime();
    boolean any = false;
    for (ServerClock clock : clocks.values()) {
      if (clock.used) {
        any = true;
        clock.used = false;
        if (clock.silentFor(now) >= PERIOD_NANOS) {
          refresh(clock, now);
        }
      }
    }
    if (any) {
      schedule();
      return;
    }
    timer = null;
    armed.set(false);
    for (ServerClock clock : clocks.values()) {
      if (clock.used) {
        arm();
        return;
      }
    }
  }

  private void refresh(ServerClock clock, long now) {
    long last = clock.askedNanos.get();
    if (closed || now - last < RETRY_NANOS || !clock.askedNanos.compareAndSet(last, now)) {
      return;
    }
    byte[] key = clock.key;
    CompletionStage<Long> reply;
    try {
      reply = transport.timeMicros(key);
    } catch (RuntimeException e) {
      // The estimate stays, and the next use asks again.
      return;
    }
    reply.whenComplete(
        (micros, error) -> {
          if (error == null && micros != null && micros >= 0) {
            heard(clock.server, key, Sample.of(now, environment.nanoTime(), micros, 1));
          }
        });
  }

  int servers() {
    return clocks.size();
  }

  /** Stops the timer. Estimates go on from what is known. */
  void close() {
    closed = true;
    Environment.Timer pending = timer;
    if (pending != null) {
      pending.cancel();
    }
  }

  /** What one reply says: at {@code heardNanos} the clock was in [micros, micros + width]. */
  record Sample(long micros, long widthMicros, long heardNanos) {
    static Sample of(long sentNanos, long heardNanos, long serverMicros, long resolutionMicros) {
      long roundTrip = Math.max(0, heardNanos - sentNanos) / 1000;
      return new Sample(serverMicros, roundTrip + resolutionMicros, heardNanos);
    }

    long microsAt(long nanos) {
      return micros + widthMicros / 2 + (nanos - heardNanos) / 1000;
    }

    long earliestMicrosAt(long nanos) {
      long elapsed = (nanos - heardNanos) / 1000;
      return micros + elapsed - Math.abs(elapsed) * DRIFT_PER_MILLION / 1_000_000;
    }

    Sample orBetter(Sample newer) {
      long elapsed = (newer.heardNanos - heardNanos) / 1000;
      long drift = Math.abs(elapsed) * DRIFT_PER_MILLION / 1_000_000;
      long earliest = micros + elapsed - drift;
      long latest = micros + widthMicros + elapsed + drift;
      boolean contradicted = newer.micros > latest || newer.micros + newer.widthMicros < earliest;
      boolean old = newer.heardNanos - heardNanos >= OLD_NANOS;
      return contradicted || old || newer.widthMicros <= latest - earliest ? newer : this;
    }
  }

  private static final class ServerClock {
    final Object server;
    final AtomicReference<@Nullable Sample> sample = new AtomicReference<>();
    final AtomicLong askedNanos;
    volatile byte[] key;
    volatile boolean used;
    private volatile long heardNanos;

    ServerClock(Object server, byte[] key, long askedNanos) {
      this.server = server;
      this.key = key;
      this.askedNanos = new AtomicLong(askedNanos);
    }

    void merge(Sample newer) {
      sample.accumulateAndGet(newer, (known, n) -> known == null ? n : known.orBetter(n));
      heardNanos = newer.heardNanos;
    }

    long silentFor(long now) {
      return sample.get() == null ? Long.MAX_VALUE : now - heardNanos;
    }
  }
}
