/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import tools.jackson.core.JacksonException;

/** A worker as the coordinator sees it. */
final class WorkerProcess implements AutoCloseable {
  private static final long FAREWELL_SECONDS = 5;

  private final Process process;
  private final BufferedWriter orders;
  private final BlockingQueue<Report> reports = new LinkedBlockingQueue<>();

  private WorkerProcess(Process process) {
    this.process = process;
    this.orders = process.outputWriter(UTF_8);
  }

  /** Starts a worker: the same program in another process. It is not ready yet. */
  static WorkerProcess start(Order.Hello hello, List<String> jvmArguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(jvmArguments);
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(BenchmarkCommand.class.getName());
    command.add("worker");
    WorkerProcess worker =
        new WorkerProcess(
            new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
    Thread reader = new Thread(worker::readReports, "worker-reports");
    reader.setDaemon(true);
    reader.start();
    worker.send(hello);
    return worker;
  }

  private void readReports() {
    try (BufferedReader reader = process.inputReader(UTF_8)) {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        reports.add(Json.read(line, Report.class));
      }
    } catch (IOException | JacksonException e) {
      reports.add(new Report.Failed("its reports can't be read: " + e.getMessage()));
    }
    reports.add(new Report.Failed("the process has ended"));
  }

  void send(Order order) {
    try {
      orders.write(Json.write(order));
      orders.newLine();
      orders.flush();
    } catch (IOException e) {
      throw new BenchmarkException("a worker takes no orders: " + e.getMessage(), e);
    }
  }

  /** Waits for the report that answers the last order. */
  <T extends Report> T await(Class<T> type, Duration limit) throws InterruptedException {
    Report report = reports.poll(limit.toMillis(), TimeUnit.MILLISECONDS);
    if (report == null) {
      throw new BenchmarkException("a worker said nothing for " + limit, null);
    }
    if (report instanceof Report.Failed failed) {
      throw new BenchmarkException("a worker failed: " + failed.reason(), null);
    }
    return type.cast(report);
  }

  long pid() {
    return process.pid();
  }

  /** Ends it without delay. */
  void destroy() {
    process.destroyForcibly();
  }

  @Override
  public void close() {
    try {
      send(new Order.Bye());
      orders.close();
      if (process.waitFor(FAREWELL_SECONDS, TimeUnit.SECONDS)) {
        return;
      }
    } catch (IOException | BenchmarkException e) {
      // It has ended by itself, or will be ended now.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    destroy();
  }
}
