/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A bulkhead: how many loads run at once in this process, and in each of its caches. What finds no
 * place stands in line, first come first served among those whose cache has a place, and where the
 * line is full it is refused. Thread-safe.
 */
final class LoadGate {
  static final int NO_LIMIT = Integer.MAX_VALUE;

  private final int most;
  private final int mostQueued;
  private final ReentrantLock lock = new ReentrantLock();
  private final ArrayDeque<Ticket> line = new ArrayDeque<>();
  private int running;

  LoadGate(int most, int mostQueued) {
    this.most = most;
    this.mostQueued = mostQueued;
  }

  /** The limits of one cache. */
  final class Room {
    private final int mostHere;
    private final int mostQueuedHere;
    private int runningHere;
    private int queuedHere;

    private Room(int most, int mostQueued) {
      this.mostHere = most;
      this.mostQueuedHere = mostQueued;
    }

    /** Whether anything can ever have to wait. */
    boolean isLimited() {
      return most != NO_LIMIT || mostHere != NO_LIMIT;
    }

    private boolean hasPlace() {
      return running < most && runningHere < mostHere;
    }

    /**
     * Asks for a place.
     *
     * @param onPlace is called when a place has become free for one that stood in line; not before
     *     this method has returned if that is asked for in a turn which {@code onPlace} needs
     * @return the ticket, which is to be given back; null if the line is full
     */
    @Nullable Ticket enter(Runnable onPlace) {
      Ticket ticket = new Ticket(this, onPlace);
      if (!isLimited()) {
        ticket.state = State.FREE;
        return ticket;
      }
      lock.lock();
      try {
        if (hasPlace()) {
          ticket.admit();
        } else if (line.size() < mostQueued && queuedHere < mostQueuedHere) {
          ticket.state = State.QUEUED;
          queuedHere++;
          line.add(ticket);
        } else {
          return null;
        }
      } finally {
        lock.unlock();
      }
      return ticket;
    }

    /** A place beside the limits, for a load that another one waits for. */
    Ticket enterBeside() {
      Ticket ticket = new Ticket(this, () -> {});
      ticket.state = State.FREE;
      return ticket;
    }
  }

  private enum State {
    QUEUED,
    IN,
    /** In without being counted. */
    FREE,
    OUT
  }

  /** The right to run one load, or a place in the line for it. */
  final class Ticket {
    private final Room room;
    private final Runnable onPlace;
    private volatile State state = State.OUT;

    private Ticket(Room room, Runnable onPlace) {
      this.room = room;
      this.onPlace = onPlace;
    }

    private void admit() {
      state = State.IN;
      running++;
      room.runningHere++;
    }

    /** Whether the load may run. */
    boolean isIn() {
      State now = state;
      return now == State.IN || now == State.FREE;
    }

    /** Gives the place back, here or in the line. Idempotent. */
    void leave() {
      if (state == State.FREE) {
        return;
      }
      List<Ticket> next = List.of();
      lock.lock();
      try {
        if (state == State.IN) {
          running--;
          room.runningHere--;
          next = admitNext();
        } else if (state == State.QUEUED) {
          room.queuedHere--;
          line.remove(this);
        }
        state = State.OUT;
      } finally {
        lock.unlock();
      }
      next.forEach(ticket -> ticket.onPlace.run());
    }
  }

  private List<Ticket> admitNext() {
    List<Ticket> admitted = new ArrayList<>();
    Iterator<Ticket> waiting = line.iterator();
    while (waiting.hasNext() && running < most) {
      Ticket ticket = waiting.next();
      if (ticket.room.hasPlace()) {
        waiting.remove();
        ticket.room.queuedHere--;
        ticket.admit();
        admitted.add(ticket);
      }
    }
    return admitted;
  }

  /**
   * Makes the limits of a cache.
   *
   * @param most how many of its loads run at once
   * @param mostQueued how many of them stand in line
   */
  Room room(int most, int mostQueued) {
    return new Room(most, mostQueued);
  }
}
