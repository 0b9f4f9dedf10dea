/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Measures each figure beside its bound, and prints a table or JSON. */
@Command(
    name = "./paddock benchmark",
    customSynopsis =
        "Usage: ./paddock benchmark [--quick] [--only=NAME[,NAME...]] [--json] [--check]",
    synopsisHeading = "",
    description = {
      "Measures each figure of Paddock beside its bound, in the same run and in turns, on a Redis of"
          + " its own on the loopback interface. Prints a table; progress goes to standard error.",
      ""
    },
    footer = {
      "",
      "Columns: Paddock and bound are medians; ratio is the median of the pairs' ratios, min-max its"
          + " range (of the values where there is no bound).",
      "Exit code: 0, also if a target is missed; 1 if a figure could not be measured."
    },
    subcommands = WorkerCommand.class)
public final class BenchmarkCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "print this text")
  @SuppressWarnings("UnusedVariable") // picocli looks at it
  private boolean help;

  @Option(
      names = "--quick",
      description = "fewer and shorter measurements: about 6 minutes in place of about 25")
  private boolean quick;

  @Option(
      names = "--only",
      paramLabel = "NAME",
      split = ",",
      description = "measure only these figures")
  private List<String> only = new ArrayList<>();

  @Option(names = "--json", description = "print one JSON object in place of the table")
  private boolean json;

  @Option(names = "--check", description = "exit with 1 if a target is missed")
  private boolean check;

  /** Makes the command. */
  public BenchmarkCommand() {}

  /**
   * Runs the command and ends the JVM.
   *
   * @param args the arguments
   */
  public static void main(String[] args) {
    System.exit(commandLine(new BenchmarkCommand()).execute(args));
  }

  static CommandLine commandLine(BenchmarkCommand command) {
    CommandLine line =
        new CommandLine(command)
            .setUsageHelpAutoWidth(false)
            .setUsageHelpWidth(100)
            .setParameterExceptionHandler(BenchmarkCommand::refuse);
    List<String> footer = new ArrayList<>(List.of("", "Figures:"));
    for (Figure figure : Figure.values()) {
      footer.add(String.format("  %-12s %s", figure.title(), figure.summary()));
    }
    footer.addAll(Arrays.asList(line.getCommandSpec().usageMessage().footer()));
    line.getCommandSpec().usageMessage().footer(footer.toArray(String[]::new));
    return line;
  }

  private static int refuse(ParameterException e, String[] args) {
    PrintWriter err = e.getCommandLine().getErr();
    err.println(e.getMessage());
    err.println("See ./paddock benchmark --help");
    return e.getCommandLine().getCommandSpec().exitCodeOnInvalidInput();
  }

  @Override
  public Integer call() {
    return run(
        quick ? Scale.quickRun() : Scale.fullRun(),
        figures(),
        "./paddock benchmark" + arguments(),
        json,
        check,
        System.out,
        System.err);
  }

  private String arguments() {
    CommandSpec known = spec;
    return known == null
        ? ""
        : known.commandLine().getParseResult().originalArgs().stream()
            .map(argument -> " " + argument)
            .reduce("", String::concat);
  }

  /**
   * Checks which figures were chosen.
   *
   * @return the figures, in the order of the table
   * @throws ParameterException if there is none of that name
   */
  Set<Figure> figures() {
    for (String name : only) {
      if (!Figure.titles().contains(name)) {
        String message =
            "--only: there is no figure \""
                + name
                + "\"; there are "
                + String.join(", ", Figure.titles());
        CommandSpec known = spec;
        throw known == null
            ? new IllegalStateException(message)
            : new ParameterException(known.commandLine(), message);
      }
    }
    Set<Figure> chosen = EnumSet.allOf(Figure.class);
    chosen.removeIf(figure -> !only.isEmpty() && !only.contains(figure.title()));
    return chosen;
  }

  /**
   * Measures figures and prints what came of it.
   *
   * @param scale how much
   * @param figures which
   * @param command the command line, for the report
   * @param json whether to print JSON
   * @param check whether a missed target is a failure
   * @param out takes the table or the JSON
   * @param progress takes everything else
   * @return the exit code
   */
  static int run(
      Scale scale,
      Set<Figure> figures,
      String command,
      boolean json,
      boolean check,
      PrintStream out,
      PrintStream progress) {
    Instant began = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    List<Line> lines = new ArrayList<>();
    List<Unmeasured> unmeasured = new ArrayList<>();
    String redis;
    try (Bench bench = new Bench(scale, progress)) {
      redis = bench.redisVersion();
      for (Figure figure : figures) {
        measure(bench, figure, lines, unmeasured);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return 1;
    } catch (RuntimeException e) {
      progress.println("Nothing can be measured: " + e);
      return 1;
    }
    JsonReport report =
        new JsonReport(
            command,
            began.toString(),
            Runtime.getRuntime().availableProcessors(),
            Runtime.version().toString(),
            redis,
            scale.quick(),
            lines,
            unmeasured);
    out.print(json ? Json.write(report) + "\n" : text(report));
    out.flush();
    return exitCode(lines, unmeasured, check);
  }

  static int exitCode(List<Line> lines, List<Unmeasured> unmeasured, boolean check) {
    boolean missed = lines.stream().anyMatch(line -> Boolean.FALSE.equals(line.reached()));
    return !unmeasured.isEmpty() || (check && missed) ? 1 : 0;
  }

  private static void measure(
      Bench bench, Figure figure, List<Line> lines, List<Unmeasured> unmeasured)
      throws InterruptedException {
    long start = System.nanoTime();
    bench.say(figure.title() + ": " + figure.summary());
    try {
      lines.addAll(figure.measure(bench));
    } catch (IOException | RuntimeException e) {
      bench.say("  could not be measured: " + e);
      unmeasured.add(new Unmeasured(figure.title(), e.toString()));
    }
    bench.say(String.format(Locale.ROOT, "  %.1f s", (System.nanoTime() - start) / 1e9));
  }

  private static String text(JsonReport report) {
    StringBuilder text = new StringBuilder();
    text.append(
        String.format(
            Locale.ROOT,
            "%s%n%s, %d processors, Java %s, Redis %s%n%n",
            report.command(),
            report.began(),
            report.processors(),
            report.java(),
            report.redis()));
    text.append(Table.draw(report.lines()));
    for (Unmeasured figure : report.unmeasured()) {
      text.append("NOT MEASURED: ")
          .append(figure.figure())
          .append(": ")
          .append(figure.reason())
          .append('\n');
    }
    return text.toString();
  }
}
