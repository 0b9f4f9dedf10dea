/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.soak;

import dev.paddock.cli.process.ChildJvm;
import dev.paddock.cli.process.Json;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The workers. The first one reaches the servers directly, by Paddock's own clients; the others
 * have links of their own that can be cut, unless all share the links to each server.
 */
final class Crew implements AutoCloseable {
  private static final long READY_SECONDS = 60;

  /** A worker in its place. */
  private static final class Worker {
    final String name;
    final CountDownLatch ready = new CountDownLatch(1);
    final CountDownLatch done = new CountDownLatch(1);
    private @Nullable ChildJvm process;

    Worker(String name) {
      this.name = name;
    }

    ChildJvm process() {
      if (process == null) {
        throw new IllegalStateException("not started");
      }
      return process;
    }
  }

  private final ReentrantLock starting = new ReentrantLock();
  private final List<Worker> workers = new ArrayList<>();
  private final List<@Nullable Links> links = new ArrayList<>();
  private final History history;
  private final PrintStream complaints;
  private final SplittableRandom seeds;
  private final Told.Hello hello;
  private final Supplier<List<Long>> pids;
  private boolean closed;
  private int started;

  /**
   * Makes an empty crew.
   *
   * @param history takes what they say
   * @param complaints takes what they print besides
   * @param seeds gives each worker a seed
   * @param hello what all are told, but for the seed, the links and the pids
   * @param pids the servers at the moment
   */
  Crew(
      History history,
      PrintStream complaints,
      SplittableRandom seeds,
      Told.Hello hello,
      Supplier<List<Long>> pids) {
    this.history = history;
    this.complaints = complaints;
    this.seeds = seeds;
    this.hello = hello;
    this.pids = pids;
  }

  /**
   * Starts the workers and waits until all have begun.
   *
   * @param size how many
   * @param field what the links lead to
   */
  void start(int size, Field field) throws IOException, InterruptedException {
    for (int slot = 0; slot < size; slot++) {
      links.add(slot == 0 || !field.sharedLinks().isEmpty() ? null : new Links(field.servers()));
      workers.add(begin(slot));
    }
    for (Worker worker : workers) {
      awaitReady(worker);
    }
  }

  private static void awaitReady(Worker worker) throws InterruptedException {
    if (!worker.ready.await(READY_SECONDS, TimeUnit.SECONDS)) {
      throw new SoakException("worker " + worker.name + " does not begin");
    }
  }

  private Worker begin(int slot) throws IOException {
    starting.lock();
    try {
      if (closed) {
        throw new SoakException("the workers have been ended");
      }
      Worker worker = new Worker(slot + "." + started);
      started++;
      worker.process =
          ChildJvm.start("worker " + worker.name, "soak-worker", ear(worker), complaints);
      Links own = links.get(slot);
      worker.process.say(
          Json.write(
              new Told.Hello(
                  seeds.nextLong(),
                  hello.topology(),
                  hello.uris(),
                  own == null ? Map.of() : own.ports(),
                  hello.sourceFile(),
                  hello.databaseUrl(),
                  pids.get())));
      return worker;
    } finally {
      starting.unlock();
    }
  }

  private ChildJvm.Ear ear(Worker worker) {
    return new ChildJvm.Ear() {
      @Override
      public void line(String line) {
        Said said = Json.read(line, Said.class);
        history.take(worker.name, said);
        if (said instanceof Said.Ready || said instanceof Said.Trouble) {
          worker.ready.countDown();
        }
        if (said instanceof Said.Done) {
          worker.done.countDown();
        }
      }

      @Override
      public void garbled(String message) {
        history.take(worker.name, new Said.Trouble("what it says can't be read: " + message));
      }

      @Override
      public void gone() {
        history.take(worker.name, new Said.Trouble("it ended by itself"));
        worker.ready.countDown();
        worker.done.countDown();
      }
    };
  }

  /** Tells whether a worker is in the middle of a load under a lease. */
  boolean isLoading(int slot) {
    return history.isLoading(workers.get(slot).name);
  }

  int size() {
    return workers.size();
  }

  /** The ways of one worker; null if it has none that can be cut. */
  @Nullable Links links(int slot) {
    return links.get(slot);
  }

  void pause(int slot) throws IOException {
    workers.get(slot).process().pause();
  }

  void resume(int slot) throws IOException, InterruptedException {
    workers.get(slot).process().resume();
  }

  void kill(int slot) throws InterruptedException {
    workers.get(slot).process().kill();
  }

  /** Puts a new worker into a place and waits until it has begun. */
  void replace(int slot) throws IOException, InterruptedException {
    Worker worker = begin(slot);
    workers.set(slot, worker);
    awaitReady(worker);
  }

  /** Says which servers there are now. */
  void serversAre(List<Long> now) {
    for (Worker worker : workers) {
      if (worker.process().isAlive()) {
        try {
          worker.process().say(Json.write(new Told.Outlive(now)));
        } catch (IOException e) {
          complaints.println("Worker " + worker.name + " does not listen: " + e.getMessage());
        }
      }
    }
  }

  /**
   * Ends all calls.
   *
   * @param seconds how long to wait for that
   */
  void stopCalls(long seconds) throws InterruptedException {
    for (Worker worker : workers) {
      try {
        worker.process().say(Json.write(new Told.Stop()));
      } catch (IOException e) {
        complaints.println("Worker " + worker.name + " does not listen: " + e.getMessage());
      }
    }
    for (Worker worker : workers) {
      if (!worker.done.await(seconds, TimeUnit.SECONDS)) {
        history.take(worker.name, new Said.Trouble("its calls do not end"));
      }
    }
  }

  @Override
  public void close() {
    starting.lock();
    try {
      closed = true;
      List<Worker> ending = workers.stream().filter(worker -> worker.process != null).toList();
      ending.forEach(worker -> worker.process().sayGoodbye(Json.write(new Told.Bye())));
      ending.forEach(worker -> worker.process().awaitEnd());
      for (Links each : links) {
        if (each != null) {
          each.close();
        }
      }
    } finally {
      starting.unlock();
    }
  }

  /** Ends all without delay. */
  void destroy() {
    starting.lock();
    try {
      closed = true;
      workers.forEach(worker -> worker.process().destroy());
    } finally {
      starting.unlock();
    }
  }
}
