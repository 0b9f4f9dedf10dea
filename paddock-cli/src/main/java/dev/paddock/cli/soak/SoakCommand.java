/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.soak;

import dev.paddock.cli.ProgramVersion;
import dev.paddock.cli.process.Json;
import java.io.IOException;
import java.io.PrintStream;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code paddock soak}. */
@Command(
    name = "soak",
    description = {
      "Runs a fleet of processes on real servers, does harm to both at random, and checks all the"
          + " while that Paddock keeps its promises. docs/soak.md says how to read the report.",
      ""
    },
    footer = {
      "",
      "./paddock soak --quorum runs 10,000 leases by quorum and 2,000 simulated worlds instead,",
      "through Maven.",
      "",
      "Exit code: 0 if nothing is wrong and the unfenced registers lost updates, 1 if not, 2 if an",
      "option is wrong, 130 after Ctrl-C, which prints the report of what was done by then."
    },
    mixinStandardHelpOptions = true,
    versionProvider = ProgramVersion.class,
    sortOptions = false)
public final class SoakCommand implements Callable<Integer> {
  private static final double MINUTES_MIN = 0.1;
  private static final double MINUTES_MAX = 24 * 60;
  private static final long FAREWELL_SECONDS = 30;

  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--minutes",
      paramLabel = "M",
      defaultValue = "10",
      description =
          "for how long, 0.1 to 1440, shared by the topologies (default: ${DEFAULT-VALUE})")
  private String minutes = "";

  @Option(
      names = "--seed",
      paramLabel = "S",
      description = "decides which faults come, and what workers do (default: at random)")
  private @Nullable String seed;

  @Option(
      names = "--workload",
      paramLabel = "NAME",
      description =
          "stampede (callers of caches) or register (counters in a database that leases guard)"
              + " (default: both)")
  private @Nullable String workload;

  @Option(
      names = "--topology",
      paramLabel = "NAME",
      defaultValue = "all",
      description =
          "single (a primary, replicas, Sentinels), redlock (five masters, for register only),"
              + " cluster, or all, one after another (default: ${DEFAULT-VALUE})")
  private String topology = "";

  @Option(
      names = "--faults",
      paramLabel = "NAME",
      split = ",",
      description =
          "only these faults, of: worker-stop, worker-kill, server-stop, server-kill, link-cut,"
              + " link-slow, link-one-way, client-pause, client-kill, script-flush, out-of-memory,"
              + " failover, slot-move, clock-jump (default: all)")
  private List<String> faults = new ArrayList<>();

  @Option(names = "--json", description = "print one JSON object in place of the table")
  private boolean json;

  /** Makes the command. */
  public SoakCommand() {}

  @Override
  public Integer call() {
    PrintStream progress = System.err;
    Soak.Settings settings = settings();
    progress.println("Seed " + settings.seed() + ".");
    CountDownLatch ended = new CountDownLatch(1);
    try {
      return run(settings, ended, System.out, progress);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return 1;
    } catch (SoakException | IllegalStateException | IOException | SQLException e) {
      progress.println("The soak can't run: " + e.getMessage());
      return 1;
    } finally {
      ended.countDown();
    }
  }

  private int run(
      Soak.Settings settings, CountDownLatch ended, PrintStream out, PrintStream progress)
      throws IOException, SQLException, InterruptedException {
    Thread main = Thread.currentThread();
    try (Soak soak = new Soak(settings, progress)) {
      Thread atExit = new Thread(() -> endEarly(soak, main, ended), "paddock-soak-exit");
      Runtime.getRuntime().addShutdownHook(atExit);
      Report report = soak.run();
      out.print(json ? Json.write(report) + "\n" : report.table());
      out.flush();
      unhook(atExit);
      return report.exitCode();
    }
  }

  /** Ctrl-C: the main thread ends the processes and prints what it has. */
  private static void endEarly(Soak soak, Thread main, CountDownLatch ended) {
    soak.interrupt();
    main.interrupt();
    boolean inTime = false;
    try {
      inTime = ended.await(FAREWELL_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (!inTime) {
      soak.destroyWorkers();
    }
  }

  private static void unhook(Thread atExit) {
    try {
      Runtime.getRuntime().removeShutdownHook(atExit);
    } catch (IllegalStateException e) {
      // It is running, and waits for this thread.
      return;
    }
  }

  /**
   * Checks the options.
   *
   * @return what to do
   * @throws ParameterException if one is wrong
   */
  Soak.Settings settings() {
    List<Topology> topologies = Topology.of(topology);
    if (topologies == null) {
      throw refused(
          "--topology: must be one of single, redlock, cluster, all, is \"" + topology + "\"");
    }
    boolean stampede = workload == null || workload.equals("stampede");
    boolean register = workload == null || workload.equals("register");
    if (!stampede && !register) {
      throw refused("--workload: must be stampede or register, is \"" + workload + "\"");
    }
    if (!register && topologies.equals(List.of(Topology.REDLOCK))) {
      throw refused(
          "--topology redlock keeps leases and no values: use --workload register, or none");
    }
    if (!register) {
      topologies = topologies.stream().filter(Topology::caches).toList();
    }
    for (String fault : faults) {
      if (!Fault.options().contains(fault)) {
        throw refused(
            "--faults: there is no fault \""
                + fault
                + "\"; there are "
                + String.join(", ", Fault.options()));
      }
    }
    return new Soak.Settings(
        minutes(), seed(), topologies, stampede, register, List.copyOf(faults));
  }

  private double minutes() {
    try {
      double value = Double.parseDouble(minutes);
      if (value >= MINUTES_MIN && value <= MINUTES_MAX) {
        return value;
      }
    } catch (NumberFormatException e) {
      // Said below, as for a number out of range.
    }
    throw refused("--minutes: must be a number from 0.1 to 1440, is \"" + minutes + "\"");
  }

  private long seed() {
    if (seed == null) {
      return new SplittableRandom().nextLong(1_000_000_000);
    }
    try {
      return Long.parseLong(seed);
    } catch (NumberFormatException e) {
      throw refused("--seed: must be a whole number, is \"" + seed + "\"");
    }
  }

  private ParameterException refused(String message) {
    if (spec == null) {
      throw new IllegalStateException(message);
    }
    return new ParameterException(spec.commandLine(), message);
  }
}
