/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.soak;

import dev.paddock.Lease;
import dev.paddock.LeaseEvent;
import dev.paddock.LeaseLock;
import dev.paddock.LeaseOptions;
import dev.paddock.StoreException;
import dev.paddock.jdbc.FenceTable;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * Counters in a database, each raised by whoever holds its lease: read, think, write what was read
 * plus one. Now and then the holder thinks for longer than its lease lasts. The fenced twin lets
 * the database compare tokens, at the read too: a later holder has then shut out the earlier ones
 * before it looks at what they left.
 */
final class Registers {
  private static final int LONG_PERCENT = 10;
  private static final LeaseOptions OPTIONS =
      LeaseOptions.defaults().leaseTime(Terms.LEASE).waitTime(Duration.ofSeconds(1));

  private final Consumer<Said> said;
  private final Counts counts;
  private final String url;
  private final AtomicBoolean stopping;

  Registers(Consumer<Said> said, Counts counts, String url, AtomicBoolean stopping) {
    this.said = said;
    this.counts = counts;
    this.url = url;
    this.stopping = stopping;
  }

  static void create(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(FenceTable.create().ddl());
      for (boolean fenced : new boolean[] {true, false}) {
        statement.execute(
            "CREATE TABLE " + table(fenced) + " (id INT PRIMARY KEY, reached BIGINT NOT NULL)");
        for (int id = 0; id < Terms.REGISTERS; id++) {
          statement.execute("INSERT INTO " + table(fenced) + " VALUES (" + id + ", 0)");
        }
      }
    }
  }

  /** Starts anew: the leases of another group of servers know nothing of the tokens before. */
  static void reset(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("DROP TABLE IF EXISTS " + FenceTable.NAME);
      statement.execute("DROP TABLE IF EXISTS " + table(true));
      statement.execute("DROP TABLE IF EXISTS " + table(false));
    }
    create(connection);
  }

  static long read(Connection connection, boolean fenced, int register) throws SQLException {
    try (PreparedStatement select =
        connection.prepareStatement("SELECT reached FROM " + table(fenced) + " WHERE id = ?")) {
      select.setInt(1, register);
      try (ResultSet row = select.executeQuery()) {
        if (!row.next()) {
          throw new SQLException("register " + register + " is gone");
        }
        return row.getLong(1);
      }
    }
  }

  private static String table(boolean fenced) {
    return fenced ? "fenced_register" : "unfenced_register";
  }

  void onEvent(LeaseEvent event) {
    counts.add("leases." + event.getClass().getSimpleName());
  }

  List<Runnable> threads(LeaseLock lock, SplittableRandom seeds) {
    List<Runnable> threads = new ArrayList<>();
    for (int register = 0; register < Terms.REGISTERS; register++) {
      for (boolean fenced : new boolean[] {true, false}) {
        int which = register;
        SplittableRandom random = seeds.split();
        threads.add(() -> raiseUntilStopped(lock, fenced, which, random));
      }
    }
    return threads;
  }

  private void raiseUntilStopped(
      LeaseLock lock, boolean fenced, int register, SplittableRandom random) {
    String name = table(fenced) + "_" + register;
    while (!stopping.get()) {
      try (Connection connection = DriverManager.getConnection(url)) {
        while (!stopping.get()) {
          try {
            raiseOnce(lock, name, connection, fenced, register, random);
          } catch (StoreException e) {
            counts.add("leases.failed");
            Stampede.pause(random.nextInt(50, 150));
          }
        }
      } catch (SQLException e) {
        counts.add("database.failed");
        Stampede.pause(random.nextInt(50, 150));
      }
    }
  }

  private void raiseOnce(
      LeaseLock lock,
      String name,
      Connection connection,
      boolean fenced,
      int register,
      SplittableRandom random)
      throws SQLException {
    Optional<Lease> acquired = lock.tryAcquire(name, OPTIONS);
    if (acquired.isEmpty()) {
      return;
    }
    try (Lease lease = acquired.get()) {
      connection.setAutoCommit(!fenced);
      if (fenced && !pass(connection, name, lease)) {
        counts.add("registers.rejectedAtRead");
        said.accept(wrote(true, register, lease, 0, Said.Write.REJECTED));
        return;
      }
      long to = read(connection, fenced, register) + 1;
      if (fenced) {
        connection.commit();
      }
      think(random);
      Said.Write outcome;
      try {
        outcome = write(connection, name, lease, fenced, register, to);
      } catch (SQLException e) {
        said.accept(wrote(fenced, register, lease, to, Said.Write.UNKNOWN));
        throw e;
      }
      said.accept(wrote(fenced, register, lease, to, outcome));
    }
  }

  private static Said.Wrote wrote(
      boolean fenced, int register, Lease lease, long to, Said.Write outcome) {
    return new Said.Wrote(fenced, register, lease.fencingToken(), to, System.nanoTime(), outcome);
  }

  private static boolean pass(Connection connection, String name, Lease lease) throws SQLException {
    boolean accepted = FenceTable.create().pass(connection, name, lease).accepted();
    if (!accepted) {
      connection.rollback();
    }
    return accepted;
  }

  private void think(SplittableRandom random) {
    if (random.nextInt(100) < LONG_PERCENT) {
      counts.add("registers.longPauses");
      long lease = Terms.LEASE.toMillis();
      Stampede.pause(random.nextLong(lease + lease / 10, lease + lease * 3 / 4));
    } else {
      Stampede.pause(random.nextInt(2, 30));
    }
  }

  private static Said.Write write(
      Connection connection, String name, Lease lease, boolean fenced, int register, long to)
      throws SQLException {
    if (fenced && !pass(connection, name, lease)) {
      return Said.Write.REJECTED;
    }
    try (PreparedStatement update =
        connection.prepareStatement("UPDATE " + table(fenced) + " SET reached = ? WHERE id = ?")) {
      update.setLong(1, to);
      update.setInt(2, register);
      update.executeUpdate();
    }
    if (fenced) {
      connection.commit();
    }
    return Said.Write.ACKNOWLEDGED;
  }
}
