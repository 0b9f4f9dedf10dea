/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.docs;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The checks of the documentation must be able to fail. */
final class PagesTest {
  private static final String SOURCE =
      """
      import a.B;
      class C {
        void m() {
          first();

          second( 1,   2 );
        }
      }
      """;

  @Test
  void blocks_ofOneLanguage_leaveOthersOut() {
    String page =
        """
        ```java
        int a;
        ```
        ```sh
        rm x
        ```
          ```java
          int b;
          ```
        """;
    assertThat(Pages.blocks(page, "java")).containsExactly("int a;\n", "  int b;\n");
  }

  @Test
  void blocks_mentionedInsideAnotherBlock_areNotTaken() {
    assertThat(Pages.blocks("```md\nsee java\n```\n```java\nint a;\n```\n", "java"))
        .containsExactly("int a;\n");
  }

  @Test
  void block_withOtherIndentationAndImports_occurs() {
    assertThat(Pages.occursIn("import x.Y;\n\nfirst();\nsecond( 1, 2 );\n", List.of("", SOURCE)))
        .isTrue();
  }

  @Test
  void block_withOneChangedLine_doesNotOccur() {
    assertThat(Pages.occursIn("first();\nsecond( 1, 3 );\n", List.of(SOURCE))).isFalse();
  }

  @Test
  void block_whoseLinesAreNotContiguous_doesNotOccur() {
    assertThat(Pages.occursIn("void m() {\nsecond( 1, 2 );\n", List.of(SOURCE))).isFalse();
  }

  @Test
  void block_spreadOverTwoSources_doesNotOccur() {
    assertThat(Pages.occursIn("first();\nlast();\n", List.of(SOURCE, "last();"))).isFalse();
  }

  @Test
  void links_toTheWebAndInsideCode_areLeftOut() {
    String page =
        """
        [a](b.md) and [c](https://example.org/x) and `[d](e.md)`
        [f](#g)
        ```
        [h](i.md)
        ```
        """;
    assertThat(Pages.relativeLinks(page)).containsExactly("b.md", "#g");
  }

  @Test
  void link_toAMissingFileOrHeading_isBroken(@TempDir Path folder) throws IOException {
    Path page = folder.resolve("page.md");
    Files.writeString(page, "# Top\n\n## What is *not* (yet)\n", UTF_8);
    Files.writeString(folder.resolve("other.md"), "# Other\n## Same\n## Same\n", UTF_8);

    assertThat(Pages.whyBroken(page, "other.md")).isNull();
    assertThat(Pages.whyBroken(page, "other.md#same-1")).isNull();
    assertThat(Pages.whyBroken(page, "#what-is-not-yet")).isNull();
    assertThat(Pages.whyBroken(page, "gone.md")).contains("file");
    assertThat(Pages.whyBroken(page, "other.md#gone")).contains("heading");
    assertThat(Pages.whyBroken(page, "#gone")).contains("heading");
    assertThat(Pages.whyBroken(page, "other.md#same-2")).contains("heading");
  }

  @Test
  void headings_insideBlocks_areNone() {
    assertThat(Pages.headings("# One\n```sh\n# comment\n```\n## Two\n"))
        .containsExactly("One", "Two");
  }

  @Test
  void firstParagraph_endsAtTheFirstEmptyLine() {
    assertThat(Pages.firstParagraph("# T\n\none\ntwo\n\nthree\n")).isEqualTo("one two");
  }

  @Test
  void redisCommands_ofAllThreeWaysToCall_areFound() {
    assertThat(
            Pages.redisCommands(
                "redis.call('TIME') redis.pcall('SET', V) write('DEL', L) x == 'SOFT'"))
        .containsExactly("DEL", "SET", "TIME");
  }

  @Test
  void testNames_inCodeSpans_areFound() {
    assertThat(Pages.testNames("| `FooTest` | `BarIT#a_b_c` | `CacheEngine` | BazTest |"))
        .containsExactly("BarIT#a_b_c", "FooTest");
  }
}
