/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** The worker processes. Kept for all experiments; one that was killed is replaced. */
final class Fleet implements AutoCloseable {
  private final Journal journal;
  private final String redisUri;
  private final String prefix;
  private final long redisPid;
  private final List<WorkerProcess> workers = new CopyOnWriteArrayList<>();

  /**
   * Makes an empty fleet.
   *
   * @param journal takes the reports
   * @param redisUri where Redis is
   * @param prefix what all keys begin with
   * @param redisPid which process to stop if this one dies; 0 for none
   */
  Fleet(Journal journal, String redisUri, String prefix, long redisPid) {
    this.journal = journal;
    this.redisUri = redisUri;
    this.prefix = prefix;
    this.redisPid = redisPid;
  }

  /**
   * Starts what is missing and waits until all take orders.
   *
   * @param processes how many there are to be
   * @return the processes that were started
   * @throws IOException if a process can't be started
   * @throws InterruptedException if the thread was interrupted
   */
  List<WorkerProcess> fill(int processes) throws IOException, InterruptedException {
    List<WorkerProcess> started = new ArrayList<>();
    for (int i = 0; i < processes; i++) {
      if (i == workers.size() || !workers.get(i).isAlive()) {
        WorkerProcess worker =
            WorkerProcess.start(new Order.Hello(i, redisUri, prefix, redisPid), journal);
        if (i == workers.size()) {
          workers.add(worker);
        } else {
          workers.set(i, worker);
        }
        started.add(worker);
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

  @Override
  public void close() {
    workers().forEach(WorkerProcess::sayGoodbye);
    workers().forEach(WorkerProcess::awaitEnd);
    workers.clear();
  }
}
