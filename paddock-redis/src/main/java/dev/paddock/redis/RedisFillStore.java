/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.util.Objects.requireNonNull;

import dev.paddock.PaddockException;
import dev.paddock.PaddockInterruptedException;
import dev.paddock.StoreException;
import dev.paddock.spi.AcquireReply;
import dev.paddock.spi.AcquireRequest;
import dev.paddock.spi.Environment;
import dev.paddock.spi.ExtendOutcome;
import dev.paddock.spi.FillOutcome;
import dev.paddock.spi.FillRequest;
import dev.paddock.spi.FillStore;
import dev.paddock.spi.HintSubscription;
import dev.paddock.spi.PutOutcome;
import dev.paddock.spi.ReadReply;
import dev.paddock.spi.StoreKey;
import dev.paddock.spi.StoreOptions;
import dev.paddock.spi.StoredEntry;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A {@link FillStore} over any {@link RedisTransport}: a value key and, around loads and
 * invalidations, a lease record for each value, changed by six scripts.
 *
 * <p>Each operation is one command, atomic on the server that has the key. What is read from
 * replicas, lost by a failover, or evicted is outside its guarantees; {@code PROTOCOL.md} in this
 * module states them.
 *
 * <p>Thread-safe; nothing but {@link #open} blocks. Stages complete on the transport's threads. The
 * store owns the transport and closes it. While it is used it keeps one timer, by which it asks
 * servers for their time that have not told it otherwise; at rest it keeps none.
 *
 * <p>When the server is slow or gone, stages complete late, exceptionally, or never, as the
 * transport has it. Server clocks are estimated over the monotonic clock, so neither this process's
 * wall clock nor a step of it matters; a step of a server's clock is noticed with the next reply.
 */
public final class RedisFillStore implements FillStore {
  private static final byte[] NO_KEY = {};
  private static final byte[] NOTHING = {};
  private static final byte[] YES = {'1'};
  private static final byte[] NO = {'0'};
  private static final byte[] HARD = "HARD".getBytes(US_ASCII);
  private static final byte[] SOFT = "SOFT".getBytes(US_ASCII);
  private static final HintSubscription NO_HINTS = new NoHints();

  private final RedisTransport transport;
  private final Environment environment;
  private final ServerClocks clocks;
  private final byte[] channels;
  private final AtomicBoolean closed = new AtomicBoolean();

  private RedisFillStore(RedisTransport transport, Environment environment, ServerClocks clocks) {
    this.transport = transport;
    this.environment = environment;
    this.clocks = clocks;
    this.channels = new byte[] {(byte) (transport.shardedChannels() ? 'S' : 'P')};
  }

  /**
   * Opens a store: asks the server for its time, and waits for the answer no longer than the
   * connect time-out.
   *
   * @param transport the connection, which the store then owns and closes, also when this fails
   * @param environment clocks and timers, which the store does not close
   * @param options time-outs
   * @return the store
   * @throws StoreException if the server does not answer in time or answers with an error
   * @throws PaddockInterruptedException if the thread is interrupted while it waits; its flag is
   *     set
   */
  public static RedisFillStore open(
      RedisTransport transport, Environment environment, StoreOptions options) {
    CompletableFuture<RedisFillStore> opening =
        openAsync(transport, environment, options).toCompletableFuture();
    try {
      return opening.get(options.connectTimeout().toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      Throwable cause = Failures.unwrap(e);
      boolean may = cause instanceof StoreException known && known.mayHaveHappened();
      throw new StoreException(String.valueOf(cause.getMessage()), cause, may);
    } catch (TimeoutException e) {
      throw abandoned(opening, transport, noAnswer(options.connectTimeout()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw abandoned(
          opening,
          transport,
          new PaddockInterruptedException("interrupted while opening the Redis store", e));
    }
  }

  private static PaddockException abandoned(
      CompletableFuture<RedisFillStore> opening, RedisTransport transport, PaddockException why) {
    if (!opening.completeExceptionally(why)) {
      CompletionStage<RedisFillStore> opened = opening;
      opened.whenComplete(
          (store, error) -> {
            if (store != null) {
              store.close();
            }
          });
    }
    transport.close();
    return why;
  }

  /**
   * Opens a store without blocking: for threads that must not wait, and for virtual time.
   *
   * @param transport the connection, which the store then owns and closes, also when this fails
   * @param environment clocks and timers, which the store does not close
   * @param options time-outs
   * @return the store; completes exceptionally with a {@link StoreException} if the server does not
   *     answer within the connect time-out, or answers with an error
   */
  public static CompletionStage<RedisFillStore> openAsync(
      RedisTransport transport, Environment environment, StoreOptions options) {
    requireNonNull(transport, "transport");
    requireNonNull(environment, "environment");
    Duration timeout = options.connectTimeout();
    CompletableFuture<RedisFillStore> opening = new CompletableFuture<>();
    long sent = environment.nanoTime();
    Environment.Timer deadline =
        environment.schedule(
            () -> {
              if (opening.completeExceptionally(noAnswer(timeout))) {
                transport.close();
              }
            },
            timeout.toNanos());
    CompletionStage<Long> reply;
    try {
      reply = transport.timeMicros(NO_KEY);
    } catch (RuntimeException e) {
      reply = CompletableFuture.failedFuture(e);
    }
    reply.whenComplete(
        (micros, error) -> {
          deadline.cancel();
          try {
            if (error != null) {
              throw Failures.opening(Failures.unwrap(error));
            }
            if (micros == null || micros < 0) {
              throw new StoreException(
                  "the Redis store can't be opened: the answer to TIME makes no sense",
                  null,
                  false);
            }
            long heard = environment.nanoTime();
            ServerClocks clocks =
                new ServerClocks(
                    transport,
                    environment,
                    NO_KEY,
                    ServerClocks.Sample.of(sent, heard, micros, 1),
                    transport.nodeOf(NO_KEY));
            opening.complete(new RedisFillStore(transport, environment, clocks));
          } catch (RuntimeException e) {
            if (opening.completeExceptionally(Failures.opening(e))) {
              transport.close();
            }
          }
        });
    return opening;
  }

  private static StoreException noAnswer(Duration timeout) {
    return new StoreException(
        "the Redis store can't be opened: no answer within "
            + timeout
            + "; check the address, or raise the connect time-out",
        null,
        false);
  }

  @Override
  public CompletionStage<ReadReply> read(StoreKey key) {
    if (closed.get()) {
      return CompletableFuture.failedFuture(Failures.closed("GET", key));
    }
    CompletableFuture<ReadReply> result = new CompletableFuture<>();
    CompletionStage<byte @Nullable []> stage;
    try {
      stage = transport.get(key.bytes());
    } catch (RuntimeException e) {
      stage = CompletableFuture.failedFuture(e);
    }
    stage.whenComplete(
        (bytes, error) -> {
          if (error != null) {
            Throwable cause = Failures.unwrap(error);
            if (Failures.isWrongType(cause)) {
              result.complete(new ReadReply.Unreadable("another type of key"));
            } else {
              result.completeExceptionally(Failures.of("GET", key, cause));
            }
          } else {
            result.complete(bytes == null ? ReadReply.MISSING : EntryFormat.decode(bytes));
          }
        });
    return result;
  }

  @Override
  public CompletionStage<AcquireReply> acquire(AcquireRequest request) {
    CompletableFuture<AcquireReply> result = new CompletableFuture<>();
    acquire(request, request.validForMillis(), true, result);
    return result;
  }

  private void acquire(
      AcquireRequest request,
      long validForMillis,
      boolean again,
      CompletableFuture<AcquireReply> result) {
    StoreKey key = request.key();
    StoredEntry seen = request.seen();
    byte[][] args = {
      request.owner().getBytes(US_ASCII),
      ScriptArguments.millis(request.leaseMillis()),
      ScriptArguments.millis(request.graceMillis()),
      Digits.hex(request.newEpoch()),
      request.mode().name().getBytes(US_ASCII),
      request.degraded() ? YES : NO,
      seen == null ? NOTHING : EntryFormat.identity(seen),
      notAfter(key, validForMillis),
      channels
    };
    long asked = environment.nanoTime();
    call(Script.GET_OR_ACQUIRE, key, args, Replies::acquire)
        .whenComplete(
            (reply, error) -> {
              if (error != null) {
                result.completeExceptionally(error);
                return;
              }
              long left = validForMillis - millisSince(asked);
              if (reply.status() == AcquireReply.Status.TOO_LATE && again && left > 0) {
                acquire(request, left, false, result);
              } else {
                result.complete(reply);
              }
            });
  }

  @Override
  public CompletionStage<FillOutcome> fill(FillRequest request) {
    StoredEntry entry = request.entry();
    byte[][] args = {
      request.owner().getBytes(US_ASCII),
      Digits.hex(entry.epoch()),
      Digits.decimal(entry.seq(), 10),
      EntryFormat.encode(entry),
      ScriptArguments.millis(request.ttlMillis()),
      channels
    };
    return call(Script.FILL, request.key(), args, Replies::fill);
  }

  @Override
  public CompletionStage<PutOutcome> put(
      StoreKey key, StoredEntry entry, long ttlMillis, long validForMillis) {
    ScriptArguments.atLeast(1, ttlMillis, "ttlMillis");
    ScriptArguments.atLeast(1, validForMillis, "validForMillis");
    if (entry.epoch() != StoredEntry.NO_EPOCH) {
      throw new IllegalArgumentException("a value that is put has no epoch");
    }
    CompletableFuture<PutOutcome> result = new CompletableFuture<>();
    put(key, EntryFormat.encode(entry), ttlMillis, validForMillis, true, result);
    return result;
  }

  private void put(
      StoreKey key,
      byte[] bytes,
      long ttlMillis,
      long validForMillis,
      boolean again,
      CompletableFuture<PutOutcome> result) {
    byte[][] args = {
      bytes, ScriptArguments.millis(ttlMillis), notAfter(key, validForMillis), channels
    };
    long asked = environment.nanoTime();
    call(Script.PUT, key, args, Replies::put)
        .whenComplete(
            (reply, error) -> {
              if (error != null) {
                result.completeExceptionally(error);
                return;
              }
              long left = validForMillis - millisSince(asked);
              if (reply == PutOutcome.TOO_LATE && again && left > 0) {
                put(key, bytes, ttlMillis, left, false, result);
              } else {
                result.complete(reply);
              }
            });
  }

  @Override
  public CompletionStage<Void> invalidate(StoreKey key, long holdOffMillis) {
    return invalidate("INVALIDATE", key, HARD, holdOffMillis);
  }

  @Override
  public CompletionStage<Void> expire(StoreKey key, long holdOffMillis) {
    return invalidate("EXPIRE", key, SOFT, holdOffMillis);
  }

  private CompletionStage<Void> invalidate(
      String operation, StoreKey key, byte[] mode, long holdOffMillis) {
    ScriptArguments.atLeast(0, holdOffMillis, "holdOffMillis");
    byte[][] args = {mode, ScriptArguments.millis(holdOffMillis), channels};
    CompletableFuture<Void> result = new CompletableFuture<>();
    call(Script.INVALIDATE, operation, key, args, Replies::done)
        .whenComplete(
            (done, error) -> {
              if (error != null) {
                result.completeExceptionally(error);
              } else {
                result.complete(null);
              }
            });
    return result;
  }

  @Override
  public CompletionStage<ExtendOutcome> extend(
      StoreKey key, String owner, long epoch, long leaseMillis, long graceMillis) {
    ScriptArguments.atLeast(1, leaseMillis, "leaseMillis");
    ScriptArguments.atLeast(leaseMillis + 1, graceMillis, "graceMillis");
    byte[][] args = {
      owner.getBytes(US_ASCII),
      Digits.hex(epoch),
      ScriptArguments.millis(leaseMillis),
      ScriptArguments.millis(graceMillis)
    };
    return call(Script.EXTEND, key, args, Replies::extend);
  }

  @Override
  public CompletionStage<Boolean> release(
      StoreKey key, String owner, long coolDownMillis, long graceMillis) {
    ScriptArguments.atLeast(0, coolDownMillis, "coolDownMillis");
    ScriptArguments.atLeast(1, graceMillis, "graceMillis");
    byte[][] args = {
      owner.getBytes(US_ASCII),
      ScriptArguments.millis(coolDownMillis),
      ScriptArguments.millis(graceMillis),
      channels
    };
    return call(Script.RELEASE, key, args, Replies::release);
  }

  @Override
  public HintSubscription subscribe(StoreKey key, Consumer<@Nullable StoredEntry> onHint) {
    if (closed.get()) {
      return NO_HINTS;
    }
    return transport.subscribe(
        SlotTags.leaseKey(key.bytes()), message -> onHint.accept(entryIn(message)));
  }

  private static @Nullable StoredEntry entryIn(byte[] message) {
    return message.length > 0 && EntryFormat.decode(message) instanceof ReadReply.Found found
        ? found.entry()
        : null;
  }

  @Override
  public long nowMillis(StoreKey key) {
    return clocks.nowMillis(key.bytes());
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      clocks.close();
      transport.close();
    }
  }

  private byte[] notAfter(StoreKey key, long validForMillis) {
    return ScriptArguments.millis(
        clocks.nowMillis(key.bytes()) + Math.min(validForMillis, ScriptArguments.MILLIS_MAX));
  }

  private long millisSince(long nanos) {
    return TimeUnit.NANOSECONDS.toMillis(environment.nanoTime() - nanos);
  }

  private <T> CompletionStage<T> call(
      Script script, StoreKey key, byte[][] args, Replies.Decoder<T> decoder) {
    return call(script, script.name(), key, args, decoder);
  }

  private <T> CompletionStage<T> call(
      Script script, String operation, StoreKey key, byte[][] args, Replies.Decoder<T> decoder) {
    CompletableFuture<T> result = new CompletableFuture<>();
    if (closed.get()) {
      result.completeExceptionally(Failures.closed(operation, key));
    } else {
      byte[][] keys = {key.bytes(), SlotTags.leaseKey(key.bytes())};
      send(script, operation, key, keys, args, false, decoder, result);
    }
    return result;
  }

  private <T> void send(
      Script script,
      String operation,
      StoreKey key,
      byte[][] keys,
      byte[][] args,
      boolean whole,
      Replies.Decoder<T> decoder,
      CompletableFuture<T> result) {
    Object server = clocks.use(keys[0]);
    long sent = environment.nanoTime();
    CompletionStage<List<byte[]>> stage;
    try {
      stage =
          whole
              ? transport.eval(script.text(), keys, args)
              : transport.evalsha(script.sha1(), keys, args);
    } catch (RuntimeException e) {
      stage = CompletableFuture.failedFuture(e);
    }
    stage.whenComplete(
        (reply, error) -> {
          if (error == null) {
            T value;
            try {
              Replies.check(reply);
              clocks.heardMillis(server, keys[0], sent, Replies.nowMillis(reply));
              value = decoder.decode(reply);
            } catch (Replies.Undecodable e) {
              result.completeExceptionally(
                  Failures.undecodable(operation, key, String.valueOf(e.getMessage())));
              return;
            }
            result.complete(value);
            return;
          }
          Throwable cause = Failures.unwrap(error);
          if (!whole && Failures.isNoScript(cause)) {
            send(script, operation, key, keys, args, true, decoder, result);
          } else {
            result.completeExceptionally(Failures.of(operation, key, cause));
          }
        });
  }

  private static final class NoHints implements HintSubscription {
    @Override
    public CompletionStage<Boolean> ready() {
      return CompletableFuture.completedFuture(false);
    }

    @Override
    public void close() {}
  }
}
