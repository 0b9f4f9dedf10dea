/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.Cache;
import dev.paddock.CacheEvent;
import dev.paddock.Codecs;
import dev.paddock.FillTimeoutException;
import dev.paddock.LoadContext;
import dev.paddock.LoadFailedException;
import dev.paddock.Otherwise;
import dev.paddock.Paddock;
import dev.paddock.engine.Fleet.Answer;
import dev.paddock.engine.Fleet.Node;
import dev.paddock.redis.RedisFillStore;
import dev.paddock.spi.Environment;
import dev.paddock.spi.FillOutcome;
import dev.paddock.spi.FillStore;
import dev.paddock.spi.StoreOptions;
import dev.paddock.testkit.RequestFate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Loaders that fail or hang, leases that are lost, listeners that throw. */
final class FailureTest {
  private final Fleet fleet = new Fleet();

  @AfterEach
  void restsAfterwards() {
    fleet.redis.setInterceptor(request -> RequestFate.DELIVERED);
    fleet.assertAtRest();
  }

  @Test
  void failedLoad_reachesEveryWaiterAsAnExceptionOfItsOwnWithTheSameCause() {
    RuntimeException cause = new IllegalStateException("source is down");
    fleet.source.failure = cause;
    Node a = fleet.node("a", Fleet::usual);
    List<Answer> answers = a.getMany("k", 5);
    fleet.advance(Duration.ofMillis(300));
    assertThat(answers)
        .extracting(answer -> answer.error)
        .hasOnlyElementsOfType(LoadFailedException.class)
        .doesNotHaveDuplicates()
        .allMatch(error -> Objects.requireNonNull(error).getCause() == cause);
    assertThat(fleet.source.loads).isEqualTo(1);
  }

  @Test
  void coolDown_holdsBackTheNextLoadInTheWholeFleet() {
    fleet.source.failure = new IllegalStateException("source is down");
    Node a = fleet.node("a", b -> Fleet.usual(b).coolDown(Duration.ofSeconds(2)));
    Node b = fleet.node("b", s -> Fleet.usual(s).coolDown(Duration.ofSeconds(2)));
    a.get("k");
    fleet.advance(Duration.ofMillis(250));
    Answer remote = b.get("k");
    fleet.advance(Duration.ofMillis(10));
    assertThat(remote.error).isInstanceOf(LoadFailedException.class).hasNoCause();
    assertThat(((LoadFailedException) Objects.requireNonNull(remote.error)).retryAfter())
        .isBetween(Duration.ofMillis(1800), Duration.ofSeconds(2));
    assertThat(fleet.source.loads).isEqualTo(1);
    fleet.source.failure = null;
    fleet.advance(Duration.ofSeconds(2));
    Answer recovered = b.get("k");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(recovered.value()).isEqualTo("v1");
  }

  @Test
  void coolDown_besideAStaleValue_failsThoseWhoWantAFreshOneAtOnce() {
    Node a = fleet.node("a", b -> Fleet.usual(b).serveStaleFor(Duration.ofMinutes(1)));
    Node b = fleet.node("b", s -> Fleet.usual(s).serveStaleFor(Duration.ofMinutes(1)));
    a.put("k", "old");
    a.expire("k");
    fleet.source.failure = new IllegalStateException("source is down");
    a.get("k");
    fleet.advance(Duration.ofMillis(250));
    Answer fresh =
        b.watch("k", b.cache.getAsync("k", fleet.source.loader(), b.cache.options().alwaysFresh()));
    Answer usual = b.get("k");
    fleet.advance(Duration.ofMillis(10));
    Answer direct =
        b.watch("k", b.cache.getAsync("k", fleet.source.loader(), b.cache.options().expectMiss()));
    fleet.advance(Duration.ofMillis(10));
    assertThat(fresh.error).isInstanceOf(LoadFailedException.class).hasNoCause();
    assertThat(usual.value()).isEqualTo("old");
    assertThat(direct.value()).isEqualTo("old");
    assertThat(fleet.source.loads).isEqualTo(1);
  }

  @Test
  void coolDown_givesTheFallbackToThoseWhoHaveOne() {
    fleet.source.failure = new IllegalStateException("source is down");
    Node a = fleet.node("a", Fleet::usual);
    Node b = fleet.node("b", s -> Fleet.usual(s).otherwise(Otherwise.fallback(key -> "default")));
    a.get("k");
    fleet.advance(Duration.ofMillis(250));
    Answer remote = b.get("k");
    fleet.advance(Duration.ofMillis(10));
    assertThat(remote.value()).isEqualTo("default");
  }

  @Test
  void waitersInOtherProcesses_areToldAtOnceWhenTheLoadFails() {
    fleet.source.failure = new IllegalStateException("source is down");
    Node a = fleet.node("a", Fleet::usual);
    Node b = fleet.node("b", Fleet::usual);
    a.get("k");
    fleet.env.run();
    List<Answer> remote = b.getMany("k", 10);
    fleet.advance(Duration.ofMillis(300));
    assertThat(remote)
        .extracting(answer -> answer.error)
        .hasOnlyElementsOfType(LoadFailedException.class);
    assertThat(fleet.source.loads).isEqualTo(1);
  }

  @Test
  void failingForAWhile_loadsOncePerCoolDownHoweverManyAsk() {
    fleet.source.failure = new IllegalStateException("source is down");
    List<Node> nodes = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      nodes.add(fleet.node("n" + i, Fleet::usual));
    }
    for (int i = 0; i < 100; i++) {
      nodes.forEach(node -> node.getMany("k", 3));
      fleet.advance(Duration.ofMillis(100));
    }
    // 10 s; each round a load of 0.2 s and a cool-down of 1 s.
    assertThat(fleet.source.loads).isBetween(7, 9);
  }

  @Test
  void hungLoader_endsWithMaxLoadTimeAndItsLeaseLapses() {
    Node a = fleet.node("a", b -> Fleet.usual(b).maxLoadTime(Duration.ofSeconds(3)));
    Node b = fleet.node("b", s -> Fleet.usual(s).maxWait(Duration.ofSeconds(20)));
    fleet.source.takes = Duration.ofMinutes(2);
    Answer hung = a.get("k");
    Answer local = a.get("k");
    fleet.env.run();
    fleet.source.takes = Fleet.LOAD;
    Answer remote = b.get("k");
    fleet.advance(Duration.ofSeconds(6));
    assertThat(hung.error).isInstanceOf(FillTimeoutException.class);
    assertThat(hung.took()).isBetween(Duration.ofSeconds(3), Duration.ofMillis(3_010));
    assertThat(local.error).isInstanceOf(FillTimeoutException.class);
    assertThat(remote.value()).isEqualTo("v1");
    assertThat(remote.took()).isLessThan(Duration.ofMillis(4_300));
    assertThat(a.events(CacheEvent.LoadEnded.class))
        .extracting(CacheEvent.LoadEnded::end)
        .containsExactly(CacheEvent.LoadEnd.ABANDONED);
    // The value that comes at last goes through the fill's test, long after.
    fleet.advance(Duration.ofMinutes(3));
    assertThat(a.events(CacheEvent.FillEnded.class)).hasSize(1);
  }

  @Test
  void renewal_keepsTheLeaseForAsLongAsTheLoadTakes() {
    Node a = fleet.node("a", Fleet::usual);
    Node b = fleet.node("b", s -> Fleet.usual(s).maxWait(Duration.ofSeconds(20)));
    fleet.source.takes = Duration.ofSeconds(10);
    a.get("k");
    fleet.env.run();
    Answer waiter = b.get("k");
    fleet.advance(Duration.ofSeconds(11));
    assertThat(waiter.value()).isEqualTo("v1");
    assertThat(fleet.source.loads).isEqualTo(1);
    assertThat(a.events(CacheEvent.LeaseRenewed.class)).hasSizeBetween(28, 31);
    assertThat(a.events(CacheEvent.LeaseLost.class)).isEmpty();
  }

  @Test
  void renewal_survivesErrorsForAsLongAsTheLeaseIsValid() {
    Node a = fleet.node("a", Fleet::usual);
    Node b = fleet.node("b", s -> Fleet.usual(s).maxWait(Duration.ofSeconds(20)));
    fleet.source.takes = Duration.ofSeconds(4);
    AtomicInteger extensions = new AtomicInteger();
    fleet.redis.setInterceptor(
        request ->
            request.runs("-- EXTEND:") && extensions.incrementAndGet() % 2 == 1
                ? RequestFate.NOT_SENT
                : RequestFate.DELIVERED);
    a.get("k");
    fleet.env.run();
    b.get("k");
    fleet.advance(Duration.ofSeconds(5));
    assertThat(fleet.source.loads).isEqualTo(1);
    assertThat(a.events(CacheEvent.LeaseLost.class)).isEmpty();
    assertThat(extensions.get()).isGreaterThan(10);
  }

  @Test
  void lostLease_isToldBeforeItEndsAndTheLateValueNeverReplacesANewerOne() {
    Node a = fleet.node("a", Fleet::usual);
    Node b = fleet.node("b", Fleet::usual);
    List<Long> toldAt = new ArrayList<>();
    List<Boolean> lost = new ArrayList<>();
    fleet.source.takes = Duration.ofSeconds(3);
    fleet.source.onLoad =
        context -> {
          lost.add(context.isLeaseLost());
          context.onLeaseLost(
              () -> {
                toldAt.add(fleet.env.elapsedNanos());
                lost.add(context.isLeaseLost());
              });
        };
    long start = fleet.env.elapsedNanos();
    Answer slow = a.get("k");
    fleet.env.run();
    fleet.source.onLoad = null;
    fleet.redis.setInterceptor(
        request ->
            request.client().equals("a") && request.runs("-- EXTEND:")
                ? RequestFate.LOST_REQUEST
                : RequestFate.DELIVERED);
    fleet.source.change();
    fleet.source.takes = Fleet.LOAD;
    Answer other = b.get("k");
    fleet.advance(Duration.ofSeconds(2));
    assertThat(toldAt).hasSize(1);
    assertThat(toldAt.get(0) - start).isBetween(800_000_000L, 1_000_000_000L);
    assertThat(lost).containsExactly(false, true);
    assertThat(other.value()).isEqualTo("v2");
    fleet.advance(Duration.ofSeconds(2));
    assertThat(slow.value()).isEqualTo("v1");
    assertThat(a.events(CacheEvent.FillEnded.class))
        .extracting(CacheEvent.FillEnded::outcome)
        .containsExactly(FillOutcome.SUPERSEDED);
    assertThat(a.lookup("k").value()).isEqualTo("v2");
  }

  @Test
  void lease_isCountedFromBeforeTheRequestWasSent() {
    Node a = fleet.node("a", s -> Fleet.usual(s).renewal(false));
    fleet.countFromHere();
    List<Long> toldAt = new ArrayList<>();
    fleet.source.takes = Duration.ofSeconds(3);
    fleet.source.onLoad =
        context -> context.onLeaseLost(() -> toldAt.add(fleet.env.elapsedNanos()));
    fleet.redis.setInterceptor(
        request -> RequestFate.DELIVERED.delayed(Duration.ZERO, Duration.ofMillis(600)));
    a.get("k");
    fleet.advance(Duration.ofMillis(601));
    long asked = fleet.env.elapsedNanos();
    fleet.advance(Duration.ofSeconds(6));
    // The store began to count at once, 600 ms before this process heard of its grant.
    assertThat(toldAt).hasSize(1);
    assertThat(toldAt.get(0) - asked).isLessThan(1_000_000_000L);
  }

  @Test
  void renewal_isCountedFromBeforeItWasSent() {
    Node a = fleet.node("a", Fleet::usual);
    fleet.countFromHere();
    List<Long> toldAt = new ArrayList<>();
    fleet.source.takes = Duration.ofSeconds(4);
    fleet.source.onLoad =
        context -> context.onLeaseLost(() -> toldAt.add(fleet.env.elapsedNanos()));
    AtomicInteger renewals = new AtomicInteger();
    fleet.redis.setInterceptor(
        request -> {
          if (!request.runs("-- EXTEND:")) {
            return RequestFate.DELIVERED;
          }
          return renewals.incrementAndGet() == 1
              ? RequestFate.DELIVERED.delayed(Duration.ZERO, Duration.ofMillis(500))
              : RequestFate.LOST_REQUEST;
        });
    long asked = fleet.env.elapsedNanos();
    a.get("k");
    fleet.advance(Duration.ofSeconds(6));
    // Sent after a third of the lease of one second, and in force from then on, not from the reply.
    assertThat(toldAt).hasSize(1);
    assertThat(toldAt.get(0) - asked).isBetween(1_000_000_000L, 1_340_000_000L);
  }

  @Test
  void lostLease_afterAPause_isSeenBeforeAnyTimerHasRun() {
    Freezer freezer = new Freezer();
    FillStore store =
        fleet.env.await(
            RedisFillStore.openAsync(
                fleet.redis.connect("frozen", fleet.env),
                fleet.env,
                new StoreOptions(Duration.ofSeconds(10), Fleet.COMMAND_TIMEOUT)),
            Duration.ofSeconds(10));
    Paddock paddock =
        Paddock.newBuilder()
            .store((environment, options) -> store)
            .environment(freezer)
            .closeOnShutdown(false)
            .build();
    Cache<String, String> cache = Fleet.usual(paddock.cache("c", Codecs.string())).build();
    List<LoadContext<String, String>> contexts = new ArrayList<>();
    fleet.source.onLoad = contexts::add;
    fleet.source.takes = Duration.ofSeconds(3);
    CompletableFuture<String> answer = cache.getAsync("k", fleet.source.loader());
    fleet.advance(Duration.ofMillis(10));
    assertThat(contexts.get(0).isLeaseLost()).isFalse();
    freezer.frozen = true;
    fleet.advance(Duration.ofSeconds(2));
    assertThat(contexts.get(0).isLeaseLost()).isTrue();
    freezer.frozen = false;
    freezer.held.forEach(Runnable::run);
    fleet.advance(Duration.ofSeconds(5));
    assertThat(answer).isCompletedWithValue("v1");
    fleet.env.await(paddock.closeAsync(), Duration.ofSeconds(10));
  }

  /** A process that can be stopped: its clock goes on, its timers run only when it does. */
  private final class Freezer implements Environment {
    final List<Runnable> held = new ArrayList<>();
    boolean frozen;

    @Override
    public long nanoTime() {
      return fleet.env.nanoTime();
    }

    @Override
    public long wallMillis() {
      return fleet.env.wallMillis();
    }

    @Override
    public Timer schedule(Runnable task, long delayNanos) {
      return fleet.env.schedule(
          () -> {
            if (frozen) {
              held.add(task);
            } else {
              task.run();
            }
          },
          delayNanos);
    }

    @Override
    public Executor executor() {
      return fleet.env.executor();
    }

    @Override
    public long randomLong() {
      return fleet.env.randomLong();
    }

    @Override
    public void close() {}
  }

  @Test
  void loaderAlwaysSlowerThanItsLease_stillFillsTheCache() {
    Node a = fleet.node("a", s -> Fleet.usual(s).renewal(false).maxWait(Duration.ofSeconds(20)));
    Node b = fleet.node("b", s -> Fleet.usual(s).renewal(false).maxWait(Duration.ofSeconds(20)));
    fleet.source.takes = Duration.ofMillis(1_500);
    a.get("k");
    fleet.env.run();
    Answer waiter = b.get("k");
    fleet.advance(Duration.ofMillis(1_600));
    assertThat(a.events(CacheEvent.FillEnded.class))
        .extracting(CacheEvent.FillEnded::outcome)
        .containsExactly(FillOutcome.STORED_LATE);
    assertThat(fleet.stored("k")).isNotNull();
    fleet.advance(Duration.ofSeconds(3));
    assertThat(waiter.value()).isEqualTo("v1");
    assertThat(fleet.source.loads).isEqualTo(2);
  }

  @Test
  void listenerThatThrows_changesNothing() {
    Node a = fleet.node("a", Fleet::usual);
    var loud =
        dev.paddock.Paddock.newBuilder()
            .store(
                (environment, options) ->
                    fleet.env.await(
                        dev.paddock.redis.RedisFillStore.openAsync(
                            fleet.redis.connect("loud", fleet.env), fleet.env, options),
                        Duration.ofSeconds(1)))
            .environment(fleet.env)
            .closeOnShutdown(false)
            .listener(
                event -> {
                  throw new IllegalStateException("listener");
                })
            .build();
    dev.paddock.Cache<String, String> cache = loud.cache("c", dev.paddock.Codecs.string()).build();
    Answer answer = a.watch("k", cache.getAsync("k", fleet.source.loader()));
    fleet.advance(Duration.ofSeconds(1));
    assertThat(answer.value()).isEqualTo("v1");
  }

  @Test
  void errorInTheLoader_endsTheFlightForItsWaiters() {
    Node a = fleet.node("a", Fleet::usual);
    Answer answer =
        a.watch(
            "k",
            a.cache.getAsync(
                "k",
                dev.paddock.Loader.<String, String>async(
                    key ->
                        java.util.concurrent.CompletableFuture.failedFuture(
                            new StackOverflowError()))));
    fleet.advance(Duration.ofSeconds(1));
    assertThat(answer.error)
        .isInstanceOf(LoadFailedException.class)
        .hasCauseInstanceOf(StackOverflowError.class);
  }

  @Test
  void valueThatCannotBeEncoded_failsClearlyAndFreesTheLease() {
    Node a = fleet.node("a", Fleet::usual);
    Answer answer = a.watch("k", a.cache.getAsync("k", key -> "\uD800"));
    fleet.advance(Duration.ofMillis(10));
    assertThat(answer.error)
        .isInstanceOf(LoadFailedException.class)
        .hasCauseInstanceOf(dev.paddock.CodecException.class);
  }

  @Test
  void valueLargerThanTheLimit_isReturnedButNotStored() {
    Node a = fleet.node("a", b -> Fleet.usual(b).maxValueBytes(10));
    Answer answer = a.watch("k", a.cache.getAsync("k", key -> "12345678901"));
    Answer fits = a.watch("l", a.cache.getAsync("l", key -> "1234567890"));
    fleet.advance(Duration.ofMillis(10));
    assertThat(answer.value()).isEqualTo("12345678901");
    assertThat(fits.value()).isEqualTo("1234567890");
    assertThat(fleet.stored("k")).isNull();
    assertThat(fleet.stored("l")).isNotNull();
    assertThat(a.events(CacheEvent.NotStored.class)).hasSize(1);
  }
}
