/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.paddock.StoreException;
import dev.paddock.redis.RedisReplyException;
import dev.paddock.redis.RedisTransport;
import dev.paddock.spi.Environment;
import dev.paddock.spi.HintSubscription;
import dev.paddock.spi.StoreKey;
import dev.paddock.testkit.RequestFate.Answer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.luaj.vm2.Prototype;

/**
 * A model of one Redis server in memory, which runs the very scripts that a real one runs.
 *
 * <p>It has the commands that Paddock's scripts use and the ways in which a server refuses them:
 * wrong types, out of memory (which, as on a real server, only the first write of a script meets),
 * read-only replica, scripts flushed, channels denied. A script may touch only keys that were
 * announced, and those must be of one slot, as in a cluster. Numbers become text by C's rules; what
 * can't be imitated is a number joined to a string by {@code ..}, and the order of strings with
 * bytes above 127, which depends on a real server's locale too. Scripts must avoid both.
 *
 * <p>The clock is the environment's wall clock plus {@link #stepClock what the test adds}.
 *
 * <p>As a {@link RedisConsole} it also knows, as far as tests need them, CONFIG SET maxmemory (any
 * limit but 0 is reached) and maxmemory-policy, CLIENT PAUSE, ACL SETUSER with resetchannels and
 * allchannels, REPLICAOF, SCRIPT, and KEYS with a prefix. INFO knows the sections server and
 * memory.
 *
 * <p>As a {@link RedisTransport} it is one client's connection; {@link #connect} makes more. A
 * request reaches the server at once and the reply comes through the environment's executor, never
 * on the calling thread, unless a {@link RequestInterceptor} decides otherwise. As a {@link
 * RedisConsole} it is an operator's connection, which nobody intercepts or counts.
 *
 * <p>Thread-safe; each command and each script is atomic. No interceptor, subscriber or stage runs
 * under a lock.
 *
 * @since 0.1.0
 */
public final class InMemoryRedis implements RedisTransport, RedisConsole {
  private static final int COMPILED_MAX = 1000;
  private static final Map<String, Script> COMPILED = new ConcurrentHashMap<>();

  private static final AtomicLong RUNS = new AtomicLong();

  private final Environment environment;
  private final Connection own;
  private final ReentrantLock lock = new ReentrantLock();

  // Under the lock, all of them.
  private final RedisKeyspace keyspace = new RedisKeyspace();
  private final Map<String, Script> scripts = new LinkedHashMap<>();
  private final Map<StoreKey, Set<Subscription>> subscriptions = new LinkedHashMap<>();
  private final Set<Connection> connections = new LinkedHashSet<>();
  private final Map<String, Long> counts = new TreeMap<>();
  private long requests;
  private long lastMicros;
  private String runId;
  private long startedAtMillis;
  private String evictionPolicy = "noeviction";
  private String mode = "standalone";

  private volatile RequestInterceptor interceptor = request -> RequestFate.DELIVERED;
  private volatile @Nullable ExecutionObserver observer;
  private final AtomicLong clockOffsetMillis = new AtomicLong();
  private volatile long pausedUntilMillis;
  private volatile boolean outOfMemory;
  private volatile boolean readOnly;
  private volatile boolean channelsDenied;
  private volatile boolean shardedChannels;

  /**
   * Makes an empty server and a first connection to it.
   *
   * @param environment gives the server its clock, and its connection timers and executor
   */
  public InMemoryRedis(Environment environment) {
    this.environment = requireNonNull(environment, "environment");
    this.own = new Connection("1", environment);
    connections.add(own);
    this.runId = newRunId();
    this.startedAtMillis = clockMillis();
  }

  /** Not drawn from the environment's randomness, which a restart need not disturb. */
  private static String newRunId() {
    return Sha1.hex(("run " + RUNS.incrementAndGet()).getBytes(UTF_8));
  }

  /**
   * Opens another connection.
   *
   * @param client a name for it, which {@link RedisRequest#client()} shows; the first one's is "1"
   * @param clientEnvironment gives it timers and executor
   * @return the connection
   */
  public RedisTransport connect(String client, Environment clientEnvironment) {
    Connection connection = new Connection(client, clientEnvironment);
    lock.lock();
    try {
      connections.add(connection);
    } finally {
      lock.unlock();
    }
    return connection;
  }

  /**
   * Sets who decides the fate of requests from now on.
   *
   * @param decider by default every request is delivered
   */
  public void setInterceptor(RequestInterceptor decider) {
    interceptor = requireNonNull(decider, "decider");
  }

  /**
   * Sets who watches the server execute what clients sent.
   *
   * @param watching null for nobody, which is the default
   */
  public void setObserver(@Nullable ExecutionObserver watching) {
    observer = watching;
  }

  /**
   * Steps the server's clock.
   *
   * @param by how far; negative for backwards
   */
  public void stepClock(Duration by) {
    clockOffsetMillis.addAndGet(by.toMillis());
  }

  /**
   * Reads the server's clock.
   *
   * @return milliseconds since 1970
   */
  public long clockMillis() {
    return environment.wallMillis() + clockOffsetMillis.get();
  }

  /**
   * Sets the microsecond of the next command, for a comparison with a real server that has just
   * told its own. The clock goes on from there with the environment's.
   */
  void setClockMicros(long micros) {
    lock.lock();
    try {
      clockOffsetMillis.set(Math.floorDiv(micros, 1000L) - environment.wallMillis());
      // The next command's is the one after this.
      lastMicros = micros - 1;
    } finally {
      lock.unlock();
    }
  }

  /** Takes over what a real server's INFO says of itself, for a comparison with it. */
  void impersonate(String realRunId, long realStartMillis, String realMode) {
    lock.lock();
    try {
      runId = realRunId;
      startedAtMillis = realStartMillis;
      mode = realMode;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Makes the server run out of memory, or have enough again.
   *
   * @param full true to refuse commands that may take memory
   */
  public void setOutOfMemory(boolean full) {
    outOfMemory = full;
  }

  /**
   * Makes the server a replica that takes no writes, or a primary again.
   *
   * @param replica true to refuse writes
   */
  public void setReadOnly(boolean replica) {
    readOnly = replica;
  }

  /**
   * Tells whether the server takes no writes.
   *
   * @return what {@link #setReadOnly} and REPLICAOF have said last
   */
  public boolean isReadOnly() {
    return readOnly;
  }

  /**
   * Denies clients the right to channels, or gives it back. Those subscribed already stay so.
   *
   * @param denied true to refuse publishing and subscribing
   */
  public void setChannelsDenied(boolean denied) {
    channelsDenied = denied;
  }

  /**
   * Makes hints travel by sharded channels, as in a cluster.
   *
   * @param sharded false by default
   */
  public void setShardedChannels(boolean sharded) {
    shardedChannels = sharded;
  }

  /** Forgets all scripts, as SCRIPT FLUSH and a restart do. */
  public void scriptFlush() {
    lock.lock();
    try {
      scripts.clear();
    } finally {
      lock.unlock();
    }
  }

  /** Forgets all keys. */
  public void flushAll() {
    command("FLUSHALL");
  }

  /** Breaks all connections: what is under way fails with an unknown outcome. */
  public void dropConnections() {
    List<Connection> all;
    lock.lock();
    try {
      all = List.copyOf(connections);
    } finally {
      lock.unlock();
    }
    all.forEach(connection -> connection.failPending("the connection was lost"));
  }

  /** All keys as they were at one moment. */
  public static final class Saved {
    private final RedisKeyspace keys;
    private final String runId;

    private Saved(RedisKeyspace keys, String runId) {
      this.keys = keys;
      this.runId = runId;
    }
  }

  /**
   * Saves all keys, for a {@link #restart(Saved)} that is to find them.
   *
   * @return the keys as they are now
   */
  public Saved save() {
    lock.lock();
    try {
      return new Saved(keyspace.copy(), runId);
    } finally {
      lock.unlock();
    }
  }

  /** Restarts with all keys kept, as a server does that writes each change to its disk. */
  public void restart() {
    restart(save());
  }

  /** Restarts without any key, as a server without persistence does. */
  public void restartEmpty() {
    restart(new Saved(new RedisKeyspace(), ""));
  }

  /**
   * Restarts with the keys of some earlier moment: a new run id, no uptime, no scripts, and all
   * connections broken. Clients subscribe again by themselves. Requests that are still on their way
   * reach the new run, as those do that a client library sends again after a reconnect.
   *
   * @param saved the keys that it finds
   */
  public void restart(Saved saved) {
    lock.lock();
    try {
      keyspace.replaceBy(saved.keys);
      scripts.clear();
      runId = newRunId();
      startedAtMillis = clockMillis();
      pausedUntilMillis = 0;
    } finally {
      lock.unlock();
    }
    dropConnections();
  }

  /**
   * Goes on as the server that was saved, with its keys and under its run id: so a server that took
   * long to prepare can be had again at once. Uptime, scripts and connections stay as they are.
   *
   * @param saved what another server, or this one, has been saved as
   */
  public void resume(Saved saved) {
    lock.lock();
    try {
      keyspace.replaceBy(saved.keys);
      runId = saved.runId;
    } finally {
      lock.unlock();
    }
  }

  private String info(String section) {
    return switch (section) {
      case "server" ->
          "# Server\r\nredis_version:7.0.15\r\nredis_mode:"
              + mode
              + "\r\nrun_id:"
              + runId
              + "\r\nuptime_in_seconds:"
              // As a server counts it: between two readings of a clock of whole seconds.
              + (Math.floorDiv(clockMillis(), 1000) - Math.floorDiv(startedAtMillis, 1000))
              + "\r\n";
      case "memory" ->
          "# Memory\r\nmaxmemory:"
              + (outOfMemory ? 1 : 0)
              + "\r\nmaxmemory_policy:"
              + evictionPolicy
              + "\r\n";
      default -> "";
    };
  }

  /**
   * Looks at one key.
   *
   * @param key the key
   * @return what it holds now; null if there is nothing
   */
  public @Nullable KeyState state(StoreKey key) {
    lock.lock();
    try {
      return keyspace.state(key, clockMillis());
    } finally {
      lock.unlock();
    }
  }

  @Override
  public Map<StoreKey, KeyState> snapshot() {
    lock.lock();
    try {
      return keyspace.snapshot(clockMillis());
    } finally {
      lock.unlock();
    }
  }

  /**
   * Tells what clients sent and the server executed: not what scripts did inside.
   *
   * @return how often, by the command's name in capitals
   */
  public Map<String, Long> commandCounts() {
    lock.lock();
    try {
      return Map.copyOf(counts);
    } finally {
      lock.unlock();
    }
  }

  /** Begins to count anew. */
  public void resetCommandCounts() {
    lock.lock();
    try {
      counts.clear();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Tells how many subscriptions there are.
   *
   * @return subscriptions of all clients to all channels
   */
  public int subscriptionCount() {
    lock.lock();
    try {
      return subscriptions.values().stream().mapToInt(Set::size).sum();
    } finally {
      lock.unlock();
    }
  }

  // The operator's connection

  @Override
  public @Nullable Object command(Object... words) {
    byte[][] bytes = new byte[words.length][];
    for (int i = 0; i < words.length; i++) {
      bytes[i] = words[i] instanceof byte[] raw ? raw : words[i].toString().getBytes(UTF_8);
    }
    Executed executed = execute(bytes);
    publish(executed.messages);
    if (executed.error != null) {
      throw executed.error;
    }
    return executed.reply;
  }

  // What happens on the server

  /** A reply, or an error, and the messages to send after it. */
  private record Executed(
      @Nullable Object reply,
      @Nullable RedisReplyException error,
      List<RedisKeyspace.Message> messages) {}

  private Executed execute(byte[][] words) {
    lock.lock();
    try {
      List<RedisKeyspace.Message> messages = new ArrayList<>();
      try {
        return new Executed(dispatch(words, messages), null, messages);
      } catch (RedisReplyException e) {
        // A script that fails half-way has published what it has published.
        return new Executed(null, e, messages);
      }
    } finally {
      lock.unlock();
    }
  }

  private @Nullable Object dispatch(byte[][] words, List<RedisKeyspace.Message> messages) {
    return switch (name(words)) {
      case "EVAL" -> eval(words, compiled(Sha1.hex(words[1]), words[1]), messages);
      case "EVALSHA" -> {
        Script known = scripts.get(new String(words[1], UTF_8).toLowerCase(Locale.ROOT));
        if (known == null) {
          throw new RedisReplyException("NOSCRIPT No matching script. Please use EVAL.");
        }
        yield eval(words, known, messages);
      }
      case "SCRIPT" -> script(words);
      case "CONFIG" -> {
        if (words.length == 4 && "maxmemory".equals(new String(words[2], UTF_8))) {
          outOfMemory = !"0".equals(new String(words[3], UTF_8));
        }
        if (words.length == 4 && "maxmemory-policy".equals(new String(words[2], UTF_8))) {
          evictionPolicy = new String(words[3], UTF_8);
        }
        yield "OK";
      }
      case "KEYS" -> matching(words[1]);
      case "CLIENT" -> {
        if (words.length >= 3 && "PAUSE".equalsIgnoreCase(new String(words[1], UTF_8))) {
          pausedUntilMillis = clockMillis() + Long.parseLong(new String(words[2], UTF_8));
        }
        yield "OK";
      }
      case "ACL" -> {
        String rule = new String(words[words.length - 1], UTF_8);
        channelsDenied =
            rule.equals("resetchannels") || (channelsDenied && !rule.equals("allchannels"));
        yield "OK";
      }
      case "REPLICAOF" -> {
        readOnly = !"NO".equalsIgnoreCase(new String(words[1], UTF_8));
        yield "OK";
      }
      default -> {
        RedisKeyspace.Call call = newCall(null);
        Object reply = keyspace.execute(call, words);
        messages.addAll(call.published);
        yield reply;
      }
    };
  }

  private Object matching(byte[] pattern) {
    String prefix = new String(pattern, ISO_8859_1);
    if (prefix.indexOf('*') != prefix.length() - 1) {
      throw new RedisReplyException("ERR of patterns this model knows only those that end in *");
    }
    String wanted = prefix.substring(0, prefix.length() - 1);
    List<Object> all = new ArrayList<>();
    for (StoreKey key : keyspace.snapshot(clockMillis()).keySet()) {
      if (new String(key.bytes(), ISO_8859_1).startsWith(wanted)) {
        all.add(key.bytes());
      }
    }
    return all;
  }

  private static String name(byte[][] words) {
    return new String(words[0], UTF_8).toUpperCase(Locale.ROOT);
  }

  /**
   * The time of one command, finer than the clock: as on a real server, two commands of a
   * millisecond have different microseconds.
   */
  private long microsOfThis() {
    long micros = clockMillis() * 1000;
    boolean sameMillis = lastMicros / 1000 == micros / 1000;
    lastMicros = sameMillis ? Math.min(lastMicros + 1, micros + 999) : micros;
    return lastMicros;
  }

  private RedisKeyspace.Call newCall(@Nullable Set<StoreKey> announced) {
    return new RedisKeyspace.Call(
        microsOfThis(),
        outOfMemory,
        readOnly,
        !channelsDenied,
        message -> receivers(message).size(),
        this::info,
        announced);
  }

  private Object script(byte[][] words) {
    return switch (new String(words[1], UTF_8).toUpperCase(Locale.ROOT)) {
      case "LOAD" -> {
        String sha1 = Sha1.hex(words[2]);
        scripts.put(sha1, compiled(sha1, words[2]));
        yield sha1.getBytes(UTF_8);
      }
      case "FLUSH" -> {
        scripts.clear();
        yield "OK";
      }
      case "EXISTS" -> {
        List<Object> all = new ArrayList<>();
        for (int i = 2; i < words.length; i++) {
          all.add(scripts.containsKey(new String(words[i], UTF_8)) ? 1L : 0L);
        }
        yield all;
      }
      default -> throw new RedisReplyException("ERR unknown subcommand of SCRIPT");
    };
  }

  private @Nullable Object eval(
      byte[][] words, Script script, List<RedisKeyspace.Message> messages) {
    int keyCount = Integer.parseInt(new String(words[2], UTF_8));
    byte[][] keys = Arrays.copyOfRange(words, 3, 3 + keyCount);
    byte[][] args = Arrays.copyOfRange(words, 3 + keyCount, words.length);
    Set<StoreKey> announced = new HashSet<>();
    for (byte[] key : keys) {
      if (ClusterSlots.of(key) != ClusterSlots.of(keys[0])) {
        throw new RedisReplyException("CROSSSLOT Keys in request don't hash to the same slot");
      }
      announced.add(StoreKey.of(key));
    }
    scripts.put(script.sha1, script);
    RedisKeyspace.Call call = newCall(announced);
    try {
      return LuaScripts.run(
          script.compiled, script.sha1, keys, args, command -> keyspace.execute(call, command));
    } finally {
      messages.addAll(call.published);
    }
  }

  /** A script as the server keeps it. */
  private record Script(String sha1, String text, Prototype compiled) {}

  private static Script compiled(String sha1, byte[] script) {
    Script known = COMPILED.get(sha1);
    if (known == null) {
      known = new Script(sha1, new String(script, UTF_8), LuaScripts.compile(script));
      if (COMPILED.size() >= COMPILED_MAX) {
        COMPILED.clear();
      }
      COMPILED.put(sha1, known);
    }
    return known;
  }

  private void publish(List<RedisKeyspace.Message> messages) {
    for (RedisKeyspace.Message message : messages) {
      List<Subscription> receivers;
      lock.lock();
      try {
        receivers = receivers(message);
      } finally {
        lock.unlock();
      }
      receivers.forEach(each -> each.send(message.text()));
    }
  }

  /** Under the lock. */
  private List<Subscription> receivers(RedisKeyspace.Message message) {
    return subscriptions.getOrDefault(message.channel(), Set.of()).stream()
        .filter(each -> message.sharded() == (shardedChannels && !each.plain))
        .toList();
  }

  private RedisRequest request(
      String client, String name, @Nullable String script, byte[][] keys, byte[][] args) {
    long number;
    lock.lock();
    try {
      number = ++requests;
    } finally {
      lock.unlock();
    }
    return new RedisRequest(number, client, name, script, List.of(keys), List.of(args));
  }

  private @Nullable String scriptText(String sha1) {
    lock.lock();
    try {
      Script known = scripts.get(sha1);
      return known == null ? null : known.text;
    } finally {
      lock.unlock();
    }
  }

  private void count(String name) {
    lock.lock();
    try {
      counts.merge(name, 1L, Long::sum);
    } finally {
      lock.unlock();
    }
  }

  // The first connection

  @Override
  public CompletionStage<byte @Nullable []> get(byte[] key) {
    return own.get(key);
  }

  @Override
  public List<CompletionStage<byte @Nullable []>> getAll(List<byte[]> keys) {
    return own.getAll(keys);
  }

  @Override
  public CompletionStage<List<byte[]>> evalsha(String sha1, byte[][] keys, byte[][] args) {
    return own.evalsha(sha1, keys, args);
  }

  @Override
  public CompletionStage<List<byte[]>> eval(byte[] script, byte[][] keys, byte[][] args) {
    return own.eval(script, keys, args);
  }

  @Override
  public CompletionStage<Long> timeMicros(byte[] key) {
    return own.timeMicros(key);
  }

  @Override
  public Object nodeOf(byte[] key) {
    return own.nodeOf(key);
  }

  @Override
  public boolean shardedChannels() {
    return shardedChannels;
  }

  @Override
  public HintSubscription subscribe(byte[] channel, Consumer<byte[]> onMessage) {
    return own.subscribe(channel, onMessage);
  }

  @Override
  public HintSubscription subscribeToAll(byte[] channel, Consumer<byte[]> onMessage) {
    return own.subscribeToAll(channel, onMessage);
  }

  /** Closes the first connection; the server and other connections go on. Idempotent. */
  @Override
  public void close() {
    own.close();
  }

  private final class Connection implements RedisTransport {
    private final String client;
    private final Environment env;
    // In the order of sending, so that a break of the connection is reported in that order.
    private final NavigableMap<Long, CompletableFuture<?>> pending = new ConcurrentSkipListMap<>();
    private volatile boolean closed;

    Connection(String client, Environment env) {
      this.client = requireNonNull(client, "client");
      this.env = requireNonNull(env, "env");
    }

    @Override
    public CompletionStage<byte @Nullable []> get(byte[] key) {
      return send("GET", null, new byte[][] {key}, new byte[0][], reply -> (byte[]) reply);
    }

    @Override
    public List<CompletionStage<byte @Nullable []>> getAll(List<byte[]> keys) {
      byte[][] names = keys.toArray(new byte[0][]);
      return RedisTransport.each(
          send("MGET", null, names, new byte[0][], InMemoryRedis::values), names.length);
    }

    @Override
    public CompletionStage<List<byte[]>> evalsha(String sha1, byte[][] keys, byte[][] args) {
      return send("EVALSHA", sha1.getBytes(UTF_8), keys, args, InMemoryRedis::bulkStrings);
    }

    @Override
    public CompletionStage<List<byte[]>> eval(byte[] script, byte[][] keys, byte[][] args) {
      return send("EVAL", script, keys, args, InMemoryRedis::bulkStrings);
    }

    @Override
    public CompletionStage<Long> timeMicros(byte[] key) {
      return send(
          "TIME",
          null,
          new byte[0][],
          new byte[0][],
          reply -> {
            List<byte[]> parts = bulkStrings(reply);
            return Long.parseLong(new String(parts.get(0), UTF_8)) * 1_000_000
                + Long.parseLong(new String(parts.get(1), UTF_8));
          });
    }

    @Override
    public Object nodeOf(byte[] key) {
      return InMemoryRedis.this;
    }

    @Override
    public boolean shardedChannels() {
      return shardedChannels;
    }

    @Override
    public HintSubscription subscribe(byte[] channel, Consumer<byte[]> onMessage) {
      return subscribe(channel, false, onMessage);
    }

    @Override
    public HintSubscription subscribeToAll(byte[] channel, Consumer<byte[]> onMessage) {
      return subscribe(channel, true, onMessage);
    }

    private HintSubscription subscribe(byte[] channel, boolean plain, Consumer<byte[]> onMessage) {
      Subscription subscription = new Subscription(this, channel.clone(), plain, onMessage);
      RequestFate fate =
          interceptor.intercept(
              request(client, "SUBSCRIBE", null, new byte[][] {channel}, new byte[0][]));
      if (closed) {
        deliver(() -> subscription.ready.complete(false));
        return subscription;
      }
      arrive(
          fate,
          () -> {
            count("SUBSCRIBE");
            boolean accepted = subscription.register();
            if (fate.answer() == Answer.REPLY) {
              after(fate.replyDelay(), () -> subscription.ready.complete(accepted));
            }
          });
      if (fate.answer() == Answer.FAILURE || fate.answer() == Answer.UNKNOWN) {
        after(
            fate.requestDelay().plus(fate.replyDelay()), () -> subscription.ready.complete(false));
      }
      return subscription;
    }

    @Override
    public void close() {
      closed = true;
      lock.lock();
      try {
        connections.remove(this);
        for (Set<Subscription> all : subscriptions.values()) {
          all.removeIf(subscription -> subscription.connection == this);
        }
        subscriptions.values().removeIf(Set::isEmpty);
      } finally {
        lock.unlock();
      }
      failPending("the connection was closed");
    }

    private <T extends @Nullable Object> CompletionStage<T> send(
        String name,
        byte @Nullable [] first,
        byte[][] keys,
        byte[][] args,
        Function<@Nullable Object, T> decode) {
      CompletableFuture<T> future = new CompletableFuture<>();
      if (closed) {
        deliver(
            () ->
                future.completeExceptionally(
                    new StoreException("the connection is closed", null, false)));
        return future.minimalCompletionStage();
      }
      String script =
          first == null
              ? null
              : name.equals("EVAL")
                  ? new String(first, UTF_8)
                  : scriptText(new String(first, UTF_8));
      RedisRequest request = request(client, name, script, keys, args);
      RequestFate fate = interceptor.intercept(request);
      byte[][] words = words(name, first, keys, args);
      pending.put(request.number(), future);
      AtomicBoolean replied = new AtomicBoolean(fate.answer() != Answer.REPLY);
      arrive(
          fate,
          () -> {
            count(name);
            Executed executed = observed(request, first, words);
            publish(executed.messages);
            // Of a request that arrives twice the first reply counts.
            if (replied.compareAndSet(false, true)) {
              after(
                  fate.replyDelay(),
                  () -> {
                    pending.remove(request.number());
                    complete(future, executed, decode);
                  });
            }
          });
      if (fate.answer() == Answer.FAILURE || fate.answer() == Answer.UNKNOWN) {
        boolean unknown = fate.answer() == Answer.UNKNOWN;
        after(
            fate.requestDelay().plus(fate.replyDelay()),
            () -> {
              pending.remove(request.number());
              future.completeExceptionally(
                  new StoreException(
                      unknown ? "the connection was lost" : "there is no connection",
                      null,
                      unknown));
            });
      }
      return future.minimalCompletionStage();
    }

    private Executed observed(RedisRequest request, byte @Nullable [] first, byte[][] words) {
      ExecutionObserver watching = observer;
      if (watching == null) {
        return execute(words);
      }
      // Since the request was sent the server may have forgotten its script, or learned it.
      RedisRequest arrived =
          request.name().equals("EVALSHA")
              ? request.running(scriptText(new String(requireNonNull(first), UTF_8)))
              : request;
      watching.before(arrived);
      Executed executed = execute(words);
      watching.after(arrived, executed.reply, executed.error);
      return executed;
    }

    private <T extends @Nullable Object> void complete(
        CompletableFuture<T> future, Executed executed, Function<@Nullable Object, T> decode) {
      if (executed.error != null) {
        future.completeExceptionally(executed.error);
        return;
      }
      T reply;
      try {
        reply = decode.apply(executed.reply);
      } catch (RuntimeException e) {
        future.completeExceptionally(e);
        return;
      }
      future.complete(reply);
    }

    private byte[][] words(String name, byte @Nullable [] first, byte[][] keys, byte[][] args) {
      List<byte[]> words = new ArrayList<>();
      words.add(name.getBytes(UTF_8));
      if (first != null) {
        words.add(first.clone());
        words.add(Integer.toString(keys.length).getBytes(UTF_8));
      }
      for (byte[] key : keys) {
        words.add(key.clone());
      }
      for (byte[] arg : args) {
        words.add(arg.clone());
      }
      return words.toArray(new byte[0][]);
    }

    private void failPending(String reason) {
      for (Map.Entry<Long, CompletableFuture<?>> entry = pending.pollFirstEntry();
          entry != null;
          entry = pending.pollFirstEntry()) {
        CompletableFuture<?> future = entry.getValue();
        deliver(() -> future.completeExceptionally(new StoreException(reason, null, true)));
      }
    }

    private void arrive(RequestFate fate, Runnable onServer) {
      if (!fate.executed()) {
        return;
      }
      if (fate.requestDelay().isZero()) {
        enter(onServer);
      } else {
        schedule(() -> enter(onServer), fate.requestDelay());
      }
      if (fate.repeatedAfter() != null) {
        schedule(() -> enter(onServer), fate.requestDelay().plus(fate.repeatedAfter()));
      }
    }

    /** A server that was told to pause leaves what has arrived where it is. */
    private void enter(Runnable onServer) {
      long left = pausedUntilMillis - clockMillis();
      if (left > 0) {
        schedule(() -> enter(onServer), Duration.ofMillis(left));
      } else {
        onServer.run();
      }
    }

    private void after(Duration delay, Runnable task) {
      if (delay.isZero()) {
        deliver(task);
      } else {
        schedule(task, delay);
      }
    }

    private void schedule(Runnable task, Duration delay) {
      env.schedule(task, delay.toNanos());
    }

    private void deliver(Runnable task) {
      try {
        env.executor().execute(task);
      } catch (RejectedExecutionException e) {
        // The environment was closed before the connection: nobody else is left to run it.
        task.run();
      }
    }
  }

  private static List<byte @Nullable []> values(@Nullable Object reply) {
    List<byte @Nullable []> all = new ArrayList<>();
    for (Object item : (List<?>) requireNonNull(reply)) {
      all.add((byte[]) item);
    }
    return all;
  }

  private static List<byte[]> bulkStrings(@Nullable Object reply) {
    if (reply instanceof List<?> items) {
      List<byte[]> all = new ArrayList<>();
      for (Object item : items) {
        if (!(item instanceof byte[] bytes)) {
          throw new IllegalStateException("not an array of bulk strings: it holds " + item);
        }
        all.add(bytes);
      }
      return all;
    }
    if (reply instanceof byte[] bytes) {
      return List.of(bytes);
    }
    throw new IllegalStateException("not a bulk string or an array of them but " + reply);
  }

  private final class Subscription implements HintSubscription {
    private final Connection connection;
    private final byte[] channel;
    private final boolean plain;
    private final Consumer<byte[]> onMessage;
    private final CompletableFuture<Boolean> ready = new CompletableFuture<>();
    private volatile boolean ended;

    Subscription(Connection connection, byte[] channel, boolean plain, Consumer<byte[]> onMessage) {
      this.connection = connection;
      this.channel = channel;
      this.plain = plain;
      this.onMessage = requireNonNull(onMessage, "onMessage");
    }

    boolean register() {
      lock.lock();
      try {
        if (channelsDenied || ended || connection.closed) {
          return false;
        }
        subscriptions.computeIfAbsent(StoreKey.of(channel), c -> new LinkedHashSet<>()).add(this);
        return true;
      } finally {
        lock.unlock();
      }
    }

    void send(byte[] message) {
      RequestFate fate =
          interceptor.intercept(
              request(connection.client, "MESSAGE", null, new byte[][] {channel}, new byte[0][]));
      connection.arrive(
          fate,
          () ->
              connection.deliver(
                  () -> {
                    if (!ended && !connection.closed) {
                      onMessage.accept(message);
                    }
                  }));
    }

    @Override
    public CompletionStage<Boolean> ready() {
      return ready.minimalCompletionStage();
    }

    @Override
    public void close() {
      boolean removed = false;
      lock.lock();
      try {
        ended = true;
        Set<Subscription> all = subscriptions.get(StoreKey.of(channel));
        if (all != null) {
          removed = all.remove(this);
          if (all.isEmpty()) {
            subscriptions.remove(StoreKey.of(channel));
          }
        }
      } finally {
        lock.unlock();
      }
      if (removed) {
        count("UNSUBSCRIBE");
      }
    }
  }
}
