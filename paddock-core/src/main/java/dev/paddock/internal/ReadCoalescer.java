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
import java.util.concurrent.locks.ReentrantLock;
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

  private final String cache;
  private final Gateway gateway;
  private final OnRead<K, V> onRead;
  private final ConcurrentHashMap<StoreKey, Slot> slots = new ConcurrentHashMap<>();

  ReadCoalescer(String cache, Gateway gateway, OnRead<K, V> onRead) {
    this.cache = cache;
    this.gateway = gateway;
    this.onRead = onRead;
  }

  /** A GET under way, and who collects for the next one. */
  private final class Slot {
    final ReentrantLock lock = new ReentrantLock();
    @Nullable List<Call<K, V>> next;
    boolean dead;
  }

  void read(Call<K, V> call) {
    while (true) {
      Slot slot = slots.get(call.storeKey);
      if (slot == null) {
        Slot mine = new Slot();
        slot = slots.putIfAbsent(call.storeKey, mine);
        if (slot == null) {
          send(mine, List.of(call));
          return;
        }
      }
      slot.lock.lock();
      try {
        if (slot.dead) {
          continue;
        }
        if (slot.next == null) {
          slot.next = new ArrayList<>();
        }
        slot.next.add(call);
        return;
      } finally {
        slot.lock.unlock();
      }
    }
  }

  private void send(Slot slot, List<Call<K, V>> batch) {
    StoreKey key = batch.get(0).storeKey;
    long sentNanos = gateway.nanoTime();
    gateway.call(
        cache,
        "GET",
        key,
        () -> gateway.store().read(key),
        (@Nullable ReadReply reply, @Nullable StoreException error) -> {
          List<Call<K, V>> more = List.of();
          if (reply instanceof ReadReply.Missing) {
            more = takeNext(slot, true);
          } else if (error != null && gateway.isOverdue(sentNanos)) {
            // They have waited for a store that does not answer; a GET of theirs would wait again.
            more = takeNext(slot, false);
          }
          // The next GET first: those who collected meanwhile should not wait for this batch.
          sendNext(slot, key);
          answer(batch, reply, error);
          answer(more, reply, error);
        });
  }

  private void answer(
      List<Call<K, V>> calls, @Nullable ReadReply reply, @Nullable StoreException error) {
    for (Call<K, V> call : calls) {
      call.execute(() -> onRead.accept(call, reply, error));
    }
  }

  /**
   * Takes those of the next batch who would load, or all. To those who would load a miss, however
   * old, only says to ask for the lease, and the answer to that is younger than their call. In a
   * herd it saves a GET.
   */
  private List<Call<K, V>> takeNext(Slot slot, boolean loadersOnly) {
    List<Call<K, V>> taken = new ArrayList<>();
    List<Call<K, V>> left = new ArrayList<>();
    slot.lock.lock();
    try {
      if (slot.next != null) {
        for (Call<K, V> call : slot.next) {
          (loadersOnly && call.loader == null ? left : taken).add(call);
        }
        slot.next = left.isEmpty() ? null : left;
      }
    } finally {
      slot.lock.unlock();
    }
    return taken;
  }

  private void sendNext(Slot slot, StoreKey key) {
    List<Call<K, V>> batch;
    slot.lock.lock();
    try {
      batch = slot.next;
      slot.next = null;
      if (batch == null) {
        slot.dead = true;
      }
    } finally {
      slot.lock.unlock();
    }
    if (batch == null) {
      slots.remove(key, slot);
    } else {
      send(slot, batch);
    }
  }
}
