/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static org.junit.jupiter.api.Assumptions.abort;

import dev.paddock.testkit.RedisServerProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** Servers of other versions than the bundled one. */
enum Versions {
  REDIS_6_2("redis_version:6.2."),
  BUNDLED("redis_version:7.0."),
  REDIS_8("redis_version:8."),
  VALKEY_8("valkey_version:8.");

  private final String inInfo;

  Versions(String inInfo) {
    this.inInfo = inInfo;
  }

  /** Starts the server, or skips the test if it can't be had on this machine. */
  RedisServerProcess start(String... settings) {
    RedisServerProcess server = RedisServerProcess.start(program(), settings);
    String info = server.console().text("INFO", "server");
    if (!info.contains(inInfo)) {
      server.close();
      throw new IllegalStateException("not " + inInfo + ": " + info);
    }
    return server;
  }

  private Path program() {
    return switch (this) {
      case BUNDLED -> RedisServerProcess.bundled();
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
