/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.paddock.CacheEvent;
import dev.paddock.StoreException;
import dev.paddock.spi.BarrierRequest;
import dev.paddock.spi.Environment;
import dev.paddock.spi.ReadReply;
import dev.paddock.spi.StoreKey;
import dev.paddock.spi.StoredEntry;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What this process knows of the barriers of one cache: one for each tag, and one for all values.
 */
final class Barriers {
  /*
   * A barrier is a moment of the store's clock: values whose loads began no later are outdated. It
   * only rises. What is known of it holds as of the moment when the read was sent that told it:
   *
   *   lag 0   a call goes by what was read after it had begun
   *   lag L   a call goes by what was read no more than L ago; from L/2 on it is read again, beside
   *           the calls, so that those of a cache in use never wait for it
   *
   * Messages raise what is known at once, but are no read: one that is lost costs the lag, not the
   * promise.
   *
   * A load that begins after this process knows of a barrier is younger than whatever raised it,
   * however the clocks of the store's parts differ: its start counts as no earlier. That spares
   * loads the allowed skew, by which barriers are set ahead.
   *
   * It counts as known only a moment later: a load that begins at once, and a barrier that is raised
   * in the same millisecond after it, would get the same time. `invalidateTag` returns after that
   * moment, so what its caller does next is younger.
   *
   * Reads go in rounds: while one is under way those who come collect for the next, which is sent
   * after they came.
   */
  enum Verdict {
    GOOD,
    OUTDATED,
    UNKNOWN
  }

  /** The label of the barrier for all values. */
  static final String ALL = "a";

  private static final int KNOWN_MAX = 100_000;
  private static final String TAG = "t";

  /** More than two milliseconds of the store's clock, in which barriers are told. */
  static final long SETTLING_NANOS = 2_100_000L;

  /** Longer ago than any lag. */
  private static final long NEVER_NANOS = Long.MAX_VALUE / 2;

  private static final long MIN_RETENTION_MILLIS = 24L * 3600 * 1000;

  /**
   * One barrier as it is known.
   *
   * @param millis where it is; 0 if it was never raised
   * @param asOfNanos when the read was sent that told it
   * @param sinceNanos since when this process knows it
   */
  private record State(long millis, long asOfNanos, long sinceNanos) {}

  private static final class Known {
    final AtomicReference<@Nullable State> state = new AtomicReference<>();
  }

  private static final class Round {
    final Set<String> labels = new LinkedHashSet<>();
    final List<Consumer<@Nullable StoreException>> waiting = new ArrayList<>();
  }

  private final Environment env;
  private final Gateway gateway;
  private final Events<CacheEvent> events;
  private final String cacheName;
  private final byte[] space;
  private final long lagNanos;
  private final long skewMillis;
  private final long retentionMillis;
  private final Cache<String, Known> known =
      Caffeine.newBuilder().maximumSize(KNOWN_MAX).executor(Runnable::run).build();
  private final Known all = new Known();

  private final ReentrantLock lock = new ReentrantLock();
  private boolean busy; // guarded by lock
  private Round next = new Round(); // guarded by lock

  /**
   * Knows nothing yet.
   *
   * @param lifeMillis how long values of the cache are kept, unless they have a TTL of their own
   */
  Barriers(
      Engine engine,
      String cacheName,
      byte[] space,
      long lagNanos,
      long skewMillis,
      long lifeMillis) {
    this.env = engine.env();
    this.gateway = engine.gateway();
    this.events = engine.events();
    this.cacheName = cacheName;
    this.space = space;
    this.lagNanos = lagNanos;
    this.skewMillis = skewMillis;
    this.retentionMillis = Math.max(MIN_RETENTION_MILLIS, 2 * lifeMillis);
  }

  static String labelOf(String tag) {
    return TAG + tag;
  }

  /** How long a value may be kept at most: a barrier has to outlive those that it outdates. */
  long retentionMillis() {
    return retentionMillis;
  }

  StoreKey keyOf(String label) {
    String role = label.equals(ALL) ? "pdk:all:" : "pdk:tag:";
    byte[] start = role.getBytes(StandardCharsets.US_ASCII);
    byte[] name = label.substring(1).getBytes(StandardCharsets.UTF_8);
    byte[] whole = new byte[start.length + space.length + name.length];
    System.arraycopy(start, 0, whole, 0, start.length);
    System.arraycopy(space, 0, whole, start.length, space.length);
    System.arraycopy(name, 0, whole, start.length + space.length, name.length);
    return StoreKey.of(whole);
  }

  BarrierRequest request(String label) {
    return new BarrierRequest(
        keyOf(label),
        space,
        label,
        skewMillis,
        // Longer than any value that was loaded before it, whose load may end later.
        2 * retentionMillis);
  }

  private Known knownOf(String label) {
    return label.equals(ALL) ? all : known.get(label, unused -> new Known());
  }

  /**
   * Judges a value for a call.
   *
   * @param callNanos when the call began
   */
  Verdict judge(StoredEntry entry, long callNanos) {
    return judge(entry.tags(), entry.loadStartMillis(), callNanos);
  }

  private Verdict judge(List<String> tags, long loadStartMillis, long callNanos) {
    if (tags.equals(StoredEntry.UNREADABLE_TAGS)) {
      return Verdict.OUTDATED;
    }
    long now = env.nanoTime();
    // The earlier of the two where there is a lag: what was read since the call began always does.
    long notBefore = lagNanos == 0 || callNanos - (now - lagNanos) < 0 ? callNanos : now - lagNanos;
    boolean unknown = false;
    boolean aging = false;
    for (int i = -1; i < tags.size(); i++) {
      State state = (i < 0 ? all : knownOf(labelOf(tags.get(i)))).state.get();
      if (state != null && loadStartMillis <= state.millis) {
        return Verdict.OUTDATED;
      }
      // A tie may be either way.
      if (state == null || state.asOfNanos - notBefore <= 0) {
        unknown = true;
      } else {
        aging |= lagNanos > 0 && now - state.asOfNanos > lagNanos / 2;
      }
    }
    if (unknown) {
      return Verdict.UNKNOWN;
    }
    if (aging) {
      refresh(tags);
    }
    return Verdict.GOOD;
  }

  /** Reads again beside the calls, unless a read is under way. */
  private void refresh(List<String> tags) {
    lock.lock();
    try {
      if (busy) {
        return;
      }
    } finally {
      lock.unlock();
    }
    learn(tags, unused -> {});
  }

  /** Whether callers that came while a value was loaded may share it. */
  boolean mayShare(List<String> tags, long loadStartMillis) {
    return lagNanos > 0 && judge(tags, loadStartMillis, env.nanoTime()) == Verdict.GOOD;
  }

  /** Whether a value is outdated by what is known, however old that is. */
  boolean isOutdated(StoredEntry entry) {
    if (entry.tags().equals(StoredEntry.UNREADABLE_TAGS)) {
      return true;
    }
    for (int i = -1; i < entry.tags().size(); i++) {
      State state = (i < 0 ? all : knownOf(labelOf(entry.tags().get(i)))).state.get();
      if (state != null && entry.loadStartMillis() <= state.millis) {
        return true;
      }
    }
    return false;
  }

  /**
   * When a load counts as begun.
   *
   * @param earliestMillis by the store's clock, at the least
   * @param nanos by this process's
   */
  long startOf(List<String> tags, long earliestMillis, long nanos) {
    long start = earliestMillis;
    for (int i = -1; i < tags.size(); i++) {
      State state = (i < 0 ? all : knownOf(labelOf(tags.get(i)))).state.get();
      if (state != null && state.sinceNanos - nanos <= 0) {
        start = Math.max(start, state.millis + 1);
      }
    }
    return start;
  }

  /** Reads the barriers of some tags and that of all values; then tells whether it could. */
  void learn(List<String> tags, Consumer<@Nullable StoreException> then) {
    Round now = null;
    lock.lock();
    try {
      next.labels.add(ALL);
      tags.forEach(tag -> next.labels.add(labelOf(tag)));
      next.waiting.add(then);
      if (!busy) {
        busy = true;
        now = next;
        next = new Round();
      }
    } finally {
      lock.unlock();
    }
    if (now != null) {
      send(now);
    }
  }

  private void send(Round round) {
    List<String> labels = List.copyOf(round.labels);
    List<StoreKey> keys = labels.stream().map(this::keyOf).toList();
    long sentNanos = env.nanoTime();
    AtomicInteger left = new AtomicInteger(keys.size());
    AtomicReference<@Nullable StoreException> failure = new AtomicReference<>();
    Map<StoreKey, CompletionStage<ReadReply>> replies = read(keys);
    for (int i = 0; i < keys.size(); i++) {
      String label = labels.get(i);
      StoreKey key = keys.get(i);
      CompletionStage<ReadReply> stage =
          replies.getOrDefault(key, failed(new StoreException("not sent", null, false)));
      gateway.ask(
          cacheName,
          "MGET",
          key,
          () -> stage,
          (@Nullable ReadReply reply, @Nullable StoreException error) -> {
            if (reply instanceof ReadReply.Found found) {
              tell(label, found.entry().loadStartMillis(), sentNanos);
            } else if (reply instanceof ReadReply.Missing) {
              tell(label, 0, sentNanos);
            } else if (reply instanceof ReadReply.Unreadable unreadable) {
              mend(
                  label,
                  key,
                  unreadable.reason(),
                  sentNanos,
                  failure,
                  () -> done(round, left, failure));
              return;
            } else {
              failure.compareAndSet(
                  null, error != null ? error : new StoreException("no barrier", null, false));
            }
            done(round, left, failure);
          },
          null);
    }
  }

  private Map<StoreKey, CompletionStage<ReadReply>> read(List<StoreKey> keys) {
    // Where the store does not answer these days it is not asked.
    List<StoreKey> asked = keys.stream().filter(key -> !gateway.isSuspended(key)).toList();
    Map<StoreKey, CompletionStage<ReadReply>> replies = new HashMap<>();
    try {
      List<CompletionStage<ReadReply>> all =
          asked.isEmpty() ? List.of() : gateway.store().readAll(asked);
      for (int i = 0; i < asked.size(); i++) {
        replies.put(asked.get(i), all.get(i));
      }
    } catch (RuntimeException e) {
      asked.forEach(key -> replies.put(key, failed(e)));
    }
    return replies;
  }

  private static <T> CompletionStage<T> failed(RuntimeException error) {
    return CompletableFuture.failedFuture(error);
  }

  /** What somebody else has written there may have taken the place of a barrier: raise it anew. */
  private void mend(
      String label,
      StoreKey key,
      String reason,
      long sentNanos,
      AtomicReference<@Nullable StoreException> failure,
      Runnable then) {
    if (events.on()) {
      events.emit(new CacheEvent.Unreadable(cacheName, key.toString(), reason));
    }
    gateway.call(
        cacheName,
        "RAISE",
        key,
        () -> gateway.store().raiseBarrier(request(label)),
        (@Nullable Long millis, @Nullable StoreException error) -> {
          if (millis == null) {
            failure.compareAndSet(
                null, error != null ? error : new StoreException("no barrier", null, false));
          } else {
            tell(label, millis, sentNanos);
          }
          then.run();
        });
  }

  private void done(
      Round round, AtomicInteger left, AtomicReference<@Nullable StoreException> failure) {
    if (left.decrementAndGet() > 0) {
      return;
    }
    Round following = null;
    lock.lock();
    try {
      if (next.waiting.isEmpty()) {
        busy = false;
      } else {
        following = next;
        next = new Round();
      }
    } finally {
      lock.unlock();
    }
    // The next one first: those who collected meanwhile should not wait for this batch.
    if (following != null) {
      send(following);
    }
    round.waiting.forEach(waiting -> waiting.accept(failure.get()));
  }

  /** Takes where a barrier is, as the answer to a command that was sent then. */
  void tell(String label, long millis, long asOfNanos) {
    long now = env.nanoTime();
    knownOf(label)
        .state
        .updateAndGet(
            before -> {
              if (before == null) {
                return new State(millis, asOfNanos, now + SETTLING_NANOS);
              }
              boolean risen = millis > before.millis;
              return new State(
                  risen ? millis : before.millis,
                  before.asOfNanos - asOfNanos > 0 ? before.asOfNanos : asOfNanos,
                  risen ? now + SETTLING_NANOS : before.sinceNanos);
            });
  }

  /** A message says that a barrier was raised. It is kept only where somebody goes by it. */
  void raised(String label, long millis) {
    Known by = label.equals(ALL) ? all : known.getIfPresent(label);
    if (by == null) {
      return;
    }
    long now = env.nanoTime();
    by.state.updateAndGet(
        before ->
            before == null
                ? new State(millis, now - NEVER_NANOS, now + SETTLING_NANOS)
                : millis <= before.millis
                    ? before
                    : new State(millis, before.asOfNanos, now + SETTLING_NANOS));
  }
}
