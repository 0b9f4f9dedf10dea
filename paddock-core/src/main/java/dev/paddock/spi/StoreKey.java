/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spi;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The name of one cached value in the store: {@code <prefix><cache name>:<key>} as bytes.
 *
 * <p>Immutable and thread-safe. Equal when the bytes are equal, so it serves as a map key; the hash
 * is computed once.
 */
public final class StoreKey {
  private final byte[] bytes;
  private final int hash;
  private final int spaceLength;

  private StoreKey(byte[] bytes, int spaceLength) {
    this.bytes = bytes;
    this.hash = Arrays.hashCode(bytes);
    this.spaceLength = spaceLength;
  }

  /**
   * Makes a key of bytes, which are copied.
   *
   * @param bytes the whole name, prefix included
   * @return the key
   */
  public static StoreKey of(byte[] bytes) {
    return new StoreKey(requireNonNull(bytes, "bytes").clone(), 0);
  }

  /**
   * Makes a key of text, as UTF-8.
   *
   * @param name the whole name, prefix included
   * @return the key
   */
  public static StoreKey of(String name) {
    return new StoreKey(name.getBytes(UTF_8), 0);
  }

  /**
   * Makes a key of its space and the bytes that follow it.
   *
   * @param space what comes first, the same for all keys of a cache; see {@link #space()}
   * @param rest what comes after
   * @return the key
   */
  public static StoreKey of(byte[] space, byte[] rest) {
    byte[] all = Arrays.copyOf(space, space.length + rest.length);
    System.arraycopy(rest, 0, all, space.length, rest.length);
    return new StoreKey(all, space.length);
  }

  /**
   * Returns what the keys of its cache have in common, {@code <prefix><cache name>:}: whoever
   * watches a space is told of changes to its keys. Does not count for equality.
   *
   * @return the beginning of the name, a copy; empty for a key that was made as a whole
   */
  public byte[] space() {
    return Arrays.copyOf(bytes, spaceLength);
  }

  /**
   * Returns the bytes themselves, not a copy: the caller must not change them.
   *
   * @return the name as bytes
   */
  public byte[] bytes() {
    return bytes;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof StoreKey that && hash == that.hash && Arrays.equals(bytes, that.bytes);
  }

  @Override
  public int hashCode() {
    return hash;
  }

  /**
   * Returns the name as text, for messages; bytes that are not UTF-8 show as U+FFFD, and control
   * characters as an escape, so that a key can't write lines of its own into a log.
   */
  @Override
  public String toString() {
    String text = new String(bytes, UTF_8);
    if (text.chars().noneMatch(Character::isISOControl)) {
      return text;
    }
    StringBuilder shown = new StringBuilder(text.length() + 16);
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (Character.isISOControl(c)) {
        shown.append(String.format("\\u%04x", (int) c));
      } else {
        shown.append(c);
      }
    }
    return shown.toString();
  }
}
