/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.micrometer;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.paddock.AsyncLoader;
import dev.paddock.Cache;
import dev.paddock.Codecs;
import dev.paddock.LoadFailedException;
import dev.paddock.Loader;
import dev.paddock.testkit.InMemoryPaddock;
import io.micrometer.common.KeyValue;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

@SuppressWarnings("try") // A scope is there to be closed.
final class PaddockObservationsTest {
  private final InMemoryPaddock memory = InMemoryPaddock.create();
  private final ObservationRegistry registry = ObservationRegistry.create();
  private final List<Observation.Context> stopped = new CopyOnWriteArrayList<>();
  private final PaddockObservations observations = PaddockObservations.of(registry);
  private final Cache<String, String> posts =
      memory
          .paddock()
          .cache("posts", Codecs.string())
          .timeToLive(Duration.ofMinutes(10))
          .coolDown(Duration.ZERO)
          .build();

  PaddockObservationsTest() {
    registry
        .observationConfig()
        .observationHandler(
            new ObservationHandler<Observation.Context>() {
              @Override
              public void onStop(Observation.Context context) {
                if ("paddock.loader".equals(context.getName())) {
                  stopped.add(context);
                }
              }

              @Override
              public boolean supportsContext(Observation.Context context) {
                return true;
              }
            });
  }

  @AfterEach
  void close() {
    memory.close();
  }

  private Observation.Context only() {
    Awaitility.await()
        .atMost(Duration.ofSeconds(60))
        .untilAsserted(() -> assertThat(stopped).hasSize(1));
    return stopped.get(0);
  }

  private static Map<String, String> keyValues(Observation.Context context) {
    Map<String, String> all = new TreeMap<>();
    for (KeyValue each : context.getAllKeyValues()) {
      all.put(each.getKey(), each.getValue());
    }
    return all;
  }

  private static @Nullable String parent(Observation.Context context) {
    return context.getParentObservation() == null
        ? null
        : context.getParentObservation().getContextView().getName();
  }

  private Observation request() {
    return Observation.start("request", registry);
  }

  @Test
  void blockingLoad_isAChildOfTheCallersObservation_andCurrentInTheLoader() {
    try (Observation.Scope scope = request().openScope()) {
      posts.get(
          "secret",
          observations.observed(
              "posts",
              Loader.of(
                  key -> {
                    Observation current = requireNonNull(registry.getCurrentObservation());
                    return String.valueOf(current.getContextView().getName());
                  })));
      assertThat(requireNonNull(registry.getCurrentObservation()).getContextView().getName())
          .isEqualTo("request");
    }
    assertThat(posts.getIfPresent("secret")).isEqualTo("paddock.loader");
    assertThat(keyValues(only()))
        .isEqualTo(Map.of("cache", "posts", "leased", "true", "end", "loaded"));
    assertThat(parent(only())).isEqualTo("request");
    assertThat(only().getContextualName()).isEqualTo("load posts");
  }

  @Test
  void loadOnTheExecutor_isAChildOfWhatWasCurrentWhereItWasWrapped() throws Exception {
    CompletableFuture<String> answer;
    try (Observation.Scope scope = request().openScope()) {
      answer = posts.getAsync("k", observations.observed("posts", Loader.of(key -> "v")));
    }
    assertThat(answer.get(60, TimeUnit.SECONDS)).isEqualTo("v");
    assertThat(parent(only())).isEqualTo("request");
  }

  @Test
  void hit_isNoLoad() {
    posts.put("k", "v");
    assertThat(posts.get("k", observations.observed("posts", Loader.of(key -> "never"))))
        .isEqualTo("v");
    assertThat(stopped).isEmpty();
  }

  @Test
  void failedLoad_hasTheErrorAndNoParent() {
    IllegalStateException broken = new IllegalStateException("no database");
    assertThatThrownBy(
            () ->
                posts.get(
                    "k",
                    observations.observed(
                        "posts",
                        Loader.of(
                            key -> {
                              throw broken;
                            }))))
        .isInstanceOf(LoadFailedException.class);
    assertThat(keyValues(only())).containsEntry("end", "failed");
    assertThat(only().getError()).isSameAs(broken);
    assertThat(parent(only())).isNull();
  }

  @Test
  void asynchronousLoad_endsWithItsStage() throws Exception {
    CompletableFuture<@Nullable String> stage = new CompletableFuture<>();
    CompletableFuture<Boolean> begun = new CompletableFuture<>();
    AsyncLoader<String, String> loader =
        Loader.async(
            key -> {
              begun.complete(true);
              return stage;
            });
    Loader<String, String> observed = observations.observed("posts", loader);
    assertThat(observed).isInstanceOf(AsyncLoader.class);
    CompletableFuture<String> answer = posts.getAsync("k", observed);
    assertThat(begun.get(60, TimeUnit.SECONDS)).isTrue();
    assertThat(stopped).isEmpty();
    stage.complete("v");
    assertThat(answer.get(60, TimeUnit.SECONDS)).isEqualTo("v");
    assertThat(keyValues(only())).containsEntry("end", "loaded");
  }
}
