/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * Spring's cache on Paddock, for Spring Boot: {@link
 * dev.paddock.spring.boot.PaddockAutoConfiguration} makes the beans, {@link
 * dev.paddock.spring.boot.PaddockProperties} holds the settings, {@link
 * dev.paddock.spring.boot.PaddockCacheManager} is Spring's view of the caches, {@link
 * dev.paddock.spring.boot.Leased} runs a method under a lease. Beans of the types {@link
 * dev.paddock.spring.boot.PaddockCustomizer}, {@link
 * dev.paddock.spring.boot.PaddockCacheCustomizer} and {@link dev.paddock.spring.boot.ValueCodecs}
 * change what is made.
 */
@NullMarked
package dev.paddock.spring.boot;

import org.jspecify.annotations.NullMarked;
