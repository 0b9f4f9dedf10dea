/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The releases of servers that tests run against, where a machine has them. Thread-safe.
 *
 * <p>The bundled one is everywhere. Redis 6.2 is looked for in {@code target/redis-6.2}, where a
 * build may unpack it from another library; the others, under the names {@code redis-8} and {@code
 * valkey-8}, in the folder that the environment variable {@code PADDOCK_SERVERS} names, else in
 * {@code target/servers}. A test of one that can't be had is skipped.
 *
 * @since 0.1.0
 */
public enum ServerRelease {
  /** Redis 6.2, the oldest that is supported. */
  REDIS_6_2("redis_version:6.2."),
  /** Redis 7.0, which the test kit brings along. */
  REDIS_7_0("redis_version:7.0."),
  /** Redis 8. */
  REDIS_8("redis_version:8."),
  /** Valkey 8. */
  VALKEY_8("valkey_version:8.");

  private final String inInfo;

  ServerRelease(String inInfo) {
    this.inInfo = inInfo;
  }

  /**
   * Tells whether hints can travel by sharded channels.
   *
   * @return true from Redis 7.0 on
   */
  public boolean hasShardedChannels() {
    return this != REDIS_6_2;
  }

  /**
   * Starts the server, or skips the test if it can't be had on this machine.
   *
   * @param settings options and their values, as on the command line
   * @return the server; whoever starts it closes it
   * @throws IllegalStateException if it is another release than its name says
   */
  public RedisServerProcess start(String... settings) {
    return startUnder(List.of(), settings);
  }

  /**
   * Starts the server by way of another program, or skips the test if it can't be had.
   *
   * @param other the program and its first arguments; the server's command follows them
   * @param settings options and their values, as on the command line
   * @return the server; whoever starts it closes it
   * @throws IllegalStateException if it is another release than its name says
   */
  public RedisServerProcess startUnder(List<String> other, String... settings) {
    List<String> command = new ArrayList<>(other);
    command.add(program().toString());
    RedisServerProcess server = RedisServerProcess.start(command, settings);
    String info = server.console().text("INFO", "server");
    if (!info.contains(inInfo)) {
      server.close();
      throw new IllegalStateException("not " + inInfo + ": " + info);
    }
    return server;
  }

  private Path program() {
    return switch (this) {
      case REDIS_7_0 -> RedisServerProcess.bundled();
      case REDIS_6_2 -> unpacked();
      case REDIS_8 -> brought("redis-8");
      case VALKEY_8 -> brought("valkey-8");
    };
  }

  /** The build unpacks it from a library that must not be on the class path. */
  private static Path unpacked() {
    String os =
        System.getProperty("os.name").toLowerCase(Locale.ROOT).contains("mac") ? "darwin" : "linux";
    String arch = System.getProperty("os.arch").equals("aarch64") ? "arm64" : "amd64";
    try (var files =
        Files.newDirectoryStream(
            Path.of("target", "redis-6.2"), "redis-server-6.2*-" + os + "-" + arch)) {
      for (Path file : files) {
        if (!file.toFile().setExecutable(true)) {
          throw new IllegalStateException(file + " can't be made executable");
        }
        return file.toAbsolutePath();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return abort("no redis-server 6.2 for " + os + " on " + arch);
  }

  /** The continuous integration brings them, where it can. */
  private static Path brought(String name) {
    String folder = System.getenv("PADDOCK_SERVERS");
    Path file = Path.of(folder == null ? "target/servers" : folder, name).toAbsolutePath();
    return Files.isExecutable(file)
        ? file
        : abort(
            "no "
                + name
                + " in "
                + file.getParent()
                + ": \".ci/other-servers FOLDER\" brings it, PADDOCK_SERVERS names the folder");
  }
}
