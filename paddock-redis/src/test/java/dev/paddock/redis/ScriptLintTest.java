/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

final class ScriptLintTest {
  private static final String COMMON = LuaScripts.text("common.lua");
  private static final String RULES = LuaScripts.text("rules.lua");
  private static final String LEASE_COMMON = LuaScripts.text("lease_common.lua");
  private static final String LEASE_START = LuaScripts.text("lease_start.lua");
  private static final String REDLOCK_START = LEASE_START + LuaScripts.text("redlock_start.lua");
  private static final String REDLOCK_COMMON = LEASE_COMMON + LuaScripts.text("redlock_common.lua");
  private static final String REDLOCK_WHOLE = REDLOCK_START + REDLOCK_COMMON;
  private static final String HERE = "-- rules.lua\n";

  /** A script, what is put around it, and its own text. */
  record Sample(String name, String prelude, @Nullable String rules, String own, ScriptText whole) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Sample> scripts() {
    return Stream.of(
            Arrays.stream(Script.values())
                .map(
                    script -> new Sample(script.name(), COMMON, RULES, own(script), script.text())),
            Arrays.stream(LeaseScript.values()).map(ScriptLintTest::ofLeases),
            Arrays.stream(RedlockScript.values()).map(ScriptLintTest::ofRedlock))
        .flatMap(each -> each);
  }

  private static Sample ofLeases(LeaseScript script) {
    String own = own(script);
    return own.contains(HERE)
        ? new Sample(script.name(), LEASE_START, LEASE_COMMON, own, script.text())
        : new Sample(script.name(), LEASE_COMMON, null, own, script.text());
  }

  private static Sample ofRedlock(RedlockScript script) {
    String own = own(script);
    return own.contains(HERE)
        ? new Sample(script.name(), REDLOCK_START, REDLOCK_COMMON, own, script.text())
        : new Sample(script.name(), REDLOCK_WHOLE, null, own, script.text());
  }

  @Test
  void preludesAndRules_byThemselves_breakNoRule() {
    assertThat(ScriptLint.check(COMMON, RULES, "")).isEmpty();
    assertThat(ScriptLint.check(LEASE_COMMON, null, "")).isEmpty();
    assertThat(ScriptLint.check(LEASE_START, LEASE_COMMON, "")).isEmpty();
    assertThat(ScriptLint.check(REDLOCK_WHOLE, null, "")).isEmpty();
    assertThat(ScriptLint.check(REDLOCK_START, REDLOCK_COMMON, "")).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("scripts")
  void script_each_breaksNoRule(Sample script) {
    assertThat(ScriptLint.check(script.prelude(), script.rules(), script.own())).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("scripts")
  void script_each_saysItsContractFirst(Sample script) {
    String text = script.own();
    String header = text.substring(0, text.indexOf("\n\n"));

    assertThat(header.lines()).allMatch(line -> line.startsWith("--"));
    assertThat(header).contains("KEYS ", "Reply ", "Invariant ");
    assertThat(header.contains("ARGV ")).isEqualTo(text.contains("ARGV["));
    assertThat(header).contains("-- " + script.name() + ": ");
  }

  @ParameterizedTest
  @MethodSource("scripts")
  void script_each_isPreludeRulesAndOwnTextUnderOneSha1(Sample script) throws Exception {
    byte[] all =
        (script.prelude() + script.own().replace(HERE, String.valueOf(script.rules())))
            .getBytes(US_ASCII);

    assertThat(script.whole().bytes()).isEqualTo(all);
    assertThat(script.whole().sha1())
        .isEqualTo(
            java.util.HexFormat.of()
                .formatHex(java.security.MessageDigest.getInstance("SHA-1").digest(all)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "#!lua name=x",
        "return tostring(now)",
        "return string.format('%d', now)",
        "return string['format']('%d', now)",
        "return format('%08d%08d', 1, 2)",
        "local f = string.format return f('%d', now)",
        "return ('x'):rep(3)",
        "for key, value in pairs({}) do return key end",
        "for i, value in ipairs({}) do return i end",
        "return next({})",
        "return 'a' .. now",
        "return 'a' .. 1",
        "return 'a' .. (now + 1)",
        "local left = now return 'a' .. left",
        "local left = '1' left = now return left .. 'ms'",
        "local a, b = '1', now return b .. a",
        "for i = 1, 3 do error('a' .. i) end",
        "return 'a' .. floor(now)",
        "return answer(now)",
        "return record_of(NOBODY, now, NO_MILLIS, NO_MILLIS, '0')",
        "return redis.call('HSET', V, 'f', 'x')",
        "counter = 1",
        "function helper() return 1 end",
        "return unknown",
        "return redis.call('GET', 'x')",
        "return redis.call('GET', ARGV[1])",
        "return redis.call('GET', L .. 'x')",
        "return redis.call('KEYS', V)",
        "return redis.call(ARGV[1], V)",
        "return redis.call('MGET')",
        "return write('SET', V, 'x', 'PX', now)",
        "return write('SET', V, 'x', 'PX', 100)",
        "return read(...)",
        "local call = redis.call return call('GET', V)",
        "return redis['call']('GET', V)",
        "return redis.sha1hex('x')",
        "return KEYS[3]",
        "goto done ::done:: return 1",
        "return math.random(3)",
        "return os.time()",
      })
  void check_aBreakOfARule_isFound(String script) {
    if (script.startsWith("#!")) {
      assertThat(check("-- " + script + "\nreturn 1")).isNotEmpty();
    } else {
      assertThat(check(script)).isNotEmpty();
    }
  }

  @Test
  void check_aRuleUsedBeforeTheRules_isFound() {
    assertThat(ScriptLint.check(COMMON, RULES, "local n = number('1')\n" + HERE)).isNotEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "return redis.call('INFO')",
        "return redis.call('INFO', 'all')",
        "return redis.call('INFO', ARGV[1])",
        "return read('HGET', E, 1)",
        "return write('HSET', C, ARGV[1], now)",
      })
  void check_aBreakOfARuleByRedlock_isFound(String script) {
    assertThat(ScriptLint.check(REDLOCK_WHOLE, null, script)).isNotEmpty();
  }

  @Test
  void check_soundScript_isNotBlamed() {
    assertThat(
            check(
                """
                local left = decimal(now, 16)
                write('SET', L, left .. '-' .. ARGV[1] .. clock[1], 'PX', plain(now))
                return answer('OK') .. left
                """))
        .isEmpty();
  }

  private static List<String> check(String script) {
    return ScriptLint.check(COMMON, RULES, HERE + script);
  }

  private static String own(Enum<?> script) {
    return LuaScripts.text(script.name().toLowerCase(Locale.ROOT) + ".lua");
  }
}
