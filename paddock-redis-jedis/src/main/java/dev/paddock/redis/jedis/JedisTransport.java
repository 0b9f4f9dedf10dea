/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.jedis;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.paddock.StoreException;
import dev.paddock.redis.RedisReplyException;
import dev.paddock.redis.RedisTransport;
import dev.paddock.redis.internal.ClusterReply;
import dev.paddock.spi.Environment;
import dev.paddock.spi.HintSubscription;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Commands over blocking sockets: on the caller's own thread where it waits anyway and a connection
 * is at hand, else on one of a few threads.
 */
final class JedisTransport implements RedisTransport {
  /*
   * An Attempt is one command until its reply. It runs on one of the workers, once for each try:
   *
   *   route --> a connection of the server --> reply            done
   *     ^            |                         MOVED            there
   *     |            |                         ASK              there, once, behind ASKING
   *     |            |                         TRYAGAIN, CLUSTERDOWN, MASTERDOWN, READONLY
   *     +--- pause --+-------------------------+                the server is changing
   *     |            |                         other errors     failed
   *     |            |                         time-out         failed, may have happened
   *     |            |                         connection lost  once more: it may have been an idle one
   *     |            |                                          that the server had closed long since
   *     +------------+ no connection: again while the node bridges, or another server has the key
   *
   * A command is sent again after a loss although it may have been executed: all our scripts may be
   * executed twice or late (idempotent by owner, dated by notAfter, compared by epoch), and a GET that
   * is sent again is a read that did not fail. From then on it "may have happened", whatever comes.
   *
   * Why one key after ASK and TRYAGAIN: the old master has said that it has none of the keys, and does
   * not make new ones in a slot that leaves, so the new one alone decides about them.
   *
   * The trying ends before the caller's own time-out, so that the caller learns the reason. What a
   * worker comes upon later than that is not sent any more.
   *
   * getHere is the shortest way for a hit: no other thread, no future. It does not connect, wait for a
   * connection or try again; all of that is left to an Attempt.
   */
  static final int OPEN_COMMANDS_MAX = 10_000;

  /** How much of the time-out may be spent on trying. */
  private static final double SHARE = 0.9;

  private static final int HOPS_MAX = 5;
  private static final int LOSSES_MAX = 2;
  private static final long PAUSE_MIN_NANOS = 5_000_000;
  private static final long PAUSE_MAX_NANOS = 100_000_000;
  private static final long CLOSE_MILLIS = 5_000;

  private final Environment environment;
  private final Workers workers;
  private final Routes routes;
  private final long commandNanos;
  private final AtomicInteger open = new AtomicInteger();
  private final Set<Attempt<?>> pausing = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean closing = new AtomicBoolean();

  /**
   * Takes over workers and routes, which are closed with the transport.
   *
   * @param commandNanos the command time-out, which the connections have, too
   */
  JedisTransport(Environment environment, Workers workers, Routes routes, long commandNanos) {
    this.environment = environment;
    this.workers = workers;
    this.routes = routes;
    this.commandNanos = commandNanos;
  }

  @Override
  public CompletionStage<byte @Nullable []> getHere(byte[] key) {
    Node node = closing.get() || Thread.currentThread().isInterrupted() ? null : known(key);
    Connection connection = node == null ? null : node.idle();
    if (node == null || connection == null) {
      return get(key);
    }
    Object reply;
    try {
      reply = connection.executeCommand(new CommandArguments(Command.GET).key(key));
    } catch (JedisDataException e) {
      node.giveBack(connection);
      RedisReplyException refused = reply(e);
      return ClusterReply.of(refused).kind() == ClusterReply.Kind.OTHER
          ? CompletableFuture.failedFuture(refused)
          : get(key);
    } catch (RuntimeException e) {
      node.discard(connection);
      routes.suspect(node);
      if (isTimeout(e)) {
        return CompletableFuture.failedFuture(node.unanswered(e));
      }
      node.lost();
      return get(key);
    }
    node.giveBack(connection);
    return CompletableFuture.completedFuture(bytes(reply));
  }

  private @Nullable Node known(byte[] key) {
    try {
      return routes.route(key);
    } catch (StoreException e) {
      return null;
    }
  }

  private static byte @Nullable [] bytes(@Nullable Object reply) {
    return (byte[]) reply;
  }

  @Override
  public CompletionStage<byte @Nullable []> get(byte[] key) {
    return send(key, alone -> new CommandArguments(Command.GET).key(key), JedisTransport::bytes);
  }

  @Override
  public List<CompletionStage<byte @Nullable []>> getAll(List<byte[]> keys) {
    if (keys.size() < 2 || !routes.isOneServer()) {
      return RedisTransport.super.getAll(keys);
    }
    CompletionStage<List<byte @Nullable []>> reply =
        send(
            keys.get(0),
            alone -> {
              CommandArguments words = new CommandArguments(Command.MGET);
              keys.forEach(words::key);
              return words;
            },
            JedisTransport::listOfAny);
    return RedisTransport.each(reply, keys.size());
  }

  private static List<byte @Nullable []> listOfAny(@Nullable Object reply) {
    List<byte @Nullable []> all = new ArrayList<>();
    if (reply instanceof List<?> several) {
      several.forEach(each -> all.add(bytes(each)));
    }
    return all;
  }

  @Override
  public CompletionStage<List<byte[]>> evalsha(String sha1, byte[][] keys, byte[][] args) {
    return script(Command.EVALSHA, sha1.getBytes(US_ASCII), keys, args);
  }

  @Override
  public CompletionStage<List<byte[]>> eval(byte[] script, byte[][] keys, byte[][] args) {
    return script(Command.EVAL, script, keys, args);
  }

  private CompletionStage<List<byte[]>> script(
      Command command, byte[] script, byte[][] keys, byte[][] args) {
    return send(
        keys[0],
        alone -> {
          boolean one = alone && keys.length == 2;
          CommandArguments words = new CommandArguments(command).add(script);
          words.add(one ? 1 : keys.length);
          for (int i = 0; i < (one ? 1 : keys.length); i++) {
            words.key(keys[i]);
          }
          for (byte[] arg : args) {
            words.add(arg);
          }
          return one ? words.add(keys[1]) : words;
        },
        JedisTransport::list);
  }

  private static List<byte[]> list(@Nullable Object reply) {
    if (reply instanceof List<?> several) {
      List<byte[]> all = new ArrayList<>(several.size());
      for (Object each : several) {
        all.add((byte[]) each);
      }
      return all;
    }
    byte[] one = bytes(reply);
    return one == null ? List.of() : List.of(one);
  }

  @Override
  public CompletionStage<Long> timeMicros(byte[] key) {
    return send(
        key,
        alone -> new CommandArguments(Command.TIME),
        reply -> {
          List<byte[]> parts = list(reply);
          long seconds = Long.parseLong(new String(parts.get(0), US_ASCII));
          return seconds * 1_000_000 + Long.parseLong(new String(parts.get(1), US_ASCII));
        });
  }

  /** Makes the words of a command; {@code alone} names only the first of two keys as a key. */
  private interface Words {
    CommandArguments words(boolean alone);
  }

  private <T extends @Nullable Object> CompletionStage<T> send(
      byte[] key, Words words, Function<@Nullable Object, T> decoder) {
    Attempt<T> attempt = new Attempt<>(key, words, decoder);
    if (open.incrementAndGet() > OPEN_COMMANDS_MAX) {
      attempt.fail(
          new StoreException(
              "not sent to Redis: " + OPEN_COMMANDS_MAX + " commands are without a reply already",
              null,
              false));
    } else if (closing.get() || !workers.run(attempt)) {
      attempt.closed();
    }
    return attempt.result;
  }

  @Override
  public Object nodeOf(byte[] key) {
    Node node = known(key);
    return node == null ? this : node.identity();
  }

  @Override
  public boolean shardedChannels() {
    return routes.sharded();
  }

  @Override
  public HintSubscription subscribe(byte[] channel, Consumer<byte[]> onMessage) {
    return routes.subscribe(channel, onMessage);
  }

  @Override
  public HintSubscription subscribeToAll(byte[] channel, Consumer<byte[]> onMessage) {
    return routes.subscribeToAll(channel, onMessage);
  }

  /** How many commands are without a reply. */
  int open() {
    return open.get();
  }

  private static RedisReplyException reply(JedisDataException e) {
    return new RedisReplyException(String.valueOf(e.getMessage()));
  }

  private static boolean isTimeout(Throwable thrown) {
    return Node.root(thrown) instanceof SocketTimeoutException;
  }

  private enum Manner {
    PLAIN,
    /** Behind ASKING. */
    ASKING,
    /** Behind ASKING, naming one key only. */
    ASKING_ALONE
  }

  /** One command until its reply. Each turn of it follows from the one before, so no lock. */
  private final class Attempt<T extends @Nullable Object> implements Runnable {
    final CompletableFuture<T> result = new CompletableFuture<>();
    private final byte[] key;
    private final Words words;
    private final Function<@Nullable Object, T> decoder;
    private final long deadline;
    private @Nullable Node next;
    private Manner manner = Manner.PLAIN;
    private int hops;
    private int losses;
    private long pauseNanos = PAUSE_MIN_NANOS;
    private @Nullable StoreException sent;

    Attempt(byte[] key, Words words, Function<@Nullable Object, T> decoder) {
      this.key = key;
      this.words = words;
      this.decoder = decoder;
      this.deadline = environment.nanoTime() + (long) (commandNanos * SHARE);
    }

    @Override
    public void run() {
      try {
        while (once()) {
          // The next server, at once.
        }
      } catch (RuntimeException | Error e) {
        fail(new StoreException("a command failed: " + e.getClass().getName(), e, true));
        if (e instanceof Error error) {
          throw error;
        }
      }
    }

    /** Tries once; true to try again at once. */
    private boolean once() {
      long left = deadline - environment.nanoTime();
      if (left <= 0) {
        fail(unsent("its time was up before a connection, or a thread, was free"));
        return false;
      }
      Node node = next;
      next = null;
      Connection connection;
      try {
        node = node == null ? routes.route(key) : node;
        connection = node.borrow(left);
      } catch (StoreException e) {
        noConnection(node, e);
        return false;
      }
      Object reply;
      try {
        if (manner != Manner.PLAIN) {
          connection.sendCommand(Command.ASKING);
          connection.sendCommand(words.words(manner == Manner.ASKING_ALONE));
          reply = connection.getMany(2).get(1);
          if (reply instanceof JedisDataException refusal) {
            throw refusal;
          }
        } else {
          reply = connection.executeCommand(words.words(false));
        }
      } catch (JedisDataException e) {
        node.giveBack(connection);
        return refused(node, reply(e));
      } catch (JedisException e) {
        node.discard(connection);
        return unanswered(node, e);
      } catch (RuntimeException | Error e) {
        node.discard(connection);
        throw e;
      }
      node.giveBack(connection);
      T value;
      try {
        value = decoder.apply(reply);
      } catch (RuntimeException e) {
        fail(new StoreException("the answer of Redis at " + node + " makes no sense", e, true));
        return false;
      }
      settled();
      result.complete(value);
      return false;
    }

    private boolean refused(Node at, RedisReplyException refused) {
      ClusterReply reply = ClusterReply.of(refused);
      Manner was = manner;
      manner = Manner.PLAIN;
      switch (reply.kind()) {
        case MOVED, ASK -> {
          boolean moved = reply.kind() == ClusterReply.Kind.MOVED;
          if (moved) {
            routes.suspect(at);
          }
          if (++hops > HOPS_MAX || reply.port() == 0) {
            hops = 0;
            pause(refused);
            return false;
          }
          // An empty host means that of the node that answered.
          String host = reply.host().isEmpty() ? at.address().getHost() : reply.host();
          next = routes.named(host, reply.port());
          manner = moved ? Manner.PLAIN : Manner.ASKING;
          return true;
        }
        case LATER -> {
          if (was == Manner.ASKING) {
            next = at;
            manner = Manner.ASKING_ALONE;
            return true;
          }
          pause(refused);
        }
        case MASTER_CHANGES -> {
          routes.suspect(at);
          if (routes.isMoving()) {
            pause(refused);
          } else {
            fail(refused);
          }
        }
        case OTHER -> fail(refused);
      }
      return false;
    }

    private boolean unanswered(Node at, JedisException e) {
      manner = Manner.PLAIN;
      StoreException why = at.unanswered(e);
      sent = why;
      routes.suspect(at);
      if (isTimeout(e)) {
        fail(why);
        return false;
      }
      at.lost();
      if (closing.get() || ++losses > LOSSES_MAX) {
        fail(why);
        return false;
      }
      return true;
    }

    private void noConnection(@Nullable Node at, StoreException why) {
      manner = Manner.PLAIN;
      if (at != null) {
        routes.suspect(at);
      }
      Node other = at == null ? null : known(key);
      boolean elsewhere = other != null && other != at;
      if (!closing.get() && (at == null || elsewhere || at.isBridging())) {
        pause(why);
      } else {
        fail(why);
      }
    }

    private StoreException unsent(String why) {
      return new StoreException("not sent to Redis: " + why, null, false);
    }

    /** Starts over after a pause, or fails for this reason when there is no time for one. */
    private void pause(RuntimeException why) {
      // Between half and all of it: commands that failed together need not come back together.
      long nanos = pauseNanos / 2 + Math.floorMod(environment.randomLong(), pauseNanos / 2);
      pauseNanos = Math.min(2 * pauseNanos, PAUSE_MAX_NANOS);
      if (environment.nanoTime() + nanos - deadline >= 0) {
        fail(why);
        return;
      }
      pausing.add(this);
      boolean later =
          !closing.get()
              && workers.runLater(
                  environment,
                  () -> {
                    if (pausing.remove(this)) {
                      run();
                    }
                  },
                  nanos);
      if (!later) {
        closedPausing();
      }
    }

    void closedPausing() {
      if (pausing.remove(this)) {
        closed();
      }
    }

    void closed() {
      fail(unsent("the connection was closed"));
    }

    /** Fails, and says so if the command may have happened at an earlier try. */
    private void fail(RuntimeException why) {
      settled();
      StoreException before = sent;
      result.completeExceptionally(
          before != null && why instanceof StoreException unsent && !unsent.mayHaveHappened()
              ? before
              : why);
    }

    private void settled() {
      if (!result.isDone()) {
        open.decrementAndGet();
      }
    }
  }

  @Override
  public void close() {
    if (closing.compareAndSet(false, true)) {
      for (Runnable queued : workers.close()) {
        if (queued instanceof Attempt<?> attempt) {
          attempt.closed();
        }
      }
      pausing.forEach(Attempt::closedPausing);
      routes.close();
    }
    if (Workers.isOne(Thread.currentThread())) {
      // It would wait for itself.
      return;
    }
    try {
      workers.awaitEnd(CLOSE_MILLIS);
      routes.awaitEnd(CLOSE_MILLIS);
    } catch (InterruptedException e) {
      // Closing goes on by itself.
      Thread.currentThread().interrupt();
    }
  }
}
