/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.jdbc;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.FenceOutcome;
import dev.paddock.Lease;
import dev.paddock.LeaseLock;
import dev.paddock.LeaseOptions;
import dev.paddock.testkit.RedisServerProcess;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A holder that is stopped past its lease and then goes on writing: with PostgreSQL, a real Redis
 * and a real process.
 */
@Timeout(180)
final class StoppedHolderIT {
  private static final Duration LEASE = Duration.ofSeconds(2);

  @Test
  void holderStoppedPastItsLease_changesNothingFencedAndOverwritesWhatIsNot() throws Exception {
    try (RedisServerProcess redis = RedisServerProcess.start();
        EmbeddedPostgres postgres =
            EmbeddedPostgres.builder().setServerConfig("fsync", "off").start();
        Connection connection = postgres.getPostgresDatabase().getConnection();
        LeaseLock lock = LeaseLock.connect(uri(redis))) {
      execute(
          connection,
          "CREATE TABLE fenced (id INT PRIMARY KEY, value TEXT, fence BIGINT, fence_owner CHAR(32))");
      execute(connection, "CREATE TABLE unfenced (id INT PRIMARY KEY, value TEXT)");
      execute(connection, "INSERT INTO unfenced VALUES (1, 'old')");
      Process holder = start(uri(redis), postgres.getJdbcUrl("postgres", "postgres"));
      try (BufferedReader says =
              new BufferedReader(new InputStreamReader(holder.getInputStream(), UTF_8));
          BufferedWriter orders =
              new BufferedWriter(new OutputStreamWriter(holder.getOutputStream(), UTF_8))) {
        long stale = Long.parseLong(next(says, "held "));
        assertThat(next(says, "valid ")).isEqualTo("true");
        signal(holder, "STOP");

        Lease lease =
            lock.tryAcquire(
                    "job",
                    LeaseOptions.defaults()
                        .leaseTime(Duration.ofMinutes(5))
                        .waitTime(Duration.ofSeconds(60)))
                .orElseThrow();
        assertThat(lease.fencingToken()).isGreaterThan(stale);
        assertThat(Holder.FENCED.write(connection, lease, List.of(1), List.of("new")))
            .isEqualTo(new FenceOutcome.Accepted(lease.fencingToken()));
        assertThat(Holder.writeUnfenced(connection, "new")).isEqualTo(1);

        signal(holder, "CONT");
        orders.write("write\n");
        orders.flush();

        assertThat(next(says, "valid ")).as("the stale holder's own view").isEqualTo("false");
        assertThat(next(says, "fenced ")).isEqualTo("false");
        assertThat(next(says, "unfenced ")).isEqualTo("1");
        assertThat(value(connection, "fenced")).isEqualTo("new");
        assertThat(value(connection, "unfenced")).as("the update that is lost").isEqualTo("stale");
        assertThat(lease.isValid()).isTrue();
      } finally {
        holder.destroyForcibly().waitFor();
      }
    }
  }

  private static String uri(RedisServerProcess redis) {
    return "redis://127.0.0.1:" + redis.port();
  }

  private static Process start(String redis, String postgres) throws Exception {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-cp",
            System.getProperty("java.class.path"),
            Holder.class.getName(),
            redis,
            postgres,
            Long.toString(LEASE.toMillis()))
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  /** The rest of the next line that begins so; others are passed over. */
  private static String next(BufferedReader says, String begin) throws Exception {
    for (String line = says.readLine(); line != null; line = says.readLine()) {
      if (line.startsWith(begin)) {
        return line.substring(begin.length());
      }
    }
    throw new AssertionError("the holder ended before it said \"" + begin + "\"");
  }

  private static void signal(Process process, String name) throws Exception {
    Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start();
    assertThat(kill.waitFor()).isZero();
  }

  private static void execute(Connection connection, String sql) throws Exception {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static String value(Connection connection, String table) throws Exception {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT value FROM " + table + " WHERE id = 1")) {
      assertThat(row.next()).isTrue();
      return row.getString(1);
    }
  }
}
