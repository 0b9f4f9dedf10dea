/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;

/** The six scripts, each with the prelude in front. */
enum Script {
  GET_OR_ACQUIRE,
  FILL,
  PUT,
  INVALIDATE,
  EXTEND,
  RELEASE;

  // Not static fields of the enum: its constants are made before those.
  private static final class Prelude {
    static final byte[] TEXT = resource("common.lua");
  }

  // Nobody writes to it; a copy for each call would cost more than the call.
  @SuppressWarnings("ImmutableEnumChecker")
  private final byte[] text;

  private final String sha1;

  Script() {
    byte[] own = resource(name().toLowerCase(Locale.ROOT) + ".lua");
    byte[] prelude = Prelude.TEXT;
    byte[] all = new byte[prelude.length + own.length];
    System.arraycopy(prelude, 0, all, 0, prelude.length);
    System.arraycopy(own, 0, all, prelude.length, own.length);
    this.text = all;
    this.sha1 = sha1(all);
  }

  /** Returns the whole script, not a copy. */
  byte[] text() {
    return text;
  }

  /** Returns the SHA-1 of the whole script, the name under which the server caches it. */
  String sha1() {
    return sha1;
  }

  private static byte[] resource(String name) {
    try (InputStream in = Script.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException("script " + name + " is missing from the jar");
      }
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException("script " + name + " can't be read", e);
    }
  }

  private static String sha1(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("each JVM has SHA-1", e);
    }
  }
}
