/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import io.lettuce.core.cluster.api.sync.RedisClusterCommands;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** What an experiment works with: processes that take orders, their reports, and Redis. */
final class Stage {
  /** Enough for an order to reach all processes and for their callers to get ready. */
  private static final long LEAD_MICROS = TimeUnit.MILLISECONDS.toMicros(100);

  private static final int WARM_UPS = 2;
  private static final long CONTACT_MICROS = TimeUnit.SECONDS.toMicros(30);
  private static final long CONTACT_POLL_MICROS = TimeUnit.MILLISECONDS.toMicros(20);

  private final Settings settings;
  private final Fleet fleet;
  private final Journal journal;
  private final RedisClusterCommands<String, String> redis;
  private final @Nullable OwnServers servers;
  private final String prefix;
  private final @Nullable CommandMeter meter;
  private final String suffix;
  private long rounds;

  /**
   * Sets the stage for one run of one experiment.
   *
   * @param settings the sizes
   * @param fleet the processes
   * @param journal their reports
   * @param redis a connection of the coordinator's own
   * @param servers what the demo started; null if Redis is somebody else's
   * @param prefix what all keys begin with
   * @param meter counts commands; null if that can't be done
   * @param suffix makes the names of cells unique
   */
  Stage(
      Settings settings,
      Fleet fleet,
      Journal journal,
      RedisClusterCommands<String, String> redis,
      @Nullable OwnServers servers,
      String prefix,
      @Nullable CommandMeter meter,
      String suffix) {
    this.settings = settings;
    this.fleet = fleet;
    this.journal = journal;
    this.redis = redis;
    this.servers = servers;
    this.prefix = prefix;
    this.meter = meter;
    this.suffix = suffix;
  }

  Settings settings() {
    return settings;
  }

  Journal journal() {
    return journal;
  }

  WorkerProcess worker(int process) {
    return fleet.worker(process);
  }

  RedisClusterCommands<String, String> redis() {
    return redis;
  }

  /**
   * Returns the servers, one of which may be killed.
   *
   * @return the servers
   * @throws DemoException if there are none of the kind
   */
  OwnServers.WithStandIns serversWithStandIns() {
    if (servers instanceof OwnServers.WithStandIns found) {
      return found;
    }
    throw new DemoException("no server can be killed here");
  }

  /**
   * Returns the servers, between which slots may be moved.
   *
   * @return the servers
   * @throws DemoException if there are none of the kind
   */
  OwnServers.WithSlots serversWithSlots() {
    if (servers instanceof OwnServers.WithSlots found) {
      return found;
    }
    throw new DemoException("no slot can be moved here");
  }

  /**
   * Starts what was killed, and lets the processes know.
   *
   * @param killed the servers
   */
  void restore(OwnServers.WithStandIns killed) {
    try {
      killed.restore();
    } finally {
      fleet.serversAre(killed.pids());
    }
  }

  String valueKey(Cell cell) {
    return CacheAside.valueKey(prefix, cell);
  }

  String lockKey(Cell cell) {
    return CacheAside.lockKey(prefix, cell);
  }

  Cell cell(String name) {
    return cell(name, 0, 0);
  }

  Cell cell(String name, long staleMillis, long coolDownMillis) {
    return new Cell(name + suffix, settings.leaseMillis(), staleMillis, coolDownMillis);
  }

  private void toAll(Order order) {
    // One that was killed on purpose takes none; one that died by itself shows in the journal.
    fleet.workers().stream().filter(WorkerProcess::isAlive).forEach(worker -> worker.send(order));
  }

  /** Makes the aggregation take its usual time. */
  void loadsAreUsual() {
    toAll(new Order.Aggregation(settings.loadMillis(), false, false, false, false));
  }

  /** Makes the aggregation take the usual time or up to twice that. */
  void loadsAreUneven() {
    toAll(new Order.Aggregation(settings.loadMillis(), true, false, false, false));
  }

  /** Makes loads go no further than their begin until they are let go. */
  void loadsAreHeld() {
    toAll(new Order.Aggregation(settings.loadMillis(), false, true, false, false));
  }

  /** Makes loads fail. */
  void loadsFail() {
    toAll(new Order.Aggregation(settings.loadMillis(), false, false, true, false));
  }

  /** Makes loads end only after an invalidation in their time. */
  void loadsAreOutlived() {
    toAll(new Order.Aggregation(settings.loadMillis(), false, false, false, true));
  }

  /**
   * Ends the hold.
   *
   * @param butNot versions of loads that stay held
   */
  void letGo(Long... butNot) {
    toAll(new Order.LetGo(List.of(butNot)));
  }

  /**
   * Has a value stored that has expired when this returns.
   *
   * @param strategy whose layout
   * @param cell where
   * @return the version of the value
   * @throws InterruptedException if the thread was interrupted
   */
  long seedExpired(Strategy strategy, Cell cell) throws InterruptedException {
    fleet.worker(0).send(new Order.Seed(strategy, cell));
    return first("expired value", Report.Seeded.class, r -> r.cell().equals(cell.name())).version();
  }

  /**
   * Has all callers of all processes ask at the same instant, once each.
   *
   * @param strategy how they read
   * @param cell what they read
   * @return the run
   */
  Round askOnce(Strategy strategy, Cell cell) {
    return ask(strategy, cell, settings.callers(), false, WarmUp.NO_HURRY_MILLIS);
  }

  /**
   * Has all callers ask again and again until the run is stopped.
   *
   * @param strategy how they read
   * @param cell what they read
   * @return the run
   */
  Round askAgain(Strategy strategy, Cell cell) {
    return ask(strategy, cell, settings.callers(), true, WarmUp.NO_HURRY_MILLIS);
  }

  /**
   * Has all callers ask at the same instant, once each, and give up after a while.
   *
   * @param strategy how they read
   * @param cell what they read
   * @param patienceMillis how long they try
   * @return the run
   */
  Round askImpatiently(Strategy strategy, Cell cell, long patienceMillis) {
    return ask(strategy, cell, settings.callers(), false, patienceMillis);
  }

  private Round ask(Strategy strategy, Cell cell, int callers, boolean again, long patienceMillis) {
    long id = ++rounds;
    long startAtMicros = WallClock.micros() + LEAD_MICROS;
    toAll(new Order.Run(id, strategy, cell, callers, startAtMicros, again, patienceMillis));
    Set<Integer> all = IntStream.range(0, settings.processes()).boxed().collect(Collectors.toSet());
    return new Round(id, journal, fleet, startAtMicros, all);
  }

  /**
   * Has a value removed.
   *
   * @param process by which process
   * @param strategy by Paddock or by DEL
   * @param cell where
   * @return when that was
   * @throws InterruptedException if the thread was interrupted
   */
  Report.Invalidated invalidate(int process, Strategy strategy, Cell cell)
      throws InterruptedException {
    int before = invalidations(cell).size();
    fleet.worker(process).send(new Order.Invalidate(strategy, cell));
    return journal.await(
        "return of the invalidation",
        entries -> {
          List<Report.Invalidated> found = invalidations(cell);
          return found.size() > before ? found.get(before) : null;
        });
  }

  List<Report.Invalidated> invalidations(Cell cell) {
    return journal.all(Report.Invalidated.class, r -> r.cell().equals(cell.name()));
  }

  /**
   * Tells all processes that an invalidation has returned.
   *
   * @param invalidated which one
   */
  void announce(Report.Invalidated invalidated) {
    toAll(new Order.InvalidationReturned(invalidated.beganMicros()));
  }

  /**
   * Looks what Paddock has stored.
   *
   * @param process by which process
   * @param cell where
   * @return the version; 0 if nothing is stored, {@link Report.Peeked#UNREACHABLE} if Redis could
   *     not be asked
   * @throws InterruptedException if the thread was interrupted
   */
  long storedVersion(int process, Cell cell) throws InterruptedException {
    int before = peeked(cell).size();
    fleet.worker(process).send(new Order.Peek(cell));
    return journal
        .await(
            "look at the stored value",
            entries -> {
              List<Report.Peeked> found = peeked(cell);
              return found.size() > before ? found.get(before) : null;
            })
        .version();
  }

  /**
   * Waits until each process gets through to Redis.
   *
   * @param cell to the server of which key
   * @throws DemoException if one does not in time
   * @throws InterruptedException if the thread was interrupted
   */
  void awaitContact(Cell cell) throws InterruptedException {
    long givesUpMicros = WallClock.micros() + CONTACT_MICROS;
    for (int process = 0; process < settings.processes(); process++) {
      while (storedVersion(process, cell) == Report.Peeked.UNREACHABLE) {
        if (WallClock.micros() > givesUpMicros) {
          throw new DemoException("process " + process + " does not get through to Redis again");
        }
        WallClock.sleepUntil(WallClock.micros() + CONTACT_POLL_MICROS);
      }
    }
  }

  private List<Report.Peeked> peeked(Cell cell) {
    return journal.all(Report.Peeked.class, r -> r.cell().equals(cell.name()));
  }

  /**
   * Waits for a load to begin.
   *
   * @param cell of which cell
   * @param number which one, from 1
   * @return the load
   * @throws InterruptedException if the thread was interrupted
   */
  Load awaitBegin(Cell cell, int number) throws InterruptedException {
    return journal.await(
        "load number " + number,
        entries -> {
          List<Load> loads = Measures.loads(entries, cell, 0);
          return loads.size() >= number ? loads.get(number - 1) : null;
        });
  }

  void awaitEnd(Cell cell, long version) throws InterruptedException {
    first(
        "end of a load",
        Report.LoadEnded.class,
        r -> r.cell().equals(cell.name()) && r.version() == version);
  }

  /**
   * Waits until loaded values have been offered to Redis.
   *
   * @param cell of which cell
   * @param number how many
   * @return what became of each, in order
   * @throws InterruptedException if the thread was interrupted
   */
  List<String> awaitFills(Cell cell, int number) throws InterruptedException {
    return journal.await(
        "fill number " + number,
        entries -> {
          List<String> outcomes = fills(cell);
          return outcomes.size() >= number ? outcomes : null;
        });
  }

  List<String> fills(Cell cell) {
    return journal.all(Report.FillEnded.class, r -> r.cell().equals(cell.name())).stream()
        .map(Report.FillEnded::outcome)
        .toList();
  }

  <R extends Report> R first(String what, Class<R> type, Predicate<? super R> matching)
      throws InterruptedException {
    return journal.await(
        what, entries -> journal.all(type, matching).stream().findFirst().orElse(null));
  }

  /**
   * Finds in which process the first report of a type was made.
   *
   * @param what names it
   * @param type the type
   * @return number of the process
   * @throws InterruptedException if the thread was interrupted
   */
  int firstProcess(String what, Class<? extends Report> type) throws InterruptedException {
    return journal.await(
        what,
        entries ->
            entries.stream()
                .filter(entry -> type.isInstance(entry.report()))
                .map(Journal.Entry::process)
                .findFirst()
                .orElse(null));
  }

  List<Load> loads(Cell cell) {
    return loads(cell, WallClock.micros());
  }

  List<Load> loads(Cell cell, long cutOffMicros) {
    return Measures.loads(journal.entries(), cell, cutOffMicros);
  }

  /**
   * Runs what is like what will be measured, with quick loads.
   *
   * @param warmUps what to run
   * @throws InterruptedException if the thread was interrupted
   */
  void warmUp(List<WarmUp> warmUps) throws InterruptedException {
    toAll(new Order.Aggregation(1, false, false, false, false));
    for (WarmUp each : warmUps) {
      for (int i = 0; i < WARM_UPS; i++) {
        Cell cell = cell("warm-up-" + i + each.strategy());
        seedExpired(each.strategy(), cell);
        ask(each.strategy(), cell, each.callers(), false, each.patienceMillis()).await();
      }
    }
  }

  /** Counts commands from here. */
  void countCommands() throws InterruptedException {
    if (meter != null) {
      meter.begin();
    }
  }

  /**
   * Returns how many commands the processes sent since {@link #countCommands()}.
   *
   * @return their number; null if it is not known
   * @throws InterruptedException if the thread was interrupted
   */
  @Nullable Long commands() throws InterruptedException {
    return meter == null ? null : meter.end();
  }

  /**
   * Returns how many commands the processes sent, although a server was killed: what that one got
   * is counted up to its end.
   *
   * @param killed host and port of the server
   * @return their number; null if it is not known
   * @throws InterruptedException if the thread was interrupted
   */
  @Nullable Long commandsWithout(String killed) throws InterruptedException {
    return meter == null ? null : meter.endWithout(killed);
  }
}
