/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spring.boot.shop;

import dev.paddock.Cache;
import dev.paddock.CallOptions;
import dev.paddock.Otherwise;
import dev.paddock.spring.boot.CurrentLease;
import dev.paddock.spring.boot.Leased;
import dev.paddock.spring.boot.PaddockCacheCustomizer;
import dev.paddock.spring.boot.PaddockCacheManager;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.context.annotation.Bean;
import org.springframework.scheduling.annotation.Scheduled;

/** Examples of the pages that nothing runs. */
final class PageExamples {
  private final PaddockCacheManager caches;
  private final Reports reports;

  interface Reports {
    void write(long fencingToken);
  }

  PageExamples(PaddockCacheManager caches, Reports reports) {
    this.caches = caches;
    this.reports = reports;
  }

  @Scheduled(cron = "0 0 3 * * *")
  @Leased(value = "nightly-report", atLeastFor = "1m")
  public void report() {
    reports.write(CurrentLease.get().orElseThrow().fencingToken());
  }

  @Bean
  PaddockCacheCustomizer fallback() {
    return (name, builder) -> {
      if (name.equals("recommendations")) {
        builder.otherwise(Otherwise.fallback(key -> List.of()));
      }
    };
  }

  @SuppressWarnings("unchecked")
  @Nullable Post atOnce(long id) {
    Cache<Object, Object> posts = (Cache<Object, Object>) caches.getCache("posts").getNativeCache();
    CallOptions<Object, Object> fresh = posts.options().alwaysFresh();
    return (Post) posts.get(id, key -> new Post(id, "loaded"), fresh);
  }
}
