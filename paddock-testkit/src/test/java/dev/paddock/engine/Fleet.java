/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.AsyncLoader;
import dev.paddock.Cache;
import dev.paddock.CacheBuilder;
import dev.paddock.CacheEvent;
import dev.paddock.Codecs;
import dev.paddock.LoadContext;
import dev.paddock.Paddock;
import dev.paddock.redis.RedisFillStore;
import dev.paddock.spi.FillStore;
import dev.paddock.spi.StoreOptions;
import dev.paddock.testkit.InMemoryRedis;
import dev.paddock.testkit.KeyState;
import dev.paddock.testkit.VirtualEnvironment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Several processes with a Paddock each, one Redis, one source of truth; virtual time. */
final class Fleet {
  static final Duration LOAD = Duration.ofMillis(200);
  static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(1);

  final VirtualEnvironment env;
  final InMemoryRedis redis;
  final Source source = new Source();

  /** What the processes that start from here on are told beside the usual. */
  UnaryOperator<Paddock.Builder> paddockSettings = builder -> builder;

  private final List<Node> nodes = new ArrayList<>();
  private final List<Answer> answers = new ArrayList<>();

  Fleet() {
    this(1);
  }

  Fleet(long seed) {
    env = new VirtualEnvironment(seed);
    redis = new InMemoryRedis(env);
  }

  /** Starts a process whose cache "c" has the default settings but for what is said here. */
  Node node(String name, UnaryOperator<CacheBuilder<String, String>> settings) {
    Node node = new Node(name, settings);
    nodes.add(node);
    return node;
  }

  Node node(String name) {
    return node(name, builder -> builder);
  }

  /** What is in force in most tests: TTL 10 s, no jitter, lease 1 s; maxWait is 5 s by default. */
  static CacheBuilder<String, String> usual(CacheBuilder<String, String> builder) {
    return builder.timeToLive(Duration.ofSeconds(10)).jitter(0).leaseTime(Duration.ofSeconds(1));
  }

  /** Begins to count commands, with the scripts known to the server as they are in the long run. */
  void countFromHere() {
    Node node = nodes.get(0);
    int loads = source.loads;
    node.get("warm");
    advance(source.takes.plusMillis(10));
    node.put("warm", "x");
    node.expire("warm");
    source.loads = loads;
    redis.resetCommandCounts();
  }

  void advance(Duration by) {
    env.advance(by);
    checkLeaseKeys();
  }

  /** Every lease key has a TTL within the largest grace. */
  void checkLeaseKeys() {
    redis
        .snapshot()
        .forEach(
            (key, state) -> {
              if (key.toString().startsWith("pdk:") && !isBarrier(key.toString())) {
                assertThat(state.ttlMillis())
                    .as("TTL of %s", key)
                    .isPositive()
                    .isLessThanOrEqualTo(3_000_000);
              }
            });
  }

  /** Barriers last for days. */
  private static boolean isBarrier(String key) {
    return key.startsWith("pdk:tag:") || key.startsWith("pdk:all:");
  }

  /**
   * Nothing is left a while after the last call: no wait, flight, timer, subscription, lease key.
   */
  void assertAtRest() {
    advance(Duration.ofMinutes(10));
    for (Answer answer : answers) {
      assertThat(answer.future).as(answer.toString()).isDone();
    }
    assertThat(env.pendingTasks()).as("tasks").isZero();
    assertThat(env.pendingTimers()).as("timers: %s", env).isZero();
    assertThat(redis.subscriptionCount()).as("subscriptions").isZero();
    assertThat(redis.snapshot().keySet())
        .noneMatch(key -> key.toString().startsWith("pdk:") && !isBarrier(key.toString()));
    assertThat(source.running).as("loads running").isZero();
  }

  @Nullable KeyState stored(String key) {
    return redis.snapshot().entrySet().stream()
        .filter(entry -> entry.getKey().toString().equals("c:" + key))
        .map(java.util.Map.Entry::getValue)
        .findFirst()
        .orElse(null);
  }

  long commands() {
    return redis.commandCounts().values().stream().mapToLong(Long::longValue).sum();
  }

  /** The truth: a version that changes when told, and loads that take their time. */
  final class Source {
    private long version = 1;
    int loads;
    int running;
    int mostAtOnce;
    Duration takes = LOAD;
    @Nullable RuntimeException failure;
    @Nullable Consumer<LoadContext<String, String>> onLoad;

    String value() {
      return "v" + version;
    }

    void change() {
      version++;
    }

    AsyncLoader<String, String> loader() {
      return (key, context) -> {
        loads++;
        if (onLoad != null) {
          onLoad.accept(context);
        }
        running++;
        mostAtOnce = Math.max(mostAtOnce, running);
        String value = value();
        RuntimeException error = failure;
        CompletableFuture<String> result = new CompletableFuture<>();
        env.schedule(
            () -> {
              running--;
              if (error != null) {
                result.completeExceptionally(error);
              } else {
                result.complete(value);
              }
            },
            takes.toNanos());
        return result;
      };
    }
  }

  /** One process. */
  final class Node {
    final String name;
    final List<CacheEvent> events = new ArrayList<>();
    final Paddock paddock;
    final Cache<String, String> cache;

    private Node(String name, UnaryOperator<CacheBuilder<String, String>> settings) {
      this.name = name;
      FillStore store =
          env.await(
              RedisFillStore.openAsync(
                  redis.connect(name, env),
                  env,
                  new StoreOptions(Duration.ofSeconds(10), COMMAND_TIMEOUT)),
              Duration.ofSeconds(10));
      paddock =
          paddockSettings
              .apply(Paddock.newBuilder())
              .store((environment, options) -> store)
              .environment(env)
              .commandTimeout(COMMAND_TIMEOUT)
              .closeOnShutdown(false)
              .listener(events::add)
              .build();
      cache = settings.apply(paddock.cache("c", Codecs.string())).build();
    }

    Answer get(String key) {
      return watch(key, cache.getAsync(key, source.loader()));
    }

    List<Answer> getMany(String key, int callers) {
      List<Answer> all = new ArrayList<>();
      for (int i = 0; i < callers; i++) {
        all.add(get(key));
      }
      return all;
    }

    Answer watch(String key, CompletableFuture<@Nullable String> future) {
      Answer answer = new Answer(name + " get " + key, env.elapsedNanos(), future);
      answers.add(answer);
      return answer;
    }

    <T extends CacheEvent> List<T> events(Class<T> type) {
      return events.stream().filter(type::isInstance).map(type::cast).toList();
    }

    void invalidate(String key) {
      env.await(cache.invalidateAsync(key), Duration.ofSeconds(10));
    }

    void invalidateTag(String tag) {
      env.await(cache.invalidateTagAsync(tag), Duration.ofSeconds(10));
    }

    void clear() {
      env.await(cache.clearAsync(), Duration.ofSeconds(10));
    }

    void put(String key, @Nullable String value) {
      env.await(cache.putAsync(key, value), Duration.ofSeconds(10));
    }

    void expire(String key) {
      env.await(cache.expireAsync(key), Duration.ofSeconds(10));
    }

    dev.paddock.Lookup<String> lookup(String key) {
      return env.await(cache.lookupAsync(key), Duration.ofSeconds(10));
    }

    void close() {
      env.await(paddock.closeAsync(), Duration.ofSeconds(10));
    }
  }

  /** What one caller got, and when. */
  final class Answer {
    private final String what;
    private final long startNanos;
    private long endNanos = -1;
    final CompletableFuture<@Nullable String> future;
    @Nullable Throwable error;
    int completions;

    private Answer(String what, long startNanos, CompletableFuture<@Nullable String> future) {
      this.what = what;
      this.startNanos = startNanos;
      this.future = future;
      var unused =
          future.whenComplete(
              (value, failure) -> {
                completions++;
                endNanos = env.elapsedNanos();
                error = failure;
              });
    }

    boolean isDone() {
      return future.isDone();
    }

    @Nullable String value() {
      assertThat(future).as(what).isCompleted();
      return future.join();
    }

    Duration took() {
      assertThat(endNanos).as("%s is answered", what).isNotNegative();
      return Duration.ofNanos(endNanos - startNanos);
    }

    @Override
    public String toString() {
      return what;
    }
  }
}
