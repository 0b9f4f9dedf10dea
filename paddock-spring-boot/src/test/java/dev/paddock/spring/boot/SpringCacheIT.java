/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spring.boot;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.paddock.micrometer.PaddockMetrics;
import dev.paddock.testkit.RedisServerProcess;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.cache.Cache;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.CacheEvict;
import org.springframework.cache.annotation.CachePut;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.Caching;
import org.springframework.cache.interceptor.KeyGenerator;
import org.springframework.data.redis.cache.RedisCacheConfiguration;
import org.springframework.data.redis.cache.RedisCacheManager;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Spring's contract, on a real server. */
final class SpringCacheIT {
  private static @Nullable RedisServerProcess server;

  record Post(long id, String title) {}

  record Author(String name) {}

  /** A source that counts. */
  static class Posts {
    private final AtomicInteger loads = new AtomicInteger();
    private final Map<Long, String> titles = new ConcurrentHashMap<>();
    private volatile CountDownLatch gate = new CountDownLatch(0);

    // By methods: a proxy has fields of its own.
    public AtomicInteger loads() {
      return loads;
    }

    public void close(CountDownLatch closed) {
      gate = closed;
    }

    private @Nullable Post load(long id) {
      loads.incrementAndGet();
      try {
        if (!gate.await(30, TimeUnit.SECONDS)) {
          throw new IllegalStateException("nobody opened the gate");
        }
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      if (id < 0) {
        return null;
      }
      return new Post(id, titles.getOrDefault(id, "title " + id));
    }

    @Cacheable("posts")
    public @Nullable Post find(long id) {
      return load(id);
    }

    @Cacheable(cacheNames = "posts", sync = true)
    public @Nullable Post findSync(long id) {
      return load(id);
    }

    @Cacheable("optionals")
    public Optional<Post> findOptional(long id) {
      return Optional.ofNullable(load(id));
    }

    @Cacheable(cacheNames = "conditions", key = "#p0.id", condition = "#p0.id > 10")
    public @Nullable Post findLike(Post example) {
      return load(example.id());
    }

    @Cacheable(cacheNames = "generated", keyGenerator = "ofOne")
    public @Nullable Post findByGenerated(long id, String ignored) {
      return load(id);
    }

    @Cacheable(cacheNames = "unless", unless = "#result == null")
    public @Nullable Post findUnless(long id) {
      return load(id);
    }

    @Cacheable("twoTypes")
    public @Nullable Post post(long id) {
      return load(id);
    }

    @Cacheable("twoTypes")
    public Author author(String name) {
      loads.incrementAndGet();
      return new Author(name);
    }

    @Cacheable("lists")
    public List<Post> list(String region, int count) {
      List<Post> found = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        found.add(requireNonNull(load(i)));
      }
      return found;
    }

    @Cacheable("futures")
    public CompletableFuture<Post> future(long id) {
      loads.incrementAndGet();
      CompletableFuture<Post> result = new CompletableFuture<>();
      Thread thread =
          new Thread(
              () -> {
                try {
                  if (id < 0) {
                    result.completeExceptionally(new IOException("broken"));
                  } else if (gate.await(30, TimeUnit.SECONDS)) {
                    result.complete(new Post(id, "future"));
                  }
                } catch (InterruptedException e) {
                  result.completeExceptionally(e);
                }
              });
      thread.setDaemon(true);
      thread.start();
      return result;
    }

    @Cacheable("monos")
    public Mono<Post> mono(long id) {
      return Mono.fromFuture(() -> future(id));
    }

    @Cacheable("fluxes")
    public Flux<Post> flux(int count) {
      loads.incrementAndGet();
      return Flux.range(0, count).map(i -> new Post(i, "flux"));
    }

    @Cacheable("broken")
    public Post broken(long id) throws IOException {
      loads.incrementAndGet();
      throw new IOException("broken " + id);
    }

    @CachePut(cacheNames = "posts", key = "#p0.id")
    public Post save(Post post) {
      titles.put(post.id(), post.title());
      return post;
    }

    @CacheEvict(cacheNames = "posts", allEntries = true)
    public void deleteAll() {
      titles.clear();
    }

    @CacheEvict("posts")
    public void delete(long id) {
      titles.remove(id);
    }

    @CacheEvict(cacheNames = "posts", beforeInvocation = true)
    public void deleteAndFail(long id) {
      throw new IllegalStateException("after the eviction");
    }

    @Caching(evict = {@CacheEvict("posts"), @CacheEvict("optionals")})
    public void deleteEverywhere(long id) {}
  }

  private static RedisServerProcess redis() {
    return requireNonNull(server);
  }

  @BeforeAll
  static void startRedis() {
    server = RedisServerProcess.start();
  }

  @AfterAll
  static void stopRedis() {
    redis().close();
  }

  @BeforeEach
  void forget() {
    redis().console().command("FLUSHALL");
  }

  private static void run(Consumer<AssertableApplicationContext> test) {
    Contexts.runner(redis().port())
        .withBean(Posts.class)
        .withBean("ofOne", KeyGenerator.class, () -> (target, method, arguments) -> arguments[0])
        .run(
            context -> {
              assertThat(context).hasNotFailed();
              test.accept(context);
            });
  }

  private static Cache cache(AssertableApplicationContext context, String name) {
    return requireNonNull(context.getBean(CacheManager.class).getCache(name));
  }

  /** Runs many calls at once, opens the gate when they are under way, and returns what they got. */
  private static <T> List<T> together(int callers, Posts posts, Callable<T> call) throws Exception {
    CountDownLatch gate = new CountDownLatch(1);
    posts.close(gate);
    ExecutorService pool = Executors.newFixedThreadPool(callers);
    try {
      CountDownLatch ready = new CountDownLatch(callers);
      List<Future<T>> answers = new ArrayList<>();
      for (int i = 0; i < callers; i++) {
        answers.add(
            pool.submit(
                () -> {
                  ready.countDown();
                  if (!ready.await(30, TimeUnit.SECONDS)) {
                    throw new IllegalStateException("not all are there");
                  }
                  return call.call();
                }));
      }
      assertThat(ready.await(30, TimeUnit.SECONDS)).isTrue();
      gate.countDown();
      List<T> got = new ArrayList<>();
      for (Future<T> answer : answers) {
        got.add(answer.get(30, TimeUnit.SECONDS));
      }
      return got;
    } finally {
      pool.shutdownNow();
    }
  }

  @Test
  void cacheable_withAndWithoutSync_loadsOnceForManyCallers() {
    run(
        context -> {
          Posts posts = context.getBean(Posts.class);
          assertThat(unchecked(() -> together(20, posts, () -> posts.find(1))))
              .containsOnly(new Post(1, "title 1"));
          assertThat(posts.loads()).hasValue(1);
          assertThat(unchecked(() -> together(20, posts, () -> posts.findSync(2))))
              .containsOnly(new Post(2, "title 2"));
          assertThat(posts.loads()).hasValue(2);
          assertThat(redis().console().text("GET", "posts:1")).contains("\"title 1\"");
        });
  }

  @Test
  void futures_ofManyCallers_loadOnce() {
    run(
        context -> {
          Posts posts = context.getBean(Posts.class);
          assertThat(unchecked(() -> together(20, posts, () -> posts.future(1).get())))
              .containsOnly(new Post(1, "future"));
          assertThat(posts.loads()).hasValue(1);
          assertThatThrownBy(() -> posts.future(-1).join())
              .isInstanceOf(CompletionException.class)
              .hasRootCauseInstanceOf(IOException.class);
        });
  }

  @Test
  void monosAndFluxes_ofManyCallers_loadOnce() {
    run(
        context -> {
          Posts posts = context.getBean(Posts.class);
          assertThat(unchecked(() -> together(20, posts, () -> posts.mono(1).block())))
              .containsOnly(new Post(1, "future"));
          assertThat(posts.loads()).hasValue(1);
          assertThat(posts.flux(3).collectList().block()).hasSize(3);
          assertThat(posts.flux(3).collectList().block()).hasSize(3).contains(new Post(2, "flux"));
          assertThat(posts.loads()).hasValue(2);
        });
  }

  @Test
  void null_andEmptyOptional_areRemembered() {
    run(
        context -> {
          Posts posts = context.getBean(Posts.class);
          assertThat(posts.find(-1)).isNull();
          assertThat(posts.find(-1)).isNull();
          assertThat(posts.loads()).hasValue(1);
          assertThat(posts.findOptional(-1)).isEmpty();
          assertThat(posts.findOptional(-1)).isEmpty();
          assertThat(posts.loads()).hasValue(2);
          assertThat(posts.findOptional(3)).contains(new Post(3, "title 3"));
          assertThat(posts.findOptional(3)).contains(new Post(3, "title 3"));
          assertThat(posts.loads()).hasValue(3);
        });
  }

  @Test
  void expressionsConditionsAndGenerators_decideKeys() {
    run(
        context -> {
          Posts posts = context.getBean(Posts.class);
          posts.findLike(new Post(5, ""));
          posts.findLike(new Post(5, ""));
          assertThat(posts.loads()).as("the condition says no").hasValue(2);
          posts.findLike(new Post(50, ""));
          posts.findLike(new Post(50, "other"));
          assertThat(posts.loads()).hasValue(3);
          posts.findByGenerated(7, "a");
          posts.findByGenerated(7, "b");
          assertThat(posts.loads()).hasValue(4);
          assertThat(posts.list("eu", 2)).hasSize(2);
          assertThat(posts.list("eu", 2)).hasSize(2);
          assertThat(posts.loads()).hasValue(6);
          assertThat(
                  redis()
                      .console()
                      .command("EXISTS", "lists:(eu,2)", "conditions:50", "generated:7"))
              .isEqualTo(3L);
        });
  }

  @Test
  void putAndEvict_byAnnotations_changeWhatIsRead() {
    run(
        context -> {
          Posts posts = context.getBean(Posts.class);
          posts.find(1);
          posts.save(new Post(1, "saved"));
          assertThat(posts.find(1)).isEqualTo(new Post(1, "saved"));
          assertThat(posts.loads()).hasValue(1);
          posts.delete(1);
          assertThat(posts.find(1)).isEqualTo(new Post(1, "title 1"));
          assertThat(posts.loads()).hasValue(2);
          assertThatThrownBy(() -> posts.deleteAndFail(1)).hasMessage("after the eviction");
          posts.find(1);
          assertThat(posts.loads()).hasValue(3);
          posts.findOptional(1);
          posts.deleteEverywhere(1);
          posts.find(1);
          posts.findOptional(1);
          assertThat(posts.loads()).hasValue(6);
        });
  }

  @Test
  void allEntries_evicted_areLoadedAgainHereAndSoonInOtherProcesses() {
    run(
        here ->
            run(
                there -> {
                  Posts posts = here.getBean(Posts.class);
                  posts.find(1);
                  posts.find(2);
                  Posts others = there.getBean(Posts.class);
                  others.find(1);
                  assertThat(others.loads()).hasValue(0);
                  posts.deleteAll();
                  posts.find(1);
                  posts.find(2);
                  assertThat(posts.loads()).hasValue(4);
                  cache(here, "posts").put(3L, new Post(3, "stays"));
                  assertThat(cache(here, "posts").invalidate()).isFalse();
                  assertThat(cache(here, "posts").get(3L)).isNull();
                  await()
                      .atMost(Duration.ofSeconds(30))
                      .untilAsserted(() -> assertThat(cache(there, "posts").get(3L)).isNull());
                }));
  }

  @Test
  void registry_ofMeters_getsOurs() {
    Contexts.runner(redis().port())
        .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
        .run(
            context -> {
              assertThat(context).hasSingleBean(PaddockMetrics.class);
              cache(context, "posts").<String>get("k", () -> "loaded");
              assertThat(context.getBean(MeterRegistry.class).getMeters())
                  .anyMatch(
                      meter ->
                          meter.getId().getName().startsWith("paddock.")
                              && "posts".equals(meter.getId().getTag("cache")));
            });
  }

  @Test
  void twoTypes_inOneCache_comeBackAsWhatTheyWere() {
    run(
        context -> {
          Posts posts = context.getBean(Posts.class);
          posts.post(1);
          posts.author("Ada");
          assertThat(posts.post(1)).isEqualTo(new Post(1, "title 1"));
          assertThat(posts.author("Ada")).isEqualTo(new Author("Ada"));
          assertThat(posts.loads()).hasValue(2);
        });
  }

  @Test
  void typeName_thatTheCacheDoesNotHold_isAMiss() {
    run(
        context -> {
          Posts posts = context.getBean(Posts.class);
          cache(context, "posts").put(1L, "a text");
          assertThat(cache(context, "posts").get(1L, String.class)).isEqualTo("a text");
          cache(context, "twoTypes").put(1L, new Author("Ada"));
          redis()
              .console()
              .command(
                  "SET", "posts:1", requireNonNull(redis().console().command("GET", "twoTypes:1")));
          assertThat(posts.find(1)).isEqualTo(new Post(1, "title 1"));
          assertThat(posts.loads()).hasValue(1);
        });
  }

  @Test
  void valuesOfSpringDataRedis_underTheSameKey_areMisses() {
    run(
        context -> {
          RedisCacheManager other =
              RedisCacheManager.builder(context.getBean(RedisConnectionFactory.class))
                  .cacheDefaults(
                      RedisCacheConfiguration.defaultCacheConfig()
                          .computePrefixWith(name -> name + ":"))
                  .build();
          other.afterPropertiesSet();
          requireNonNull(other.getCache("posts")).put(1L, "by RedisCacheManager");
          requireNonNull(other.getCache("posts")).put(2L, null);
          Posts posts = context.getBean(Posts.class);
          assertThat(posts.find(1)).isEqualTo(new Post(1, "title 1"));
          assertThat(posts.find(2)).isEqualTo(new Post(2, "title 2"));
          posts.find(1);
          posts.find(2);
          assertThat(posts.loads()).hasValue(2);
          assertThat(cache(context, "posts").get(1L)).isNotNull();
        });
  }

  @Test
  void exceptions_ofMethods_reachTheirCallersAsTheyAre() {
    run(
        context -> {
          Posts posts = context.getBean(Posts.class);
          assertThatThrownBy(() -> posts.broken(1))
              .isInstanceOf(IOException.class)
              .hasMessage("broken 1");
          assertThatThrownBy(
                  () ->
                      cache(context, "posts")
                          .get(
                              9L,
                              () -> {
                                throw new IOException("by hand");
                              }))
              .isInstanceOf(Cache.ValueRetrievalException.class)
              .cause()
              .isInstanceOf(IOException.class)
              .hasMessage("by hand");
        });
  }

  @Test
  void cache_byHand_keepsSpringsContract() {
    run(
        context -> {
          Cache cache = cache(context, "posts");
          assertThat(cache.getName()).isEqualTo("posts");
          assertThat(cache.getNativeCache()).isInstanceOf(dev.paddock.Cache.class);
          assertThat(cache.get("k")).isNull();
          assertThat(requireNonNull(cache.retrieve("k")).join()).isNull();
          cache.put("k", null);
          assertThat(requireNonNull(cache.get("k")).get()).isNull();
          assertThat(requireNonNull(cache.retrieve("k")).join())
              .isInstanceOfSatisfying(
                  Cache.ValueWrapper.class, wrapper -> assertThat(wrapper.get()).isNull());
          assertThat(cache.evictIfPresent("k")).isTrue();
          assertThat(cache.evictIfPresent("k")).isFalse();
          assertThat(cache.putIfAbsent("k", "first")).isNull();
          assertThat(requireNonNull(cache.putIfAbsent("k", "second")).get()).isEqualTo("first");
          assertThat(cache.get("k", String.class)).isEqualTo("first");
          assertThatThrownBy(() -> cache.get("k", Long.class))
              .isInstanceOf(IllegalStateException.class);
          assertThat(cache.<String>get("k", () -> "loaded")).isEqualTo("first");
          cache.evict("k");
          assertThat(cache.retrieve("k", () -> CompletableFuture.completedFuture("async")).join())
              .isEqualTo("async");
          assertThat(cache.get("k", String.class)).isEqualTo("async");
          assertThat(context.getBean(CacheManager.class).getCacheNames()).contains("posts");
        });
  }

  @Test
  void redis_gone_costsReadsNothingAndWritesFail() {
    RedisServerProcess other = RedisServerProcess.start();
    Contexts.runner(other.port())
        .withBean(Posts.class)
        .withBean("ofOne", KeyGenerator.class, () -> (target, method, arguments) -> arguments[0])
        .withPropertyValues("paddock.command-timeout=300ms")
        .run(
            context -> {
              Posts posts = context.getBean(Posts.class);
              posts.find(1);
              other.close();
              assertThat(posts.find(1)).isEqualTo(new Post(1, "title 1"));
              assertThat(cache(context, "posts").get(77L)).isNull();
              assertThatThrownBy(() -> posts.delete(1))
                  .isInstanceOf(dev.paddock.StoreException.class);
            });
  }

  @Test
  void methods_thatSpringDoesNotLetUsProtect_workAndAreNamed() {
    run(
        context -> {
          Posts posts = context.getBean(Posts.class);
          assertThat(posts.findUnless(-1)).isNull();
          assertThat(posts.findUnless(-1)).isNull();
          posts.findUnless(1);
          posts.findUnless(1);
          assertThat(posts.loads()).hasValue(3);
          assertThat(context.getBean(CacheMethods.class).unprotected())
              .containsOnlyKeys(Posts.class.getName() + ".findUnless()");
        });
  }

  private static <T> T unchecked(Callable<T> call) {
    try {
      return call.call();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
