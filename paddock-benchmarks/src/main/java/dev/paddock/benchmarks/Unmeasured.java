/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

/**
 * A figure that could not be measured.
 *
 * @param figure its name
 * @param reason why
 */
record Unmeasured(String figure, String reason) {}
