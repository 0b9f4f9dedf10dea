/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.engine;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.paddock.AsyncBulkLoader;
import dev.paddock.BulkContext;
import dev.paddock.BulkLoadException;
import dev.paddock.BulkResult;
import dev.paddock.CacheEvent;
import dev.paddock.FillTimeoutException;
import dev.paddock.LoadFailedException;
import dev.paddock.Lookup;
import dev.paddock.Otherwise;
import dev.paddock.PaddockClosedException;
import dev.paddock.StoreException;
import dev.paddock.engine.Fleet.Answer;
import dev.paddock.engine.Fleet.Node;
import dev.paddock.testkit.RequestFate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class BulkTest {
  private final Fleet fleet = new Fleet();
  private final Table table = new Table();

  @AfterEach
  void restsAfterwards() {
    fleet.assertAtRest();
    assertThat(table.running).isZero();
  }

  /** A source that is asked for many keys at once; what it says is the value that it had then. */
  private final class Table {
    final List<Set<String>> asked = new ArrayList<>();
    final Map<String, Integer> loads = new TreeMap<>();
    int running;
    Duration takes = Fleet.LOAD;
    @Nullable RuntimeException failure;
    @Nullable BiConsumer<Set<String>, BulkContext<String, String>> onLoad;
    final List<String> missing = new ArrayList<>();
    String version = "v1";

    AsyncBulkLoader<String, String> loader() {
      return (keys, context) -> {
        asked.add(keys);
        running++;
        keys.forEach(key -> loads.merge(key, 1, Integer::sum));
        String now = version;
        RuntimeException error = failure;
        if (onLoad != null) {
          onLoad.accept(keys, context);
        }
        CompletableFuture<Map<String, String>> result = new CompletableFuture<>();
        fleet.env.schedule(
            () -> {
              running--;
              if (error != null) {
                result.completeExceptionally(error);
                return;
              }
              Map<String, String> values = new LinkedHashMap<>();
              keys.stream()
                  .filter(key -> !missing.contains(key))
                  .forEach(key -> values.put(key, key + "=" + now));
              values.put("never asked for", "x");
              result.complete(values);
            },
            takes.toNanos());
        return result;
      };
    }
  }

  private CompletableFuture<Map<String, String>> getAll(Node node, List<String> keys) {
    return node.cache.getAllAsync(keys, table.loader());
  }

  private void fill(Node node, List<String> keys) {
    CompletableFuture<Map<String, String>> all = getAll(node, keys);
    fleet.advance(Duration.ofSeconds(1));
    assertThat(result(all)).hasSameSizeAs(keys);
  }

  private CompletableFuture<BulkResult<String, String>> tryGetAll(Node node, List<String> keys) {
    return node.cache.tryGetAllAsync(keys, table.loader(), node.cache.options());
  }

  private static List<String> keys(int count) {
    return IntStream.range(0, count).mapToObj(i -> "k" + i).toList();
  }

  private static Map<String, String> values(List<String> keys, String version) {
    Map<String, String> all = new LinkedHashMap<>();
    keys.forEach(key -> all.put(key, key + "=" + version));
    return all;
  }

  private static <T> T result(CompletableFuture<T> future) {
    assertThat(future).isCompleted();
    return future.join();
  }

  private static Throwable failure(CompletableFuture<?> future) {
    assertThat(future).isCompletedExceptionally();
    try {
      future.join();
    } catch (CompletionException e) {
      return Objects.requireNonNull(e.getCause());
    }
    throw new AssertionError("completed");
  }

  // ---------------------------------------------------------------- cold and warm

  @ParameterizedTest
  @ValueSource(ints = {1, 24, 100, 1_000})
  void coldKeys_costOneReadTheirLeasesAndOneLoadInTwoRoundTripsBesidesTheFills(int count) {
    Node node = fleet.node("a", b -> Fleet.usual(b).maxBulkSize(1_000));
    fleet.countFromHere();
    fleet.redis.setInterceptor(
        request -> RequestFate.DELIVERED.delayed(Duration.ofMillis(5), Duration.ofMillis(5)));
    var answer = getAll(node, keys(count));
    // A round trip to read, one for the leases, the load, and one for the fills.
    fleet.advance(Duration.ofMillis(229));
    assertThat(answer).isNotDone();
    fleet.advance(Duration.ofMillis(1));
    assertThat(result(answer)).containsExactlyEntriesOf(values(keys(count), "v1"));
    assertThat(table.asked).containsExactly(Set.copyOf(keys(count)));
    assertThat(fleet.redis.commandCounts())
        .containsExactlyInAnyOrderEntriesOf(
            Map.of(count == 1 ? "GET" : "MGET", 1L, "EVALSHA", 2L * count));
  }

  @ParameterizedTest
  @ValueSource(ints = {24, 100, 1_000})
  void warmKeys_costOneRead(int count) {
    Node node = fleet.node("a", b -> Fleet.usual(b).maxBulkSize(1_000));
    fill(node, keys(count));
    fleet.redis.resetCommandCounts();
    var answer = getAll(node, keys(count));
    fleet.advance(Duration.ofMillis(1));
    assertThat(result(answer)).containsExactlyEntriesOf(values(keys(count), "v1"));
    assertThat(fleet.redis.commandCounts()).isEqualTo(Map.of("MGET", 1L));
    assertThat(table.asked).hasSize(1);
    assertThat(node.events(CacheEvent.Hit.class)).hasSize(count);
  }

  @Test
  void moreKeysThanTheLimit_goThroughInChunks() {
    Node node = fleet.node("a", b -> Fleet.usual(b).maxBulkSize(10));
    fleet.countFromHere();
    var answer = getAll(node, keys(25));
    fleet.advance(Duration.ofSeconds(1));
    assertThat(result(answer)).containsExactlyEntriesOf(values(keys(25), "v1"));
    assertThat(table.asked).extracting(Set::size).containsExactly(10, 10, 5);
    assertThat(fleet.redis.commandCounts()).isEqualTo(Map.of("MGET", 3L, "EVALSHA", 50L));
  }

  @Test
  void thousandChunks_thatEndAtOnce_doNotNest() {
    Node node = fleet.node("a", b -> Fleet.usual(b).maxBulkSize(1));
    node.cache.setEnabled(false);
    table.takes = Duration.ZERO;
    var answer = getAll(node, keys(1_000));
    fleet.advance(Duration.ofSeconds(1));
    assertThat(result(answer)).hasSize(1_000);
  }

  @Test
  void someKeysCached_onlyTheOthersAreLoaded_andTheOrderIsThatOfTheKeys() {
    Node node = fleet.node("a", Fleet::usual);
    node.put("k2", "cached");
    var answer = getAll(node, List.of("k3", "k2", "k1", "k3"));
    fleet.advance(Duration.ofSeconds(1));
    assertThat(result(answer).keySet()).containsExactly("k3", "k2", "k1");
    assertThat(result(answer).get("k2")).isEqualTo("cached");
    assertThat(table.asked).containsExactly(Set.of("k3", "k1"));
  }

  @Test
  void noKeys_sendNothing() {
    Node node = fleet.node("a", Fleet::usual);
    fleet.countFromHere();
    assertThat(result(getAll(node, List.of()))).isEmpty();
    assertThat(fleet.commands()).isZero();
  }

  @Test
  void nullKey_isRefusedBeforeAnythingIsRead() {
    Node node = fleet.node("a", Fleet::usual);
    List<String> keys = new ArrayList<>();
    keys.add(null);
    assertThatThrownBy(() -> getAll(node, keys)).isInstanceOf(NullPointerException.class);
  }

  @Test
  void corruptValue_isAMissOfItsKeyAlone() {
    Node node = fleet.node("a", Fleet::usual);
    fill(node, keys(3));
    fleet.redis.command("SET", "c:k1", "garbage");
    fleet.redis.command("DEL", "c:k2");
    fleet.redis.command("RPUSH", "c:k2", "a list");
    table.version = "v2";
    var answer = getAll(node, keys(3));
    fleet.advance(Duration.ofSeconds(1));
    assertThat(result(answer)).isEqualTo(Map.of("k0", "k0=v1", "k1", "k1=v2", "k2", "k2=v2"));
    assertThat(node.events(CacheEvent.Unreadable.class)).isNotEmpty();
    fleet.advance(Duration.ofMillis(1));
    assertThat(node.lookup("k2").value()).isEqualTo("k2=v2");
  }

  @Test
  void switchedOffCache_goesToTheLoaderOnce() {
    Node node = fleet.node("a", Fleet::usual);
    fleet.countFromHere();
    node.cache.setEnabled(false);
    var answer = getAll(node, keys(24));
    fleet.advance(Duration.ofSeconds(1));
    assertThat(result(answer)).containsExactlyEntriesOf(values(keys(24), "v1"));
    assertThat(table.asked).hasSize(1);
    assertThat(fleet.commands()).isZero();
  }

  @Test
  void expectedMisses_skipTheRead() {
    Node node = fleet.node("a", Fleet::usual);
    fleet.countFromHere();
    var answer =
        node.cache.getAllAsync(keys(24), table.loader(), node.cache.options().expectMiss());
    fleet.advance(Duration.ofSeconds(1));
    assertThat(result(answer)).hasSize(24);
    assertThat(fleet.redis.commandCounts()).isEqualTo(Map.of("EVALSHA", 48L));
    assertThat(table.asked).hasSize(1);
  }

  // ---------------------------------------------------------------- others

  @Test
  void oppositeOrder_inTwoProcesses_neverBlockEachOther() {
    Node a = fleet.node("a", Fleet::usual);
    Node b = fleet.node("b", Fleet::usual);
    // The first acquires of a come before those of b, the last ones after them.
    List<String> order = keys(24);
    List<String> reversed = new ArrayList<>(order);
    Collections.reverse(reversed);
    fleet.redis.setInterceptor(
        request -> {
          if (!request.runs("-- GET_OR_ACQUIRE:")) {
            return RequestFate.DELIVERED;
          }
          int number = Integer.parseInt(digits(request.keys().get(0)));
          boolean early = request.client().equals("a") == (number < 12);
          return RequestFate.DELIVERED.delayed(
              Duration.ofMillis(early ? 1 : 2), Duration.ofMillis(1));
        });
    var first = getAll(a, order);
    var second = getAll(b, reversed);
    fleet.advance(Duration.ofMillis(300));
    assertThat(result(first)).containsExactlyEntriesOf(values(order, "v1"));
    assertThat(result(second)).containsExactlyEntriesOf(values(reversed, "v1"));
    assertThat(table.asked).extracting(Set::size).containsExactly(12, 12);
    assertThat(table.loads.values()).containsOnly(1);
  }

  private static String digits(byte[] key) {
    return new String(key, UTF_8).replaceAll("\\D", "");
  }

  @Test
  void oppositeOrder_inOneProcess_loadsEachKeyOnce() {
    Node a = fleet.node("a", Fleet::usual);
    List<String> reversed = new ArrayList<>(keys(24));
    Collections.reverse(reversed);
    var first = getAll(a, keys(16));
    var second = getAll(a, reversed);
    fleet.advance(Duration.ofSeconds(1));
    assertThat(result(first)).containsExactlyEntriesOf(values(keys(16), "v1"));
    assertThat(result(second)).containsExactlyEntriesOf(values(reversed, "v1"));
    assertThat(table.loads.values()).containsOnly(1);
  }

  @Test
  void keyThatAnotherLoads_isWaitedForOnlyAfterTheOwnOnesAreStored() {
    Node a = fleet.node("a", Fleet::usual);
    Node b = fleet.node("b", Fleet::usual);
    fleet.source.takes = Duration.ofSeconds(2);
    Answer single = b.get("k1");
    fleet.advance(Duration.ofMillis(10));
    var answer = getAll(a, keys(3));
    fleet.advance(Duration.ofMillis(210));
    assertThat(answer).isNotDone();
    assertThat(b.lookup("k0").value()).isEqualTo("k0=v1");
    assertThat(b.lookup("k2").value()).isEqualTo("k2=v1");
    fleet.advance(Duration.ofSeconds(2));
    assertThat(single.value()).isEqualTo("v1");
    assertThat(result(answer)).containsEntry("k1", "v1").hasSize(3);
    assertThat(table.asked).containsExactly(Set.of("k0", "k2"));
  }

  @Test
  void singleCallers_joinTheKeysOfABatch() {
    Node a = fleet.node("a", Fleet::usual);
    Node b = fleet.node("b", Fleet::usual);
    var batch = getAll(a, keys(24));
    fleet.advance(Duration.ofMillis(100));
    List<Answer> singles = a.getMany("k7", 20);
    singles.addAll(b.getMany("k8", 20));
    fleet.advance(Duration.ofSeconds(1));
    assertThat(result(batch)).hasSize(24);
    assertThat(singles.subList(0, 20)).extracting(Answer::value).containsOnly("k7=v1");
    assertThat(singles.subList(20, 40)).extracting(Answer::value).containsOnly("k8=v1");
    assertThat(fleet.source.loads).isZero();
  }

  @Test
  void holderThatFails_leavesItsKeyToTheBatchThatWaited() {
    Node a = fleet.node("a", b -> Fleet.usual(b).coolDown(Duration.ZERO));
    Node b = fleet.node("b", x -> Fleet.usual(x).coolDown(Duration.ZERO));
    fleet.source.takes = Duration.ofMillis(500);
    fleet.source.failure = new IllegalStateException("source down");
    Answer single = b.get("k1");
    fleet.advance(Duration.ofMillis(10));
    var answer = getAll(a, keys(3));
    fleet.advance(Duration.ofSeconds(2));
    assertThat(single.error).isInstanceOf(LoadFailedException.class);
    assertThat(result(answer)).containsExactlyEntriesOf(values(keys(3), "v1"));
    assertThat(table.asked).containsExactly(Set.of("k0", "k2"), Set.of("k1"));
  }

  @Test
  void holderOfManyKeysThatFails_leavesThemToFewLoads_eachWithinTheLimit() {
    Node a = fleet.node("a", x -> Fleet.usual(x).maxBulkSize(10).coolDown(Duration.ZERO));
    Node b = fleet.node("b", x -> Fleet.usual(x).coolDown(Duration.ZERO));
    table.failure = new IllegalStateException("source down");
    var failing = tryGetAll(b, keys(25));
    fleet.advance(Duration.ofMillis(10));
    table.failure = null;
    var answer = getAll(a, keys(25));
    fleet.advance(Duration.ofSeconds(2));
    assertThat(result(failing).failures()).hasSize(25);
    assertThat(result(answer)).containsExactlyEntriesOf(values(keys(25), "v1"));
    // The first of all 25, then one that came free first, then what came free meanwhile.
    assertThat(table.asked).hasSizeBetween(4, 5);
    assertThat(table.asked.subList(1, table.asked.size()))
        .allSatisfy(keys -> assertThat(keys).hasSizeLessThanOrEqualTo(10));
    assertThat(table.loads.values()).containsOnly(2);
  }

  @Test
  void processesInAHerd_loadEachKeyOnce() {
    List<CompletableFuture<Map<String, String>>> answers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      Node node = fleet.node("n" + i, Fleet::usual);
      for (int j = 0; j < 5; j++) {
        answers.add(getAll(node, keys(24)));
      }
    }
    fleet.advance(Duration.ofSeconds(2));
    assertThat(answers).allSatisfy(answer -> assertThat(result(answer)).hasSize(24));
    assertThat(table.loads.values()).containsOnly(1);
  }

  // ---------------------------------------------------------------- outcomes

  @Test
  void keysNotReturned_areAbsentAndStoredAsNegativeEntries() {
    Node node = fleet.node("a", Fleet::usual);
    table.missing.add("k1");
    var answer = tryGetAll(node, keys(3));
    fleet.advance(Duration.ofSeconds(1));
    assertThat(result(answer).values()).containsOnlyKeys("k0", "k2");
    assertThat(result(answer).absent()).containsExactly("k1");
    assertThat(result(answer).isComplete()).isTrue();
    assertThat(node.lookup("k1").state()).isEqualTo(Lookup.State.ABSENT);
    assertThat(node.lookup("never asked for").state()).isEqualTo(Lookup.State.MISSING);
  }

  @Test
  void keysNotReturned_withoutNegativeEntries_areReleasedAtOnce() {
    Node node = fleet.node("a", b -> Fleet.usual(b).negativeTimeToLive(Duration.ZERO));
    Node other = fleet.node("b", Fleet::usual);
    table.missing.add("k1");
    var answer = getAll(node, keys(3));
    fleet.advance(Duration.ofMillis(210));
    assertThat(result(answer)).containsOnlyKeys("k0", "k2");
    Answer next = other.get("k1");
    fleet.advance(Duration.ofMillis(210));
    assertThat(next.value()).isEqualTo("v1");
  }

  @Test
  void failedLoad_failsItsKeysAndKeepsTheOthers() {
    Node node = fleet.node("a", Fleet::usual);
    node.put("k1", "cached");
    table.failure = new IllegalStateException("no connection");
    var all = getAll(node, keys(3));
    var each = tryGetAll(node, List.of("k1", "k5"));
    fleet.advance(Duration.ofMillis(500));
    assertThat(failure(all))
        .isInstanceOfSatisfying(
            BulkLoadException.class,
            e -> {
              assertThat(e)
                  .hasMessageContaining("2 of 3 keys of cache c failed")
                  .hasMessageContaining("c:k0");
              assertThat(e.getCause()).isInstanceOf(LoadFailedException.class);
              assertThat(e.getSuppressed()).hasSize(1);
              assertThat(e.result().values().toString()).isEqualTo("{k1=cached}");
            });
    assertThat(result(each).values()).isEqualTo(Map.of("k1", "cached"));
    assertThat(result(each).failures().get("k5"))
        .isInstanceOf(LoadFailedException.class)
        .hasRootCauseMessage("no connection");
    // The cool-down is that of each key.
    var again = tryGetAll(node, keys(3));
    fleet.advance(Duration.ofMillis(1));
    assertThat(result(again).failures()).containsOnlyKeys("k0", "k2");
    assertThat(table.asked).hasSize(2);
  }

  @Test
  void loaderThatReturnsNull_failsWithAWord() {
    Node node = fleet.node("a", Fleet::usual);
    var answer =
        node.cache.tryGetAllAsync(
            keys(2),
            (AsyncBulkLoader<String, String>)
                (keys, context) -> CompletableFuture.completedFuture(null),
            node.cache.options());
    fleet.advance(Duration.ofSeconds(1));
    assertThat(result(answer).failures().get("k0"))
        .hasRootCauseMessage(
            "the bulk loader returned null: return an empty map if the source has no values");
  }

  @Test
  void valuesHandedOver_areStoredWhileTheLoadGoesOn_andFailuresTouchNoOtherKey() {
    Node a = fleet.node("a", Fleet::usual);
    Node b = fleet.node("b", Fleet::usual);
    table.onLoad =
        (keys, context) -> {
          context.loaded("k0", "early");
          context.failed("k1", new IllegalStateException("this one is broken"));
          context.of("k2").timeToLive(Duration.ofSeconds(1));
          assertThat(context.of("k2").isLeased()).isTrue();
          assertThatThrownBy(() -> context.of("other"))
              .isInstanceOf(IllegalArgumentException.class);
        };
    var answer = tryGetAll(a, keys(4));
    fleet.advance(Duration.ofMillis(50));
    assertThat(b.lookup("k0").value()).isEqualTo("early");
    assertThat(b.lookup("k3").state()).isEqualTo(Lookup.State.MISSING);
    fleet.advance(Duration.ofMillis(200));
    assertThat(result(answer).values())
        .isEqualTo(Map.of("k0", "early", "k2", "k2=v1", "k3", "k3=v1"));
    assertThat(result(answer).failures()).containsOnlyKeys("k1");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(b.lookup("k2").state()).isEqualTo(Lookup.State.MISSING);
    assertThat(b.lookup("k3").state()).isEqualTo(Lookup.State.PRESENT);
  }

  @Test
  void waitThatIsOver_endsTheKeyByItself() {
    Node a = fleet.node("a", x -> Fleet.usual(x).maxWait(Duration.ofMillis(500)));
    Node b = fleet.node("b", Fleet::usual);
    fleet.source.takes = Duration.ofSeconds(3);
    b.get("k1");
    fleet.advance(Duration.ofMillis(10));
    var failed = tryGetAll(a, keys(3));
    var fallen =
        a.cache.getAllAsync(
            keys(3), table.loader(), a.cache.options().otherwise(Otherwise.fallback(key -> "?")));
    var degraded =
        a.cache.getAllAsync(
            keys(3), table.loader(), a.cache.options().otherwise(Otherwise.loadDegraded()));
    fleet.advance(Duration.ofSeconds(1));
    assertThat(result(failed).failures().get("k1")).isInstanceOf(FillTimeoutException.class);
    assertThat(result(failed).values()).hasSize(2);
    assertThat(result(fallen)).containsEntry("k1", "?").containsEntry("k0", "k0=v1");
    assertThat(result(degraded)).containsExactlyEntriesOf(values(keys(3), "v1"));
    assertThat(table.asked).containsExactly(Set.of("k0", "k2"), Set.of("k1"));
    fleet.advance(Duration.ofSeconds(3));
  }

  // ---------------------------------------------------------------- stale

  @Test
  void staleValues_areServedAtOnceAndRefreshedTogether() {
    Node node = fleet.node("a", b -> Fleet.usual(b).serveStaleFor(Duration.ofMinutes(1)));
    fill(node, keys(24));
    fleet.advance(Duration.ofSeconds(10));
    table.version = "v2";
    List<String> more = new ArrayList<>(keys(24));
    more.add("cold");
    var answer = tryGetAll(node, more);
    fleet.advance(Duration.ofMillis(210));
    assertThat(result(answer).stale()).containsExactlyElementsOf(keys(24));
    assertThat(result(answer).values())
        .containsEntry("k3", "k3=v1")
        .containsEntry("cold", "cold=v2");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(table.asked)
        .containsExactlyInAnyOrder(Set.copyOf(keys(24)), Set.of("cold"), Set.copyOf(keys(24)));
    assertThat(node.lookup("k3").value()).isEqualTo("k3=v2");
  }

  @Test
  void staleValues_thatAnotherProcessRefreshes_areLeftToIt() {
    Node a = fleet.node("a", b -> Fleet.usual(b).serveStaleFor(Duration.ofMinutes(1)));
    Node b = fleet.node("b", x -> Fleet.usual(x).serveStaleFor(Duration.ofMinutes(1)));
    fill(a, keys(4));
    fleet.advance(Duration.ofSeconds(10));
    b.get("k1");
    fleet.advance(Duration.ofMillis(10));
    var answer = getAll(a, keys(4));
    fleet.advance(Duration.ofSeconds(1));
    assertThat(result(answer)).containsExactlyEntriesOf(values(keys(4), "v1"));
    assertThat(table.asked).hasSize(2);
    assertThat(table.asked.get(1)).containsExactlyInAnyOrder("k0", "k2", "k3");
    assertThat(fleet.source.loads).isEqualTo(1);
  }

  @Test
  void staleValues_foundByTheAcquire_areRefreshedInTheBackground() {
    Node node = fleet.node("a", b -> Fleet.usual(b).serveStaleFor(Duration.ofMinutes(1)));
    fill(node, keys(4));
    fleet.advance(Duration.ofSeconds(10));
    table.version = "v2";
    var answer = node.cache.getAllAsync(keys(4), table.loader(), node.cache.options().expectMiss());
    fleet.advance(Duration.ofMillis(1));
    assertThat(result(answer)).containsExactlyEntriesOf(values(keys(4), "v1"));
    fleet.advance(Duration.ofSeconds(1));
    assertThat(node.lookup("k3").value()).isEqualTo("k3=v2");
    assertThat(table.loads.values()).containsOnly(2);
  }

  // ---------------------------------------------------------------- invalidation

  @Test
  void invalidation_duringABulkLoad_isNotUndone() {
    Node a = fleet.node("a", Fleet::usual);
    Node b = fleet.node("b", Fleet::usual);
    var batch = getAll(a, keys(24));
    fleet.advance(Duration.ofMillis(100));
    table.version = "v2";
    fleet.source.change();
    b.invalidate("k7");
    var late = getAll(a, List.of("k7", "k8"));
    Answer single = a.get("k7");
    fleet.advance(Duration.ofMillis(150));
    // Called before the invalidation.
    assertThat(result(batch)).containsExactlyEntriesOf(values(keys(24), "v1"));
    fleet.advance(Duration.ofSeconds(1));
    assertThat(result(late)).containsEntry("k8", "k8=v1");
    assertThat(result(late).get("k7")).isIn("k7=v2", "v2");
    assertThat(single.value()).isIn("k7=v2", "v2");
    assertThat(b.lookup("k7").value()).isIn("k7=v2", "v2");
    assertThat(b.lookup("k8").value()).isEqualTo("k8=v1");
  }

  @Test
  void invalidateAll_takesAllKeysInOnePipeline() {
    Node a = fleet.node("a", Fleet::usual);
    fill(a, keys(1_000));
    fleet.countFromHere();
    a.invalidate("x");
    fleet.redis.resetCommandCounts();
    fleet.redis.setInterceptor(
        request -> RequestFate.DELIVERED.delayed(Duration.ofMillis(5), Duration.ofMillis(5)));
    var done = a.cache.invalidateAllAsync(keys(1_000));
    // Two chunks of 500.
    fleet.advance(Duration.ofMillis(20));
    assertThat(done).isCompleted();
    fleet.redis.setInterceptor(request -> RequestFate.DELIVERED);
    assertThat(fleet.redis.commandCounts()).isEqualTo(Map.of("EVALSHA", 1_000L));
    for (String key : keys(1_000)) {
      assertThat(fleet.stored(key)).isNull();
    }
  }

  @Test
  void invalidateAll_thatFailsForSomeKeys_triesAllAndTellsTogether() {
    Node a = fleet.node("a", Fleet::usual);
    fill(a, keys(4));
    fleet.redis.setInterceptor(
        request ->
            digits(request.keys().get(0)).matches("[12]")
                ? RequestFate.NOT_SENT
                : RequestFate.DELIVERED);
    var done = a.cache.invalidateAllAsync(List.of("k0", "k1", "k2", "k3", "k3"));
    fleet.advance(Duration.ofSeconds(2));
    assertThat(failure(done))
        .isInstanceOfSatisfying(
            StoreException.class,
            e -> {
              assertThat(e).hasMessageContaining("invalidating 2 of 4 keys of cache c failed");
              assertThat(e.getSuppressed()).hasSize(1);
              assertThat(e.mayHaveHappened()).isFalse();
            });
    assertThat(fleet.stored("k0")).isNull();
    assertThat(fleet.stored("k1")).isNotNull();
    assertThat(fleet.stored("k3")).isNull();
    fleet.redis.setInterceptor(request -> RequestFate.DELIVERED);
  }

  @Test
  void invalidateAll_thatFailsForAKeyOfAnEarlyChunk_goesOn() {
    Node a = fleet.node("a", b -> Fleet.usual(b).maxBulkSize(2));
    fill(a, keys(6));
    fleet.redis.setInterceptor(
        request ->
            digits(request.keys().get(0)).equals("1")
                ? RequestFate.NOT_SENT
                : RequestFate.DELIVERED);
    var done = a.cache.invalidateAllAsync(keys(6));
    fleet.advance(Duration.ofSeconds(2));
    assertThat(failure(done)).hasMessageContaining("invalidating 1 of 6 keys of cache c failed");
    assertThat(fleet.stored("k1")).isNotNull();
    assertThat(fleet.stored("k5")).isNull();
    fleet.redis.setInterceptor(request -> RequestFate.DELIVERED);
  }

  // ---------------------------------------------------------------- faults

  @Test
  void storeThatIsGone_costsTheProtectionAndStillOneLoad() {
    Node node = fleet.node("a", Fleet::usual);
    fleet.redis.setInterceptor(request -> RequestFate.NOT_SENT);
    var answer = getAll(node, keys(24));
    var second = getAll(node, keys(24));
    fleet.advance(Duration.ofSeconds(1));
    assertThat(result(answer)).containsExactlyEntriesOf(values(keys(24), "v1"));
    assertThat(result(second)).containsExactlyEntriesOf(values(keys(24), "v1"));
    assertThat(table.loads.values()).containsOnly(1);
    fleet.redis.setInterceptor(request -> RequestFate.DELIVERED);
  }

  @Test
  void storeThatDoesNotAnswer_isWaitedForOnce() {
    Node node = fleet.node("a", Fleet::usual);
    fleet.redis.setInterceptor(request -> RequestFate.LOST_REQUEST);
    var answer = getAll(node, keys(24));
    fleet.advance(Fleet.COMMAND_TIMEOUT.plus(Fleet.LOAD).plusMillis(10));
    assertThat(result(answer)).containsExactlyEntriesOf(values(keys(24), "v1"));
    assertThat(table.asked).hasSize(1);
    fleet.redis.setInterceptor(request -> RequestFate.DELIVERED);
  }

  @Test
  void leases_areRenewedForTheWholeOfALongBulkLoad() {
    Node a = fleet.node("a", Fleet::usual);
    Node b = fleet.node("b", Fleet::usual);
    table.takes = Duration.ofSeconds(4);
    var first = getAll(a, keys(24));
    fleet.advance(Duration.ofMillis(10));
    var second = getAll(b, keys(24));
    fleet.advance(Duration.ofSeconds(5));
    assertThat(result(first)).hasSize(24);
    assertThat(result(second)).hasSize(24);
    assertThat(table.loads.values()).containsOnly(1);
    assertThat(a.events(CacheEvent.LeaseRenewed.class)).hasSizeGreaterThanOrEqualTo(24 * 11);
  }

  @Test
  void maxLoadTime_endsTheKeysOfALoaderThatHangs() {
    Node a = fleet.node("a", b -> Fleet.usual(b).maxLoadTime(Duration.ofSeconds(2)));
    table.takes = Duration.ofSeconds(20);
    var answer = tryGetAll(a, keys(3));
    fleet.advance(Duration.ofSeconds(3));
    assertThat(result(answer).failures().values())
        .hasSize(3)
        .allSatisfy(e -> assertThat(e).isInstanceOf(FillTimeoutException.class));
    fleet.advance(Duration.ofSeconds(20));
  }

  @Test
  void loaderThatHangs_holdsUpALaterKeyForNoLongerThanMaxLoadTime() {
    Node a =
        fleet.node(
            "a", x -> Fleet.usual(x).maxLoadTime(Duration.ofSeconds(2)).coolDown(Duration.ZERO));
    Node b = fleet.node("b", x -> Fleet.usual(x).coolDown(Duration.ZERO));
    fleet.source.takes = Duration.ofSeconds(1);
    fleet.source.failure = new IllegalStateException("source down");
    Answer single = b.get("k1");
    fleet.advance(Duration.ofMillis(10));
    table.takes = Duration.ofSeconds(20);
    var answer = tryGetAll(a, keys(3));
    fleet.advance(Duration.ofMillis(1500));
    assertThat(single.error).isInstanceOf(LoadFailedException.class);
    table.takes = Fleet.LOAD;
    fleet.advance(Duration.ofSeconds(1));
    assertThat(result(answer).values()).isEqualTo(Map.of("k1", "k1=v1"));
    assertThat(result(answer).failures()).containsOnlyKeys("k0", "k2");
    fleet.advance(Duration.ofSeconds(20));
  }

  @Test
  void close_endsTheReadAndGivesTheLeasesBack() {
    Node a = fleet.node("a", Fleet::usual);
    Node b = fleet.node("b", Fleet::usual);
    var answer = getAll(a, keys(24));
    fleet.advance(Duration.ofMillis(100));
    a.close();
    assertThat(failure(answer)).isInstanceOf(PaddockClosedException.class);
    var next = getAll(b, keys(24));
    fleet.advance(Duration.ofMillis(210));
    assertThat(result(next)).hasSize(24);
    var after = getAll(a, keys(24));
    fleet.advance(Duration.ofMillis(1));
    assertThat(failure(after)).isInstanceOf(PaddockClosedException.class);
  }

  @Test
  void manyChunks_ofAClosedPaddock_failWithoutNesting() {
    Node a = fleet.node("a", b -> Fleet.usual(b).maxBulkSize(1));
    a.close();
    var answer = getAll(a, keys(100_000));
    var done = a.cache.invalidateAllAsync(keys(100_000));
    fleet.advance(Duration.ofMillis(1));
    assertThat(failure(answer)).isInstanceOf(PaddockClosedException.class);
    assertThat(failure(done)).isInstanceOf(PaddockClosedException.class);
  }

  @Test
  void cancelledRead_beforeItsLoad_leavesItsKeysToOthers() {
    Node a = fleet.node("a", Fleet::usual);
    fleet.redis.setInterceptor(
        request ->
            request.runs("-- GET_OR_ACQUIRE:") && digits(request.keys().get(0)).equals("1")
                ? RequestFate.DELIVERED.delayed(Duration.ofMillis(50), Duration.ofMillis(50))
                : RequestFate.DELIVERED);
    var answer = getAll(a, keys(3));
    fleet.advance(Duration.ofMillis(20));
    Answer single = a.get("k0");
    fleet.advance(Duration.ofMillis(20));
    answer.cancel(false);
    fleet.advance(Duration.ofMillis(210));
    assertThat(single.value()).isEqualTo("v1");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(table.asked).isEmpty();
    assertThat(fleet.source.loads).isEqualTo(1);
  }

  // ---------------------------------------------------------------- beside other options

  @Test
  void limitOfLoads_doesNotHoldUpTheKeysOfOneBatch() {
    Node node = fleet.node("a", b -> Fleet.usual(b).maxConcurrentLoads(1).maxQueuedLoads(1));
    List<String> keys = keys(20);
    CompletableFuture<Map<String, String>> all = getAll(node, keys);
    fleet.advance(Duration.ofMillis(300));
    assertThat(result(all)).isEqualTo(values(keys, "v1"));
    assertThat(table.asked).hasSize(1);
    assertThat(node.events(CacheEvent.LoadRefused.class)).isEmpty();
  }

  @Test
  void softLoadTimeout_givesTheOldValues_andTheLoadGoesOn() {
    Node node =
        fleet.node(
            "a",
            b ->
                Fleet.usual(b)
                    .failSafeFor(Duration.ofMinutes(1))
                    .softLoadTimeout(Duration.ofMillis(100)));
    List<String> keys = keys(5);
    fill(node, keys);
    fleet.advance(Duration.ofSeconds(11));
    table.version = "v2";
    table.takes = Duration.ofMillis(400);
    CompletableFuture<BulkResult<String, String>> all = tryGetAll(node, keys);
    fleet.advance(Duration.ofMillis(150));
    assertThat(result(all).values()).isEqualTo(values(keys, "v1"));
    assertThat(result(all).stale()).containsExactlyInAnyOrderElementsOf(keys);
    fleet.advance(Duration.ofMillis(500));
    assertThat(node.lookup("k3").value()).isEqualTo("k3=v2");
    assertThat(table.loads).containsEntry("k3", 2);
  }

  @Test
  void hardLoadTimeout_failsTheKeys_andTheLoadGoesOn() {
    Node node = fleet.node("a", b -> Fleet.usual(b).hardLoadTimeout(Duration.ofMillis(100)));
    List<String> keys = keys(5);
    table.takes = Duration.ofMillis(400);
    CompletableFuture<BulkResult<String, String>> all = tryGetAll(node, keys);
    fleet.advance(Duration.ofMillis(150));
    assertThat(result(all).failures()).containsOnlyKeys(keys);
    assertThat(result(all).failures().get("k0")).isInstanceOf(FillTimeoutException.class);
    fleet.advance(Duration.ofMillis(500));
    assertThat(node.lookup("k3").value()).isEqualTo("k3=v1");
    assertThat(table.asked).hasSize(1);
  }

  @Test
  void failingLoad_givesTheOldValues() {
    Node node = fleet.node("a", b -> Fleet.usual(b).failSafeFor(Duration.ofMinutes(1)));
    List<String> keys = keys(5);
    fill(node, keys);
    fleet.advance(Duration.ofSeconds(11));
    table.failure = new IllegalStateException("source is down");
    CompletableFuture<Map<String, String>> all = getAll(node, keys);
    fleet.advance(Duration.ofMillis(300));
    assertThat(result(all)).isEqualTo(values(keys, "v1"));
  }

  @Test
  void outage_isBridgedByWhatWasLoadedInIt() {
    Node node = fleet.node("a", Fleet::usual);
    List<String> keys = keys(5);
    fleet.redis.setInterceptor(request -> RequestFate.NOT_SENT);
    for (int i = 0; i < 4; i++) {
      CompletableFuture<Map<String, String>> all = getAll(node, keys);
      fleet.advance(Duration.ofSeconds(1));
      assertThat(result(all)).isEqualTo(values(keys, "v1"));
    }
    assertThat(table.loads.values()).containsOnly(1);
    fleet.redis.setInterceptor(request -> RequestFate.DELIVERED);
  }

  @Test
  void storeThatHangs_isNotAskedWhileTheBreakerIsOpen() {
    Node node = fleet.node("a", b -> Fleet.usual(b).outageTimeToLive(Duration.ZERO));
    List<String> keys = keys(5);
    fleet.redis.setInterceptor(request -> RequestFate.LOST_REQUEST);
    CompletableFuture<Map<String, String>> first = getAll(node, keys);
    fleet.advance(Duration.ofSeconds(3));
    assertThat(result(first)).isEqualTo(values(keys, "v1"));
    assertThat(node.events(CacheEvent.BreakerChanged.class)).hasSize(1);
    CompletableFuture<Map<String, String>> all = getAll(node, keys);
    fleet.advance(Fleet.LOAD.plusMillis(10));
    assertThat(result(all)).isEqualTo(values(keys, "v1"));
    fleet.redis.setInterceptor(request -> RequestFate.DELIVERED);
  }

  @Test
  void earlyRefresh_ofSeveralKeys_isOneLoadInTheBackground() {
    Node node = fleet.node("a", b -> Fleet.usual(b).earlyRefreshAt(0.5));
    List<String> keys = keys(5);
    fill(node, keys);
    fleet.advance(Duration.ofSeconds(6));
    table.version = "v2";
    CompletableFuture<Map<String, String>> all = getAll(node, keys);
    fleet.advance(Duration.ofMillis(10));
    assertThat(result(all)).isEqualTo(values(keys, "v1"));
    fleet.advance(Duration.ofSeconds(1));
    assertThat(node.lookup("k3").value()).isEqualTo("k3=v2");
    assertThat(table.asked).hasSize(2);
  }
}
