/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.Cache;
import dev.paddock.Codecs;
import dev.paddock.Paddock;
import dev.paddock.testkit.RedisServerProcess;
import java.io.BufferedReader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A process that is told to end while it loads. */
final class SigtermIT {
  private static final Duration LEASE = Duration.ofMinutes(5);

  /** The process: takes the lease, says so, and never comes back from its loader. */
  static final class Holder {
    private Holder() {}

    public static void main(String[] args) {
      Paddock paddock = Paddock.connect(args[0]);
      cache(paddock)
          .get(
              "k",
              key -> {
                System.out.println("loading");
                System.out.flush();
                new CountDownLatch(1).await();
                return "never";
              });
    }
  }

  private static Cache<String, String> cache(Paddock paddock) {
    return paddock
        .cache("c", Codecs.string())
        .leaseTime(LEASE)
        .maxWait(Duration.ofMinutes(2))
        .maxLoadTime(Duration.ofHours(1))
        .build();
  }

  @Test
  @Timeout(180)
  void sigterm_inMidLoad_freesTheLeaseForAnotherProcess() throws Exception {
    try (RedisServerProcess redis = RedisServerProcess.start()) {
      Process holder =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-cp",
                  System.getProperty("java.class.path"),
                  Holder.class.getName(),
                  redis.uri())
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      try (BufferedReader said = holder.inputReader();
          Paddock paddock = Paddock.connect(redis.uri())) {
        String line = said.readLine();
        while (line != null && !line.equals("loading")) {
          line = said.readLine();
        }
        assertThat(line).isEqualTo("loading");
        holder.destroy();
        assertThat(holder.waitFor(60, TimeUnit.SECONDS)).as("it ends").isTrue();
        // The lease had minutes to go, and this call waits for two at most.
        assertThat(cache(paddock).get("k", key -> "by another")).isEqualTo("by another");
      } finally {
        holder.destroyForcibly();
      }
    }
  }
}
