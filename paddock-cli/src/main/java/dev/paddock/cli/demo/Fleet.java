/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;

/** The worker processes. Kept for all experiments; one that was killed is replaced. */
final class Fleet implements AutoCloseable {
  private final Journal journal;
  private final PrintStream complaints;
  private final String redisUri;
  private final String prefix;
  private volatile List<Long> redisPids;
  private final List<WorkerProcess> workers = new CopyOnWriteArrayList<>();
  private final ReentrantLock starting = new ReentrantLock();
  private boolean killed;

  /**
   * Makes an empty fleet.
   *
   * @param journal takes the reports
   * @param complaints takes what the processes print besides
   * @param redisUri where Redis is
   * @param prefix what all keys begin with
   * @param redisPids which processes to stop if this one dies
   */
  Fleet(
      Journal journal,
      PrintStream complaints,
      String redisUri,
      String prefix,
      List<Long> redisPids) {
    this.journal = journal;
    this.complaints = complaints;
    this.redisUri = redisUri;
    this.prefix = prefix;
    this.redisPids = redisPids;
  }

  /**
   * Starts what is missing and waits until all take orders.
   *
   * @param processes how many there are to be
   * @return the processes that were started
   * @throws DemoException if the fleet was killed
   * @throws IOException if a process can't be started
   * @throws InterruptedException if the thread was interrupted
   */
  List<WorkerProcess> fill(int processes) throws IOException, InterruptedException {
    List<WorkerProcess> started = new ArrayList<>();
    for (int i = 0; i < processes; i++) {
      if (i == workers.size() || !workers.get(i).isAlive()) {
        started.add(start(i));
      }
    }
    journal.await(
        "sign of life from all new processes",
        entries ->
            entries.stream().filter(entry -> entry.report() instanceof Report.Ready).count()
                    >= started.size()
                ? Boolean.TRUE
                : null);
    return started;
  }

  private WorkerProcess start(int number) throws IOException {
    starting.lock();
    try {
      if (killed) {
        throw new DemoException("the processes have been ended");
      }
      WorkerProcess worker =
          WorkerProcess.start(
              new Order.Hello(number, redisUri, prefix, redisPids), journal, complaints);
      if (number == workers.size()) {
        workers.add(worker);
      } else {
        workers.set(number, worker);
      }
      return worker;
    } finally {
      starting.unlock();
    }
  }

  /**
   * Says which servers there are now.
   *
   * @param pids which processes to stop if this one dies, in place of those before
   */
  void serversAre(List<Long> pids) {
    redisPids = pids;
    workers().stream()
        .filter(WorkerProcess::isAlive)
        .forEach(worker -> worker.send(new Order.Outlive(pids)));
  }

  List<WorkerProcess> workers() {
    return List.copyOf(workers);
  }

  WorkerProcess worker(int number) {
    return workers.get(number);
  }

  /** Ends all processes, of which nothing is expected any more. */
  void destroy() {
    workers().forEach(WorkerProcess::destroy);
    workers.clear();
  }

  /** Ends all processes at once, returns when they have ended, and lets no other start. */
  void kill() {
    starting.lock();
    try {
      killed = true;
      List<WorkerProcess> ending = workers();
      destroy();
      ending.forEach(WorkerProcess::awaitEnd);
    } finally {
      starting.unlock();
    }
  }

  @Override
  public void close() {
    workers().forEach(WorkerProcess::sayGoodbye);
    workers().forEach(WorkerProcess::awaitEnd);
    workers.clear();
  }
}
