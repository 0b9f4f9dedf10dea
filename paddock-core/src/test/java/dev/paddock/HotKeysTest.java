/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.paddock.CacheEvent.LoadEnd;
import dev.paddock.CacheEvent.WaitEnd;
import dev.paddock.HotKeys.HotKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class HotKeysTest {
  private final HotKeys hotKeys = HotKeys.create();

  private static CacheEvent loaded(String key, long millis) {
    return new CacheEvent.LoadEnded("c", key, Duration.ofMillis(millis), LoadEnd.LOADED);
  }

  private static CacheEvent waited(String key, long millis) {
    return new CacheEvent.WaitEnded("c", key, Duration.ofMillis(millis), WaitEnd.ANSWERED);
  }

  private static CacheEvent contended(String key) {
    return new CacheEvent.LeaseContended("c", key, Duration.ofMillis(1));
  }

  @Test
  void eachList_hasItsOwnOrder_andOnlyWhatHappened() {
    for (CacheEvent event :
        List.of(
            loaded("a", 5),
            loaded("b", 1),
            loaded("b", 1),
            waited("a", 3),
            waited("a", 3),
            waited("c", 10),
            contended("c"),
            contended("c"),
            contended("a"),
            new CacheEvent.Hit("c", "hit", false))) {
      hotKeys.onEvent(event);
    }
    assertThat(hotKeys.mostLoaded(10)).extracting(HotKey::key).containsExactly("b", "a");
    assertThat(hotKeys.mostWaitedFor(10)).extracting(HotKey::key).containsExactly("c", "a");
    assertThat(hotKeys.mostContended(10)).extracting(HotKey::key).containsExactly("c", "a");
    assertThat(hotKeys.mostContended(1)).extracting(HotKey::key).containsExactly("c");
    assertThat(hotKeys.mostLoaded(10).get(1))
        .isEqualTo(new HotKey("c", "a", 1, Duration.ofMillis(5), 2, Duration.ofMillis(6), 1));
  }

  @Test
  void keysOfTheSameName_inTwoCaches_areTwo() {
    hotKeys.onEvent(new CacheEvent.LeaseContended("one", "k", Duration.ZERO));
    hotKeys.onEvent(new CacheEvent.LeaseContended("two", "k", Duration.ZERO));
    assertThat(hotKeys.mostContended(5)).extracting(HotKey::cache).containsExactly("one", "two");
  }

  @Test
  void hotKeysAmongManyMoreThanItFollows_areFound() {
    HotKeys small = HotKeys.create(500);
    SplittableRandom random = new SplittableRandom(1);
    List<String> hot = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      hot.add("hot" + i);
    }
    int[] times = new int[10];
    for (int i = 0; i < 100_000; i++) {
      if (random.nextInt(20) == 0) {
        int key = random.nextInt(10);
        times[key]++;
        small.onEvent(loaded(hot.get(key), 1));
      } else {
        small.onEvent(loaded("cold" + i, 1));
      }
    }
    List<HotKey> top = small.mostLoaded(10);
    assertThat(top).extracting(HotKey::key).containsExactlyInAnyOrderElementsOf(hot);
    for (HotKey key : top) {
      int happened = times[Integer.parseInt(key.key().substring(3))];
      assertThat(key.loads()).isBetween(happened * 9L / 10, (long) happened);
    }
    assertThat(small.mostLoaded(1_000)).hasSizeLessThanOrEqualTo(500);
  }

  @Test
  void reset_forgetsEverything() {
    hotKeys.onEvent(loaded("a", 5));
    hotKeys.reset();
    assertThat(hotKeys.mostLoaded(1)).isEmpty();
    hotKeys.onEvent(loaded("a", 5));
    assertThat(hotKeys.mostLoaded(1).get(0).loads()).isEqualTo(1);
  }

  @Test
  void numbersOutOfRange_areRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> HotKeys.create(0))
        .withMessageContaining("trackedKeys")
        .withMessageContaining("0");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> hotKeys.mostLoaded(0))
        .withMessageContaining("most");
  }
}
