/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.Cache;
import dev.paddock.KeyLoader;
import dev.paddock.LeaseLock;
import dev.paddock.Loader;
import dev.paddock.Paddock;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The page of the meters: it lists each, with its tags and their values, and no other. */
final class MetricsPageTest {
  private static final Pattern ROW =
      Pattern.compile("^\\| `([a-z.]+)` \\| (counter|timer|gauge|summary) \\|([^|]*)\\|(.+)\\|$");
  private static final Pattern COMMA = Pattern.compile(", ?");
  private static final Pattern TAG = Pattern.compile("`([a-z.]+)`(?:: ([a-z_, ]+))?");

  private static Path page() {
    Path folder = Path.of("").toAbsolutePath();
    while (folder != null && !Files.isDirectory(folder.resolve(".mvn"))) {
      folder = folder.getParent();
    }
    if (folder == null) {
      throw new IllegalStateException("not inside the repository: no folder .mvn above");
    }
    return folder.resolve("docs/metrics.md");
  }

  private static String type(Meter meter) {
    String type = meter.getId().getType().name();
    return type.equals("DISTRIBUTION_SUMMARY") ? "summary" : Meters.lower(type);
  }

  @Test
  void page_listsEachMeter_withItsTypeAndTagsAndTheirValues_andNoOther() throws IOException {
    Map<String, Map<String, Set<String>>> listed = new TreeMap<>();
    for (String line : Files.readAllLines(page())) {
      Matcher row = ROW.matcher(line);
      if (row.matches()) {
        Map<String, Set<String>> tags = new TreeMap<>();
        tags.put("type", new TreeSet<>(Set.of(row.group(2))));
        Matcher tag = TAG.matcher(row.group(3));
        while (tag.find()) {
          tags.put(
              tag.group(1),
              tag.group(2) == null
                  ? new TreeSet<>()
                  : new TreeSet<>(COMMA.splitAsStream(tag.group(2).strip()).toList()));
        }
        assertThat(listed.put(row.group(1), tags)).as(row.group(1) + " twice").isNull();
        assertThat(row.group(4).strip()).as(row.group(1)).isNotEmpty();
      }
    }
    assertThat(listed).isEqualTo(registered());
  }

  private static Map<String, Map<String, Set<String>>> registered() {
    Set<String> open = Set.of("cache", "name", "cache.manager");
    Map<String, Map<String, Set<String>>> all = new TreeMap<>();
    SimpleMeterRegistry registry = new SimpleMeterRegistry();
    try {
      EverySample.sendTo(PaddockMetrics.newBuilder(registry).histograms(false).build());
      for (Meter meter : registry.getMeters()) {
        Map<String, Set<String>> tags =
            all.computeIfAbsent(meter.getId().getName(), name -> new TreeMap<>());
        tags.computeIfAbsent("type", key -> new TreeSet<>()).add(type(meter));
        for (Tag tag : meter.getId().getTags()) {
          Set<String> values = tags.computeIfAbsent(tag.getKey(), key -> new TreeSet<>());
          if (!open.contains(tag.getKey())) {
            values.add(tag.getValue());
          }
        }
      }
    } finally {
      registry.close();
    }
    return all;
  }

  /** The examples of the page and of the module's README; compiled, not run. */
  static void examples(String uri, MeterRegistry registry) {
    PaddockMetrics metrics = PaddockMetrics.of(registry);
    Paddock paddock = Paddock.newBuilder().store(uri).listener(metrics).build();
    LeaseLock lock = LeaseLock.newBuilder().store(uri).listener(metrics).build();
    lock.close();
    paddock.close();
    PaddockMetrics.newBuilder(registry)
        .caches(List.of("posts", "users"))
        .leaseTag(name -> name.substring(0, Math.max(0, name.indexOf(':'))))
        .cacheManager("cacheManager")
        .build();
  }

  /** The example of observations; compiled, not run. */
  static void observing(
      ObservationRegistry registry, Cache<Long, String> posts, KeyLoader<Long, String> find) {
    PaddockObservations observations = PaddockObservations.of(registry);
    String post = posts.get(42L, observations.observed("posts", Loader.of(find)));
    assertThat(post).isNotNull();
  }
}
