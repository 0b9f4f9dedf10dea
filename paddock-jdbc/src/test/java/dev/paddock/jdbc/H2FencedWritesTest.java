/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.jdbc;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;

/** On H2, in memory. */
final class H2FencedWritesTest extends FencedWritesContract {
  @Override
  Connection connect() throws SQLException {
    return DriverManager.getConnection(
        "jdbc:h2:mem:fences;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=30000;NON_KEYWORDS=DAY");
  }
}
