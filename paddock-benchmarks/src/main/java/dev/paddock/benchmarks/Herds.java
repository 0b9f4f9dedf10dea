/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import dev.paddock.testkit.CommandCounter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** Herds: callers in many processes that ask for one key at the same moment. */
final class Herds {
  private static final int YOUNG_PAIRS = 3;
  private static final int RECIPE_HERDS = 5;
  private static final int WARM_KEYS = 1500;
  private static final int WARM_THREADS = 8;
  private static final long WARM_LOAD_MILLIS = 5;
  private static final int MANY_CALLERS = 200;
  private static final int COMMANDS_PER_PROCESS = 6;

  /** From the order to the moment at which all ask: long enough for all threads to be there. */
  private static final long GATHER_MICROS = 60_000;

  private static final AtomicLong NUMBER = new AtomicLong();

  /**
   * One herd.
   *
   * @param loads how many
   * @param p50Millis from the end of the load to the answer, for half of the callers
   * @param p99Millis the same, for 99 of 100
   * @param jvmCpuMillis processor time of all JVMs
   * @param redisCpuMillis processor time of Redis
   */
  record Herd(
      int loads, double p50Millis, double p99Millis, double jvmCpuMillis, double redisCpuMillis) {}

  /**
   * A herd whose commands were counted.
   *
   * @param loads how many
   * @param commands how many
   */
  record Counted(int loads, double commands) {}

  private final List<Line> lines = new ArrayList<>();
  private final Pairs jvmCpu = new Pairs();
  private final Pairs redisCpu = new Pairs();

  private Herds() {}

  List<Line> lines() {
    return lines;
  }

  List<Line> cpuLines() {
    return List.of(
        Line.of(Figure.CPU, "all JVMs, one herd", "ms", jvmCpu, Target.ratioAtMost(1.5)),
        Line.of(Figure.CPU, "Redis, one herd", "ms", redisCpu, Target.ratioAtMost(1.5)));
  }

  static Herds measure(Bench bench) throws IOException, InterruptedException {
    Herds all = new Herds();
    Scale scale = bench.scale();
    List<WorkerProcess> fleet = bench.fleet(scale.processes());
    Pairs youngP50 = new Pairs();
    Pairs youngP99 = new Pairs();
    for (int i = 0; i < YOUNG_PAIRS; i++) {
      Herd ours = run(bench, fleet, Way.PADDOCK, scale.callers(), scale.loadMillis());
      Herd bare = run(bench, fleet, Way.BARE, scale.callers(), scale.loadMillis());
      youngP50.add(ours.p50Millis(), bare.p50Millis());
      youngP99.add(ours.p99Millis(), bare.p99Millis());
    }
    warm(bench, fleet);

    Pairs p50 = new Pairs();
    Pairs p99 = new Pairs();
    double mostLoads = 0;
    for (int i = 0; i < scale.herds(); i++) {
      Herd ours = run(bench, fleet, Way.PADDOCK, scale.callers(), scale.loadMillis());
      Herd bare = run(bench, fleet, Way.BARE, scale.callers(), scale.loadMillis());
      mostLoads = Math.max(mostLoads, ours.loads());
      p50.add(ours.p50Millis(), bare.p50Millis());
      p99.add(ours.p99Millis(), bare.p99Millis());
      all.jvmCpu.add(ours.jvmCpuMillis(), bare.jvmCpuMillis());
      all.redisCpu.add(ours.redisCpuMillis(), bare.redisCpuMillis());
    }
    double[] recipeP50 = new double[RECIPE_HERDS];
    for (int i = 0; i < RECIPE_HERDS; i++) {
      recipeP50[i] = run(bench, fleet, Way.RECIPE, scale.callers(), scale.loadMillis()).p50Millis();
    }

    Pairs commands = new Pairs();
    double[] recipeCommands = new double[scale.countedHerds()];
    try (CommandCounter counter = CommandCounter.on(bench.server())) {
      for (int i = 0; i < scale.countedHerds(); i++) {
        Counted ours = counted(bench, fleet, Way.PADDOCK, scale.callers(), counter);
        Counted bare = counted(bench, fleet, Way.BARE, scale.callers(), counter);
        mostLoads = Math.max(mostLoads, ours.loads());
        commands.add(ours.commands(), bare.commands());
        recipeCommands[i] = counted(bench, fleet, Way.RECIPE, scale.callers(), counter).commands();
      }
    }
    all.lines.add(
        Line.of(
            Figure.HERD, "most loads of a herd", "", new double[] {mostLoads}, Target.atMost(1)));
    all.lines.add(
        Line.of(
            Figure.HERD,
            "commands",
            "",
            commands,
            Target.atMost(COMMANDS_PER_PROCESS * scale.processes())));
    all.lines.add(Line.of(Figure.HERD, "load to answer, p50", "ms", p50, Target.ratioAtMost(1.3)));
    all.lines.add(Line.of(Figure.HERD, "load to answer, p99", "ms", p99, Target.ratioAtMost(1.5)));
    all.lines.add(Line.of(Figure.HERD, "young JVMs, p50", "ms", youngP50, null));
    all.lines.add(Line.of(Figure.HERD, "young JVMs, p99", "ms", youngP99, null));
    all.lines.add(Line.of(Figure.HERD, "the usual recipe, commands", "", recipeCommands, null));
    all.lines.add(Line.of(Figure.HERD, "the usual recipe, p50", "ms", recipeP50, null));
    return all;
  }

  static List<Line> scale(Bench bench) throws IOException, InterruptedException {
    Scale scale = bench.scale();
    int most = 2 * scale.processes();
    List<WorkerProcess> fleet = bench.fleet(most);
    // Subscriptions are opened, scripts are known.
    for (int i = 0; i < 2; i++) {
      run(bench, fleet, Way.PADDOCK, scale.callers(), WARM_LOAD_MILLIS);
      run(bench, fleet, Way.BARE, scale.callers(), WARM_LOAD_MILLIS);
    }
    List<Line> lines = new ArrayList<>();
    int mostLoads = 0;
    try (CommandCounter counter = CommandCounter.on(bench.server())) {
      for (Size size :
          List.of(
              new Size(scale.processes() / 2, scale.callers()),
              new Size(scale.processes(), scale.callers()),
              new Size(most, scale.callers()),
              new Size(scale.processes(), MANY_CALLERS))) {
        List<WorkerProcess> some = fleet.subList(0, size.processes());
        Pairs commands = new Pairs();
        for (int i = 0; i < scale.countedHerds(); i++) {
          Counted ours = counted(bench, some, Way.PADDOCK, size.callers(), counter);
          Counted bare = counted(bench, some, Way.BARE, size.callers(), counter);
          mostLoads = Math.max(mostLoads, ours.loads());
          commands.add(ours.commands(), bare.commands());
        }
        lines.add(
            Line.of(
                Figure.HERD_SCALE,
                "commands, " + size.processes() + " JVMs x " + size.callers() + " callers",
                "",
                commands,
                Target.atMost(COMMANDS_PER_PROCESS * size.processes())));
      }
    }
    lines.add(
        Line.of(
            Figure.HERD_SCALE,
            "most loads of a herd",
            "",
            new double[] {mostLoads},
            Target.atMost(1)));
    return lines;
  }

  /**
   * The size of a herd.
   *
   * @param processes how many
   * @param callers in each of them
   */
  private record Size(int processes, int callers) {}

  /** Lets the JVMs compile what a herd runs, both ways alike. */
  private static void warm(Bench bench, List<WorkerProcess> fleet) throws InterruptedException {
    for (int i = 0; i < 2; i++) {
      for (Way way : List.of(Way.PADDOCK, Way.BARE)) {
        for (WorkerProcess worker : fleet) {
          String prefix = "warm-" + NUMBER.incrementAndGet() + "-";
          worker.send(new Order.Fills(way, prefix, WARM_KEYS, WARM_THREADS, 0));
        }
        for (WorkerProcess worker : fleet) {
          worker.await(Report.Filled.class, Bench.LIMIT);
        }
      }
    }
    for (int i = 0; i < bench.scale().warmHerds(); i++) {
      run(bench, fleet, Way.PADDOCK, bench.scale().callers(), WARM_LOAD_MILLIS);
      run(bench, fleet, Way.BARE, bench.scale().callers(), WARM_LOAD_MILLIS);
    }
  }

  /** Runs a herd beside MONITOR, which slows Redis down, so its times are not looked at. */
  static Counted counted(
      Bench bench, List<WorkerProcess> fleet, Way way, int callers, CommandCounter counter)
      throws InterruptedException {
    counter.reset();
    Herd herd = run(bench, fleet, way, callers, bench.scale().loadMillis());
    // Callers are answered before the last command, an UNSUBSCRIBE, is sent.
    long count = Bench.commandsAtRest(counter);
    bench.say("  " + way + ", " + fleet.size() + " x " + callers + ": " + counter.counts());
    return new Counted(herd.loads(), count);
  }

  static Herd run(Bench bench, List<WorkerProcess> fleet, Way way, int callers, long loadMillis)
      throws InterruptedException {
    String key = "herd-" + NUMBER.incrementAndGet();
    double redisBefore = redisCpuMillis(bench);
    long start = WallClock.micros() + GATHER_MICROS;
    for (WorkerProcess worker : fleet) {
      worker.send(new Order.Herd(way, key, callers, start, loadMillis));
    }
    List<Report.Herded> reports = new ArrayList<>();
    for (WorkerProcess worker : fleet) {
      reports.add(worker.await(Report.Herded.class, Bench.LIMIT));
    }
    double redis = redisCpuMillis(bench) - redisBefore;
    List<Long> loadEnds = reports.stream().flatMap(each -> each.loadEndMicros().stream()).toList();
    if (loadEnds.isEmpty()) {
      throw new BenchmarkException("nobody has loaded", null);
    }
    long loaded = Collections.min(loadEnds);
    double[] waits =
        reports.stream()
            .flatMap(each -> each.answerMicros().stream())
            .mapToDouble(answer -> (answer - loaded) / 1e3)
            .toArray();
    return new Herd(
        loadEnds.size(),
        Pairs.quantile(0.5, waits),
        Pairs.quantile(0.99, waits),
        reports.stream().mapToDouble(each -> each.cpuNanos() / 1e6).sum(),
        redis);
  }

  private static double redisCpuMillis(Bench bench) {
    double seconds = 0;
    for (String line : bench.server().console().text("INFO", "cpu").lines().toList()) {
      if (line.startsWith("used_cpu_sys:") || line.startsWith("used_cpu_user:")) {
        seconds += Double.parseDouble(line.substring(line.indexOf(':') + 1).strip());
      }
    }
    return seconds * 1e3;
  }
}
