/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lettuce.core.ScriptOutputType;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The very commands of Paddock's cold fill, sent by hand: what is left above this is what Paddock
 * spends in the process, what this has above {@link StepsReader} is what its scripts do.
 */
final class OwnScriptsReader extends ScriptsReader {
  private static final byte[] PLAIN_CHANNELS = {'P'};
  private static final byte[] NO = {'0'};
  private static final byte[] NOTHING = {};

  OwnScriptsReader(String uri) {
    super(uri, LuaScript.ofPaddock("get_or_acquire.lua"), LuaScript.ofPaddock("fill.lua"));
  }

  private static byte[] millis(long value) {
    return LuaScript.bytes(String.format(Locale.ROOT, "%016d", value));
  }

  @Override
  public byte[] read(String name, Source source) {
    byte[] key = LuaScript.bytes("own:" + name);
    byte[] value = redis.get(key);
    if (value != null) {
      return value;
    }
    byte[][] keys = {key, LuaScript.bytes("pdk:{own}:own:" + name)};
    ThreadLocalRandom random = ThreadLocalRandom.current();
    String owner =
        String.format(
            Locale.ROOT,
            "%016x%016x %016x ",
            random.nextLong(),
            random.nextLong(),
            random.nextLong() | 1);
    byte[] grant = LuaScript.bytes(owner + "0000000001");
    byte[] granted =
        redis.evalsha(
            claim,
            ScriptOutputType.VALUE,
            keys,
            grant,
            millis(LuaScript.LEASE_MILLIS),
            LuaScript.bytes(10 * LuaScript.LEASE_MILLIS),
            millis(WallClock.micros() / 1000 + LuaScript.LEASE_MILLIS),
            LuaScript.bytes("NORMAL"),
            NO,
            NOTHING,
            PLAIN_CHANNELS);
    String[] answer = new String(granted, UTF_8).split(" ", 6);
    if (!answer[0].equals("GRANTED")) {
      throw new BenchmarkException("somebody else has " + name, null);
    }
    // Owner, and the epoch and seq that the server made.
    byte[] held = LuaScript.bytes(owner.substring(0, 33) + answer[3] + " " + answer[4]);
    byte[] loaded = source.load();
    byte[] stored = behindHeader(loaded);
    byte[] filled =
        redis.evalsha(
            finish,
            ScriptOutputType.VALUE,
            keys,
            held,
            stored,
            LuaScript.bytes(LuaScript.TTL_MILLIS),
            PLAIN_CHANNELS);
    if (!new String(filled, UTF_8).startsWith("STORED ")) {
      throw new BenchmarkException(name + " was not stored", null);
    }
    return loaded;
  }
}
