/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.paddock.CacheEvent;
import dev.paddock.Paddock;
import dev.paddock.StoreException;
import dev.paddock.cli.process.Json;
import io.lettuce.core.cluster.api.sync.RedisClusterCommands;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;

/**
 * One process of the fleet: takes orders from standard input and reports on standard output, a line
 * of JSON each. Ends when its input does, so none is left behind by a coordinator that died.
 */
@Command(name = "worker", hidden = true)
public final class WorkerCommand implements Callable<Integer> {
  /** All processes start at once, on a machine that may have few cores. */
  private static final Duration CONNECT_MAX = Duration.ofSeconds(30);

  private final ReentrantLock outputLock = new ReentrantLock();
  private final ConcurrentMap<Long, Callers> runs = new ConcurrentHashMap<>();
  private final ConcurrentMap<String, Map<String, LongAdder>> events = new ConcurrentHashMap<>();
  private final ExecutorService threads =
      Executors.newCachedThreadPool(
          task -> {
            Thread thread = new Thread(task, "caller");
            thread.setDaemon(true);
            return thread;
          });

  /** Makes the command. */
  public WorkerCommand() {}

  @Override
  public Integer call() throws IOException {
    PrintStream output = System.out;
    // Whatever else prints must not get between the reports.
    System.setOut(System.err);
    BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    Order.Hello hello = (Order.Hello) next(orders);
    if (hello == null) {
      return 0;
    }
    try (Redis redis = Redis.connect(hello.redisUri());
        Paddock paddock =
            Paddock.newBuilder()
                .store(hello.redisUri())
                .connectTimeout(CONNECT_MAX)
                .listener(event -> noteEvent(output, event))
                .build()) {
      Source source = new Source(hello.process(), report -> send(output, report));
      Worker worker = new Worker(output, hello, redis.commands(), paddock, source);
      send(output, new Report.Ready());
      List<Long> redisPids = hello.redisPids();
      Order order = next(orders);
      while (order != null && !(order instanceof Order.Bye)) {
        if (order instanceof Order.Outlive outlive) {
          redisPids = outlive.redisPids();
        }
        worker.take(order);
        order = next(orders);
      }
      if (order == null) {
        outlive(redisPids);
      }
    }
    return 0;
  }

  /** The coordinator is gone without a farewell: its Redis goes too, and this process at once. */
  private static void outlive(List<Long> redisPids) {
    redisPids.forEach(pid -> ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly));
    Runtime.getRuntime().halt(1);
  }

  private static @Nullable Order next(BufferedReader orders) throws IOException {
    String line = orders.readLine();
    return line == null ? null : Json.read(line, Order.class);
  }

  private void send(PrintStream output, Report report) {
    String line = Json.write(report);
    outputLock.lock();
    try {
      output.println(line);
      output.flush();
    } finally {
      outputLock.unlock();
    }
  }

  private void noteEvent(PrintStream output, CacheEvent event) {
    events
        .computeIfAbsent(event.cache(), cell -> new ConcurrentHashMap<>())
        .computeIfAbsent(event.getClass().getSimpleName(), name -> new LongAdder())
        .increment();
    if (event instanceof CacheEvent.FillEnded fill) {
      String outcome = fill.outcome() == null ? "UNKNOWN" : fill.outcome().name();
      send(output, new Report.FillEnded(fill.cache(), outcome));
    }
  }

  private Map<String, Long> eventCounts(Cell cell) {
    Map<String, Long> counts = new TreeMap<>();
    events.getOrDefault(cell.name(), Map.of()).forEach((name, n) -> counts.put(name, n.sum()));
    return counts;
  }

  /** Carries orders out, on connections that are open. */
  private final class Worker {
    private final PrintStream output;
    private final Source source;
    private final PaddockReading paddock;
    private final StallMeter stalls;
    private final Map<Strategy, Reading> readings = new EnumMap<>(Strategy.class);

    Worker(
        PrintStream output,
        Order.Hello hello,
        RedisClusterCommands<String, String> redis,
        Paddock connected,
        Source source) {
      this.output = output;
      this.source = source;
      String prefix = hello.prefix();
      this.stalls = new StallMeter(connected, prefix);
      stalls.start();
      paddock = new PaddockReading(connected, source, prefix);
      readings.put(Strategy.UNPROTECTED, new CacheAside.Unprotected(redis, source, prefix));
      readings.put(Strategy.IN_PROCESS, new CacheAside.InProcess(redis, source, prefix));
      readings.put(Strategy.CHECK_THEN_SET, new CacheAside.CheckThenSet(redis, source, prefix));
      readings.put(
          Strategy.SETNX_THEN_EXPIRE,
          new CacheAside.SetnxThenExpire(redis, source, prefix, report -> send(output, report)));
      readings.put(Strategy.PLAIN_DEL, new CacheAside.Lock(redis, source, prefix, false));
      readings.put(Strategy.TOKEN_RELEASE, new CacheAside.Lock(redis, source, prefix, true));
      readings.put(Strategy.PADDOCK_FRESH, paddock);
      readings.put(Strategy.PADDOCK_STALE, paddock.allowingStale());
    }

    private Reading reading(Strategy strategy) {
      Reading reading = readings.get(strategy);
      if (reading == null) {
        throw new IllegalArgumentException("no such way to read: " + strategy);
      }
      return reading;
    }

    void take(Order order) {
      if (order instanceof Order.Aggregation aggregation) {
        source.behave(aggregation);
      } else if (order instanceof Order.LetGo letGo) {
        source.letGo(letGo);
      } else if (order instanceof Order.InvalidationReturned returned) {
        source.invalidationReturned(returned);
      } else if (order instanceof Order.Run run) {
        start(run);
      } else if (order instanceof Order.Stop stop) {
        Callers callers = runs.get(stop.round());
        if (callers != null) {
          callers.stop();
        }
      } else if (order instanceof Order.Seed seed) {
        inBackground(() -> seed(seed));
      } else if (order instanceof Order.Invalidate invalidate) {
        inBackground(() -> invalidate(invalidate));
      } else if (order instanceof Order.Peek peek) {
        inBackground(() -> peek(peek));
      }
    }

    private void start(Order.Run run) {
      stalls.begin(run.cell());
      Callers callers =
          new Callers(
              run,
              reading(run.strategy()),
              report -> send(output, report),
              answers -> {
                runs.remove(run.round());
                send(
                    output,
                    new Report.Answered(
                        run.round(), answers, eventCounts(run.cell()), stalls.end()));
              });
      runs.put(run.round(), callers);
      callers.start(threads);
    }

    private void seed(Order.Seed seed) throws InterruptedException {
      Leaderboard value = source.earlier();
      reading(seed.strategy()).seedExpired(seed.cell(), value);
      send(output, new Report.Seeded(seed.cell().name(), value.version()));
    }

    private void peek(Order.Peek peek) {
      long version;
      try {
        version = paddock.storedVersion(peek.cell());
      } catch (StoreException e) {
        version = Report.Peeked.UNREACHABLE;
      }
      send(output, new Report.Peeked(peek.cell().name(), version));
    }

    private void invalidate(Order.Invalidate invalidate) {
      long beganMicros = WallClock.micros();
      reading(invalidate.strategy()).invalidate(invalidate.cell());
      send(
          output,
          new Report.Invalidated(invalidate.cell().name(), beganMicros, WallClock.micros()));
    }

    private void inBackground(Task task) {
      threads.execute(
          () -> {
            try {
              task.run();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            } catch (RuntimeException e) {
              send(output, new Report.Trouble(e.toString()));
            }
          });
    }
  }

  private interface Task {
    void run() throws InterruptedException;
  }
}
