/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import dev.paddock.cli.process.ChildJvm;
import dev.paddock.cli.process.Json;
import java.io.IOException;
import java.io.PrintStream;

/** A worker as the coordinator sees it. */
final class WorkerProcess {
  private final int number;
  private final ChildJvm process;

  private WorkerProcess(int number, ChildJvm process) {
    this.number = number;
    this.process = process;
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
    int number = hello.process();
    ChildJvm process =
        ChildJvm.start(
            "process " + number,
            "worker",
            new ChildJvm.Ear() {
              @Override
              public void line(String line) {
                journal.add(number, Json.read(line, Report.class));
              }

              @Override
              public void garbled(String message) {
                journal.add(number, new Report.Trouble("its reports can't be read: " + message));
              }

              @Override
              public void gone() {
                journal.add(number, new Report.Gone());
              }
            },
            complaints);
    WorkerProcess worker = new WorkerProcess(number, process);
    worker.send(hello);
    return worker;
  }

  int number() {
    return number;
  }

  boolean isAlive() {
    return process.isAlive();
  }

  void send(Order order) {
    try {
      process.say(Json.write(order));
    } catch (IOException e) {
      throw new DemoException("process " + number + " takes no orders: " + e.getMessage(), e);
    }
  }

  /**
   * Kills it (SIGKILL).
   *
   * @throws InterruptedException if the thread was interrupted
   */
  void kill() throws InterruptedException {
    process.kill();
  }

  /**
   * Stops it (SIGSTOP).
   *
   * @throws IOException if that can't be done
   */
  void pause() throws IOException {
    process.pause();
  }

  /**
   * Lets it go on after {@link #pause()} (SIGCONT).
   *
   * @throws IOException if that can't be done
   * @throws InterruptedException if the thread was interrupted
   */
  void resume() throws IOException, InterruptedException {
    process.resume();
  }

  /** Asks it to end. */
  void sayGoodbye() {
    process.sayGoodbye(Json.write(new Order.Bye()));
  }

  /** Waits for its end, and kills it if that takes too long. */
  void awaitEnd() {
    process.awaitEnd();
  }

  /** Ends it without delay. */
  void destroy() {
    process.destroy();
  }
}
