/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import static java.util.Objects.requireNonNull;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Compares fencing tokens in memory, for resources that live in one process: a file that one
 * process writes, a device, a test.
 *
 * <p>Guaranteed: writes to one resource happen one after the other, and none happens whose token is
 * smaller than one that was accepted before, or equal but from another lease. Not guaranteed:
 * anything after a restart, which forgets all tokens, or between two gates.
 *
 * <p>Thread-safe. The write runs on the calling thread, and others for the same resource wait
 * meanwhile. A resource takes a little memory for as long as the gate lives.
 */
public final class FencingGate {
  private final ConcurrentHashMap<String, Fence> fences = new ConcurrentHashMap<>();

  /** Makes a gate that has accepted nothing yet. */
  public FencingGate() {}

  private static final class Fence {
    final ReentrantLock lock = new ReentrantLock();
    long token;
    String uniqueId = "";
  }

  /** A write to the resource. */
  @FunctionalInterface
  public interface Write<X extends Exception> {
    /**
     * Writes.
     *
     * @throws X if that fails
     */
    void run() throws X;
  }

  /**
   * Writes if the lease's token is good enough.
   *
   * @param <X> what the write may throw
   * @param resource what is written to
   * @param lease whose token counts; whether it is still valid does not
   * @param write the write; the token counts as accepted also if it fails
   * @return whether it happened
   * @throws X if the write fails
   */
  public <X extends Exception> FenceOutcome pass(String resource, Lease lease, Write<X> write)
      throws X {
    return pass(resource, lease.fencingToken(), lease.uniqueId(), write);
  }

  /**
   * Writes if the token is good enough.
   *
   * @param <X> what the write may throw
   * @param resource what is written to
   * @param token the token; at least 1
   * @param uniqueId of the lease that has the token
   * @param write the write; the token counts as accepted also if it fails
   * @return whether it happened
   * @throws X if the write fails
   * @throws IllegalArgumentException if the token is less than 1
   */
  public <X extends Exception> FenceOutcome pass(
      String resource, long token, String uniqueId, Write<X> write) throws X {
    requireNonNull(resource, "resource");
    requireNonNull(uniqueId, "uniqueId");
    requireNonNull(write, "write");
    checkToken(token);
    Fence fence = fences.computeIfAbsent(resource, r -> new Fence());
    fence.lock.lock();
    try {
      if (token < fence.token || (token == fence.token && !uniqueId.equals(fence.uniqueId))) {
        return new FenceOutcome.Rejected(token, fence.token);
      }
      fence.token = token;
      fence.uniqueId = uniqueId;
      write.run();
      return new FenceOutcome.Accepted(token);
    } finally {
      fence.lock.unlock();
    }
  }

  /**
   * Refuses all tokens up to this one from now on: before the leases of a resource come from
   * another store, whose tokens can't be compared with those of the old one.
   *
   * @param resource what is written to
   * @param floor the greatest token that is refused; at least 1. Never lowers what is refused
   * @throws IllegalArgumentException if it is less than 1
   */
  public void raiseFloor(String resource, long floor) {
    requireNonNull(resource, "resource");
    checkToken(floor);
    Fence fence = fences.computeIfAbsent(resource, r -> new Fence());
    fence.lock.lock();
    try {
      if (floor >= fence.token) {
        fence.token = floor;
        fence.uniqueId = "";
      }
    } finally {
      fence.lock.unlock();
    }
  }

  private static void checkToken(long token) {
    if (token < 1) {
      throw new IllegalArgumentException("a fencing token is at least 1, is " + token);
    }
  }
}
