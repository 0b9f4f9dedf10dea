/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.redis.RedisReplyException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The model's commands do, and its scripts read, what those of a real server do: the same seeded
 * choice on both, errors compared to the letter. {@code -Dpaddock.model.seed=N} replays one. What
 * is compared with other servers, too, is in {@link ModelAgainstServersIT}.
 */
final class ModelAgainstRedisIT {
  private static final long SEED =
      Long.getLong("paddock.model.seed", new SplittableRandom().nextLong());
  private static final int COMMANDS = Integer.getInteger("paddock.model.commands", 3000);
  private static RedisServerProcess server;

  @BeforeAll
  static void startServer() {
    server = RedisServerProcess.start();
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  @Test
  void commands_randomOnFewKeys_answerAlike() {
    SplittableRandom random = new SplittableRandom(SEED);
    InMemoryRedis model = new InMemoryRedis(new VirtualEnvironment(SEED));
    RedisCommands real = server.console();
    real.command("FLUSHALL");
    StringBuilder history = new StringBuilder();
    for (int i = 0; i < COMMANDS; i++) {
      List<Object> words = command(random);
      Function<RedisConsole, String> run =
          random.nextInt(3) == 0
              ? console -> answer(console, inScript(words))
              : console -> answer(console, words.toArray());
      String expected = run.apply(real);
      String actual = run.apply(model);
      history.append('\n').append(words).append(" -> ").append(expected);
      assertThat(actual)
          .as(
              () ->
                  "seed "
                      + SEED
                      + ", the last commands: "
                      + history.substring(Math.max(0, history.length() - 3000)))
          .isEqualTo(expected);
    }
  }

  @Test
  void scripts_numbersAndErrors_readAlike() {
    List<String> expressions = new ArrayList<>();
    SplittableRandom random = new SplittableRandom(SEED);
    String[] formats = {
      "%d",
      "%i",
      "%5d",
      "%-5d|",
      "%05d",
      "%+d",
      "% d",
      "%.3d",
      "%8.3d|",
      "%x",
      "%X",
      "%#x",
      "%o",
      "%#o",
      "%f",
      "%.0f",
      "%.3f",
      "%10.2f|",
      "%-10.2f|",
      "%010.2f",
      "%+.1f",
      "%e",
      "%.0e",
      "%.10e",
      "%E",
      "%g",
      "%.3g",
      "%.14g",
      "%.17g",
      "%#g",
      "%G",
      "%s",
      "%016.0f",
      "%5s|",
      "%-5s|",
      "%.2s|"
    };
    for (int i = 0; i < 1500; i++) {
      String number = number(random);
      if (random.nextInt(4) == 0) {
        expressions.add("tostring(" + number + ")");
      } else {
        String format = formats[random.nextInt(formats.length)];
        if (Math.abs(Double.parseDouble(number)) >= 9e18
            && "dixXo".indexOf(format.charAt(format.replace("|", "").length() - 1)) >= 0) {
          // Undefined in C.
          continue;
        }
        if ("xXo".indexOf(format.charAt(format.length() - 1)) >= 0 && number.startsWith("-")) {
          continue;
        }
        expressions.add("string.format('" + format + "', " + number + ")");
      }
    }
    for (String text :
        new String[] {
          "12",
          " 12 ",
          "0012",
          "1e3",
          "0x10",
          "-0x10",
          "0x",
          "",
          " ",
          "1 2",
          "12a",
          "nan",
          "-nan",
          "inf",
          "-inf",
          "infinity",
          "+5",
          "- 5",
          "1e",
          ".5",
          "5.",
          ".",
          "1e400",
          "0x1p4",
          "1_000",
          "9007199254740993",
          "\\0",
          "12\\0",
          "\\n7\\n"
        }) {
      expressions.add("tostring(tonumber('" + text + "'))");
    }
    for (String other :
        new String[] {
          "tostring(tonumber('ff', 16))",
          "tostring(tonumber('0xff', 16))",
          "tostring(tonumber('zz', 36))",
          "tostring(tonumber('8', 8))",
          "tostring(tonumber('10', 10))",
          "tostring(tonumber({}))",
          "tostring(7 % 3) .. tostring(-7 % 3) .. tostring(5.5 % 2)",
          "tostring(math.floor(-2.5)) .. tostring(math.floor(1e15 / 7))",
          "tostring(2^53) .. tostring(2^53 + 1)",
          "tostring('10' + 5) .. tostring('0x10' * 2)",
          "string.rep('ab', 3) .. string.sub('hello', -3, -2) .. string.upper('\\233x')",
          "string.format('%c%c%%', 65, 255)",
          "table.concat({1, 'a', 2.5, 1e15}, ',')",
          "tostring(#'\\0\\255') .. string.byte('\\255')",
          "tostring(string.find('a.b', '.', 1, true)) .. tostring(string.find('abc', '[0-9]'))",
          "tostring(select('#', unpack({1, 2, 3})))",
          "type(redis.pcall('GET'))",
          "redis.pcall('GET').err",
          "redis.pcall('NOSUCH').err",
          "redis.pcall('SET', KEYS[1], {}).err",
          "tostring(pcall(error))",
          "tostring(select(2, pcall(error, 'x', 0)))",
          "tostring(select(2, pcall(error, {err = 'E x'})))",
          "tostring(select(2, pcall(redis.call, 'HGET', KEYS[1], 'f')))",
          "redis.sha1hex('abc')"
        }) {
      expressions.add(other);
    }
    InMemoryRedis model = new InMemoryRedis(new VirtualEnvironment(SEED));
    model.command("SET", "k", "v");
    server.console().command("FLUSHALL");
    server.console().command("SET", "k", "v");
    for (String each : expressions) {
      String script = "return " + each;
      assertThat(answer(model, "EVAL", script, 1, "k"))
          .as(each)
          .isEqualTo(answer(server.console(), "EVAL", script, 1, "k"));
    }
  }

  @Test
  void scripts_thatFail_haveTheirCodeInTheSamePlace() {
    String[] bodies = {
      "return redis.call('HGET', KEYS[1], 'f')",
      "return redis.pcall('HGET', KEYS[1], 'f')",
      "error('PARTIAL something', 0)",
      "error({err = 'OWN code'})",
      "return redis.error_reply('OWN code')",
      "return {err = 'OWN code'}",
      "return {ok = 'FINE'}",
      "redis.call('SET', KEYS[1], 'w') return redis.call('HGET', KEYS[1], 'f')",
      "return {1, 2.9, 'a', nil, 'b'}",
      "return {true, false}",
      "return nil",
      "return {{'a'}, {}}",
      "x = 1",
      "return x",
      "return string.format('%s', true)",
    };
    InMemoryRedis model = new InMemoryRedis(new VirtualEnvironment(SEED));
    server.console().command("FLUSHALL");
    for (boolean full : new boolean[] {false, true}) {
      for (RedisConsole each : List.of(model, server.console())) {
        each.command("CONFIG", "SET", "maxmemory", "0");
        each.command("SET", "k", "v");
        each.command("CONFIG", "SET", "maxmemory", full ? "1" : "0");
      }
      for (String body : bodies) {
        String real = answer(server.console(), "EVAL", body, 1, "k");
        assertThat(code(answer(model, "EVAL", body, 1, "k"))).as(body).isEqualTo(code(real));
      }
    }
    server.console().command("CONFIG", "SET", "maxmemory", "0");
  }

  /** What a client looks at: the code, and what stands before the position. */
  private static String code(String answer) {
    return answer
        .replaceAll(" script: .*", "")
        .replaceAll("@?user_script:\\d+:? ", "")
        .replaceAll("ERR .*variable.*", "ERR ...");
  }

  private static String number(SplittableRandom random) {
    double value =
        switch (random.nextInt(7)) {
          case 0 -> random.nextInt(-1000, 1000);
          case 1 -> random.nextLong(1_000_000_000_000_000L);
          case 2 -> random.nextLong(-(1L << 60), 1L << 60);
          case 3 -> random.nextDouble();
          case 4 -> random.nextDouble() * Math.pow(10, random.nextInt(-30, 30));
          case 5 -> random.nextInt(1000) / 8.0;
          default -> (1L << random.nextInt(60)) + random.nextInt(3) - 1;
        };
    return Double.toString(value);
  }

  @Test
  void info_fieldsThatScriptsRead_lookAlikeOnItsOwnAndInAScript() {
    InMemoryRedis model = new InMemoryRedis(new VirtualEnvironment(SEED));
    for (String[] each :
        new String[][] {
          {"server", "run_id:[0-9a-f]{40}\r\n"},
          {"server", "uptime_in_seconds:[0-9]+\r\n"},
          {"server", "redis_mode:standalone\r\n"},
          {"memory", "maxmemory_policy:noeviction\r\n"}
        }) {
      for (RedisConsole console : List.of(model, server.console())) {
        assertThat(console.text("INFO", each[0])).containsPattern(each[1]);
        assertThat(console.text("EVAL", "return redis.call('INFO', ARGV[1])", 0, each[0]))
            .containsPattern(each[1]);
      }
    }
  }

  private static Object[] inScript(List<Object> words) {
    List<Object> all = new ArrayList<>();
    all.add("EVAL");
    all.add(
        "local r = redis.pcall(unpack(ARGV)) "
            + "if type(r) == 'table' and r.err then return {'error', r.err} end "
            + "if type(r) == 'table' and r.ok then return {'status', r.ok} end "
            + "if r == false then return {'nil'} end "
            // What C makes of a number of 2^63 and more is not defined.
            + "if type(r) == 'number' then return {'number', string.format('%.17g', r)} end "
            + "return {type(r), r}");
    all.add(3);
    all.addAll(List.of("{k}1", "{k}2", "{k}3"));
    all.addAll(words);
    return all.toArray();
  }

  private static List<Object> command(SplittableRandom random) {
    String key = "{k}" + (1 + random.nextInt(3));
    String value = value(random);
    String field = "f" + random.nextInt(3);
    Object number = value(random);
    return switch (random.nextInt(29)) {
      case 27 -> List.of("HINCRBY", key, field, number);
      case 0 -> List.of("SET", key, value);
      case 1 -> List.of("SET", key, value, "PX", ttl(random));
      case 2 -> List.of("SET", key, value, "KEEPTTL");
      case 3 -> List.of("SET", key, value, random.nextBoolean() ? "NX" : "XX", "GET");
      case 4 -> List.of("SET", key, value, "PX", "100000000", "KEEPTTL");
      case 5 -> List.of("GET", key);
      case 6 -> List.of("GETRANGE", key, number, value(random));
      case 7 -> List.of("SETRANGE", key, random.nextInt(-2, 30), value);
      case 8 -> List.of("APPEND", key, value);
      case 9 -> List.of("STRLEN", key);
      case 10 -> List.of("INCR", key);
      case 11 -> List.of("INCRBY", key, number);
      case 12 -> List.of("DEL", key, "{k}1");
      case 13 -> List.of("EXISTS", key, "{k}1", "{k}1");
      case 14 -> List.of("TYPE", key);
      case 15 -> List.of("HSET", key, field, value);
      case 16 -> List.of("HSET", key, field, value, "f9", "x");
      case 17 -> List.of("HSET", key, field, value, "odd");
      case 18 -> List.of("HGET", key, field);
      case 19 -> List.of("HMGET", key, field, "f9", "none");
      case 20 -> List.of("HDEL", key, field, "f9");
      case 21 -> List.of("HEXISTS", key, field);
      case 22 -> List.of("HLEN", key);
      case 23 -> List.of("PEXPIRE", key, ttl(random));
      case 24 ->
          List.of(
              "PEXPIRE",
              key,
              // Never so near to another that the real server's time, going on, would decide.
              random.nextLong(100_000_000, 1_000_000_000_000L),
              pick(random, "NX", "XX", "GT", "LT"));
      case 25 -> List.of("PERSIST", key);
      case 26 -> List.of("RPUSH", key, value);
      default ->
          switch (random.nextInt(5)) {
            case 0 -> List.of("GET");
            case 1 -> List.of("NOSUCHCOMMAND", key);
            case 2 -> List.of("SET", key, value, "PX");
            case 3 -> List.of("SET", key, value, "SOON");
            default -> List.of("PEXPIRE", key, value(random), "SOON");
          };
    };
  }

  private static String value(SplittableRandom random) {
    return pick(
        random,
        "0",
        "1",
        "-1",
        "7",
        "007",
        "+7",
        " 7",
        "12",
        "-12",
        "x",
        "",
        "2.5",
        "1e3",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "hello world");
  }

  private static String ttl(SplittableRandom random) {
    return pick(
        random, "100000000", "200000000", "0", "-1", "x", "0100", "9223372036854775807", "1e9");
  }

  private static String pick(SplittableRandom random, String... from) {
    return from[random.nextInt(from.length)];
  }

  static String answer(RedisConsole console, Object... words) {
    try {
      return shown(console.command(words));
    } catch (RedisReplyException e) {
      return "error " + e.getMessage();
    }
  }

  private static String shown(@Nullable Object reply) {
    if (reply instanceof byte[] bytes) {
      return "\"" + new String(bytes, ISO_8859_1) + "\"";
    }
    if (reply instanceof List<?> items) {
      return items.stream().map(ModelAgainstRedisIT::shown).toList().toString();
    }
    return reply + (reply instanceof String ? " (status)" : "");
  }
}
