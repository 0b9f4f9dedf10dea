/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

final class TableTest {
  private static final Settings SETTINGS =
      new Settings(4, 50, 200, 150, 1, null, Topology.STANDALONE);

  private static Row row(String name, boolean met) {
    return new Row(
        name,
        4,
        200,
        198,
        197,
        96,
        new Waits(3, 25, 1041),
        400L,
        "about as many loads as callers: 160 or more",
        "198 loads for 200 callers",
        met);
  }

  private static String draw(Row... rows) {
    List<Experiment> experiments =
        java.util.Arrays.stream(rows)
            .map(
                row ->
                    Catalogue.all().stream()
                        .filter(e -> e.name().equals(row.name()))
                        .findFirst()
                        .orElseThrow())
            .toList();
    return Table.draw(SETTINGS, "7.0.15", experiments, List.of(rows));
  }

  @Test
  void table_anyRow_showsNumbersTextsAndVerdict() {
    assertThat(draw(row("unprotected", true)).lines())
        .contains(
            "unprotected           198  197    96     3    25  1041    400  about as many loads as"
                + "     198 loads for 200 callers  yes",
            "  cache-aside without protection                               callers: 160 or more");
  }

  @Test
  void table_allExperiments_isNoWiderThan120Columns() {
    Row[] rows =
        Catalogue.all().stream()
            .map(
                experiment ->
                    new Row(
                        experiment.name(),
                        8,
                        1600,
                        16000,
                        1600,
                        16000,
                        new Waits(60000, 60000, 60000),
                        999_999L,
                        experiment.expected(
                            new Settings(8, 200, 5000, 3750, 1, null, Topology.STANDALONE)),
                        "after 60 s: still no " + "x".repeat(200),
                        true))
            .toArray(Row[]::new);
    assertThat(draw(rows).lines()).allSatisfy(line -> assertThat(line).hasSizeLessThan(121));
  }

  @Test
  void table_aVerdictFails_saysSoInTheRowAndBelow() {
    assertThat(draw(row("unprotected", true), row("paddock-wait", false)).lines())
        .anySatisfy(line -> assertThat(line).startsWith("paddock-wait").endsWith("NO"))
        .last()
        .isEqualTo("1 of 2 did NOT come out as expected.");
  }

  @Test
  void table_bothKinds_haveAHeadingEach() {
    assertThat(draw(row("unprotected", true), row("in-process", true), row("paddock-wait", true)))
        .containsOnlyOnce("-- Without Paddock -")
        .containsOnlyOnce("-- With Paddock -")
        .endsWith("All 3 came out as expected.\n");
  }

  @Test
  void table_leases_haveAHeadingOfTheirOwnAndNoNumbers() {
    assertThat(draw(row("paddock-wait", true), row("failover", true), row("redlock", true)))
        .containsOnlyOnce("-- Leases for other work than loading -")
        .containsPattern("failover +about as many loads")
        .containsPattern("redlock +about as many loads");
  }

  @Test
  void table_commandsUnknown_showsAQuestionMark() {
    Row row = row("unprotected", true);
    Row unknown =
        new Row(row.name(), 4, 200, 1, 1, 0, row.waitMillis(), null, "expected", "observed", true);
    assertThat(draw(unknown)).containsPattern("1041 +\\?  expected");
  }

  @Test
  void wrap_atSpaces_keepsWordsWhole() {
    assertThat(Table.wrap("one two three", 7)).containsExactly("one two", "three");
    assertThat(Table.wrap("one two three", 6)).containsExactly("one", "two", "three");
    assertThat(Table.wrap("", 6)).containsExactly("");
  }

  @Test
  void wrap_wordTooLong_isCut() {
    assertThat(Table.wrap("a 1234567890 b", 4)).containsExactly("a", "1234", "5678", "90 b");
  }
}
