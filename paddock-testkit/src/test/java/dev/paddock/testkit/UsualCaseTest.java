/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.redis.RedisReplyException;
import dev.paddock.redis.ScriptCatalog;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The scripts of Redlock that try the usual case before they go by the rules: from whatever there
 * is on a server, the rules alone would have come to the same.
 */
final class UsualCaseTest {
  private static final int STATES = 6_000;
  private static final String USUAL = "if votes_for == fingerprint and";
  private static final String RUN = "0123456789abcdef0123456789abcdef01234567";
  private static final String OWNER = "a".repeat(32);
  private static final String GROUP = "f".repeat(32);
  private static final long NOW_MICROS = 1_767_225_600_123_456L;
  private static final String[] TOKENS = {
    "1767225600000000",
    "1767225600000000",
    "1767225600000009",
    "1767225600000010",
    "8999999999999999",
    "9999999999999999",
    "-123456789012345",
    "9007199254740993",
    "9223372036854775807",
    "0",
    "1",
    "x"
  };

  private final VirtualEnvironment env = new VirtualEnvironment(7);
  private final byte[][] keys = ScriptCatalog.redlockKeys("name");
  private SplittableRandom random = new SplittableRandom();

  @SafeVarargs
  private <T> T pick(T... from) {
    return from[random.nextInt(from.length)];
  }

  private boolean seldom() {
    return random.nextInt(8) == 0;
  }

  private static String wide(String token) {
    return token.matches("[0-9]+") ? "0".repeat(Math.max(0, 19 - token.length())) + token : token;
  }

  /** What a server has: the same commands make it on another. */
  private List<Object[]> state() {
    List<Object[]> made = new ArrayList<>();
    if (!seldom()) {
      made.add(new Object[] {"HSET", keys[2], "r", seldom() ? pick("", "0".repeat(40)) : RUN});
    }
    if (!seldom()) {
      made.add(new Object[] {"HSET", keys[2], "f", seldom() ? "0".repeat(32) : GROUP});
    }
    if (!seldom()) {
      made.add(new Object[] {"HSET", keys[1], "5", pick(TOKENS)});
    }
    if (random.nextInt(3) > 0) {
      made.add(
          new Object[] {
            "HSET",
            keys[0],
            "o",
            pick(OWNER, "b".repeat(32)),
            "q",
            pick("", "1"),
            "g",
            seldom() ? pick("", "1") : wide(pick(TOKENS))
          });
      if (seldom()) {
        made.add(new Object[] {"HDEL", keys[0], pick("o", "g", "q")});
      }
      if (!seldom()) {
        made.add(new Object[] {"PEXPIRE", keys[0], pick("100", "30000")});
      }
    }
    if (seldom()) {
      byte[] key = pick(keys);
      made.add(new Object[] {"DEL", key});
      made.add(new Object[] {"SET", key, pick("", "7")});
    }
    return made;
  }

  private Object[] arguments(String script) {
    String group = seldom() ? "0".repeat(32) : GROUP;
    String token = seldom() ? pick("", "0", "1".repeat(20)) : pick(TOKENS);
    if (script.equals("REDLOCK_COMMIT")) {
      return new Object[] {OWNER, seldom() ? wide(token) : token, "5", group};
    }
    long notAfter = NOW_MICROS / 1000 + random.nextInt(-2, 6);
    return new Object[] {
      OWNER,
      seldom() ? "0000000000005000" : "5000",
      String.format(Locale.ROOT, "%016d", notAfter),
      pick("NOBODY", "REQUESTER", "OTHERS"),
      "5",
      group
    };
  }

  private String outcome(String script, Object[] args, List<Object[]> state, boolean full) {
    InMemoryRedis server = new InMemoryRedis(env);
    server.impersonate(RUN, 0, "standalone");
    for (Object[] each : state) {
      server.command(each);
    }
    server.setOutOfMemory(full);
    server.setClockMicros(NOW_MICROS);
    List<Object> words = new ArrayList<>(List.of("EVAL", script, 3));
    words.addAll(List.of(keys));
    words.addAll(List.of(args));
    String reply;
    try {
      reply = shown(server.command(words.toArray()));
    } catch (RedisReplyException e) {
      // After that it says which script it was.
      reply = String.valueOf(e.getMessage()).replaceFirst(" script: .*", "");
    }
    return reply + " " + server.snapshot();
  }

  private static String shown(@Nullable Object reply) {
    return reply instanceof List<?> items
        ? items.stream().map(UsualCaseTest::shown).collect(Collectors.joining(" "))
        : reply instanceof byte[] bytes ? new String(bytes, ISO_8859_1) : "?" + reply;
  }

  @ParameterizedTest
  @ValueSource(strings = {"REDLOCK_ACQUIRE", "REDLOCK_COMMIT"})
  void script_withoutItsUsualCase_comesToTheSame(String name) {
    String whole = new String(ScriptCatalog.texts().get(name), ISO_8859_1);
    assertThat(whole.split(Pattern.quote(USUAL), -1)).hasSize(2);
    String rules = whole.replace(USUAL, "if false and");
    int usual = 0;
    for (int seed = 1; seed <= STATES; seed++) {
      random = new SplittableRandom(seed);
      List<Object[]> state = state();
      Object[] args = arguments(name);
      boolean full = seldom();
      String outcome = outcome(whole, args, state, full);
      assertThat(outcome).as("seed %s", seed).isEqualTo(outcome(rules, args, state, full));
      usual += outcome.startsWith("GRANTED") || outcome.startsWith("OK") ? 1 : 0;
    }
    assertThat(usual).isGreaterThan(STATES / 50);
  }
}
