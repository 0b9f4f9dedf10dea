/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.paddock.PaddockInterruptedException;
import dev.paddock.StoreException;
import dev.paddock.spi.AcquireReply;
import dev.paddock.spi.AcquireRequest;
import dev.paddock.spi.BarrierRequest;
import dev.paddock.spi.ChangeListener;
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
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A {@link FillStore} over any {@link RedisTransport}: a value key and, around loads and
 * invalidations, a lease record for each value, changed by seven scripts.
 *
 * <p>Each operation is one command, atomic on the server that has the key. What is read from
 * replicas, lost by a failover, or evicted is outside its guarantees; {@code PROTOCOL.md} in this
 * module states them.
 *
 * <p>Thread-safe; nothing but {@link #open} blocks, and {@link #readHere} where the transport does.
 * Stages complete on the transport's threads. The store owns the transport and closes it. While it
 * is used it keeps one timer, by which it asks servers for their time that have not told it
 * otherwise; at rest it keeps none.
 *
 * <p>When the server is slow or gone, stages complete late, exceptionally, or never, as the
 * transport has it. Server clocks are estimated over the monotonic clock, so neither this process's
 * wall clock nor a step of it matters; a step of a server's clock is noticed with the next reply.
 */
public final class RedisFillStore implements FillStore {
  private static final byte[] NOTHING = {};
  private static final byte[] CHANGES = "pdk:changes:".getBytes(US_ASCII);
  private static final byte[] YES = {'1'};
  private static final byte[] NO = {'0'};
  private static final byte[] HARD = "HARD".getBytes(US_ASCII);
  private static final byte[] SOFT = "SOFT".getBytes(US_ASCII);

  private final RedisTransport transport;
  private final Environment environment;
  private final ServerClocks clocks;
  private final ScriptCaller scripts;
  private final byte[] channels;
  private final AtomicBoolean closed = new AtomicBoolean();

  private RedisFillStore(RedisTransport transport, Environment environment, ServerClocks clocks) {
    this.transport = transport;
    this.environment = environment;
    this.clocks = clocks;
    this.scripts = new ScriptCaller(transport, environment, clocks);
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
    return StoreOpening.open(
        transport, options, openAsync(transport, environment, options), RedisFillStore::close);
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
    return StoreOpening.openAsync(
        transport,
        environment,
        options,
        clocks -> new RedisFillStore(transport, environment, clocks));
  }

  @Override
  public CompletionStage<ReadReply> read(StoreKey key) {
    return read(key, false);
  }

  @Override
  public CompletionStage<ReadReply> readHere(StoreKey key) {
    return read(key, true);
  }

  private CompletionStage<ReadReply> read(StoreKey key, boolean here) {
    if (closed.get()) {
      return CompletableFuture.failedFuture(Failures.closed("GET", key));
    }
    Reading reading = new Reading(key);
    readInto(reading, here);
    return reading;
  }

  @Override
  public List<CompletionStage<ReadReply>> readAll(List<StoreKey> keys) {
    List<CompletionStage<ReadReply>> all = new ArrayList<>(keys.size());
    if (keys.size() < 2 || closed.get()) {
      for (StoreKey key : keys) {
        all.add(read(key));
      }
      return all;
    }
    List<byte[]> names = new ArrayList<>(keys.size());
    for (StoreKey key : keys) {
      names.add(key.bytes());
    }
    List<CompletionStage<byte @Nullable []>> values;
    try {
      values = transport.getAll(names);
    } catch (RuntimeException e) {
      values = Collections.nCopies(keys.size(), CompletableFuture.failedFuture(e));
    }
    for (int i = 0; i < keys.size(); i++) {
      StoreKey key = keys.get(i);
      Reading reading = new Reading(key);
      all.add(reading);
      values
          .get(i)
          .whenComplete(
              (bytes, error) -> {
                if (error != null && Failures.isNoRight(Failures.unwrap(error))) {
                  // A user who was given the rights for single reads has no MGET.
                  readInto(reading, false);
                } else {
                  reading.accept(bytes, error);
                }
              });
    }
    return all;
  }

  private void readInto(Reading reading, boolean here) {
    byte[] name = reading.key.bytes();
    try {
      (here ? transport.getHere(name) : transport.get(name)).whenComplete(reading);
    } catch (RuntimeException e) {
      reading.accept(null, e);
    }
  }

  /** A read under way, the receiver of its reply and the stage of what it says in one object. */
  private static final class Reading extends CompletableFuture<ReadReply>
      implements BiConsumer<byte @Nullable [], @Nullable Throwable> {
    private final StoreKey key;

    Reading(StoreKey key) {
      this.key = key;
    }

    @Override
    public void accept(byte @Nullable [] bytes, @Nullable Throwable error) {
      if (error == null) {
        complete(bytes == null ? ReadReply.MISSING : EntryFormat.decode(bytes));
        return;
      }
      Throwable cause = Failures.unwrap(error);
      if (Failures.isWrongType(cause)) {
        complete(new ReadReply.Unreadable("another type of key"));
      } else {
        completeExceptionally(Failures.of("GET", key, cause));
      }
    }
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
      ScriptArguments.grant(request.owner(), request.newEpoch(), 1),
      ScriptArguments.millis(request.leaseMillis()),
      ScriptArguments.plain(request.graceMillis()),
      notAfter(key, validForMillis),
      request.mode().name().getBytes(US_ASCII),
      request.degraded() ? YES : NO,
      seen == null ? NOTHING : EntryFormat.identity(seen),
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
      ScriptArguments.grant(request.owner(), entry.epoch(), entry.seq()),
      EntryFormat.encode(entry),
      ScriptArguments.plain(request.ttlMillis()),
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
      bytes,
      ScriptArguments.plain(ttlMillis),
      notAfter(key, validForMillis),
      channels,
      changeChannel(key.space())
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
    byte[][] args = {
      mode, ScriptArguments.millis(holdOffMillis), channels, changeChannel(key.space())
    };
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
  public CompletionStage<Long> raiseBarrier(BarrierRequest request) {
    byte[][] args = {
      ScriptArguments.millis(request.aheadMillis()),
      ScriptArguments.millis(request.ttlMillis()),
      changeChannel(request.space()),
      request.label().getBytes(UTF_8)
    };
    return call(Script.RAISE_BARRIER, request.key(), args, Replies::barrier);
  }

  @Override
  public HintSubscription watch(byte[] space, ChangeListener listener) {
    if (closed.get()) {
      return NoHints.INSTANCE;
    }
    return transport.subscribeToAll(
        changeChannel(space), message -> ChangeMessages.tell(message, listener));
  }

  /** The channel of a space; empty if there is no space, and so nobody to tell. */
  private static byte[] changeChannel(byte[] space) {
    if (space.length == 0) {
      return NOTHING;
    }
    byte[] channel = Arrays.copyOf(CHANGES, CHANGES.length + space.length);
    System.arraycopy(space, 0, channel, CHANGES.length, space.length);
    return channel;
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
      return NoHints.INSTANCE;
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
  public Object shardOf(StoreKey key) {
    return transport.nodeOf(key.bytes());
  }

  @Override
  public long earliestMillis(StoreKey key) {
    return clocks.earliestMillis(key.bytes());
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
    if (closed.get()) {
      return CompletableFuture.failedFuture(Failures.closed(operation, key));
    }
    byte[][] keys = {key.bytes(), SlotTags.leaseKey(key.bytes())};
    return scripts.call(
        script.text(),
        operation,
        key,
        keys,
        args,
        (reply, clock) -> Replies.decode(reply, clock, decoder));
  }
}
