/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.jdbc;

import static java.util.Objects.requireNonNull;

import dev.paddock.FenceOutcome;
import dev.paddock.Lease;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/**
 * Lets a transaction write whatever it likes, if its fencing token is good enough: one table holds
 * the last token for each resource, so that the other tables need no columns for it.
 *
 * <p>Guaranteed: {@link #pass} locks the resource's row until the transaction ends, so what is
 * written after it in the same transaction is written under the token. Not guaranteed: anything
 * about writes before it, in other transactions, or by who does not ask. Make it the first
 * statement.
 *
 * <p>Immutable and thread-safe; runs on the calling thread. For PostgreSQL, MySQL (InnoDB), MariaDB
 * (InnoDB) and H2. Under isolations that work on a snapshot (PostgreSQL's {@code REPEATABLE READ}
 * and {@code SERIALIZABLE}) a transaction that began before the later holder's commit fails with an
 * {@link SQLException}, which refuses it as well.
 */
public final class FenceTable {
  /** The name of the table, unless another is chosen. */
  public static final String NAME = "paddock_fence";

  private final String table;
  private final FencedRow row;

  private FenceTable(String table) {
    this.table = table;
    this.row = FencedRow.in(table).key("resource").fence("token", "owner").build();
  }

  /**
   * Uses the table {@value #NAME}.
   *
   * @return the table
   */
  public static FenceTable create() {
    return named(NAME);
  }

  /**
   * Uses a table of another name.
   *
   * @param table its name, with a schema or without
   * @return the table
   * @throws IllegalArgumentException if it is no name
   */
  public static FenceTable named(String table) {
    return new FenceTable(table);
  }

  /**
   * Returns the statement that makes the table, for the application's migrations.
   *
   * @return SQL for all the databases named above
   */
  public String ddl() {
    return "CREATE TABLE "
        + table
        + " (resource VARCHAR(200) NOT NULL PRIMARY KEY, token BIGINT NOT NULL, owner CHAR(32) NOT"
        + " NULL)";
  }

  /**
   * Compares the lease's token with the last one, and takes it as the last one if it is good
   * enough. If it is rejected, roll back and write nothing.
   *
   * @param connection in a transaction, auto-commit off
   * @param resource what the transaction writes to; at most 200 characters
   * @param lease whose token counts; whether it is still valid does not
   * @return whether the transaction may write
   * @throws SQLException if the database fails
   * @throws IllegalStateException if auto-commit is on: the row would be unlocked at once
   */
  public FenceOutcome pass(Connection connection, String resource, Lease lease)
      throws SQLException {
    return pass(connection, resource, lease.fencingToken(), lease.uniqueId());
  }

  /**
   * Compares a token with the last one, and takes it as the last one if it is good enough. If it is
   * rejected, roll back and write nothing.
   *
   * @param connection in a transaction, auto-commit off
   * @param resource what the transaction writes to; at most 200 characters
   * @param token the fencing token; at least 1
   * @param uniqueId of the lease that has the token; 32 characters
   * @return whether the transaction may write
   * @throws SQLException if the database fails
   * @throws IllegalArgumentException if the token is less than 1
   * @throws IllegalStateException if auto-commit is on: the row would be unlocked at once
   */
  public FenceOutcome pass(Connection connection, String resource, long token, String uniqueId)
      throws SQLException {
    requireNonNull(resource, "resource");
    if (connection.getAutoCommit()) {
      throw new IllegalStateException(
          "auto-commit is on, so the fence of "
              + resource
              + " would be open again before anything is written: call setAutoCommit(false), or begin"
              + " a transaction");
    }
    return row.write(connection, token, uniqueId, List.of(resource), List.of());
  }

  /**
   * Refuses all tokens up to this one from now on: before the leases of a resource come from
   * another store, whose tokens can't be compared with those of the old one. Never lowers what is
   * refused.
   *
   * @param connection in a transaction, auto-commit off
   * @param resource what is written to; at most 200 characters
   * @param floor the greatest token that is refused; at least 1
   * @throws SQLException if the database fails
   * @throws IllegalArgumentException if it is less than 1
   * @throws IllegalStateException if auto-commit is on
   */
  public void raiseFloor(Connection connection, String resource, long floor) throws SQLException {
    // Nobody's: an equal token is refused to everybody.
    pass(connection, resource, floor, "-".repeat(32));
  }
}
