/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.redis.RedisReplyException;
import dev.paddock.redis.ScriptCatalog;
import dev.paddock.spi.HintSubscription;
import dev.paddock.spi.StoreKey;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One random sequence of scripts and raw commands, on the model and on real servers in step. After
 * each of them replies, hints and all keys must be the same to the byte.
 *
 * <p>Clocks: the real server goes first. Its reply says what it took for now, or a token that it
 * drew does, so the model does the same at the very same microsecond. What is measured by the
 * server at some other moment of the command, a TTL, may differ by the time between two readings of
 * its clock, before the command and after it. Then the model's TTLs are set to the real ones, so
 * that such differences don't add up. No decision is ever near: before the next command the moments
 * at which something ends are let pass.
 */
final class ScriptSequence implements AutoCloseable {
  private static final long LONG = 3_600_000;
  private static final long SHORT = 15;
  private static final long NEAR = 5_000;
  private static final String NOBODY = "-".repeat(32);
  private static final String NO_EPOCH = "0".repeat(16);
  private static final String CHANGES = "pdk:changes:m:c:";
  private static final int HISTORY = 12;
  private static final Map<String, byte[]> SCRIPTS = ScriptCatalog.texts();
  private static final Pattern MARK = Pattern.compile("(?<![A-Za-z0-9_])(UNDONE|PARTIAL) ");
  private static final Pattern CODE =
      Pattern.compile(
          "(?<![A-Za-z0-9_])(WRONGTYPE|OOM|READONLY|NOPERM|NOSCRIPT|CROSSSLOT)(?![A-Za-z0-9_])");
  private static final Pattern MILLIS = Pattern.compile("[0-9]{16}");

  /** All keys of one node, at one moment. */
  private static final String LOOK =
      """
      local from = redis.call('TIME')
      local all = {}
      for _, key in ipairs(redis.call('KEYS', '*')) do
        local type = redis.call('TYPE', key).ok
        local ttl = redis.call('PTTL', key)
        local value = {}
        if type == 'string' then
          value = {redis.call('GET', key)}
        elseif type == 'hash' then
          value = redis.call('HGETALL', key)
        end
        if ttl ~= -2 then
          all[#all + 1] = {key, type, ttl, value}
        end
      end
      return {from, redis.call('TIME'), all}
      """;

  private static final String[] ODD = {
    "",
    " ",
    "x",
    "0",
    "00",
    "1",
    "7",
    "-1",
    "1.5",
    "1e3",
    "0x10",
    " 12",
    "12 ",
    "+5",
    "0100",
    "9999999999999999",
    "99999999999999999",
    "9223372036854775807",
    "9223372036854775808",
    "\0",
    "\u0001~",
    "NORMAL",
    "OTHERS",
    "0000000000000000",
    "ffffffffffffffff",
    "--------------------------------",
    "00000000000000000000000000000000",
    "{}",
    "a b",
    "%d%s%",
  };

  private final long seed;
  private final SplittableRandom random;
  private final RealServers real;
  private final Set<String> seen;
  private final VirtualEnvironment environment;
  private final InMemoryRedis model;
  private final List<String> history = new ArrayList<>();
  private final List<HintSubscription> subscriptions = new ArrayList<>();
  private final List<String> modelHints = new ArrayList<>();
  private final Map<RedisServerProcess, RedisCommands> listeners = new LinkedHashMap<>();

  private final List<byte[][]> values = new ArrayList<>();
  private final List<byte[][]> leases = new ArrayList<>();
  private final List<byte[][]> fenced = new ArrayList<>();
  private final List<byte[][]> groups = new ArrayList<>();
  private final List<byte[][]> all = new ArrayList<>();

  private final List<byte[]> broken = new ArrayList<>();
  private final List<Grant> grants = new ArrayList<>();
  private final List<String> tokens = new ArrayList<>(List.of("0000000000000000001"));
  private long uncertainMillis;
  private long nowMicros;
  private long slackMillis;
  private int troubleLeft;
  private boolean full;
  private boolean replica;
  private long lastEpoch;

  private record Grant(StoreKey key, String owner, String epoch, String seq) {
    byte[][] keys() {
      return ScriptCatalog.valueKeys(key.bytes());
    }
  }

  /** A key as both sides show it; the end is a moment, -1 for never. */
  private record Seen(
      String type, @Nullable String string, Map<String, String> fields, long ends) {}

  private record Look(long fromMicros, long toMicros, Map<StoreKey, Seen> keys) {
    long slackMillis() {
      return (toMicros - fromMicros) / 1000 + 1;
    }
  }

  ScriptSequence(long seed, RealServers real, Set<String> seen) {
    this.seed = seed;
    this.random = new SplittableRandom(seed);
    this.real = real;
    this.seen = seen;
    this.environment = new VirtualEnvironment(seed);
    this.model = new InMemoryRedis(environment);
    for (String each : new String[] {"m:c:1", "m:c:{2", "m:{x}:3"}) {
      values.add(ScriptCatalog.valueKeys(bytes(each)));
      fenced.add(ScriptCatalog.fenceKeys(bytes("paid:" + each)));
    }
    leases.add(ScriptCatalog.leaseKeys("job-a"));
    leases.add(ScriptCatalog.leaseKeys("job-b"));
    byte[] counter = leases.get(0)[1];
    leases.add(new byte[][] {bytes(text(counter) + ":other"), counter});
    groups.add(ScriptCatalog.redlockKeys("job-a"));
    groups.add(ScriptCatalog.redlockKeys("job-b"));
    for (List<byte[][]> each : List.of(values, leases, fenced, groups)) {
      all.addAll(each);
    }
    begin();
  }

  private void begin() {
    for (RedisServerProcess node : real.all()) {
      node.console().command("CONFIG", "SET", "maxmemory", "0");
      node.console().command("ACL", "SETUSER", "default", "allchannels");
      if (!real.isCluster()) {
        node.console().command("REPLICAOF", "NO", "ONE");
      }
      node.console().command("FLUSHALL");
      node.console().command("SCRIPT", "FLUSH");
    }
    RedisServerProcess voter = real.ownerOf(groups.get(0)[2]);
    String info = voter.console().text("INFO", "server");
    long uptime = Long.parseLong(field(info, "uptime_in_seconds"));
    nowMicros = micros(voter);
    model.setClockMicros(nowMicros);
    model.impersonate(
        field(info, "run_id"),
        nowMicros / 1000 - uptime * 1000,
        field(info, info.contains("server_mode:") ? "server_mode" : "redis_mode"));
    for (StoreKey key : allKeys()) {
      subscriptions.add(
          model.subscribe(key.bytes(), message -> modelHints.add(hint(key.bytes(), message))));
    }
    environment.run();
  }

  private Set<StoreKey> allKeys() {
    Set<StoreKey> keys = new LinkedHashSet<>();
    all.forEach(each -> Arrays.stream(each).map(StoreKey::of).forEach(keys::add));
    return keys;
  }

  private static String field(String info, String name) {
    Matcher line = Pattern.compile("(?m)^" + name + ":([^\r\n]*)").matcher(info);
    assertThat(line.find()).as(name).isTrue();
    return line.group(1);
  }

  /** Runs so many steps. */
  void run(int operations) {
    for (int i = 0; i < operations; i++) {
      if (troubleLeft > 0 && --troubleLeft == 0) {
        endTrouble();
      }
      step();
      passNearMoments();
    }
  }

  @Override
  public void close() {
    endTrouble();
    subscriptions.forEach(HintSubscription::close);
    listeners.values().forEach(RedisCommands::close);
    model.close();
  }

  private void step() {
    int kind = random.nextInt(100);
    if (kind < 46) {
      onValue();
    } else if (kind < 64) {
      onLease();
    } else if (kind < 71) {
      onFenced();
    } else if (kind < 87) {
      onGroup();
    } else if (kind < 94) {
      garbage();
    } else {
      trouble();
    }
  }

  // The scripts of values

  private void onValue() {
    byte[][] keys = pick(values);
    String owner = owner();
    String channels = channels(random);
    switch (random.nextInt(24)) {
      case 0, 1, 2, 3, 4, 5, 6, 7 -> acquire(keys, owner, channels);
      case 8, 9, 10, 11, 12 -> fill(channels);
      case 13, 14 ->
          script(
              "PUT",
              keys,
              value(NO_EPOCH, "0000000000"),
              Long.toString(2 * LONG),
              notAfter(),
              channels,
              pick("", CHANGES));
      case 15, 16, 17 ->
          script(
              "INVALIDATE", keys, pick("HARD", "SOFT"), wide(pause()), channels, pick("", CHANGES));
      case 18, 19 -> {
        Grant grant = grant();
        script("EXTEND", grant.keys(), grant.owner, grant.epoch, wide(span()), wide(4 * LONG));
      }
      case 20, 21 ->
          script(
              "RAISE_BARRIER",
              keys,
              wide(pause()),
              pick(wide(LONG), wide(4 * LONG)),
              CHANGES,
              "tred");
      default -> {
        Grant grant = grant();
        script("RELEASE", grant.keys(), grant.owner, wide(pause()), wide(4 * LONG), channels);
        // Who comes next may meet a cool-down, if nothing else happens before.
        acquire(grant.keys(), owner, channels);
      }
    }
  }

  private void acquire(byte[][] keys, String owner, String channels) {
    script(
        "GET_OR_ACQUIRE",
        keys,
        owner + " " + newEpoch() + " 0000000001",
        wide(span()),
        Long.toString(4 * LONG),
        notAfter(),
        pick("NORMAL", "NORMAL", "REPLACE_STALE", "REPLACE_BROKEN", "FORCED"),
        pick("0", "0", "1"),
        identity(keys[0]),
        channels);
  }

  private void fill(String channels) {
    Grant grant = grant();
    script(
        "FILL",
        grant.keys(),
        grant.owner + " " + grant.epoch + " " + grant.seq,
        value(grant.epoch, grant.seq),
        Long.toString(LONG),
        channels);
  }

  /** One of the last grants, or one that never was. */
  private Grant grant() {
    if (grants.isEmpty() || random.nextInt(10) == 0) {
      return new Grant(StoreKey.of(pick(values)[0]), owner(), newEpoch(), "0000000001");
    }
    int back = Math.min(grants.size(), random.nextBoolean() ? 1 : 6);
    Grant grant = grants.get(grants.size() - 1 - random.nextInt(back));
    return random.nextInt(4) == 0
        ? new Grant(grant.key, owner(), grant.epoch, pick("0000000001", "0000000009"))
        : grant;
  }

  private String value(String epoch, String seq) {
    String soft =
        pick(
            wide(nowMillis() - LONG),
            wide(nowMillis() + LONG),
            wide(nowMillis() + LONG),
            wide(random.nextBoolean() ? nowMillis() + SHORT : 9_999_999_999_999_999L));
    boolean none = random.nextInt(8) == 0;
    return "PDK1 0099 "
        + (none ? "N" : "V")
        + pick("-", "C")
        + "-- "
        + soft
        + " "
        + wide(nowMillis())
        + " 0000000005 "
        + epoch
        + " "
        + seq
        + " 0000000007\n"
        // Some are too long for a hint.
        + (none ? "" : "\u00ff\0".repeat(random.nextInt(6) == 0 ? 2000 : random.nextInt(15)));
  }

  private String identity(byte[] key) {
    KeyState state = model.snapshot().get(StoreKey.of(key));
    String string = state == null ? null : state.string();
    return string == null || string.length() < 99 || random.nextInt(4) == 0
        ? ""
        : string.substring(15, 98);
  }

  private String newEpoch() {
    return random.nextInt(12) == 0
        ? NO_EPOCH
        : String.format(Locale.ROOT, "%016x", ++lastEpoch << 53 | lastEpoch);
  }

  // The scripts of leases

  private void onLease() {
    byte[][] keys = pick(leases);
    String owner = owner();
    switch (random.nextInt(10)) {
      case 0, 1, 2, 3, 4 ->
          script(
              "LEASE_ACQUIRE",
              keys,
              owner,
              Long.toString(span()),
              notAfter(),
              pick("NOBODY", "REQUESTER", "OTHERS"),
              place(),
              random.nextInt(3) == 0 ? line(random.nextInt(4)) : "");
      case 5, 6 -> script("LEASE_EXTEND", keys, owner, wide(span()));
      case 7, 8 -> script("LEASE_RELEASE", keys, owner, channels(random));
      default -> script("LEASE_INSPECT", keys);
    }
  }

  private String place() {
    return "0000000" + random.nextInt(5) + ",";
  }

  private String line(int places) {
    StringBuilder line = new StringBuilder();
    for (int i = 0; i < places; i++) {
      line.append(place());
    }
    return line.toString();
  }

  private void onFenced() {
    String token = pickToken();
    script(
        "FENCED_WRITE",
        pick(fenced),
        token,
        pick("id-1", "id-2", "-"),
        pick("SET", "SET", "DEL", "FLOOR"),
        "worth " + random.nextInt(100),
        pick("0", Long.toString(LONG), Long.toString(SHORT)));
  }

  private String pickToken() {
    String token = tokens.get(tokens.size() - 1 - random.nextInt(Math.min(tokens.size(), 5)));
    return switch (random.nextInt(12)) {
      case 0 -> token.substring(0, 18) + random.nextInt(10);
      case 1 -> "0000000000000000001";
      case 2 -> String.format(Locale.ROOT, "%019d", nowMicros + random.nextInt(1_000_000));
      default -> token;
    };
  }

  // The scripts of Redlock

  private void onGroup() {
    byte[][] keys = pick(groups);
    byte[][] ofServer = ScriptCatalog.redlockServerKeys();
    String fingerprint = random.nextInt(12) == 0 ? "f".repeat(32) : "1".repeat(32);
    String bucket = pick("5", "5", "1023");
    switch (random.nextInt(16)) {
      case 0, 1, 2, 3, 4 ->
          script(
              "REDLOCK_ACQUIRE",
              keys,
              owner(),
              Long.toString(span()),
              notAfter(),
              pick("NOBODY", "REQUESTER", "OTHERS"),
              bucket,
              fingerprint);
      case 5, 6 -> commit(keys, bucket, fingerprint);
      case 7 -> script("REDLOCK_INSPECT", keys, fingerprint);
      case 8 -> script("REDLOCK_STATUS", ofServer, fingerprint);
      case 9 -> script("REDLOCK_COUNTERS", ofServer, fingerprint);
      case 10 -> script("LEASE_EXTEND", keys, owner(), wide(span()));
      case 11 -> script("LEASE_RELEASE", keys, owner(), channels(random));
      default -> readmit(ofServer, fingerprint);
    }
  }

  /** Mostly as whoever holds it would, with the token it has or another server's greater one. */
  private void commit(byte[][] keys, String bucket, String fingerprint) {
    KeyState state = model.snapshot().get(StoreKey.of(keys[0]));
    Map<String, String> held = state == null ? Map.of() : state.fields();
    boolean own = random.nextInt(4) > 0;
    script(
        "REDLOCK_COMMIT",
        keys,
        own ? held.getOrDefault("o", owner()) : owner(),
        pick(pickToken(), held.getOrDefault("g", pickToken()), "0000000000000000001")
            .replaceFirst("^0+(?=.)", ""),
        bucket,
        fingerprint);
  }

  private void readmit(byte[][] keys, String fingerprint) {
    String what = pick("ASK", "REPAIR", "FOUND_ASK", "FOUND", "NEW", "NEW");
    String run = field(real.ownerOf(keys[0]).console().text("INFO", "server"), "run_id");
    List<Object> args = new ArrayList<>();
    args.add(fingerprint);
    // Not near the uptime, which the server reads off another clock.
    args.add(pick(wide(0), wide(0), wide(1000 * LONG)));
    args.add(what);
    args.add(what.contains("ASK") ? "" : random.nextInt(6) == 0 ? "abc" : run);
    for (int i = random.nextInt(3); i > 0; i--) {
      args.add(pick("5", "1023", "77"));
      args.add(pick(pickToken(), pickToken(), pick(ODD)));
    }
    script("REDLOCK_READMIT", keys, args.toArray());
  }

  // What nobody of ours would write

  private void garbage() {
    byte[] key = pick(pick(all));
    KeyState state = model.snapshot().get(StoreKey.of(key));
    String string = state == null ? null : state.string();
    if (state != null && !broken.isEmpty() && random.nextInt(3) > 0) {
      raw("DEL", broken.remove(random.nextInt(broken.size())));
      return;
    }
    broken.add(key);
    if (string != null && !string.isEmpty() && random.nextInt(3) > 0) {
      raw(
          "SET",
          key,
          bytes(random.nextBoolean() ? mutated(string) : operated(string)),
          "PX",
          pick(LONG, LONG, SHORT));
      return;
    }
    switch (random.nextInt(14)) {
      case 0 -> raw("SET", key, pick(ODD), "PX", LONG);
      case 1 -> raw("SET", key, pick(ODD));
      case 2 -> {
        raw("DEL", key);
        raw("RPUSH", key, "x");
      }
      case 4 -> raw("HSET", key, pick("o", "g", "q", "t", "r", "f", "w", "5"), pick(ODD));
      case 5 -> raw("HSET", key, pick("5", "g", "t"), pickToken());
      case 6 -> raw("HDEL", key, pick("o", "g", "r", "f", "w", "5"));
      case 7 -> raw("PERSIST", key);
      case 8 -> raw("PEXPIRE", key, pick(LONG, SHORT));
      case 9 -> raw("SET", key, record(), "PX", LONG);
      case 10 -> raw("SET", key, Long.toString(nowMicros + random.nextInt(3) * 1_000_000_000L));
      default -> raw("DEL", key);
    }
  }

  private String mutated(String string) {
    int at = random.nextInt(string.length());
    return switch (random.nextInt(5)) {
      case 0 -> string.substring(0, at);
      case 1 -> string + pick(" more", "0", "\n");
      case 2 -> string.substring(0, at) + string.substring(at + 1);
      default ->
          string.substring(0, at)
              + pick("0", "1", "9", "f", "x", "-", " ", "\n", "\0", "N", "~")
              + string.substring(at + 1);
    };
  }

  /** One field replaced, with its width. */
  private String operated(String string) {
    String[] fields = string.split(" ", -1);
    if (fields.length < 8) {
      return record();
    }
    int at = random.nextInt(8);
    fields[at] =
        switch (fields[at].length()) {
          case 32 -> pick(NOBODY, owner());
          case 16 ->
              pick(
                  wide(0),
                  wide(nowMillis() + LONG),
                  wide(nowMillis() - LONG),
                  wide(nowMillis() + SHORT),
                  wide(LONG),
                  "9999999999999999");
          case 10 -> pick("0000000000", "0000000001", "9999999998", "9999999999");
          case 1 -> pick("0", "1");
          case 4 -> pick("0099", "0100", "0098", "9999", "V---", "N---", "VC--", "V-T-");
          default -> pick(ODD);
        };
    return String.join(" ", fields);
  }

  private String record() {
    return pick(NOBODY, owner(), owner())
        + " "
        + pick(newEpoch(), NO_EPOCH)
        + " "
        + pick("0000000001", "0000000004", "9999999998", "9999999999", "0000000000")
        + " "
        + pick(wide(0), wide(nowMillis() + LONG), wide(nowMillis() - LONG))
        + " "
        + pick(wide(0), wide(LONG), wide(2 * LONG))
        + " "
        + pick(wide(0), wide(0), wide(nowMillis() + LONG), wide(nowMillis() - LONG))
        + " "
        + pick("0", "1")
        + " "
        + pick(NOBODY, owner());
  }

  private void trouble() {
    troubleLeft = 1 + random.nextInt(8);
    switch (random.nextInt(5)) {
      case 0, 1 -> {
        full = true;
        everywhere("CONFIG", "SET", "maxmemory", "1");
      }
      case 2 -> {
        if (!real.isCluster()) {
          replica = true;
          // A replica deletes nothing by itself, and up to 6.2 shows scripts what is over.
          for (StoreKey key : allKeys()) {
            everywhere("EXISTS", key.bytes());
          }
          everywhere("REPLICAOF", "127.0.0.1", "1");
        }
      }
      case 3 -> {
        // It costs whoever listens the connection.
        listeners.values().forEach(RedisCommands::close);
        listeners.clear();
        everywhere("ACL", "SETUSER", "default", "resetchannels");
      }
      default -> everywhere("SCRIPT", "FLUSH");
    }
  }

  private void endTrouble() {
    full = false;
    replica = false;
    everywhere("CONFIG", "SET", "maxmemory", "0");
    if (!real.isCluster()) {
      everywhere("REPLICAOF", "NO", "ONE");
    }
    everywhere("ACL", "SETUSER", "default", "allchannels");
  }

  private void everywhere(Object... words) {
    if (!words[0].equals("EXISTS")) {
      history.add(List.of(words).toString());
    }
    for (RedisServerProcess node : real.all()) {
      node.console().command(words);
    }
    model.command(words);
  }

  // Both sides in step

  private void raw(String command, byte[] key, Object... args) {
    List<Object> words = new ArrayList<>(List.of(command, key));
    words.addAll(List.of(args));
    history.add(shown(words));
    RedisServerProcess node = real.ownerOf(key);
    nowMicros = micros(node);
    Answer expected = Answer.of(node.console(), words.toArray());
    List<Look> looks = look();
    uncertainMillis =
        Math.max(
            uncertainMillis, (looks.get(real.all().indexOf(node)).fromMicros - nowMicros) / 1000);
    model.setClockMicros(nowMicros);
    Answer actual = Answer.of(model, words.toArray());
    assertThat(actual.shown()).as(this::described).isEqualTo(expected.shown());
    compareKeys(nowMicros, looks, false);
  }

  private void script(String name, byte[][] keys, Object... wellFormed) {
    Object[] args = wellFormed.clone();
    if (args.length > 0 && random.nextInt(6) == 0) {
      args[random.nextInt(args.length)] = pick(ODD);
    }
    if (args.length > 1 && random.nextInt(60) == 0) {
      args = Arrays.copyOf(args, args.length - 1);
    }
    byte[] text = requireNonNull(SCRIPTS.get(name), name);
    RedisServerProcess node = real.ownerOf(keys[0]);
    RedisCommands listener = listener(node);
    model.setShardedChannels(Arrays.asList(args).contains("S"));

    long before = micros(node);
    Answer expected = answer(node.console(), text, keys, args);
    List<Look> looks = look();
    List<String> expectedHints = listener == null ? List.of() : hints(listener, keys);
    long after = looks.get(real.all().indexOf(node)).fromMicros;
    history.add(name + shown(Arrays.asList(keys)) + shown(args) + " -> " + expected.shown());

    Long known = clock(name, expected, keys, looks, before, after);
    nowMicros = known == null ? before : known;
    model.setClockMicros(nowMicros);
    modelHints.clear();
    Answer actual = answer(model, text, keys, args);
    environment.run();

    // What is left of a TTL is as uncertain as the moment at which it was set.
    uncertainMillis = Math.max(uncertainMillis, (after - before) / 1000);
    long tolerance = uncertainMillis + 2;
    compareReplies(name, expected, actual, tolerance);
    if (listener != null) {
      assertThat(modelHints).as(this::described).isEqualTo(expectedHints);
    }
    compareKeys(before, looks, known == null);
    remember(name, keys, args, expected);
  }

  /** By its SHA-1; what a server without the script says must be the same on both. */
  private Answer answer(RedisConsole console, byte[] text, byte[][] keys, Object[] args) {
    Answer first = Answer.of(console, words("EVALSHA", Sha1.hex(text), keys, args));
    if (!first.shown().equals("error NOSCRIPT")) {
      return first;
    }
    Answer second = Answer.of(console, words("EVAL", text, keys, args));
    // The nodes of a cluster don't share what they know.
    return real.isCluster() ? second : second.after(first);
  }

  private static Object[] words(String command, Object script, byte[][] keys, Object[] args) {
    List<Object> words = new ArrayList<>(List.of(command, script, keys.length));
    words.addAll(Arrays.asList(keys));
    for (Object arg : args) {
      words.add(bytes(arg.toString()));
    }
    return words.toArray();
  }

  /** What the server took for now, if its answer, or a counter that it wrote, says so. */
  private @Nullable Long clock(
      String name, Answer answer, byte[][] keys, List<Look> looks, long before, long after) {
    List<String> parts = answer.parts();
    if (name.equals("FENCED_WRITE")) {
      return before;
    }
    if (parts.size() == 1) {
      String[] words = parts.get(0).split(" ", -1);
      return Long.parseLong(words[1]) * 1_000_000 + Long.parseLong(words[2]);
    }
    List<Long> drawn = new ArrayList<>();
    if (parts.size() > 2 && parts.get(2).matches("0[0-9]{18}")) {
      drawn.add(Long.parseLong(parts.get(2)));
    }
    for (Look look : looks) {
      Seen counter = keys.length < 2 ? null : look.keys.get(StoreKey.of(keys[1]));
      if (counter != null) {
        List<String> texts = new ArrayList<>(counter.fields.values());
        texts.add(String.valueOf(counter.string));
        texts.stream().filter(t -> t.matches("[0-9]{16}")).map(Long::parseLong).forEach(drawn::add);
      }
    }
    Long millis = parts.isEmpty() ? null : Long.parseLong(parts.get(1));
    for (long each : drawn) {
      if (millis == null ? before <= each && each <= after : each / 1000 == millis) {
        return each;
      }
    }
    return millis == null ? null : (Long) (millis * 1000);
  }

  private void compareReplies(String name, Answer expected, Answer actual, long tolerance) {
    List<String> wanted = new ArrayList<>(expected.parts());
    List<String> got = new ArrayList<>(actual.parts());
    int measured =
        switch (name) {
          case "LEASE_ACQUIRE", "REDLOCK_ACQUIRE", "REDLOCK_READMIT" -> 3;
          case "LEASE_INSPECT", "REDLOCK_INSPECT" -> 4;
          default -> -1;
        };
    if (measured > 0 && wanted.size() > measured && got.size() == wanted.size()) {
      // A server counts its uptime by a clock of whole seconds that it reads now and then.
      long within = name.equals("REDLOCK_READMIT") ? tolerance + 2_000 : tolerance;
      long expectedMillis = Long.parseLong(wanted.get(measured));
      long difference = expectedMillis - Long.parseLong(got.get(measured));
      // Above 2^53 the numbers of Lua have steps, which a millisecond may reach or not.
      long steps = 2 * (long) Math.ulp((double) expectedMillis);
      assertThat(Math.abs(difference)).as(this::described).isLessThanOrEqualTo(within + steps);
      wanted.set(measured, "measured");
      got.set(measured, "measured");
    }
    if (name.equals("REDLOCK_COUNTERS")) {
      inOrder(wanted);
      inOrder(got);
    }
    assertThat(got + actual.failure()).as(this::described).isEqualTo(wanted + expected.failure());
  }

  /** Buckets come in any order. */
  private static void inOrder(List<String> reply) {
    List<String> pairs = new ArrayList<>();
    for (int i = 3; i + 1 < reply.size(); i += 2) {
      pairs.add(reply.get(i) + " " + reply.get(i + 1));
    }
    Collections.sort(pairs);
    List<String> all = new ArrayList<>(reply.subList(0, Math.min(3, reply.size())));
    all.addAll(pairs);
    reply.clear();
    reply.addAll(all);
  }

  private void remember(String name, byte[][] keys, Object[] args, Answer answer) {
    String status =
        answer.parts().isEmpty() ? answer.failure() : answer.parts().get(0).split(" ", 2)[0];
    seen.add(name + " " + status.replace(" after NOSCRIPT", ""));
    if (name.equals("GET_OR_ACQUIRE")
        && Set.of("GRANTED", "STALE_GRANTED", "DEGRADED", "MINE").contains(status)) {
      String[] parts = answer.parts().get(0).split(" ", -1);
      String owner = args[0].toString();
      grants.add(
          new Grant(
              StoreKey.of(keys[0]),
              owner.substring(0, Math.min(32, owner.length())),
              parts[3],
              parts[4]));
    } else if (status.equals("GRANTED")) {
      tokens.add(answer.parts().get(2));
    }
  }

  // All keys

  private List<Look> look() {
    List<Look> looks = new ArrayList<>();
    for (RedisServerProcess node : real.all()) {
      List<?> reply = (List<?>) requireNonNull(node.console().command("EVAL", LOOK, 0));
      Map<StoreKey, Seen> keys = new LinkedHashMap<>();
      long from = micros(reply.get(0));
      for (Object each : (List<?>) requireNonNull(reply.get(2))) {
        List<?> key = (List<?>) requireNonNull(each);
        List<String> items = new ArrayList<>();
        for (Object item : (List<?>) requireNonNull(key.get(3))) {
          items.add(latin(item));
        }
        String type = latin(key.get(1));
        Map<String, String> fields = new TreeMap<>();
        if (type.equals("hash")) {
          for (int i = 0; i < items.size(); i += 2) {
            fields.put(items.get(i), items.get(i + 1));
          }
        }
        long ttl = (Long) requireNonNull(key.get(2));
        keys.put(
            StoreKey.of((byte[]) requireNonNull(key.get(0))),
            new Seen(
                type,
                type.equals("string") ? items.get(0) : null,
                fields,
                ttl < 0 ? -1 : from / 1000 + ttl));
      }
      looks.add(new Look(from, micros(reply.get(1)), keys));
    }
    return looks;
  }

  /**
   * Compares all keys, and lets the model's end when the real ones do.
   *
   * @param lenient whether moments that are part of a value may differ too: there was no telling
   *     which the server took for now
   */
  private void compareKeys(long before, List<Look> looks, boolean lenient) {
    long after = before;
    Map<StoreKey, Seen> expected = new LinkedHashMap<>();
    for (Look look : looks) {
      expected.putAll(look.keys);
      after = Math.max(after, look.toMicros);
    }
    // What was taken over the last time was read off another moment, too.
    long tolerance = (after - before) / 1000 + 2 + slackMillis;
    slackMillis = looks.stream().mapToLong(Look::slackMillis).max().orElse(0);
    Map<StoreKey, KeyState> found = model.snapshot();
    Map<StoreKey, Seen> actual = new LinkedHashMap<>();
    for (Map.Entry<StoreKey, KeyState> each : found.entrySet()) {
      KeyState state = each.getValue();
      long ends = state.ttlMillis() < 0 ? -1 : nowMillis() + state.ttlMillis();
      if (ends >= 0 && ends <= after / 1000 + 2 && !expected.containsKey(each.getKey())) {
        // It has ended meanwhile.
        continue;
      }
      actual.put(
          each.getKey(),
          new Seen(state.type(), state.string(), new TreeMap<>(state.fields()), ends));
    }
    assertThat(names(actual)).as(this::described).isEqualTo(names(expected));
    actual.forEach(
        (key, own) -> {
          Seen other = requireNonNull(expected.get(key));
          if (lenient) {
            assertThat(moments(own, tolerance, other))
                .as(this::described)
                .isEqualTo(contents(other));
          } else {
            assertThat(contents(own)).as(this::described).isEqualTo(contents(other));
          }
          assertThat(own.ends < 0).as(this::described).isEqualTo(other.ends < 0);
          assertThat(Math.abs(own.ends - other.ends))
              .as(() -> "the end of " + key + " in " + described())
              // What is read in Lua is a number of 53 bits.
              .isLessThanOrEqualTo(tolerance + (long) Math.ulp((double) other.ends));
          adopt(key, own, other);
        });
  }

  private static Set<StoreKey> names(Map<StoreKey, Seen> keys) {
    Map<StoreKey, Seen> sorted = new LinkedHashMap<>(keys);
    return sorted.keySet();
  }

  private static String contents(Seen key) {
    return key.type + " " + key.string + " " + key.fields;
  }

  /** The contents, with the other's moments in place of those that are near them. */
  private static String moments(Seen own, long tolerance, Seen other) {
    List<Long> theirs = new ArrayList<>();
    Matcher in = MILLIS.matcher(contents(other));
    while (in.find()) {
      theirs.add(Long.parseLong(in.group()));
    }
    AtomicInteger at = new AtomicInteger();
    return MILLIS
        .matcher(contents(own))
        .replaceAll(
            found -> {
              int index = at.getAndIncrement();
              long mine = Long.parseLong(found.group());
              return index < theirs.size() && Math.abs(theirs.get(index) - mine) <= tolerance
                  ? wide(theirs.get(index))
                  : found.group();
            });
  }

  /** Makes the model's key what the real one is, whatever circumstances would forbid. */
  private void adopt(StoreKey key, Seen own, Seen other) {
    model.setOutOfMemory(false);
    model.setReadOnly(false);
    if (other.string != null && !other.string.equals(own.string)) {
      model.command("SET", key.bytes(), bytes(other.string), "KEEPTTL");
    }
    if (!other.fields.equals(own.fields)) {
      other.fields.forEach(
          (field, value) -> model.command("HSET", key.bytes(), bytes(field), bytes(value)));
    }
    if (other.ends > nowMillis() && own.ends != other.ends) {
      model.command("PEXPIREAT", key.bytes(), other.ends);
    }
    model.setOutOfMemory(full);
    model.setReadOnly(replica);
  }

  // Time

  private long nowMillis() {
    return nowMicros / 1000;
  }

  private static long micros(RedisServerProcess node) {
    return micros(node.console().command("TIME"));
  }

  private static long micros(@Nullable Object time) {
    List<?> parts = (List<?>) requireNonNull(time);
    return Long.parseLong(latin(parts.get(0))) * 1_000_000 + Long.parseLong(latin(parts.get(1)));
  }

  /** Waits until nothing is about to end, so that no decision depends on who is faster. */
  private void passNearMoments() {
    long last = 0;
    long now = nowMillis();
    for (KeyState state : model.snapshot().values()) {
      if (state.ttlMillis() >= 0 && state.ttlMillis() <= NEAR) {
        last = Math.max(last, now + state.ttlMillis());
      }
      Matcher in = MILLIS.matcher(state.string() + " " + state.fields().values());
      while (in.find()) {
        long moment = Long.parseLong(in.group());
        if (moment >= now && moment <= now + NEAR) {
          last = Math.max(last, moment);
        }
      }
    }
    long end = (last + 2) * 1000;
    for (RedisServerProcess node : real.all()) {
      RealTime.awaitUntil("a clock to reach " + end, () -> micros(node) >= end);
      nowMicros = Math.max(nowMicros, micros(node));
    }
    model.setClockMicros(nowMicros);
  }

  // Hints

  /** A connection that hears all plain channels and the sharded ones of its node; null for none. */
  private @Nullable RedisCommands listener(RedisServerProcess node) {
    if (history.contains("[ACL, SETUSER, default, resetchannels]") && listeners.isEmpty()) {
      int denied = history.lastIndexOf("[ACL, SETUSER, default, resetchannels]");
      if (denied > history.lastIndexOf("[ACL, SETUSER, default, allchannels]")) {
        return null;
      }
    }
    return listeners.computeIfAbsent(node, this::listen);
  }

  private RedisCommands listen(RedisServerProcess node) {
    RedisCommands connection = node.connect();
    try {
      connection.send("PSUBSCRIBE", "*");
      if (real.hasShardedChannels()) {
        for (StoreKey key : allKeys()) {
          if (real.ownerOf(key.bytes()) == node) {
            connection.send("SSUBSCRIBE", key.bytes());
          }
        }
      }
      return connection;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What has come, up to the answer to a PING that is sent now; of these keys only. */
  private static List<String> hints(RedisCommands listener, byte[][] keys) {
    List<String> all = new ArrayList<>();
    try {
      listener.send("PING", "now");
      while (true) {
        List<?> pushed = (List<?>) requireNonNull(listener.readPushed());
        String kind = latin(pushed.get(0));
        if (kind.equals("pong")) {
          return all;
        }
        if (!kind.endsWith("message")) {
          continue;
        }
        byte[] channel = (byte[]) requireNonNull(pushed.get(pushed.size() - 2));
        if (Arrays.stream(keys).anyMatch(key -> Arrays.equals(key, channel))) {
          all.add(hint(channel, (byte[]) requireNonNull(pushed.get(pushed.size() - 1))));
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String hint(byte[] channel, byte[] message) {
    return text(channel) + ": " + text(message);
  }

  // Answers

  /** A reply as strings, or the code of an error as clients look at it. */
  private record Answer(List<String> parts, String failure) {
    static Answer of(RedisConsole console, Object... words) {
      try {
        Object reply = console.command(words);
        if (reply instanceof List<?> items) {
          return new Answer(items.stream().map(ScriptSequence::latin).toList(), "");
        }
        return new Answer(List.of(latin(reply)), "");
      } catch (RedisReplyException e) {
        return new Answer(List.of(), code(String.valueOf(e.getMessage())));
      }
    }

    Answer after(Answer first) {
      return new Answer(parts, failure + " after " + first.failure);
    }

    String shown() {
      return parts.isEmpty() ? "error " + failure : parts + failure;
    }

    private static String code(String message) {
      Matcher mark = MARK.matcher(message);
      boolean marked = mark.find();
      Matcher code = CODE.matcher(message);
      return (marked ? mark.group(1) + " " : "")
          + (code.find(marked ? mark.end() : 0) ? code.group(1) : "ERR");
    }
  }

  // Choices

  private String owner() {
    return Integer.toString(random.nextInt(3)).repeat(32);
  }

  private long span() {
    return random.nextInt(6) == 0 ? SHORT : random.nextInt(4) == 0 ? 2 * LONG : LONG;
  }

  private long pause() {
    return random.nextInt(5) == 0 ? SHORT : random.nextInt(6) == 0 ? LONG : 0;
  }

  private String notAfter() {
    return wide(random.nextInt(15) == 0 ? nowMillis() - LONG : nowMillis() + LONG);
  }

  private String channels(SplittableRandom from) {
    boolean sharded = from.nextBoolean();
    return sharded && real.hasShardedChannels() ? "S" : "P";
  }

  @SafeVarargs
  private <T> T pick(T... from) {
    return from[random.nextInt(from.length)];
  }

  private <T> T pick(List<T> from) {
    return from.get(random.nextInt(from.size()));
  }

  private static String wide(long number) {
    return String.format(Locale.ROOT, "%016d", number);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(ISO_8859_1);
  }

  private static String text(byte[] bytes) {
    return new String(bytes, ISO_8859_1);
  }

  private static String latin(@Nullable Object reply) {
    return reply instanceof byte[] bytes ? text(bytes) : String.valueOf(reply);
  }

  private static String shown(List<?> words) {
    return words.stream()
        .map(word -> word instanceof byte[] b ? text(b) : word.toString())
        .toList()
        .toString();
  }

  private static String shown(Object[] words) {
    return shown(Arrays.asList(words));
  }

  private String described() {
    int from = Math.max(0, history.size() - HISTORY);
    return "seed "
        + seed
        + ", replayed by -Dpaddock.model.seed="
        + seed
        + ", the last of "
        + history.size()
        + " operations:\n  "
        + String.join("\n  ", history.subList(from, history.size()));
  }
}
