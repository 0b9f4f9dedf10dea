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

  private LuaScript() {}

  static byte[] own(String name) {
    return resource("/dev/paddock/benchmarks/" + name);
  }

  /** A script of Paddock, as it is sent: behind the common prelude. */
  static byte[] ofPaddock(String name) {
    byte[] prelude = resource("/dev/paddock/redis/common.lua");
    byte[] script = resource("/dev/paddock/redis/" + name);
    byte[] all = new byte[prelude.length + script.length];
    System.arraycopy(prelude, 0, all, 0, prelude.length);
    System.arraycopy(script, 0, all, prelude.length, script.length);
    return all;
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
