/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
/** Tests of Spring's cache on Paddock. They run on Spring Boot 4, and on 3 once more. */
@NullMarked
package dev.paddock.spring.boot;

import org.jspecify.annotations.NullMarked;
