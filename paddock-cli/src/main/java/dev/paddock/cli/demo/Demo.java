/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import dev.paddock.cli.process.Shutdown;
import io.lettuce.core.RedisException;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanIterator;
import java.io.IOException;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Runs experiments, one after another, and cleans up whatever happens, Ctrl-C included. */
final class Demo implements AutoCloseable {
  private static final Duration START_LIMIT = Duration.ofMinutes(2);

  /** How often a run is done at most, see {@link #runUnlessStalled}. */
  private static final int RUNS_MAX = 5;

  private final Settings settings;
  private final Duration limit;
  private final PrintStream progress;
  private final Journal journal = new Journal();
  private final String prefix = "paddock-demo:" + Long.toString(WallClock.micros(), 36) + ":";
  private final ReentrantLock closing = new ReentrantLock();
  private final Deque<AutoCloseable> toClose = new ArrayDeque<>();
  private final Thread atExit = new Thread(this::closeAtExit, "paddock-demo-exit");
  private final Redis redis;
  private final @Nullable OwnServers servers;
  private final @Nullable CommandMeter meter;
  private final Fleet fleet;
  private volatile @Nullable Fleet toKill;
  private List<WarmUp> warmUps = List.of();

  /**
   * Starts servers, unless there are some, and connects.
   *
   * @param settings the sizes
   * @param limit an experiment that takes longer is given up, as not met
   * @param progress where to tell what goes on
   * @throws DemoException if Redis can't be started
   * @throws dev.paddock.StoreException if Redis can't be used
   * @throws RedisException if it can't be used any more
   */
  Demo(Settings settings, Duration limit, PrintStream progress) {
    this.settings = settings;
    this.limit = limit;
    this.progress = progress;
    Runtime.getRuntime().addShutdownHook(atExit);
    try {
      String theirs = settings.redisUri();
      servers = theirs == null ? closeLater(startServers()) : null;
      String uri = servers == null ? String.valueOf(theirs) : servers.uri();
      RedisAddress.check(uri);
      redis = closeLater(Redis.connect(uri));
      if (servers == null) {
        closeLater(this::removeKeys);
      }
      meter = openMeter();
      List<Long> pids = servers == null ? List.of() : servers.pids();
      fleet = closeLater(new Fleet(journal, progress, uri, prefix, pids));
      toKill = fleet;
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  private OwnServers startServers() {
    Topology topology = settings.topology();
    progress.println(
        topology == Topology.STANDALONE
            ? "Starting Redis."
            : "Starting Redis: " + topology.description() + ".");
    try {
      return OwnServers.start(topology);
    } catch (DemoException e) {
      throw new DemoException(
          "Redis can't be started (use another by --redis URI): " + e.getMessage(), e);
    }
  }

  private <T extends AutoCloseable> T closeLater(T resource) {
    closing.lock();
    try {
      toClose.push(resource);
    } finally {
      closing.unlock();
    }
    return resource;
  }

  private @Nullable CommandMeter openMeter() {
    try {
      return closeLater(CommandMeter.open(redis, servers != null, prefix));
    } catch (DemoException | RedisException e) {
      progress.println("Redis commands are not counted: " + e.getMessage());
      return null;
    }
  }

  /**
   * Says what was found.
   *
   * @return the version, and the arrangement unless it is one server
   */
  String redisVersion() {
    String arrangement =
        servers != null
            ? settings.topology() == Topology.STANDALONE ? "" : settings.topology().description()
            : switch (redis.kind()) {
              case SERVER -> "";
              case SENTINEL -> "a primary that Sentinels name";
              case CLUSTER -> "a cluster";
            };
    return redis.version() + (arrangement.isEmpty() ? "" : " (" + arrangement + ")");
  }

  /**
   * Runs experiments.
   *
   * @param experiments which ones
   * @return what came of each
   * @throws IOException if a process can't be started
   * @throws InterruptedException if the thread was interrupted
   */
  List<Row> run(List<Experiment> experiments) throws IOException, InterruptedException {
    List<Row> rows = new ArrayList<>();
    warmUps = WarmUp.of(experiments, settings);
    progress.printf("Starting %d processes.%n", settings.processes());
    fillFleet();
    for (int i = 0; i < experiments.size(); i++) {
      Experiment experiment = experiments.get(i);
      progress.printf(
          "[%d/%d] %s (%s) ", i + 1, experiments.size(), experiment.name(), experiment.summary());
      progress.flush();
      long startNanos = System.nanoTime();
      Row row = repeat(experiment);
      progress.printf(
          Locale.ROOT,
          "%s (%.1f s)%n",
          row.met() ? "as expected" : "NOT AS EXPECTED: " + row.observed(),
          (System.nanoTime() - startNanos) / 1e9);
      rows.add(row);
    }
    return rows;
  }

  private Row repeat(Experiment experiment) throws IOException, InterruptedException {
    int met = 0;
    Finding shown = null;
    for (int n = 1; n <= settings.repeat(); n++) {
      Finding finding = runUnlessStalled(experiment, n);
      if (settings.repeat() > 1) {
        progress.print(finding.verdict().met() ? "." : "!");
        progress.flush();
      }
      if (finding.verdict().met()) {
        met++;
      }
      if (shown == null || shown.verdict().met()) {
        shown = finding;
      }
    }
    if (shown == null) {
      throw new IllegalArgumentException("nothing was run");
    }
    return row(experiment, shown, met);
  }

  private Row row(Experiment experiment, Finding finding, int met) {
    String observed = finding.verdict().observed();
    if (settings.repeat() > 1) {
      observed =
          met
              + " of "
              + settings.repeat()
              + " times as expected; "
              + (finding.verdict().met() ? "last: " : "first that was not: ")
              + observed;
    }
    return new Row(
        experiment.name(),
        settings.processes(),
        settings.allCallers(),
        finding.loads(),
        finding.mostAtOnce(),
        finding.staleAnswers(),
        finding.waits(),
        finding.redisCommands(),
        experiment.expected(settings),
        observed,
        finding.verdict().met());
  }

  /**
   * A process that can't get through to Redis for long enough loses its lease, and rightly so: a
   * run in which that may have been the reason of one load too many says nothing and is done again.
   */
  private Finding runUnlessStalled(Experiment experiment, int repetition)
      throws IOException, InterruptedException {
    long bearableMillis = settings.leaseMillis() / 3;
    Finding finding = runOnce(experiment, "-" + repetition);
    for (int run = 1;
        run < RUNS_MAX
            && !finding.verdict().met()
            && finding.verdict().leaseMayBeLost()
            && finding.longestStallMillis() > bearableMillis;
        run++) {
      progress.printf(
          "(%s; but a process had no contact with Redis for %d ms, too long for a lease of %d ms:"
              + " again) ",
          finding.verdict().observed(), finding.longestStallMillis(), settings.leaseMillis());
      finding = runOnce(experiment, "-" + repetition + "-" + run).ofRun(run + 1);
    }
    return finding;
  }

  private Finding runOnce(Experiment experiment, String suffix)
      throws IOException, InterruptedException {
    try {
      fillFleet();
      journal.begin(experiment.name(), limit);
      return experiment.run(
          new Stage(settings, fleet, journal, redis.commands(), servers, prefix, meter, suffix));
    } catch (DemoException | RedisException e) {
      if (Shutdown.comesSoon()) {
        throw new InterruptedException("the demo is being ended");
      }
      // What the processes are at now is not known.
      fleet.destroy();
      return Finding.none(String.valueOf(e.getMessage()));
    }
  }

  private void fillFleet() throws IOException, InterruptedException {
    journal.begin("the start of the processes", START_LIMIT);
    if (fleet.fill(settings.processes()).isEmpty()) {
      return;
    }
    Stage stage =
        new Stage(
            settings,
            fleet,
            journal,
            redis.commands(),
            servers,
            prefix,
            null,
            "-" + WallClock.micros());
    journal.goOn("the warm-up", START_LIMIT);
    stage.warmUp(warmUps);
  }

  private void removeKeys() {
    // Leases have names of another shape that end with the name of the key they are for.
    for (String pattern : List.of(prefix + "*", "pdk:*:" + prefix + "*")) {
      ScanIterator<String> keys =
          ScanIterator.scan(redis.commands(), ScanArgs.Builder.matches(pattern).limit(1000));
      while (keys.hasNext()) {
        redis.commands().unlink(keys.next());
      }
    }
  }

  @Override
  public void close() {
    if (Shutdown.isUnderWay()) {
      // All that is left to do is done by the hook.
      return;
    }
    closeAll();
    try {
      Runtime.getRuntime().removeShutdownHook(atExit);
    } catch (IllegalStateException e) {
      // The JVM is ending, and the hook has run or runs.
      return;
    }
  }

  /**
   * Nobody waits for the workers' farewell then. A Redis that was started here has a hook of its
   * own and is perhaps gone already; with it, all that would be left to clean up.
   */
  private void closeAtExit() {
    Fleet workers = toKill;
    if (workers != null) {
      workers.kill();
    }
    if (settings.redisUri() != null) {
      closeAll();
    }
  }

  private void closeAll() {
    closing.lock();
    try {
      while (!toClose.isEmpty()) {
        AutoCloseable next = toClose.pop();
        try {
          next.close();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        } catch (Exception e) {
          progress.println("Cleaning up: " + e.getMessage());
        }
      }
    } finally {
      closing.unlock();
    }
  }
}
