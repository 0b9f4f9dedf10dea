/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lettuce.core.ScriptOutputType;
import java.util.List;
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
    byte[] owner =
        LuaScript.bytes(
            String.format(Locale.ROOT, "%016x%016x", random.nextLong(), random.nextLong()));
    List<byte[]> granted =
        redis.evalsha(
            claim,
            ScriptOutputType.MULTI,
            keys,
            owner,
            millis(LuaScript.LEASE_MILLIS),
            millis(10 * LuaScript.LEASE_MILLIS),
            LuaScript.bytes(String.format(Locale.ROOT, "%016x", random.nextLong() | 1)),
            LuaScript.bytes("NORMAL"),
            NO,
            NOTHING,
            millis(WallClock.micros() / 1000 + LuaScript.LEASE_MILLIS),
            PLAIN_CHANNELS);
    if (!new String(granted.get(0), UTF_8).equals("GRANTED")) {
      throw new BenchmarkException("somebody else has " + name, null);
    }
    byte[] loaded = source.load();
    byte[] stored = behindHeader(loaded);
    List<byte[]> filled =
        redis.evalsha(
            finish,
            ScriptOutputType.MULTI,
            keys,
            owner,
            granted.get(2),
            granted.get(3),
            stored,
            millis(LuaScript.TTL_MILLIS),
            PLAIN_CHANNELS);
    if (!new String(filled.get(0), UTF_8).equals("STORED")) {
      throw new BenchmarkException(name + " was not stored", null);
    }
    return loaded;
  }
}
