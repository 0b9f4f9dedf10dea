/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.paddock.redis.RedisReplyException;
import dev.paddock.spi.StoreKey;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.ToLongFunction;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The keys of one server and the commands on them, as Redis 7.0 executes them. Not thread-safe.
 *
 * <p>Replies: {@code byte[]} for a bulk string, {@link String} for a simple string, {@link Long},
 * {@link List}, or null for nil. Errors are thrown.
 */
final class RedisKeyspace {
  private static final String WRONG_TYPE =
      "WRONGTYPE Operation against a key holding the wrong kind of value";
  private static final String NOT_AN_INTEGER = "ERR value is not an integer or out of range";
  private static final String SYNTAX = "ERR syntax error";
  private static final long STRING_BYTES_MAX = 512L * 1024 * 1024;
  private static final long NEVER = -1;
  private static final Set<String> EXPIRE_CONDITIONS = Set.of("NX", "XX", "GT", "LT");

  /** The circumstances of one command or script. */
  static final class Call {
    final long nowMicros;
    final boolean outOfMemory;
    final boolean readOnly;
    final boolean mayPublish;

    /** Tells how many subscribers would get a message, for the reply of PUBLISH. */
    final ToLongFunction<Message> receivers;

    /** The keys that were announced; null for all. */
    final @Nullable Set<StoreKey> announced;

    /** What INFO says, by section. */
    final UnaryOperator<String> info;

    final List<Message> published = new ArrayList<>();

    /** After its first write a script can't be stopped any more, out of memory or not. */
    boolean hasWritten;

    Call(
        long nowMicros,
        boolean outOfMemory,
        boolean readOnly,
        boolean mayPublish,
        ToLongFunction<Message> receivers,
        UnaryOperator<String> info,
        @Nullable Set<StoreKey> announced) {
      this.nowMicros = nowMicros;
      this.outOfMemory = outOfMemory;
      this.readOnly = readOnly;
      this.mayPublish = mayPublish;
      this.receivers = receivers;
      this.info = info;
      this.announced = announced;
    }

    boolean inScript() {
      return announced != null;
    }

    long nowMillis() {
      return nowMicros / 1000;
    }
  }

  /** A message for the subscribers of a channel. */
  static final class Message {
    private final StoreKey channel;
    private final byte[] text;
    private final boolean sharded;

    private Message(StoreKey channel, byte[] text, boolean sharded) {
      this.channel = channel;
      this.text = text;
      this.sharded = sharded;
    }

    StoreKey channel() {
      return channel;
    }

    byte[] text() {
      return text;
    }

    boolean sharded() {
      return sharded;
    }
  }

  @FunctionalInterface
  private interface Body {
    @Nullable Object run(RedisKeyspace space, Call call, byte[][] words);
  }

  private enum Access {
    NONE,
    READ,
    WRITE,
    /** Writes and may take memory: refused when there is none. */
    DENY_OOM
  }

  /** Arity as Redis counts it: with the name; negative for a minimum. */
  private record Command(int arity, Access access, boolean manyKeys, Body body) {}

  /** A value with its end. */
  private static final class Cell {
    Object value;
    long expiresAtMillis = NEVER;

    Cell(Object value) {
      this.value = value;
    }
  }

  private static final Map<String, Command> COMMANDS = commands();

  private final Map<StoreKey, Cell> cells = new LinkedHashMap<>();

  private static Map<String, Command> commands() {
    Map<String, Command> all = new TreeMap<>();
    all.put("PING", new Command(-1, Access.NONE, false, (s, c, w) -> "PONG"));
    all.put("ECHO", new Command(2, Access.NONE, false, (s, c, w) -> w[1]));
    all.put("TIME", new Command(1, Access.NONE, false, (s, c, w) -> time(c)));
    all.put("PUBLISH", new Command(3, Access.NONE, false, (s, c, w) -> publish(c, w, false)));
    all.put("SPUBLISH", new Command(3, Access.NONE, false, (s, c, w) -> publish(c, w, true)));
    all.put("INFO", new Command(-1, Access.NONE, false, RedisKeyspace::info));
    all.put("DBSIZE", new Command(1, Access.NONE, false, (s, c, w) -> (long) s.cells.size()));
    all.put("FLUSHALL", new Command(-1, Access.WRITE, false, (s, c, w) -> s.flush()));

    all.put("EXISTS", new Command(-2, Access.READ, true, RedisKeyspace::exists));
    all.put("TYPE", new Command(2, Access.READ, false, RedisKeyspace::type));
    all.put("PTTL", new Command(2, Access.READ, false, (s, c, w) -> s.ttl(c, w, 1)));
    all.put("TTL", new Command(2, Access.READ, false, (s, c, w) -> s.ttl(c, w, 1000)));
    all.put("DEL", new Command(-2, Access.WRITE, true, RedisKeyspace::del));
    all.put("UNLINK", new Command(-2, Access.WRITE, true, RedisKeyspace::del));
    all.put("PEXPIRE", new Command(-3, Access.WRITE, false, (s, c, w) -> s.expire(c, w, 1, false)));
    all.put(
        "EXPIRE", new Command(-3, Access.WRITE, false, (s, c, w) -> s.expire(c, w, 1000, false)));
    all.put(
        "PEXPIREAT", new Command(-3, Access.WRITE, false, (s, c, w) -> s.expire(c, w, 1, true)));
    all.put("PERSIST", new Command(2, Access.WRITE, false, RedisKeyspace::persist));

    all.put("GET", new Command(2, Access.READ, false, (s, c, w) -> s.string(c, w[1])));
    all.put("MGET", new Command(-2, Access.READ, true, RedisKeyspace::mget));
    all.put("STRLEN", new Command(2, Access.READ, false, (s, c, w) -> s.strlen(c, w)));
    all.put("GETRANGE", new Command(4, Access.READ, false, RedisKeyspace::getRange));
    all.put("SET", new Command(-3, Access.DENY_OOM, false, RedisKeyspace::set));
    all.put("SETRANGE", new Command(4, Access.DENY_OOM, false, RedisKeyspace::setRange));
    all.put("APPEND", new Command(3, Access.DENY_OOM, false, RedisKeyspace::append));
    all.put("INCR", new Command(2, Access.DENY_OOM, false, RedisKeyspace::incr));
    all.put("INCRBY", new Command(3, Access.DENY_OOM, false, RedisKeyspace::incr));

    all.put("HGET", new Command(3, Access.READ, false, RedisKeyspace::hget));
    all.put("HMGET", new Command(-3, Access.READ, false, RedisKeyspace::hmget));
    all.put("HGETALL", new Command(2, Access.READ, false, RedisKeyspace::hgetall));
    all.put("HEXISTS", new Command(3, Access.READ, false, RedisKeyspace::hexists));
    all.put("HLEN", new Command(2, Access.READ, false, RedisKeyspace::hlen));
    all.put("HSET", new Command(-4, Access.DENY_OOM, false, RedisKeyspace::hset));
    all.put("HINCRBY", new Command(4, Access.DENY_OOM, false, RedisKeyspace::hincrby));
    all.put("HDEL", new Command(-3, Access.WRITE, false, RedisKeyspace::hdel));
    all.put("RPUSH", new Command(-3, Access.DENY_OOM, false, RedisKeyspace::rpush));
    return Map.copyOf(all);
  }

  /** Tells whether this is a command of this model. */
  static boolean knows(String name) {
    return COMMANDS.containsKey(name.toUpperCase(Locale.ROOT));
  }

  /** Executes a command. */
  @Nullable Object execute(Call call, byte[][] words) {
    String name = new String(words[0], UTF_8);
    Command command = COMMANDS.get(name.toUpperCase(Locale.ROOT));
    if (command == null) {
      throw error(
          call.inScript()
              ? "ERR Unknown Redis command called from script"
              : "ERR unknown command '" + name + "', with args beginning with: ");
    }
    if (command.arity >= 0 ? words.length != command.arity : words.length < -command.arity) {
      throw error(
          call.inScript()
              ? "ERR Wrong number of args calling Redis command from script"
              : "ERR wrong number of arguments for '"
                  + name.toLowerCase(Locale.ROOT)
                  + "' command");
    }
    if (command.access == Access.READ
        || ((command.access == Access.WRITE || command.access == Access.DENY_OOM)
            && words.length > 1)) {
      checkAnnounced(call, words, command.manyKeys);
    }
    if (command.access == Access.WRITE || command.access == Access.DENY_OOM) {
      if (call.readOnly) {
        throw error("READONLY You can't write against a read only replica.");
      }
      if (command.access == Access.DENY_OOM && call.outOfMemory && !call.hasWritten) {
        throw error("OOM command not allowed when used memory > 'maxmemory'.");
      }
      call.hasWritten = true;
    }
    return command.body.run(this, call, words);
  }

  private static void checkAnnounced(Call call, byte[][] words, boolean all) {
    Set<StoreKey> announced = call.announced;
    if (announced == null) {
      return;
    }
    for (int i = 1; i < (all ? words.length : 2); i++) {
      if (!announced.contains(StoreKey.of(words[i]))) {
        throw error("ERR Script attempted to access a key that is not among its KEYS");
      }
    }
  }

  /** Returns a copy of all keys. */
  RedisKeyspace copy() {
    RedisKeyspace copy = new RedisKeyspace();
    copy.replaceBy(this);
    return copy;
  }

  /** Forgets all keys and takes over those of another. */
  void replaceBy(RedisKeyspace other) {
    cells.clear();
    other.cells.forEach(
        (key, cell) -> {
          // Strings and lists are replaced when they change, never changed in place.
          Cell own =
              new Cell(
                  cell.value instanceof Map<?, ?> ? new LinkedHashMap<>(hash(cell)) : cell.value);
          own.expiresAtMillis = cell.expiresAtMillis;
          cells.put(key, own);
        });
  }

  /** Returns what is there now, by name. */
  Map<StoreKey, KeyState> snapshot(long nowMillis) {
    Map<StoreKey, KeyState> all = new LinkedHashMap<>();
    for (StoreKey key : List.copyOf(cells.keySet())) {
      Cell cell = find(nowMillis, key);
      if (cell != null) {
        all.put(key, state(cell, nowMillis));
      }
    }
    return all;
  }

  /** Returns what is there now under one name; null if there is nothing. */
  @Nullable KeyState state(StoreKey key, long nowMillis) {
    Cell cell = find(nowMillis, key);
    return cell == null ? null : state(cell, nowMillis);
  }

  private static KeyState state(Cell cell, long nowMillis) {
    Map<String, String> fields = new LinkedHashMap<>();
    if (cell.value instanceof Map<?, ?>) {
      hash(cell)
          .forEach(
              (field, value) ->
                  fields.put(new String(field.bytes(), ISO_8859_1), new String(value, ISO_8859_1)));
    }
    return new KeyState(
        typeOf(cell),
        cell.value instanceof byte[] bytes ? new String(bytes, ISO_8859_1) : null,
        fields,
        cell.expiresAtMillis == NEVER ? NEVER : cell.expiresAtMillis - nowMillis);
  }

  private static List<@Nullable Object> time(Call call) {
    return list(
        ascii(Long.toString(call.nowMicros / 1_000_000)),
        ascii(Long.toString(call.nowMicros % 1_000_000)));
  }

  private static Object publish(Call call, byte[][] words, boolean sharded) {
    if (!call.mayPublish) {
      throw error("NOPERM this user has no permissions to access one of the channels used");
    }
    Message message = new Message(StoreKey.of(words[1]), words[2], sharded);
    call.published.add(message);
    return call.receivers.applyAsLong(message);
  }

  private static Object info(RedisKeyspace space, Call call, byte[][] words) {
    String section = words.length > 1 ? ascii(words[1]).toLowerCase(Locale.ROOT) : "default";
    return ascii(call.info.apply(section));
  }

  private Object flush() {
    cells.clear();
    return "OK";
  }

  private static Object exists(RedisKeyspace space, Call call, byte[][] words) {
    long count = 0;
    for (int i = 1; i < words.length; i++) {
      count += space.find(call, words[i]) == null ? 0 : 1;
    }
    return count;
  }

  private static Object type(RedisKeyspace space, Call call, byte[][] words) {
    Cell cell = space.find(call, words[1]);
    return cell == null ? "none" : typeOf(cell);
  }

  private static String typeOf(Cell cell) {
    return cell.value instanceof byte[] ? "string" : cell.value instanceof Map ? "hash" : "list";
  }

  private Object ttl(Call call, byte[][] words, int unit) {
    Cell cell = find(call, words[1]);
    if (cell == null) {
      return -2L;
    }
    if (cell.expiresAtMillis == NEVER) {
      return -1L;
    }
    long left = Math.max(0, cell.expiresAtMillis - call.nowMillis());
    return unit == 1 ? left : (left + unit / 2) / unit;
  }

  private static Object del(RedisKeyspace space, Call call, byte[][] words) {
    long count = 0;
    for (int i = 1; i < words.length; i++) {
      if (space.find(call, words[i]) != null) {
        space.cells.remove(StoreKey.of(words[i]));
        count++;
      }
    }
    return count;
  }

  private Object expire(Call call, byte[][] words, long unit, boolean absolute) {
    List<String> conditions = new ArrayList<>();
    for (int i = 3; i < words.length; i++) {
      String condition = ascii(words[i]).toUpperCase(Locale.ROOT);
      if (!EXPIRE_CONDITIONS.contains(condition)) {
        throw error("ERR Unsupported option " + ascii(words[i]));
      }
      conditions.add(condition);
    }
    long value = integer(words[2]);
    long at;
    try {
      at = Math.multiplyExact(value, unit);
      at = absolute ? at : Math.addExact(at, call.nowMillis());
    } catch (ArithmeticException e) {
      throw error(
          "ERR invalid expire time in '" + ascii(words[0]).toLowerCase(Locale.ROOT) + "' command");
    }
    Cell cell = find(call, words[1]);
    if (cell == null) {
      return 0L;
    }
    for (String condition : conditions) {
      boolean ok =
          switch (condition) {
            case "NX" -> cell.expiresAtMillis == NEVER;
            case "XX" -> cell.expiresAtMillis != NEVER;
            case "GT" -> cell.expiresAtMillis != NEVER && at > cell.expiresAtMillis;
            default -> cell.expiresAtMillis == NEVER || at < cell.expiresAtMillis;
          };
      if (!ok) {
        return 0L;
      }
    }
    if (at <= call.nowMillis()) {
      cells.remove(StoreKey.of(words[1]));
    } else {
      cell.expiresAtMillis = at;
    }
    return 1L;
  }

  private static Object persist(RedisKeyspace space, Call call, byte[][] words) {
    Cell cell = space.find(call, words[1]);
    if (cell == null || cell.expiresAtMillis == NEVER) {
      return 0L;
    }
    cell.expiresAtMillis = NEVER;
    return 1L;
  }

  private byte @Nullable [] string(Call call, byte[] key) {
    Cell cell = find(call, key);
    if (cell == null) {
      return null;
    }
    if (cell.value instanceof byte[] bytes) {
      return bytes;
    }
    throw error(WRONG_TYPE);
  }

  /** As a real server: nothing, and no error, for a key of another type. */
  private static Object mget(RedisKeyspace space, Call call, byte[][] words) {
    List<@Nullable Object> all = list();
    for (int i = 1; i < words.length; i++) {
      Cell cell = space.find(call, words[i]);
      all.add(cell != null && cell.value instanceof byte[] bytes ? bytes : null);
    }
    return all;
  }

  private Object strlen(Call call, byte[][] words) {
    byte[] value = string(call, words[1]);
    return value == null ? 0L : (long) value.length;
  }

  private static Object getRange(RedisKeyspace space, Call call, byte[][] words) {
    long start = integer(words[2]);
    long end = integer(words[3]);
    byte[] value = space.string(call, words[1]);
    if (value == null || (start < 0 && end < 0 && start > end)) {
      return new byte[0];
    }
    start = Math.max(0, start < 0 ? start + value.length : start);
    end = Math.min(value.length - 1L, Math.max(0, end < 0 ? end + value.length : end));
    if (start > end || value.length == 0) {
      return new byte[0];
    }
    return Arrays.copyOfRange(value, (int) start, (int) end + 1);
  }

  private static @Nullable Object set(RedisKeyspace space, Call call, byte[][] words) {
    boolean onlyNew = false;
    boolean onlyOld = false;
    boolean keepTtl = false;
    boolean get = false;
    long expiresAt = NEVER;
    for (int i = 3; i < words.length; i++) {
      String option = ascii(words[i]).toUpperCase(Locale.ROOT);
      switch (option) {
        case "NX" -> onlyNew = true;
        case "XX" -> onlyOld = true;
        case "KEEPTTL" -> keepTtl = true;
        case "GET" -> get = true;
        case "EX", "PX", "EXAT", "PXAT" -> {
          if (++i == words.length || expiresAt != NEVER) {
            throw error(SYNTAX);
          }
          expiresAt = expiry(call, option, integer(words[i]));
        }
        default -> throw error(SYNTAX);
      }
    }
    if ((onlyNew && onlyOld) || (keepTtl && expiresAt != NEVER)) {
      throw error(SYNTAX);
    }
    byte[] before = get ? space.string(call, words[1]) : null;
    Cell old = space.find(call, words[1]);
    if ((onlyNew && old != null) || (onlyOld && old == null)) {
      return before;
    }
    Cell cell = new Cell(words[2].clone());
    cell.expiresAtMillis = keepTtl && old != null ? old.expiresAtMillis : expiresAt;
    space.cells.put(StoreKey.of(words[1]), cell);
    return get ? before : "OK";
  }

  private static long expiry(Call call, String option, long value) {
    String invalid = "ERR invalid expire time in 'set' command";
    if (value <= 0) {
      throw error(invalid);
    }
    try {
      long millis = option.startsWith("EX") ? Math.multiplyExact(value, 1000L) : value;
      return option.endsWith("AT") ? millis : Math.addExact(millis, call.nowMillis());
    } catch (ArithmeticException e) {
      throw error(invalid);
    }
  }

  private static Object setRange(RedisKeyspace space, Call call, byte[][] words) {
    long offset = integer(words[2]);
    if (offset < 0) {
      throw error("ERR offset is out of range");
    }
    byte[] value = space.string(call, words[1]);
    byte[] piece = words[3];
    if (piece.length == 0) {
      return value == null ? 0L : (long) value.length;
    }
    if (offset + piece.length > STRING_BYTES_MAX) {
      throw error("ERR string exceeds maximum allowed size (proto-max-bulk-len)");
    }
    int length = (int) offset + piece.length;
    byte[] result =
        value == null ? new byte[length] : Arrays.copyOf(value, Math.max(value.length, length));
    System.arraycopy(piece, 0, result, (int) offset, piece.length);
    space.replace(call, words[1], result);
    return (long) result.length;
  }

  private static Object append(RedisKeyspace space, Call call, byte[][] words) {
    byte[] value = space.string(call, words[1]);
    byte[] before = value == null ? new byte[0] : value;
    byte[] result = Arrays.copyOf(before, before.length + words[2].length);
    System.arraycopy(words[2], 0, result, before.length, words[2].length);
    space.replace(call, words[1], result);
    return (long) result.length;
  }

  private static Object incr(RedisKeyspace space, Call call, byte[][] words) {
    long by = words.length == 3 ? integer(words[2]) : 1;
    byte[] value = space.string(call, words[1]);
    try {
      long result = Math.addExact(value == null ? 0 : integer(value), by);
      space.replace(call, words[1], ascii(Long.toString(result)));
      return result;
    } catch (ArithmeticException e) {
      throw error("ERR increment or decrement would overflow");
    }
  }

  private void replace(Call call, byte[] key, byte[] value) {
    Cell cell = find(call, key);
    if (cell == null) {
      cells.put(StoreKey.of(key), new Cell(value));
    } else {
      cell.value = value;
    }
  }

  private static @Nullable Object hget(RedisKeyspace space, Call call, byte[][] words) {
    Map<StoreKey, byte[]> hash = space.hash(call, words[1]);
    return hash == null ? null : hash.get(StoreKey.of(words[2]));
  }

  private static Object hmget(RedisKeyspace space, Call call, byte[][] words) {
    Map<StoreKey, byte[]> hash = space.hash(call, words[1]);
    List<@Nullable Object> all = list();
    for (int i = 2; i < words.length; i++) {
      all.add(hash == null ? null : hash.get(StoreKey.of(words[i])));
    }
    return all;
  }

  private static Object hgetall(RedisKeyspace space, Call call, byte[][] words) {
    Map<StoreKey, byte[]> hash = space.hash(call, words[1]);
    List<@Nullable Object> all = list();
    if (hash != null) {
      hash.forEach(
          (field, value) -> {
            all.add(field.bytes());
            all.add(value);
          });
    }
    return all;
  }

  private static Object hexists(RedisKeyspace space, Call call, byte[][] words) {
    Map<StoreKey, byte[]> hash = space.hash(call, words[1]);
    return hash != null && hash.containsKey(StoreKey.of(words[2])) ? 1L : 0L;
  }

  private static Object hlen(RedisKeyspace space, Call call, byte[][] words) {
    Map<StoreKey, byte[]> hash = space.hash(call, words[1]);
    return hash == null ? 0L : (long) hash.size();
  }

  private static Object hset(RedisKeyspace space, Call call, byte[][] words) {
    if (words.length % 2 != 0) {
      throw error("ERR wrong number of arguments for 'hset' command");
    }
    Map<StoreKey, byte[]> hash = space.hash(call, words[1]);
    if (hash == null) {
      hash = new LinkedHashMap<>();
      space.cells.put(StoreKey.of(words[1]), new Cell(hash));
    }
    long added = 0;
    for (int i = 2; i < words.length; i += 2) {
      added += hash.put(StoreKey.of(words[i]), words[i + 1].clone()) == null ? 1 : 0;
    }
    return added;
  }

  private static Object hincrby(RedisKeyspace space, Call call, byte[][] words) {
    long by = integer(words[3]);
    Map<StoreKey, byte[]> hash = space.hash(call, words[1]);
    byte[] value = hash == null ? null : hash.get(StoreKey.of(words[2]));
    long before = 0;
    if (value != null) {
      try {
        before = integer(value);
      } catch (RedisReplyException e) {
        throw error("ERR hash value is not an integer");
      }
    }
    long result;
    try {
      result = Math.addExact(before, by);
    } catch (ArithmeticException e) {
      throw error("ERR increment or decrement would overflow");
    }
    if (hash == null) {
      hash = new LinkedHashMap<>();
      space.cells.put(StoreKey.of(words[1]), new Cell(hash));
    }
    hash.put(StoreKey.of(words[2]), ascii(Long.toString(result)));
    return result;
  }

  private static Object hdel(RedisKeyspace space, Call call, byte[][] words) {
    Map<StoreKey, byte[]> hash = space.hash(call, words[1]);
    if (hash == null) {
      return 0L;
    }
    long removed = 0;
    for (int i = 2; i < words.length; i++) {
      removed += hash.remove(StoreKey.of(words[i])) == null ? 0 : 1;
    }
    if (hash.isEmpty()) {
      space.cells.remove(StoreKey.of(words[1]));
    }
    return removed;
  }

  private static Object rpush(RedisKeyspace space, Call call, byte[][] words) {
    Cell cell = space.find(call, words[1]);
    if (cell == null) {
      cell = new Cell(List.of());
      space.cells.put(StoreKey.of(words[1]), cell);
    }
    if (!(cell.value instanceof List<?> old)) {
      throw error(WRONG_TYPE);
    }
    List<Object> all = new ArrayList<>(old);
    all.addAll(Arrays.asList(words).subList(2, words.length));
    cell.value = all;
    return (long) all.size();
  }

  private @Nullable Map<StoreKey, byte[]> hash(Call call, byte[] key) {
    Cell cell = find(call, key);
    if (cell == null) {
      return null;
    }
    if (!(cell.value instanceof Map)) {
      throw error(WRONG_TYPE);
    }
    return hash(cell);
  }

  // A map in a cell is always one that hset made.
  @SuppressWarnings("unchecked")
  private static Map<StoreKey, byte[]> hash(Cell cell) {
    return (Map<StoreKey, byte[]>) cell.value;
  }

  private @Nullable Cell find(Call call, byte[] key) {
    return find(call.nowMillis(), StoreKey.of(key));
  }

  private @Nullable Cell find(long nowMillis, StoreKey key) {
    Cell cell = cells.get(key);
    // As Redis has it: in the very millisecond of its end a key is still there, with PTTL 0.
    if (cell != null && cell.expiresAtMillis != NEVER && nowMillis > cell.expiresAtMillis) {
      cells.remove(key);
      return null;
    }
    return cell;
  }

  /** Parses as strictly as Redis: no blanks, no plus, no leading zeros. */
  private static long integer(byte[] word) {
    String text = new String(word, ISO_8859_1);
    if (!isInteger(text)) {
      throw error(NOT_AN_INTEGER);
    }
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw error(NOT_AN_INTEGER);
    }
  }

  private static boolean isInteger(String text) {
    int digits = text.startsWith("-") ? 1 : 0;
    if (text.length() == digits || text.length() > digits + 19) {
      return false;
    }
    for (int i = digits; i < text.length(); i++) {
      if (text.charAt(i) < '0' || text.charAt(i) > '9') {
        return false;
      }
    }
    return text.charAt(digits) != '0' || text.equals("0");
  }

  private static List<@Nullable Object> list(Object... items) {
    return new ArrayList<>(Arrays.asList(items));
  }

  private static byte[] ascii(String text) {
    return text.getBytes(ISO_8859_1);
  }

  private static String ascii(byte[] word) {
    return new String(word, ISO_8859_1);
  }

  private static RedisReplyException error(String message) {
    return new RedisReplyException(message);
  }
}
