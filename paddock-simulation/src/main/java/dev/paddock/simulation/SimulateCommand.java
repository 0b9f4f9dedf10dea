/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.simulation;

import static java.util.Objects.requireNonNull;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code ./paddock simulate}. */
@Command(
    name = "./paddock simulate",
    mixinStandardHelpOptions = true,
    usageHelpWidth = 100,
    description =
        "Runs the protocol in small worlds, in virtual time, under faults that are drawn from a seed,"
            + " and checks its invariants. Says on standard error how far it is; Ctrl-C ends it with"
            + " the report of what was done by then. Exit code 0: none fell; 1: one fell; 2: wrong"
            + " usage; 130: ended by Ctrl-C.")
public final class SimulateCommand implements Callable<Integer> {
  private static final int SHRINK_TRIES = 2_000;
  private static final int DEFAULT_MINUTES = 1;
  private static final int MINUTES_MAX = 100_000;

  /** As shells have it: 128 and the number of SIGINT. */
  private static final int INTERRUPTED = 130;

  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--seeds",
      paramLabel = "N",
      description = "Run so many worlds. Default: as many as a minute takes.")
  private @Nullable Long seeds;

  @Option(
      names = "--minutes",
      paramLabel = "M",
      description = "Run worlds for so long; 0.5 is half a minute.")
  private @Nullable Double minutes;

  @Option(
      names = "--first",
      paramLabel = "S",
      description = "The seed of the first world. Default: a random one, which is printed.")
  private @Nullable Long first;

  @Option(
      names = "--seed",
      paramLabel = "S",
      description = "Run this world alone and print what happens in it.")
  private @Nullable Long seed;

  @Option(
      names = "--keep",
      paramLabel = "N,N,...",
      split = ",",
      hideParamSyntax = true,
      description = "With --seed: only these steps of its plan.")
  private @Nullable Set<Integer> keep;

  @Option(
      names = "--world",
      paramLabel = "NAME",
      description = "Only worlds of this kind: cache, lease, redlock, bulk or options.")
  private @Nullable String world;

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "How many worlds at once. Default: one for each processor.")
  private int threads = Runtime.getRuntime().availableProcessors();

  @Option(
      names = "--mutations",
      description =
          "Break the protocol on purpose, in one place after the other, and tell which invariant"
              + " falls after how many worlds. Exit code 1 if one of them is not caught.")
  private boolean mutations;

  @Option(
      names = "--mutation",
      paramLabel = "NAME",
      description = "With --mutations: only this one; the table has their names.")
  private @Nullable String mutation;

  @Option(
      names = "--home",
      paramLabel = "DIR",
      description = "The repository, whose sources --mutations changes copies of. Default: here.")
  private Path home = Path.of("");

  @Option(names = "--json", description = "Print one JSON object instead of text.")
  private boolean json;

  /** The entry point. */
  public static void main(String[] args) {
    System.exit(commandLine().execute(args));
  }

  static CommandLine commandLine() {
    return new CommandLine(new SimulateCommand())
        // The script names the repository; whoever says it again means theirs.
        .setOverwrittenOptionsAllowed(true)
        .setParameterExceptionHandler(
            (error, args) -> {
              CommandLine command = error.getCommandLine();
              command.getErr().println("paddock: " + error.getMessage());
              command.getErr().println("See ./paddock simulate --help");
              command.getErr().flush();
              return 2;
            });
  }

  private ParameterException wrong(String message) {
    return new ParameterException(requireNonNull(spec).commandLine(), message);
  }

  private PrintWriter out() {
    return requireNonNull(spec).commandLine().getOut();
  }

  private PrintWriter err() {
    return requireNonNull(spec).commandLine().getErr();
  }

  @Override
  public Integer call() throws Exception {
    List<Worlds> kinds = kinds();
    if (threads < 1) {
      throw wrong("--threads must be at least 1, is " + threads);
    }
    if (seed != null && (seeds != null || minutes != null || first != null || mutations)) {
      throw wrong("--seed runs one world alone: without --seeds, --minutes, --first, --mutations");
    }
    if (mutations) {
      if (seeds != null || minutes != null || first != null || world != null) {
        throw wrong("--mutations has seeds and worlds of its own: without other options of them");
      }
      if (mutation != null && Mutation.all().stream().noneMatch(m -> m.name().equals(mutation))) {
        throw wrong(
            "there is no mutation \""
                + mutation
                + "\": there are "
                + Mutation.all().stream().map(Mutation::name).collect(Collectors.joining(", ")));
      }
      return new MutationTable(home, out(), json).run(mutation, threads);
    }
    if (mutation != null) {
      throw wrong("--mutation goes with --mutations");
    }
    if (seed != null) {
      return replay(kinds, seed);
    }
    if (keep != null) {
      throw wrong("--keep goes with --seed");
    }
    return search(kinds);
  }

  private List<Worlds> kinds() {
    if (world == null) {
      return List.of(Worlds.values());
    }
    for (Worlds kind : Worlds.values()) {
      if (kind.shown().equals(world)) {
        return List.of(kind);
      }
    }
    throw wrong(
        "there is no world \"" + world + "\": there are " + String.join(", ", Worlds.names()));
  }

  private int replay(List<Worlds> kinds, long seed) {
    Worlds kind = new Simulator(kinds).kindOf(seed);
    checkKeep(kind, seed);
    World run = Simulator.run(kind, seed, keep, !json);
    Violation violation = run.violation();
    if (json) {
      out()
          .println(
              report(
                  1,
                  0,
                  run.injected,
                  violation == null ? List.of() : List.of(new Found(kind, seed, keep, violation)),
                  seed));
      out().flush();
      return violation == null ? 0 : 1;
    }
    out().println("       world's time   clock is  who        what");
    run.trace.lines().forEach(out()::println);
    out().println();
    out()
        .println(
            violation == null
                ? "World " + kind.shown() + ", seed " + seed + ": all invariants hold."
                : "World " + kind.shown() + ", seed " + seed + ": " + violation);
    out().flush();
    return violation == null ? 0 : 1;
  }

  private void checkKeep(Worlds kind, long seed) {
    if (keep == null) {
      return;
    }
    int steps = kind.make(seed, plan -> plan, false).plan.steps().size();
    for (int number : keep) {
      if (number < 0 || number >= steps) {
        throw wrong(
            "--keep: the plan of this world has the steps 0 to " + (steps - 1) + ", not " + number);
      }
    }
  }

  private int search(List<Worlds> kinds) {
    if (seeds != null && seeds < 1) {
      throw wrong("--seeds must be at least 1, is " + seeds);
    }
    if (minutes != null && !(minutes > 0 && minutes <= MINUTES_MAX)) {
      throw wrong("--minutes must be more than 0 and at most " + MINUTES_MAX + ", is " + minutes);
    }
    double limit = minutes != null ? minutes : seeds != null ? MINUTES_MAX : DEFAULT_MINUTES;
    long from = first != null ? first : new SplittableRandom().nextLong(1L << 40);
    if (!json) {
      out()
          .println(
              "Worlds of "
                  + kinds.stream().map(Worlds::shown).collect(Collectors.joining(", "))
                  + " from seed "
                  + from
                  + " on, "
                  + threads
                  + " at a time");
      out().flush();
    }
    Progress progress = new Progress((long) (limit * 60e9), json ? null : err());
    Thread hook = progress.hook();
    try {
      return search(kinds, from, progress);
    } finally {
      progress.reported(hook);
    }
  }

  private int search(List<Worlds> kinds, long from, Progress progress) {
    Simulator simulator = new Simulator(kinds);
    simulator.run(
        from,
        seeds != null ? seeds : Long.MAX_VALUE / 2,
        threads,
        () -> progress.isOver(simulator::worlds));
    double seconds = progress.seconds();
    List<Found> found = new ArrayList<>();
    for (Found each : simulator.found()) {
      // Whoever wants an end is shown the whole world: its seed replays it as well.
      found.add(progress.isInterrupted() ? each : Simulator.shrink(each, SHRINK_TRIES));
    }
    if (json) {
      out().println(report(simulator.worlds(), seconds, simulator.injected(), found, from));
    } else {
      print(simulator, seconds, found, progress.isInterrupted());
    }
    out().flush();
    return progress.isInterrupted() ? INTERRUPTED : found.isEmpty() ? 0 : 1;
  }

  private void print(Simulator simulator, double seconds, List<Found> found, boolean interrupted) {
    out().println(Progress.line(simulator.worlds(), (long) (seconds * 1e9)) + "; faults:");
    simulator
        .injected()
        .forEach(
            (kind, times) -> out().printf(Locale.ROOT, "  %-14s %,12d%n", kind.shown(), times));
    if (found.isEmpty()) {
      out().println("All invariants held." + (interrupted ? " Interrupted." : ""));
    }
    for (Found each : found) {
      out().println();
      out().println(each.violation());
      out().println("  seed " + each.seed() + " of the world " + each.world().shown());
      out().println("  " + each.command());
    }
  }

  /** As JSON. All texts in it are of our own making, or quoted. */
  static String report(
      long worlds, double seconds, Map<Kind, Long> injected, List<Found> found, long from) {
    StringBuilder text = new StringBuilder();
    text.append("{\"seeds\":").append(worlds);
    text.append(",\"firstSeed\":").append(from);
    text.append(",\"secondsElapsed\":").append(String.format(Locale.ROOT, "%.3f", seconds));
    text.append(",\"faultsInjected\":{");
    text.append(
        injected.entrySet().stream()
            .map(entry -> quoted(entry.getKey().shown()) + ":" + entry.getValue())
            .collect(Collectors.joining(",")));
    text.append("},\"violations\":[");
    text.append(
        found.stream()
            .map(
                each ->
                    "{\"invariant\":"
                        + quoted(each.violation().invariant().name())
                        + ",\"world\":"
                        + quoted(each.world().shown())
                        + ",\"seed\":"
                        + each.seed()
                        + ",\"what\":"
                        + quoted(each.violation().what())
                        + ",\"replay\":"
                        + quoted(each.command())
                        + "}")
            .collect(Collectors.joining(",")));
    return text.append("]}").toString();
  }

  static String quoted(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        quoted.append('\\').append(c);
      } else if (c < ' ') {
        quoted.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
      } else {
        quoted.append(c);
      }
    }
    return quoted.append('"').toString();
  }
}
