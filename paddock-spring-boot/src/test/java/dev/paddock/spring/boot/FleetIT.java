/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spring.boot;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.testkit.RedisServerProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two processes of an application with five lines of configuration. */
final class FleetIT {
  private static final int CALLERS = 40;

  @Test
  @Timeout(180)
  void twoProcesses_ofManyCallersEach_loadAKeyOnce() throws Exception {
    try (RedisServerProcess redis = RedisServerProcess.start()) {
      List<Shop> shops = new ArrayList<>();
      try {
        shops.add(Shop.start(redis.port()));
        shops.add(Shop.start(redis.port()));
        for (Shop shop : shops) {
          shop.await("ready");
        }
        for (Shop shop : shops) {
          shop.go();
        }
        for (Shop shop : shops) {
          assertThat(shop.await("answers")).isEqualTo("answers " + CALLERS);
        }
      } finally {
        shops.forEach(Shop::end);
      }
      assertThat(redis.console().text("GET", "queries")).isEqualTo("1");
      assertThat(redis.console().text("GET", "posts:42")).contains("\"post 42\"");
    }
  }

  private record Shop(Process process, BufferedReader output) {
    static Shop start(int port) throws IOException {
      Process process =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-Xmx256m",
                  "-cp",
                  System.getProperty("java.class.path"),
                  "dev.paddock.spring.boot.shop.ShopApplication",
                  "--spring.config.location=classpath:/shop/",
                  "--spring.data.redis.port=" + port)
              .redirectErrorStream(true)
              .start();
      return new Shop(
          process, new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8)));
    }

    /** Returns the next line of output that begins so. */
    String await(String beginning) throws IOException {
      StringBuilder before = new StringBuilder();
      for (String line = output.readLine(); line != null; line = output.readLine()) {
        if (line.startsWith(beginning)) {
          return line;
        }
        before.append(line).append('\n');
      }
      throw new AssertionError("ended before it said \"" + beginning + "\":\n" + before);
    }

    void go() throws IOException {
      process.getOutputStream().write('\n');
      process.getOutputStream().flush();
    }

    void end() {
      process.destroyForcibly();
      try {
        process.waitFor(30, TimeUnit.SECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
