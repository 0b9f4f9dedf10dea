/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import dev.paddock.testkit.CommandCounter;
import dev.paddock.testkit.RedisServerProcess;
import java.io.IOException;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What figures are measured with: a server, and processes that read from it. All of them end with
 * it, and with this JVM, however that ends.
 */
final class Bench implements AutoCloseable {
  static final Duration LIMIT = Duration.ofMinutes(5);

  private static final long QUIET_MILLIS = 20;
  private static final int QUIET_LOOKS = 5;
  private static final int QUIET_LOOKS_MAX = 500;

  private static final List<String> FLEET_ARGUMENTS =
      List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:-UseDynamicNumberOfCompilerThreads");
  private static final List<String> SINGLE_ARGUMENTS = List.of("-Xms512m", "-Xmx1g");

  private final Scale scale;
  private final PrintStream progress;
  private final Set<WorkerProcess> workers = ConcurrentHashMap.newKeySet();
  private final Thread reaper = new Thread(this::reap, "benchmark-reaper");
  private final RedisServerProcess server;
  private final List<WorkerProcess> fleet = new ArrayList<>();
  private volatile boolean ending;
  private @Nullable Herds herds;

  Bench(Scale scale, PrintStream progress) {
    this.scale = scale;
    this.progress = progress;
    this.server = RedisServerProcess.start();
    Runtime.getRuntime().addShutdownHook(reaper);
  }

  private void reap() {
    ending = true;
    workers.forEach(WorkerProcess::destroy);
    // The forks of JMH, which has no handle on them for others.
    ProcessHandle.current()
        .children()
        .filter(child -> child.pid() != server.pid())
        .forEach(ProcessHandle::destroyForcibly);
  }

  Scale scale() {
    return scale;
  }

  RedisServerProcess server() {
    return server;
  }

  String redisVersion() {
    return server
        .console()
        .text("INFO", "server")
        .lines()
        .filter(line -> line.startsWith("redis_version:"))
        .map(line -> line.substring("redis_version:".length()).strip())
        .findFirst()
        .orElse("?");
  }

  void say(String text) {
    progress.println(text);
    progress.flush();
  }

  /** Starts a process for one figure; the caller closes it. */
  WorkerProcess startWorker() throws IOException, InterruptedException {
    return startWorker(List.of());
  }

  /** The same, for a figure that has more servers. */
  WorkerProcess startWorker(List<RedisServerProcess> more)
      throws IOException, InterruptedException {
    WorkerProcess worker = start(SINGLE_ARGUMENTS, more);
    worker.await(Report.Ready.class, LIMIT);
    return worker;
  }

  private WorkerProcess start(List<String> arguments, List<RedisServerProcess> more)
      throws IOException {
    List<Long> pids = new ArrayList<>();
    pids.add(server.pid());
    more.forEach(each -> pids.add(each.pid()));
    WorkerProcess worker = WorkerProcess.start(new Order.Hello(server.uri(), pids), arguments);
    workers.add(worker);
    if (ending) {
      worker.destroy();
    }
    return worker;
  }

  /** Returns the first processes of the fleet; starts those that are missing. */
  List<WorkerProcess> fleet(int size) throws IOException, InterruptedException {
    while (fleet.size() < size) {
      WorkerProcess worker = start(FLEET_ARGUMENTS, List.of());
      // One after the other: so many JVMs at once starve each other beyond their time-outs.
      worker.await(Report.Ready.class, LIMIT);
      fleet.add(worker);
    }
    return List.copyOf(fleet.subList(0, size));
  }

  /** The herds of this run, which more than one figure looks at. */
  Herds herds() throws IOException, InterruptedException {
    Herds made = herds;
    if (made == null) {
      made = Herds.measure(this);
      herds = made;
    }
    return made;
  }

  /**
   * Returns how many commands were counted, without what is sent whatever happens: the TIME of each
   * process once a minute, and the PING with which Redisson keeps each connection.
   */
  static long commands(CommandCounter counter) {
    Map<String, Long> counts = counter.counts();
    return counts.values().stream().mapToLong(Long::longValue).sum()
        - counts.getOrDefault("TIME", 0L)
        - counts.getOrDefault("PING", 0L);
  }

  /** Returns how many commands were counted once no more come. */
  static long commandsAtRest(CommandCounter counter) throws InterruptedException {
    long count = commands(counter);
    int quiet = 0;
    for (int i = 0; i < QUIET_LOOKS_MAX && quiet < QUIET_LOOKS; i++) {
      TimeUnit.MILLISECONDS.sleep(QUIET_MILLIS);
      long now = commands(counter);
      quiet = now == count ? quiet + 1 : 0;
      count = now;
    }
    return count;
  }

  @Override
  public void close() {
    workers.forEach(WorkerProcess::close);
    server.close();
    try {
      Runtime.getRuntime().removeShutdownHook(reaper);
    } catch (IllegalStateException e) {
      // The JVM is ending: the hook runs.
    }
  }
}
