/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.docs;

import dev.paddock.BulkResult;
import dev.paddock.Cache;
import dev.paddock.CacheBuilder;
import dev.paddock.CacheEvent;
import dev.paddock.CallOptions;
import dev.paddock.Codec;
import dev.paddock.FenceOutcome;
import dev.paddock.HotKeys;
import dev.paddock.Lease;
import dev.paddock.LeaseLock;
import dev.paddock.LeaseOptions;
import dev.paddock.LeaseOutcome;
import dev.paddock.LeaseRun;
import dev.paddock.Loader;
import dev.paddock.Paddock;
import dev.paddock.jackson.JacksonCodec;
import dev.paddock.redis.FencedWrite;
import dev.paddock.redis.lettuce.FencedWrites;
import dev.paddock.redis.lettuce.LettuceRedis;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The examples of the pages, so that a change of the API that breaks one breaks the build. */
final class DocExamples {
  record Post(long id, String title, String author, boolean isDraft) {}

  record Settings(String text) {}

  /** A source of truth. */
  interface Database {
    @Nullable Post findPost(long id);

    @Nullable Post findIfChanged(Post known);

    void savePost(Post post);

    Map<Long, Post> findPosts(Set<Long> ids);

    void eachPost(Set<Long> ids, Consumer<Post> found);
  }

  /** An asynchronous source of truth. */
  interface Client {
    CompletionStage<Post> fetchPost(long id);
  }

  private DocExamples() {}

  static Map<Long, Post> bulk(Cache<Long, Post> posts, List<Long> ids, Database database) {
    Map<Long, Post> found = posts.getAll(ids, (missing, context) -> database.findPosts(missing));
    return found;
  }

  static void bulkOutcomes(
      Cache<Long, Post> posts,
      List<Long> ids,
      Database database,
      Consumer<Map<Long, Post>> page,
      Log log) {
    BulkResult<Long, Post> result =
        posts.tryGetAll(ids, (missing, context) -> database.findPosts(missing));
    page.accept(result.values());
    result.failures().forEach((id, why) -> log.warn("post {}: {}", id, why.getMessage()));
  }

  static void bulkOneByOne(Cache<Long, Post> posts, List<Long> ids, Database database) {
    posts.getAll(
        ids,
        (missing, context) -> {
          database.eachPost(
              missing,
              post -> {
                if (post.isDraft()) {
                  context.of(post.id()).timeToLive(Duration.ofSeconds(10));
                }
                context.loaded(post.id(), post);
              });
          return Map.of();
        });
  }

  static void bulkInvalidate(Cache<Long, Post> posts, List<Long> ids) {
    posts.invalidateAll(ids);
  }

  static Paddock connect() {
    Paddock paddock = Paddock.connect("redis://app:p%40ssword@redis.example.org:6379/0");
    return paddock;
  }

  static Paddock connectWithOptions() {
    Paddock paddock =
        Paddock.newBuilder()
            .store("rediss://redis.example.org:6380")
            .connectTimeout(Duration.ofSeconds(5))
            .commandTimeout(Duration.ofMillis(500))
            .build();
    return paddock;
  }

  static Paddock ownClient(RedisClient client) {
    Paddock paddock =
        Paddock.newBuilder()
            .store(LettuceRedis.using(client, RedisURI.create("redis://redis.example.org")))
            .build();
    return paddock;
  }

  static @Nullable Post firstCache(Paddock paddock, Database database) {
    Cache<Long, Post> posts =
        paddock
            .<Long, Post>cache("posts", JacksonCodec.of(Post.class))
            .keyPrefix("shop:")
            .timeToLive(Duration.ofMinutes(1))
            .serveStaleFor(Duration.ofMinutes(10))
            .loader(id -> database.findPost(id))
            .build();
    Post post = posts.get(42L);
    return post;
  }

  static void change(Cache<Long, Post> posts, Database database, Post post) {
    database.savePost(post);
    posts.invalidate(post.id());
  }

  static @Nullable Post loaderOfTheCall(Cache<Long, Post> posts, Database database) {
    Post post = posts.get(42L, id -> database.findPost(id));
    return post;
  }

  static @Nullable Post loaderWithContext(Cache<Long, Post> posts, Database database) {
    Post post =
        posts.get(
            42L,
            (id, context) -> {
              Post known = context.staleValue();
              Post loaded = known == null ? database.findPost(id) : database.findIfChanged(known);
              if (loaded != null && loaded.isDraft()) {
                context.timeToLive(Duration.ofSeconds(5));
              }
              return loaded;
            });
    return post;
  }

  static CompletableFuture<Post> asyncLoader(Cache<Long, Post> posts, Client client) {
    CompletableFuture<Post> post = posts.getAsync(42L, Loader.async(id -> client.fetchPost(id)));
    return post;
  }

  static @Nullable Post optionsOfTheCall(Cache<Long, Post> posts, Database database) {
    CallOptions<Long, Post> patient = posts.options().maxWait(Duration.ofSeconds(20));
    Post post = posts.get(42L, id -> database.findPost(id), patient);
    return post;
  }

  static Paddock listener(LongAdder failures) {
    Paddock paddock =
        Paddock.newBuilder()
            .store("redis://localhost:6379")
            .listener(
                event -> {
                  if (event instanceof CacheEvent.StoreFailed) {
                    failures.increment();
                  }
                })
            .build();
    return paddock;
  }

  static Codec<Post> schemaVersion() {
    Codec<Post> codec = JacksonCodec.of(Post.class).withSchemaVersion(2);
    return codec;
  }

  interface Reports {
    void write(long token);
  }

  static void skipIfHeld(Reports reports) {
    LeaseOptions options =
        LeaseOptions.defaults().leaseTime(Duration.ofSeconds(30)).renewFor(Duration.ofMinutes(10));
    try (LeaseLock lock = LeaseLock.connect("redis://localhost:6379")) {
      lock.runIfAcquired("nightly-report", options, lease -> reports.write(lease.fencingToken()));
    }
  }

  interface Log {
    void warn(String message, @Nullable Object... parameters);
  }

  interface Buffer {
    void flush(Lease lease);
  }

  static void waitForIt(LeaseLock lock, LeaseOptions options, Buffer buffer, Log log) {
    LeaseRun<Void> run =
        lock.runExclusively(
            "flush", options.waitTime(Duration.ofSeconds(5)), lease -> buffer.flush(lease));
    if (run.outcome() != LeaseOutcome.RELEASED) {
      log.warn("another may have flushed meanwhile: {}", run.outcome());
    }
  }

  interface Indexer {
    boolean step();

    void stop();
  }

  interface Progress {
    void save(long token);
  }

  static void holdIt(LeaseLock lock, LeaseOptions options, Indexer indexer, Progress progress) {
    Optional<Lease> acquired = lock.tryAcquire("reindex", options);
    if (acquired.isPresent()) {
      try (Lease lease = acquired.get()) {
        lease.onLost(indexer::stop);
        while (lease.isValid() && indexer.step()) {
          progress.save(lease.fencingToken());
        }
      }
    }
  }

  static FenceOutcome fenced(
      StatefulRedisConnection<byte[], byte[]> connection, byte[] key, byte[] value, Lease lease) {
    FencedWrite write = FencedWrite.set(key, value, Duration.ofHours(1), lease);
    FenceOutcome outcome =
        FencedWrites.send(connection.async(), write).toCompletableFuture().join();
    return outcome;
  }

  record Product(long id, String name) {}

  record Rate(String pair, double value) {}

  record PriceList(String shop) {}

  interface ProductDatabase {
    Product findProduct(long id);
  }

  interface Bank {
    Rate rate(String pair);
  }

  interface Shop {
    PriceList prices(String shop);
  }

  static Cache<Long, Product> measuredLease(Paddock paddock, ProductDatabase database) {
    Cache<Long, Product> products =
        paddock
            .cache("products", JacksonCodec.of(Product.class))
            .leaseFloor(Duration.ofSeconds(2))
            .leaseCap(Duration.ofMinutes(1))
            .loader(database::findProduct)
            .build();
    return products;
  }

  static Cache<Long, Product> bulkhead(Paddock paddock, ProductDatabase database) {
    Cache<Long, Product> products =
        paddock
            .cache("products", JacksonCodec.of(Product.class))
            .maxConcurrentLoads(20)
            .maxQueuedLoads(200)
            .loader(database::findProduct)
            .build();
    return products;
  }

  static Cache<String, Settings> nearCache(Paddock paddock) {
    return paddock
        .<String, Settings>cache("settings", JacksonCodec.of(Settings.class))
        .timeToLive(Duration.ofMinutes(10))
        .nearMaxEntries(10_000)
        .nearTimeToLive(Duration.ofSeconds(5))
        .build();
  }

  static Cache<Long, Post> tags(Paddock paddock, Database database) {
    return paddock
        .<Long, Post>cache("pages", JacksonCodec.of(Post.class))
        .tagLag(Duration.ofSeconds(1))
        .loader(
            (id, context) -> {
              Post post = database.findPost(id);
              if (post != null) {
                context.tags("author:" + post.author());
              }
              return post;
            })
        .build();
  }

  static void changedAuthor(Cache<Long, Post> pages, String author) {
    pages.invalidateTag("author:" + author);
  }

  static Paddock hotKeys(String uri) {
    HotKeys hotKeys = HotKeys.create();
    Paddock paddock = Paddock.newBuilder().store(uri).listener(hotKeys).build();
    tell(hotKeys);
    return paddock;
  }

  private static void tell(HotKeys hotKeys) {
    hotKeys.mostWaitedFor(10).forEach(key -> log(key.key() + " " + key.waitTime()));
    hotKeys.reset();
  }

  private static void log(String line) {
    System.getLogger("example").log(System.Logger.Level.INFO, line);
  }

  static Cache<String, Rate> earlyRefresh(Paddock paddock, Bank bank) {
    Cache<String, Rate> rates =
        paddock
            .cache("rates", JacksonCodec.of(Rate.class))
            .timeToLive(Duration.ofMinutes(1))
            .earlyRefresh(1)
            .loader(bank::rate)
            .build();
    return rates;
  }

  static void earlyRefreshAtAPart(CacheBuilder<String, Rate> builder) {
    builder.earlyRefreshAt(0.8);
  }

  static Cache<String, PriceList> failSafe(Paddock paddock, Shop shop) {
    Cache<String, PriceList> prices =
        paddock
            .cache("prices", JacksonCodec.of(PriceList.class))
            .timeToLive(Duration.ofMinutes(5))
            .failSafeFor(Duration.ofHours(6))
            .softLoadTimeout(Duration.ofMillis(100))
            .hardLoadTimeout(Duration.ofSeconds(2))
            .loader(shop::prices)
            .build();
    return prices;
  }
}
