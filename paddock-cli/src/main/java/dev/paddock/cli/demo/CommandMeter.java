/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Counts the commands that name a key of the demo, by MONITOR on each server that takes commands,
 * so that a killed process is counted too and other users of the same Redis are not. What scripts
 * do inside Redis is left out: it costs no round trip. So is what servers send each other.
 */
final class CommandMeter implements AutoCloseable {
  private static final long CATCH_UP_SECONDS = 10;

  /** What a line holds before the arguments: time, database, client, command. */
  private static final Pattern LINE =
      Pattern.compile("[0-9.]+ \\[\\d+ (\\S+)\\] \"([^\"]*)\".*", Pattern.DOTALL);

  /** How keys move between the masters of a cluster: one tells the other. */
  private static final Set<String> MOVES = Set.of("MIGRATE", "RESTORE", "RESTORE-ASKING");

  private final Redis redis;
  private final boolean withReplicas;
  private final String prefix;
  private final String markPrefix;
  private final Monitor.Taps taps = new Monitor.Taps();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  // Under the lock.
  private final Map<String, Watched> servers = new TreeMap<>();
  private long count;
  private long marks;

  /** A server that is listened to, and how far. */
  private static final class Watched {
    final Monitor monitor;
    long marksSeen;
    boolean lost;

    Watched(Monitor monitor) {
      this.monitor = monitor;
    }
  }

  private CommandMeter(Redis redis, boolean withReplicas, String prefix) {
    this.redis = redis;
    this.withReplicas = withReplicas;
    this.prefix = prefix;
    this.markPrefix = prefix + "mark-";
  }

  /**
   * Begins to listen.
   *
   * @param redis where Redis is
   * @param withReplicas whether replicas may become masters while commands are counted
   * @param prefix what the keys begin with
   * @return the meter
   * @throws DemoException if a server can't be reached or refuses
   * @throws RedisException if it is not known which servers there are
   */
  static CommandMeter open(Redis redis, boolean withReplicas, String prefix) {
    CommandMeter meter = new CommandMeter(redis, withReplicas, prefix);
    try {
      meter.listen();
      return meter;
    } catch (DemoException | RedisException e) {
      meter.close();
      throw e;
    }
  }

  /** Listens to those servers that are there now. */
  private void listen() {
    List<RedisURI> wanted = redis.servers(withReplicas);
    Set<String> addresses = wanted.stream().map(Monitor::address).collect(Collectors.toSet());
    Set<Watched> left = new HashSet<>();
    Set<String> known = new HashSet<>();
    lock.lock();
    try {
      servers
          .entrySet()
          .removeIf(
              each ->
                  (each.getValue().lost || !addresses.contains(each.getKey()))
                      && left.add(each.getValue()));
      known.addAll(servers.keySet());
    } finally {
      lock.unlock();
    }
    left.forEach(each -> each.monitor.close());
    for (RedisURI uri : wanted) {
      if (!known.contains(Monitor.address(uri))) {
        listenTo(uri);
      }
    }
  }

  private void listenTo(RedisURI uri) {
    String address = Monitor.address(uri);
    Monitor monitor;
    try {
      monitor = new Monitor(taps, uri, line -> note(address, line), () -> noteLoss(address));
    } catch (RedisException e) {
      throw refused(address, e);
    }
    lock.lock();
    try {
      servers.put(address, new Watched(monitor));
    } finally {
      lock.unlock();
    }
    try {
      monitor.begin();
    } catch (RedisException e) {
      noteLoss(address);
      throw refused(address, e);
    }
  }

  private static DemoException refused(String address, RedisException e) {
    Throwable root = e;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    return new DemoException("MONITOR at " + address + " failed: " + root.getMessage(), e);
  }

  private void note(String address, String line) {
    lock.lock();
    try {
      Watched server = servers.get(address);
      int mark = line.indexOf(markPrefix);
      if (mark >= 0 && server != null) {
        int from = mark + markPrefix.length();
        server.marksSeen = Long.parseLong(line.substring(from, line.indexOf('"', from)));
        changed.signalAll();
      } else if (mark < 0 && counts(line, prefix, servers.keySet())) {
        count++;
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Tells whether a line of MONITOR is a command that a process of the demo sent for an experiment.
   *
   * @param line like {@code 1700000000.123456 [0 127.0.0.1:5555] "GET" "key"}
   * @param prefix what the keys begin with
   * @param servers where the servers listen: a replica shows what its master tells it
   * @return true if so
   */
  static boolean counts(String line, String prefix, Set<String> servers) {
    if (!line.contains(prefix) || line.contains(prefix + StallMeter.NAME + ":")) {
      return false;
    }
    Matcher matcher = LINE.matcher(line);
    return matcher.matches()
        && !matcher.group(1).equals("lua")
        && !servers.contains(matcher.group(1))
        && !MOVES.contains(matcher.group(2).toUpperCase(Locale.ROOT));
  }

  private void noteLoss(String address) {
    lock.lock();
    try {
      Watched server = servers.get(address);
      if (server != null) {
        server.lost = true;
        changed.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Counts from here.
   *
   * @throws DemoException if a server can't be listened to
   * @throws RedisException if it is not known which servers there are
   * @throws InterruptedException if the thread was interrupted
   */
  void begin() throws InterruptedException {
    listen();
    refuseLoss(catchUp());
    lock.lock();
    try {
      count = 0;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns the count.
   *
   * @return commands since {@link #begin()}
   * @throws DemoException if a server's commands were not all seen
   * @throws InterruptedException if the thread was interrupted
   */
  long end() throws InterruptedException {
    refuseLoss(catchUp());
    return count();
  }

  /**
   * Returns the count, although a server was killed: what that one got is counted up to its end.
   *
   * @param killed host and port of the server
   * @return commands since {@link #begin()}; null if those of another server were not all seen: one
   *     that Sentinels make the primary closes all connections
   * @throws DemoException if a server does not say what it is sent
   * @throws InterruptedException if the thread was interrupted
   */
  @Nullable Long endWithout(String killed) throws InterruptedException {
    return Set.of(killed).containsAll(catchUp()) ? count() : null;
  }

  private long count() {
    lock.lock();
    try {
      return count;
    } finally {
      lock.unlock();
    }
  }

  private static void refuseLoss(Set<String> lost) {
    if (!lost.isEmpty()) {
      throw new DemoException(
          "the commands can't be counted: MONITOR at "
              + String.join(", ", lost)
              + " came to an end");
    }
  }

  /** Waits for all that the servers have done, and returns which of them were lost. */
  private Set<String> catchUp() throws InterruptedException {
    Map<String, Watched> all;
    long mark;
    lock.lock();
    try {
      mark = ++marks;
      all = new TreeMap<>(servers);
    } finally {
      lock.unlock();
    }
    all.forEach((address, server) -> mark(address, server, mark));
    lock.lock();
    try {
      long left = TimeUnit.SECONDS.toNanos(CATCH_UP_SECONDS);
      for (Map.Entry<String, Watched> each : all.entrySet()) {
        Watched server = each.getValue();
        while (server.marksSeen < mark && !server.lost) {
          if (left <= 0) {
            throw new DemoException(
                "the commands can't be counted: MONITOR at " + each.getKey() + " lags behind");
          }
          left = changed.awaitNanos(left);
        }
      }
      return all.entrySet().stream()
          .filter(each -> each.getValue().lost)
          .map(Map.Entry::getKey)
          .collect(Collectors.toCollection(TreeSet::new));
    } finally {
      lock.unlock();
    }
  }

  private void mark(String address, Watched server, long mark) {
    try {
      server.monitor.mark(markPrefix + mark);
    } catch (RedisException e) {
      noteLoss(address);
    }
  }

  @Override
  public void close() {
    List<Watched> all;
    lock.lock();
    try {
      all = List.copyOf(servers.values());
      servers.clear();
    } finally {
      lock.unlock();
    }
    // Not under the lock: closing waits for the thread that tells of the loss of a connection.
    all.forEach(each -> each.monitor.close());
    taps.close();
  }
}
