/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.micrometer;

import static java.util.Objects.requireNonNull;

import dev.paddock.AsyncLoader;
import dev.paddock.LoadContext;
import dev.paddock.Loader;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Makes loads observations of Micrometer, and so spans where tracing is set up.
 *
 * <pre>{@code
 * PaddockObservations observations = PaddockObservations.of(registry);
 * posts.get(42L, observations.observed("posts", Loader.of(repository::find)));
 * }</pre>
 *
 * <p>An observation {@code paddock.loader} begins and ends with each run of a loader, on the thread
 * where that runs, and is current there meanwhile: what the loader observes, its query for
 * instance, becomes its child. Key values are of low cardinality and closed sets: {@code cache},
 * {@code leased}, {@code end} ({@code loaded}, {@code absent}, {@code failed}); never the key.
 *
 * <p>Its parent is what is current on that thread: for a blocking call that is what the caller has.
 * If nothing is current there, because the loader runs on the executor (asynchronous calls,
 * refreshes in the background, load time-outs), it is what was current where the loader was
 * wrapped, which may have ended by then. So wrap a loader where the cache is called. One that is
 * wrapped once for all calls has no such parent, if it is wrapped where nothing is current.
 *
 * <p>Waits for the load of another are not observed, only counted and timed by {@link
 * PaddockMetrics}. Thread-safe.
 *
 * @since 0.1.0
 */
public final class PaddockObservations {
  private static final String NAME = "paddock.loader";

  private final ObservationRegistry registry;

  private PaddockObservations(ObservationRegistry registry) {
    this.registry = registry;
  }

  /**
   * Makes one.
   *
   * @param registry takes the observations
   * @return what wraps loaders
   */
  public static PaddockObservations of(ObservationRegistry registry) {
    return new PaddockObservations(requireNonNull(registry, "registry"));
  }

  /**
   * Wraps a loader.
   *
   * @param <K> the type of the keys
   * @param <V> the type of the values
   * @param cache the name of the cache, for the key value of that name
   * @param loader the loader; an {@link AsyncLoader} stays one, and its observation ends with its
   *     stage
   * @return a loader that does the same and is observed
   */
  public <K, V> Loader<K, V> observed(String cache, Loader<K, V> loader) {
    requireNonNull(cache, "cache");
    requireNonNull(loader, "loader");
    Observation here = registry.getCurrentObservation();
    if (loader instanceof AsyncLoader<K, V> async) {
      AsyncLoader<K, V> observed =
          (key, context) -> loadAsync(start(cache, context, here), async, key, context);
      return observed;
    }
    return (key, context) -> load(start(cache, context, here), loader, key, context);
  }

  private Observation start(String cache, LoadContext<?, ?> context, @Nullable Observation here) {
    Observation observation =
        Observation.createNotStarted(NAME, registry)
            .contextualName("load " + cache)
            .lowCardinalityKeyValue("cache", cache)
            .lowCardinalityKeyValue("leased", String.valueOf(context.isLeased()));
    if (here != null && registry.getCurrentObservation() == null) {
      observation.parentObservation(here);
    }
    return observation.start();
  }

  @SuppressWarnings("try") // A scope is there to be closed.
  private static <K, V> @Nullable V load(
      Observation observation, Loader<K, V> loader, K key, LoadContext<K, V> context)
      throws Exception {
    try (Observation.Scope scope = observation.openScope()) {
      V value = loader.load(key, context);
      end(observation, value, null);
      return value;
    } catch (Throwable e) {
      end(observation, null, e);
      throw e;
    } finally {
      observation.stop();
    }
  }

  @SuppressWarnings("try") // As above.
  private static <K, V> CompletionStage<? extends @Nullable V> loadAsync(
      Observation observation, AsyncLoader<K, V> loader, K key, LoadContext<K, V> context)
      throws Exception {
    try (Observation.Scope scope = observation.openScope()) {
      CompletionStage<? extends @Nullable V> stage = loader.loadAsync(key, context);
      if (stage == null) {
        // Paddock says what is wrong with that.
        end(observation, null, null);
        observation.stop();
        return stage;
      }
      return stage.whenComplete(
          (value, error) -> {
            end(observation, value, error);
            observation.stop();
          });
    } catch (Throwable e) {
      end(observation, null, e);
      observation.stop();
      throw e;
    }
  }

  private static void end(
      Observation observation, @Nullable Object value, @Nullable Throwable error) {
    if (error != null) {
      observation.error(error);
    }
    String end = value != null ? "loaded" : "absent";
    observation.lowCardinalityKeyValue("end", error != null ? "failed" : end);
  }
}
