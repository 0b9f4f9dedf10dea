/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spring.boot;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.boot.json.JsonParserFactory;

/** Keeps the page of properties, and what an IDE offers, in line with the classes. */
final class PropertiesPageTest {
  @Test
  void page_ofProperties_namesEachWithItsDescription() throws IOException {
    List<String> rows =
        Files.readAllLines(root().resolve("docs/spring-properties.md"), UTF_8).stream()
            .filter(line -> line.startsWith("| `paddock"))
            .toList();
    List<String> named = new ArrayList<>();
    for (Map<String, Object> property : metadata()) {
      String name = "| `" + property.get("name") + "` |";
      named.add(name);
      assertThat(rows)
          .as(name)
          .filteredOn(row -> row.startsWith(name))
          .singleElement()
          .asString()
          .endsWith("| " + property.get("description") + " |");
    }
    assertThat(rows).hasSameSizeAs(named);
    assertThat(named).hasSizeGreaterThan(40);
  }

  @Test
  void description_ofEachProperty_saysDefaultAndRange() throws IOException {
    for (Map<String, Object> property : metadata()) {
      String name = String.valueOf(property.get("name"));
      if (!name.equals("paddock.caches")) {
        assertThat(String.valueOf(property.get("description"))).as(name).contains("by default");
      }
    }
  }

  @SuppressWarnings("unchecked") // as JSON is
  private static List<Map<String, Object>> metadata() throws IOException {
    for (URL url :
        Collections.list(
            PropertiesPageTest.class
                .getClassLoader()
                .getResources("META-INF/spring-configuration-metadata.json"))) {
      try (InputStream in = url.openStream()) {
        String text = new String(in.readAllBytes(), UTF_8);
        if (text.contains("\"paddock.enabled\"")) {
          return (List<Map<String, Object>>)
              requireNonNull(JsonParserFactory.getJsonParser().parseMap(text).get("properties"));
        }
      }
    }
    throw new IllegalStateException("there is no metadata of ours");
  }

  private static Path root() {
    Path folder = Path.of("").toAbsolutePath();
    while (!Files.isDirectory(folder.resolve(".mvn"))) {
      folder = requireNonNull(folder.getParent(), "not inside the repository");
    }
    return folder;
  }
}
