/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.jedis;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.paddock.redis.internal.Secrets;
import dev.paddock.spi.Environment;
import dev.paddock.spi.HintSubscription;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Serves all subscriptions at one server over one connection, which is opened at the first of them
 * and read by a thread of its own. Thread-safe; callbacks run on that thread.
 */
final class HintChannels {
  /*
   * A topic is a channel that somebody listens to, or that the server still has to forget. settle()
   * compares what is wanted (is there a listener?) with what was sent over this connection, and sends
   * the difference; one thread at a time does that, and never one that must not block: the workers do,
   * and the reader when it has just connected. A confirmation names its channel, and only that counts. An error names
   * none: it belongs to the oldest command without an answer, for answers come in order.
   *
   * A new connection knows no channel, so after a loss all that is wanted is sent again. Each listener
   * of a channel that had been confirmed before gets a hint then, since messages may have been missed.
   *
   * The thread ends, and the connection with it, when nobody has listened for a while: the socket's
   * time-out tells, which pings keep off as long as there are listeners. The same time-out ends a
   * connection to a server that has gone without a word.
   *
   * The lock guards all fields. Neither the socket nor a callback nor the completion of a stage is
   * touched under it; what is written to the socket is under `writing`.
   */
  private static final System.Logger log = System.getLogger(HintChannels.class.getPackageName());
  private static final byte[] NOTHING = {};
  private static final long RETRY_NANOS = 500_000_000;
  private static final long PING_NANOS = 15_000_000_000L;
  private static final int SILENCE_MILLIS = 40_000;

  /** Which commands subscribe. */
  enum Kind {
    PLAIN(Command.SUBSCRIBE, Command.UNSUBSCRIBE),
    SHARDED(Command.SSUBSCRIBE, Command.SUNSUBSCRIBE);

    private final Command subscribe;
    private final Command unsubscribe;

    Kind(Command subscribe, Command unsubscribe) {
      this.subscribe = subscribe;
      this.unsubscribe = unsubscribe;
    }
  }

  /** Whoever waits for hints. */
  interface Listener {
    /** A message has come, or, if it is empty, may have been missed. */
    void message(byte[] message);

    /** The server ended the subscription by itself, or sent it elsewhere. */
    default void moved() {}
  }

  private final Kind kind;
  private final Environment environment;
  private final String name;
  private final Secrets secrets;
  private final Workers workers;
  private final long readyNanos;
  private final Supplier<Connection> connect;

  private final ReentrantLock writing = new ReentrantLock();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Map<ByteBuffer, Topic> topics = new HashMap<>();
  private final ArrayDeque<Topic> unanswered = new ArrayDeque<>();
  private @Nullable Connection connection;
  private @Nullable Thread reader;
  private boolean refusalLogged;
  private boolean throwLogged;
  private boolean closed;

  /**
   * Makes an empty set of channels.
   *
   * @param readyNanos how long a subscription waits to be confirmed before it says that it is not
   * @param connect opens a connection; blocks
   */
  HintChannels(
      Kind kind,
      Environment environment,
      String name,
      Secrets secrets,
      Workers workers,
      long readyNanos,
      Supplier<Connection> connect) {
    this.kind = kind;
    this.environment = environment;
    this.name = name;
    this.secrets = secrets;
    this.workers = workers;
    this.readyNanos = readyNanos;
    this.connect = connect;
  }

  private static final class Topic {
    final byte[] channel;
    final List<Subscription> listeners = new CopyOnWriteArrayList<>();
    boolean asked; // SUBSCRIBE was the last command sent
    boolean confirmed;
    boolean missed; // was confirmed on an earlier connection

    Topic(byte[] channel) {
      this.channel = channel;
    }
  }

  private final class Subscription implements HintSubscription {
    final Topic topic;
    final Listener listener;
    final CompletableFuture<Boolean> ready = new CompletableFuture<>();

    Subscription(Topic topic, Listener listener) {
      this.topic = topic;
      this.listener = listener;
    }

    @Override
    public CompletionStage<Boolean> ready() {
      return ready;
    }

    @Override
    public void close() {
      boolean last;
      lock.lock();
      try {
        last = topic.listeners.remove(this) && topic.listeners.isEmpty();
      } finally {
        lock.unlock();
      }
      ready.complete(false);
      if (last) {
        workers.run(HintChannels.this::settle);
      }
    }
  }

  HintSubscription subscribe(byte[] channel, Listener listener) {
    Subscription subscription;
    boolean confirmed;
    boolean never;
    lock.lock();
    try {
      Topic topic = topics.computeIfAbsent(ByteBuffer.wrap(channel), key -> new Topic(channel));
      subscription = new Subscription(topic, listener);
      never = closed;
      if (!never) {
        topic.listeners.add(subscription);
        if (reader == null) {
          Thread thread = new Thread(this::read, "paddock-jedis-hints");
          thread.setDaemon(true);
          reader = thread;
          thread.start();
        }
      } else {
        topics.clear();
      }
      // Not if UNSUBSCRIBE is on its way: then SUBSCRIBE has to follow it.
      confirmed = topic.confirmed && topic.asked;
    } finally {
      lock.unlock();
    }
    if (never || confirmed) {
      subscription.ready.complete(!never);
      return subscription;
    }
    workers.run(this::settle);
    try {
      environment.schedule(() -> subscription.ready.complete(false), readyNanos);
    } catch (RejectedExecutionException e) {
      subscription.ready.complete(false);
    }
    return subscription;
  }

  /** Sends what is wanted and was not sent, and what nobody wants any more. */
  private void settle() {
    writing.lock();
    try {
      Connection to;
      List<CommandArguments> commands = new ArrayList<>();
      lock.lock();
      try {
        to = connection;
        if (to == null) {
          return;
        }
        for (Topic topic : topics.values()) {
          boolean wanted = !topic.listeners.isEmpty();
          if (wanted != topic.asked) {
            topic.asked = wanted;
            unanswered.add(topic);
            commands.add(
                new CommandArguments(wanted ? kind.subscribe : kind.unsubscribe)
                    .add(topic.channel));
          }
        }
      } finally {
        lock.unlock();
      }
      if (!commands.isEmpty()) {
        write(to, commands);
      }
    } finally {
      writing.unlock();
    }
  }

  private void write(Connection to, List<CommandArguments> commands) {
    try {
      commands.forEach(to::sendCommand);
      // Reads nothing, but sends what was written.
      to.getMany(0);
    } catch (JedisException e) {
      // The reader learns of it, too, and connects again.
      disconnect(to);
    }
  }

  private static void disconnect(Connection connection) {
    try {
      connection.forceDisconnect();
    } catch (IOException e) {
      log.log(System.Logger.Level.DEBUG, "a connection for hints did not close", e);
    }
  }

  /** Connects anew, to where the primary is by now. */
  void reconnect() {
    Connection old;
    lock.lock();
    try {
      old = connection;
    } finally {
      lock.unlock();
    }
    if (old != null) {
      disconnect(old);
    }
  }

  private void ping(Connection over) {
    boolean current;
    lock.lock();
    try {
      current = over == connection && isWanted();
    } finally {
      lock.unlock();
    }
    if (current) {
      writing.lock();
      try {
        write(over, List.of(new CommandArguments(Command.PING)));
      } finally {
        writing.unlock();
      }
    }
    pingLater(over);
  }

  private void pingLater(Connection over) {
    boolean current;
    lock.lock();
    try {
      current = over == connection;
    } finally {
      lock.unlock();
    }
    if (current) {
      workers.runLater(environment, () -> ping(over), PING_NANOS);
    }
  }

  private boolean isWanted() {
    return topics.values().stream().anyMatch(topic -> !topic.listeners.isEmpty());
  }

  // ---------------------------------------------------------------- the reader

  private void read() {
    while (true) {
      Connection made = null;
      try {
        made = connect.get();
        made.setSoTimeout(SILENCE_MILLIS);
      } catch (RuntimeException e) {
        log.log(
            System.Logger.Level.DEBUG,
            () -> "no connection for hints to " + name + ": " + secrets.summary(e));
      }
      if (made != null && begin(made)) {
        try {
          settle();
          pingLater(made);
          receive(made);
        } catch (JedisException e) {
          log.log(
              System.Logger.Level.DEBUG,
              () -> "the connection for hints to " + name + " ended: " + secrets.summary(e));
        }
      }
      if (made != null) {
        disconnect(made);
        // Gives it back to the pool that it may be from.
        made.close();
      }
      if (!again(made != null)) {
        return;
      }
    }
  }

  /** Takes over a connection that knows no channel; false if there is no need for one any more. */
  private boolean begin(Connection made) {
    lock.lock();
    try {
      if (closed) {
        return false;
      }
      unanswered.clear();
      topics.values().removeIf(topic -> topic.listeners.isEmpty());
      for (Topic topic : topics.values()) {
        topic.missed |= topic.confirmed;
        topic.asked = false;
        topic.confirmed = false;
      }
      connection = made;
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Waits before the next connection; false if none is needed, and then this thread is done. */
  private boolean again(boolean connected) {
    lock.lock();
    try {
      connection = null;
      long left =
          connected ? 0 : RETRY_NANOS + Math.floorMod(environment.randomLong(), RETRY_NANOS);
      while (left > 0 && !closed) {
        left = changed.awaitNanos(left);
      }
      if (closed || !isWanted()) {
        topics.clear();
        reader = null;
        changed.signalAll();
        return false;
      }
      return true;
    } catch (InterruptedException e) {
      // Nobody interrupts it but to end it.
      closed = true;
      reader = null;
      changed.signalAll();
      Thread.currentThread().interrupt();
      return false;
    } finally {
      lock.unlock();
    }
  }

  private void receive(Connection from) {
    while (true) {
      Object reply;
      try {
        reply = from.getUnflushedObject();
      } catch (JedisDataException e) {
        refused(e);
        continue;
      }
      if (reply instanceof List<?> words
          && words.size() >= 2
          && words.get(0) instanceof byte[] what
          && words.get(1) instanceof byte[] channel) {
        switch (new String(what, US_ASCII)) {
          case "message", "smessage" -> {
            if (words.size() > 2 && words.get(2) instanceof byte[] message) {
              message(channel, message);
            }
          }
          case "subscribe", "ssubscribe" -> confirmed(channel, true);
          case "unsubscribe", "sunsubscribe" -> confirmed(channel, false);
          default -> {}
        }
      }
    }
  }

  private void message(byte[] channel, byte[] message) {
    List<Subscription> listeners;
    lock.lock();
    try {
      Topic topic = topics.get(ByteBuffer.wrap(channel));
      listeners = topic == null ? List.of() : topic.listeners;
    } finally {
      lock.unlock();
    }
    tell(listeners, message);
  }

  private void tell(List<Subscription> listeners, byte[] message) {
    for (Subscription each : listeners) {
      try {
        each.listener.message(message);
      } catch (RuntimeException e) {
        if (!throwLogged) {
          throwLogged = true;
          log.log(System.Logger.Level.WARNING, "a receiver of hints threw", e);
        }
      }
    }
  }

  private void confirmed(byte[] channel, boolean subscribed) {
    List<Subscription> listeners = List.of();
    boolean missed = false;
    boolean moved = false;
    lock.lock();
    try {
      Topic topic = topics.get(ByteBuffer.wrap(channel));
      if (topic == null) {
        return;
      }
      boolean answer = unanswered.peek() == topic;
      if (answer) {
        unanswered.poll();
      }
      topic.confirmed = subscribed;
      if (subscribed) {
        listeners = List.copyOf(topic.listeners);
        missed = topic.missed;
        topic.missed = false;
      } else if (!answer) {
        // The slot has left the server, and the channel with it.
        listeners = List.copyOf(topic.listeners);
        topics.remove(ByteBuffer.wrap(channel));
        moved = true;
      } else if (topic.listeners.isEmpty()) {
        topics.remove(ByteBuffer.wrap(channel));
      }
    } finally {
      lock.unlock();
    }
    if (moved) {
      listeners.forEach(each -> each.listener.moved());
      return;
    }
    listeners.forEach(each -> each.ready.complete(true));
    if (missed) {
      tell(listeners, NOTHING);
    }
  }

  private void refused(JedisDataException error) {
    String text = String.valueOf(error.getMessage());
    boolean elsewhere = text.startsWith("MOVED") || text.startsWith("CLUSTERDOWN");
    List<Subscription> listeners;
    boolean first;
    lock.lock();
    try {
      Topic topic = unanswered.poll();
      if (topic == null) {
        return;
      }
      listeners = List.copyOf(topic.listeners);
      topic.listeners.clear();
      topics.remove(ByteBuffer.wrap(topic.channel));
      first = !elsewhere && !refusalLogged;
      refusalLogged |= first;
    } finally {
      lock.unlock();
    }
    if (first) {
      log.log(
          System.Logger.Level.WARNING,
          () ->
              name
                  + " refuses a subscription, so that waiting callers are served by polls only: "
                  + secrets.shown(text));
    }
    for (Subscription each : listeners) {
      if (elsewhere) {
        each.listener.moved();
      } else {
        each.ready.complete(false);
      }
    }
  }

  // ---------------------------------------------------------------- closing

  /** Ends the connection. Never blocks. */
  void close() {
    Connection old;
    List<Subscription> waiting = new ArrayList<>();
    lock.lock();
    try {
      closed = true;
      old = connection;
      topics.values().forEach(topic -> waiting.addAll(topic.listeners));
      topics.clear();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    if (old != null) {
      disconnect(old);
    }
    waiting.forEach(each -> each.ready.complete(false));
  }

  /** Waits for the reader to end, within reason. */
  void awaitEnd(long millis) throws InterruptedException {
    Thread thread;
    lock.lock();
    try {
      thread = reader;
    } finally {
      lock.unlock();
    }
    if (thread != null && thread != Thread.currentThread()) {
      TimeUnit.MILLISECONDS.timedJoin(thread, millis);
    }
  }

  /** How many channels somebody listens to. */
  int channels() {
    lock.lock();
    try {
      return topics.size();
    } finally {
      lock.unlock();
    }
  }
}
