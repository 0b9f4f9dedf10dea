/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import dev.paddock.StoreException;
import dev.paddock.redis.internal.Secrets;
import dev.paddock.spi.Environment;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import java.net.SocketAddress;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Decides what becomes of commands while their connection is down. Thread-safe. */
final class Link implements RedisConnectionStateListener, Call.Owner {
  /*
   *        lost                  bridge over
   *   UP --------> BRIDGING -------------------> DOWN        CLOSED from anywhere, for good
   *    ^              | connected                  | connected
   *    +--------------+----------------------------+
   *
   * UP        commands go to Lettuce.
   * BRIDGING  commands wait here, unsent, for the reconnect: a cut that heals within the engine's own
   *           deadline fails no read. The bridge is one command time-out long, counted from the loss
   *           and not from each command, so that an outage costs a caller that wait at most once.
   * DOWN      commands fail at once, until connected again.
   *
   * Why not Lettuce's own buffer for disconnected commands: it keeps commands (with the values that
   * they carry) for as long as Redis is gone, also those that nobody waits for any more, and sends
   * them all when Redis is back. What waited here and was failed was certainly never sent, and a
   * caller may rely on that (StoreException.mayHaveHappened).
   *
   * Commands that were on their way when the connection was lost are Lettuce's: it sends them again
   * after the reconnect. All our scripts may be executed twice or late (idempotent by owner, dated by
   * notAfter, compared by epoch), and a GET that is sent again is a read that did not fail. The same
   * goes for those that slip into Lettuce's buffer before it has told us of the loss.
   *
   * All commands without a reply are counted and bounded, wherever they are; else a server that reads
   * and never answers would fill the memory.
   *
   * Lettuce's methods and the completion of calls run outside of the lock: they call back.
   */
  private enum State {
    UP,
    BRIDGING,
    DOWN,
    CLOSED
  }

  private final Environment environment;
  private final String address;
  private final Secrets secrets;
  private final long bridgeNanos;
  private final int openMax;
  private final Consumer<Call<?>> wire;
  private final Runnable onReadOnly;

  /**
   * Names the server of one connection. A reconnect may lead to another server of the same name,
   * with a clock of its own. Equal to itself alone: it is looked up by each read.
   */
  private static final class Node {
    private final String address;
    private final long connection;

    Node(String address, long connection) {
      this.address = address;
      this.connection = connection;
    }

    @Override
    public String toString() {
      return address + ", connection " + connection;
    }
  }

  private final AtomicInteger open = new AtomicInteger();
  private final ReentrantLock lock = new ReentrantLock();
  private volatile State state = State.UP;
  private Deque<Call<?>> waiting = new ArrayDeque<>(); // guarded by lock
  private Environment.@Nullable Timer bridgeEnd; // guarded by lock
  private long bridges; // guarded by lock
  private volatile Node node;

  /**
   * Makes a link that is up.
   *
   * @param bridgeNanos how long after a loss commands wait for the reconnect
   * @param openMax how many commands may be without a reply
   * @param wire hands a command to Lettuce
   * @param onReadOnly runs at each reply that says that the server is a replica
   */
  Link(
      Environment environment,
      String address,
      Secrets secrets,
      long bridgeNanos,
      int openMax,
      Consumer<Call<?>> wire,
      Runnable onReadOnly) {
    this.environment = environment;
    this.address = address;
    this.secrets = secrets;
    this.bridgeNanos = bridgeNanos;
    this.openMax = openMax;
    this.wire = wire;
    this.onReadOnly = onReadOnly;
    this.node = new Node(address, 1);
  }

  <T> Call<T> send(Call<T> call) {
    if (open.incrementAndGet() > openMax) {
      refuse(call, openMax + " commands are without a reply already");
    } else if (state == State.UP) {
      wire(call);
    } else {
      hold(call);
    }
    return call;
  }

  private void hold(Call<?> call) {
    State now;
    lock.lock();
    try {
      now = state;
      if (now == State.BRIDGING) {
        waiting.add(call);
      }
    } finally {
      lock.unlock();
    }
    switch (now) {
      case UP -> wire(call);
      case BRIDGING -> {}
      case DOWN -> refuse(call, "the connection is lost, and reconnecting goes on");
      case CLOSED -> refuse(call, "the connection was closed");
    }
  }

  private void wire(Call<?> call) {
    try {
      wire.accept(call);
    } catch (RuntimeException e) {
      call.completeExceptionally(e);
    }
  }

  private void refuse(Call<?> call, String why) {
    call.completeExceptionally(
        new StoreException("not sent to Redis at " + address + ": " + why, null, false));
  }

  @Override
  public void onRedisConnected(RedisChannelHandler<?, ?> connection, SocketAddress socketAddress) {
    up();
  }

  @Override
  public void onRedisDisconnected(RedisChannelHandler<?, ?> connection) {
    lost();
  }

  void up() {
    // Lettuce tells of one connect after the other, so nothing is lost here.
    node = new Node(address, node.connection + 1);
    for (Call<?> call : leave(State.UP)) {
      wire(call);
    }
  }

  /** Lettuce tells of every reconnect that got no further than the handshake, too. */
  void lost() {
    lock.lock();
    try {
      if (state == State.UP) {
        state = State.BRIDGING;
        long bridge = ++bridges;
        bridgeEnd = schedule(() -> bridgeOver(bridge));
      }
    } finally {
      lock.unlock();
    }
  }

  private Environment.@Nullable Timer schedule(Runnable task) {
    try {
      return environment.schedule(task, bridgeNanos);
    } catch (RejectedExecutionException e) {
      // The environment is closed, and this link will be in a moment, or was never used.
      return null;
    }
  }

  private void bridgeOver(long bridge) {
    Deque<Call<?>> late;
    lock.lock();
    try {
      // A timer that comes too late to be cancelled must not end the next bridge.
      if (state != State.BRIDGING || bridge != bridges) {
        return;
      }
      late = leave(State.DOWN);
    } finally {
      lock.unlock();
    }
    for (Call<?> call : late) {
      refuse(call, "the connection is lost, and did not come back in time");
    }
  }

  /** Ends a bridge before its time: nothing will come of it. */
  void unreachable(String why) {
    Deque<Call<?>> vain;
    lock.lock();
    try {
      if (state != State.BRIDGING) {
        return;
      }
      vain = leave(State.DOWN);
    } finally {
      lock.unlock();
    }
    for (Call<?> call : vain) {
      refuse(call, why);
    }
  }

  void close() {
    for (Call<?> call : leave(State.CLOSED)) {
      refuse(call, "the connection was closed");
    }
  }

  /** Takes the next state, unless closed, and returns what waited. */
  private Deque<Call<?>> leave(State next) {
    lock.lock();
    try {
      if (state != State.CLOSED) {
        state = next;
      }
      if (bridgeEnd != null) {
        bridgeEnd.cancel();
        bridgeEnd = null;
      }
      Deque<Call<?>> left = waiting;
      waiting = new ArrayDeque<>();
      return left;
    } finally {
      lock.unlock();
    }
  }

  /** Returns what is equal as long as the connection is the same. */
  Object node() {
    return node;
  }

  boolean isUp() {
    return state == State.UP;
  }

  /** Tells whether commands wait for a connection. */
  boolean isBridging() {
    return state == State.BRIDGING;
  }

  /** How many commands are without a reply. */
  int open() {
    return open.get();
  }

  @Override
  public void settled() {
    open.decrementAndGet();
  }

  /** An owner for commands that do not go through the link. */
  Call.Owner uncounted() {
    return new Call.Owner() {
      @Override
      public void settled() {}

      @Override
      public void readOnly() {}

      @Override
      public StoreException unanswered(Throwable cause, boolean mayHaveHappened) {
        return Link.this.unanswered(cause, mayHaveHappened);
      }
    };
  }

  @Override
  public void readOnly() {
    onReadOnly.run();
  }

  @Override
  public StoreException unanswered(Throwable cause, boolean mayHaveHappened) {
    String what =
        mayHaveHappened
            ? "no answer from Redis at " + address + ", the command may have been executed: "
            : "not sent to Redis at " + address + ": ";
    return new StoreException(
        what + secrets.summary(cause), secrets.causeOrNull(cause), mayHaveHappened);
  }
}
