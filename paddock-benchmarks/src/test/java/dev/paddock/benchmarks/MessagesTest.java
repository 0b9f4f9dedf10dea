/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

final class MessagesTest {
  @Test
  void orders_throughJson_stayTheSame() {
    List<Order> orders =
        List.of(
            new Order.Hello("redis://127.0.0.1:1", List.of(7L, 8L)),
            new Order.Slice(Way.PLAIN, 16, true, 600),
            new Order.Fills(Way.STEPS, "fill-", 300, 64, 1000),
            new Order.Herd(Way.BARE, "key", 50, 1_795_000_000_000_000L, 200),
            new Order.Rest(100, 10),
            new Order.Alone(Way.RECIPE, "alone", 200),
            new Order.Contend(Way.PADDOCK, "wanted", 4, 1_795_000_000_000_000L, 1000, 1000, 0),
            new Order.Majority(List.of("redis://127.0.0.1:1", "redis://127.0.0.1:2"), true, 300),
            new Order.Bye());
    for (Order order : orders) {
      String line = Json.write(order);
      assertThat(line).doesNotContain("\n");
      assertThat(Json.read(line, Order.class)).isEqualTo(order);
    }
  }

  @Test
  void reports_throughJson_stayTheSame() {
    List<Report> reports =
        List.of(
            new Report.Ready(),
            new Report.Sliced(3, 4),
            new Report.Filled(3, 4.5),
            new Report.Herded(List.of(1L), List.of(2L, 3L), 5),
            new Report.Rested(-1, 2.5, 3),
            new Report.Taken(4.5),
            new Report.Contended(List.of(new Hold(1, 2, 3, 4), new Hold(5, 6, 7, 0))),
            new Report.Paired(List.of(5L, 6L), List.of(3L, 4L), List.of(7L, 8L), 3.5),
            new Report.Failed("why"));
    for (Report report : reports) {
      assertThat(Json.read(Json.write(report), Report.class)).isEqualTo(report);
    }
  }
}
