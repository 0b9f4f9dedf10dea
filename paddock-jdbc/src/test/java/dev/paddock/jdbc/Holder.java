/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.jdbc;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.paddock.Lease;
import dev.paddock.LeaseLock;
import dev.paddock.LeaseOptions;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.time.Duration;
import java.util.List;

/**
 * A process that holds a lease, waits to be told to write, and writes twice: to one table with its
 * token, to the other without.
 */
final class Holder {
  static final FencedRow FENCED = FencedRow.in("fenced").key("id").values("value").build();

  private Holder() {}

  public static void main(String[] args) throws Exception {
    BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    try (LeaseLock lock = LeaseLock.connect(args[0]);
        Connection connection = DriverManager.getConnection(args[1]);
        Lease lease =
            lock.tryAcquire(
                    "job",
                    LeaseOptions.defaults().leaseTime(Duration.ofMillis(Long.parseLong(args[2]))))
                .orElseThrow()) {
      System.out.println("held " + lease.fencingToken());
      // A careful holder asks before it writes, and may be stopped right after the answer.
      System.out.println("valid " + lease.isValid());
      orders.readLine();
      System.out.println("valid " + lease.isValid());
      System.out.println(
          "fenced " + FENCED.write(connection, lease, List.of(1), List.of("stale")).accepted());
      System.out.println("unfenced " + writeUnfenced(connection, "stale"));
    }
    System.out.println("end");
  }

  static int writeUnfenced(Connection connection, String value) throws Exception {
    try (PreparedStatement update =
        connection.prepareStatement("UPDATE unfenced SET value = ? WHERE id = 1")) {
      update.setString(1, value);
      return update.executeUpdate();
    }
  }
}
