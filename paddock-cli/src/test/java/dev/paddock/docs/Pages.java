/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.docs;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads Markdown as far as the checks of the documentation need it. */
final class Pages {
  private static final Pattern LINK = Pattern.compile("\\[[^\\]]*\\]\\(([^)\\s]+)\\)");
  private static final Pattern CODE_SPAN = Pattern.compile("`[^`\n]*`");
  private static final Pattern HEADING = Pattern.compile("^#{1,6} +(.*?) *#*$");
  private static final Pattern REDIS_COMMAND =
      Pattern.compile("(?:redis\\.p?call|\\bwrite)\\(\\s*'([A-Z]+)'");
  private static final Pattern TEST_NAME =
      Pattern.compile("`([A-Z]\\w*(?:Test|IT|Tck)(?:#\\w+)?)`");

  private Pages() {}

  /** Returns the fenced blocks of a language. */
  static List<String> blocks(String page, String language) {
    List<String> blocks = new ArrayList<>();
    StringBuilder block = null;
    boolean other = false;
    for (String line : page.lines().toList()) {
      String trimmed = line.strip();
      if (block != null) {
        if (trimmed.startsWith("```")) {
          blocks.add(block.toString());
          block = null;
        } else {
          block.append(line).append('\n');
        }
      } else if (trimmed.startsWith("```")) {
        if (!other && trimmed.substring(3).strip().equals(language)) {
          block = new StringBuilder();
        } else {
          other = !other;
        }
      }
    }
    return blocks;
  }

  /** Returns the page without its fenced blocks. */
  static List<String> prose(String page) {
    List<String> lines = new ArrayList<>();
    boolean fenced = false;
    for (String line : page.lines().toList()) {
      if (line.strip().startsWith("```")) {
        fenced = !fenced;
      } else if (!fenced) {
        lines.add(line);
      }
    }
    return lines;
  }

  /**
   * Tells whether the lines of a block follow each other in one of the sources, however they are
   * indented. Imports and empty lines do not count.
   */
  static boolean occursIn(String block, List<String> sources) {
    List<String> wanted = code(block);
    for (String source : sources) {
      List<String> lines = code(source);
      for (int from = 0; from + wanted.size() <= lines.size(); from++) {
        if (lines.subList(from, from + wanted.size()).equals(wanted)) {
          return true;
        }
      }
    }
    return false;
  }

  private static List<String> code(String text) {
    return text.lines()
        .map(line -> line.strip().replaceAll("\\s+", " "))
        .filter(line -> !line.isEmpty() && !line.startsWith("import "))
        .toList();
  }

  /** Returns the targets of links that stay inside the repository. */
  static List<String> relativeLinks(String page) {
    List<String> links = new ArrayList<>();
    for (String line : prose(page)) {
      Matcher link = LINK.matcher(CODE_SPAN.matcher(line).replaceAll("code"));
      while (link.find()) {
        String target = link.group(1);
        if (!target.matches("[a-z][a-z0-9+.-]*:.*")) {
          links.add(target);
        }
      }
    }
    return links;
  }

  /** Says why a link of a page leads nowhere; null if it leads somewhere. */
  static @Nullable String whyBroken(Path page, String link) throws IOException {
    int hash = link.indexOf('#');
    String file = hash < 0 ? link : link.substring(0, hash);
    Path target = file.isEmpty() ? page : page.resolveSibling(file).normalize();
    if (!Files.exists(target)) {
      return "there is no such file";
    }
    if (hash < 0) {
      return null;
    }
    String anchor = link.substring(hash + 1);
    return anchors(Files.readString(target, UTF_8)).contains(anchor)
        ? null
        : "there is no such heading";
  }

  /** Returns the texts of the headings. */
  static List<String> headings(String page) {
    List<String> headings = new ArrayList<>();
    for (String line : prose(page)) {
      Matcher heading = HEADING.matcher(line);
      if (heading.matches()) {
        headings.add(heading.group(1));
      }
    }
    return headings;
  }

  /** Returns the anchors of the headings, made as GitHub makes them. */
  static Set<String> anchors(String page) {
    Set<String> anchors = new LinkedHashSet<>();
    Map<String, Integer> seen = new HashMap<>();
    for (String heading : headings(page)) {
      String anchor =
          heading
              .replaceAll("\\[([^\\]]*)\\]\\([^)]*\\)", "$1")
              .toLowerCase(Locale.ROOT)
              .replaceAll("[^\\p{L}\\p{N}_ -]", "")
              .replace(' ', '-');
      int before = seen.merge(anchor, 1, Integer::sum) - 1;
      anchors.add(before == 0 ? anchor : anchor + "-" + before);
    }
    return anchors;
  }

  /** Returns the first paragraph of prose, in one line. */
  static String firstParagraph(String page) {
    StringBuilder paragraph = new StringBuilder();
    for (String line : prose(page)) {
      if (!line.isBlank() && !line.startsWith("#")) {
        paragraph.append(paragraph.isEmpty() ? "" : " ").append(line.strip());
      } else if (!paragraph.isEmpty()) {
        break;
      }
    }
    return paragraph.toString();
  }

  /** Returns the names of the Redis commands that a script calls. */
  static Set<String> redisCommands(String script) {
    Set<String> commands = new TreeSet<>();
    Matcher command = REDIS_COMMAND.matcher(script);
    while (command.find()) {
      commands.add(command.group(1));
    }
    return commands;
  }

  /** Returns the test classes, with or without a method, that a page names in code spans. */
  static Set<String> testNames(String page) {
    Set<String> names = new TreeSet<>();
    Matcher name = TEST_NAME.matcher(String.join("\n", prose(page)));
    while (name.find()) {
      names.add(name.group(1));
    }
    return names;
  }
}
