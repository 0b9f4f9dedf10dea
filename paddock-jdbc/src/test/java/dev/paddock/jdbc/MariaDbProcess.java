/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.jdbc;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A real MariaDB on a free port of the loopback interface, with a folder of its own. */
final class MariaDbProcess {
  private static final long LIMIT_SECONDS = 60;
  private static final List<String> FOLDERS =
      Stream.concat(
              Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator)),
              Stream.of("/usr/sbin"))
          .toList();

  private final Process process;
  private final Path folder;
  private final int port;

  private MariaDbProcess(Process process, Path folder, int port) {
    this.process = process;
    this.folder = folder;
    this.port = port;
  }

  private static @Nullable Path find(String program) {
    return FOLDERS.stream()
        .map(folder -> Path.of(folder, program))
        .filter(Files::isExecutable)
        .findFirst()
        .orElse(null);
  }

  private static String program(String name) {
    Path found = find(name);
    if (found == null) {
      throw new IllegalStateException(name + " is not installed");
    }
    return found.toString();
  }

  static boolean isInstalled() {
    return find("mariadbd") != null && find("mariadb-install-db") != null;
  }

  static MariaDbProcess start() throws IOException, InterruptedException {
    Path folder = Files.createTempDirectory("paddock-mariadb");
    Path data = folder.resolve("data");
    String user = "--user=" + System.getProperty("user.name");
    run(
        folder,
        program("mariadb-install-db"),
        "--no-defaults",
        user,
        "--datadir=" + data,
        "--auth-root-authentication-method=normal",
        "--skip-test-db");
    int port;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    Process process =
        new ProcessBuilder(
                program("mariadbd"),
                "--no-defaults",
                user,
                "--datadir=" + data,
                "--port=" + port,
                "--bind-address=127.0.0.1",
                "--socket=" + folder.resolve("socket"),
                "--pid-file=" + folder.resolve("pid"),
                "--innodb-flush-log-at-trx-commit=0",
                "--innodb-lock-wait-timeout=60")
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("log").toFile())
            .start();
    MariaDbProcess server = new MariaDbProcess(process, folder, port);
    server.awaitReady();
    return server;
  }

  private static void run(Path folder, String... command) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("install.log").toFile())
            .start();
    if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
      process.destroyForcibly();
      throw new IllegalStateException(
          command[0] + " failed: " + Files.readString(folder.resolve("install.log")));
    }
  }

  private void awaitReady() throws IOException, InterruptedException {
    long start = System.nanoTime();
    while (true) {
      try {
        DriverManager.getConnection(url()).close();
        return;
      } catch (SQLException e) {
        if (!process.isAlive()
            || System.nanoTime() - start > TimeUnit.SECONDS.toNanos(LIMIT_SECONDS)) {
          String log = Files.readString(folder.resolve("log"));
          stop();
          throw new IllegalStateException("MariaDB did not start: " + log, e);
        }
        TimeUnit.MILLISECONDS.sleep(50);
      }
    }
  }

  String url() {
    return "jdbc:mariadb://127.0.0.1:" + port + "/mysql?user=root";
  }

  void stop() throws IOException, InterruptedException {
    process.destroy();
    if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
      process.destroyForcibly().waitFor();
    }
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
