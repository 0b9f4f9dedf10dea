/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.docs;

import dev.paddock.Cache;
import dev.paddock.CacheEvent;
import dev.paddock.CallOptions;
import dev.paddock.Codec;
import dev.paddock.Loader;
import dev.paddock.Paddock;
import dev.paddock.jackson.JacksonCodec;
import dev.paddock.redis.lettuce.LettuceRedis;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** The examples of the pages, so that a change of the API that breaks one breaks the build. */
final class DocExamples {
  record Post(long id, String title, boolean isDraft) {}

  /** A source of truth. */
  interface Database {
    @Nullable Post findPost(long id);

    @Nullable Post findIfChanged(Post known);

    void savePost(Post post);
  }

  /** An asynchronous source of truth. */
  interface Client {
    CompletionStage<Post> fetchPost(long id);
  }

  private DocExamples() {}

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
}
