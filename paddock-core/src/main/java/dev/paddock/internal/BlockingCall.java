/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import dev.paddock.CallOptions;
import dev.paddock.Loader;
import dev.paddock.Lookup;
import dev.paddock.PaddockInterruptedException;
import dev.paddock.spi.StoreKey;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A call whose thread waits at a mailbox and runs the steps that arrive there: so that a loader
 * runs on the thread that called, with its transaction, its MDC and its security context.
 *
 * <p>Made and awaited by one thread; all else may be called by any.
 */
final class BlockingCall<K, V> extends Call<K, V> {
  /*
   * The mailbox is a stack of steps, newest on top, that the caller's thread takes whole; CLOSED on
   * it means that this thread has left and takes none any more. The outcome is set once, by whoever
   * comes first: the answer, a failure, or the thread's own interrupt.
   *
   * A step that was accepted is run or dropped, never forgotten: the thread closes the mailbox when it
   * leaves, and drops what it finds there. A load that was handed over after the answer came goes to
   * another caller that way.
   */
  private static final class Mail {
    static final Mail CLOSED = new Mail(() -> {}, null);

    final Step step;
    @Nullable Mail below;

    Mail(Step step, @Nullable Mail below) {
      this.step = step;
      this.below = below;
    }
  }

  private record Failed(Throwable why) {}

  private static final VarHandle MAILBOX = field("mailbox", Mail.class);
  private static final VarHandle OUTCOME = field("outcome", Object.class);

  private final Thread thread = Thread.currentThread();
  private volatile @Nullable Mail mailbox; // through MAILBOX, too

  /** A {@link Lookup}, or what {@link Failed}. */
  private volatile @Nullable Object outcome; // through OUTCOME, too

  private volatile boolean loaded;

  private static VarHandle field(String name, Class<?> type) {
    try {
      return MethodHandles.lookup().findVarHandle(BlockingCall.class, name, type);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  BlockingCall(
      K key,
      StoreKey storeKey,
      @Nullable Loader<K, V> loader,
      CallOptions<K, V> options,
      long startNanos) {
    super(key, storeKey, loader, options, startNanos, false);
  }

  @Override
  boolean execute(Step step) {
    if (outcome != null) {
      return false;
    }
    Mail mail = new Mail(step, null);
    Mail top = mailbox;
    while (top != Mail.CLOSED) {
      mail.below = top;
      if (MAILBOX.compareAndSet(this, top, mail)) {
        LockSupport.unpark(thread);
        return true;
      }
      top = mailbox;
    }
    return false;
  }

  @Override
  void answer(Lookup<V> value) {
    end(value);
  }

  @Override
  void answerHere(Lookup<V> value) {
    // By this thread, which is awake.
    OUTCOME.compareAndSet(this, null, value);
  }

  @Override
  void fail(Throwable error) {
    end(new Failed(error));
  }

  private void end(Object how) {
    if (OUTCOME.compareAndSet(this, null, how)) {
      LockSupport.unpark(thread);
    }
  }

  @Override
  void loadDone() {
    loaded = true;
  }

  @Override
  boolean isGone() {
    return outcome != null;
  }

  @Override
  boolean blocks() {
    return true;
  }

  /**
   * Waits for the answer, running steps meanwhile.
   *
   * @throws PaddockInterruptedException if the thread is interrupted while it waits, and then no
   *     step will run any more
   */
  Lookup<V> await() {
    boolean interrupted = false;
    try {
      while (outcome == null) {
        Mail mail = mailbox == null ? null : (Mail) MAILBOX.getAndSet(this, null);
        if (mail != null) {
          runOldestFirst(mail);
          continue;
        }
        LockSupport.park(this);
        if (Thread.interrupted()) {
          interrupted = true;
          // Once the load is done only the store is waited for, and that is bounded.
          if (!loaded) {
            end(
                new Failed(
                    new PaddockInterruptedException(
                        "interrupted while waiting for " + storeKey, null)));
          }
        }
      }
    } catch (Error e) {
      // A loader's: its flight knows already, and here it goes on to the caller.
      end(new Failed(e));
      throw e;
    } finally {
      drop((Mail) MAILBOX.getAndSet(this, Mail.CLOSED));
      if (interrupted) {
        thread.interrupt();
      }
    }
    return result();
  }

  /** Runs steps until there is an answer; the others are dropped. */
  private void runOldestFirst(Mail newest) {
    Mail oldest = reversed(newest);
    try {
      while (oldest != null && outcome == null) {
        Step step = oldest.step;
        oldest = oldest.below;
        step.run();
      }
    } finally {
      drop(oldest);
    }
  }

  private static @Nullable Mail reversed(Mail newest) {
    Mail reversed = null;
    Mail next = newest;
    while (next != null) {
      Mail below = next.below;
      next.below = reversed;
      reversed = next;
      next = below;
    }
    return reversed;
  }

  private static void drop(@Nullable Mail first) {
    for (Mail mail = first; mail != null; mail = mail.below) {
      mail.step.dropped();
    }
  }

  @SuppressWarnings("unchecked") // It is one or the other.
  private Lookup<V> result() {
    Object how = outcome;
    if (how == null) {
      throw new IllegalStateException("ended without an answer");
    }
    if (!(how instanceof Failed failed)) {
      return (Lookup<V>) how;
    }
    if (failed.why instanceof Error e) {
      throw e;
    }
    if (failed.why instanceof RuntimeException e) {
      throw e;
    }
    throw new IllegalStateException(failed.why);
  }
}
