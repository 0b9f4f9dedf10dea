/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.jedis;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.paddock.redis.internal.ServerVersion;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * What a server says of itself.
 *
 * @param version null if it does not say
 */
record About(@Nullable ServerVersion version, boolean cluster) {
  /**
   * Asks for version and mode, by INFO or, for a user who may not, by HELLO. Who may do neither
   * uses the server at their own risk.
   */
  static About ask(Connection connection) {
    try {
      Object reply = connection.executeCommand(new CommandArguments(Command.INFO).add("server"));
      String text = text(reply);
      ServerVersion version = ServerVersion.inInfo(text);
      if (version != null) {
        // redis_mode, or server_mode as Valkey has it.
        return new About(version, text.contains("_mode:cluster"));
      }
    } catch (JedisDataException e) {
      // Perhaps no right to INFO.
      requireKnown(e);
    }
    try {
      Object reply = connection.executeCommand(new CommandArguments(Command.HELLO));
      String version = reply instanceof List<?> pairs ? in(pairs, "version") : null;
      String mode = reply instanceof List<?> pairs ? in(pairs, "mode") : null;
      return new About(
          version == null ? null : ServerVersion.parse(version), "cluster".equals(mode));
    } catch (JedisDataException e) {
      requireKnown(e);
      return new About(null, false);
    }
  }

  /** Throws if the server wants to know first who asks: without a password Jedis does not tell. */
  private static void requireKnown(JedisDataException refused) {
    if (String.valueOf(refused.getMessage()).startsWith("NOAUTH")) {
      throw refused;
    }
  }

  private static @Nullable String in(List<?> pairs, String name) {
    for (int i = 0; i < pairs.size(); i++) {
      if (pairs.get(i) instanceof Map.Entry<?, ?> pair && text(pair.getKey()).equals(name)) {
        return text(pair.getValue());
      }
      if (i + 1 == pairs.size()) {
        break;
      }
      if (text(pairs.get(i)).equals(name)) {
        return text(pairs.get(i + 1));
      }
    }
    return null;
  }

  private static String text(@Nullable Object element) {
    return element instanceof byte[] bytes ? new String(bytes, UTF_8) : String.valueOf(element);
  }
}
