/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.paddock.CacheBuilder;
import dev.paddock.CacheEvent;
import dev.paddock.Lookup;
import dev.paddock.StoreException;
import dev.paddock.engine.Fleet.Answer;
import dev.paddock.engine.Fleet.Node;
import dev.paddock.testkit.RequestFate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Values are outdated by the barriers of their tags, and of the whole cache. */
final class TagsTest {
  private static final Duration LAG = Duration.ofSeconds(1);

  private final Fleet fleet = new Fleet();
  private final List<Node> nodes = new ArrayList<>();

  @AfterEach
  void restsOnceClosed() {
    nodes.forEach(Node::close);
    fleet.assertAtRest();
  }

  private Node node(String name, UnaryOperator<CacheBuilder<String, String>> settings) {
    Node node = fleet.node(name, builder -> settings.apply(Fleet.usual(builder)));
    nodes.add(node);
    return node;
  }

  private Node lagged(String name) {
    return node(name, builder -> builder.tagLag(LAG));
  }

  private Node strict(String name) {
    return node(name, builder -> builder.tagLag(Duration.ZERO));
  }

  private void tagLoads(String... tags) {
    fleet.source.onLoad = context -> context.tags(tags);
  }

  private void loseMessages() {
    fleet.redis.setInterceptor(
        request ->
            request.name().equals("MESSAGE") ? RequestFate.LOST_REQUEST : RequestFate.DELIVERED);
  }

  private Answer settled(Answer answer) {
    fleet.advance(Fleet.LOAD.plusMillis(50));
    return answer;
  }

  @Test
  void invalidatedTag_outdatesItsValuesHereAtOnce_andNoOthers() {
    Node a = lagged("a");
    tagLoads("red");
    settled(a.get("r"));
    tagLoads("blue", "dark");
    settled(a.get("b"));
    fleet.source.change();

    a.invalidateTag("red");

    assertThat(a.lookup("r").state()).isEqualTo(Lookup.State.MISSING);
    assertThat(a.lookup("b").value()).isEqualTo("v1");
    assertThat(settled(a.get("r")).value()).isEqualTo("v2");
    assertThat(a.lookup("r").value()).isEqualTo("v2");
    assertThat(a.events(CacheEvent.TagInvalidated.class))
        .extracting(CacheEvent.TagInvalidated::tag)
        .containsExactly("red");
    assertThat(a.events(CacheEvent.Outdated.class))
        .extracting(CacheEvent.Outdated::key)
        .contains("c:r");
  }

  @Test
  void anyOfSeveralTags_outdatesAValue() {
    Node a = lagged("a");
    tagLoads("blue", "dark");
    settled(a.get("b"));

    a.invalidateTag("dark");

    assertThat(a.lookup("b").state()).isEqualTo(Lookup.State.MISSING);
  }

  @Test
  void otherProcess_seesItAfterTheLagAtMost_evenIfMessagesAreLost() {
    Node a = lagged("a");
    Node b = lagged("b");
    tagLoads("red");
    settled(a.get("k"));
    assertThat(b.lookup("k").value()).isEqualTo("v1");
    fleet.source.change();
    // No message reaches anybody.
    loseMessages();

    a.invalidateTag("red");

    fleet.advance(LAG);
    assertThat(b.lookup("k").state()).isEqualTo(Lookup.State.MISSING);
  }

  @Test
  void otherProcess_thatIsTold_seesItBefore() {
    Node a = lagged("a");
    Node b = lagged("b");
    tagLoads("red");
    settled(a.get("k"));
    assertThat(b.lookup("k").value()).isEqualTo("v1");

    a.invalidateTag("red");
    fleet.advance(Duration.ofMillis(10));

    assertThat(b.lookup("k").state()).isEqualTo(Lookup.State.MISSING);
  }

  @Test
  void strict_seesItAtOnceEverywhere() {
    Node a = strict("a");
    Node b = strict("b");
    tagLoads("red");
    settled(a.get("k"));
    assertThat(b.lookup("k").value()).isEqualTo("v1");
    loseMessages();

    a.invalidateTag("red");

    assertThat(b.lookup("k").state()).isEqualTo(Lookup.State.MISSING);
  }

  @Test
  void loadInFlight_isStoredButOutdated_andSharedOnlyByThoseBefore() {
    Node a = strict("a");
    Node b = strict("b");
    tagLoads("red");
    Answer before = a.get("k");
    fleet.advance(Duration.ofMillis(100));
    fleet.source.change();
    b.invalidateTag("red");
    Answer after = a.get("k");
    Answer elsewhere = b.get("k");
    fleet.advance(Duration.ofSeconds(1));

    assertThat(before.value()).isEqualTo("v1");
    assertThat(after.value()).isEqualTo("v2");
    assertThat(elsewhere.value()).isEqualTo("v2");
    assertThat(fleet.source.loads).isEqualTo(2);
  }

  @Test
  void lateCallers_withALag_shareALoadThatNothingIsKnownAgainst() {
    Node a = lagged("a");
    tagLoads("red");
    settled(a.get("other"));
    Answer first = a.get("k");
    fleet.advance(Duration.ofMillis(100));
    Answer late = a.get("k");
    fleet.advance(Duration.ofMillis(101));

    assertThat(first.value()).isEqualTo("v1");
    assertThat(late.value()).isEqualTo("v1");
    assertThat(fleet.source.loads).isEqualTo(2);
  }

  @Test
  void lateCallers_afterAnInvalidationHere_neverShareTheLoadBegunBefore() {
    Node a = lagged("a");
    tagLoads("red");
    a.get("k");
    fleet.advance(Duration.ofMillis(100));
    fleet.source.change();
    a.invalidateTag("red");
    Answer after = a.get("k");
    fleet.advance(Duration.ofSeconds(1));

    assertThat(after.value()).isEqualTo("v2");
  }

  @Test
  void clear_outdatesAllValues_tagsOrNot_andDeletesNone() {
    Node a = lagged("a");
    settled(a.get("plain"));
    a.put("put", "x");
    tagLoads("red");
    settled(a.get("tagged"));

    a.clear();

    for (String key : List.of("plain", "put", "tagged")) {
      assertThat(a.lookup(key).state()).as(key).isEqualTo(Lookup.State.MISSING);
      assertThat(fleet.stored(key)).as(key).isNotNull();
    }
    a.put("put", "y");
    assertThat(a.lookup("put").value()).isEqualTo("y");
    assertThat(a.events(CacheEvent.TagInvalidated.class))
        .extracting(CacheEvent.TagInvalidated::tag)
        .containsExactly((String) null);
  }

  @Test
  void valueLoadedByWhoKnowsOfTheBarrier_isGoodDespiteTheSkew() {
    Node a = node("a", builder -> builder.tagLag(LAG).tagSkew(Duration.ofSeconds(5)));
    tagLoads("red");
    settled(a.get("k"));
    a.invalidateTag("red");

    assertThat(settled(a.get("k")).value()).isEqualTo("v1");
    assertThat(a.lookup("k").isMissing()).isFalse();
    assertThat(fleet.source.loads).isEqualTo(2);
  }

  @Test
  void barriersRaisedInTheSameMillisecond_eachOutdateWhatCameBetween() {
    for (Node a : List.of(strict("strict"), lagged("lagged"))) {
      fleet.source.takes = Duration.ZERO;
      tagLoads("red", "hot");
      for (int i = 0; i < 20; i++) {
        a.invalidateTag("red");
        a.get("k");
        fleet.env.run();
        fleet.source.change();
        a.invalidateTag(i % 2 == 0 ? "red" : "hot");
        assertThat(a.lookup("k").isMissing()).as("round %s of %s", i, a.name).isTrue();
        a.clear();
        a.put("k", "put");
        assertThat(a.lookup("k").value()).isEqualTo("put");
        a.clear();
        assertThat(a.lookup("k").isMissing()).isTrue();
      }
    }
  }

  @Test
  void hit_withALag_isOneCommandButForTwoReadsOfBarriersInEachLag() {
    Node a = lagged("a");
    tagLoads("red");
    settled(a.get("k"));
    a.lookup("k");
    fleet.redis.resetCommandCounts();

    for (int i = 0; i < 100; i++) {
      fleet.advance(LAG.dividedBy(20));
      assertThat(a.lookup("k").value()).isEqualTo("v1");
    }

    assertThat(fleet.redis.commandCounts().getOrDefault("GET", 0L)).isEqualTo(100);
    // 5 lags went by.
    assertThat(fleet.redis.commandCounts().getOrDefault("MGET", 0L)).isBetween(5L, 11L);
  }

  @Test
  void hit_withALag_waitsForNoBarrierWhileTheCacheIsInUse() {
    Node a = lagged("a");
    tagLoads("red");
    settled(a.get("k"));
    a.lookup("k");
    fleet.redis.setInterceptor(
        request ->
            request.name().equals("MGET")
                ? RequestFate.DELIVERED.delayed(Duration.ofMillis(200), Duration.ZERO)
                : RequestFate.DELIVERED);

    for (int i = 0; i < 50; i++) {
      fleet.advance(LAG.dividedBy(20));
      Answer hit = a.get("k");
      fleet.advance(Duration.ofMillis(10));
      assertThat(hit.took()).isLessThan(Duration.ofMillis(10));
    }
  }

  @Test
  void staleValue_thatIsOutdated_isNotServed() {
    Node a = node("a", builder -> builder.tagLag(LAG).serveStaleFor(Duration.ofMinutes(1)));
    tagLoads("red");
    settled(a.get("k"));
    fleet.advance(Duration.ofSeconds(11));
    fleet.source.change();
    a.invalidateTag("red");

    Answer answer = a.get("k");
    assertThat(answer.isDone()).isFalse();
    assertThat(settled(answer).value()).isEqualTo("v2");
  }

  @Test
  void failedLoad_doesNotBringAnOutdatedValueBack() {
    Node a = node("a", builder -> builder.tagLag(LAG).failSafeFor(Duration.ofMinutes(1)));
    tagLoads("red");
    settled(a.get("k"));
    a.invalidateTag("red");
    fleet.source.failure = new IllegalStateException("source");

    Answer answer = settled(a.get("k"));

    assertThat(answer.future).isCompletedExceptionally();
  }

  @Test
  void backgroundRefresh_keepsTheTagsOfTheCallThatBeganIt() {
    Node a = node("a", builder -> builder.tagLag(LAG).serveStaleFor(Duration.ofMinutes(1)));
    var tagged = a.cache.options().tags("red");
    settled(a.watch("k", a.cache.getAsync("k", fleet.source.loader(), tagged)));
    fleet.advance(Duration.ofSeconds(11));
    settled(a.watch("k", a.cache.getAsync("k", fleet.source.loader(), tagged)));
    assertThat(fleet.source.loads).isEqualTo(2);

    a.invalidateTag("red");

    assertThat(a.lookup("k").state()).isEqualTo(Lookup.State.MISSING);
  }

  @Test
  void unchangedValue_keepsTheTagsItHad() {
    Node a = node("a", builder -> builder.tagLag(LAG).serveStaleFor(Duration.ofMinutes(1)));
    tagLoads("red");
    settled(a.get("k"));
    fleet.advance(Duration.ofSeconds(11));
    fleet.source.onLoad = dev.paddock.LoadContext::notModified;
    settled(a.get("k"));

    a.invalidateTag("red");

    assertThat(a.lookup("k").state()).isEqualTo(Lookup.State.MISSING);
  }

  @Test
  void putValue_hasTheTagsOfItsCall() {
    Node a = lagged("a");
    fleet.env.await(
        a.cache.putAsync("k", "x", a.cache.options().tags("red", "hot")), Duration.ofSeconds(1));
    assertThat(a.lookup("k").value()).isEqualTo("x");

    a.invalidateTag("hot");

    assertThat(a.lookup("k").state()).isEqualTo(Lookup.State.MISSING);
  }

  @Test
  void negativeEntry_isOutdatedToo() {
    Node a = lagged("a");
    fleet.source.onLoad =
        context -> {
          context.markAbsent();
          context.tags("red");
        };
    settled(a.get("k"));
    assertThat(a.lookup("k").state()).isEqualTo(Lookup.State.ABSENT);

    a.invalidateTag("red");

    assertThat(a.lookup("k").state()).isEqualTo(Lookup.State.MISSING);
  }

  @Test
  void barrierThatCannotBeRead_isNoHitAndNoError() {
    Node a = strict("a");
    tagLoads("red");
    settled(a.get("k"));
    fleet.source.change();
    fleet.redis.setInterceptor(
        request ->
            request.name().equals("MGET") ? RequestFate.LOST_REQUEST : RequestFate.DELIVERED);

    Answer answer = a.get("k");
    fleet.advance(Fleet.COMMAND_TIMEOUT.plus(Fleet.LOAD).plusMillis(50));

    assertThat(answer.value()).isEqualTo("v2");
    Answer look = a.watch("k", a.cache.lookupAsync("k").thenApply(Lookup::value));
    fleet.advance(Fleet.COMMAND_TIMEOUT.plusMillis(50));
    assertThat(look.error).isInstanceOf(CompletionException.class);
    fleet.redis.setInterceptor(request -> RequestFate.DELIVERED);
    fleet.advance(Duration.ofSeconds(5));
  }

  @Test
  void foreignValueInABarriersPlace_outdatesAndIsReplaced() {
    Node a = lagged("a");
    Node b = lagged("b");
    tagLoads("red");
    settled(a.get("k"));
    a.invalidateTag("red");
    String barrier =
        fleet.redis.snapshot().keySet().stream()
            .map(Object::toString)
            .filter(key -> key.startsWith("pdk:tag:"))
            .findAny()
            .get();
    settled(a.get("k"));
    fleet.redis.command("SET", barrier, "not a barrier");

    assertThat(b.lookup("k").state()).isEqualTo(Lookup.State.MISSING);

    assertThat(b.events(CacheEvent.Unreadable.class)).isNotEmpty();
    // A load that began in this very moment would be done once more.
    fleet.advance(Duration.ofMillis(10));
    assertThat(settled(b.get("k")).value()).isEqualTo("v1");
    assertThat(b.lookup("k").value()).isEqualTo("v1");
  }

  @Test
  void valueWithUnreadableTags_isReplaced() {
    Node a = lagged("a");
    tagLoads("red");
    settled(a.get("k"));
    // The length of the tag is beyond the header.
    fleet.redis.command("SETRANGE", "c:k", "101", "9999");

    assertThat(a.lookup("k").state()).isEqualTo(Lookup.State.MISSING);
    settled(a.get("k"));
    assertThat(a.lookup("k").value()).isEqualTo("v1");
    assertThat(fleet.source.loads).isEqualTo(2);
  }

  @Test
  void raise_thatFails_saysSo() {
    Node a = lagged("a");
    fleet.redis.setInterceptor(
        request ->
            request.name().startsWith("EVAL") ? RequestFate.LOST_REQUEST : RequestFate.DELIVERED);
    var raised = a.cache.invalidateTagAsync("red");
    fleet.advance(Fleet.COMMAND_TIMEOUT.plusMillis(10));

    assertThat(raised)
        .isCompletedExceptionally()
        .failsWithin(Duration.ZERO)
        .withThrowableThat()
        .havingCause()
        .isInstanceOf(StoreException.class)
        .withMessageContaining("invalidateTag of red of cache c")
        .withMessageContaining("call it again");
    fleet.redis.setInterceptor(request -> RequestFate.DELIVERED);
    fleet.advance(Duration.ofSeconds(5));
  }

  @Test
  void withoutTagLag_tagsAreRefusedWithWhatToDo() {
    Node a = node("a", builder -> builder);
    assertThatIllegalStateException()
        .isThrownBy(() -> a.cache.invalidateTagAsync("red"))
        .withMessageContaining("tagLag");
    assertThatIllegalStateException()
        .isThrownBy(() -> a.cache.clearAsync())
        .withMessageContaining("tagLag");
    assertThatIllegalStateException()
        .isThrownBy(() -> a.cache.putAsync("k", "x", a.cache.options().tags("red")))
        .withMessageContaining("tagLag");
    tagLoads("red");
    Answer answer = settled(a.get("k"));
    assertThat(answer.error).hasRootCauseMessage(Objects.requireNonNull(rootMessage(answer)));
    assertThat(rootMessage(answer)).contains("tagLag");
  }

  private static String rootMessage(Answer answer) {
    Throwable cause = Objects.requireNonNull(answer.error);
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    return String.valueOf(cause.getMessage());
  }

  @Test
  void tagOutOfRange_isRefused() {
    Node a = lagged("a");
    for (String tag : List.of("", "x".repeat(256), "\ud800")) {
      assertThatIllegalArgumentException().isThrownBy(() -> a.cache.invalidateTagAsync(tag));
    }
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                a.cache
                    .options()
                    .tags(
                        "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14",
                        "15", "16", "17"))
        .withMessageContaining("16");
  }
}
