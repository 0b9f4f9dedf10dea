/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.jdbc;

import static java.util.Objects.requireNonNull;

import dev.paddock.FenceOutcome;
import dev.paddock.Lease;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Writes rows that carry the fencing token of their last write, and refuses a write with a smaller
 * one.
 *
 * <p>Guaranteed: the comparison and the write are one statement, so no other write comes between. A
 * row accepts a token greater than its own, or equal from the same lease; so a holder that was
 * paused past its lease changes nothing once its successor has written. Not guaranteed: anything
 * about rows that are written by other means, or deleted.
 *
 * <p>The statement is {@code UPDATE table SET values, fence, fence_owner WHERE key AND (fence IS
 * NULL OR fence < token OR (fence = token AND fence_owner = id))}, and an {@code INSERT} where
 * there is no such row. Works on PostgreSQL, MySQL, MariaDB and H2, and by plain SQL on others. The
 * fence column is a {@code BIGINT}, the owner column has room for 32 characters; both may be null.
 *
 * <p>Immutable and thread-safe. Runs on the calling thread and in the connection's transaction,
 * whatever its isolation: what a stricter one refuses is an {@link SQLException} as usual. An
 * update that found no row is followed by an insert; if that meets a row which was inserted
 * meanwhile, it is taken back to a savepoint and the update repeated.
 */
public final class FencedRow {
  /** Names are pasted into SQL, so they are names and nothing else. */
  private static final Pattern NAME =
      Pattern.compile("[A-Za-z_][A-Za-z0-9_$]*(?:\\.[A-Za-z_][A-Za-z0-9_$]*)*");

  private static final String INTEGRITY_VIOLATION = "23";
  private static final int ATTEMPTS = 5;

  private final String table;
  private final List<String> keys;
  private final List<String> values;
  private final String updateSql;
  private final String insertSql;
  private final String selectSql;

  private FencedRow(
      String table, List<String> keys, List<String> values, String fence, String owner) {
    this.table = table;
    this.keys = keys;
    this.values = values;
    String where = keys.stream().map(key -> key + " = ?").collect(Collectors.joining(" AND "));
    this.updateSql =
        "UPDATE "
            + table
            + " SET "
            + Stream.concat(values.stream(), Stream.of(fence, owner))
                .map(column -> column + " = ?")
                .collect(Collectors.joining(", "))
            + " WHERE "
            + where
            + " AND ("
            + fence
            + " IS NULL OR "
            + fence
            + " < ? OR ("
            + fence
            + " = ? AND "
            + owner
            + " = ?))";
    List<String> all = new ArrayList<>(keys);
    all.addAll(values);
    all.add(fence);
    all.add(owner);
    this.insertSql =
        "INSERT INTO "
            + table
            + " ("
            + String.join(", ", all)
            + ") VALUES ("
            + all.stream().map(column -> "?").collect(Collectors.joining(", "))
            + ")";
    this.selectSql = "SELECT " + fence + ", " + owner + " FROM " + table + " WHERE " + where;
  }

  /**
   * Starts to describe a table.
   *
   * @param table its name, with a schema or without; letters, digits, {@code _} and {@code $}
   * @return a builder
   * @throws IllegalArgumentException if the name holds anything else
   */
  public static Builder in(String table) {
    return new Builder(checked(table, "table"));
  }

  private static String checked(String name, String what) {
    if (!NAME.matcher(requireNonNull(name, what)).matches()) {
      throw new IllegalArgumentException(
          "the name of a "
              + what
              + " may hold letters, digits, _ and $, and dots between parts; is \""
              + name
              + "\"");
    }
    return name;
  }

  /** Describes a table. Not thread-safe. */
  public static final class Builder {
    private final String table;
    private final List<String> keys = new ArrayList<>();
    private final List<String> values = new ArrayList<>();
    private String fence = "fence";
    private String owner = "fence_owner";

    private Builder(String table) {
      this.table = table;
    }

    /**
     * Adds columns that together identify one row. They need a unique constraint.
     *
     * @param columns at least one in all
     * @return this
     * @throws IllegalArgumentException if one is no name
     */
    public Builder key(String... columns) {
      for (String column : columns) {
        keys.add(checked(column, "column"));
      }
      return this;
    }

    /**
     * Adds columns that are written.
     *
     * @param columns any number
     * @return this
     * @throws IllegalArgumentException if one is no name
     */
    public Builder values(String... columns) {
      for (String column : columns) {
        values.add(checked(column, "column"));
      }
      return this;
    }

    /**
     * Names the columns of the fence.
     *
     * @param token a {@code BIGINT}; {@code fence} by default
     * @param uniqueId at least 32 characters; {@code fence_owner} by default
     * @return this
     * @throws IllegalArgumentException if one is no name
     */
    public Builder fence(String token, String uniqueId) {
      fence = checked(token, "column");
      owner = checked(uniqueId, "column");
      return this;
    }

    /**
     * Ends the description.
     *
     * @return what writes such rows
     * @throws IllegalStateException if no key was named
     */
    public FencedRow build() {
      if (keys.isEmpty()) {
        throw new IllegalStateException(
            "no key of " + table + " was named: call key(\"id\") with its unique columns");
      }
      return new FencedRow(table, List.copyOf(keys), List.copyOf(values), fence, owner);
    }
  }

  /**
   * Updates the row, or inserts it, unless a later holder has written it.
   *
   * @param connection whose transaction it is part of
   * @param lease whose token counts; whether it is still valid does not
   * @param key values of the key columns, in their order; not null
   * @param columns values of the other columns, in their order; may be null
   * @return whether the row was written
   * @throws SQLException if the database fails
   * @throws IllegalArgumentException if there are more or fewer values than columns
   * @throws IllegalStateException if the key identifies more than one row: roll back, and give the
   *     table a unique constraint
   */
  public FenceOutcome write(
      Connection connection, Lease lease, List<?> key, List<? extends @Nullable Object> columns)
      throws SQLException {
    return write(connection, lease.fencingToken(), lease.uniqueId(), key, columns);
  }

  /**
   * Updates the row, or inserts it, unless a later holder has written it.
   *
   * @param connection whose transaction it is part of
   * @param token the fencing token; at least 1
   * @param uniqueId of the lease that has the token
   * @param key values of the key columns, in their order; not null
   * @param columns values of the other columns, in their order; may be null
   * @return whether the row was written
   * @throws SQLException if the database fails
   * @throws IllegalArgumentException if there are more or fewer values than columns, or the token
   *     is less than 1
   * @throws IllegalStateException if the key identifies more than one row: roll back, and give the
   *     table a unique constraint
   */
  public FenceOutcome write(
      Connection connection,
      long token,
      String uniqueId,
      List<?> key,
      List<? extends @Nullable Object> columns)
      throws SQLException {
    requireNonNull(connection, "connection");
    requireNonNull(uniqueId, "uniqueId");
    if (token < 1) {
      throw new IllegalArgumentException("a fencing token is at least 1, is " + token);
    }
    same("key", keys, key);
    same("value", values, columns);
    SQLException violation = null;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (update(connection, token, uniqueId, key, columns)) {
        return new FenceOutcome.Accepted(token);
      }
      // A transaction's snapshot may be older than what the update has met, and tokens only grow:
      // what
      // refuses there refuses now. What does not is looked at again, as it is now.
      Fence fence = fence(connection, key, attempt > 0);
      if (fence != null) {
        if (fence.refuses(token, uniqueId)) {
          return new FenceOutcome.Rejected(token, fence.token());
        }
        continue;
      }
      if (violation != null) {
        // Not by the row, then, but by another constraint.
        throw violation;
      }
      violation = insert(connection, token, uniqueId, key, columns);
      if (violation == null) {
        return new FenceOutcome.Accepted(token);
      }
    }
    throw new SQLException(
        "the row "
            + key
            + " of "
            + table
            + " is neither there to update nor absent to insert; a trigger, or a constraint on"
            + " other columns?");
  }

  private void same(String what, List<String> names, List<?> given) {
    if (names.size() != given.size()) {
      throw new IllegalArgumentException(
          table
              + " has the "
              + what
              + " columns "
              + names
              + ", but "
              + given.size()
              + " values were given");
    }
  }

  private boolean update(
      Connection connection,
      long token,
      String uniqueId,
      List<?> key,
      List<? extends @Nullable Object> columns)
      throws SQLException {
    try (PreparedStatement update = connection.prepareStatement(updateSql)) {
      int at = bind(update, 1, columns);
      update.setLong(at++, token);
      update.setString(at++, uniqueId);
      at = bind(update, at, key);
      update.setLong(at++, token);
      update.setLong(at++, token);
      update.setString(at, uniqueId);
      int rows = update.executeUpdate();
      if (rows > 1) {
        throw new IllegalStateException(
            "the key "
                + keys
                + " of "
                + table
                + " identifies "
                + rows
                + " rows: roll back, and give it a unique constraint");
      }
      return rows == 1;
    }
  }

  /** What a row carries; no token yet is 0. */
  private record Fence(long token, @Nullable String uniqueId) {
    boolean refuses(long other, String otherId) {
      return other < token || (other == token && !otherId.equals(uniqueId));
    }
  }

  /** Inserts the row; returns why that violates a constraint, if it does. */
  private @Nullable SQLException insert(
      Connection connection,
      long token,
      String uniqueId,
      List<?> key,
      List<? extends @Nullable Object> columns)
      throws SQLException {
    // Some databases end a transaction in which a statement has failed.
    Savepoint before = connection.getAutoCommit() ? null : connection.setSavepoint();
    try (PreparedStatement insert = connection.prepareStatement(insertSql)) {
      int at = bind(insert, 1, key);
      at = bind(insert, at, columns);
      insert.setLong(at++, token);
      insert.setString(at, uniqueId);
      insert.executeUpdate();
    } catch (SQLException e) {
      String state = e.getSQLState();
      if (state == null || !state.startsWith(INTEGRITY_VIOLATION)) {
        throw e;
      }
      if (before != null) {
        connection.rollback(before);
      }
      return e;
    }
    if (before != null) {
      connection.releaseSavepoint(before);
    }
    return null;
  }

  /** The fence of the row; null if there is no such row. */
  private @Nullable Fence fence(Connection connection, List<?> key, boolean now)
      throws SQLException {
    try (PreparedStatement select =
        connection.prepareStatement(now ? selectSql + " FOR UPDATE" : selectSql)) {
      bind(select, 1, key);
      try (ResultSet row = select.executeQuery()) {
        return row.next() ? new Fence(row.getLong(1), row.getString(2)) : null;
      }
    }
  }

  private static int bind(
      PreparedStatement statement, int from, List<? extends @Nullable Object> parameters)
      throws SQLException {
    int at = from;
    for (Object parameter : parameters) {
      statement.setObject(at++, parameter);
    }
    return at;
  }
}
