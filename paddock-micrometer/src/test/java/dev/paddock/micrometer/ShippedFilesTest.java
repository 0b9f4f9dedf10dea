/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.micrometer;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What the dashboard and the alert rules ask for is what a scrape shows: names, tags, values. */
final class ShippedFilesTest {
  private static final Pattern SAMPLE = Pattern.compile("([a-zA-Z_:]+)(?:\\{(.*)\\})? \\S+");
  private static final Pattern LABEL = Pattern.compile("([a-z_]+)(=~?)\"([^\"]*)\"");
  private static final Pattern ASKED =
      Pattern.compile("\\b((?:paddock|cache)_[a-z_]+)(\\{[^}]*\\})?");
  private static final Pattern GROUPING = Pattern.compile("by \\(([^)]*)\\)");

  /** Labels that Prometheus adds. */
  private static final Set<String> OF_THE_SCRAPE = Set.of("job", "instance");

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

  /** By sample and label, the values there are. */
  private final Map<String, Map<String, Set<String>>> samples = new HashMap<>();

  @BeforeEach
  void scrape() {
    EverySample.sendTo(PaddockMetrics.of(registry));
    for (String line : registry.scrape().lines().toList()) {
      Matcher sample = SAMPLE.matcher(line);
      if (!line.startsWith("#") && sample.matches()) {
        Map<String, Set<String>> labels =
            samples.computeIfAbsent(sample.group(1), name -> new HashMap<>());
        Matcher label = LABEL.matcher(sample.group(2) == null ? "" : sample.group(2));
        while (label.find()) {
          labels.computeIfAbsent(label.group(1), key -> new HashSet<>()).add(label.group(3));
        }
      }
    }
  }

  @AfterEach
  void close() {
    registry.close();
  }

  private static String text(String name) throws IOException {
    try (InputStream in = PaddockMetrics.class.getResourceAsStream(name)) {
      return new String(requireNonNull(in, name).readAllBytes(), UTF_8);
    }
  }

  /** What is wrong with an expression; nothing as a rule. */
  private List<String> faults(String expression) {
    List<String> faults = new ArrayList<>();
    Set<String> labels = new HashSet<>(OF_THE_SCRAPE);
    Matcher asked = ASKED.matcher(expression);
    int names = 0;
    while (asked.find()) {
      names++;
      Map<String, Set<String>> known = samples.get(asked.group(1));
      if (known == null) {
        faults.add("no " + asked.group(1));
        continue;
      }
      labels.addAll(known.keySet());
      Matcher label = LABEL.matcher(asked.group(2) == null ? "" : asked.group(2));
      while (label.find()) {
        Set<String> values = known.get(label.group(1));
        if (values == null) {
          faults.add(asked.group(1) + " has no label " + label.group(1));
        } else if (!label.group(3).startsWith("$")) {
          for (String value : label.group(3).split("\\|", -1)) {
            if (!values.contains(value)) {
              faults.add(asked.group(1) + " has no " + label.group(1) + " " + value);
            }
          }
        }
      }
    }
    Matcher grouping = GROUPING.matcher(expression);
    while (grouping.find()) {
      for (String label : grouping.group(1).split(", ", -1)) {
        if (!labels.contains(label)) {
          faults.add("nothing has a label " + label + " in " + expression);
        }
      }
    }
    if (names == 0) {
      faults.add("no meter in " + expression);
    }
    return faults;
  }

  private static List<String> ofTheDashboard() throws IOException {
    JsonNode dashboard = JsonMapper.builder().build().readTree(text("grafana-dashboard.json"));
    List<String> all = new ArrayList<>();
    for (JsonNode panel : dashboard.get("panels")) {
      if (!panel.get("type").asString().equals("row")) {
        for (JsonNode target : panel.get("targets")) {
          all.add(target.get("expr").asString());
        }
      }
    }
    for (JsonNode variable : dashboard.get("templating").get("list")) {
      if (variable.get("type").asString().equals("query")) {
        all.add(variable.get("query").asString());
      }
    }
    return all;
  }

  private static List<Map<String, Object>> rules() throws IOException {
    Map<String, List<Map<String, List<Map<String, Object>>>>> file =
        new Yaml(new SafeConstructor(new LoaderOptions())).load(text("prometheus-alerts.yaml"));
    return requireNonNull(requireNonNull(file.get("groups")).get(0).get("rules"));
  }

  @Test
  void dashboard_asksOnlyForWhatIsScraped() throws IOException {
    List<String> asked = ofTheDashboard();
    assertThat(asked).hasSizeGreaterThan(30);
    assertThat(asked).allSatisfy(expression -> assertThat(faults(expression)).isEmpty());
  }

  @Test
  void alerts_askOnlyForWhatIsScraped() throws IOException {
    List<Map<String, Object>> rules = rules();
    assertThat(rules).hasSizeGreaterThan(8);
    assertThat(rules)
        .allSatisfy(
            rule -> {
              assertThat(rule).containsKeys("alert", "expr", "labels", "annotations");
              assertThat(faults(String.valueOf(rule.get("expr")))).isEmpty();
            });
  }

  @Test
  void dashboard_showsEveryMeter() throws IOException {
    Set<String> shown = new TreeSet<>();
    Matcher asked = ASKED.matcher(String.join("\n", ofTheDashboard()));
    while (asked.find()) {
      shown.add(family(asked.group(1)));
    }
    Set<String> scraped = new TreeSet<>();
    samples.keySet().forEach(name -> scraped.add(family(name)));
    // The Spring names say the same as what is shown beside them.
    scraped.removeAll(Set.of("cache_puts", "cache_removals"));
    assertThat(shown).isEqualTo(scraped);
  }

  private static String family(String sample) {
    return sample.replaceAll("_(total|count|sum|bucket|max)$", "");
  }

  @Test
  void check_seesAForeignName_label_orValue() {
    assertThat(faults("rate(paddock_reed_total[5m])")).containsExactly("no paddock_reed_total");
    assertThat(faults("rate(paddock_read_total{outcome=\"hit\"}[5m])"))
        .containsExactly("paddock_read_total has no label outcome");
    assertThat(faults("rate(paddock_read_total{result=~\"hit|mizz\"}[5m])"))
        .containsExactly("paddock_read_total has no result mizz");
    assertThat(faults("sum by (cash) (rate(paddock_read_total[5m]))")).hasSize(1);
    assertThat(faults("sum by (cache) (rate(paddock_read_total{cache=~\"$cache\"}[5m]))"))
        .isEmpty();
  }
}
