/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Counts the commands that clients send to a server, as the server itself sees them: by MONITOR, so
 * without what scripts do inside.
 *
 * <p>Thread-safe. It has one thread and one connection of its own, which it does not count.
 *
 * @since 0.1.0
 */
public final class CommandCounter implements AutoCloseable {
  private static final Pattern LINE =
      Pattern.compile("[0-9.]+ \\[\\d+ (lua|[^\\]]+)\\] \"([^\"]*)\"(?: \"([^\"]*)\")?.*");
  private static final long SYNC_SECONDS_MAX = 30;

  private final RedisCommands monitor;
  private final RedisCommands marker;
  private final Set<String> leftOut;
  private final Thread reader;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  // Under the lock.
  private final Map<String, Long> counts = new TreeMap<>();
  private long marks;
  private long marksSeen;
  private boolean closed;
  private @Nullable IOException failure;

  private CommandCounter(RedisCommands monitor, RedisCommands marker, Set<String> leftOut) {
    this.monitor = monitor;
    this.marker = marker;
    this.leftOut = leftOut;
    this.reader = new Thread(this::read, "paddock-command-counter");
    this.reader.setDaemon(true);
  }

  /**
   * Begins to count; commands that the server gets after this returns are counted.
   *
   * @param server the server; its {@link RedisServerProcess#console()} is not counted
   * @param clientAddresses more clients to leave out, see {@link RedisCommands#clientAddress()}
   * @return the counter
   */
  public static CommandCounter on(RedisServerProcess server, String... clientAddresses) {
    Set<String> leftOut = new HashSet<>(Arrays.asList(clientAddresses));
    leftOut.add(server.console().clientAddress());
    RedisCommands monitor = server.connect();
    RedisCommands marker = server.connect();
    leftOut.add(marker.clientAddress());
    monitor.text("MONITOR");
    CommandCounter counter = new CommandCounter(monitor, marker, leftOut);
    counter.reader.start();
    return counter;
  }

  /**
   * Returns the counts so far. It waits for the monitor to catch up: what the server had executed
   * before this call is in.
   *
   * @return how often, by the command's name in capitals; subcommands are not told apart
   * @throws IllegalStateException if the connection was lost, or the monitor does not catch up
   */
  public Map<String, Long> counts() {
    sync();
    lock.lock();
    try {
      return Map.copyOf(counts);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns the sum of the counts.
   *
   * @return how many commands
   * @throws IllegalStateException as {@link #counts()} does
   */
  public long total() {
    return counts().values().stream().mapToLong(Long::longValue).sum();
  }

  /** Begins to count anew, at the commands that the server gets from now on. */
  public void reset() {
    sync();
    lock.lock();
    try {
      counts.clear();
    } finally {
      lock.unlock();
    }
  }

  private void sync() {
    long mine;
    lock.lock();
    try {
      mine = ++marks;
    } finally {
      lock.unlock();
    }
    marker.text("ECHO", "mark-" + mine);
    lock.lock();
    try {
      long left = TimeUnit.SECONDS.toNanos(SYNC_SECONDS_MAX);
      while (marksSeen < mine) {
        if (failure != null) {
          throw new IllegalStateException("the monitor was lost", failure);
        }
        if (left <= 0) {
          throw new IllegalStateException("the monitor does not catch up");
        }
        left = changed.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    } finally {
      lock.unlock();
    }
  }

  private void read() {
    try {
      while (true) {
        record(String.valueOf(monitor.readPushed()));
      }
    } catch (IOException e) {
      lock.lock();
      try {
        if (!closed) {
          failure = e;
          changed.signalAll();
        }
      } finally {
        lock.unlock();
      }
    }
  }

  private void record(String line) {
    Matcher matcher = LINE.matcher(line);
    if (!matcher.matches()) {
      return;
    }
    String client = requireNonNull(matcher.group(1));
    String name = requireNonNull(matcher.group(2)).toUpperCase(Locale.ROOT);
    lock.lock();
    try {
      if (client.equals(marker.clientAddress())) {
        String mark = String.valueOf(matcher.group(3));
        if (mark.startsWith("mark-")) {
          marksSeen = Math.max(marksSeen, Long.parseLong(mark.substring(5)));
          changed.signalAll();
        }
      } else if (!client.equals("lua") && !leftOut.contains(client)) {
        counts.merge(name, 1L, Long::sum);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Ends the counting. Idempotent. */
  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
    } finally {
      lock.unlock();
    }
    monitor.close();
    marker.close();
  }
}
