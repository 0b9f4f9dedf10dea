/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.paddock.FenceOutcome;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What fenced writes have to do on each database. */
abstract class FencedWritesContract {
  private static final String ID_A = "a".repeat(32);
  private static final String ID_B = "b".repeat(32);

  private final FencedRow board =
      FencedRow.in("board").key("region", "day").values("posts", "note").build();
  private final FenceTable fences = FenceTable.create();
  private Connection first;
  private Connection second;

  /** Opens a connection of its own to a database that the test class has started. */
  abstract Connection connect() throws SQLException;

  /** Whether a transaction that has found no row keeps others from inserting it. */
  boolean locksGaps() {
    return false;
  }

  @BeforeEach
  void makeTables() throws SQLException {
    first = connect();
    second = connect();
    try (Statement statement = first.createStatement()) {
      statement.execute("DROP TABLE IF EXISTS board");
      statement.execute("DROP TABLE IF EXISTS paddock_fence");
      statement.execute(
          "CREATE TABLE board (region VARCHAR(20) NOT NULL, day INTEGER NOT NULL, posts VARCHAR(200),"
              + " note VARCHAR(200), fence BIGINT, fence_owner CHAR(32), PRIMARY KEY (region, day))");
      statement.execute(fences.ddl());
    }
  }

  @AfterEach
  void disconnect() throws SQLException {
    first.close();
    second.close();
  }

  private FenceOutcome write(Connection by, long token, String id, String posts)
      throws SQLException {
    return board.write(by, token, id, List.of("eu", 1), Arrays.asList(posts, null));
  }

  private @Nullable String posts() throws SQLException {
    try (Statement statement = first.createStatement();
        ResultSet row =
            statement.executeQuery("SELECT posts FROM board WHERE region = 'eu' AND day = 1")) {
      return row.next() ? row.getString(1) : null;
    }
  }

  @Test
  void write_noSuchRow_insertsIt() throws SQLException {
    assertThat(write(first, 33, ID_A, "x")).isEqualTo(new FenceOutcome.Accepted(33));
    assertThat(posts()).isEqualTo("x");
  }

  @Test
  void write_rowFromBeforeTheFence_isUpdated() throws SQLException {
    try (Statement statement = first.createStatement()) {
      statement.execute("INSERT INTO board (region, day, posts) VALUES ('eu', 1, 'old')");
    }
    assertThat(write(first, 1, ID_A, "x").accepted()).isTrue();
    assertThat(posts()).isEqualTo("x");
  }

  @Test
  void write_greaterToken_isAccepted() throws SQLException {
    write(first, 33, ID_A, "x");
    assertThat(write(second, 34, ID_B, "y")).isEqualTo(new FenceOutcome.Accepted(34));
    assertThat(posts()).isEqualTo("y");
  }

  @Test
  void write_smallerToken_changesNothingAndSaysBoth() throws SQLException {
    write(first, 34, ID_B, "y");
    assertThat(write(second, 33, ID_A, "x")).isEqualTo(new FenceOutcome.Rejected(33, 34));
    assertThat(posts()).isEqualTo("y");
  }

  @Test
  void write_sameLeaseAgain_isAccepted() throws SQLException {
    write(first, 33, ID_A, "x");
    assertThat(write(first, 33, ID_A, "z").accepted()).isTrue();
    assertThat(posts()).isEqualTo("z");
  }

  @Test
  void write_sameLeaseSameValues_isAccepted() throws SQLException {
    write(first, 33, ID_A, "x");
    assertThat(write(first, 33, ID_A, "x").accepted()).isTrue();
  }

  @Test
  void write_sameTokenOfAnotherLease_isRejected() throws SQLException {
    write(first, 33, ID_A, "x");
    assertThat(write(first, 33, ID_B, "y")).isEqualTo(new FenceOutcome.Rejected(33, 33));
    assertThat(posts()).isEqualTo("x");
  }

  @Test
  void write_tokenWithAllDigits_losesNone() throws SQLException {
    write(first, Long.MAX_VALUE - 1, ID_A, "x");
    assertThat(write(first, Long.MAX_VALUE - 2, ID_B, "y"))
        .isEqualTo(new FenceOutcome.Rejected(Long.MAX_VALUE - 2, Long.MAX_VALUE - 1));
    assertThat(write(first, Long.MAX_VALUE, ID_B, "y").accepted()).isTrue();
  }

  @Test
  void write_rowInsertedMeanwhile_isJudgedByItsToken() throws Exception {
    first.setAutoCommit(false);
    second.setAutoCommit(false);
    write(first, 34, ID_B, "y");
    CountDownLatch begun = new CountDownLatch(1);
    CompletableFuture<FenceOutcome> stale = new CompletableFuture<>();
    Thread other =
        new Thread(
            () -> {
              begun.countDown();
              try {
                FenceOutcome outcome = write(second, 33, ID_A, "x");
                // The transaction is still good for more.
                try (Statement statement = second.createStatement()) {
                  statement.execute("INSERT INTO board (region, day) VALUES ('us', 2)");
                }
                second.commit();
                stale.complete(outcome);
              } catch (SQLException | RuntimeException e) {
                stale.completeExceptionally(e);
              }
            });
    other.start();
    begun.await();
    first.commit();
    first.setAutoCommit(true);

    assertThat(stale.get()).isEqualTo(new FenceOutcome.Rejected(33, 34));
    assertThat(posts()).isEqualTo("y");
  }

  @ParameterizedTest
  @CsvSource({
    "SELECT,101,true,true",
    "SELECT,101,true,false",
    "SELECT,99,false,true",
    "SELECT,99,false,false",
    "INSERT,101,true,true",
    "INSERT,101,true,false",
    "INSERT,99,false,true",
    "INSERT,99,false,false"
  })
  void write_rowInsertedBetweenItsStatements_isJudgedByItsTokenAlone(
      String before, long token, boolean accepted, boolean autoCommit) throws SQLException {
    assumeFalse(
        locksGaps() && !autoCommit, "nobody can insert the row between the statements there");
    first.setAutoCommit(autoCommit);
    Connection interrupted = beforeThe(before, first, () -> write(second, 100, ID_B, "by 100"));

    FenceOutcome outcome = write(interrupted, token, ID_A, "by " + token);
    if (!autoCommit) {
      first.commit();
    }

    assertThat(outcome)
        .isEqualTo(
            accepted ? new FenceOutcome.Accepted(token) : new FenceOutcome.Rejected(token, 100));
    assertThat(posts()).isEqualTo(accepted ? "by " + token : "by 100");
    first.setAutoCommit(true);
  }

  @Test
  void write_ofTheSameLeaseBetweenItsStatements_isAccepted() throws SQLException {
    Connection interrupted = beforeThe("SELECT", first, () -> write(second, 100, ID_A, "first"));

    assertThat(write(interrupted, 100, ID_A, "second").accepted()).isTrue();
    assertThat(posts()).isEqualTo("second");
  }

  /** Something that another does meanwhile. */
  @FunctionalInterface
  private interface Meanwhile {
    Object run() throws SQLException;
  }

  /** A connection on which something happens just before its first statement of a kind is made. */
  private static Connection beforeThe(String kind, Connection real, Meanwhile meanwhile) {
    boolean[] done = new boolean[1];
    return (Connection)
        Proxy.newProxyInstance(
            Connection.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, args) -> {
              if (method.getName().equals("prepareStatement")
                  && String.valueOf(args[0]).startsWith(kind)
                  && !done[0]) {
                done[0] = true;
                meanwhile.run();
              }
              try {
                return method.invoke(real, args);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  @Test
  void write_manyAtOnce_theGreatestTokenStays() throws Exception {
    List<Thread> threads = new ArrayList<>();
    List<CompletableFuture<Void>> ends = new ArrayList<>();
    for (int worker = 0; worker < 4; worker++) {
      int number = worker;
      CompletableFuture<Void> end = new CompletableFuture<>();
      ends.add(end);
      Thread thread =
          new Thread(
              () -> {
                try (Connection own = connect()) {
                  for (int i = 0; i < 25; i++) {
                    long token = i * 4L + number + 1;
                    write(own, token, ID_A, "t" + token);
                  }
                  end.complete(null);
                } catch (SQLException | RuntimeException e) {
                  end.completeExceptionally(e);
                }
              });
      threads.add(thread);
      thread.start();
    }
    for (CompletableFuture<Void> end : ends) {
      end.get();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(posts()).isEqualTo("t100");
  }

  @Test
  void write_valuesMissing_isRefusedBeforeAnythingIsSent() {
    assertThatThrownBy(() -> board.write(first, 1, ID_A, List.of("eu"), List.of("x", "y")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("[region, day]")
        .hasMessageContaining("1 values");
    assertThatThrownBy(() -> board.write(first, 1, ID_A, List.of("eu", 1), List.of("x")))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> write(first, 0, ID_A, "x"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("is 0");
  }

  @Test
  void write_anotherConstraintViolated_isTheDatabasesException() throws SQLException {
    try (Statement statement = first.createStatement()) {
      statement.execute("ALTER TABLE board ADD CONSTRAINT short_posts CHECK (posts <> 'bad')");
    }
    assertThatThrownBy(() -> write(first, 1, ID_A, "bad")).isInstanceOf(SQLException.class);
    assertThat(posts()).isNull();
  }

  @Test
  void write_keyOfSeveralRows_saysSo() throws SQLException {
    FencedRow loose = FencedRow.in("board").key("region").values("posts").build();
    try (Statement statement = first.createStatement()) {
      statement.execute("INSERT INTO board (region, day) VALUES ('eu', 1)");
      statement.execute("INSERT INTO board (region, day) VALUES ('eu', 2)");
    }
    first.setAutoCommit(false);
    assertThatThrownBy(() -> loose.write(first, 1, ID_A, List.of("eu"), List.of("x")))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("2 rows");
    first.rollback();
  }

  @Test
  void fenceTable_laterHolderCommitted_refusesTheStaleTransaction() throws SQLException {
    first.setAutoCommit(false);
    second.setAutoCommit(false);
    assertThat(fences.pass(second, "board", 34, ID_B).accepted()).isTrue();
    second.commit();

    assertThat(fences.pass(first, "board", 33, ID_A)).isEqualTo(new FenceOutcome.Rejected(33, 34));
    first.rollback();
  }

  @Test
  void fenceTable_laterHolderUnderWay_makesTheStaleTransactionWait() throws Exception {
    first.setAutoCommit(false);
    second.setAutoCommit(false);
    fences.pass(first, "board", 1, ID_A);
    first.commit();
    fences.pass(first, "board", 34, ID_B);
    CompletableFuture<FenceOutcome> stale = new CompletableFuture<>();
    Thread other =
        new Thread(
            () -> {
              try {
                stale.complete(fences.pass(second, "board", 33, ID_A));
                second.rollback();
              } catch (SQLException | RuntimeException e) {
                stale.completeExceptionally(e);
              }
            });
    other.start();
    first.commit();

    assertThat(stale.get()).isEqualTo(new FenceOutcome.Rejected(33, 34));
    other.join();
  }

  @Test
  void fenceTable_rolledBack_hasNotTakenTheToken() throws SQLException {
    first.setAutoCommit(false);
    assertThat(fences.pass(first, "board", 34, ID_B).accepted()).isTrue();
    first.rollback();
    assertThat(fences.pass(first, "board", 33, ID_A).accepted()).isTrue();
    first.commit();
  }

  @Test
  void fenceTable_autoCommit_isRefusedWithTheReason() {
    assertThatThrownBy(() -> fences.pass(first, "board", 33, ID_A))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("setAutoCommit(false)");
  }

  @Test
  void raiseFloor_refusesUpToItAndNeverLowers() throws SQLException {
    first.setAutoCommit(false);
    fences.raiseFloor(first, "board", 50);
    fences.raiseFloor(first, "board", 40);
    first.commit();

    assertThat(fences.pass(first, "board", 50, ID_A)).isEqualTo(new FenceOutcome.Rejected(50, 50));
    assertThat(fences.pass(first, "board", 51, ID_A).accepted()).isTrue();
    first.commit();
  }
}
