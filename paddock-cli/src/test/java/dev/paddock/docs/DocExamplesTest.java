/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.docs;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.CacheEvent;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** Keeps the pages true. What each check does is in {@link Pages}, and tested in PagesTest. */
final class DocExamplesTest {
  private static final Path ROOT = root();

  /** Names that are neither the source of pages nor of tests. */
  private static final Set<String> SKIPPED = Set.of("target", ".git", "node_modules");

  private static Path root() {
    Path folder = Path.of("").toAbsolutePath();
    while (folder != null && !Files.isDirectory(folder.resolve(".mvn"))) {
      folder = folder.getParent();
    }
    if (folder == null) {
      throw new IllegalStateException("not inside the repository: no folder .mvn above");
    }
    return folder;
  }

  private static List<Path> files(Predicate<Path> wanted) throws IOException {
    List<Path> found = new ArrayList<>();
    Files.walkFileTree(
        ROOT,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
            return SKIPPED.contains(String.valueOf(folder.getFileName()))
                ? FileVisitResult.SKIP_SUBTREE
                : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            if (wanted.test(ROOT.relativize(file))) {
              found.add(file);
            }
            return FileVisitResult.CONTINUE;
          }
        });
    found.sort(null);
    return found;
  }

  /** The pages for readers: in the root, and below docs. */
  private static List<Path> pages() throws IOException {
    return files(
        path ->
            path.toString().endsWith(".md")
                && (path.getNameCount() == 1 || path.startsWith("docs")));
  }

  private static List<Path> testSources() throws IOException {
    return files(
        path -> path.toString().endsWith(".java") && path.toString().contains("/src/test/java/"));
  }

  private static String text(Path file) throws IOException {
    return Files.readString(file, UTF_8);
  }

  @Test
  void javaBlocks_ofAllPages_areCompiledWithTheTests() throws IOException {
    List<String> sources = new ArrayList<>();
    for (Path source : testSources()) {
      sources.add(text(source));
    }
    List<String> missing = new ArrayList<>();
    int blocks = 0;
    for (Path page : pages()) {
      for (String block : Pages.blocks(text(page), "java")) {
        blocks++;
        if (!Pages.occursIn(block, sources)) {
          missing.add(ROOT.relativize(page) + ":\n" + block);
        }
      }
    }
    assertThat(missing).as("java blocks that occur in no test source").isEmpty();
    assertThat(blocks).as("java blocks found").isGreaterThanOrEqualTo(10);
  }

  @Test
  void links_ofAllPages_leadToFilesAndHeadings() throws IOException {
    List<String> broken = new ArrayList<>();
    int links = 0;
    for (Path page : pages()) {
      for (String link : Pages.relativeLinks(text(page))) {
        links++;
        String why = Pages.whyBroken(page, link);
        if (why != null) {
          broken.add(ROOT.relativize(page) + ": " + link + ": " + why);
        }
      }
    }
    assertThat(broken).as("broken links").isEmpty();
    assertThat(links).as("links found").isGreaterThanOrEqualTo(50);
  }

  @Test
  void readme_inItsFirstParagraph_saysThatProtectionIsAcrossProcesses() throws IOException {
    String paragraph = Pages.firstParagraph(text(ROOT.resolve("README.md")));
    assertThat(paragraph)
        .containsIgnoringCase("across all processes")
        .contains("one Redis")
        .contains("not only inside one JVM");
  }

  @Test
  void events_eachKind_hasASectionOfItsOwn() throws IOException {
    List<String> kinds =
        Arrays.stream(CacheEvent.class.getPermittedSubclasses()).map(Class::getSimpleName).toList();
    List<String> sections = new ArrayList<>(Pages.headings(text(ROOT.resolve("docs/events.md"))));
    sections.remove("Events");
    assertThat(sections).containsExactlyInAnyOrderElementsOf(kinds);
  }

  @Test
  void commands_inTheScripts_areListedInTheChecklist() throws IOException {
    Set<String> used = new TreeSet<>();
    List<Path> scripts = files(path -> path.toString().endsWith(".lua"));
    for (Path script : scripts) {
      used.addAll(Pages.redisCommands(text(script)));
    }
    String checklist = text(ROOT.resolve("docs/production-checklist.md"));
    assertThat(scripts).as("scripts").hasSizeGreaterThanOrEqualTo(7);
    assertThat(used).contains("GET", "SET", "PUBLISH");
    for (String command : used) {
      assertThat(checklist).contains("`" + command + "`");
    }
  }

  @Test
  void knownFaults_nameTestsThatExist() throws IOException {
    List<String> missing = new ArrayList<>();
    Set<String> named = Pages.testNames(text(ROOT.resolve("docs/internals/known-faults.md")));
    List<Path> sources =
        files(path -> path.toString().endsWith(".java") && path.toString().contains("/src/"));
    for (String name : named) {
      String simple = name.substring(0, name.contains("#") ? name.indexOf('#') : name.length());
      String method = name.contains("#") ? name.substring(name.indexOf('#') + 1) : "";
      boolean found = false;
      for (Path source : sources) {
        if (source.endsWith(simple + ".java")) {
          found |= method.isEmpty() || text(source).contains(" " + method + "(");
        }
      }
      if (!found) {
        missing.add(name);
      }
    }
    assertThat(missing).as("tests that do not exist").isEmpty();
    assertThat(named).as("tests named").hasSizeGreaterThanOrEqualTo(20);
  }
}
