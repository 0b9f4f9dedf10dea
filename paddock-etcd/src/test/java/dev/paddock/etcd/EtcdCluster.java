/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.etcd;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;

/**
 * Real etcd servers of their own for a test, one or several as a cluster, on free ports of the
 * loopback interface.
 *
 * <p>The program is the one that the environment variable {@code PADDOCK_ETCD} names, which must
 * then be there; else {@code etcd} on the PATH, and without it tests are skipped.
 */
final class EtcdCluster implements AutoCloseable {
  private static final String PROPERTY = "PADDOCK_ETCD";
  private static final Duration READY_MAX = Duration.ofSeconds(60);
  private static final int STARTS_MAX = 5;
  private static final long POLL_MILLIS = 20;
  private static final Pattern LEADER = Pattern.compile("\"leader\":\"([0-9]+)\"");
  private static final Pattern MEMBER = Pattern.compile("\"member_id\":\"([0-9]+)\"");
  private static final HttpClient HTTP =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private final Path folder;
  private final List<Member> members = new ArrayList<>();
  private final Thread reaper = new Thread(this::reap, "paddock-etcd-reaper");

  private EtcdCluster(Path folder) {
    this.folder = folder;
  }

  /** Starts a cluster and waits until each member has a leader. */
  static EtcdCluster start(int size) {
    Path program = program();
    for (int attempt = 1; ; attempt++) {
      try {
        return start(program, size);
      } catch (PortTakenException e) {
        if (attempt == STARTS_MAX) {
          throw new IllegalStateException("etcd did not come up", e);
        }
      }
    }
  }

  /** A member has ended at once: most likely another process was faster to take its port. */
  private static final class PortTakenException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    PortTakenException(String log) {
      super(log);
    }
  }

  private static EtcdCluster start(Path program, int size) {
    EtcdCluster cluster;
    try {
      cluster = new EtcdCluster(Files.createTempDirectory("paddock-etcd-"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Runtime.getRuntime().addShutdownHook(cluster.reaper);
    try {
      for (int i = 0; i < size; i++) {
        cluster.members.add(new Member(program, cluster.folder, "m" + i, freePort(), freePort()));
      }
      List<String> peers = cluster.members.stream().map(Member::asPeer).toList();
      cluster.members.forEach(member -> member.launch(String.join(",", peers)));
      for (Member member : cluster.members) {
        await(member + " to be healthy", member::isHealthy);
      }
      return cluster;
    } catch (RuntimeException e) {
      cluster.close();
      throw e;
    }
  }

  private static Path program() {
    String chosen = System.getenv(PROPERTY);
    String name = chosen == null || chosen.isEmpty() ? "etcd" : chosen;
    String path = System.getenv("PATH");
    if (name.contains(File.separator)) {
      return Path.of(name);
    }
    for (String each : (path == null ? "" : path).split(File.pathSeparator, -1)) {
      Path candidate = Path.of(each, name);
      if (Files.isExecutable(candidate)) {
        return candidate;
      }
    }
    if (chosen != null && !chosen.isEmpty()) {
      throw new IllegalStateException(PROPERTY + " names " + name + ", which is not on the PATH");
    }
    return Assumptions.abort(
        "no etcd on the PATH: install it (Debian: etcd-server), or name it in " + PROPERTY);
  }

  private static int freePort() {
    try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return probe.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits for what servers come to by themselves. */
  private static void await(String what, java.util.function.BooleanSupplier condition) {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - start > READY_MAX.toNanos()) {
        throw new IllegalStateException("waited " + READY_MAX + " in vain for " + what);
      }
      try {
        TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("interrupted while waiting for " + what, e);
      }
    }
  }

  List<Member> members() {
    return List.copyOf(members);
  }

  /** The URI of all members. */
  String uri() {
    return "etcd://"
        + String.join(",", members.stream().map(member -> "127.0.0.1:" + member.port).toList());
  }

  /** The member that the others follow. */
  Member leader() {
    Member[] found = new Member[1];
    await(
        "a leader",
        () -> {
          found[0] = members.stream().filter(Member::isLeader).findFirst().orElse(null);
          return found[0] != null;
        });
    return found[0];
  }

  @Override
  public void close() {
    members.forEach(Member::kill);
    deleteFolder();
    try {
      Runtime.getRuntime().removeShutdownHook(reaper);
    } catch (IllegalStateException e) {
      // The JVM is ending; the hook then finds nothing to do.
      return;
    }
  }

  private void reap() {
    members.forEach(Member::kill);
    deleteFolder();
  }

  private void deleteFolder() {
    try (Stream<Path> files = Files.walk(folder)) {
      files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
    } catch (IOException e) {
      // A few bytes in the temporary folder are no reason to fail a test.
      return;
    }
  }

  /** One server. */
  static final class Member {
    private final Path program;
    private final Path folder;
    private final String name;
    private final int port;
    private final int peerPort;
    private @Nullable Process process;

    Member(Path program, Path parent, String name, int port, int peerPort) {
      this.program = program;
      this.folder = parent.resolve(name);
      this.name = name;
      this.port = port;
      this.peerPort = peerPort;
    }

    private static String http(int port) {
      return "http://127.0.0.1:" + port;
    }

    private String asPeer() {
      return name + "=" + http(peerPort);
    }

    String uri() {
      return "etcd://127.0.0.1:" + port;
    }

    int port() {
      return port;
    }

    private void launch(String peers) {
      try {
        process =
            new ProcessBuilder(
                    program.toString(),
                    "--name",
                    name,
                    "--data-dir",
                    folder.toString(),
                    "--listen-client-urls",
                    http(port),
                    "--advertise-client-urls",
                    http(port),
                    "--listen-peer-urls",
                    http(peerPort),
                    "--initial-advertise-peer-urls",
                    http(peerPort),
                    "--initial-cluster",
                    peers,
                    "--initial-cluster-state",
                    "new")
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log()))
                .start();
      } catch (IOException e) {
        throw new IllegalStateException("can't run " + program, e);
      }
    }

    private File log() {
      return folder.resolveSibling(name + ".log").toFile();
    }

    private boolean isHealthy() {
      if (!requireNonNull(process, "process").isAlive()) {
        throw new PortTakenException(logged());
      }
      return ask(HttpRequest.newBuilder(URI.create(http(port) + "/health")).GET()).contains("true");
    }

    private String logged() {
      try {
        return Files.readString(log().toPath(), UTF_8);
      } catch (IOException e) {
        return e.toString();
      }
    }

    private boolean isLeader() {
      String status =
          ask(
              HttpRequest.newBuilder(URI.create(http(port) + "/v3/maintenance/status"))
                  .POST(HttpRequest.BodyPublishers.ofString("{}")));
      Matcher leader = LEADER.matcher(status);
      Matcher member = MEMBER.matcher(status);
      return leader.find() && member.find() && leader.group(1).equals(member.group(1));
    }

    /** How many etcd leases there are. */
    int etcdLeases() {
      String listed =
          ask(
              HttpRequest.newBuilder(URI.create(http(port) + "/v3/lease/leases"))
                  .POST(HttpRequest.BodyPublishers.ofString("{}")));
      return listed.split("\"ID\"", -1).length - 1;
    }

    private static String ask(HttpRequest.Builder request) {
      try {
        return HTTP.send(
                request.timeout(Duration.ofSeconds(5)).build(),
                HttpResponse.BodyHandlers.ofString())
            .body();
      } catch (IOException e) {
        // Not yet, or not now.
        return "";
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("interrupted while asking etcd", e);
      }
    }

    /** Stops the process where it stands (SIGSTOP). */
    void pause() {
      signal("STOP");
    }

    /** Lets a paused process go on (SIGCONT). */
    void resume() {
      signal("CONT");
    }

    private void signal(String signal) {
      try {
        Process kill =
            new ProcessBuilder(
                    "kill", "-" + signal, Long.toString(requireNonNull(process, "process").pid()))
                .start();
        if (kill.waitFor() != 0) {
          throw new IllegalStateException("kill -" + signal + " of " + this + " failed");
        }
      } catch (IOException e) {
        throw new IllegalStateException("can't run kill", e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("interrupted", e);
      }
    }

    /** Kills the process (SIGKILL) and waits for its end. */
    void kill() {
      Process running = process;
      if (running == null) {
        return;
      }
      running.destroyForcibly();
      try {
        if (!running.waitFor(READY_MAX.toSeconds(), TimeUnit.SECONDS)) {
          throw new IllegalStateException(this + " does not end");
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("interrupted", e);
      }
    }

    @Override
    public String toString() {
      return "etcd " + name + " on port " + port;
    }
  }
}
