/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lettuce.core.ScriptOutputType;
import java.util.List;
import java.util.UUID;

/**
 * GET, claim, load, finish, one after the other: what a cold fill in three commands can't be faster
 * than. Requests are padded to the length of Paddock's. Nobody else is thought of: no flight, no
 * waiting, no message.
 */
final class StepsReader extends ScriptsReader {
  /**
   * What Paddock's GET_OR_ACQUIRE has beyond the claim: numbers of fixed width, an epoch, modes.
   */
  private static final byte[] CLAIM_PADDING = new byte[70];

  /** What Paddock's FILL has beyond the finish: owner, epoch, seq. */
  private static final byte[] FINISH_PADDING = new byte[60];

  StepsReader(String uri) {
    super(uri, LuaScript.own("claim.lua"), LuaScript.own("finish.lua"));
  }

  @Override
  public byte[] read(String name, Source source) {
    byte[] key = LuaScript.bytes("steps:" + name);
    byte[] value = redis.get(key);
    if (value != null) {
      return value;
    }
    byte[][] keys = {key, LuaScript.bytes("claim:steps:" + name)};
    List<byte[]> claimed =
        redis.evalsha(
            claim,
            ScriptOutputType.MULTI,
            keys,
            LuaScript.bytes(UUID.randomUUID().toString()),
            LuaScript.bytes(LuaScript.LEASE_MILLIS),
            CLAIM_PADDING);
    if (!new String(claimed.get(0), UTF_8).equals("GRANTED")) {
      throw new BenchmarkException("somebody else has " + name, null);
    }
    byte[] loaded = source.load();
    byte[] stored = behindHeader(loaded);
    redis.evalsha(
        finish,
        ScriptOutputType.STATUS,
        keys,
        stored,
        LuaScript.bytes(LuaScript.TTL_MILLIS),
        new byte[0],
        FINISH_PADDING);
    return loaded;
  }
}
