/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class CallOptionsTest {
  private static final Otherwise<Long, String> FALLBACK = Otherwise.fallback(key -> "");

  private static CallOptions<Long, String> defaults() {
    return CallOptions.of(new CacheBuilderTest.Opened<Long, String>().build(builder -> builder));
  }

  private static List<Object> state(CallOptions<?, ?> options) {
    return List.of(
        options.maxWait(),
        options.otherwise(),
        options.isStaleAllowed(),
        String.valueOf(options.timeToLive()),
        options.isMissExpected(),
        options.isBypassed());
  }

  @Test
  void defaults_areThoseOfTheCache() {
    CallOptions<Long, String> options = defaults();

    assertThat(options.maxWait()).isEqualTo(Duration.ofSeconds(5));
    assertThat(options.otherwise()).isEqualTo(Otherwise.fail());
    assertThat(options.isStaleAllowed()).isTrue();
    assertThat(options.timeToLive()).isNull();
    assertThat(options.isMissExpected()).isFalse();
    assertThat(options.isBypassed()).isFalse();
  }

  @Test
  void defaults_ofACacheWithItsOwn_areThose() {
    CallOptions<Long, String> options =
        CallOptions.of(
            new CacheBuilderTest.Opened<Long, String>()
                .build(
                    builder ->
                        builder
                            .maxWait(Duration.ofMillis(7))
                            .otherwise(FALLBACK)
                            .alwaysFresh()
                            .timeToLive(Duration.ofHours(1))));

    assertThat(options.maxWait()).isEqualTo(Duration.ofMillis(7));
    assertThat(options.otherwise()).isSameAs(FALLBACK);
    assertThat(options.isStaleAllowed()).isFalse();
    assertThat(options.timeToLive()).isNull();
  }

  static Stream<UnaryOperator<CallOptions<Long, String>>> changes() {
    return Stream.of(
        options -> options.maxWait(Duration.ofMillis(3)),
        options -> options.otherwise(FALLBACK),
        CallOptions::alwaysFresh,
        options -> options.timeToLive(Duration.ofMillis(4)),
        CallOptions::expectMiss,
        CallOptions::bypass);
  }

  @ParameterizedTest
  @MethodSource("changes")
  void change_isACopyInWhichOneThingDiffers(UnaryOperator<CallOptions<Long, String>> change) {
    CallOptions<Long, String> before = defaults();
    List<Object> stateBefore = state(before);

    CallOptions<Long, String> after = change.apply(before);

    assertThat(state(before)).isEqualTo(stateBefore);
    List<Object> stateAfter = state(after);
    int differences = 0;
    for (int i = 0; i < stateBefore.size(); i++) {
      if (!stateBefore.get(i).equals(stateAfter.get(i))) {
        differences++;
      }
    }
    assertThat(differences).isEqualTo(1);
  }

  @ParameterizedTest
  @MethodSource("changes")
  void change_afterAllOthers_keepsThem(UnaryOperator<CallOptions<Long, String>> last) {
    CallOptions<Long, String> all = defaults();
    for (UnaryOperator<CallOptions<Long, String>> change : changes().toList()) {
      all = change.apply(all);
    }

    assertThat(state(last.apply(all))).isEqualTo(state(all));
    assertThat(all.maxWait()).isEqualTo(Duration.ofMillis(3));
    assertThat(all.otherwise()).isSameAs(FALLBACK);
    assertThat(all.isStaleAllowed()).isFalse();
    assertThat(all.timeToLive()).isEqualTo(Duration.ofMillis(4));
    assertThat(all.isMissExpected()).isTrue();
    assertThat(all.isBypassed()).isTrue();
  }

  @Test
  void option_setTwice_isThatOfTheLastCall() {
    CallOptions<Long, String> options =
        defaults().maxWait(Duration.ofMillis(1)).maxWait(Duration.ofMillis(2));

    assertThat(options.maxWait()).isEqualTo(Duration.ofMillis(2));
    assertThat(options.alwaysFresh().allowStale().isStaleAllowed()).isTrue();
    assertThat(options.allowStale().alwaysFresh().isStaleAllowed()).isFalse();
  }

  @Test
  void maxWait_atItsEdges_isAccepted() {
    assertThat(defaults().maxWait(Duration.ZERO).maxWait()).isZero();
    assertThat(defaults().maxWait(Duration.ofDays(1)).maxWait()).isEqualTo(Duration.ofDays(1));
  }

  @Test
  void maxWait_beyondItsEdges_isRefused() {
    for (Duration beyond :
        List.of(
            Duration.ofNanos(-1),
            Duration.ofDays(1).plusNanos(1),
            Duration.ofSeconds(Long.MIN_VALUE),
            Duration.ofSeconds(Long.MAX_VALUE))) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> defaults().maxWait(beyond))
          .withMessageContaining("maxWait")
          .withMessageContaining(beyond.toString());
    }
  }

  @Test
  void timeToLive_atItsEdges_isAccepted() {
    for (Duration edge : List.of(Duration.ofMillis(1), Duration.ofDays(3650))) {
      assertThat(defaults().timeToLive(edge).timeToLive()).isEqualTo(edge);
    }
  }

  @Test
  void timeToLive_beyondItsEdges_isRefused() {
    for (Duration beyond :
        List.of(
            Duration.ZERO,
            Duration.ofMillis(1).minusNanos(1),
            Duration.ofMillis(-1),
            Duration.ofDays(3650).plusNanos(1),
            Duration.ofSeconds(Long.MAX_VALUE))) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> defaults().timeToLive(beyond))
          .withMessageContaining("timeToLive")
          .withMessageContaining(beyond.toString());
    }
  }

  @SuppressWarnings("NullAway") // What a caller without null checks may do.
  @Test
  void null_isRefused() {
    CallOptions<Long, String> options = defaults();

    assertThatNullPointerException().isThrownBy(() -> options.maxWait(null));
    assertThatNullPointerException().isThrownBy(() -> options.otherwise(null));
    assertThatNullPointerException().isThrownBy(() -> options.timeToLive(null));
  }
}
