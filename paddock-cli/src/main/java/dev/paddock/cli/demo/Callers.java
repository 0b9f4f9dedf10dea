/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The callers of one run in one process: threads that all ask at the same instant. */
final class Callers {
  private final Order.Run run;
  private final Reading reading;
  private final Consumer<Report> reports;
  private final Consumer<List<Report.Answer>> whenDone;
  private final AtomicInteger asked = new AtomicInteger();
  private final AtomicInteger busy;
  private final AtomicBoolean stopped = new AtomicBoolean();
  private final Queue<Report.Answer> answers = new ConcurrentLinkedQueue<>();

  /**
   * Makes the callers of a run.
   *
   * @param run the run
   * @param reading how they read
   * @param reports takes {@link Report.AllAsked}
   * @param whenDone takes all answers in the end
   */
  Callers(
      Order.Run run,
      Reading reading,
      Consumer<Report> reports,
      Consumer<List<Report.Answer>> whenDone) {
    this.run = run;
    this.reading = reading;
    this.reports = reports;
    this.whenDone = whenDone;
    this.busy = new AtomicInteger(run.callers());
  }

  void start(ExecutorService threads) {
    for (int i = 0; i < run.callers(); i++) {
      threads.execute(this::call);
    }
  }

  /** Lets each caller finish what it is at. */
  void stop() {
    stopped.set(true);
  }

  private void call() {
    try {
      WallClock.sleepUntil(run.startAtMicros());
      long askedMicros = WallClock.micros();
      if (asked.incrementAndGet() == run.callers()) {
        reports.accept(new Report.AllAsked(run.round()));
      }
      answers.add(ask(askedMicros));
      while (run.again() && !stopped.get()) {
        answers.add(ask(WallClock.micros()));
      }
    } catch (InterruptedException e) {
      // The worker is ending.
      Thread.currentThread().interrupt();
    } finally {
      if (busy.decrementAndGet() == 0) {
        whenDone.accept(List.copyOf(answers));
      }
    }
  }

  private Report.Answer ask(long askedMicros) throws InterruptedException {
    long givesUpMicros = askedMicros + TimeUnit.MILLISECONDS.toMicros(run.patienceMillis());
    Leaderboard value = null;
    String error = null;
    try {
      value = reading.read(run.cell(), () -> !stopped.get() && WallClock.micros() < givesUpMicros);
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) {
      error = e.getClass().getName();
    }
    return answer(askedMicros, value, error);
  }

  private static Report.Answer answer(
      long askedMicros, @Nullable Leaderboard value, @Nullable String error) {
    return new Report.Answer(
        askedMicros,
        WallClock.micros(),
        value == null ? 0 : value.version(),
        value == null ? 0 : value.loadStartMicros(),
        error);
  }
}
