/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * Benchmarks: each figure of Paddock beside its bound, measured in the same run.
 *
 * <ul>
 *   <li>What is shown: {@code Figure} lists the figures; {@code Throughput}, {@code CommandCounts},
 *       {@code ColdFills}, {@code Herds}, {@code Memory} and {@code SingleOperations} measure them;
 *       {@code Line} is what comes of it, {@code Target} what is hoped for.
 *   <li>The coordinator: {@code BenchmarkCommand} (options), {@code Bench} (what figures are
 *       measured with), {@code Scale} (sizes), {@code Fleet} and {@code WorkerProcess} (the
 *       processes), {@code Pairs} (statistics), {@code Table} and {@code JsonReport}.
 *   <li>A worker: {@code WorkerCommand} (takes orders), {@code Worker} (carries them out), {@code
 *       CpuClock}.
 *   <li>Ways to read: {@code Way}, {@code Reader}; {@code PaddockReader}, and the bounds {@code
 *       PlainReader}, {@code BareReader}, {@code StepsReader} and {@code OwnScriptsReader}; {@code
 *       RecipeReader} is the usual recipe.
 *   <li>Other libraries, which {@code Libraries} compares with: {@code CaffeineReader}, {@code
 *       SpringReader}, {@code RedissonReader}, {@code RedissonNearReader} and {@code
 *       JetCacheReader}.
 *   <li>Between the two: {@code Order} and {@code Report}, one line of JSON each.
 * </ul>
 */
@NullMarked
package dev.paddock.benchmarks;

import org.jspecify.annotations.NullMarked;
