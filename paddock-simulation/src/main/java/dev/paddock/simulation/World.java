/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.simulation;

import dev.paddock.redis.RedisReplyException;
import dev.paddock.spi.Environment;
import dev.paddock.testkit.ExecutionObserver;
import dev.paddock.testkit.InMemoryRedis;
import dev.paddock.testkit.RedisRequest;
import dev.paddock.testkit.RequestFate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A world: processes, servers, what is between them, and what goes wrong, all of it decided by one
 * seed. It runs in two phases: with faults, in which nothing unsafe may happen; then without, in
 * which everything has to come to an end.
 */
abstract class World {
  private static final double[] RATES = {0.997, 1.003, 0.999, 1.001, 1.0};

  final long seed;
  final Plan plan;
  final Clockwork clockwork = new Clockwork();
  final Trace trace;
  final Network network;
  final Map<Kind, Long> injected = new EnumMap<>(Kind.class);
  final List<InMemoryRedis> servers = new ArrayList<>();
  final SplittableRandom random;
  private final InMemoryRedis.@Nullable Saved[] saved;
  private final int processes;
  private final boolean ratesVary;
  private @Nullable Violation violation;
  private int made;

  World(
      long seed,
      Plan plan,
      int processes,
      int serverCount,
      SplittableRandom random,
      boolean traced) {
    this.seed = seed;
    this.plan = plan;
    this.processes = processes;
    this.random = random;
    this.trace = new Trace(traced, clockwork);
    this.network = new Network(clockwork, random.split(), plan, injected, processes, serverCount);
    this.ratesVary = plan.has(Kind.RATE);
    if (ratesVary) {
      injected.put(Kind.RATE, 1L);
    }
    this.saved = new InMemoryRedis.Saved[serverCount];
    for (int i = 0; i < serverCount; i++) {
      addServer(i);
    }
  }

  private void addServer(int index) {
    InMemoryRedis server = new InMemoryRedis(new ServerEnvironment(rate(), random.split()));
    server.setInterceptor(
        request -> {
          RequestFate fate =
              network.fate(slot(request.client()), index, request, isRepeatable(request));
          return mayArriveTwice(request) ? fate : once(fate);
        });
    servers.add(server);
  }

  private static RequestFate once(RequestFate fate) {
    return new RequestFate(
        fate.requestDelay(), fate.executed(), null, fate.replyDelay(), fate.answer());
  }

  private double rate() {
    return ratesVary ? RATES[random.nextInt(RATES.length)] : 1;
  }

  private static int slot(String client) {
    return client.charAt(0) - 'A';
  }

  /** What of this reaches a server twice, after its sender was answered, is no fault of theirs. */
  abstract boolean isRepeatable(RedisRequest request);

  /** Whether the promises hold if this reaches a server twice before its sender was answered. */
  boolean mayArriveTwice(RedisRequest request) {
    return true;
  }

  /** Does what users do. */
  abstract void operate(Step step);

  /** A fault that is not the network's, a process's clock's or a server's. */
  abstract void suffer(Step step);

  /** Whether what the protocol promises takes this fault, now. */
  boolean maySuffer(Step step) {
    return true;
  }

  /** Ends a process without warning, and lets another take its place. */
  abstract void kill(int process);

  abstract Machine machine(int process);

  /** All that a server had is gone, or older. */
  abstract void forgot(int server, boolean rolledBack);

  /** The clock of a server is about to jump. */
  abstract void clockSteps(int server);

  /** Brings processes up. */
  abstract void start();

  /** Checks that everything comes to an end; all is well by now. */
  abstract void settle();

  Machine newMachine() {
    long wrong = random.nextInt(3) == 0 ? random.nextLong(-3_600_000, 3_600_000) : 0;
    return new Machine(clockwork, random.split(), rate(), wrong);
  }

  /** A name for one more connection of a process. */
  String connectionName(int process) {
    return (char) ('A' + process) + "" + ++made;
  }

  /** Runs it. */
  @Nullable Violation run() {
    start();
    if (violation != null) {
      return violation;
    }
    long base = clockwork.now();
    long last = 0;
    for (Step step : plan.steps()) {
      if (!Plan.isRate(step.kind())) {
        clockwork.after(step.atMicros() * 1_000, () -> begin(step));
      }
      if (step.kind() == Kind.ROLLED_BACK) {
        long before = Math.max(0, step.atMicros() - step.spanMicros());
        clockwork.after(before * 1_000, () -> save(step.who()));
      }
      last = Math.max(last, step.atMicros() * 1_000);
    }
    long end = base + last + Duration.ofMillis(500).toNanos();
    clockwork.runUntil(this::isOver, end);
    if (violation == null) {
      heal();
      clockwork.runUntil(this::isOver, network.quietNanos());
    }
    if (violation == null) {
      settle();
    }
    return violation;
  }

  /**
   * Runs it; what the product throws where nothing may be thrown is a violation too.
   *
   * @return what fell; null if nothing did
   */
  @Nullable Violation runCaught() {
    try {
      return run();
    } catch (RuntimeException | AssertionError e) {
      StackTraceElement[] stack = e.getStackTrace();
      violate(Invariant.I13, e + (stack.length == 0 ? "" : " at " + stack[0]));
      return violation;
    }
  }

  boolean isOver() {
    return violation != null;
  }

  @Nullable Violation violation() {
    return violation;
  }

  void violate(Invariant invariant, String what) {
    if (violation == null) {
      violation = new Violation(invariant, what, clockwork.now());
      trace.add("CHECK", () -> "VIOLATION " + invariant + ": " + what);
    }
  }

  private void heal() {
    trace.add("world", () -> "all is well from here on");
    network.calm(true);
    for (int i = 0; i < servers.size(); i++) {
      servers.get(i).setReadOnly(false);
      servers.get(i).setOutOfMemory(false);
      network.down(i, -1_000);
      for (int process = 0; process < processes; process++) {
        network.cut(process, i, true, true, -1_000);
      }
    }
    for (int process = 0; process < processes; process++) {
      machine(process).thaw();
    }
  }

  private void save(int server) {
    saved[server] = servers.get(server).save();
    trace.add("server" + server, () -> "this is what its replica has");
  }

  private void count(Step step) {
    injected.merge(step.kind(), 1L, Long::sum);
    trace.add("FAULT", step::toString);
  }

  private void begin(Step step) {
    if (!step.kind().isFault()) {
      operate(step);
      return;
    }
    if (!maySuffer(step)) {
      return;
    }
    count(step);
    int who = step.who();
    long nanos = step.spanMicros() * 1_000;
    switch (step.kind()) {
      case PARTITION -> cut(step, true, true, nanos);
      case ONE_WAY -> cut(step, step.amount() % 2 == 0, step.amount() % 2 == 1, nanos);
      case FREEZE -> {
        Machine machine = machine(who);
        machine.freezeAt(
            (int) step.amount() % 12, nanos, why -> trace.add("process" + who, machine, () -> why));
      }
      case KILL -> kill(who);
      case WALL_STEP -> {
        long millis = (step.amount() - 500) * 10;
        machine(who).stepWall(millis);
        trace.add("process" + who, () -> "its wall clock jumps by " + millis + " ms");
      }
      case SERVER_STEP -> {
        long millis = (step.amount() - 500) * 4;
        clockSteps(who);
        servers.get(who).stepClock(Duration.ofMillis(millis));
        trace.add("server" + who, () -> "its clock jumps by " + millis + " ms");
      }
      case SERVER_DOWN -> {
        network.down(who, 1);
        servers.get(who).dropConnections();
        clockwork.after(
            nanos,
            () -> {
              network.down(who, -1);
              trace.add("server" + who, () -> "is up again");
            });
      }
      case RESTART -> servers.get(who).restart();
      case RESTART_LOST -> {
        servers.get(who).restartEmpty();
        forgot(who, false);
      }
      case ROLLED_BACK -> {
        InMemoryRedis.Saved older = saved[who];
        if (older != null) {
          servers.get(who).restart(older);
          forgot(who, true);
        }
      }
      case SCRIPT_FLUSH -> servers.get(who).scriptFlush();
      case READONLY -> {
        servers.get(who).setReadOnly(true);
        clockwork.after(nanos, () -> servers.get(who).setReadOnly(false));
      }
      case OOM -> {
        servers.get(who).setOutOfMemory(true);
        clockwork.after(nanos, () -> servers.get(who).setOutOfMemory(false));
      }
      case FLUSHALL -> {
        // A replica would refuse it.
        if (!servers.get(who).isReadOnly()) {
          servers.get(who).flushAll();
          forgot(who, false);
        }
      }
      default -> suffer(step);
    }
  }

  private void cut(Step step, boolean to, boolean from, long nanos) {
    // From one server of several, or from all of them.
    for (int i = 0; i < servers.size(); i++) {
      int server = i;
      if (servers.size() == 1
          || step.amount() / 2 % (servers.size() + 1) >= servers.size()
          || step.amount() / 2 % (servers.size() + 1) == server) {
        network.cut(step.who(), server, to, from, 1);
        clockwork.after(nanos, () -> network.cut(step.who(), server, to, from, -1));
      }
    }
  }

  /** Runs until the condition holds; whether it did within the time. */
  boolean within(Duration limit, BooleanSupplier condition) {
    clockwork.runUntil(
        () -> isOver() || condition.getAsBoolean(), clockwork.now() + limit.toNanos());
    return condition.getAsBoolean();
  }

  /** What a server lives in: its clock may go fast or slow. */
  private final class ServerEnvironment implements Environment {
    private final double rate;
    private final SplittableRandom own;
    private final Executor executor = task -> clockwork.after(0, task);

    ServerEnvironment(double rate, SplittableRandom own) {
      this.rate = rate;
      this.own = own;
    }

    @Override
    public long nanoTime() {
      return clockwork.now();
    }

    @Override
    public long wallMillis() {
      return Machine.WALL_START_MILLIS + (long) (clockwork.now() * rate) / 1_000_000;
    }

    @Override
    public Timer schedule(Runnable task, long delayNanos) {
      return clockwork.after(delayNanos, task)::callOff;
    }

    @Override
    public Executor executor() {
      return executor;
    }

    @Override
    public long randomLong() {
      return own.nextLong();
    }

    @Override
    public void close() {}
  }

  /** The environment of the network between processes and servers. */
  Environment networkEnvironment() {
    return new ServerEnvironment(1, random.split());
  }

  /** Shows each request in the trace, then lets the checks see it. */
  abstract class Watcher implements ExecutionObserver {
    private final int server;

    Watcher(int server) {
      this.server = server;
    }

    int server() {
      return server;
    }

    @Override
    public void after(
        RedisRequest request, @Nullable Object reply, @Nullable RedisReplyException error) {
      trace.add(
          "server" + server,
          () ->
              "executes "
                  + Texts.request(request)
                  + " of "
                  + request.client()
                  + ": "
                  + (error == null ? Texts.reply(reply) : String.valueOf(error.getMessage())));
      check(request, reply, error);
    }

    abstract void check(
        RedisRequest request, @Nullable Object reply, @Nullable RedisReplyException error);
  }
}
