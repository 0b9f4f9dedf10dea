/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** Texts of scripts. */
final class LuaScript {
  /** Longer than any run. */
  static final long TTL_MILLIS = 3_600_000;

  static final long LEASE_MILLIS = 10_000;

  /** Frees the lock of a recipe, if it is its owner's. */
  static final byte[] COMPARE_AND_DELETE =
      bytes(
          "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end"
              + " return 0");

  private LuaScript() {}

  static byte[] own(String name) {
    return resource("/dev/paddock/benchmarks/" + name);
  }

  /** A script of Paddock, as it is sent: behind the prelude, and with the rules inside. */
  static byte[] ofPaddock(String name) {
    String prelude = new String(resource("/dev/paddock/redis/common.lua"), UTF_8);
    String rules = new String(resource("/dev/paddock/redis/rules.lua"), UTF_8);
    String script = new String(resource("/dev/paddock/redis/" + name), UTF_8);
    return bytes(prelude + script.replace("-- rules.lua\n", rules));
  }

  /** A script of Redlock that tries the usual case first, as it is sent. */
  static byte[] ofRedlock(String name) {
    return bytes(
        texts("lease_start.lua", "redlock_start.lua")
            + texts(name)
                .replace("-- rules.lua\n", texts("lease_common.lua", "redlock_common.lua")));
  }

  private static String texts(String... names) {
    StringBuilder text = new StringBuilder();
    for (String name : names) {
      text.append(new String(resource("/dev/paddock/redis/" + name), UTF_8));
    }
    return text.toString();
  }

  private static byte[] resource(String path) {
    try (InputStream in = LuaScript.class.getResourceAsStream(path)) {
      if (in == null) {
        throw new IllegalStateException(path + " is missing from the jar");
      }
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  static byte[] bytes(long number) {
    return bytes(Long.toString(number));
  }
}
