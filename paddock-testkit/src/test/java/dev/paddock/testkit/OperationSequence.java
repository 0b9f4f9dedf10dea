/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.spi.AcquireReply;
import dev.paddock.spi.AcquireRequest;
import dev.paddock.spi.FillRequest;
import dev.paddock.spi.FillStore;
import dev.paddock.spi.ReadReply;
import dev.paddock.spi.StoreKey;
import dev.paddock.spi.StoredEntry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** One sequence of a store's operations, on both servers in step. */
final class OperationSequence {
  private static final int OPERATIONS = 60;
  private static final Pattern LEASE_RECORD =
      Pattern.compile("[0-9a-f-]{32} [0-9a-f]{16} [0-9]{10}( [0-9]{16}){3} [01] [0-9a-f-]{32}");
  private static final long LONG = 3_600_000;
  private static final long GRACE = 4 * LONG;
  private static final long SHORT = 30;
  private static final Duration MORE_THAN_SHORT = Duration.ofMillis(SHORT + 20);

  /** A real server's time goes on between two commands. */
  private static final long SLACK = LONG / 4;

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

  private @Nullable Object lastReal;

  /** Half of an epoch is the moment, so each side has its own. */
  private record Lease(StoreKey key, String owner, long modelEpoch, long realEpoch, long seq) {}

  private long epochOn(FillStore store, Lease lease) {
    return store == onModel ? lease.modelEpoch : lease.realEpoch;
  }

  OperationSequence(long seed, RedisServerHarness real) {
    this.seed = seed;
    this.random = new SplittableRandom(seed);
    this.model = new InMemoryHarness(seed);
    this.real = real;
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
        both("read " + key, store -> store.read(key).thenApply(OperationSequence::shown));
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
                    + (reply1.epoch() >>> 32)
                    + " "
                    + reply1.seq()
                    + " "
                    + (reply1.leftMillis() > 0)
                    + " "
                    + reply1.unreadable()
                    + " "
                    + shown(reply1.entry()));
    if (reply.granted() || reply.status() == AcquireReply.Status.DEGRADED) {
      long onServer = ((AcquireReply) requireNonNull(lastReal)).epoch();
      leases.add(new Lease(key, owner, reply.epoch(), onServer, reply.seq()));
    }
    passIfShort(lease);
  }

  private void fill() {
    if (leases.isEmpty()) {
      return;
    }
    int back = Math.min(leases.size(), 4);
    Lease lease = leases.get(leases.size() - 1 - random.nextInt(back));
    StoredEntry entry = entry(lease.modelEpoch, lease.seq);
    both(
        "fill " + lease + " " + entry.softExpiryMillis(),
        store ->
            store.fill(
                new FillRequest(lease.key, lease.owner, of(epochOn(store, lease), entry), LONG)));
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
        store -> store.extend(lease.key, lease.owner, epochOn(store, lease), length, GRACE));
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

  private static StoredEntry of(long epoch, StoredEntry entry) {
    return new StoredEntry(
        entry.negative(),
        entry.compressed(),
        entry.softExpiryMillis(),
        entry.loadStartMillis(),
        entry.loadMillis(),
        epoch,
        entry.seq(),
        entry.schemaVersion(),
        entry.payload());
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
    assertThat(ModelAgainstRedisIT.answer(model.console(), words))
        .as(this::described)
        .isEqualTo(ModelAgainstRedisIT.answer(real.console(), words));
  }

  private <T extends @Nullable Object> T both(
      String what, Function<FillStore, CompletionStage<T>> operation) {
    return both(what, operation, String::valueOf);
  }

  private <T extends @Nullable Object> T both(
      String what, Function<FillStore, CompletionStage<T>> operation, Function<T, String> show) {
    T expected = real.await(operation.apply(onReal));
    T actual = model.await(operation.apply(onModel));
    lastReal = expected;
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
              String string = state.string();
              if (string != null && LEASE_RECORD.matcher(string).matches()) {
                // The deadline and the hold-off, if there are such.
                string =
                    string.substring(0, 41)
                        + masked(string.substring(41, 49))
                        + string.substring(49, 61)
                        + masked(string.substring(61, 77))
                        + string.substring(77, 95)
                        + masked(string.substring(95, 111))
                        + string.substring(111);
              } else if (string != null && string.length() > 31) {
                // The soft expiry may be the moment of an expire.
                string =
                    string.substring(0, 15)
                        + (string.length() < 76
                            ? string.substring(31)
                            : string.substring(31, 68)
                                + masked(string.substring(68, 76))
                                + string.substring(76));
              }
              all.put(
                  new String(name.bytes(), UTF_8),
                  state.type() + " " + string + " " + fields + " " + (state.ttlMillis() == -1));
            });
    return all;
  }

  private static String masked(String millis) {
    return millis.matches("0+") ? millis : "9".repeat(millis.length());
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
        + Long.toHexString(entry.epoch() >>> 32)
        + " "
        + entry.seq()
        + " "
        + entry.compressed()
        + " "
        + new String(entry.payload(), ISO_8859_1);
  }

  private String described() {
    return "-Dpaddock.model.seed=" + seed + ": " + String.join("\n  ", history);
  }
}
