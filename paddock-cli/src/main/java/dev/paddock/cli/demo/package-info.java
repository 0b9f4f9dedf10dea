/**
 * The demo: a fleet of JVM processes that all read one expired key at the same moment, by the
 * recipes in use and by Paddock, and what came of it.
 *
 * <ul>
 *   <li>What is shown: {@code Catalogue} lists the experiments, each an {@code Experiment}; {@code
 *       Verdicts} says what counts as expected.
 *   <li>The coordinator: {@code DemoCommand} (options), {@code Demo} (runs the experiments), {@code
 *       Stage} (what an experiment works with), {@code Fleet} and {@code WorkerProcess} (the
 *       processes), {@code Journal} (what they reported), {@code CommandMeter} (what Redis was
 *       sent), {@code Measures}, {@code Table} and {@code JsonReport}.
 *   <li>A worker: {@code WorkerCommand} (takes orders), {@code Callers}, {@code Source} (the slow
 *       aggregation), {@code Reading} and its implementations (the recipes).
 *   <li>Between the two: {@code Order} and {@code Report}, one line of JSON each.
 * </ul>
 */
@NullMarked
package dev.paddock.cli.demo;

import org.jspecify.annotations.NullMarked;
