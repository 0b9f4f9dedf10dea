/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.jdbc;

import dev.paddock.FenceOutcome;
import dev.paddock.Lease;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** The examples of the pages, so that a change of the API that breaks one breaks the build. */
final class PageExamples {
  private PageExamples() {}

  interface Log {
    void warn(String message, Object... parameters);
  }

  interface Board {
    void write(Connection connection) throws SQLException;
  }

  static void row(Connection connection, Lease lease, String region, String posts, Log log)
      throws SQLException {
    FencedRow board = FencedRow.in("board").key("region").values("posts").build();
    FenceOutcome outcome = board.write(connection, lease, List.of(region), List.of(posts));
    if (outcome instanceof FenceOutcome.Rejected rejected) {
      log.warn("holder {} came after {}", rejected.token(), rejected.lastToken());
    }
  }

  static void table(Connection connection, Lease lease, String region, Board board)
      throws SQLException {
    connection.setAutoCommit(false);
    if (FenceTable.create().pass(connection, "board-of-" + region, lease).accepted()) {
      board.write(connection);
      connection.commit();
    } else {
      connection.rollback();
    }
  }
}
