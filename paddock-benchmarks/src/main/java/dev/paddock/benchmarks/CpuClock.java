/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The processor time of this process. On Linux it is the sum over the threads there are, to the
 * nanosecond; the system's own figure for a process has steps of 10 ms, as long as a whole herd.
 */
final class CpuClock {
  private static final Path TASKS = Path.of("/proc/self/task");

  private CpuClock() {}

  static long nanos() {
    long sum = 0;
    try (DirectoryStream<Path> tasks = Files.newDirectoryStream(TASKS)) {
      for (Path task : tasks) {
        String text = Files.readString(task.resolve("schedstat"), US_ASCII);
        sum += Long.parseLong(text.substring(0, text.indexOf(' ')));
      }
    } catch (IOException | IndexOutOfBoundsException e) {
      return ofTheProcess();
    }
    return sum;
  }

  private static long ofTheProcess() {
    return ManagementFactory.getOperatingSystemMXBean()
            instanceof com.sun.management.OperatingSystemMXBean system
        ? system.getProcessCpuTime()
        : 0;
  }
}
