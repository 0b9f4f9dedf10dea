/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.redis.RedisFillStore;
import dev.paddock.redis.RedisReplyException;
import dev.paddock.spi.AcquireReply;
import dev.paddock.spi.AcquireRequest;
import dev.paddock.spi.FillRequest;
import dev.paddock.spi.FillStore;
import dev.paddock.spi.ReadReply;
import dev.paddock.spi.StoreKey;
import dev.paddock.spi.StoreOptions;
import dev.paddock.spi.StoredEntry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The model does what a real server does: the same seeded sequences on both. {@code
 * -Dpaddock.model.seed=N} replays one.
 */
final class ModelAgainstRedisIT {
  private static final long SEED =
      Long.getLong("paddock.model.seed", new SplittableRandom().nextLong());
  private static final int SEQUENCES = Integer.getInteger("paddock.model.sequences", 20);
  private static final int OPERATIONS = 60;
  private static final int COMMANDS = Integer.getInteger("paddock.model.commands", 3000);
  private static final long LONG = 3_600_000;
  private static final long GRACE = 4 * LONG;
  private static final long SHORT = 30;
  private static final Duration MORE_THAN_SHORT = Duration.ofMillis(SHORT + 20);

  /** A real server's time goes on between two commands. */
  private static final long SLACK = LONG / 4;

  private static final StoreOptions OPTIONS =
      new StoreOptions(Duration.ofSeconds(60), Duration.ofSeconds(60));

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
  void operations_randomSequences_endAlike() {
    for (int i = 0; i < SEQUENCES; i++) {
      new Sequence(SEED + i).run();
    }
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
    return switch (random.nextInt(28)) {
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

  private static String answer(RedisConsole console, Object... words) {
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

  /** One sequence of a store's operations, on both servers in step. */
  private static final class Sequence {
    private final long seed;
    private final SplittableRandom random;
    private final InMemoryHarness model;
    private final RedisServerHarness real;
    private final FillStore onModel;
    private final FillStore onReal;
    private final List<StoreKey> keys = List.of(StoreKey.of("m:c:1"), StoreKey.of("m:c:{2"));
    private final List<Lease> leases = new ArrayList<>();
    private final List<String> history = new ArrayList<>();
    private long lastEpoch;

    private record Lease(StoreKey key, String owner, long epoch, long seq) {}

    Sequence(long seed) {
      this.seed = seed;
      this.random = new SplittableRandom(seed);
      this.model = new InMemoryHarness(seed);
      this.real =
          new RedisServerHarness(
              server,
              environment ->
                  RedisFillStore.open(
                      new SocketRedisTransport(server.port()), environment, OPTIONS));
      this.onModel = model.open(model.environment());
      this.onReal = real.open(real.environment());
    }

    void run() {
      try {
        for (int i = 0; i < OPERATIONS; i++) {
          step();
          compareKeys();
        }
      } finally {
        onModel.close();
        onReal.close();
        model.close();
        real.close();
      }
    }

    private void step() {
      StoreKey key = keys.get(random.nextInt(keys.size()));
      String owner = Integer.toString(random.nextInt(4)).repeat(32);
      switch (random.nextInt(16)) {
        case 0, 1, 2, 3, 4 -> acquire(key, owner);
        case 5, 6, 7 -> fill();
        case 8 -> put(key);
        case 9 -> {
          long holdOff = pause();
          both("invalidate " + key + " " + holdOff, store -> store.invalidate(key, holdOff));
          passIfShort(holdOff);
        }
        case 10 -> {
          long holdOff = pause();
          both("expire " + key + " " + holdOff, store -> store.expire(key, holdOff));
          passIfShort(holdOff);
        }
        case 11 -> {
          long coolDown = pause();
          both(
              "release " + key + " " + owner.charAt(0) + " " + coolDown,
              store -> store.release(key, owner, coolDown, GRACE));
          passIfShort(coolDown);
        }
        case 12 -> extend();
        case 13 -> {
          both("read " + key, store -> store.read(key).thenApply(Sequence::shown));
          console("SCRIPT", "FLUSH");
        }
        case 14 -> console("CONFIG", "SET", "maxmemory", random.nextInt(3) == 0 ? "1" : "0");
        default -> garbage(key);
      }
    }

    private void acquire(StoreKey key, String owner) {
      long lease = random.nextInt(4) == 0 ? SHORT : LONG;
      AcquireRequest.Mode[] modes = AcquireRequest.Mode.values();
      AcquireRequest.Mode mode = modes[random.nextInt(modes.length)];
      boolean degraded = random.nextInt(4) == 0;
      long epoch = ++lastEpoch << 53 | lastEpoch;
      AcquireReply reply =
          both(
              "acquire " + key + " " + owner.charAt(0) + " " + lease + " " + mode + " " + degraded,
              store -> {
                boolean first = store == onModel;
                ReadReply read = first ? model.await(store.read(key)) : real.await(store.read(key));
                StoredEntry seen =
                    read instanceof ReadReply.Found found
                        ? found.entry()
                        : new StoredEntry(false, false, 1, 1, 1, 0, 0, 1, new byte[0]);
                return store.acquire(
                    new AcquireRequest(
                        key, owner, lease, GRACE, epoch, mode, degraded, seen, 60 * LONG));
              },
              reply1 ->
                  reply1.status()
                      + " "
                      + reply1.epoch()
                      + " "
                      + reply1.seq()
                      + " "
                      + (reply1.leftMillis() > 0)
                      + " "
                      + reply1.unreadable()
                      + " "
                      + shown(reply1.entry()));
      if (reply.granted() || reply.status() == AcquireReply.Status.DEGRADED) {
        leases.add(new Lease(key, owner, reply.epoch(), reply.seq()));
      }
      passIfShort(lease);
    }

    private void fill() {
      if (leases.isEmpty()) {
        return;
      }
      int back = Math.min(leases.size(), 4);
      Lease lease = leases.get(leases.size() - 1 - random.nextInt(back));
      StoredEntry entry = entry(lease.epoch, lease.seq);
      both(
          "fill " + lease + " " + entry.softExpiryMillis(),
          store -> store.fill(new FillRequest(lease.key, lease.owner, entry, LONG)));
    }

    private void put(StoreKey key) {
      StoredEntry entry = entry(StoredEntry.NO_EPOCH, 0);
      both("put " + key, store -> store.put(key, entry, 2 * LONG, 60 * LONG));
    }

    private void extend() {
      if (leases.isEmpty()) {
        return;
      }
      Lease lease = leases.get(random.nextInt(leases.size()));
      long length = random.nextBoolean() ? LONG : 2 * LONG;
      both(
          "extend " + lease,
          store -> store.extend(lease.key, lease.owner, lease.epoch, length, GRACE));
    }

    private void garbage(StoreKey key) {
      console("CONFIG", "SET", "maxmemory", "0");
      console("DEL", key.bytes());
      switch (random.nextInt(3)) {
        case 0 -> console("SET", key.bytes(), "PDK1 not quite", "PX", LONG);
        case 1 -> console("RPUSH", key.bytes(), "x");
        default -> console("HSET", key.bytes(), "o", "x");
      }
    }

    private StoredEntry entry(long epoch, long seq) {
      long soft = random.nextInt(3) == 0 ? 1_000_000_000_000L : 4_000_000_000_000L;
      byte[] payload = new byte[random.nextInt(20)];
      random.nextBytes(payload);
      return new StoredEntry(false, random.nextBoolean(), soft, 5, 6, epoch, seq, 7, payload);
    }

    private long pause() {
      return random.nextInt(3) == 0 ? SHORT : random.nextInt(3) == 0 ? LONG : 0;
    }

    private void passIfShort(long millis) {
      if (millis == SHORT) {
        model.passTime(MORE_THAN_SHORT);
        real.passTime(MORE_THAN_SHORT);
      }
    }

    private void console(Object... words) {
      history.add(List.of(words).toString());
      assertThat(answer(model.console(), words))
          .as(this::described)
          .isEqualTo(answer(real.console(), words));
    }

    private <T extends @Nullable Object> T both(
        String what, Function<FillStore, CompletionStage<T>> operation) {
      return both(what, operation, String::valueOf);
    }

    private <T extends @Nullable Object> T both(
        String what, Function<FillStore, CompletionStage<T>> operation, Function<T, String> show) {
      T expected = real.await(operation.apply(onReal));
      T actual = model.await(operation.apply(onModel));
      history.add(what + " -> " + show.apply(expected));
      assertThat(show.apply(actual)).as(this::described).isEqualTo(show.apply(expected));
      return actual;
    }

    private void compareKeys() {
      assertThat(shape(model)).as(this::described).isEqualTo(shape(real));
      Map<StoreKey, KeyState> onServer = real.console().snapshot();
      model
          .console()
          .snapshot()
          .forEach(
              (name, state) -> {
                KeyState other = onServer.get(name);
                assertThat(other).as(this::described).isNotNull();
                if (other != null) {
                  assertThat(state.ttlMillis())
                      .as(this::described)
                      .isBetween(other.ttlMillis() - SLACK, other.ttlMillis() + SLACK);
                }
              });
    }

    /** The keys without what depends on the moment. */
    private static Map<String, String> shape(FillStoreHarness harness) {
      Map<String, String> all = new TreeMap<>();
      harness
          .console()
          .snapshot()
          .forEach(
              (name, state) -> {
                Map<String, String> fields = new TreeMap<>(state.fields());
                fields.computeIfPresent("d", (f, value) -> value.replaceAll("[0-9]", "9"));
                fields.computeIfPresent("h", (f, value) -> value.replaceAll("[0-9]", "9"));
                String string = state.string();
                if (string != null && string.length() > 31) {
                  // The soft expiry may be the moment of an expire.
                  string = string.substring(0, 15) + string.substring(31);
                }
                all.put(
                    new String(name.bytes(), UTF_8),
                    state.type() + " " + string + " " + fields + " " + (state.ttlMillis() == -1));
              });
      return all;
    }

    private static String shown(ReadReply reply) {
      return reply instanceof ReadReply.Found found ? shown(found.entry()) : reply.toString();
    }

    private static String shown(@Nullable StoredEntry entry) {
      if (entry == null) {
        return "no entry";
      }
      // The moment of an expire differs; those of entry(...) don't.
      boolean moment = entry.softExpiryMillis() % 1_000_000_000L != 0;
      return (moment ? "expired" : entry.softExpiryMillis())
          + " "
          + Long.toHexString(entry.epoch())
          + " "
          + entry.seq()
          + " "
          + entry.compressed()
          + " "
          + new String(entry.payload(), ISO_8859_1);
    }

    private String described() {
      return "seed " + seed + ": " + String.join("\n  ", history);
    }
  }
}
