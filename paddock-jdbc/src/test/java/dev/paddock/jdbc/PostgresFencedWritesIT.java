/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.jdbc;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** On a real PostgreSQL. */
final class PostgresFencedWritesIT extends FencedWritesContract {
  private static EmbeddedPostgres server;

  @BeforeAll
  static void startServer() throws IOException {
    server = EmbeddedPostgres.builder().setServerConfig("fsync", "off").start();
  }

  @AfterAll
  static void stopServer() throws IOException {
    server.close();
  }

  @Override
  Connection connect() throws SQLException {
    return server.getPostgresDatabase().getConnection();
  }
}
