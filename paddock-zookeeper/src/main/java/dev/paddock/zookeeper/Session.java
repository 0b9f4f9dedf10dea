/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.zookeeper;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.paddock.StoreException;
import dev.paddock.spi.Environment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.proto.CreateRequest;
import org.jspecify.annotations.Nullable;

/**
 * One session, and requests in it and in no other: a request is never repeated in the next session,
 * and not by anyone but the engine in this one. Stages complete exceptionally with a {@link
 * KeeperException}, or a {@link StoreException} when the time is over.
 */
final class Session {
  private final ZooKeeper handle;
  private final long id;
  private final Duration timeout;
  private final Environment environment;
  private final Duration commandTimeout;
  private final ReentrantLock lock = new ReentrantLock();
  private final SessionLife life;

  /**
   * Makes it.
   *
   * @param handle connected, with a session
   * @param heardNanos when, at the latest, the leader is known to have heard of the session
   */
  Session(ZooKeeper handle, Environment environment, Duration commandTimeout, long heardNanos) {
    this.handle = handle;
    this.id = handle.getSessionId();
    this.timeout = Duration.ofMillis(handle.getSessionTimeout());
    this.environment = environment;
    this.commandTimeout = commandTimeout;
    this.life = new SessionLife(timeout.toNanos(), heardNanos);
  }

  /** A node as it was read. */
  record Node(String text, Stat stat) {
    static Node of(byte @Nullable [] data, Stat stat) {
      return new Node(data == null ? "" : new String(data, UTF_8), stat);
    }
  }

  /** A write that was done, and until when the session lives at least because of it. */
  record Written<T>(T value, long aliveUntilNanos) {}

  @SuppressWarnings("ReferenceEquality") // a handle is its session
  boolean isOf(ZooKeeper other) {
    return handle == other;
  }

  ZooKeeper handle() {
    return handle;
  }

  /** The session time-out that was agreed with the server. */
  Duration timeout() {
    return timeout;
  }

  boolean owns(Stat stat) {
    return stat.getEphemeralOwner() == id;
  }

  /** Takes the answer to a request. */
  private interface Answer<T> {
    void accept(int code, String path, @Nullable T value);
  }

  /** Sends a request. */
  private interface Sending<T> {
    void send(Answer<T> answer);
  }

  private <T> CompletableFuture<T> send(String operation, String path, Sending<T> sending) {
    CompletableFuture<T> result = new CompletableFuture<>();
    long sentNanos = environment.nanoTime();
    Environment.Timer deadline;
    try {
      deadline =
          environment.schedule(
              () -> result.completeExceptionally(silent(operation, path)),
              commandTimeout.toNanos());
    } catch (RejectedExecutionException e) {
      result.completeExceptionally(Failures.closed(operation, path));
      return result;
    }
    sending.send(
        (code, answered, value) -> {
          deadline.cancel();
          KeeperException.Code known = KeeperException.Code.get(code);
          if (known == KeeperException.Code.OK || known == KeeperException.Code.NONODE) {
            said(sentNanos);
          }
          if (known == KeeperException.Code.OK && value != null) {
            result.complete(value);
          } else {
            result.completeExceptionally(
                KeeperException.create(
                    known == null ? KeeperException.Code.SYSTEMERROR : known, answered));
          }
        });
    return result;
  }

  private StoreException silent(String operation, String path) {
    return new StoreException(
        operation
            + " of "
            + path
            + ": ZooKeeper did not answer within "
            + commandTimeout.toMillis()
            + " ms: it is slow, out of reach or without a majority, or commandTimeout too short",
        null,
        true);
  }

  private void said(long sentNanos) {
    lock.lock();
    try {
      life.onAnswer(sentNanos);
    } finally {
      lock.unlock();
    }
  }

  private <T> Written<T> written(T value, long sentNanos) {
    lock.lock();
    try {
      return new Written<>(value, life.onWrite(sentNanos));
    } finally {
      lock.unlock();
    }
  }

  /** Makes an ephemeral node. */
  CompletableFuture<Written<Stat>> create(CreateRequest request) {
    long sentNanos = environment.nanoTime();
    return this.<Stat>send(
            "ACQUIRE",
            request.getPath(),
            answer ->
                handle.create(
                    request.getPath(),
                    request.getData(),
                    request.getAcl(),
                    CreateMode.EPHEMERAL,
                    (code, path, context, name, stat) -> answer.accept(code, path, stat),
                    null))
        .thenApply(stat -> written(stat, sentNanos));
  }

  CompletableFuture<Node> read(String operation, String path) {
    return send(
        operation,
        path,
        answer ->
            handle.getData(
                path,
                false,
                (code, asked, context, data, stat) ->
                    answer.accept(code, asked, stat == null ? null : Node.of(data, stat)),
                null));
  }

  /**
   * Reads a node, with a write before it: what is read is as new as the request, and the session is
   * known to have been alive.
   */
  CompletableFuture<Written<Node>> confirm(String operation, String path) {
    long sentNanos = environment.nanoTime();
    CompletableFuture<List<?>> checked =
        send(
            operation,
            path,
            answer ->
                handle.multi(
                    // A transaction that changes nothing; its majority counts.
                    List.of(Op.check(path, -1)),
                    (code, asked, context, results) -> answer.accept(code, path, results),
                    null));
    // Requests of a session are executed in order, so that needs no second round trip.
    CompletableFuture<Node> read = read(operation, path);
    return checked.thenCombine(read, (results, node) -> written(node, sentNanos));
  }

  CompletableFuture<Boolean> delete(String path, int version) {
    return send(
        "RELEASE",
        path,
        answer ->
            handle.delete(
                path, version, (code, asked, context) -> answer.accept(code, asked, true), null));
  }

  /** Looks at a node and sets a watch on it, also where there is none. */
  CompletableFuture<Stat> watch(String path, Watcher watcher) {
    return send(
        "WATCH",
        path,
        answer ->
            handle.exists(
                path,
                watcher,
                (code, asked, context, stat) -> answer.accept(code, asked, stat),
                null));
  }

  /** Takes a watch back; without an answer it goes with the node or the session. */
  void unwatch(String path, Watcher watcher) {
    handle.removeWatches(
        path, watcher, Watcher.WatcherType.Data, true, (code, asked, context) -> {}, null);
  }
}
