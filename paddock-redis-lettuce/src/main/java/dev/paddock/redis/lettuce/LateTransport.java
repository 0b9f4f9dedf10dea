/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import dev.paddock.StoreException;
import dev.paddock.redis.RedisTransport;
import dev.paddock.spi.Environment;
import dev.paddock.spi.HintSubscription;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One of several servers, which may be away when the store is opened: connects in the background,
 * again until it succeeds. Until then commands fail at once and have not happened, but for those
 * that arrive before the first attempt has ended: they wait for it.
 */
final class LateTransport implements RedisTransport {
  private static final long RETRY_MILLIS = 1_000;

  private final String address;
  private final Environment environment;
  private final Supplier<? extends RedisTransport> connecting;
  private final Runnable onClosed;
  private final CompletableFuture<Void> tried = new CompletableFuture<>();
  private final AtomicBoolean closing = new AtomicBoolean();
  private final ReentrantLock lock = new ReentrantLock();
  private volatile @Nullable RedisTransport transport; // set under the lock
  private volatile boolean closed; // set under the lock
  private volatile @Nullable Throwable failure;

  /**
   * Makes a transport that is not connected yet.
   *
   * @param address the server's, for messages
   * @param connecting connects, and blocks meanwhile; runs on the environment's executor
   * @param onClosed runs once, after the connection was closed
   */
  LateTransport(
      String address,
      Environment environment,
      Supplier<? extends RedisTransport> connecting,
      Runnable onClosed) {
    this.address = address;
    this.environment = environment;
    this.connecting = connecting;
    this.onClosed = onClosed;
  }

  /** Begins to connect. */
  void begin() {
    try {
      environment.executor().execute(this::connect);
    } catch (RejectedExecutionException e) {
      failure = e;
      tried.complete(null);
    }
  }

  private void connect() {
    if (closed) {
      tried.complete(null);
      return;
    }
    RedisTransport made = null;
    try {
      made = connecting.get();
    } catch (RuntimeException e) {
      failure = e;
      // Not all at the same moment, and nobody has to be told: the store's operations tell.
      long pause = RETRY_MILLIS + Math.floorMod(environment.randomLong(), RETRY_MILLIS / 2);
      try {
        environment.schedule(this::begin, TimeUnit.MILLISECONDS.toNanos(pause));
      } catch (RejectedExecutionException closedMeanwhile) {
        failure = closedMeanwhile;
      }
    }
    boolean late = false;
    if (made != null) {
      lock.lock();
      try {
        late = closed;
        if (!late) {
          transport = made;
        }
      } finally {
        lock.unlock();
      }
    }
    tried.complete(null);
    if (late && made != null) {
      made.close();
    }
  }

  private <T> CompletionStage<T> send(Function<RedisTransport, CompletionStage<T>> command) {
    RedisTransport connected = transport;
    if (connected != null) {
      return command.apply(connected);
    }
    if (!tried.isDone()) {
      return tried.thenCompose(nothing -> send(command));
    }
    Throwable why = failure;
    return CompletableFuture.failedFuture(
        new StoreException(
            closed
                ? "the connection to " + address + " is closed"
                : "there is no connection to "
                    + address
                    + " yet"
                    + (why == null ? "" : ": " + why.getMessage()),
            why,
            false));
  }

  @Override
  public CompletionStage<byte @Nullable []> get(byte[] key) {
    return send(connected -> connected.get(key));
  }

  @Override
  public List<CompletionStage<byte @Nullable []>> getAll(List<byte[]> keys) {
    RedisTransport connected = transport;
    return connected == null ? RedisTransport.super.getAll(keys) : connected.getAll(keys);
  }

  @Override
  public CompletionStage<List<byte[]>> evalsha(String sha1, byte[][] keys, byte[][] args) {
    return send(connected -> connected.evalsha(sha1, keys, args));
  }

  @Override
  public CompletionStage<List<byte[]>> eval(byte[] script, byte[][] keys, byte[][] args) {
    return send(connected -> connected.eval(script, keys, args));
  }

  @Override
  public CompletionStage<Long> timeMicros(byte[] key) {
    return send(connected -> connected.timeMicros(key));
  }

  @Override
  public Object nodeOf(byte[] key) {
    RedisTransport connected = transport;
    return connected == null ? this : connected.nodeOf(key);
  }

  @Override
  public boolean shardedChannels() {
    RedisTransport connected = transport;
    return connected != null && connected.shardedChannels();
  }

  @Override
  public HintSubscription subscribe(byte[] channel, Consumer<byte[]> onMessage) {
    RedisTransport connected = transport;
    return connected == null ? Deaf.INSTANCE : connected.subscribe(channel, onMessage);
  }

  @Override
  public HintSubscription subscribeToAll(byte[] channel, Consumer<byte[]> onMessage) {
    RedisTransport connected = transport;
    return connected == null ? Deaf.INSTANCE : connected.subscribeToAll(channel, onMessage);
  }

  /** Of a server that is not there; polls go on. */
  private enum Deaf implements HintSubscription {
    INSTANCE;

    @Override
    public CompletionStage<Boolean> ready() {
      return CompletableFuture.completedFuture(false);
    }

    @Override
    public void close() {}
  }

  @Override
  public void close() {
    if (!closing.compareAndSet(false, true)) {
      return;
    }
    RedisTransport connected;
    lock.lock();
    try {
      closed = true;
      connected = transport;
    } finally {
      lock.unlock();
    }
    if (connected != null) {
      connected.close();
    }
    onClosed.run();
  }
}
