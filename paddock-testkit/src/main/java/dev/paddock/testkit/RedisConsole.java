/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.paddock.spi.StoreKey;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Sends any command to a Redis server and waits for the reply: for arranging and checking, beside
 * the code under test.
 *
 * <p>The words of a command are byte arrays, or objects whose text is sent as UTF-8.
 *
 * @since 0.1.0
 */
public interface RedisConsole {

  /**
   * Sends a command and returns its reply: a {@code byte[]} for a bulk string, a {@link String} for
   * a simple string, a {@link Long} for an integer, a {@link java.util.List} of these for an array,
   * null for nil. An error inside an array is a {@link dev.paddock.redis.RedisReplyException} in
   * the list.
   *
   * @param words the command and its arguments: each a {@code byte[]}, or an object whose {@code
   *     toString()} is sent
   * @return the reply
   * @throws dev.paddock.redis.RedisReplyException if the server answers with an error
   * @throws dev.paddock.StoreException if there is no answer
   */
  @Nullable Object command(Object... words);

  /**
   * Looks at all keys, one after the other.
   *
   * @return what each holds; not ordered
   * @throws dev.paddock.StoreException if there is no answer
   */
  default Map<StoreKey, KeyState> snapshot() {
    Map<StoreKey, KeyState> all = new LinkedHashMap<>();
    for (byte[] key : bulks(command("KEYS", "*"))) {
      String type = text("TYPE", key);
      String string = null;
      Map<String, String> fields = new LinkedHashMap<>();
      if (type.equals("string") && command("GET", key) instanceof byte[] value) {
        string = new String(value, ISO_8859_1);
      } else if (type.equals("hash")) {
        List<byte[]> parts = bulks(command("HGETALL", key));
        for (int i = 0; i + 1 < parts.size(); i += 2) {
          fields.put(
              new String(parts.get(i), ISO_8859_1), new String(parts.get(i + 1), ISO_8859_1));
        }
      }
      long ttl = Long.parseLong(text("PTTL", key));
      if (ttl != -2) {
        all.put(StoreKey.of(key), new KeyState(type, string, fields, ttl));
      }
    }
    return all;
  }

  private static List<byte[]> bulks(@Nullable Object reply) {
    List<byte[]> all = new ArrayList<>();
    for (Object item : (List<?>) requireNonNull(reply, "reply")) {
      all.add((byte[]) item);
    }
    return all;
  }

  /**
   * As {@link #command(Object...)} for a reply that is text or a number.
   *
   * @param words the command and its arguments
   * @return the reply as text; {@code "nil"} for nil
   * @throws IllegalStateException if the reply is an array
   * @throws dev.paddock.redis.RedisReplyException if the server answers with an error
   * @throws dev.paddock.StoreException if there is no answer
   */
  default String text(Object... words) {
    Object reply = command(words);
    if (reply == null) {
      return "nil";
    }
    if (reply instanceof byte[] bytes) {
      return new String(bytes, UTF_8);
    }
    if (reply instanceof String || reply instanceof Long) {
      return reply.toString();
    }
    throw new IllegalStateException("the reply is an array");
  }
}
