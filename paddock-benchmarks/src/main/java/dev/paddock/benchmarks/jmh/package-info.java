/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
/** Operations that JMH measures. JMH needs them public. */
@NullMarked
package dev.paddock.benchmarks.jmh;

import org.jspecify.annotations.NullMarked;
