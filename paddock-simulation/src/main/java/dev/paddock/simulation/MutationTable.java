/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.simulation;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Runs the mutations and tells what caught each. */
final class MutationTable {
  /** So many worlds a mutation has to be caught within; the seeds are always the same. */
  static final int WORLDS_MAX = 10_000;

  private static final long FIRST_SEED = 1;

  private final Path home;
  private final PrintWriter out;
  private final boolean json;

  MutationTable(Path home, PrintWriter out, boolean json) {
    this.home = home;
    this.out = out;
    this.json = json;
  }

  /** How one ended: empty if it was not caught, see {@link MutantRun#run}. */
  record Row(Mutation mutation, List<String> caught) {}

  /**
   * Runs them.
   *
   * @param only the name of the one to run; null for all
   * @return the exit code
   */
  int run(@Nullable String only, int threads) throws Exception {
    if (!Files.isDirectory(home.resolve("paddock-core"))) {
      throw new IOException(home.toAbsolutePath() + " is not the repository: give it with --home");
    }
    List<Mutation> chosen =
        Mutation.all().stream()
            .filter(mutation -> only == null || mutation.name().equals(only))
            .toList();
    List<Row> rows = new ArrayList<>();
    if (!json) {
      out.printf(
          Locale.ROOT,
          "%-26s %-9s %7s %7s  %s%n",
          "mutation",
          "invariant",
          "worlds",
          "seed",
          "what is wrong then");
    }
    for (Mutation mutation : chosen) {
      Row row = new Row(mutation, caught(mutation, threads));
      rows.add(row);
      if (!json) {
        out.printf(
            Locale.ROOT,
            "%-26s %-9s %7s %7s  %s%n",
            mutation.name(),
            row.caught().isEmpty() ? "NONE" : row.caught().get(0),
            row.caught().isEmpty() ? WORLDS_MAX : row.caught().get(2),
            row.caught().isEmpty() ? "" : row.caught().get(1),
            mutation.what());
        out.flush();
      }
    }
    long missed = rows.stream().filter(row -> row.caught().isEmpty()).count();
    if (json) {
      out.println(report(rows));
    } else {
      out.println(
          missed == 0
              ? rows.size() + " of " + rows.size() + " were caught."
              : missed
                  + " of "
                  + rows.size()
                  + " were NOT caught within "
                  + WORLDS_MAX
                  + " worlds.");
    }
    out.flush();
    return missed == 0 ? 0 : 1;
  }

  List<String> caught(Mutation mutation, int threads) throws Exception {
    MutantLoader loader = MutantLoader.of(mutation, mutation.mutated(home));
    Class<?> inside = loader.loadClass(MutantRun.class.getName());
    Object result =
        inside
            .getMethod("run", List.class, long.class, long.class, int.class)
            .invoke(
                null,
                mutation.worlds().stream().map(Enum::name).toList(),
                FIRST_SEED,
                (long) WORLDS_MAX,
                threads);
    return ((List<?>) result).stream().map(String::valueOf).toList();
  }

  private static String report(List<Row> rows) {
    StringBuilder text = new StringBuilder("{\"mutations\":[");
    String separator = "";
    for (Row row : rows) {
      boolean caught = !row.caught().isEmpty();
      text.append(separator)
          .append("{\"mutation\":")
          .append(SimulateCommand.quoted(row.mutation().name()))
          .append(",\"invariant\":")
          .append(caught ? SimulateCommand.quoted(row.caught().get(0)) : "null")
          .append(",\"worlds\":")
          .append(caught ? row.caught().get(2) : String.valueOf(WORLDS_MAX))
          .append(",\"seed\":")
          .append(caught ? row.caught().get(1) : "null")
          .append("}");
      separator = ",";
    }
    return text.append("]}").toString();
  }
}
