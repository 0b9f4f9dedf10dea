/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import dev.paddock.testkit.RedisServerProcess;
import java.util.ArrayList;
import java.util.List;

/** The user of docs/deployments.md. */
final class LeastRights {
  static final String PASSWORD = "s3cret";

  /** What stands in the docs, word by word; LeastRightsIT compares. */
  static final String COMMANDS =
      "+get +set +del +getrange +setrange +strlen +pttl +pexpire +time +evalsha +eval";

  static final String BULK = "+mget";
  static final String HINTS = "+subscribe +unsubscribe +publish";
  static final String KEYS = "~app:* ~pdk:{*}:app:*";
  static final String CHANNELS = "&pdk:{*}:app:*";
  static final String CONNECTING = "+info +role";

  private LeastRights() {}

  /** The prefix that the patterns are made for. */
  static final String PREFIX = "app:";

  static String line(String user) {
    return "ACL SETUSER "
        + user
        + " on >"
        + PASSWORD
        + " "
        + KEYS
        + " resetchannels "
        + CHANNELS
        + " "
        + COMMANDS
        + " "
        + BULK
        + " "
        + HINTS
        + " "
        + CONNECTING;
  }

  static String lineWithoutChannels(String user) {
    return "ACL SETUSER " + user + " on >" + PASSWORD + " " + KEYS + " resetchannels " + COMMANDS;
  }

  static String grant(RedisServerProcess server, String user, String line) {
    server.console().command((Object[]) line.split(" "));
    return "redis://" + user + ":" + PASSWORD + "@127.0.0.1:" + server.port();
  }

  /** The commands that a user was refused, from ACL LOG. */
  static List<String> refused(RedisServerProcess server) {
    List<String> all = new ArrayList<>();
    List<?> log =
        (List<?>) java.util.Objects.requireNonNull(server.console().command("ACL", "LOG"));
    for (Object entry : log) {
      StringBuilder text = new StringBuilder();
      for (Object part : (List<?>) entry) {
        text.append(part instanceof byte[] bytes ? Transports.text(bytes) : part).append(' ');
      }
      all.add(text.toString());
    }
    return all;
  }
}
