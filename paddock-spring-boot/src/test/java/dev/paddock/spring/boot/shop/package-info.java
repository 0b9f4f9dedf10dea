/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
/** The application of the pages and of FleetIT. */
@NullMarked
package dev.paddock.spring.boot.shop;

import org.jspecify.annotations.NullMarked;
