/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import dev.paddock.StoreException;
import dev.paddock.redis.RedisReplyException;
import dev.paddock.redis.RedisTransport;
import dev.paddock.redis.internal.ClusterReply;
import dev.paddock.redis.internal.RedisUriText;
import dev.paddock.redis.internal.Secrets;
import dev.paddock.spi.Environment;
import dev.paddock.spi.HintSubscription;
import dev.paddock.spi.StoreOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.NestedMultiOutput;
import io.lettuce.core.output.ValueOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.ProtocolKeyword;
import io.netty.util.concurrent.FastThreadLocalThread;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A Redis Cluster: one connection for commands to each master in use, and one for its hints. */
final class ClusterTransport implements RedisTransport {
  /*
   * Lettuce connects to nodes and learns the topology; who gets a command, and what an answer means
   * for it, is decided here. Lettuce's own routing knows neither TRYAGAIN nor the rules of Link
   * (certainly not sent told apart from maybe happened, nothing kept unsent for longer than a
   * bridge), and it can't tell whose clock a reply came from.
   *
   * An Attempt is one command until its reply:
   *
   *   route --> Link of the master of the slot --> reply            done
   *     ^            |                             MOVED            there, and the topology is read anew
   *     |            |                             ASK              there, once, behind ASKING
   *     |            |                             TRYAGAIN, CLUSTERDOWN, MASTERDOWN, READONLY
   *     +--- pause --+-----------------------------+                the slot, or its master, is changing
   *     |            |                             other errors     failed
   *     +------------+ certainly not sent, and the slot has another master by now
   *
   * Why one key after ASK and TRYAGAIN: the old master has said that it has none of the keys, and
   * does not make new ones in a slot that leaves, so the new one alone decides about them. It says
   * TRYAGAIN because one of several keys that a command names does not exist there, as if it might
   * still come. Without this, a key that has no value yet could not be loaded under a lease until its
   * slot has arrived.
   *
   * Everything of this ends before the caller's own time-out, so that the caller learns the reason,
   * and not only that there was no answer. Each server refused, by the replies above, before it did
   * anything; READONLY from within a script that had written before is PARTIAL and not tried again.
   *
   * Commands that were on their way to a master that has died are Lettuce's, as on one server: it
   * sends them again when the node is back, which then answers MOVED.
   */

  /** How much of the time-out may be spent on trying again. */
  private static final double SHARE = 0.9;

  private static final int HOPS_MAX = 5;
  private static final long PAUSE_MIN_NANOS = 5_000_000;
  private static final long PAUSE_MAX_NANOS = 100_000_000;

  private final Environment environment;
  private final StatefulRedisClusterConnection<byte[], byte[]> connection;
  private final @Nullable OwnedClient owned;
  private final String address;
  private final Secrets secrets;
  private final long commandNanos;
  private final Topology topology;
  private final ConcurrentHashMap<String, ClusterNode> nodes = new ConcurrentHashMap<>();
  private final Set<Attempt<?>> pausing = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean closing = new AtomicBoolean();
  private final CompletableFuture<Void> closed = new CompletableFuture<>();
  private final ClusterHints hints;

  /**
   * Takes over a connection.
   *
   * @param client the client that made it
   * @param owned the same client, if it is to be shut down with the transport
   * @param address names the cluster in messages
   */
  ClusterTransport(
      RedisClusterClient client,
      @Nullable OwnedClient owned,
      String address,
      Secrets secrets,
      StatefulRedisClusterConnection<byte[], byte[]> connection,
      Environment environment,
      StoreOptions options) {
    this.environment = environment;
    this.connection = connection;
    this.owned = owned;
    this.address = address;
    this.secrets = secrets;
    this.commandNanos = options.commandTimeout().toNanos();
    this.topology = new Topology(environment, client, secrets, this::refreshed);
    this.hints = new ClusterHints(environment, secrets, commandNanos, client, topology);
  }

  @Override
  public CompletionStage<byte @Nullable []> get(byte[] key) {
    return send(key, (owner, alone) -> LettuceTransport.getCall(owner, key));
  }

  @Override
  public List<CompletionStage<byte @Nullable []>> getAll(List<byte[]> keys) {
    Map<Integer, List<byte[]>> bySlot = new LinkedHashMap<>();
    for (byte[] key : keys) {
      bySlot.computeIfAbsent(SlotHash.getSlot(key), slot -> new ArrayList<>()).add(key);
    }
    Map<Integer, Iterator<CompletionStage<byte @Nullable []>>> replies = new HashMap<>();
    bySlot.forEach((slot, mine) -> replies.put(slot, getSlot(slot, mine).iterator()));
    List<CompletionStage<byte @Nullable []>> all = new ArrayList<>(keys.size());
    for (byte[] key : keys) {
      Iterator<CompletionStage<byte @Nullable []>> next =
          Objects.requireNonNull(replies.get(SlotHash.getSlot(key)));
      all.add(next.next());
    }
    return all;
  }

  private List<CompletionStage<byte @Nullable []>> getSlot(int slot, List<byte[]> keys) {
    if (keys.size() == 1) {
      return List.of(get(keys.get(0)));
    }
    Attempt<List<byte @Nullable []>> attempt =
        new Attempt<>(slot, (owner, alone) -> LettuceTransport.mgetCall(owner, keys), true);
    attempt.route();
    List<CompletionStage<byte @Nullable []>> all = new ArrayList<>(keys.size());
    List<CompletionStage<byte @Nullable []>> each =
        RedisTransport.each(attempt.result, keys.size());
    for (int i = 0; i < keys.size(); i++) {
      byte[] key = keys.get(i);
      CompletableFuture<byte @Nullable []> result = new CompletableFuture<>();
      all.add(result);
      each.get(i)
          .whenComplete(
              (value, error) -> {
                if (error == null) {
                  result.complete(value);
                } else if (isOnTheMove(error)) {
                  // Each key is at one end or the other, and GET finds it there.
                  forward(get(key), result);
                } else {
                  result.completeExceptionally(error);
                }
              });
    }
    return all;
  }

  private static boolean isOnTheMove(Throwable error) {
    if (!(error instanceof RedisReplyException refused)) {
      return false;
    }
    ClusterReply.Kind kind = ClusterReply.of(refused).kind();
    return kind == ClusterReply.Kind.ASK || kind == ClusterReply.Kind.LATER;
  }

  private static <T> void forward(CompletionStage<T> from, CompletableFuture<T> to) {
    from.whenComplete(
        (value, error) -> {
          if (error == null) {
            to.complete(value);
          } else {
            to.completeExceptionally(error);
          }
        });
  }

  @Override
  public CompletionStage<List<byte[]>> evalsha(String sha1, byte[][] keys, byte[][] args) {
    return script(CommandType.EVALSHA, () -> Call.args().add(sha1), keys, args);
  }

  @Override
  public CompletionStage<List<byte[]>> eval(byte[] script, byte[][] keys, byte[][] args) {
    return script(CommandType.EVAL, () -> Call.args().add(script), keys, args);
  }

  private CompletionStage<List<byte[]>> script(
      ProtocolKeyword type,
      Supplier<CommandArgs<byte[], byte[]>> command,
      byte[][] keys,
      byte[][] args) {
    return send(
        keys[0],
        (owner, alone) -> {
          CommandArgs<byte[], byte[]> words = command.get();
          if (alone && keys.length == 2) {
            words.add(1).addKey(keys[0]).addValues(args).addValue(keys[1]);
          } else {
            words.add(keys.length).addKeys(keys).addValues(args);
          }
          return new Call<>(owner, type, new BulkListOutput(), words);
        });
  }

  @Override
  public CompletionStage<Long> timeMicros(byte[] key) {
    return send(
        key,
        (owner, alone) -> new Call<>(owner, CommandType.TIME, new MicrosOutput(), Call.args()));
  }

  /** Sends INFO server to the master that has the key. */
  CompletionStage<byte[]> info(byte[] key) {
    return send(
        key,
        (owner, alone) ->
            new Call<>(
                owner,
                CommandType.INFO,
                new ValueOutput<>(ByteArrayCodec.INSTANCE),
                Call.args().add("server")));
  }

  /** Sends HELLO without arguments, which changes nothing, to the master that has the key. */
  CompletionStage<List<Object>> hello(byte[] key) {
    return send(
        key,
        (owner, alone) ->
            new Call<>(
                owner,
                CommandType.HELLO,
                new NestedMultiOutput<>(ByteArrayCodec.INSTANCE),
                Call.args()));
  }

  /** Makes the object of a command, once for each time that it is sent. */
  private interface Command<T> {
    /**
     * Makes it.
     *
     * @param alone names only the first of two keys as a key; does not matter to other commands
     */
    Call<T> call(Call.Owner owner, boolean alone);
  }

  private <T> CompletionStage<T> send(byte[] key, Command<T> command) {
    Attempt<T> attempt = new Attempt<>(SlotHash.getSlot(key), command, false);
    attempt.route();
    return attempt.result;
  }

  @Override
  public Object nodeOf(byte[] key) {
    RedisClusterNode master = topology.master(SlotHash.getSlot(key));
    if (master == null) {
      return address;
    }
    String name = RedisUris.address(master.getUri());
    ClusterNode node = nodes.get(name);
    return node == null ? name : node.link().node();
  }

  @Override
  public boolean shardedChannels() {
    return hints.sharded();
  }

  @Override
  public HintSubscription subscribe(byte[] channel, Consumer<byte[]> onMessage) {
    return hints.subscribe(channel, onMessage);
  }

  @Override
  public HintSubscription subscribeToAll(byte[] channel, Consumer<byte[]> onMessage) {
    return hints.subscribeToAll(channel, onMessage);
  }

  Topology topology() {
    return topology;
  }

  ClusterHints hints() {
    return hints;
  }

  /** How many commands wait for their next try. */
  int pausing() {
    return pausing.size();
  }

  /** Returns what we have of a node, null if it was never used. */
  @Nullable ClusterNode node(String name) {
    return nodes.get(name);
  }

  private ClusterNode node(String host, int port) {
    String name = RedisUriText.address(host, port);
    ClusterNode known = nodes.get(name);
    if (known != null) {
      return known;
    }
    ClusterNode node =
        nodes.computeIfAbsent(
            name,
            absent ->
                new ClusterNode(
                    environment,
                    name,
                    secrets,
                    commandNanos,
                    () -> connection.getConnectionAsync(host, port),
                    topology::refresh));
    node.start();
    if (closing.get()) {
      node.close();
    }
    return node;
  }

  /** Forgets the nodes that have left, and moves subscriptions to where their slots are now. */
  private void refreshed() {
    Set<String> members = topology.names();
    nodes.forEach(
        (name, node) -> {
          if (!members.contains(name) && nodes.remove(name, node)) {
            node.close();
          }
        });
    Set<String> masters = topology.masters();
    nodes.forEach(
        (name, node) -> {
          if (!masters.contains(name)) {
            // What waits for it has a better place to go.
            node.link().unreachable("the node is no master any more");
          } else if (node.link().isBridging()) {
            // Whoever waits gives no sign of a change, and there may be a better place soon.
            topology.refresh();
          }
        });
    hints.topologyChanged();
  }

  private enum Manner {
    PLAIN,
    /** Behind ASKING. */
    ASKING,
    /** Behind ASKING, naming one key only. */
    ASKING_ALONE
  }

  /** One command until its reply. Each turn of it follows from the one before, so no lock. */
  private final class Attempt<T> {
    final CompletableFuture<T> result = new CompletableFuture<>();
    private final int slot;
    private final Command<T> command;
    private final long deadline;
    private int hops;
    private long pauseNanos = PAUSE_MIN_NANOS;

    /** Names several keys, and is given back if the slot with them is on its way. */
    private final boolean divisible;

    Attempt(int slot, Command<T> command, boolean divisible) {
      this.slot = slot;
      this.command = command;
      this.divisible = divisible;
      this.deadline = environment.nanoTime() + (long) (commandNanos * SHARE);
    }

    void route() {
      RedisClusterNode master = topology.master(slot);
      if (master == null) {
        pause(unsent("no node has slot " + slot));
      } else {
        send(node(master.getUri().getHost(), master.getUri().getPort()), Manner.PLAIN);
      }
    }

    private void send(ClusterNode to, Manner manner) {
      Call<T> call = command.call(to.link(), manner == Manner.ASKING_ALONE);
      if (manner != Manner.PLAIN) {
        call.askFirst();
      }
      CompletionStage<T> reply = to.link().send(call);
      reply.whenComplete(
          (value, error) -> {
            if (error == null) {
              result.complete(value);
            } else {
              failed(to, manner, error);
            }
          });
    }

    private void failed(ClusterNode at, Manner manner, Throwable error) {
      if (error instanceof RedisReplyException refused) {
        refused(at, manner, refused);
      } else if (error instanceof StoreException unanswered && !unanswered.mayHaveHappened()) {
        unsent(at, unanswered);
      } else {
        topology.refresh();
        result.completeExceptionally(error);
      }
    }

    private void refused(ClusterNode at, Manner manner, RedisReplyException refused) {
      if (divisible && isOnTheMove(refused)) {
        result.completeExceptionally(refused);
        return;
      }
      ClusterReply reply = ClusterReply.of(refused);
      switch (reply.kind()) {
        case MOVED, ASK -> follow(at, reply, refused);
        case LATER -> {
          if (manner == Manner.ASKING && environment.nanoTime() - deadline < 0) {
            send(at, Manner.ASKING_ALONE);
          } else {
            pause(refused);
          }
        }
        case MASTER_CHANGES -> {
          topology.refresh();
          pause(refused);
        }
        case OTHER -> result.completeExceptionally(refused);
      }
    }

    private void follow(ClusterNode at, ClusterReply reply, RedisReplyException refused) {
      boolean moved = reply.kind() == ClusterReply.Kind.MOVED;
      if (moved) {
        topology.refresh();
      }
      if (++hops > HOPS_MAX || environment.nanoTime() - deadline > 0 || reply.port() == 0) {
        hops = 0;
        pause(refused);
      } else {
        // An empty host means that of the node that answered.
        String host = reply.host().isEmpty() ? at.host() : reply.host();
        send(node(host, reply.port()), moved ? Manner.PLAIN : Manner.ASKING);
      }
    }

    private void unsent(ClusterNode at, StoreException why) {
      topology.refresh();
      at.reconsider();
      RedisClusterNode master = topology.master(slot);
      boolean elsewhere = master != null && !RedisUris.address(master.getUri()).equals(at.name());
      // Lettuce may not know the node yet to which we were sent.
      if ((elsewhere || hops > 0) && !closing.get()) {
        hops = 0;
        pause(why);
      } else {
        result.completeExceptionally(why);
      }
    }

    private StoreException unsent(String why) {
      topology.refresh();
      return new StoreException("not sent to the cluster at " + address + ": " + why, null, false);
    }

    /** Starts over after a pause, or fails for this reason when there is no time for one. */
    private void pause(RuntimeException why) {
      // Between half and all of it: commands that failed together need not come back together.
      long nanos = pauseNanos / 2 + Math.floorMod(environment.randomLong(), pauseNanos / 2);
      pauseNanos = Math.min(2 * pauseNanos, PAUSE_MAX_NANOS);
      boolean late = environment.nanoTime() + nanos - deadline >= 0;
      if (late || pausing.size() >= LettuceTransport.OPEN_COMMANDS_MAX) {
        result.completeExceptionally(why);
        return;
      }
      pausing.add(this);
      if (closing.get()) {
        closed();
        return;
      }
      try {
        environment.schedule(
            () -> {
              if (pausing.remove(this)) {
                route();
              }
            },
            nanos);
      } catch (RejectedExecutionException e) {
        pausing.remove(this);
        result.completeExceptionally(why);
      }
    }

    void closed() {
      if (pausing.remove(this)) {
        result.completeExceptionally(unsent("the connection was closed"));
      }
    }
  }

  @Override
  public void close() {
    if (closing.compareAndSet(false, true)) {
      CompletionStage<Void> read = topology.close();
      pausing.forEach(Attempt::closed);
      nodes.values().forEach(ClusterNode::close);
      CompletionStage<Void> ended =
          CompletableFuture.allOf(
                  connection.closeAsync(),
                  hints.close().toCompletableFuture(),
                  read.toCompletableFuture())
              .handle((nothing, failed) -> owned)
              .thenCompose(
                  client ->
                      client == null ? CompletableFuture.completedFuture(null) : client.shutdown());
      ended.whenComplete((nothing, failed) -> closed.complete(null));
    }
    // One of Netty's threads would wait for itself.
    if (!(Thread.currentThread() instanceof FastThreadLocalThread)) {
      LettuceTransport.await(closed);
    }
  }
}
