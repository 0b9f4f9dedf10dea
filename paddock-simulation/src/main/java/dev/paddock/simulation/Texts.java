/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.simulation;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.paddock.testkit.RedisRequest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What requests and replies say. */
final class Texts {
  private static final Pattern NAME = Pattern.compile("(?m)^-- ([A-Z_]{3,}): ");
  private static final ThreadLocal<Map<String, String>> NAMES =
      ThreadLocal.withInitial(HashMap::new);
  private static final Pattern RUN_ID = Pattern.compile("\\b[0-9a-f]{40}\\b");
  private static final int SHOWN_MAX = 150;

  private Texts() {}

  /** The name of the script that is run, or of the command. */
  static String name(RedisRequest request) {
    String script = request.script();
    if (script == null) {
      return request.name();
    }
    return NAMES
        .get()
        .computeIfAbsent(
            script,
            text -> {
              Matcher matcher = NAME.matcher(text);
              return matcher.find() ? matcher.group(1) : request.name();
            });
  }

  static String text(byte[] bytes) {
    return new String(bytes, ISO_8859_1);
  }

  static String arg(RedisRequest request, int index) {
    return text(request.args().get(index));
  }

  /** A reply as its words; of one string or of several. */
  static List<String> words(@Nullable Object reply) {
    List<String> words = new ArrayList<>();
    if (reply instanceof byte[] bytes) {
      words.addAll(List.of(text(bytes).split(" ", 8)));
    } else if (reply instanceof List<?> items) {
      for (Object item : items) {
        words.add(item instanceof byte[] bytes ? text(bytes) : String.valueOf(item));
      }
    } else if (reply != null) {
      words.add(reply.toString());
    }
    return words;
  }

  static String request(RedisRequest request) {
    StringBuilder shown = new StringBuilder(name(request));
    for (int i = 0; i < Math.min(3, request.args().size()); i++) {
      shown.append(' ').append(shortened(text(request.args().get(i)), 60));
    }
    return shown.toString();
  }

  static String reply(@Nullable Object reply) {
    // The names that servers give to their runs mean nothing.
    return shortened(RUN_ID.matcher(String.join(" ", words(reply))).replaceAll("RUN"), SHOWN_MAX);
  }

  private static String shortened(String text, int max) {
    String line = text.replace('\n', '|');
    return line.length() <= max ? line : line.substring(0, max) + "...";
  }
}
