/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.cli.process.Json;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class MessagesTest {
  private static final Cell CELL = new Cell("cell", 150, 0, 500);

  static Stream<Order> orders() {
    return Stream.of(
        new Order.Hello(3, "redis://:geheim@localhost", "prefix:", List.of(4711L, 4712L)),
        new Order.Outlive(List.of(4713L)),
        new Order.Aggregation(200, true, false, true, false),
        new Order.LetGo(List.of(1_000_001L)),
        new Order.InvalidationReturned(1_700_000_000_000_000L),
        new Order.Run(1, Strategy.PADDOCK_STALE, CELL, 50, 1_700_000_000_000_000L, true, 60_000),
        new Order.Stop(1),
        new Order.Seed(Strategy.UNPROTECTED, CELL),
        new Order.Invalidate(Strategy.PADDOCK_FRESH, CELL),
        new Order.Peek(CELL),
        new Order.Bye());
  }

  static Stream<Report> reports() {
    return Stream.of(
        new Report.Ready(),
        new Report.LoadBegan("cell", 1_000_001, 1, 2),
        new Report.LoadEnded("cell", 1_000_001, 3, true),
        new Report.FillEnded("cell", "STORED"),
        new Report.AllAsked(1),
        new Report.BetweenCommands("cell"),
        new Report.Answered(
            1,
            List.of(
                new Report.Answer(1, 2, 1_000_001, 1, null),
                new Report.Answer(1, 2, 0, 0, "java.lang.IllegalStateException")),
            Map.of("Hit", 3L),
            12),
        new Report.Seeded("cell", 1_000_001),
        new Report.Invalidated("cell", 1, 2),
        new Report.Peeked("cell", 0),
        new Report.Trouble("line one\nline two"),
        new Report.Gone());
  }

  @ParameterizedTest
  @MethodSource("orders")
  void order_writtenAndRead_isTheSameOnOneLine(Order order) {
    String line = Json.write(order);
    assertThat(line).doesNotContain("\n");
    assertThat(Json.read(line, Order.class)).isEqualTo(order);
  }

  @ParameterizedTest
  @MethodSource("reports")
  void report_writtenAndRead_isTheSameOnOneLine(Report report) {
    String line = Json.write(report);
    assertThat(line).doesNotContain("\n");
    assertThat(Json.read(line, Report.class)).isEqualTo(report);
  }
}
