/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import dev.paddock.Cache;
import dev.paddock.Codecs;
import dev.paddock.Loader;
import dev.paddock.Paddock;
import dev.paddock.redis.jedis.JedisRedis;
import dev.paddock.redis.lettuce.LettuceRedis;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Carries orders out, one after the other, on connections that stay open. */
final class Worker implements AutoCloseable {
  static final int VALUE_BYTES = 200;

  private static final int OPEN_READS = 256;
  private static final long LATE_MILLIS = 50;
  private static final long SETTLE_MILLIS = 200;
  private static final int SETTLE_LOOKS = 40;
  private static final int SETTLED_LOOKS = 4;
  private static final long SETTLED_BYTES = 16_384;

  private final String uri;
  private final Map<Way, Reader> readers = new EnumMap<>(Way.class);
  private final Map<Way, Locker> lockers = new EnumMap<>(Way.class);

  private @Nullable Quorum quorum;

  /** Its threads stay, so that {@link CpuClock} misses none. */
  private final ExecutorService threads =
      Executors.newCachedThreadPool(
          task -> {
            Thread thread = new Thread(task, "caller");
            thread.setDaemon(true);
            return thread;
          });

  Worker(String uri) {
    this.uri = uri;
    if (threads instanceof java.util.concurrent.ThreadPoolExecutor pool) {
      pool.setKeepAliveTime(1, TimeUnit.HOURS);
    }
    // All connections of a herd are open before the first one.
    reader(Way.PADDOCK);
    reader(Way.BARE);
  }

  static byte[] value() {
    byte[] value = new byte[VALUE_BYTES];
    Arrays.fill(value, (byte) 'v');
    return value;
  }

  static Reader open(Way way, String uri) {
    return switch (way) {
      case PADDOCK -> new PaddockReader(LettuceRedis.connect(uri));
      case PLAIN -> new PlainReader(uri);
      case BARE -> new BareReader(uri);
      case STEPS -> new StepsReader(uri);
      case OWN_SCRIPTS -> new OwnScriptsReader(uri);
      case RECIPE -> new RecipeReader(uri);
      case JEDIS -> new PaddockReader(JedisRedis.connect(uri));
      case SOCKET -> new SocketReader(uri);
      case PADDOCK_NEAR -> PaddockReader.near(LettuceRedis.connect(uri));
      case CAFFEINE -> new CaffeineReader();
      case SPRING -> new SpringReader(uri, false);
      case SPRING_LOCKING -> new SpringReader(uri, true);
      case REDISSON -> new RedissonReader(uri);
      case REDISSON_NEAR -> new RedissonNearReader(uri);
      case JETCACHE -> new JetCacheReader(uri, false);
      case JETCACHE_TWO_LEVELS -> new JetCacheReader(uri, true);
    };
  }

  private Reader reader(Way way) {
    return readers.computeIfAbsent(way, each -> open(each, uri));
  }

  private Locker locker(Way way) {
    return lockers.computeIfAbsent(
        way,
        each ->
            switch (each) {
              case PADDOCK -> new PaddockLocker(uri);
              case RECIPE -> new RecipeLocker(uri);
              default -> throw new IllegalArgumentException("no leases the way " + each);
            });
  }

  Report carryOut(Order order) {
    try {
      if (order instanceof Order.Slice slice) {
        return slice(slice);
      } else if (order instanceof Order.Fills fills) {
        return fills(fills);
      } else if (order instanceof Order.Herd herd) {
        return herd(herd);
      } else if (order instanceof Order.Late late) {
        return late(late);
      } else if (order instanceof Order.Rest rest) {
        return rest(rest);
      } else if (order instanceof Order.Alone alone) {
        return alone(alone);
      } else if (order instanceof Order.Contend contend) {
        return contend(contend);
      } else if (order instanceof Order.Majority majority) {
        return majority(majority);
      }
      throw new IllegalArgumentException("no such order: " + order);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new Report.Failed("interrupted");
    } catch (Exception e) {
      return new Report.Failed(e.toString());
    }
  }

  /** Runs tasks at the same time, and passes on what the first that fails throws. */
  private void together(List<Callable<Void>> tasks) throws Exception {
    List<Future<Void>> ends = new ArrayList<>();
    for (Callable<Void> task : tasks) {
      ends.add(threads.submit(task));
    }
    for (Future<Void> end : ends) {
      try {
        end.get();
      } catch (ExecutionException e) {
        throw e.getCause() instanceof Exception cause ? cause : e;
      }
    }
  }

  // ---------------------------------------------------------------- slices

  private Report slice(Order.Slice order) throws Exception {
    if (!(reader(order.way()) instanceof StoringReader reader)) {
      throw new IllegalArgumentException("hits can't be measured the way " + order.way());
    }
    Reader.Source none =
        () -> {
          throw new IllegalStateException("a value that was stored is gone");
        };
    CountDownLatch go = new CountDownLatch(1);
    AtomicBoolean over = new AtomicBoolean();
    long[] reads = new long[order.threads()];
    long[] endNanos = new long[order.threads()];
    List<Callable<Void>> tasks = new ArrayList<>();
    for (int i = 0; i < order.threads(); i++) {
      int mine = i;
      String key = order.oneKey() ? "hot" : "hit-" + mine;
      reader.store(key, value());
      tasks.add(
          () -> {
            go.await();
            long count = 0;
            while (!over.get()) {
              byte[] value = reader.read(key, none);
              if (value == null || value.length != VALUE_BYTES) {
                throw new IllegalStateException("not the value that was stored");
              }
              count++;
            }
            reads[mine] = count;
            endNanos[mine] = System.nanoTime();
            return null;
          });
    }
    long[] startNanos = new long[1];
    tasks.add(
        () -> {
          startNanos[0] = System.nanoTime();
          go.countDown();
          TimeUnit.MILLISECONDS.sleep(order.millis());
          over.set(true);
          return null;
        });
    together(tasks);
    long lastNanos = startNanos[0];
    for (long end : endNanos) {
      lastNanos = Math.max(lastNanos, end);
    }
    return new Report.Sliced(Arrays.stream(reads).sum(), lastNanos - startNanos[0]);
  }

  // ---------------------------------------------------------------- fills

  private Report fills(Order.Fills order) throws Exception {
    Reader reader = reader(order.way());
    AtomicInteger loads = new AtomicInteger();
    Reader.Source source =
        () -> {
          loads.incrementAndGet();
          park(order.loadMicros());
          return value();
        };
    AtomicInteger next = new AtomicInteger();
    double[] nanos = new double[order.count()];
    List<Callable<Void>> tasks = new ArrayList<>();
    for (int i = 0; i < order.threads(); i++) {
      tasks.add(
          () -> {
            for (int n = next.getAndIncrement(); n < order.count(); n = next.getAndIncrement()) {
              long start = System.nanoTime();
              reader.read(order.prefix() + n, source);
              nanos[n] = System.nanoTime() - start;
            }
            return null;
          });
    }
    long start = System.nanoTime();
    together(tasks);
    long all = System.nanoTime() - start;
    if (loads.get() != order.count()) {
      throw new IllegalStateException(loads.get() + " loads of " + order.count() + " cold keys");
    }
    return new Report.Filled(all, Pairs.median(nanos));
  }

  private static void park(long micros) {
    long nanos = TimeUnit.MICROSECONDS.toNanos(micros);
    long end = System.nanoTime() + nanos;
    for (long left = nanos; left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }

  // ---------------------------------------------------------------- herds

  private Report herd(Order.Herd order) throws Exception {
    long cpuBefore = CpuClock.nanos();
    Reader reader = reader(order.way());
    ConcurrentLinkedQueue<Long> loadEnds = new ConcurrentLinkedQueue<>();
    Reader.Source source =
        () -> {
          try {
            TimeUnit.MILLISECONDS.sleep(order.loadMillis());
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
          byte[] value = value();
          loadEnds.add(WallClock.micros());
          return value;
        };
    long[] answers = new long[order.callers()];
    List<Callable<Void>> tasks = new ArrayList<>();
    for (int i = 0; i < order.callers(); i++) {
      int mine = i;
      tasks.add(
          () -> {
            WallClock.sleepUntil(order.startAtMicros());
            byte[] value = reader.read(order.key(), source);
            answers[mine] = WallClock.micros();
            if (value == null || value.length != VALUE_BYTES) {
              throw new IllegalStateException("not the value that was loaded");
            }
            return null;
          });
    }
    together(tasks);
    long cpu = CpuClock.nanos() - cpuBefore;
    return new Report.Herded(List.copyOf(loadEnds), Arrays.stream(answers).boxed().toList(), cpu);
  }

  // ---------------------------------------------------------------- late fills

  private Report late(Order.Late order) throws Exception {
    if (!(reader(order.way()) instanceof InvalidatingReader reader)) {
      throw new IllegalArgumentException("nothing can be deleted the way " + order.way());
    }
    int outdated = 0;
    for (int i = 0; i < order.count(); i++) {
      if (findsOldValue(reader, order.prefix() + i)) {
        outdated++;
      }
    }
    return new Report.Outdated(outdated);
  }

  /** Deletes a key in the middle of its load, and looks what is there once all have ended. */
  private boolean findsOldValue(InvalidatingReader reader, String key) throws Exception {
    byte[] old = value();
    old[0] = 'o';
    CountDownLatch loading = new CountDownLatch(1);
    CountDownLatch deleted = new CountDownLatch(1);
    Future<byte[]> first =
        threads.submit(
            () ->
                reader.read(
                    key,
                    () -> {
                      loading.countDown();
                      // There are ways to delete that wait for the load.
                      awaitAtMost(deleted, LATE_MILLIS);
                      return old;
                    }));
    loading.await();
    reader.invalidate(key);
    deleted.countDown();
    first.get();
    // There are ways to store that do not wait for the reply.
    TimeUnit.MILLISECONDS.sleep(LATE_MILLIS);
    byte[] found = reader.read(key, Worker::value);
    return found != null && found[0] == old[0];
  }

  private static void awaitAtMost(CountDownLatch latch, long millis) {
    try {
      boolean unused = latch.await(millis, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  // ---------------------------------------------------------------- leases

  private Report alone(Order.Alone order) throws Exception {
    Locker locker = locker(order.way());
    double[] nanos = new double[order.count()];
    together(
        List.of(
            () -> {
              for (int i = 0; i < nanos.length; i++) {
                long start = System.nanoTime();
                locker.acquire(order.name()).release();
                nanos[i] = System.nanoTime() - start;
              }
              return null;
            }));
    return new Report.Taken(Pairs.median(nanos));
  }

  private Report contend(Order.Contend order) throws Exception {
    Locker locker = locker(order.way());
    long endMicros = order.startAtMicros() + TimeUnit.MILLISECONDS.toMicros(order.millis());
    ConcurrentLinkedQueue<Hold> holds = new ConcurrentLinkedQueue<>();
    List<Callable<Void>> tasks = new ArrayList<>();
    for (int i = 0; i < order.threads(); i++) {
      tasks.add(
          () -> {
            WallClock.sleepUntil(order.startAtMicros());
            for (long asked = WallClock.micros(); asked < endMicros; asked = WallClock.micros()) {
              Locker.Held held = locker.acquire(order.name());
              long began = WallClock.micros();
              park(order.holdMicros());
              holds.add(new Hold(asked, began, WallClock.micros(), held.token()));
              held.release();
              if (order.awayMicros() > 0) {
                park(ThreadLocalRandom.current().nextLong(order.awayMicros()));
              }
            }
            return null;
          });
    }
    together(tasks);
    return new Report.Contended(List.copyOf(holds));
  }

  private Report majority(Order.Majority order) throws Exception {
    Quorum opened = quorum;
    if (opened == null) {
      opened = new Quorum(order.uris());
      quorum = opened;
    }
    return opened.measure(order.commit(), order.pairs());
  }

  // ---------------------------------------------------------------- memory

  private Report rest(Order.Rest order) throws InterruptedException {
    try (Paddock paddock = Paddock.newBuilder().store(LettuceRedis.connect(uri)).build()) {
      Cache<String, byte[]> cache =
          paddock
              .<String, byte[]>cache("memory", Codecs.bytes())
              // So that Redis does not have to hold them all.
              .timeToLive(Duration.ofSeconds(1))
              .maxLoadTime(Duration.ofMinutes(5))
              .build();
      readOnce(cache, "warm", 20_000);
      long before = usedAtRest();
      readOnce(cache, "key", order.keys());
      long after = usedAtRest();
      long during = usedDuring(cache, order.flights());
      long left = usedAtRest();
      return new Report.Rested(
          after - before, (during - after) / (double) order.flights(), left - after);
    }
  }

  /** What is in use while so many flights are open. */
  private static long usedDuring(Cache<String, byte[]> cache, int flights)
      throws InterruptedException {
    CompletableFuture<byte[]> gate = new CompletableFuture<>();
    AtomicInteger loads = new AtomicInteger();
    Loader<String, byte[]> held =
        Loader.async(
            key -> {
              loads.incrementAndGet();
              return gate;
            });
    List<CompletableFuture<?>> views = new ArrayList<>();
    for (int i = 0; i < flights; i++) {
      views.add(cache.getAsync("flight-" + i, held));
    }
    long giveUp = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (loads.get() < flights && System.nanoTime() < giveUp) {
      TimeUnit.MILLISECONDS.sleep(5);
    }
    if (loads.get() != flights) {
      throw new IllegalStateException(loads.get() + " flights of " + flights);
    }
    long used = usedAtRest();
    gate.complete(value());
    CompletableFuture.allOf(views.toArray(CompletableFuture[]::new)).join();
    return used;
  }

  private static void readOnce(Cache<String, byte[]> cache, String prefix, int count)
      throws InterruptedException {
    Semaphore open = new Semaphore(OPEN_READS);
    ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
    byte[] value = value();
    Loader<String, byte[]> loader = Loader.async(key -> CompletableFuture.completedFuture(value));
    for (int i = 0; i < count; i++) {
      open.acquire();
      CompletableFuture<?> unused =
          cache
              .getAsync(prefix + i, loader)
              .whenComplete(
                  (read, error) -> {
                    if (error != null) {
                      failures.add(error);
                    }
                    open.release();
                  });
    }
    open.acquire(OPEN_READS);
    Throwable failure = failures.peek();
    if (failure != null) {
      throw new IllegalStateException(failures.size() + " reads failed", failure);
    }
  }

  /** What is in use when the collector finds nothing more to free, look by look. */
  private static long usedAtRest() throws InterruptedException {
    long least = Long.MAX_VALUE;
    int settled = 0;
    for (int i = 0; i < SETTLE_LOOKS && settled < SETTLED_LOOKS; i++) {
      System.gc();
      long used = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
      settled = least - used > SETTLED_BYTES ? 0 : settled + 1;
      least = Math.min(least, used);
      TimeUnit.MILLISECONDS.sleep(SETTLE_MILLIS);
    }
    return least;
  }

  @Override
  public void close() {
    threads.shutdownNow();
    readers.values().forEach(Reader::close);
    lockers.values().forEach(Locker::close);
    if (quorum != null) {
      quorum.close();
    }
  }
}
