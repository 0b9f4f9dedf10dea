/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.simulation;

import static java.util.Objects.requireNonNull;

import dev.paddock.AsyncBulkLoader;
import dev.paddock.AsyncLoader;
import dev.paddock.Cache;
import dev.paddock.CacheBuilder;
import dev.paddock.CacheEvent;
import dev.paddock.CallOptions;
import dev.paddock.Codecs;
import dev.paddock.Lookup;
import dev.paddock.Otherwise;
import dev.paddock.Paddock;
import dev.paddock.redis.RedisFillStore;
import dev.paddock.redis.RedisReplyException;
import dev.paddock.redis.RedisTransport;
import dev.paddock.spi.Environment;
import dev.paddock.spi.StoreKey;
import dev.paddock.spi.StoreOptions;
import dev.paddock.testkit.InMemoryRedis;
import dev.paddock.testkit.RedisRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongFunction;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Processes that share a cache on one Redis. */
@SuppressWarnings("FutureReturnValueIgnored") // What a call brings is seen by its callback.
final class CacheWorld extends World {
  private static final Kind[] OPERATIONS = {
    Kind.GET,
    Kind.GET,
    Kind.GET,
    Kind.GET,
    Kind.GET_FRESH,
    Kind.GET_AGAIN,
    Kind.GET_MANY,
    Kind.GET_MANY,
    Kind.LOOKUP,
    Kind.CHANGE,
    Kind.INVALIDATE,
    Kind.INVALIDATE,
    Kind.EXPIRE,
    Kind.PUT,
    Kind.REFRESH
  };
  private static final Kind[] BULK_OPERATIONS = {
    Kind.GET_ALL,
    Kind.GET_ALL,
    Kind.GET_ALL,
    Kind.GET_ALL,
    Kind.GET_ALL,
    Kind.GET_ALL,
    Kind.GET,
    Kind.GET_FRESH,
    Kind.GET_MANY,
    Kind.LOOKUP,
    Kind.CHANGE,
    Kind.INVALIDATE,
    Kind.INVALIDATE,
    Kind.EXPIRE,
    Kind.PUT,
    Kind.REFRESH
  };
  private static final Kind[] TAG_OPERATIONS = {
    Kind.GET,
    Kind.GET,
    Kind.GET,
    Kind.GET,
    Kind.GET_ALL,
    Kind.GET_ALL,
    Kind.GET_FRESH,
    Kind.GET_MANY,
    Kind.GET_MANY,
    Kind.LOOKUP,
    Kind.CHANGE,
    Kind.INVALIDATE,
    Kind.INVALIDATE_TAG,
    Kind.INVALIDATE_TAG,
    Kind.CLEAR,
    Kind.EXPIRE,
    Kind.PUT,
    Kind.REFRESH
  };
  private static final Kind[] FAULTS = {
    Kind.SLOW,
    Kind.LOST_REQUEST,
    Kind.LOST_REPLY,
    Kind.BROKEN,
    Kind.DUPLICATE,
    Kind.REORDER,
    Kind.PARTITION,
    Kind.ONE_WAY,
    Kind.FREEZE,
    Kind.FREEZE,
    Kind.KILL,
    Kind.WALL_STEP,
    Kind.RATE,
    Kind.SERVER_STEP,
    Kind.SERVER_DOWN,
    Kind.RESTART,
    Kind.RESTART_LOST,
    Kind.ROLLED_BACK,
    Kind.SCRIPT_FLUSH,
    Kind.READONLY,
    Kind.OOM,
    Kind.EVICTION,
    Kind.FLUSHALL,
    Kind.FAILING_LOAD,
    Kind.LONG_LOAD
  };

  /** A barrier of a server whose clock is set back is below what was loaded before; documented. */
  private static final Kind[] TAG_FAULTS =
      Stream.of(FAULTS).filter(kind -> kind != Kind.SERVER_STEP).toArray(Kind[]::new);

  private static final int PROCESSES = 3;
  private static final String KEY = "k";
  private static final StoreKey VALUE = StoreKey.of("c:k");

  /** What bulk reads ask for besides: loaded and waited for, but not checked by themselves. */
  private static final List<String> OTHERS = List.of("l", "m", "n");

  private static final Duration COMMAND_TIMEOUT = Duration.ofMillis(100);
  private static final Duration OPENING = Duration.ofSeconds(2);
  private static final int MANY = 3;
  private static final String FALLBACK = "fallback";
  private static final String TAG = "tag";

  private final Truth truth = new Truth();
  private final Member[] processes = new Member[PROCESSES];
  private final Environment wires = networkEnvironment();
  private final List<Call> calls = new ArrayList<>();
  private final double failing;
  private final double endless;

  private enum Style {
    PLAIN,
    BULK,
    OPTIONS,
    TAGS
  }

  // Settings of all processes.
  private final Duration timeToLive;
  private final Duration stale;
  private final Duration leaseTime;
  private final Duration maxWait;
  private final Duration maxLoadTime;
  private final Duration coolDown;
  private final Duration holdOff;
  private final boolean renewal;
  private final boolean negatives;
  private final int otherwise;
  private final int bulkSize;

  /** Null in the worlds that have just the settings above. */
  private final @Nullable Options more;

  /** Null in the worlds without tags. */
  private final @Nullable Tags tags;

  private @Nullable FillRules rules;
  private boolean calm;
  private int loading;

  private CacheWorld(long seed, Plan plan, SplittableRandom random, boolean traced, Style style) {
    super(seed, plan, PROCESSES, 1, random, traced);
    failing = plan.rate(Kind.FAILING_LOAD) * 2;
    endless = plan.rate(Kind.LONG_LOAD) * 2;
    timeToLive = millis(200, 4_000);
    stale = random.nextBoolean() ? millis(500, 6_000) : Duration.ZERO;
    leaseTime = millis(100, 800);
    maxWait = millis(50, 2_000);
    maxLoadTime = millis(300, 2_000);
    coolDown = random.nextBoolean() ? millis(50, 1_500) : Duration.ZERO;
    holdOff = random.nextInt(3) == 0 ? millis(50, 800) : Duration.ZERO;
    renewal = random.nextInt(4) > 0;
    negatives = random.nextInt(3) == 0;
    otherwise = random.nextInt(3);
    bulkSize = style == Style.PLAIN ? 1 : random.nextInt(1, OTHERS.size() + 2);
    more = style == Style.OPTIONS ? new Options() : null;
    tags = style == Style.TAGS ? new Tags() : null;
    servers.get(0).setObserver(new Rules());
  }

  static World of(long seed, UnaryOperator<Plan> cut, boolean traced) {
    SplittableRandom random = new SplittableRandom(seed);
    Plan plan = Plan.draw(random.split(), OPERATIONS, FAULTS, PROCESSES, 1);
    return new CacheWorld(seed, cut.apply(plan), random, traced, Style.PLAIN);
  }

  /** With bulk reads of the key and of others, in all orders. */
  static World bulk(long seed, UnaryOperator<Plan> cut, boolean traced) {
    SplittableRandom random = new SplittableRandom(seed);
    Plan plan = Plan.draw(random.split(), BULK_OPERATIONS, FAULTS, PROCESSES, 1);
    return new CacheWorld(seed, cut.apply(plan), random, traced, Style.BULK);
  }

  /** As {@link #bulk}, with all the options that change who loads, when, and what callers get. */
  static World options(long seed, UnaryOperator<Plan> cut, boolean traced) {
    SplittableRandom random = new SplittableRandom(seed);
    Plan plan = Plan.draw(random.split(), BULK_OPERATIONS, FAULTS, PROCESSES, 1);
    return new CacheWorld(seed, cut.apply(plan), random, traced, Style.OPTIONS);
  }

  /** With tags, which are invalidated, and in some worlds with values kept near. */
  static World tags(long seed, UnaryOperator<Plan> cut, boolean traced) {
    SplittableRandom random = new SplittableRandom(seed);
    Plan plan = Plan.draw(random.split(), TAG_OPERATIONS, TAG_FAULTS, PROCESSES, 1);
    return new CacheWorld(seed, cut.apply(plan), random, traced, Style.TAGS);
  }

  private Duration millis(int from, int below) {
    return Duration.ofMillis(random.nextInt(from, below));
  }

  private InMemoryRedis server() {
    return servers.get(0);
  }

  /** Settings that not all worlds have. */
  private final class Options {
    private final boolean measured = random.nextBoolean();
    private final int early = random.nextInt(3);
    private final double beta = random.nextDouble(0.2, 4);
    private final double part = random.nextDouble(0.2, 1);
    private final Duration failSafe = random.nextInt(3) > 0 ? millis(300, 5_000) : Duration.ZERO;
    private final boolean soft = random.nextInt(3) == 0;
    private final boolean hard = random.nextInt(3) == 0;
    private final long softMillis = random.nextLong(1, 200);
    private final long hardMillis = softMillis + random.nextLong(100);
    private final int places = random.nextInt(3);
    private final int line = random.nextInt(3);

    CacheBuilder<Object, String> apply(CacheBuilder<Object, String> builder) {
      if (measured) {
        builder.leaseFloor(leaseTime);
      } else {
        builder.leaseTime(leaseTime);
      }
      if (early == 1) {
        builder.earlyRefresh(beta);
      } else if (early == 2) {
        builder.earlyRefreshAt(part);
      }
      builder.failSafeFor(failSafe);
      if (soft && !(stale.isZero() && failSafe.isZero())) {
        builder.softLoadTimeout(Duration.ofMillis(softMillis));
      }
      if (hard) {
        builder.hardLoadTimeout(Duration.ofMillis(hardMillis));
      }
      if (places > 0) {
        builder.maxConcurrentLoads(places).maxQueuedLoads(line);
      }
      return builder;
    }
  }

  /** Tags, and how late a process may know. */
  private final class Tags {
    private final Duration lag = random.nextInt(3) == 0 ? Duration.ZERO : millis(20, 1_500);
    private final boolean near = !lag.isZero() && random.nextBoolean();
    private final Duration nearTimeToLive = millis(20, 2_000);
    private final Duration skew = Duration.ofMillis(random.nextInt(50, 150));

    CacheBuilder<Object, String> apply(CacheBuilder<Object, String> builder) {
      builder.tagLag(lag).tagSkew(skew);
      if (near) {
        builder.nearMaxEntries(10).nearTimeToLive(nearTimeToLive);
      }
      return builder;
    }

    /** How long after an invalidation another process may serve what it has ended. */
    Duration late(boolean byTag) {
      Duration late = (byTag ? lag : Duration.ZERO).plus(near ? nearTimeToLive : Duration.ZERO);
      // Clocks go at different speeds.
      return late.isZero() ? late : late.multipliedBy(101).dividedBy(100).plusMillis(1);
    }
  }

  /** Null for "there is none", in some worlds. */
  private @Nullable String valueOf(long version) {
    return negatives && version % 3 == 0 ? null : "v" + version;
  }

  /** One process, from its start to its death. */
  private final class Member {
    final int slot;
    final String name;
    final Machine machine = newMachine();
    private @Nullable RedisTransport raw;
    @Nullable Cache<String, String> cache;
    int leasedLoads;
    int running;
    long lastLoadNanos = -1;

    /**
     * When the store last failed a call: such a call shares what a load without the store brings.
     */
    long unprovenNanos = -1;

    /** What no read of this process that begins now may fall below, and as of which age. */
    private long floor;

    private long floorAge;

    long floor() {
      return floorAge == truth.age() ? Math.max(floor, truth.floor()) : truth.floor();
    }

    /** An invalidation or a put of this process has returned. */
    void returned(Truth.Begun begun, boolean byTag) {
      long certain = truth.certain(begun);
      if (begun.age() == truth.age()) {
        floor = floorAge == truth.age() ? Math.max(floor, certain) : certain;
        floorAge = truth.age();
      }
      Duration late = tags == null ? Duration.ZERO : tags.late(byTag);
      if (late.isZero()) {
        truth.raise(begun, certain);
      } else {
        clockwork.after(late.toNanos(), () -> truth.raise(begun, certain));
      }
    }

    Member(int slot) {
      this.slot = slot;
      this.name = "process" + slot;
    }

    Cache<String, String> opened() {
      return requireNonNull(cache);
    }

    void open() {
      RedisTransport connection = server().connect(connectionName(slot), wires);
      raw = connection;
      RedisFillStore.openAsync(
              new Wire(machine, connection), machine, new StoreOptions(OPENING, COMMAND_TIMEOUT))
          .whenComplete(
              (store, error) -> {
                if (machine.isDead()) {
                  return;
                }
                if (store == null) {
                  connection.close();
                  clockwork.after(Duration.ofMillis(200).toNanos(), this::open);
                  return;
                }
                Paddock paddock =
                    Paddock.newBuilder()
                        .store((environment, options) -> store)
                        .environment(machine)
                        .commandTimeout(COMMAND_TIMEOUT)
                        .closeOnShutdown(false)
                        .listener(this::onEvent)
                        .build();
                CacheBuilder<Object, String> builder =
                    paddock
                        .cache("c", Codecs.string())
                        .timeToLive(timeToLive)
                        .serveStaleFor(stale)
                        .negativeTimeToLive(timeToLive)
                        .maxWait(maxWait)
                        .maxLoadTime(maxLoadTime)
                        .coolDown(coolDown)
                        .holdOff(holdOff)
                        // What a process keeps to itself in an outage no invalidation reaches.
                        .outageTimeToLive(Duration.ZERO)
                        .renewal(renewal)
                        .maxBulkSize(bulkSize)
                        .otherwise(choice());
                if (tags != null) {
                  tags.apply(builder);
                }
                cache = (more == null ? builder.leaseTime(leaseTime) : more.apply(builder)).build();
              });
    }

    private Otherwise<Object, String> choice() {
      return switch (otherwise) {
        case 0 -> Otherwise.fail();
        case 1 -> Otherwise.fallback(key -> FALLBACK);
        default -> Otherwise.loadDegraded();
      };
    }

    private void onEvent(CacheEvent event) {
      trace.add(name, machine, event::toString);
      if (event instanceof CacheEvent.LoadStarted started
          && started.leased()
          && started.key().equals(VALUE.toString())) {
        leasedLoads++;
      } else if (event instanceof CacheEvent.StoreFailed failed
          && (failed.operation().equals("GET")
              || failed.operation().equals("MGET")
              || failed.operation().equals("RAISE")
              || failed.operation().equals("GET_OR_ACQUIRE"))) {
        unprovenNanos = clockwork.now();
      }
    }

    /** Reads the source at some moment of the load, as a query does. */
    AsyncLoader<String, String> loader() {
      return (key, context) -> {
        if (tags != null) {
          context.tags(TAG);
        }
        return load(this::found);
      };
    }

    /** As {@link #loader}, for all keys by one query. */
    AsyncBulkLoader<String, String> bulkLoader() {
      return (keys, context) -> {
        if (tags != null) {
          keys.forEach(key -> context.of(key).tags(TAG));
        }
        return load(
            version -> {
              Map<String, String> values = new HashMap<>();
              String value = valueOf(version);
              if (value != null) {
                keys.forEach(key -> values.put(key, value));
              }
              return values;
            });
      };
    }

    private @Nullable String found(long version) {
      return valueOf(version);
    }

    private <T extends @Nullable Object> CompletableFuture<T> load(LongFunction<T> answer) {
      CompletableFuture<T> result = new CompletableFuture<>();
      boolean fails = !calm && failing > 0 && random.nextDouble() < failing;
      boolean isEndless = !calm && endless > 0 && random.nextDouble() < endless;
      if (fails) {
        injected.merge(Kind.FAILING_LOAD, 1L, Long::sum);
      }
      long takes = Duration.ofMillis(random.nextInt(1, 150)).toNanos();
      if (isEndless) {
        injected.merge(Kind.LONG_LOAD, 1L, Long::sum);
        takes *= 40;
      }
      long readAt = (long) (takes * random.nextDouble());
      running++;
      loading++;
      lastLoadNanos = clockwork.now();
      long[] version = {0};
      trace.add(name, machine, () -> "load begins");
      clockwork.after(
          readAt,
          () -> {
            version[0] = truth.version();
            trace.add(name, machine, () -> "load reads version " + version[0]);
          });
      clockwork.after(
          takes,
          () ->
              machine.receive(
                  () -> {
                    running--;
                    loading--;
                    trace.add(name, machine, () -> "load ends" + (fails ? ", failed" : ""));
                    if (fails) {
                      result.completeExceptionally(new IllegalStateException("no source"));
                    } else {
                      result.complete(answer.apply(version[0]));
                    }
                  }));
      return result;
    }
  }

  /** One call of a user. */
  private final class Call {
    final Member process;
    final String what;
    final long beganNanos = clockwork.now();
    final long beganClock;
    final long beganFrozen;
    final long floor;
    final long age = truth.age();
    int answers;

    /** Of a call with a {@code maxWait} of its own, which is judged elsewhere. */
    boolean ownWait;

    Call(Member process, String what) {
      this.process = process;
      this.what = what;
      this.floor = process.floor();
      this.beganClock = process.machine.nanoTime();
      this.beganFrozen = process.machine.frozenNanos();
      calls.add(this);
      trace.add(process.name, process.machine, () -> what);
    }

    void onAnswer(@Nullable Object value, @Nullable Throwable error) {
      trace.add(
          process.name,
          process.machine,
          () -> what + " is answered: " + (error == null ? value : error));
      if (++answers > 1) {
        violate(
            Invariant.I13, what + " of " + process.name + " was answered " + answers + " times");
      }
    }

    long tookNanos() {
      return process.machine.nanoTime()
          - beganClock
          - (process.machine.frozenNanos() - beganFrozen);
    }

    /** Whether what it returns has to be as new as it says; not where nothing could be proven. */
    private boolean isBound() {
      return process.unprovenNanos < beganNanos && age == truth.age();
    }

    void checkValue(@Nullable String value) {
      if (value == null) {
        boolean possible = false;
        for (long version = Math.max(1, floor); version <= truth.version(); version++) {
          possible |= valueOf(version) == null;
        }
        if (!possible && isBound()) {
          violate(Invariant.I9, what + " found no value, but there was one since version " + floor);
        }
        return;
      }
      if (value.equals(FALLBACK)) {
        return;
      }
      long version = Long.parseLong(value.substring(1));
      if (version < floor && isBound()) {
        violate(
            Invariant.I9,
            what
                + " of "
                + process.name
                + " returned version "
                + version
                + "; an invalidation of version "
                + floor
                + " had returned before it began");
      }
      if (version > truth.version()) {
        violate(Invariant.I9, what + " returned version " + version + ", which was never written");
      }
    }

    /** Each chunk waits for its own load, and for one before it that may hang. */
    void checkBulkWait(int keys) {
      int chunks = (keys + bulkSize - 1) / bulkSize;
      long cap =
          maxWait
              .plus(COMMAND_TIMEOUT.multipliedBy(8))
              .plus(maxLoadTime.multipliedBy(3))
              .multipliedBy(chunks)
              .toNanos();
      if (tookNanos() > cap) {
        violate(
            Invariant.I11,
            what
                + " of "
                + process.name
                + " took "
                + tookNanos() / 1_000_000
                + " ms, more than "
                + cap / 1_000_000);
      }
    }

    void checkWait() {
      boolean loaded = process.running > 0 || process.lastLoadNanos >= beganNanos;
      long cap =
          maxWait
              .plus(COMMAND_TIMEOUT.multipliedBy(4))
              .plus(loaded ? maxLoadTime : Duration.ZERO)
              .toNanos();
      if (tookNanos() > cap && !ownWait) {
        violate(
            Invariant.I11,
            what
                + " of "
                + process.name
                + " took "
                + tookNanos() / 1_000_000
                + " ms, more than "
                + cap / 1_000_000);
      }
    }
  }

  /** The rules of the server. */
  private final class Rules extends Watcher {
    Rules() {
      super(0);
    }

    @Override
    public void before(RedisRequest request) {
      if (rules == null && request.keys().size() == 2 && concerns(request)) {
        rules =
            new FillRules(
                CacheWorld.this, servers.get(0), VALUE, StoreKey.of(request.keys().get(1)));
      }
      if (rules != null) {
        rules.before(request);
      }
    }

    @Override
    void check(RedisRequest request, @Nullable Object reply, @Nullable RedisReplyException error) {
      if (rules != null && concerns(request)) {
        rules.after(request, reply, error);
      }
    }

    /** Other keys have no rules of their own; MGET changes nothing. */
    private boolean concerns(RedisRequest request) {
      return request.keys().isEmpty()
          || (!request.name().equals("MGET") && StoreKey.of(request.keys().get(0)).equals(VALUE));
    }
  }

  @Override
  boolean isRepeatable(RedisRequest request) {
    String name = Texts.name(request);
    return !name.equals("PUT") && !name.startsWith("EVAL");
  }

  @Override
  Machine machine(int process) {
    return processes[process].machine;
  }

  @Override
  void start() {
    for (int i = 0; i < PROCESSES; i++) {
      processes[i] = new Member(i);
      processes[i].open();
    }
    clockwork.runUntil(() -> allOpen() || isOver(), OPENING.toNanos() * 4);
  }

  private boolean allOpen() {
    for (Member process : processes) {
      if (process.cache == null) {
        return false;
      }
    }
    return true;
  }

  @Override
  void forgot(int server, boolean rolledBack) {
    if (rolledBack) {
      truth.setBack();
    }
    if (rules != null) {
      if (rolledBack) {
        rules.rolledBack();
      } else {
        rules.forgot();
      }
    }
  }

  @Override
  void clockSteps(int server) {
    if (rules != null) {
      rules.clockSteps();
    }
  }

  @Override
  void suffer(Step step) {
    // Eviction: of the two keys, any. A replica evicts nothing by itself.
    if (step.kind() == Kind.EVICTION && rules != null && !server().isReadOnly()) {
      if (step.amount() % 2 == 0) {
        server().command("DEL", rules.record().bytes());
        rules.forgot();
      } else {
        server().command("DEL", VALUE.bytes());
      }
    }
  }

  @Override
  void kill(int slot) {
    Member process = processes[slot];
    if (process.machine.isDead()) {
      return;
    }
    process.machine.kill();
    loading -= process.running;
    if (process.raw != null) {
      process.raw.close();
    }
    processes[slot] = new Member(slot);
    clockwork.after(Duration.ofMillis(50).toNanos(), processes[slot]::open);
  }

  @Override
  void operate(Step step) {
    Member process = processes[step.who()];
    Cache<String, String> cache = process.cache;
    if (cache == null || process.machine.isFrozen()) {
      if (step.kind() == Kind.CHANGE) {
        truth.change();
      }
      return;
    }
    CallOptions<String, String> options = cache.options();
    switch (step.kind()) {
      case GET -> get(process, step.amount() % 5 == 0 ? options.expectMiss() : options);
      case GET_FRESH -> get(process, options.alwaysFresh());
      case GET_MANY -> {
        for (int i = 0; i < MANY; i++) {
          get(process, options);
        }
      }
      case GET_AGAIN ->
          get(process, options).whenComplete((value, error) -> get(process, options.alwaysFresh()));
      case GET_ALL -> getAll(process, (int) step.amount());
      case LOOKUP -> lookup(process, cache);
      case CHANGE -> change();
      case INVALIDATE -> {
        if (step.amount() % 4 > 0) {
          change();
        }
        Truth.Begun begun = truth.begin();
        Call call = new Call(process, "invalidate");
        cache
            .invalidateAsync(KEY)
            .whenComplete(
                (nothing, error) -> {
                  call.onAnswer(null, error);
                  if (error == null) {
                    process.returned(begun, false);
                  }
                });
      }
      case INVALIDATE_TAG, CLEAR -> {
        if (step.amount() % 4 > 0) {
          change();
        }
        Truth.Begun begun = truth.begin();
        Call call = new Call(process, step.kind().shown());
        (step.kind() == Kind.CLEAR ? cache.clearAsync() : cache.invalidateTagAsync(TAG))
            .whenComplete(
                (nothing, error) -> {
                  call.onAnswer(null, error);
                  if (error == null) {
                    process.returned(begun, true);
                  }
                });
      }
      case EXPIRE -> {
        change();
        Call call = new Call(process, "expire");
        cache.expireAsync(KEY).whenComplete((nothing, error) -> call.onAnswer(null, error));
      }
      case PUT -> put(process, cache);
      case REFRESH -> {
        Call call = new Call(process, "refresh");
        cache
            .refresh(KEY, process.loader())
            .whenComplete(
                (value, error) -> {
                  call.onAnswer(value, error);
                  if (error == null) {
                    call.checkValue(value);
                  }
                });
      }
      default -> throw new IllegalArgumentException("no operation of caches: " + step);
    }
  }

  private void change() {
    long version = truth.change();
    trace.add("source", () -> "is at version " + version);
  }

  private CompletableFuture<@Nullable String> get(
      Member process, CallOptions<String, String> options) {
    Cache<String, String> cache = process.opened();
    Call call = new Call(process, "get");
    call.ownWait = !options.maxWait().equals(maxWait);
    CompletableFuture<@Nullable String> future = cache.getAsync(KEY, process.loader(), options);
    return future.whenComplete(
        (value, error) -> {
          call.onAnswer(value, error);
          call.checkWait();
          if (error == null) {
            call.checkValue(value);
          }
        });
  }

  /** Some of the keys in some order, and the one that is checked among them. */
  private void getAll(Member process, int amount) {
    Cache<String, String> cache = process.opened();
    List<String> keys = new ArrayList<>(OTHERS.subList(0, 1 + amount % OTHERS.size()));
    keys.add(amount / 3 % (keys.size() + 1), KEY);
    if (amount % 2 == 0) {
      Collections.reverse(keys);
    }
    CallOptions<String, String> options = cache.options();
    if (amount % 7 == 0) {
      options = options.alwaysFresh();
    } else if (amount % 11 == 0) {
      options = options.expectMiss();
    }
    Call call = new Call(process, "get of " + keys);
    cache
        .tryGetAllAsync(keys, process.bulkLoader(), options)
        .whenComplete(
            (result, error) -> {
              call.onAnswer(result, error);
              call.checkBulkWait(keys.size());
              if (result != null && !result.failures().containsKey(KEY)) {
                call.checkValue(result.values().get(KEY));
              }
            });
  }

  private void lookup(Member process, Cache<String, String> cache) {
    Call call = new Call(process, "lookup");
    boolean stepped = plan.has(Kind.SERVER_STEP);
    cache
        .lookupAsync(KEY)
        .whenComplete(
            (found, error) -> {
              call.onAnswer(found, error);
              if (error != null) {
                return;
              }
              FillRules book = rules;
              if (found.isMissing()) {
                // What was fresh when it was read may not be after a freeze.
                boolean frozen = process.machine.frozenNanos() > call.beganFrozen;
                if (!stepped
                    && tags == null
                    && !frozen
                    && book != null
                    && book.freshSinceNanos() <= call.beganNanos
                    && book.isFreshFor(1_000)) {
                  violate(
                      Invariant.I14,
                      "lookup of " + process.name + " found nothing while a fresh value was there");
                }
              } else {
                call.checkValue(found.state() == Lookup.State.ABSENT ? null : found.value());
              }
            });
  }

  private void put(Member process, Cache<String, String> cache) {
    change();
    Truth.Begun begun = truth.beginPut();
    String value = valueOf(begun.version());
    Call call = new Call(process, "put of version " + begun.version());
    CallOptions<String, String> options = cache.options();
    cache
        .putAsync(KEY, value, tags == null ? options : options.tags(TAG))
        .whenComplete(
            (nothing, error) -> {
              call.onAnswer(null, error);
              if (error == null) {
                process.returned(begun, false);
              } else {
                // Whether it has happened, and when it will, is open; not for long, it is dated.
                clockwork.after(Duration.ofSeconds(4).toNanos(), () -> truth.forgetPut(begun));
              }
            });
  }

  @Override
  void settle() {
    calm = true;
    Duration longest =
        maxWait.plus(maxLoadTime).plus(leaseTime.multipliedBy(2)).plus(Duration.ofSeconds(20));
    if (!within(longest, () -> loading == 0 && allOpen() && allAnswered())) {
      for (Call call : calls) {
        if (call.answers == 0 && !call.process.machine.isDead()) {
          violate(Invariant.I13, call.what + " of " + call.process.name + " was never answered");
        }
      }
      if (!isOver()) {
        violate(Invariant.I6, "after all was well: loads " + loading + ", open " + allOpen());
      }
      return;
    }
    checkServed();
    if (!isOver()) {
      checkWithoutHints();
    }
    if (!isOver()) {
      checkAtRest();
    }
    if (!isOver()) {
      checkLoads();
    }
  }

  private boolean allAnswered() {
    for (Call call : calls) {
      if (call.answers == 0 && !call.process.machine.isDead()) {
        return false;
      }
    }
    return true;
  }

  /** Once all is well an invalidation gets through, and each process sees what is true. */
  private void checkServed() {
    change();
    Truth.Begun begun = truth.begin();
    boolean[] invalidated = {false};
    Member first = processes[0];
    Call call = new Call(first, "last invalidate");
    first
        .opened()
        .invalidateAsync(KEY)
        .whenComplete(
            (nothing, error) -> {
              call.onAnswer(null, error);
              invalidated[0] = error == null;
              if (error == null) {
                first.returned(begun, false);
              }
            });
    if (!within(Duration.ofSeconds(5), () -> call.answers > 0)) {
      violate(Invariant.I6, "the last invalidate was not answered");
      return;
    }
    if (!invalidated[0]) {
      violate(Invariant.I6, "an invalidate failed although all is well");
      return;
    }
    for (Member process : processes) {
      // A lease of somebody who died, a cool-down and a hold-off may each last a while.
      long end =
          clockwork.now()
              + leaseTime.plus(coolDown).plus(holdOff).plus(Duration.ofSeconds(4)).toNanos();
      boolean served = false;
      while (!served && !isOver() && clockwork.now() < end) {
        CompletableFuture<@Nullable String> answer = get(process, process.opened().options());
        if (!within(Duration.ofSeconds(30), answer::isDone)) {
          break;
        }
        served = !answer.isCompletedExceptionally() && !FALLBACK.equals(answer.getNow(FALLBACK));
        if (!served) {
          within(Duration.ofMillis(50), () -> false);
        }
      }
      if (!served && !isOver()) {
        violate(Invariant.I6, process.name + " gets no value although all is well");
      }
    }
  }

  /** Who waits for another process finds out by itself where no hint arrives. */
  private void checkWithoutHints() {
    network.dropHints();
    // Past the hold-off of the invalidation before.
    within(holdOff.plus(timeToLive).plus(Duration.ofMillis(10)), () -> false);
    change();
    CompletableFuture<@Nullable String> first =
        get(processes[0], processes[0].opened().options().alwaysFresh());
    within(Duration.ofMillis(3), () -> false);
    Cache<String, String> cache = processes[1].opened();
    CompletableFuture<@Nullable String> second =
        get(processes[1], cache.options().alwaysFresh().maxWait(Duration.ofSeconds(30)));
    if (!within(Duration.ofSeconds(10), () -> first.isDone() && second.isDone())) {
      violate(
          Invariant.I6,
          "without hints " + (first.isDone() ? "the waiter" : "the loader") + " is not answered");
    }
  }

  private void checkAtRest() {
    within(Duration.ofMinutes(60), () -> false);
    for (Member process : processes) {
      if (process.machine.pendingTimers() > 0) {
        violate(
            Invariant.I12,
            process.name + " has " + process.machine.pendingTimers() + " timers at rest");
      }
    }
    if (loading > 0) {
      violate(Invariant.I12, loading + " loads at rest");
    }
    // Who has tags or keeps values near listens all the time.
    if (server().subscriptionCount() > (tags == null ? 0 : PROCESSES)) {
      violate(Invariant.I12, server().subscriptionCount() + " subscriptions at rest");
    }
    for (StoreKey key : server().snapshot().keySet()) {
      if (key.toString().startsWith("pdk:{")) {
        violate(Invariant.I12, "the lease record " + key + " at rest");
      }
    }
  }

  private void checkLoads() {
    if (rules == null || plan.has(Kind.KILL)) {
      return;
    }
    int loads = 0;
    for (Member process : processes) {
      loads += process.leasedLoads;
    }
    if (loads > rules.granted()) {
      violate(
          Invariant.I10, loads + " loads under a lease, but only " + rules.granted() + " grants");
    }
  }
}
