/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

final class ScriptLintTest {
  private static final String COMMON = LuaScripts.text("common.lua");

  @Test
  void prelude_byItself_breaksNoRule() {
    assertThat(ScriptLint.check(COMMON, "")).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(Script.class)
  void script_eachOfTheSix_breaksNoRule(Script script) {
    assertThat(ScriptLint.check(COMMON, own(script))).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(Script.class)
  void script_eachOfTheSix_saysItsContractFirst(Script script) {
    String text = own(script);
    String header = text.substring(0, text.indexOf("\n\n"));

    assertThat(header.lines()).allMatch(line -> line.startsWith("--"));
    assertThat(header).contains("KEYS ", "ARGV ", "Reply ", "Invariant ");
    assertThat(header).contains("-- " + script.name() + ": ");
  }

  @ParameterizedTest
  @EnumSource(Script.class)
  void script_eachOfTheSix_isPreludeAndOwnTextUnderOneSha1(Script script) throws Exception {
    byte[] all = (COMMON + own(script)).getBytes(US_ASCII);

    assertThat(script.text()).isEqualTo(all);
    assertThat(script.sha1())
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
      assertThat(ScriptLint.check(COMMON, "-- " + script + "\nreturn 1")).isNotEmpty();
    } else {
      assertThat(ScriptLint.check(COMMON, script)).isNotEmpty();
    }
  }

  @Test
  void check_soundScript_isNotBlamed() {
    assertThat(
            ScriptLint.check(
                COMMON,
                """
                local left = decimal(now, 16)
                write('HSET', L, 'a', left .. '-' .. ARGV[1], 'b', plain(now))
                return {'OK', left}
                """))
        .isEmpty();
  }

  private static String own(Script script) {
    return LuaScripts.text(script.name().toLowerCase(Locale.ROOT) + ".lua");
  }
}
