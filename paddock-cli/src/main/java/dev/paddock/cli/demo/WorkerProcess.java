/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;

/** A worker as the coordinator sees it. */
final class WorkerProcess {
  private static final long FAREWELL_SECONDS = 5;

  private final int number;
  private final Journal journal;
  private final Process process;
  private final BufferedWriter orders;
  private final AtomicBoolean expectedToEnd = new AtomicBoolean();
  private @Nullable Process pause;

  private WorkerProcess(int number, Journal journal, Process process) {
    this.number = number;
    this.journal = journal;
    this.process = process;
    this.orders = process.outputWriter(UTF_8);
  }

  /**
   * Starts a worker: the same program in another process.
   *
   * @param hello its first order
   * @param journal takes its reports
   * @param complaints takes what it prints besides
   * @return the worker, which is not ready yet
   * @throws IOException if it can't be started
   */
  static WorkerProcess start(Order.Hello hello, Journal journal, PrintStream complaints)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Xmx256m");
    command.add("-XX:+UseSerialGC");
    command.add("-XX:TieredStopAtLevel=1");
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add("dev.paddock.cli.PaddockCommand");
    command.add("worker");
    // Not inherited: it would hold this process's own standard error open.
    Process process = new ProcessBuilder(command).start();
    WorkerProcess worker = new WorkerProcess(hello.process(), journal, process);
    inBackground("worker-" + hello.process(), worker::readReports);
    inBackground(
        "worker-" + hello.process() + "-complaints", () -> worker.passComplaintsOn(complaints));
    worker.send(hello);
    return worker;
  }

  private static void inBackground(String name, Runnable task) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    thread.start();
  }

  private void passComplaintsOn(PrintStream complaints) {
    try (BufferedReader reader = process.errorReader(UTF_8)) {
      boolean goesOn = false;
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        if (!goesOn && Shutdown.comesSoon()) {
          return;
        }
        complaints.println(line);
        goesOn = reader.ready();
      }
    } catch (IOException e) {
      if (!expectedToEnd.get()) {
        complaints.println("What process " + number + " prints can't be read: " + e.getMessage());
      }
    }
  }

  int number() {
    return number;
  }

  boolean isAlive() {
    return process.isAlive();
  }

  private void readReports() {
    try (BufferedReader reader = process.inputReader(UTF_8)) {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        journal.add(number, Json.read(line, Report.class));
      }
    } catch (IOException | JacksonException e) {
      if (!expectedToEnd.get()) {
        journal.add(number, new Report.Trouble("its reports can't be read: " + e.getMessage()));
      }
    }
    if (!expectedToEnd.get()) {
      journal.add(number, new Report.Gone());
    }
  }

  void send(Order order) {
    try {
      orders.write(Json.write(order));
      orders.newLine();
      orders.flush();
    } catch (IOException e) {
      throw new DemoException("process " + number + " takes no orders: " + e.getMessage(), e);
    }
  }

  /**
   * Kills it, as the machine's out-of-memory killer would (SIGKILL).
   *
   * @throws InterruptedException if the thread was interrupted
   */
  void kill() throws InterruptedException {
    expectedToEnd.set(true);
    process.destroyForcibly().waitFor();
  }

  /**
   * Stops it, as a long garbage collection or a moved virtual machine would (SIGSTOP).
   *
   * @throws IOException if that can't be done
   * @throws InterruptedException if the thread was interrupted
   */
  void pause() throws IOException, InterruptedException {
    // The helper goes on when its input ends, so also when this process dies: a stopped process
    // could not notice that itself.
    Process helper =
        new ProcessBuilder(
                "/bin/sh",
                "-c",
                "kill -STOP \"$1\" && echo stopped; read -r line; kill -CONT \"$1\"",
                "pause",
                Long.toString(process.pid()))
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    pause = helper;
    String said = helper.inputReader(UTF_8).readLine();
    if (!"stopped".equals(said)) {
      throw new DemoException("process " + number + " could not be stopped");
    }
  }

  /**
   * Lets it go on after {@link #pause()} (SIGCONT).
   *
   * @throws IOException if that can't be done
   * @throws InterruptedException if the thread was interrupted
   */
  void resume() throws IOException, InterruptedException {
    Process helper = pause;
    if (helper != null) {
      pause = null;
      helper.getOutputStream().close();
      helper.waitFor();
    }
  }

  /** Asks it to end. */
  void sayGoodbye() {
    expectedToEnd.set(true);
    try {
      resume();
      if (process.isAlive()) {
        send(new Order.Bye());
        orders.close();
      }
    } catch (IOException | DemoException e) {
      process.destroyForcibly();
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }

  /** Waits for its end, and kills it if that takes too long. */
  void awaitEnd() {
    try {
      if (!process.waitFor(FAREWELL_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }

  /** Ends it without delay. */
  void destroy() {
    expectedToEnd.set(true);
    process.destroyForcibly();
  }
}
