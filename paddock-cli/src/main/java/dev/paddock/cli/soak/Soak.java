/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.soak;

import dev.paddock.testkit.RedisServerProcess;
import dev.paddock.testkit.ServerClocks;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Runs topologies, one after another, and cleans up whatever happens. */
final class Soak implements AutoCloseable {
  /** Ctrl-C reaches all processes at once: what they said shortly before may be its doing. */
  private static final long INTERRUPT_MARGIN_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private static final int WORKERS = 3;
  private static final long WATCH_MILLIS = 150;
  private static final long DONE_SECONDS = 30;

  /** A lease of a holder that is gone, a few that are held for too long, and attempts. */
  private static final long RECOVERY_SECONDS = 10;

  /** A new primary is seen only after the old one was silent for a while. */
  private static final long BEFORE_CHANGE_NANOS = TimeUnit.SECONDS.toNanos(8);

  private static final long AFTERMATH_NANOS = TimeUnit.SECONDS.toNanos(4);

  private final Settings settings;
  private final PrintStream progress;
  private final Path folder;
  private final @Nullable ServerClocks clocks;
  private final String whyNoClocks;
  private final @Nullable Database database;
  private volatile @Nullable History current;
  private volatile @Nullable Crew crew;
  private volatile boolean interrupted;

  /**
   * What to do.
   *
   * @param minutes for all topologies together
   * @param seed decides what is random
   * @param topologies which servers
   * @param stampede whether caches are read
   * @param register whether registers are raised
   * @param faults the only faults, by their options; empty for all
   */
  record Settings(
      double minutes,
      long seed,
      List<Topology> topologies,
      boolean stampede,
      boolean register,
      List<String> faults) {

    /** Returns the command that does the same again. */
    String command() {
      StringBuilder command = new StringBuilder("./paddock soak --minutes ");
      // 3 and not 3.0, as people write it.
      command.append(
          new BigDecimal(minutes)
              .round(MathContext.DECIMAL32)
              .stripTrailingZeros()
              .toPlainString());
      command.append(" --seed ").append(seed);
      if (topologies.size() == 1) {
        command.append(" --topology ").append(topologies.get(0).option());
      }
      if (!stampede || !register) {
        command.append(" --workload ").append(stampede ? "stampede" : "register");
      }
      if (!faults.isEmpty()) {
        command.append(" --faults ").append(String.join(",", faults));
      }
      return command.toString();
    }
  }

  Soak(Settings settings, PrintStream progress) throws IOException, InterruptedException {
    this.settings = settings;
    this.progress = progress;
    this.folder = Files.createTempDirectory("paddock-soak-");
    Connections.beQuiet();
    ServerClocks found = null;
    String why = "";
    try {
      found = ServerClocks.in(Files.createDirectory(folder.resolve("clocks")));
      checkClocks(found);
    } catch (IllegalStateException e) {
      found = null;
      why = String.valueOf(e.getMessage());
    }
    clocks = found;
    whyNoClocks = why;
    if (settings.register()) {
      // Another user's program needs to pass through.
      Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx--x--x"));
      progress.println("Starting a database.");
      database = Database.start(folder, progress);
    } else {
      database = null;
    }
  }

  private static void checkClocks(ServerClocks clocks) {
    try (RedisServerProcess server =
        RedisServerProcess.start(clocks.program(RedisServerProcess.installed()))) {
      clocks.set(server.port(), Duration.ofDays(1));
      List<?> time = (List<?>) Console.command(server, "TIME");
      long seconds =
          time == null
              ? 0
              : Long.parseLong(
                  new String(
                      (byte[]) Objects.requireNonNull(time.get(0)), StandardCharsets.US_ASCII));
      if (seconds < System.currentTimeMillis() / 1000 + 3600) {
        throw new IllegalStateException("the installed redis-server does not take to it");
      }
    }
  }

  /** Ends it soon; what is said from now on does not count. */
  void interrupt() {
    interrupted = true;
    History history = current;
    if (history != null) {
      history.endAt(System.nanoTime() - INTERRUPT_MARGIN_NANOS);
    }
  }

  /** Ends the workers without delay. */
  void destroyWorkers() {
    Crew running = crew;
    if (running != null) {
      running.destroy();
    }
  }

  Report run() throws IOException, SQLException {
    List<Report.Part> parts = new ArrayList<>();
    for (Topology topology : settings.topologies()) {
      boolean stampede = settings.stampede() && topology.caches();
      if (!interrupted && (stampede || settings.register())) {
        parts.add(run(topology, stampede));
      }
    }
    List<String> workloads = new ArrayList<>();
    if (settings.stampede()) {
      workloads.add("stampede");
    }
    if (settings.register()) {
      workloads.add("register");
    }
    long violations =
        parts.stream().mapToLong(part -> part.counts().getOrDefault("violations", 0L)).sum();
    boolean bites =
        settings.register()
            && parts.stream().allMatch(part -> part.counts().getOrDefault("unfenced.lost", 0L) > 0);
    boolean passed = violations == 0 && !parts.isEmpty() && (bites || !settings.register());
    return new Report(
        settings.seed(),
        settings.command(),
        workloads,
        parts,
        violations,
        bites,
        interrupted,
        passed);
  }

  private Report.Part run(Topology topology, boolean stampede) throws IOException, SQLException {
    long nanos =
        (long) (settings.minutes() * TimeUnit.MINUTES.toNanos(1) / settings.topologies().size());
    SplittableRandom seeds = new SplittableRandom(settings.seed() + topology.option().hashCode());
    progress.println("Starting " + topology.description() + ".");
    History history = new History();
    current = history;
    Path source = folder.resolve("source-" + topology.option());
    long startNanos = System.nanoTime();
    long sourceLoads = 0;
    Nemesis nemesis = null;
    try (Field field = Field.start(topology, clocks)) {
      Truth truth = stampede ? Truth.open(source) : null;
      if (database != null) {
        try (Connection connection = database.connect()) {
          Registers.reset(connection);
        }
      }
      try (Crew workers =
          new Crew(
              history,
              progress,
              seeds.split(),
              new Told.Hello(
                  0,
                  topology,
                  field.uris(),
                  Map.of(),
                  stampede ? source.toString() : null,
                  database == null ? null : database.url(),
                  List.of()),
              () -> pids(field))) {
        crew = workers;
        progress.println("Starting " + WORKERS + " workers.");
        Thread watch = new Thread(() -> watch(field, history), "paddock-soak-watch");
        watch.setDaemon(true);
        try {
          workers.start(WORKERS, field);
          startNanos = System.nanoTime();
          nemesis =
              new Nemesis(
                  seeds.nextLong(), field, workers, history, clocks, leftOut(field), progress);
          watch.start();
          nemesis.run(startNanos + nanos);
          recover(history, workers, stampede);
          workers.stopCalls(DONE_SECONDS);
        } catch (InterruptedException e) {
          interrupt();
        } catch (RuntimeException e) {
          giveUp(history, e);
        } finally {
          watch.interrupt();
        }
        if (truth != null) {
          sourceLoads = truth.loads();
        }
      } finally {
        crew = null;
      }
    }
    return part(topology, stampede, history, nemesis, startNanos, sourceLoads);
  }

  /** Whoever waits gets through, once nothing is harmed any more. */
  private void recover(History history, Crew workers, boolean stampede)
      throws InterruptedException {
    long healthyNanos = System.nanoTime();
    TimeUnit.SECONDS.sleep(RECOVERY_SECONDS);
    Set<String> expected = new HashSet<>();
    if (stampede) {
      for (int slot = 0; slot < workers.size(); slot++) {
        expected.add(History.storedValue(slot));
      }
    }
    if (database != null) {
      for (int register = 0; register < Terms.REGISTERS; register++) {
        expected.add(History.update(true, register));
        expected.add(History.update(false, register));
      }
    }
    history.recovering(new Span(healthyNanos, System.nanoTime()), expected);
  }

  private void giveUp(History history, RuntimeException e) {
    if (interrupted) {
      return;
    }
    history.violation(
        new Violation(
            "soak",
            "the soak could not go on",
            System.nanoTime(),
            "servers and workers that do as they are told",
            e.toString() + (e.getCause() == null ? "" : ": " + e.getCause())));
  }

  private List<Long> pids(Field field) {
    List<Long> all = new ArrayList<>(field.pids());
    if (database != null) {
      all.addAll(database.pids());
    }
    return all;
  }

  private Map<Fault, String> leftOut(Field field) {
    Map<Fault, String> all = new EnumMap<>(Fault.class);
    all.putAll(field.leftOut());
    if (clocks == null) {
      all.put(Fault.CLOCK_JUMP, whyNoClocks);
    }
    for (Fault fault : Fault.values()) {
      if (!settings.faults().isEmpty() && !settings.faults().contains(fault.option())) {
        all.put(fault, "not chosen");
      }
    }
    return all;
  }

  /** Notices when somebody else takes over, also where the nemesis meant no such thing. */
  private void watch(Field field, History history) {
    String before = null;
    long judged = System.nanoTime();
    try {
      while (true) {
        TimeUnit.MILLISECONDS.sleep(WATCH_MILLIS);
        String now = before;
        try {
          now = field.whoRules();
        } catch (RuntimeException e) {
          if (Thread.currentThread().isInterrupted()) {
            return;
          }
        }
        if (before != null && !before.equals(now)) {
          history.count("takeovers", 1);
          long nanos = System.nanoTime();
          // Meant by the nemesis, which has said so, or a surprise.
          History.Time time =
              history.forgetful(history.isForgetful(nanos) ? nanos : nanos - BEFORE_CHANGE_NANOS);
          try {
            field.awaitSettled();
          } catch (RuntimeException e) {
            if (Thread.currentThread().isInterrupted()) {
              return;
            }
          }
          time.end(System.nanoTime() + AFTERMATH_NANOS);
        }
        before = now;
        if (System.nanoTime() - judged > TimeUnit.SECONDS.toNanos(5)) {
          history.judgeReads();
          judged = System.nanoTime();
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private Report.Part part(
      Topology topology,
      boolean stampede,
      History history,
      @Nullable Nemesis nemesis,
      long startNanos,
      long sourceLoads)
      throws SQLException {
    double seconds = Terms.seconds(System.nanoTime() - startNanos);
    History.Findings findings = history.judge(lastValues());
    Map<String, Long> counts = new TreeMap<>(findings.counts());
    if (stampede) {
      counts.put("loadsOfSource", sourceLoads);
    }
    Map<String, Report.Twin> twins = new LinkedHashMap<>();
    List<String> remarks = new ArrayList<>();
    if (database != null) {
      twins.put("unfenced", twin(counts, "unfenced"));
      twins.put("fenced", twin(counts, "fenced"));
      if (counts.getOrDefault("fenced.REJECTED", 0L) == 0) {
        remarks.add("the fence rejected nothing: it did not bite");
      }
      if (counts.getOrDefault("unfenced.lost", 0L) == 0) {
        remarks.add("the unfenced register lost nothing: the faults did not bite");
      }
    }
    if (stampede) {
      remarks.add(
          "freshness is judged between failovers and of values that the store has kept; loads are"
              + " judged between failovers and jumps of clocks");
    }
    Map<String, String> leftOut = new TreeMap<>();
    if (!settings.faults().isEmpty()) {
      remarks.add("of the faults only " + String.join(", ", settings.faults()));
    } else if (clocks == null) {
      leftOut.put(Fault.CLOCK_JUMP.description(), whyNoClocks);
    }
    return new Report.Part(
        topology.option(),
        topology.description(),
        seconds,
        WORKERS,
        operations(counts),
        nemesis == null ? Map.of() : nemesis.injected(),
        leftOut,
        stampede ? shown(counts) : Map.of(),
        twins,
        database == null ? "" : database.name(),
        counts,
        findings.violations().stream()
            .map(
                each ->
                    new Report.Found(
                        each.check(),
                        each.what(),
                        Terms.seconds(each.at() - startNanos),
                        each.expected(),
                        each.actual(),
                        each.recent()))
            .toList(),
        remarks);
  }

  private static long operations(Map<String, Long> counts) {
    return Stream.of(
            "calls",
            "lookups",
            "invalidations",
            "unfenced.ACKNOWLEDGED",
            "fenced.ACKNOWLEDGED",
            "fenced.REJECTED")
        .mapToLong(what -> counts.getOrDefault(what, 0L))
        .sum();
  }

  private static Map<String, Long> shown(Map<String, Long> counts) {
    Map<String, Long> shown = new LinkedHashMap<>();
    for (String what :
        List.of(
            "calls",
            "callsNotJudged",
            "loads",
            "loadsJudged",
            "loadsPassedOver",
            "loadsUnleased",
            "loadsOfSource",
            "invalidations",
            "invalidationsUnacknowledged",
            "leasesLost",
            "lookups",
            "takeovers")) {
      shown.put(what, counts.getOrDefault(what, 0L));
    }
    return shown;
  }

  private static Report.Twin twin(Map<String, Long> counts, String name) {
    return new Report.Twin(
        counts.getOrDefault(name + ".ACKNOWLEDGED", 0L),
        counts.getOrDefault(name + ".REJECTED", 0L),
        counts.getOrDefault(name + ".UNKNOWN", 0L),
        counts.getOrDefault(name + ".lost", 0L));
  }

  private History.LastValues lastValues() {
    long[][] values = new long[2][Terms.REGISTERS];
    for (boolean fenced : new boolean[] {true, false}) {
      for (int register = 0; register < Terms.REGISTERS; register++) {
        values[fenced ? 1 : 0][register] = last(fenced, register);
      }
    }
    return new History.LastValues() {
      @Override
      public long fenced(int register) {
        return values[1][register];
      }

      @Override
      public long unfenced(int register) {
        return values[0][register];
      }
    };
  }

  private long last(boolean fenced, int register) {
    if (database == null) {
      return RegisterCheck.UNKNOWN;
    }
    try (Connection connection = database.connect()) {
      return Registers.read(connection, fenced, register);
    } catch (SQLException e) {
      // Ctrl-C ends the database as well; the history alone decides then.
      progress.println("A register can't be read any more: " + e.getMessage());
      return RegisterCheck.UNKNOWN;
    }
  }

  @Override
  public void close() {
    if (database != null) {
      database.close();
    }
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    } catch (IOException | UncheckedIOException e) {
      // A few bytes in the temporary folder are no reason to fail.
      return;
    }
  }
}
