/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import dev.paddock.StoreException;
import dev.paddock.spi.Environment;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** One of the servers of a group, as this process knows it. */
final class RedlockServer {
  private static final byte[] NO_KEY = {};

  private final int index;
  private final String address;
  private final RedisTransport transport;
  private final Environment environment;
  private final AtomicReference<@Nullable Contact> contact = new AtomicReference<>();
  private volatile @Nullable String runId;
  private volatile @Nullable String fault;
  private volatile boolean foreign;

  /** What there is once the server has told its time. */
  private record Contact(ServerClocks clocks, ScriptCaller scripts) {}

  RedlockServer(int index, RedlockNode node, Environment environment) {
    this.index = index;
    this.address = node.address();
    this.transport = node.transport();
    this.environment = environment;
  }

  /** Its place in the configuration. */
  int index() {
    return index;
  }

  RedisTransport transport() {
    return transport;
  }

  /** The run that was met last; null before. */
  @Nullable String runId() {
    return runId;
  }

  void met(String run) {
    runId = run;
  }

  /** Why what it says does not count, though it answers; null if it does. */
  @Nullable String fault() {
    return fault;
  }

  /** Whether the fault is that it is a member of another group. */
  boolean isForeign() {
    return foreign;
  }

  void blame(@Nullable String why, boolean asForeign) {
    foreign = asForeign;
    fault = why;
  }

  /** Learns its time, which each other request needs. Completes at once when that is known. */
  CompletionStage<Void> greet() {
    if (contact.get() != null) {
      return CompletableFuture.completedFuture(null);
    }
    long sent = environment.nanoTime();
    CompletionStage<Long> reply;
    try {
      reply = transport.timeMicros(NO_KEY);
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
    return reply.thenAccept(
        micros -> {
          if (micros == null || micros < 0) {
            throw new StoreException("the answer to TIME makes no sense", null, false);
          }
          ServerClocks clocks =
              new ServerClocks(
                  transport,
                  environment,
                  NO_KEY,
                  ServerClocks.Sample.of(sent, environment.nanoTime(), micros, 1),
                  transport.nodeOf(NO_KEY));
          contact.compareAndSet(
              null, new Contact(clocks, new ScriptCaller(transport, environment, clocks)));
        });
  }

  /** Returns the estimate of its clock. */
  long nowMillis(byte[] key) {
    Contact known = contact.get();
    return known == null ? environment.wallMillis() : known.clocks.nowMillis(key);
  }

  /** Asks for something that counts towards a majority. */
  <T> CompletionStage<T> vote(
      ScriptText script,
      String operation,
      Object shown,
      byte[][] keys,
      byte[][] args,
      LeaseReplies.Decoder<T> decoder) {
    String why = fault;
    return why == null
        ? call(script, operation, shown, keys, args, decoder)
        : CompletableFuture.failedFuture(new StoreException(why, null, false));
  }

  /** Calls a script, whether or not the server's votes count. */
  <T> CompletionStage<T> call(
      ScriptText script,
      String operation,
      Object shown,
      byte[][] keys,
      byte[][] args,
      LeaseReplies.Decoder<T> decoder) {
    Contact known = contact.get();
    return known == null
        ? CompletableFuture.failedFuture(
            new StoreException("it could not be reached so far", null, false))
        : known.scripts.call(
            script,
            operation,
            shown,
            keys,
            args,
            (reply, clock) -> LeaseReplies.decode(reply, clock, decoder));
  }

  void close() {
    Contact known = contact.get();
    if (known != null) {
      known.clocks.close();
    }
    transport.close();
  }

  @Override
  public String toString() {
    return address;
  }
}
