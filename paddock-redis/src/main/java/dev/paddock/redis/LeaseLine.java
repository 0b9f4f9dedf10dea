/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.paddock.spi.Environment;
import dev.paddock.spi.HintSubscription;
import java.util.HexFormat;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;

/** The hints of one lease, passed on to this process when it is its turn. */
final class LeaseLine implements HintSubscription {
  /*
   * A release tells all who listen which processes wait, and in which order: the line. The first of
   * them asks at once. Each of the others asks too if it hears nothing more for a while, the longer the
   * further behind it is: the first may be gone, or its waiters may. A process that is not in the line
   * asks as if it were the last; that goes on even if more hints come, since nothing says that its turn
   * gets nearer.
   *
   * Whoever asks because it is its turn takes the line from its own place on along, once: the server
   * puts it into the lease that it grants, or into that of whoever was faster. A line that is lost all
   * the same (a process died with it, or its request was) is made anew by those who ask later.
   */
  static final int PLACE = 9;

  private static final long STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final int STEPS_MAX = 25;
  private static final Environment.Timer NO_TIMER = () -> {};

  private final Environment environment;
  private final String place;
  private final Runnable onHint;
  private final Consumer<LeaseLine> onClose;
  private final HintSubscription subscription;

  private final ReentrantLock lock = new ReentrantLock();

  // Under the lock. The line from this place on, and the line that it will be when the time is up.
  private String turn = "";
  private String later = "";
  private boolean due;
  private long dueNanos;
  private Environment.Timer timer = NO_TIMER;
  private boolean closed;

  /**
   * Subscribes.
   *
   * @param place this process's own
   * @param onHint runs when this process should ask
   * @param onClose is told the end
   * @param subscribe gives messages to whom it is given
   */
  LeaseLine(
      Environment environment,
      String place,
      Runnable onHint,
      Consumer<LeaseLine> onClose,
      Function<Consumer<byte[]>, HintSubscription> subscribe) {
    this.environment = environment;
    this.place = place;
    this.onHint = onHint;
    this.onClose = onClose;
    this.subscription = subscribe.apply(this::heard);
  }

  /** Makes a place that no other process has, or hardly ever. */
  static String newPlace(Environment environment) {
    return HexFormat.of().toHexDigits((int) environment.randomLong()) + ",";
  }

  private void heard(byte[] message) {
    String line = new String(message, ISO_8859_1);
    int at = line.indexOf(place);
    lock.lock();
    try {
      if (closed) {
        return;
      }
      if (at == 0) {
        // A line that nobody has taken along yet: who is in it came earlier.
        turn = joined(turn, line);
        later = "";
        due = false;
      } else {
        later = at < 0 ? "" : line.substring(at);
        if (at > 0 || !due) {
          int steps = (at < 0 ? line.length() : at) / PLACE;
          dueNanos = environment.nanoTime() + STEP_NANOS * Math.max(1, Math.min(steps, STEPS_MAX));
          due = true;
          arm();
        }
        return;
      }
    } finally {
      lock.unlock();
    }
    onHint.run();
  }

  /** A line with those of another behind it who are not in it yet. */
  private static String joined(String front, String behind) {
    StringBuilder line = new StringBuilder(front);
    for (int i = 0; i + PLACE <= behind.length(); i += PLACE) {
      String one = behind.substring(i, i + PLACE);
      if (line.indexOf(one) < 0) {
        line.append(one);
      }
    }
    return line.toString();
  }

  /** One timer is enough: it is not moved with each hint, but looks again when it goes off. */
  private void arm() {
    if (timer == NO_TIMER) {
      try {
        timer = environment.schedule(this::tick, dueNanos - environment.nanoTime());
      } catch (RejectedExecutionException e) {
        // Shut down: nobody waits any more.
        due = false;
      }
    }
  }

  private void tick() {
    lock.lock();
    try {
      timer = NO_TIMER;
      if (closed || !due) {
        return;
      }
      if (dueNanos - environment.nanoTime() > 0) {
        arm();
        return;
      }
      due = false;
      turn = joined(turn, later);
      later = "";
    } finally {
      lock.unlock();
    }
    onHint.run();
  }

  /** Returns the line from this place on if it is this process's turn, else nothing; once. */
  String takeTurn() {
    lock.lock();
    try {
      String mine = turn;
      turn = "";
      return mine;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public CompletionStage<Boolean> ready() {
    return subscription.ready();
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      timer.cancel();
      timer = NO_TIMER;
    } finally {
      lock.unlock();
    }
    subscription.close();
    onClose.accept(this);
  }
}
