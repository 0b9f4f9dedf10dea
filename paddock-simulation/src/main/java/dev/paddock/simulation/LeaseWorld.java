/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.simulation;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.paddock.FenceOutcome;
import dev.paddock.Lease;
import dev.paddock.LeaseEvent;
import dev.paddock.LeaseLock;
import dev.paddock.LeaseOptions;
import dev.paddock.redis.FencedWrite;
import dev.paddock.redis.RedisLeaseStore;
import dev.paddock.redis.RedisReplyException;
import dev.paddock.redis.RedisTransport;
import dev.paddock.redis.RedlockBootstrap;
import dev.paddock.redis.RedlockLeaseStore;
import dev.paddock.redis.RedlockNode;
import dev.paddock.spi.Environment;
import dev.paddock.spi.LeaseStore;
import dev.paddock.spi.StoreKey;
import dev.paddock.spi.StoreOptions;
import dev.paddock.testkit.InMemoryRedis;
import dev.paddock.testkit.KeyState;
import dev.paddock.testkit.RedisRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Processes that compete for a lease, on one Redis or on several independent ones, and write under
 * it to a fenced register on a server of its own, whether they still hold it or not.
 */
@SuppressWarnings("FutureReturnValueIgnored") // What a call brings is seen by its callback.
final class LeaseWorld extends World {
  private static final Kind[] OPERATIONS = {
    Kind.ACQUIRE, Kind.ACQUIRE, Kind.ACQUIRE, Kind.ACQUIRE, Kind.RUN, Kind.READ_REGISTER
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
    Kind.FLUSHALL
  };
  private static final int PROCESSES = 3;
  private static final int NODES = 3;
  private static final String NAME = "job";
  private static final StoreKey EPOCH = StoreKey.of("pdk:{redlock}:e");
  private static final byte[] REGISTER = "register".getBytes(UTF_8);
  private static final Duration COMMAND_TIMEOUT = Duration.ofMillis(100);
  private static final Duration OPENING = Duration.ofSeconds(2);
  private static final Duration LONGEST = Duration.ofSeconds(2);

  private final boolean redlock;
  private final int nodes;
  private final Member[] processes = new Member[PROCESSES];
  private final Environment wires = networkEnvironment();
  private final List<Held> held = new ArrayList<>();
  private final List<Held> alive = new ArrayList<>();
  private final List<Attempt> attempts = new ArrayList<>();
  private final List<LeaseRules> rules = new ArrayList<>();
  private final Set<Long> tokens = new HashSet<>();
  private final List<Linearizability.Operation<Register>> registerHistory = new ArrayList<>();
  private final List<Linearizability.Operation<String>> leaseHistory = new ArrayList<>();
  private @Nullable StoreKey fence;
  private long fenceBefore;
  private long greatestReturned;
  private int grants;
  private int values;
  private long brokenNanos = -1;

  private LeaseWorld(
      long seed, Plan plan, SplittableRandom random, boolean traced, boolean redlock, int nodes) {
    super(seed, plan, PROCESSES, nodes + 1, random, traced);
    this.redlock = redlock;
    this.nodes = nodes;
    for (int i = 0; i < nodes; i++) {
      // The key of a lease on one server is known from the first request for it.
      rules.add(redlock ? rules(i, StoreKey.of("pdk:{redlock}:l:" + NAME)) : null);
      servers.get(i).setObserver(new Rules(i));
    }
    servers.get(nodes).setObserver(new Rules(nodes));
  }

  private LeaseRules rules(int index, StoreKey key) {
    return new LeaseRules(this, servers.get(index), key, LONGEST.toMillis(), !redlock);
  }

  static World single(long seed, UnaryOperator<Plan> cut, boolean traced) {
    return of(seed, cut, traced, false, 1);
  }

  static World redlock(long seed, UnaryOperator<Plan> cut, boolean traced) {
    return of(seed, cut, traced, true, NODES);
  }

  private static World of(
      long seed, UnaryOperator<Plan> cut, boolean traced, boolean redlock, int nodes) {
    SplittableRandom random = new SplittableRandom(seed);
    Plan plan = Plan.draw(random.split(), OPERATIONS, FAULTS, PROCESSES, nodes);
    return new LeaseWorld(seed, cut.apply(plan), random, traced, redlock, nodes);
  }

  /**
   * Servers that vote, as worlds begin with them: the bootstrap raises each of the counters, which
   * would take longer than all the rest of a world.
   */
  private static final class Founded {
    /** Empty if the bootstrap failed, as it may where the protocol is broken on purpose. */
    static final List<InMemoryRedis.Saved> SERVERS = found();

    private static List<InMemoryRedis.Saved> found() {
      Clockwork clockwork = new Clockwork();
      Machine machine = new Machine(clockwork, new SplittableRandom(1), 1, 0);
      List<InMemoryRedis> servers = new ArrayList<>();
      List<RedlockNode> group = new ArrayList<>();
      for (int i = 0; i < NODES; i++) {
        InMemoryRedis server = new InMemoryRedis(machine);
        servers.add(server);
        group.add(new RedlockNode(address(i), server.connect("founder", machine)));
      }
      boolean[] done = {false};
      RedlockLeaseStore.bootstrapAsync(
              group,
              LONGEST,
              RedlockBootstrap.NEW_SERVERS,
              machine,
              new StoreOptions(Duration.ofSeconds(10), Duration.ofSeconds(1)))
          .whenComplete((number, error) -> done[0] = error == null);
      clockwork.runUntil(() -> done[0], Duration.ofSeconds(60).toNanos());
      return done[0] ? servers.stream().map(InMemoryRedis::save).toList() : List.of();
    }
  }

  private static String address(int server) {
    return "server" + server + ":6379";
  }

  private InMemoryRedis resource() {
    return servers.get(nodes);
  }

  /** What a register holds: the last token, whose it is, and a value. */
  private record Register(long token, String id, String value) {}

  /** One process, from its start to its death. */
  private final class Member {
    final int slot;
    final String name;
    final Machine machine = newMachine();
    final List<RedisTransport> raw = new ArrayList<>();
    private @Nullable Wire resource;
    @Nullable LeaseLock lock;

    Member(int slot) {
      this.slot = slot;
      this.name = "process" + slot;
    }

    private Wire wire(InMemoryRedis server) {
      RedisTransport connection = server.connect(connectionName(slot), wires);
      raw.add(connection);
      return new Wire(machine, connection);
    }

    LeaseLock opened() {
      return requireNonNull(lock);
    }

    List<RedlockNode> redlockNodes() {
      List<RedlockNode> all = new ArrayList<>();
      for (int i = 0; i < nodes; i++) {
        all.add(new RedlockNode(address(i), wire(servers.get(i))));
      }
      return all;
    }

    void open() {
      StoreOptions options = new StoreOptions(OPENING, COMMAND_TIMEOUT);
      CompletionStage<? extends LeaseStore> opening =
          redlock
              ? RedlockLeaseStore.openAsync(redlockNodes(), LONGEST, machine, options)
              : RedisLeaseStore.openAsync(wire(servers.get(0)), machine, options);
      opening.whenComplete(
          (store, error) -> {
            if (machine.isDead()) {
              return;
            }
            if (store == null) {
              clockwork.after(Duration.ofMillis(200).toNanos(), this::open);
              return;
            }
            if (resource == null) {
              resource = wire(resource());
            }
            lock =
                LeaseLock.newBuilder()
                    .store((environment, given) -> store)
                    .environment(machine)
                    .commandTimeout(COMMAND_TIMEOUT)
                    .listener(this::onEvent)
                    .build();
          });
    }

    private void onEvent(LeaseEvent event) {
      trace.add(name, machine, event::toString);
      if (event instanceof LeaseEvent.Extended extended) {
        for (Held mine : held) {
          if (mine.lease.fencingToken() == extended.token()) {
            mine.noteValidity();
          }
        }
      }
    }

    /** Sends a fenced write as an application does: by its hash, then whole. */
    CompletionStage<FenceOutcome> write(FencedWrite write) {
      Wire to = resource;
      CompletableFuture<FenceOutcome> result = new CompletableFuture<>();
      if (to == null) {
        result.completeExceptionally(new IllegalStateException("no connection"));
        return result;
      }
      to.evalsha(write.sha1(), write.keys(), write.args())
          .whenComplete(
              (reply, error) -> {
                if (error == null) {
                  result.complete(write.outcome(reply));
                } else if (String.valueOf(error.getMessage()).contains("NOSCRIPT")) {
                  to.eval(write.script(), write.keys(), write.args())
                      .whenComplete(
                          (again, failure) -> {
                            if (failure == null) {
                              result.complete(write.outcome(again));
                            } else {
                              result.completeExceptionally(failure);
                            }
                          });
                } else {
                  result.completeExceptionally(error);
                }
              });
      return result;
    }
  }

  /** A lease that a process was given. */
  private final class Held {
    final Member process;
    final Lease lease;
    final long grantedFrozen;
    boolean promised = true;
    boolean told;
    boolean released;
    long validNanos;
    private long validUntilClock;

    Held(Member process, Lease lease, long beganFrozen) {
      this.process = process;
      this.lease = lease;
      this.grantedFrozen = beganFrozen;
      // The process may have been stopped on the way to its caller.
      this.validNanos = lease.isValid() ? clockwork.now() : 0;
      noteValidity();
    }

    boolean isAlive() {
      return !released && lease.isValid();
    }

    void noteValidity() {
      validUntilClock = process.machine.nanoTime() + lease.remaining().toNanos();
    }

    void onLost() {
      told = true;
      trace.add(
          process.name, process.machine, () -> "is told that " + lease.fencingToken() + " is lost");
      boolean wasFrozen = process.machine.frozenNanos() > grantedFrozen;
      long late = process.machine.nanoTime() - validUntilClock;
      if (promised && !wasFrozen && !released && late > 0) {
        violate(
            Invariant.I8,
            process.name + " was told of the loss of " + lease.fencingToken() + " too late");
      }
    }
  }

  /** One call of a user. */
  private final class Attempt {
    final Member process;
    final Duration waitTime;
    final long beganNanos = clockwork.now();
    final long beganClock;
    final long beganFrozen;
    final long before = greatestReturned;
    int answers;

    Attempt(Member process, Duration waitTime) {
      this.process = process;
      this.waitTime = waitTime;
      this.beganClock = process.machine.nanoTime();
      this.beganFrozen = process.machine.frozenNanos();
      attempts.add(this);
    }

    @SuppressWarnings("NullableOptional") // As stages bring it.
    void onAnswer(@Nullable Optional<Lease> lease, @Nullable Throwable error) {
      trace.add(
          process.name,
          process.machine,
          () ->
              "acquire is answered: "
                  + (error != null
                      ? error
                      : lease != null && lease.isPresent()
                          ? lease.get().fencingToken()
                              + " of "
                              + lease.get().uniqueId().substring(0, 6)
                          : "held by another"));
      if (++answers > 1) {
        violate(Invariant.I13, "an acquire of " + process.name + " was answered twice");
      }
      long took =
          process.machine.nanoTime() - beganClock - (process.machine.frozenNanos() - beganFrozen);
      long cap = waitTime.plus(COMMAND_TIMEOUT.multipliedBy(redlock ? 6 : 3)).toNanos();
      if (took > cap) {
        violate(
            Invariant.I11,
            "an acquire of "
                + process.name
                + " took "
                + took / 1_000_000
                + " ms, more than "
                + cap / 1_000_000);
      }
      if (lease != null && lease.isPresent()) {
        onGrant(lease.get());
      }
    }

    private void onGrant(Lease lease) {
      grants++;
      Held mine = new Held(process, lease, beganFrozen);
      mine.promised = beganNanos > brokenNanos;
      for (Held other : held) {
        if (other.promised
            && mine.promised
            && other.isAlive()
            && lease.isValid()
            && !other.process.machine.isDead()) {
          violate(
              Invariant.I1,
              "two leases are valid: "
                  + other.lease.fencingToken()
                  + " of "
                  + other.process.name
                  + " and "
                  + lease.fencingToken()
                  + " of "
                  + process.name);
        }
      }
      long token = lease.fencingToken();
      boolean certain = redlock || !plan.has(Kind.SERVER_STEP);
      if (certain && !tokens.add(token)) {
        violate(Invariant.I2, "token " + token + " was granted twice");
      }
      if (certain && token <= before) {
        violate(Invariant.I3, "token " + token + " after " + before + " had been returned");
      }
      greatestReturned = Math.max(greatestReturned, token);
      held.add(mine);
      alive.add(mine);
      lease.onLost(mine::onLost);
      leaseHistory.add(
          new Linearizability.Operation<>(
              process.name + " gets " + token,
              beganNanos,
              clockwork.now(),
              (state, open) -> state.isEmpty() ? lease.uniqueId() : null));
    }
  }

  private final class Rules extends Watcher {
    Rules(int server) {
      super(server);
    }

    @Override
    public void before(RedisRequest request) {
      if (server() == nodes) {
        return;
      }
      LeaseRules book = book(request);
      if (book != null) {
        book.before();
      }
    }

    private @Nullable LeaseRules book(RedisRequest request) {
      LeaseRules book = rules.get(server());
      if (book == null && request.keys().size() == 2) {
        book = rules(server(), StoreKey.of(request.keys().get(0)));
        rules.set(server(), book);
      }
      return book;
    }

    @Override
    void check(RedisRequest request, @Nullable Object reply, @Nullable RedisReplyException error) {
      if (server() == nodes) {
        checkFence(request);
        return;
      }
      LeaseRules book = book(request);
      if (book != null) {
        book.after(request, reply, error);
        probe(book);
      }
      checkValidity();
    }

    /** Looks again when the server's record will just have ended. */
    private void probe(LeaseRules book) {
      long left = book.endsMillis() - servers.get(server()).clockMillis();
      if (left > 0) {
        clockwork.after((left + 2) * 1_000_000, LeaseWorld.this::checkValidity);
      }
    }
  }

  /** Who takes a lease for valid has it on the servers. */
  private void checkValidity() {
    alive.removeIf(mine -> !mine.promised || !mine.isAlive() || mine.process.machine.isDead());
    for (Held mine : alive) {
      mine.validNanos = clockwork.now();
      int votes = 0;
      for (int i = 0; i < nodes; i++) {
        LeaseRules book = rules.get(i);
        // One that forgot the lease must not vote for another until the lease is over.
        if ((book != null && book.holderNow().equals(mine.lease.uniqueId()))
            || (redlock && !isVoting(i))) {
          votes++;
        }
      }
      if (votes <= nodes / 2) {
        violate(
            Invariant.I8,
            mine.process.name
                + " takes "
                + mine.lease.fencingToken()
                + " for valid, "
                + mine.lease.remaining().toMillis()
                + " ms yet, which "
                + votes
                + " of "
                + nodes
                + " servers know");
      }
    }
  }

  private void checkFence(RedisRequest request) {
    if (!Texts.name(request).equals("FENCED_WRITE")) {
      return;
    }
    if (fence == null) {
      fence = StoreKey.of(request.keys().get(1));
    }
    KeyState state = resource().state(fence);
    long now = state == null ? 0 : Long.parseLong(state.fields().getOrDefault("t", "0"));
    if (now < fenceBefore) {
      violate(Invariant.I4, "the register's fence went from " + fenceBefore + " to " + now);
    }
    fenceBefore = now;
  }

  /**
   * A write is one only if it takes effect once: the same holder may write again before the first
   * write is answered, and then the first one's repetition would undo the second.
   */
  @Override
  boolean mayArriveTwice(RedisRequest request) {
    return isRepeatable(request);
  }

  @Override
  boolean isRepeatable(RedisRequest request) {
    String name = Texts.name(request);
    return !name.equals("FENCED_WRITE") && !name.startsWith("EVAL");
  }

  @Override
  Machine machine(int process) {
    return processes[process].machine;
  }

  @Override
  void start() {
    if (redlock) {
      if (Founded.SERVERS.isEmpty()) {
        throw new IllegalStateException("the bootstrap did not succeed");
      }
      for (int i = 0; i < nodes; i++) {
        servers.get(i).resume(Founded.SERVERS.get(i));
      }
    }
    for (int i = 0; i < PROCESSES; i++) {
      processes[i] = new Member(i);
      processes[i].open();
    }
    clockwork.runUntil(
        () -> allOpen() || isOver(), clockwork.now() + OPENING.multipliedBy(4).toNanos());
  }

  private boolean allOpen() {
    for (Member process : processes) {
      if (process.lock == null) {
        return false;
      }
    }
    return true;
  }

  /** Those who hold a lease now were promised nothing for this. */
  private void breakPromises() {
    held.forEach(mine -> mine.promised = false);
    // And those whom a grant of before has yet to reach.
    brokenNanos = clockwork.now();
  }

  @Override
  void forgot(int server, boolean rolledBack) {
    LeaseRules book = rules.get(server);
    if (book != null) {
      book.forgot();
    }
    if (!redlock) {
      breakPromises();
    }
  }

  @Override
  boolean maySuffer(Step step) {
    return switch (step.kind()) {
      // One server at a time: more than a minority takes a bootstrap.
      case RESTART, RESTART_LOST, ROLLED_BACK, FLUSHALL -> !redlock || allVote();
      // An evicting server is none that a majority may count on, and is refused.
      case EVICTION -> !redlock;
      default -> true;
    };
  }

  private boolean allVote() {
    for (int i = 0; i < nodes; i++) {
      if (!isVoting(i)) {
        return false;
      }
    }
    return true;
  }

  private boolean isVoting(int index) {
    InMemoryRedis server = servers.get(index);
    KeyState epoch = server.state(EPOCH);
    return epoch != null
        && epoch.fields().containsKey("f")
        && server.text("INFO", "server").contains(epoch.fields().get("r"));
  }

  @Override
  void clockSteps(int server) {
    LeaseRules book = rules.get(server);
    if (book != null) {
      book.clockSteps();
    }
    breakPromises();
  }

  @Override
  void suffer(Step step) {
    if (step.kind() == Kind.EVICTION && !servers.get(0).isReadOnly()) {
      servers.get(0).snapshot().keySet().stream()
          .filter(key -> key.toString().endsWith(":" + NAME))
          .findFirst()
          .ifPresent(key -> servers.get(0).command("DEL", key.bytes()));
      forgot(0, false);
    }
  }

  @Override
  void kill(int slot) {
    Member process = processes[slot];
    if (process.machine.isDead()) {
      return;
    }
    process.machine.kill();
    process.raw.forEach(RedisTransport::close);
    processes[slot] = new Member(slot);
    clockwork.after(Duration.ofMillis(50).toNanos(), processes[slot]::open);
  }

  private LeaseOptions options(Step step) {
    LeaseOptions options =
        LeaseOptions.defaults()
            .leaseTime(Duration.ofMillis(100 + step.amount()))
            .waitTime(
                step.amount() % 3 == 0
                    ? Duration.ZERO
                    : Duration.ofMillis(random.nextInt(1, 1_500)));
    return step.amount() % 2 == 0 ? options.renewFor(Duration.ofSeconds(3)) : options;
  }

  @Override
  void operate(Step step) {
    Member process = processes[step.who()];
    LeaseLock lock = process.lock;
    if (lock == null || process.machine.isFrozen()) {
      return;
    }
    if (step.kind() == Kind.READ_REGISTER) {
      readRegister(process);
      return;
    }
    boolean orderly = step.kind() == Kind.RUN;
    LeaseOptions options = options(step);
    trace.add(
        process.name,
        process.machine,
        () ->
            "acquires for "
                + options.leaseTime().toMillis()
                + " ms, waiting "
                + options.waitTime().toMillis()
                + (options.holdTimeMax() == null ? "" : ", renewed"));
    Attempt attempt = new Attempt(process, options.waitTime());
    lock.tryAcquireAsync(NAME, options)
        .whenComplete(
            (lease, error) -> {
              attempt.onAnswer(lease, error);
              if (lease != null && lease.isPresent()) {
                use(process, lease.get(), orderly);
              }
            });
  }

  /** Works under a lease, or what it takes for one: some writes come long after its end. */
  private void use(Member process, Lease lease, boolean orderly) {
    int writes = random.nextInt(3);
    for (int i = 0; i < writes; i++) {
      long delay = Duration.ofMillis(random.nextInt(1, orderly ? 60 : 2_500)).toNanos();
      process.machine.schedule(() -> write(process, lease), delay);
    }
    if (orderly || random.nextInt(4) > 0) {
      long delay = Duration.ofMillis(random.nextInt(1, orderly ? 100 : 1_500)).toNanos();
      process.machine.schedule(() -> release(process, lease), delay);
    } else if (random.nextBoolean()) {
      process.machine.schedule(
          () -> {
            CompletionStage<?> unused = lease.extendAsync();
          },
          Duration.ofMillis(random.nextInt(1, 300)).toNanos());
    }
  }

  private void release(Member process, Lease lease) {
    for (Held mine : held) {
      if (mine.lease.equals(lease)) {
        mine.released = true;
      }
    }
    trace.add(process.name, process.machine, () -> "releases " + lease.fencingToken());
    lease
        .releaseAsync()
        .whenComplete(
            (outcome, error) -> {
              if (error != null) {
                violate(Invariant.I13, "a release failed with " + error);
              }
              if (lease.isValid()) {
                violate(Invariant.I8, lease.fencingToken() + " is valid after its release");
              }
            });
  }

  private void write(Member process, Lease lease) {
    String value = "w" + ++values;
    long began = clockwork.now();
    long token = lease.fencingToken();
    String id = lease.uniqueId();
    trace.add(process.name, process.machine, () -> "writes " + value + " under " + token);
    int[] index = {registerHistory.size()};
    registerHistory.add(
        new Linearizability.Operation<>(
            process.name + " writes " + value + " under " + token,
            began,
            Long.MAX_VALUE,
            (state, open) -> accepts(state, token, id) ? new Register(token, id, value) : state));
    process
        .write(FencedWrite.set(REGISTER, value.getBytes(UTF_8), null, lease))
        .whenComplete(
            (outcome, error) -> {
              trace.add(
                  process.name,
                  process.machine,
                  () -> value + ": " + (error == null ? outcome : error));
              if (error != null) {
                return;
              }
              boolean accepted = outcome.accepted();
              registerHistory.set(
                  index[0],
                  new Linearizability.Operation<>(
                      process.name
                          + " writes "
                          + value
                          + " under "
                          + token
                          + (accepted ? ", accepted" : ", rejected"),
                      began,
                      clockwork.now(),
                      (state, open) ->
                          accepts(state, token, id) != accepted
                              ? null
                              : accepted ? new Register(token, id, value) : state));
            });
  }

  private static boolean accepts(Register state, long token, String id) {
    return token > state.token() || (token == state.token() && id.equals(state.id()));
  }

  private void readRegister(Member process) {
    Wire from = process.resource;
    if (from == null) {
      return;
    }
    long began = clockwork.now();
    from.get(REGISTER)
        .whenComplete(
            (bytes, error) -> {
              if (error == null) {
                String seen = bytes == null ? "" : new String(bytes, UTF_8);
                registerHistory.add(
                    new Linearizability.Operation<>(
                        process.name + " reads " + seen,
                        began,
                        clockwork.now(),
                        (state, open) -> state.value().equals(seen) ? state : null));
              }
            });
  }

  @Override
  void settle() {
    if (!within(
        Duration.ofSeconds(90), () -> allOpen() && allAnswered() && (!redlock || allVote()))) {
      for (Attempt attempt : attempts) {
        if (attempt.answers == 0 && !attempt.process.machine.isDead()) {
          violate(Invariant.I13, "an acquire of " + attempt.process.name + " was never answered");
        }
      }
      if (!isOver()) {
        violate(
            Invariant.I6,
            "after all was well: all open " + allOpen() + ", all answered " + allAnswered());
      }
      return;
    }
    checkAcquirable();
    if (!isOver()) {
      checkAtRest();
    }
    if (!isOver()) {
      checkHistories();
    }
  }

  private boolean allAnswered() {
    for (Attempt attempt : attempts) {
      if (attempt.answers == 0 && !attempt.process.machine.isDead()) {
        return false;
      }
    }
    return true;
  }

  private void checkAcquirable() {
    for (Member process : processes) {
      Duration patience = LONGEST.multipliedBy(3);
      Attempt attempt = new Attempt(process, patience);
      boolean[] got = {false};
      process
          .opened()
          .tryAcquireAsync(
              NAME, LeaseOptions.defaults().leaseTime(Duration.ofSeconds(1)).waitTime(patience))
          .whenComplete(
              (lease, error) -> {
                attempt.onAnswer(lease, error);
                if (lease != null && lease.isPresent()) {
                  got[0] = true;
                  release(process, lease.get());
                }
              });
      if (!within(Duration.ofSeconds(30), () -> attempt.answers > 0) || !got[0]) {
        violate(Invariant.I6, process.name + " gets no lease although all is well");
        return;
      }
    }
  }

  private void checkAtRest() {
    // The last writes of users, and the leases that nobody gave back, are over by then.
    within(Duration.ofSeconds(3), () -> false);
    // While it is open, a store of several servers looks after them; so it is closed first.
    for (Member process : processes) {
      process.opened().close();
    }
    within(Duration.ofMinutes(20), () -> false);
    Map<String, Integer> left = new HashMap<>();
    for (Member process : processes) {
      if (process.machine.pendingTimers() > 0) {
        left.put(process.name, process.machine.pendingTimers());
      }
    }
    if (!left.isEmpty()) {
      violate(Invariant.I12, "timers at rest: " + left);
    }
    for (int i = 0; i < nodes; i++) {
      if (servers.get(i).subscriptionCount() > 0) {
        violate(Invariant.I12, "subscriptions at rest on server " + i);
      }
      LeaseRules book = rules.get(i);
      if (book != null && !book.holderNow().isEmpty()) {
        violate(Invariant.I12, "a lease at rest on server " + i);
      }
    }
    for (Held mine : held) {
      if (!mine.released && !mine.told && !mine.process.machine.isDead()) {
        violate(
            Invariant.I8,
            mine.process.name + " was never told that " + mine.lease.fencingToken() + " is lost");
      }
    }
  }

  private void checkHistories() {
    String wrong = Linearizability.check(new Register(0, "", ""), registerHistory);
    if (wrong != null) {
      violate(Invariant.I4, "the register's history has no order: " + wrong);
    }
    checkLeaseHistory();
  }

  /** Each lease ends at some time after it was last seen to be valid; without a promise, at any. */
  private void checkLeaseHistory() {
    List<Linearizability.Operation<String>> history = new ArrayList<>(leaseHistory);
    for (Held mine : held) {
      String id = mine.lease.uniqueId();
      history.add(
          new Linearizability.Operation<>(
              mine.process.name + " ends " + mine.lease.fencingToken(),
              mine.promised ? mine.validNanos : 0,
              Long.MAX_VALUE,
              (state, open) -> state.equals(id) ? "" : null));
    }
    String wrong = Linearizability.check("", history);
    if (wrong != null) {
      violate(Invariant.I1, "the history of leases has no order: " + wrong);
    }
  }

  /** How many leases were granted: worlds in which nobody gets one show nothing. */
  int grants() {
    return grants;
  }
}
