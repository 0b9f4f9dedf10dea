/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import dev.paddock.redis.RedisTransport;
import dev.paddock.redis.ReplicaAcks;
import dev.paddock.redis.internal.Secrets;
import dev.paddock.spi.Environment;
import dev.paddock.spi.HintSubscription;
import dev.paddock.spi.StoreOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.IntegerOutput;
import io.lettuce.core.output.NestedMultiOutput;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.output.ValueListOutput;
import io.lettuce.core.output.ValueOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.ProtocolKeyword;
import io.netty.util.concurrent.FastThreadLocalThread;
import java.net.SocketAddress;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** One Redis server, over one connection for commands and one for subscriptions. */
final class LettuceTransport implements RedisTransport, ReplicaAcks {
  /** Far more than one connection answers within a command time-out. */
  static final int OPEN_COMMANDS_MAX = 10_000;

  private static final long CLOSE_SECONDS = 5;
  private static final long READ_ONLY_PAUSE_NANOS = 5_000_000_000L;

  private final Environment environment;
  private final StatefulRedisConnection<byte[], byte[]> connection;
  private final @Nullable OwnedClient owned;
  private final Link link;
  private final HintChannels hints;
  private final AtomicBoolean closing = new AtomicBoolean();
  private final CompletableFuture<Void> closed = new CompletableFuture<>();
  private final AtomicLong readOnlyAt;
  private volatile @Nullable ReplicaReads replicas;

  /**
   * Takes over a connection.
   *
   * @param client makes the connection for subscriptions
   * @param owned the same client, if it is to be shut down with the transport
   * @param server where the connection leads to, if known
   */
  LettuceTransport(
      RedisClient client,
      @Nullable OwnedClient owned,
      RedisURI uri,
      Secrets secrets,
      StatefulRedisConnection<byte[], byte[]> connection,
      @Nullable SocketAddress server,
      Environment environment,
      StoreOptions options) {
    this.environment = environment;
    this.connection = connection;
    this.owned = owned;
    String address = RedisUris.address(uri);
    long commandNanos = options.commandTimeout().toNanos();
    this.link =
        new Link(
            environment,
            address,
            secrets,
            commandNanos,
            OPEN_COMMANDS_MAX,
            connection::dispatch,
            this::readOnly);
    this.hints =
        new HintChannels(
            HintChannels.Kind.PLAIN,
            environment,
            address,
            secrets,
            commandNanos,
            () -> client.connectPubSubAsync(ByteArrayCodec.INSTANCE, uri));
    this.readOnlyAt = new AtomicLong(environment.nanoTime() - READ_ONLY_PAUSE_NANOS);
    if (RedisUris.hasSentinels(uri)) {
      PrimaryCheck check =
          new PrimaryCheck(
              environment, link, commandNanos, this::role, this::reconnect, this::leave);
      connection.addListener(check);
      check.begin(server);
    } else {
      connection.addListener(link);
    }
  }

  /**
   * Sends reads of values to where Lettuce's setting says from now on, and takes over the
   * connection.
   */
  void readFrom(StatefulConnection<byte[], byte[]> source, long patienceNanos) {
    replicas = new ReplicaReads(environment, source, link, patienceNanos);
  }

  @Override
  public CompletionStage<byte @Nullable []> get(byte[] key) {
    return read(owner -> getCall(owner, key));
  }

  @Override
  public List<CompletionStage<byte @Nullable []>> getAll(List<byte[]> keys) {
    return RedisTransport.each(read(owner -> mgetCall(owner, keys)), keys.size());
  }

  private <T> CompletionStage<T> read(Function<Call.Owner, Call<T>> command) {
    ReplicaReads elsewhere = replicas;
    return elsewhere == null ? link.send(command.apply(link)) : elsewhere.read(command);
  }

  static Call<byte @Nullable []> getCall(Call.Owner owner, byte[] key) {
    return new Call<>(
        owner,
        CommandType.GET,
        new ValueOutput<>(ByteArrayCodec.INSTANCE),
        Call.args().addKey(key));
  }

  static Call<List<byte @Nullable []>> mgetCall(Call.Owner owner, List<byte[]> keys) {
    return new Call<>(
        owner,
        CommandType.MGET,
        new ValueListOutput<>(ByteArrayCodec.INSTANCE),
        Call.args().addKeys(keys));
  }

  @Override
  public CompletionStage<List<byte[]>> evalsha(String sha1, byte[][] keys, byte[][] args) {
    return script(CommandType.EVALSHA, Call.args().add(sha1), keys, args);
  }

  @Override
  public CompletionStage<List<byte[]>> eval(byte[] script, byte[][] keys, byte[][] args) {
    return script(CommandType.EVAL, Call.args().add(script), keys, args);
  }

  private CompletionStage<List<byte[]>> script(
      ProtocolKeyword type, CommandArgs<byte[], byte[]> command, byte[][] keys, byte[][] args) {
    command.add(keys.length).addKeys(keys).addValues(args);
    return link.send(new Call<>(link, type, new BulkListOutput(), command));
  }

  @Override
  public CompletionStage<Long> timeMicros(byte[] key) {
    return link.send(new Call<>(link, CommandType.TIME, new MicrosOutput(), Call.args()));
  }

  @Override
  public CompletionStage<Long> awaitReplicas(int replicas, long millis) {
    return link.send(
        new Call<>(
            link,
            CommandType.WAIT,
            new IntegerOutput<>(ByteArrayCodec.INSTANCE),
            Call.args().add(replicas).add(millis)));
  }

  /** Sends INFO server. */
  CompletionStage<byte[]> info() {
    return link.send(
        new Call<>(
            link,
            CommandType.INFO,
            new ValueOutput<>(ByteArrayCodec.INSTANCE),
            Call.args().add("server")));
  }

  /** Sends HELLO without arguments, which changes nothing. The reply is a list in a list. */
  CompletionStage<List<Object>> hello() {
    return link.send(
        new Call<>(
            link,
            CommandType.HELLO,
            new NestedMultiOutput<>(ByteArrayCodec.INSTANCE),
            Call.args()));
  }

  /** Sends ROLE, past the link: it is asked before commands are let through. */
  CompletionStage<List<Object>> role() {
    Call<List<Object>> call =
        new Call<>(
            link.uncounted(),
            CommandType.ROLE,
            new NestedMultiOutput<>(ByteArrayCodec.INSTANCE),
            Call.args());
    connection.dispatch(call);
    return call;
  }

  @Override
  public Object nodeOf(byte[] key) {
    return link.node();
  }

  @Override
  public boolean shardedChannels() {
    return false;
  }

  @Override
  public HintSubscription subscribe(byte[] channel, Consumer<byte[]> onMessage) {
    return hints.subscribe(channel, onMessage);
  }

  /**
   * The server has become a replica, so the primary is elsewhere by now: the Sentinels, or a host
   * name that follows it, lead there at the next connect. Not again within seconds, in case they do
   * not.
   */
  private void readOnly() {
    long before = readOnlyAt.get();
    long now = environment.nanoTime();
    if (now - before >= READ_ONLY_PAUSE_NANOS && readOnlyAt.compareAndSet(before, now)) {
      reconnect();
    }
  }

  /** Makes new connections; of an application's client only the one for commands, by its end. */
  private void reconnect() {
    if (owned != null) {
      owned.reconnect();
      return;
    }
    try {
      connection.dispatch(
          new Call<>(
              link.uncounted(),
              CommandType.QUIT,
              new StatusOutput<>(ByteArrayCodec.INSTANCE),
              Call.args()));
    } catch (RuntimeException e) {
      // The application has shut its client down.
      System.getLogger(LettuceTransport.class.getPackageName())
          .log(System.Logger.Level.DEBUG, () -> "can't reconnect: " + e.getClass().getName());
    }
  }

  /** The primary has moved: a server that hangs would keep the connection for hints for ever. */
  private void leave(SocketAddress former) {
    if (owned != null) {
      owned.leave(former);
    }
  }

  Link link() {
    return link;
  }

  /** How many reads from replicas are without a reply. */
  int openReads() {
    ReplicaReads elsewhere = replicas;
    return elsewhere == null ? 0 : elsewhere.open();
  }

  HintChannels hints() {
    return hints;
  }

  @Override
  public void close() {
    if (closing.compareAndSet(false, true)) {
      link.close();
      CompletionStage<Void> ended =
          CompletableFuture.allOf(
                  connection.closeAsync(), hints.close().toCompletableFuture(), closeReplicas())
              .handle((nothing, failed) -> owned)
              .thenCompose(
                  client ->
                      client == null ? CompletableFuture.completedFuture(null) : client.shutdown());
      ended.whenComplete((nothing, failed) -> closed.complete(null));
    }
    // One of Netty's threads would wait for itself.
    if (!(Thread.currentThread() instanceof FastThreadLocalThread)) {
      await(closed);
    }
  }

  private CompletableFuture<Void> closeReplicas() {
    ReplicaReads elsewhere = replicas;
    return elsewhere == null ? CompletableFuture.completedFuture(null) : elsewhere.close();
  }

  /** Waits for the end of closing, within reason. */
  static void await(CompletableFuture<?> closed) {
    try {
      closed.get(CLOSE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      // Closing goes on by itself.
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      // Closing is best effort: what is left is daemon threads, which end with the process.
      System.getLogger(LettuceTransport.class.getPackageName())
          .log(System.Logger.Level.DEBUG, "the Lettuce client did not close in time", e);
    }
  }
}
