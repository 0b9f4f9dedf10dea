/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import dev.paddock.redis.RedlockBootstrap;
import dev.paddock.redis.lettuce.LettuceRedis;
import dev.paddock.testkit.CommandCounter;
import dev.paddock.testkit.RedisServerProcess;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Leases: one that nobody else wants, one that threads in many processes want, and one by a
 * majority of servers.
 */
final class Leases {
  private static final int WARM_ROUNDS = 15;

  /** As many in a quick run: with fewer, what is measured is how far the compiler has come. */
  private static final int WARM_COUNT = 1000;

  private static final int SERVERS = 5;
  private static final int WARM_MAJORITY = 1000;

  private static final int THREADS = 4;
  private static final long HOLD_MICROS = 1000;

  /** Long enough for others to get it, short enough for some to be waiting at all times. */
  private static final long AWAY_MICROS = 10_000;

  /** From the order to the moment at which all begin. */
  private static final long GATHER_MICROS = 60_000;

  private Leases() {}

  static List<Line> measure(Bench bench) throws IOException, InterruptedException {
    List<Line> lines = new ArrayList<>(alone(bench));
    double[] commands = {commandsAlone(bench)};
    lines.add(Line.of(Figure.LEASE, "alone, commands", "", commands, Target.atMost(2)));
    lines.addAll(contended(bench));
    lines.addAll(byMajority(bench));
    return lines;
  }

  private static List<Line> alone(Bench bench) throws IOException, InterruptedException {
    Scale scale = bench.scale();
    Pairs young = new Pairs();
    Pairs pairs = new Pairs();
    try (WorkerProcess worker = bench.startWorker()) {
      for (int i = 0; i < WARM_ROUNDS; i++) {
        double ours = alone(worker, Way.PADDOCK, WARM_COUNT);
        double bound = alone(worker, Way.RECIPE, WARM_COUNT);
        if (i == 0) {
          young.add(ours, bound);
        }
      }
      for (int i = 0; i < scale.hitPairs(); i++) {
        double ours = alone(worker, Way.PADDOCK, scale.fillKeys());
        pairs.add(ours, alone(worker, Way.RECIPE, scale.fillKeys()));
      }
    }
    return List.of(
        Line.of(Figure.LEASE, "alone, acquire and release", "us", pairs, Target.ratioAtMost(1.25)),
        Line.of(Figure.LEASE, "alone, first " + WARM_COUNT + " of a young JVM", "us", young, null));
  }

  private static double alone(WorkerProcess worker, Way way, int count)
      throws InterruptedException {
    worker.send(new Order.Alone(way, "alone", count));
    return worker.await(Report.Taken.class, Bench.LIMIT).medianNanos() / 1e3;
  }

  private static double commandsAlone(Bench bench) {
    int calls = bench.scale().countedCalls();
    try (PaddockLocker locker = new PaddockLocker(bench.server().uri());
        CommandCounter counter = CommandCounter.on(bench.server())) {
      // The server learns the scripts.
      locker.acquire("counted").release();
      counter.reset();
      for (int i = 0; i < calls; i++) {
        locker.acquire("counted").release();
      }
      return Bench.commands(counter) / (double) calls;
    }
  }

  private static List<Line> contended(Bench bench) throws IOException, InterruptedException {
    Scale scale = bench.scale();
    List<WorkerProcess> fleet = bench.fleet(scale.processes());
    for (int i = 0; i < 2; i++) {
      contend(fleet, Way.PADDOCK, AWAY_MICROS, scale.warmMillis());
      contend(fleet, Way.RECIPE, AWAY_MICROS, scale.warmMillis());
    }
    Slices away = new Slices();
    Slices atOnce = new Slices();
    for (int i = 0; i < scale.leasePairs(); i++) {
      away.add(fleet, AWAY_MICROS, scale.leaseMillis());
      atOnce.add(fleet, 0, scale.leaseMillis());
    }
    Pairs commands = new Pairs();
    try (CommandCounter counter = CommandCounter.on(bench.server())) {
      for (int i = 0; i < scale.countedHerds(); i++) {
        double ours = counted(bench, fleet, Way.PADDOCK, counter);
        commands.add(ours, counted(bench, fleet, Way.RECIPE, counter));
      }
    }
    String many = scale.processes() + " JVMs x " + THREADS;
    return List.of(
        Line.of(Figure.LEASE, many + ", holds", "/s", away.rate, Target.ratioAtLeast(1.5)),
        Line.of(
            Figure.LEASE, many + ", hand-over p50", "ms", away.handOver, Target.ratioAtMost(0.8)),
        Line.of(
            Figure.LEASE, many + ", longest wait", "ms", away.longest, Target.ratioAtMost(0.25)),
        Line.of(Figure.LEASE, many + ", commands a hold", "", commands, Target.atMost(6)),
        Line.of(Figure.LEASE, "never away, holds", "/s", atOnce.rate, null),
        Line.of(Figure.LEASE, "never away, longest wait", "ms", atOnce.longest, null));
  }

  /** What slices of both ways came to. */
  private static final class Slices {
    final Pairs rate = new Pairs();
    final Pairs handOver = new Pairs();
    final Pairs longest = new Pairs();

    void add(List<WorkerProcess> fleet, long awayMicros, long millis) throws InterruptedException {
      Slice ours = contend(fleet, Way.PADDOCK, awayMicros, millis);
      Slice recipe = contend(fleet, Way.RECIPE, awayMicros, millis);
      rate.add(ours.perSecond(), recipe.perSecond());
      handOver.add(
          ours.holds().handOverMicros(0.5) / 1e3, recipe.holds().handOverMicros(0.5) / 1e3);
      longest.add(ours.holds().longestWaitMicros() / 1e3, recipe.holds().longestWaitMicros() / 1e3);
    }
  }

  /**
   * Some time in which all want one lease.
   *
   * @param holds all holds, also those for which somebody was still waiting at the end
   * @param perSecond how many began in this time
   */
  private record Slice(Holds holds, double perSecond) {}

  private static Slice contend(List<WorkerProcess> fleet, Way way, long awayMicros, long millis)
      throws InterruptedException {
    long start = WallClock.micros() + GATHER_MICROS;
    for (WorkerProcess worker : fleet) {
      worker.send(
          new Order.Contend(way, "wanted", THREADS, start, millis, HOLD_MICROS, awayMicros));
    }
    List<Hold> all = new ArrayList<>();
    for (WorkerProcess worker : fleet) {
      all.addAll(worker.await(Report.Contended.class, Bench.LIMIT).holds());
    }
    Holds holds = new Holds(all);
    return new Slice(holds, holds.perSecond(start, start + TimeUnit.MILLISECONDS.toMicros(millis)));
  }

  private static List<Line> byMajority(Bench bench) throws IOException, InterruptedException {
    List<RedisServerProcess> servers = new ArrayList<>();
    try {
      for (int i = 0; i < SERVERS; i++) {
        servers.add(RedisServerProcess.start());
      }
      List<String> uris = servers.stream().map(RedisServerProcess::uri).toList();
      LettuceRedis.redlock(uris).bootstrap(RedlockBootstrap.NEW_SERVERS);
      try (WorkerProcess worker = bench.startWorker(servers)) {
        byMajority(worker, uris, false, WARM_MAJORITY);
        byMajority(worker, uris, true, WARM_MAJORITY);
        int count = bench.scale().majorityPairs();
        Report.Paired one = byMajority(worker, uris, false, count);
        Report.Paired two = byMajority(worker, uris, true, count);
        // ACQUIRE and RELEASE, and in the second case COMMIT; now and then a look at the server.
        if (one.scripts() > 2.5 || two.scripts() < 3) {
          throw new IllegalStateException(
              "not the rounds that were to be measured: "
                  + one.scripts()
                  + " and "
                  + two.scripts()
                  + " scripts a lease on each server");
        }
        return List.of(
            line("one round", one, one.boundNanos(), Target.ratioAtMost(1.6)),
            line("with COMMIT", two, two.boundNanos(), Target.ratioAtMost(2.6)),
            line("one round, by hand", one, one.handNanos(), null),
            line("with COMMIT, by hand", two, two.handNanos(), null));
      }
    } finally {
      servers.forEach(RedisServerProcess::close);
    }
  }

  private static Report.Paired byMajority(
      WorkerProcess worker, List<String> uris, boolean commit, int pairs)
      throws InterruptedException {
    worker.send(new Order.Majority(uris, commit, pairs));
    return worker.await(Report.Paired.class, Bench.LIMIT);
  }

  private static Line line(
      String what, Report.Paired report, List<Long> boundNanos, @Nullable Target target) {
    Pairs pairs = new Pairs();
    for (int i = 0; i < report.nanos().size(); i++) {
      pairs.add(report.nanos().get(i) / 1e3, boundNanos.get(i) / 1e3);
    }
    return Line.of(Figure.LEASE, "quorum, " + what, "us", pairs, target);
  }

  /** Runs beside MONITOR, which slows Redis down, so times are not looked at. */
  private static double counted(
      Bench bench, List<WorkerProcess> fleet, Way way, CommandCounter counter)
      throws InterruptedException {
    counter.reset();
    int holds = contend(fleet, way, AWAY_MICROS, bench.scale().leaseMillis()).holds().count();
    double commands = Bench.commandsAtRest(counter);
    bench.say("  " + way + ", " + holds + " holds: " + counter.counts());
    return commands / holds;
  }
}
