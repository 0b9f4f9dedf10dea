/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import dev.paddock.StoreException;
import dev.paddock.spi.ReadReply;
import dev.paddock.spi.StoreKey;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Lets callers of the same key share a GET that has <em>not been sent yet</em>: per key one is in
 * flight and one collects whoever comes meanwhile. A GET that is under way must not be joined: its
 * reply may be older than an invalidation that has returned since.
 */
final class ReadCoalescer<K, V> {
  /** Takes the reply, in the caller's context. */
  interface OnRead<K, V> {
    void accept(Call<K, V> call, @Nullable ReadReply reply, @Nullable StoreException error);
  }

  /** Takes the calls that found nothing, on the thread of the reply. */
  interface OnMissing<K, V> {
    void accept(List<Call<K, V>> calls);
  }

  private static final Object ENDED = new Object();

  private final String cache;
  private final Gateway gateway;
  private final OnRead<K, V> onRead;
  private final OnMissing<K, V> onMissing;
  private final ConcurrentHashMap<StoreKey, Slot<K, V>> slots = new ConcurrentHashMap<>();

  ReadCoalescer(String cache, Gateway gateway, OnRead<K, V> onRead, OnMissing<K, V> onMissing) {
    this.cache = cache;
    this.gateway = gateway;
    this.onRead = onRead;
    this.onMissing = onMissing;
  }

  /**
   * A GET under way, and who collects for the next one: the newest of these, each of which knows
   * the one before. Only the reply's thread takes from it, or ends it.
   */
  private static final class Slot<K, V> {
    private final AtomicReference<@Nullable Object> newest = new AtomicReference<>();

    /** Adds a call; false if the slot has ended. */
    boolean add(Call<K, V> call) {
      while (true) {
        Object top = newest.get();
        if (top == ENDED) {
          return false;
        }
        call.collected = callOf(top);
        if (newest.compareAndSet(top, call)) {
          return true;
        }
      }
    }

    /** Takes all, the oldest first. */
    @Nullable Call<K, V> take() {
      Call<K, V> oldest = null;
      Call<K, V> next = newest.get() == null ? null : callOf(newest.getAndSet(null));
      while (next != null) {
        Call<K, V> before = next.collected;
        next.collected = oldest;
        oldest = next;
        next = before;
      }
      return oldest;
    }

    /** Ends the slot, unless somebody collects there. */
    boolean end() {
      return newest.compareAndSet(null, ENDED);
    }

    @SuppressWarnings("unchecked") // Nothing else is put there.
    private @Nullable Call<K, V> callOf(@Nullable Object top) {
      return (Call<K, V>) top;
    }
  }

  /** Reads; called by any thread, which is not held up. */
  void read(Call<K, V> call) {
    read(call, false);
  }

  /** Reads on the call's own thread, at its beginning, where it may wait for the reply. */
  void readHere(Call<K, V> call) {
    read(call, call.blocks());
  }

  private void read(Call<K, V> call, boolean here) {
    while (true) {
      Slot<K, V> slot = slots.get(call.storeKey);
      if (slot == null) {
        Slot<K, V> mine = new Slot<>();
        slot = slots.putIfAbsent(call.storeKey, mine);
        if (slot == null) {
          send(mine, call, here);
          return;
        }
      }
      if (slot.add(call)) {
        return;
      }
    }
  }

  /**
   * Sends the GET of a call, and of those that follow it in {@code collected}.
   *
   * @param here on the thread of the only call; the next GET is not its business any more
   */
  private void send(Slot<K, V> slot, Call<K, V> first, boolean here) {
    StoreKey key = first.storeKey;
    long sentNanos = gateway.nanoTime();
    gateway.ask(
        cache,
        "GET",
        key,
        () -> here ? gateway.store().readHere(key) : gateway.store().read(key),
        (@Nullable ReadReply reply, @Nullable StoreException error) -> {
          if (reply instanceof ReadReply.Missing) {
            // Nothing of the caller's is to run before the next command, so no thread is woken for
            // it;
            // and all together, for what is asked from here on is younger than each of their calls.
            List<Call<K, V>> calls = listOf(first);
            addLoading(calls, slot);
            sendNext(slot, key);
            onMissing.accept(calls);
            return;
          }
          // They have waited for a store that does not answer; a GET of theirs would wait again.
          Call<K, V> more = error != null && gateway.isOverdue(sentNanos) ? slot.take() : null;
          // The next GET first: those who collected meanwhile should not wait for this batch.
          sendNext(slot, key);
          answer(first, reply, error);
          answer(more, reply, error);
        },
        null);
  }

  private void answer(
      @Nullable Call<K, V> first, @Nullable ReadReply reply, @Nullable StoreException error) {
    Call<K, V> next = first;
    while (next != null) {
      Call<K, V> call = next;
      // Before it can be collected again.
      next = call.collected;
      call.collected = null;
      call.execute(() -> onRead.accept(call, reply, error));
    }
  }

  private List<Call<K, V>> listOf(Call<K, V> first) {
    List<Call<K, V>> all = new ArrayList<>(1);
    Call<K, V> next = first;
    while (next != null) {
      Call<K, V> call = next;
      next = call.collected;
      call.collected = null;
      all.add(call);
    }
    return all;
  }

  /**
   * Takes those of the next batch who would load. To them a miss, however old, only says to ask for
   * the lease, and the answer to that is younger than their call. In a herd it saves a GET.
   */
  private void addLoading(List<Call<K, V>> calls, Slot<K, V> slot) {
    Call<K, V> next = slot.take();
    while (next != null) {
      Call<K, V> call = next;
      next = call.collected;
      if (call.loader == null) {
        slot.add(call);
      } else {
        call.collected = null;
        calls.add(call);
      }
    }
  }

  private void sendNext(Slot<K, V> slot, StoreKey key) {
    while (true) {
      Call<K, V> first = slot.take();
      if (first != null) {
        send(slot, first, false);
        return;
      }
      if (slot.end()) {
        slots.remove(key, slot);
        return;
      }
    }
  }
}
