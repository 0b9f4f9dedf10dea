/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import dev.paddock.StoreException;
import dev.paddock.cli.ProgramVersion;
import dev.paddock.cli.process.Json;
import dev.paddock.cli.process.Shutdown;
import io.lettuce.core.RedisException;
import java.io.IOException;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code paddock demo}. */
@Command(
    name = "demo",
    description = {
      "Shows what happens when all callers of a fleet of processes read one key at the moment after"
          + " it has expired: with the usual recipes and with Paddock.",
      ""
    },
    footer = {
      "",
      "What the columns of the table, and the properties of the JSON, mean:",
      "  loads           how often the aggregation began",
      "  mostLoadsAtOnce how many loads ran at the same time at most",
      "  staleAnswers    answers whose value was loaded before the key expired, or before the last",
      "                  invalidation that had returned when the caller asked",
      "  waitMillis      how long callers waited beyond the load: the time from question to answer,",
      "                  less the part of it in which the load ran that made the answer's value. A",
      "                  caller that waited for just that load waited 0 ms, and so did one whose value",
      "                  was there. Callers that got none count from question to giving up. Nearest",
      "                  rank.",
      "  redisCommands   commands from the processes that name one of the experiment's keys, without",
      "                  those inside scripts, as MONITOR shows them on each server that takes",
      "                  commands; of a server that is killed up to its end. null if one refuses",
      "                  MONITOR or closes its connection, as one does that Sentinels make the",
      "                  primary",
      "",
      "Examples:",
      "  ./paddock demo --topology sentinel",
      "  ./paddock demo --topology cluster --only paddock-migrated,paddock-failover --repeat 5",
      "  ./paddock demo --redis rediss://user:password@redis.example.org:6380",
      "  ./paddock demo --redis redis-sentinel://sentinel1:26379,sentinel2:26379#mymaster",
      "  ./paddock demo --redis redis://node1:6379,node2:6379,node3:6379",
      "",
      "Exit code: 0 if all is as expected, 1 if not, 2 if an option is wrong."
    },
    mixinStandardHelpOptions = true,
    versionProvider = ProgramVersion.class,
    sortOptions = false)
public final class DemoCommand implements Callable<Integer> {
  private static final int MIN_CALLERS = 5;

  /** What an experiment takes besides loads, on a machine that is very busy. */
  private static final Duration BESIDES_LOADS = Duration.ofSeconds(60);

  /** More than the time of any experiment, in loads one after another. */
  private static final int LOADS_LONG = 30;

  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--processes",
      paramLabel = "N",
      defaultValue = "4",
      description = "JVM processes, 2 to 8 (default: ${DEFAULT-VALUE})")
  private String processes = "";

  @Option(
      names = "--callers",
      paramLabel = "N",
      defaultValue = "50",
      description = "callers in each process, 5 to 200 (default: ${DEFAULT-VALUE})")
  private String callers = "";

  @Option(
      names = "--load-time",
      paramLabel = "DURATION",
      defaultValue = "200ms",
      description = "how long the aggregation takes, 100ms to 5s (default: ${DEFAULT-VALUE})")
  private String loadTime = "";

  @Option(
      names = "--lease",
      paramLabel = "DURATION",
      description =
          "length of locks and leases, a quarter to three quarters of the load time (default: three"
              + " quarters)")
  private @Nullable String lease;

  @Option(
      names = "--only",
      paramLabel = "NAME",
      split = ",",
      description = "run only these experiments, of: ${COMPLETION-CANDIDATES}",
      completionCandidates = ExperimentNames.class)
  private List<String> only = new ArrayList<>();

  @Option(
      names = "--repeat",
      paramLabel = "N",
      defaultValue = "1",
      description =
          "run each experiment so often, 1 to 100; it must come out as expected each time"
              + " (default: ${DEFAULT-VALUE})")
  private String repeat = "";

  @Option(
      names = "--topology",
      paramLabel = "NAME",
      description =
          "which Redis to start, of: standalone, replicas (a primary and two replicas), sentinel"
              + " (those and three Sentinels: also kills the primary in mid-load), cluster (six"
              + " nodes: also moves a slot and kills a master in mid-load) (default: standalone)")
  private @Nullable String topology;

  @Option(
      names = "--redis",
      paramLabel = "URI",
      description =
          "use this Redis, under keys that begin with paddock-demo: and are removed in the end"
              + " (default: start one). For example redis://user:password@localhost:6379/0,"
              + " rediss:// for TLS, redis://host:6379,host:6379 for nodes of a cluster,"
              + " redis-sentinel://host:26379,host:26379#mymaster")
  private @Nullable String redis;

  @Option(names = "--json", description = "print one JSON object in place of the table")
  private boolean json;

  /** Makes the command. */
  public DemoCommand() {}

  @Override
  public Integer call() {
    Settings settings = settings();
    List<Experiment> experiments = experiments();
    tellWhatIsLeftOut();
    return run(settings, experiments, limit(settings), json, System.out, System.err);
  }

  /** Who names Sentinels or a cluster may look for the experiments that are about them. */
  private void tellWhatIsLeftOut() {
    if (redis == null || !only.isEmpty() || !RedisAddress.isOfSeveral(redis)) {
      return;
    }
    List<Experiment> possible = Catalogue.on(null);
    for (Experiment each : Catalogue.all()) {
      if (!possible.contains(each)) {
        System.err.println("Left out: " + each.name() + " " + needs(each) + ".");
      }
    }
  }

  /**
   * Returns after which time an experiment is given up.
   *
   * @param settings the sizes
   * @return longer than any experiment should take
   */
  static Duration limit(Settings settings) {
    return BESIDES_LOADS.plusMillis(LOADS_LONG * settings.loadMillis());
  }

  /**
   * Runs experiments and prints what came of them.
   *
   * @param settings the sizes
   * @param experiments which ones
   * @param limit an experiment that takes longer is given up
   * @param json whether to print JSON
   * @param out takes the table or the JSON
   * @param progress takes everything else
   * @return the exit code
   */
  static int run(
      Settings settings,
      List<Experiment> experiments,
      Duration limit,
      boolean json,
      PrintStream out,
      PrintStream progress) {
    JsonReport report;
    try (Demo demo = new Demo(settings, limit, progress)) {
      String version = demo.redisVersion();
      report = JsonReport.of(demo.run(experiments));
      out.print(
          json
              ? Json.write(report) + "\n"
              : Table.draw(settings, version, experiments, report.experiments()));
      out.flush();
    } catch (StoreException | RedisException e) {
      return giveUp(progress, "Redis can't be used: " + e.getMessage());
    } catch (InterruptedException e) {
      // Ctrl-C: the cleaning up goes on elsewhere.
      Thread.currentThread().interrupt();
      return 1;
    } catch (DemoException | IOException e) {
      return giveUp(progress, "The demo can't run: " + e.getMessage());
    }
    return report.met() ? 0 : 1;
  }

  private static int giveUp(PrintStream progress, String why) {
    if (!Shutdown.comesSoon()) {
      progress.println(why);
    }
    return 1;
  }

  /**
   * Checks the options.
   *
   * @return the sizes
   * @throws ParameterException if one is wrong
   */
  Settings settings() {
    int processCount = number("--processes", processes, 2, 8);
    int callerCount = number("--callers", callers, MIN_CALLERS, 200);
    long loadMillis = millis("--load-time", loadTime, 100, 5000, "");
    long leaseMillis =
        lease == null
            ? loadMillis * 3 / 4
            : millis(
                "--lease",
                lease,
                (loadMillis + 3) / 4,
                loadMillis * 3 / 4,
                " (a quarter to three quarters of the load time)");
    int repeatCount = number("--repeat", repeat, 1, 100);
    if (redis != null && topology != null) {
      throw refused(
          "--topology says which servers to start, and --redis which to use instead: leave one of"
              + " them out");
    }
    return new Settings(
        processCount,
        callerCount,
        loadMillis,
        leaseMillis,
        repeatCount,
        checkedUri(redis),
        checkedTopology());
  }

  private Topology checkedTopology() {
    Topology found = topology == null ? Topology.STANDALONE : Topology.of(topology);
    if (found == null) {
      throw refused(
          "--topology: must be one of "
              + String.join(", ", Topology.options())
              + ", is \""
              + topology
              + "\"");
    }
    return found;
  }

  /**
   * Checks which experiments were chosen.
   *
   * @return the experiments, in the order of the catalogue
   * @throws ParameterException if there is none of that name
   */
  List<Experiment> experiments() {
    List<String> names = only.stream().map(String::strip).toList();
    for (String name : names) {
      if (!Catalogue.names().contains(name)) {
        throw refused(
            "--only: there is no experiment \""
                + name
                + "\"; there are "
                + String.join(", ", Catalogue.names()));
      }
    }
    List<Experiment> possible = Catalogue.on(redis == null ? checkedTopology() : null);
    for (Experiment each : Catalogue.all()) {
      if (names.contains(each.name()) && !possible.contains(each)) {
        throw refused("--only: " + each.name() + " " + needs(each));
      }
    }
    return possible.stream()
        .filter(experiment -> names.isEmpty() || names.contains(experiment.name()))
        .toList();
  }

  private static String needs(Experiment experiment) {
    return "does harm to servers, so it runs on those that the demo starts: use "
        + experiment.topologies().stream()
            .sorted()
            .map(each -> "--topology " + each.option())
            .collect(Collectors.joining(" or "));
  }

  private int number(String option, String text, int min, int max) {
    try {
      int value = Integer.parseInt(text);
      if (value >= min && value <= max) {
        return value;
      }
    } catch (NumberFormatException e) {
      // Said below, as for a number out of range.
    }
    throw refused(
        option + ": must be a whole number from " + min + " to " + max + ", is \"" + text + "\"");
  }

  private long millis(String option, String text, long min, long max, String why) {
    long value = DurationText.parseMillis(text);
    if (value >= min && value <= max) {
      return value;
    }
    throw refused(
        option
            + ": must be a duration from "
            + min
            + "ms to "
            + max
            + "ms"
            + why
            + ", such as "
            + max
            + "ms or "
            + BigDecimal.valueOf(max, 3).stripTrailingZeros().toPlainString()
            + "s, is \""
            + text
            + "\"");
  }

  private @Nullable String checkedUri(@Nullable String uri) {
    try {
      if (uri != null) {
        RedisAddress.parse(uri);
      }
      return uri;
    } catch (IllegalArgumentException e) {
      throw refused("--redis: " + e.getMessage());
    }
  }

  private ParameterException refused(String message) {
    if (spec == null) {
      throw new IllegalStateException(message);
    }
    return new ParameterException(spec.commandLine(), message);
  }

  /** The names, for the help. */
  static final class ExperimentNames extends ArrayList<String> {
    private static final long serialVersionUID = 1;

    /** Makes the list. */
    ExperimentNames() {
      super(Catalogue.names());
    }
  }
}
