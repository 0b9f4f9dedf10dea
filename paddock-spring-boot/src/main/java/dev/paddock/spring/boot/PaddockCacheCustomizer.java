/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spring.boot;

import dev.paddock.CacheBuilder;

/**
 * Changes how caches are made: a bean of this type is called for each cache before it is built. It
 * is for what properties can't say, a fallback or a key format for example. Each option can be set
 * once, so one that a property sets can't be set here too. The builder has a key format for
 * Spring's keys unless a customizer sets one.
 */
@FunctionalInterface
public interface PaddockCacheCustomizer {
  /**
   * Sets options.
   *
   * @param name the name of the cache
   * @param builder the builder, with the properties set
   */
  void customize(String name, CacheBuilder<Object, Object> builder);
}
