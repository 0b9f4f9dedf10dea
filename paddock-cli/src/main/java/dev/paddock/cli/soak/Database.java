/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.soak;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.h2.tools.Server;
import org.jspecify.annotations.Nullable;

/** Where the registers are: a PostgreSQL that is installed on this machine, or else H2. */
final class Database implements AutoCloseable {
  private static final long LIMIT_SECONDS = 60;
  private static final String POSTGRES_USER = "postgres";
  private static final Path DEBIAN = Paths.get("/usr/lib/postgresql");

  private final String name;
  private final String url;
  private final Path folder;
  private final @Nullable Process process;
  private final @Nullable Server server;

  private Database(
      String name, String url, Path folder, @Nullable Process process, @Nullable Server server) {
    this.name = name;
    this.url = url;
    this.folder = folder;
    this.process = process;
    this.server = server;
  }

  /**
   * Starts one.
   *
   * @param folder an empty folder for it
   * @param progress is told why it is not PostgreSQL
   * @return the database
   * @throws IOException if no database can be started
   * @throws InterruptedException if the thread was interrupted
   */
  static Database start(Path folder, PrintStream progress)
      throws IOException, InterruptedException {
    try {
      Path programs = programs();
      if (programs != null) {
        return postgres(programs, folder);
      }
      progress.println("No PostgreSQL is installed: the registers are in H2.");
    } catch (SoakException e) {
      progress.println("The registers are in H2: " + e.getMessage());
    }
    return h2(folder);
  }

  private static @Nullable Path programs() throws IOException {
    List<Path> folders = new ArrayList<>();
    String path = System.getenv("PATH");
    for (String each : (path == null ? "" : path).split(File.pathSeparator, -1)) {
      folders.add(Paths.get(each));
    }
    if (Files.isDirectory(DEBIAN)) {
      try (Stream<Path> versions = Files.list(DEBIAN)) {
        versions
            .sorted(Comparator.reverseOrder())
            .map(version -> version.resolve("bin"))
            .forEach(folders::add);
      }
    }
    return folders.stream()
        .filter(each -> Files.isExecutable(each.resolve("initdb")))
        .filter(each -> Files.isExecutable(each.resolve("postgres")))
        .findFirst()
        .orElse(null);
  }

  /** PostgreSQL refuses to run as root, so root becomes somebody else first. */
  private static List<String> words(Path program, String... options) {
    List<String> words = new ArrayList<>();
    if ("root".equals(System.getProperty("user.name"))) {
      words.addAll(
          List.of(
              "setpriv",
              "--reuid=" + POSTGRES_USER,
              "--regid=" + POSTGRES_USER,
              "--init-groups",
              "--"));
    }
    words.add(program.toString());
    words.addAll(List.of(options));
    return words;
  }

  private static Database postgres(Path programs, Path folder)
      throws IOException, InterruptedException {
    Path home = Files.createDirectory(folder.resolve("postgres"));
    if ("root".equals(System.getProperty("user.name"))) {
      try {
        Files.setOwner(
            home,
            home.getFileSystem()
                .getUserPrincipalLookupService()
                .lookupPrincipalByName(POSTGRES_USER));
      } catch (IOException e) {
        throw new SoakException("there is no user " + POSTGRES_USER, e);
      }
    }
    Path data = home.resolve("data");
    Path log = folder.resolve("postgres.log");
    Process init =
        run(
            log,
            words(
                programs.resolve("initdb"),
                "--pgdata=" + data,
                "--username=soak",
                "--auth=trust",
                "--encoding=UTF8",
                "--locale=C",
                "--no-sync"));
    if (!init.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS) || init.exitValue() != 0) {
      init.destroyForcibly();
      throw new SoakException("initdb failed: " + Files.readString(log, UTF_8).strip());
    }
    int port = freePort();
    Process process =
        runToTheEnd(
            log,
            words(
                programs.resolve("postgres"),
                "-D",
                data.toString(),
                "-p",
                Integer.toString(port),
                "-h",
                "127.0.0.1",
                "-k",
                home.toString(),
                "-c",
                "fsync=off",
                "-c",
                "max_connections=200"));
    String url = "jdbc:postgresql://127.0.0.1:" + port + "/postgres?user=soak";
    long start = System.nanoTime();
    while (true) {
      try (Connection connection = DriverManager.getConnection(url)) {
        String version = connection.getMetaData().getDatabaseProductVersion();
        return new Database("PostgreSQL " + version, url, folder, process, null);
      } catch (SQLException e) {
        if (!process.isAlive()
            || System.nanoTime() - start > TimeUnit.SECONDS.toNanos(LIMIT_SECONDS)) {
          process.destroyForcibly();
          throw new SoakException(
              "PostgreSQL does not start: " + Files.readString(log, UTF_8).strip(), e);
        }
        TimeUnit.MILLISECONDS.sleep(50);
      }
    }
  }

  /** As {@link #run}; ends with this JVM at the latest. */
  private static Process runToTheEnd(Path log, List<String> words) {
    Process process = run(log, words);
    Runtime.getRuntime()
        .addShutdownHook(new Thread(process::destroyForcibly, "paddock-soak-database"));
    return process;
  }

  private static Process run(Path log, List<String> words) {
    try {
      return new ProcessBuilder(words)
          .directory(new File("/"))
          .redirectErrorStream(true)
          .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
          .start();
    } catch (IOException e) {
      throw new SoakException("can't run " + words.get(0), e);
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return free.getLocalPort();
    }
  }

  private static Database h2(Path folder) throws IOException {
    try {
      Server server =
          Server.createTcpServer(
                  "-tcpPort", "0", "-ifNotExists", "-baseDir", folder.toAbsolutePath().toString())
              .start();
      String url = "jdbc:h2:tcp://127.0.0.1:" + server.getPort() + "/./soak;LOCK_TIMEOUT=10000";
      try (Connection connection = DriverManager.getConnection(url)) {
        String version = connection.getMetaData().getDatabaseProductVersion();
        return new Database("H2 " + version, url, folder, null, server);
      }
    } catch (SQLException e) {
      throw new IOException("H2 does not start: " + e.getMessage(), e);
    }
  }

  String name() {
    return name;
  }

  String url() {
    return url;
  }

  List<Long> pids() {
    return process == null ? List.of() : List.of(process.pid());
  }

  Connection connect() throws SQLException {
    return DriverManager.getConnection(url);
  }

  Path folder() {
    return folder;
  }

  @Override
  public void close() {
    if (server != null) {
      server.stop();
    }
    if (process != null) {
      try {
        // At SIGTERM it would wait for its clients.
        new ProcessBuilder("kill", "-INT", Long.toString(process.pid())).start().waitFor();
        if (!process.waitFor(10, TimeUnit.SECONDS)) {
          process.destroyForcibly();
        }
      } catch (IOException e) {
        process.destroyForcibly();
      } catch (InterruptedException e) {
        process.destroyForcibly();
        Thread.currentThread().interrupt();
      }
    }
  }
}
