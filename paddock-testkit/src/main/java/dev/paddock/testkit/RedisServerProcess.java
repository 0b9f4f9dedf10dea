/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.paddock.StoreException;
import dev.paddock.redis.RedisReplyException;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import redis.embedded.RedisExecProvider;
import redis.embedded.exceptions.OsDetectionException;

/**
 * A real redis-server of its own for a test: on a free port of the loopback interface, in a
 * temporary folder, without persistence unless the settings ask for it.
 *
 * <p>The program is the one that the system property or else the environment variable {@code
 * PADDOCK_REDIS_SERVER} names: a path, or {@code bundled} for the one in the library
 * embedded-redis, which is also the default (Linux and macOS). Any server that takes redis-server's
 * options will do, Valkey's too.
 *
 * <p>Thread-safe. {@link #close()} ends the server and deletes the folder; a server still running
 * when the JVM ends is killed.
 *
 * @since 0.1.0
 */
public final class RedisServerProcess implements AutoCloseable {
  /** The name of the system property and environment variable that choose the program. */
  public static final String PROPERTY = "PADDOCK_REDIS_SERVER";

  private static final String BUNDLED = "bundled";
  private static final int STARTS_MAX = 5;
  private static final Duration REPLY_MAX = Duration.ofSeconds(30);
  private static final long READY_NANOS_MAX = TimeUnit.SECONDS.toNanos(60);
  private static final long READY_POLL_MILLIS = 20;
  private static final long STOP_SECONDS_MAX = 10;
  private static final ReentrantLock EXTRACTING = new ReentrantLock();
  private static @Nullable Path extracted;

  private final ReentrantLock lock = new ReentrantLock();
  private final List<String> program;
  private final List<String> settings;
  private final @Nullable String sentinelConfiguration;
  private final Path folder;
  private final Thread reaper;
  private int port;
  private @Nullable Process process;
  private @Nullable RedisCommands console;
  private boolean closed;

  private RedisServerProcess(
      List<String> program, List<String> settings, @Nullable String sentinelConfiguration) {
    this.program = program;
    this.settings = settings;
    this.sentinelConfiguration = sentinelConfiguration;
    try {
      this.folder = Files.createTempDirectory("paddock-redis-");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    this.reaper = new Thread(this::reap, "paddock-redis-reaper");
  }

  /**
   * Starts a server and waits until it answers.
   *
   * @param settings added to the command line, in redis-server's own words: {@code "--maxmemory",
   *     "100mb"}
   * @return the server
   * @throws IllegalStateException if it does not come up, with its log
   */
  public static RedisServerProcess start(String... settings) {
    return start(chosen(), settings);
  }

  /**
   * Starts a server by a command of several words: a program and what has to stand before
   * redis-server's own options, for one that needs a loader or a wrapper.
   *
   * @param command the words, at least one
   * @param settings added to the command line
   * @return the server
   * @throws IllegalStateException if it does not come up, with its log
   */
  public static RedisServerProcess start(List<String> command, String... settings) {
    return launch(new RedisServerProcess(List.copyOf(command), List.of(settings), null));
  }

  /**
   * Starts a Sentinel.
   *
   * @param configuration lines of its configuration file, without port, address and folder
   */
  static RedisServerProcess startSentinel(List<String> command, String configuration) {
    return launch(new RedisServerProcess(List.copyOf(command), List.of(), configuration));
  }

  /**
   * Starts a server of a certain program.
   *
   * @param program its path
   * @param settings added to the command line
   * @return the server
   * @throws IllegalStateException if it does not come up, with its log
   */
  public static RedisServerProcess start(Path program, String... settings) {
    return start(List.of(program.toString()), settings);
  }

  /**
   * As {@link #start(Path, String...)}, on ports of the caller's choice.
   *
   * @param ports gives a port that is free, again and again if others are faster to take it
   */
  static RedisServerProcess start(Path program, IntSupplier ports, String... settings) {
    return launch(
        new RedisServerProcess(List.of(program.toString()), List.of(settings), null), ports);
  }

  private static RedisServerProcess launch(RedisServerProcess server) {
    return launch(server, RedisServerProcess::freePort);
  }

  private static RedisServerProcess launch(RedisServerProcess server, IntSupplier ports) {
    Runtime.getRuntime().addShutdownHook(server.reaper);
    try {
      server.launchOnFreePort(ports);
      return server;
    } catch (RuntimeException e) {
      server.close();
      throw e;
    }
  }

  /**
   * Finds a redis-server that is installed on this machine.
   *
   * @return its path
   * @throws IllegalStateException if there is none on the PATH
   */
  public static Path installed() {
    String path = System.getenv("PATH");
    for (String each : (path == null ? "" : path).split(File.pathSeparator, -1)) {
      Path candidate = Paths.get(each, "redis-server");
      if (Files.isExecutable(candidate)) {
        return candidate;
      }
    }
    throw new IllegalStateException("no redis-server on the PATH");
  }

  /**
   * Extracts the server that comes with the library embedded-redis, once for each JVM.
   *
   * @return its path
   * @throws IllegalStateException if there is none for this machine, or no folder for it
   */
  public static Path bundled() {
    EXTRACTING.lock();
    try {
      if (extracted == null) {
        extracted = RedisExecProvider.defaultProvider().get().toPath();
      }
      return extracted;
    } catch (IllegalArgumentException | OsDetectionException e) {
      throw new IllegalStateException(
          "no bundled redis-server for this machine; set " + PROPERTY + " to the path of one", e);
    } catch (IOException | RuntimeException e) {
      throw new IllegalStateException(
          "the bundled redis-server can't be put into the folder for temporary files, "
              + System.getProperty("java.io.tmpdir")
              + "; set java.io.tmpdir to another, or "
              + PROPERTY
              + " to the path of a redis-server",
          e);
    } finally {
      EXTRACTING.unlock();
    }
  }

  /** The program that tests run on, see {@link #PROPERTY}. */
  static Path chosen() {
    String property = System.getProperty(PROPERTY);
    String choice = property == null ? System.getenv(PROPERTY) : property;
    return choice == null || choice.isEmpty() || choice.equals(BUNDLED)
        ? bundled()
        : Paths.get(choice);
  }

  /**
   * Returns the port.
   *
   * @return the same after a restart
   */
  public int port() {
    lock.lock();
    try {
      return port;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns the URI.
   *
   * @return {@code redis://127.0.0.1:port}
   */
  public String uri() {
    return "redis://127.0.0.1:" + port();
  }

  /**
   * Returns the process id.
   *
   * @return the id of the process that runs, or ran last
   */
  public long pid() {
    lock.lock();
    try {
      return requireNonNull(process, "process").pid();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Tells whether the process runs; a paused one does.
   *
   * @return false after {@link #stop()} or {@link #kill()}, and after it ended by itself
   */
  public boolean isRunning() {
    lock.lock();
    try {
      return process != null && process.isAlive();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns a connection that this object keeps for arranging and checking.
   *
   * @return the connection; a new one after a restart, and after a command failed on the old one
   * @throws StoreException if the server can't be reached
   */
  public RedisCommands console() {
    lock.lock();
    try {
      if (console == null || console.isClosed()) {
        console = connect();
      }
      return console;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Opens a connection of its own.
   *
   * @return the connection, for the caller to close
   * @throws StoreException if the server can't be reached
   */
  public RedisCommands connect() {
    return RedisCommands.connect(port(), REPLY_MAX);
  }

  /**
   * Stops the process where it stands (SIGSTOP), until {@link #resume()}. On Linux it stands when
   * this returns.
   *
   * @throws IllegalStateException if that can't be done
   */
  public void pause() {
    signal("STOP");
    Path state = Paths.get("/proc", Long.toString(pid()), "stat");
    long start = System.nanoTime();
    while (Files.exists(state) && !isStopped(state)) {
      if (System.nanoTime() - start > READY_NANOS_MAX) {
        throw new IllegalStateException("process " + pid() + " does not stop");
      }
      pauseBriefly();
    }
  }

  private static boolean isStopped(Path state) {
    try {
      // "pid (program) T ...": the program's name may hold anything.
      String text = Files.readString(state, UTF_8);
      return text.startsWith(") T ", text.lastIndexOf(')'));
    } catch (IOException e) {
      throw new IllegalStateException("the process is gone", e);
    }
  }

  /** Lets a paused process go on (SIGCONT). */
  public void resume() {
    signal("CONT");
  }

  /** Kills the process (SIGKILL) and waits for its end. Does nothing if it does not run. */
  public void kill() {
    end(false);
  }

  /**
   * Ends the process in order (SIGTERM), or by force when that takes more than ten seconds. Does
   * nothing if it does not run.
   */
  public void stop() {
    end(true);
  }

  /**
   * Starts the server again on the same port and in the same folder, after {@link #stop()} or
   * {@link #kill()}; kills it first if it runs.
   *
   * @throws IllegalStateException if it does not come up, with its log, or was closed
   */
  public void restart() {
    lock.lock();
    try {
      kill();
      if (closed) {
        throw new IllegalStateException("the server was closed");
      }
      // For a moment after its end the port may be taken by connections that linger.
      for (int attempt = 1; !launch(port); attempt++) {
        if (attempt == STARTS_MAX) {
          throw failure("it did not come up again on port " + port);
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** Ends the process and deletes its folder. Idempotent. */
  @Override
  public void close() {
    lock.lock();
    try {
      if (closed) {
        return;
      }
      closed = true;
      end(true);
    } finally {
      lock.unlock();
    }
    deleteFolder();
    try {
      Runtime.getRuntime().removeShutdownHook(reaper);
    } catch (IllegalStateException e) {
      // The JVM is ending; the hook then finds nothing to do.
      return;
    }
  }

  private void launchOnFreePort(IntSupplier ports) {
    lock.lock();
    try {
      for (int attempt = 0; attempt < STARTS_MAX; attempt++) {
        port = ports.getAsInt();
        if (launch(port)) {
          return;
        }
      }
      throw failure("it did not come up");
    } finally {
      lock.unlock();
    }
  }

  private static int freePort() {
    try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return probe.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Tells whether it came up; another process may have been faster to take the port. */
  private boolean launch(int onPort) {
    List<String> command = new ArrayList<>(program);
    command.addAll(sentinelConfiguration == null ? options(onPort) : sentinel(onPort));
    Process started;
    try {
      started =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.appendTo(log().toFile()))
              .start();
    } catch (IOException e) {
      throw new IllegalStateException("can't run " + String.join(" ", program), e);
    }
    process = started;
    long start = System.nanoTime();
    while (started.isAlive()) {
      if (answers(onPort, started.pid())) {
        return true;
      }
      if (System.nanoTime() - start > READY_NANOS_MAX) {
        end(false);
        throw failure("it runs but does not answer");
      }
      pauseBriefly();
    }
    return false;
  }

  private List<String> options(int onPort) {
    List<String> options = new ArrayList<>();
    options.addAll(Arrays.asList("--port", Integer.toString(onPort), "--bind", "127.0.0.1"));
    options.addAll(Arrays.asList("--save", "", "--appendonly", "no", "--daemonize", "no"));
    options.addAll(Arrays.asList("--dir", folder.toString()));
    options.addAll(settings);
    return options;
  }

  /** A Sentinel keeps what it learns in its file, so after a restart the file is left alone. */
  private List<String> sentinel(int onPort) {
    Path file = folder.resolve("sentinel-" + onPort + ".conf");
    try {
      if (!Files.exists(file)) {
        Files.writeString(
            file,
            "port " + onPort + "\nbind 127.0.0.1\ndir " + folder + "\n" + sentinelConfiguration,
            UTF_8);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return List.of(file.toString(), "--sentinel");
  }

  /** A server of somebody else on the same port must not be taken for ours. */
  private static boolean answers(int port, long pid) {
    try (RedisCommands probe = RedisCommands.connect(port, REPLY_MAX)) {
      return probe.text("PING").equals("PONG")
          && probe.text("INFO", "server").contains("process_id:" + pid + "\r\n");
    } catch (RedisReplyException e) {
      // One that wants a password can't be asked whose it is; any other is still loading.
      return String.valueOf(e.getMessage()).startsWith("NOAUTH");
    } catch (RuntimeException e) {
      // Not yet: it does not listen.
      return false;
    }
  }

  private static void pauseBriefly() {
    try {
      TimeUnit.MILLISECONDS.sleep(READY_POLL_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for a server", e);
    }
  }

  private void end(boolean inOrder) {
    lock.lock();
    try {
      if (console != null) {
        console.close();
        console = null;
      }
      Process running = process;
      if (running == null || !running.isAlive()) {
        return;
      }
      if (inOrder) {
        // A paused process would not hear SIGTERM. Should it end by itself just now, all the
        // better.
        send("CONT", running.pid());
        running.destroy();
        if (waitFor(running)) {
          return;
        }
      }
      running.destroyForcibly();
      if (!waitFor(running)) {
        throw new IllegalStateException("process " + running.pid() + " does not end");
      }
    } finally {
      lock.unlock();
    }
  }

  private static boolean waitFor(Process ending) {
    boolean interrupted = false;
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(STOP_SECONDS_MAX);
    try {
      while (true) {
        try {
          return ending.waitFor(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
          // A server left behind would be worse than a late reaction.
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private void signal(String name) {
    long pid = pid();
    if (!send(name, pid)) {
      throw new IllegalStateException("kill -" + name + " " + pid + " failed");
    }
  }

  private static boolean send(String name, long pid) {
    try {
      Process kill =
          new ProcessBuilder("kill", "-" + name, Long.toString(pid))
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      return waitFor(kill) && kill.exitValue() == 0;
    } catch (IOException e) {
      throw new IllegalStateException("can't run kill", e);
    }
  }

  private void reap() {
    Process running = process;
    if (running != null) {
      running.destroyForcibly();
    }
    deleteFolder();
  }

  private Path log() {
    return folder.resolve("log");
  }

  private IllegalStateException failure(String what) {
    String log;
    try {
      log = Files.readString(log(), UTF_8);
    } catch (IOException e) {
      log = e.toString();
    }
    return new IllegalStateException(String.join(" ", program) + ": " + what + "; its log: " + log);
  }

  private void deleteFolder() {
    try {
      Files.walkFileTree(
          folder,
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
                throws IOException {
              Files.delete(file);
              return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path each, @Nullable IOException error)
                throws IOException {
              Files.delete(each);
              return FileVisitResult.CONTINUE;
            }
          });
    } catch (IOException e) {
      // A few bytes in the temporary folder are no reason to fail a test.
      return;
    }
  }
}
