/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.jdbc;

import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;

/** On a real MariaDB, where one is installed. */
final class MariaDbFencedWritesIT extends FencedWritesContract {
  private static MariaDbProcess server;

  @BeforeAll
  static void startServer() throws IOException, InterruptedException {
    Assumptions.assumeTrue(
        MariaDbProcess.isInstalled(),
        "mariadbd and mariadb-install-db are not on the PATH: install mariadb-server");
    server = MariaDbProcess.start();
  }

  @AfterAll
  static void stopServer() throws IOException, InterruptedException {
    if (server != null) {
      server.stop();
    }
  }

  @Override
  Connection connect() throws SQLException {
    return DriverManager.getConnection(server.url());
  }

  @Override
  boolean locksGaps() {
    return true;
  }
}
