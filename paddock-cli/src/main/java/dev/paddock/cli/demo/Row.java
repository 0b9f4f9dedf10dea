/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import org.jspecify.annotations.Nullable;

/**
 * One experiment as it is printed; the components are the properties of the JSON.
 *
 * @param name name of the experiment
 * @param processes how many processes took part
 * @param callers how many callers in all of them
 * @param loads how many loads began
 * @param mostLoadsAtOnce how many of them ran at once at most
 * @param staleAnswers how many callers got a value that was no longer right
 * @param waitMillis how long callers waited beyond the load
 * @param redisCommands how many commands the processes sent to Redis; null if that is not known
 * @param expected what was expected
 * @param observed what was seen
 * @param met whether the two agree
 */
record Row(
    String name,
    int processes,
    int callers,
    int loads,
    int mostLoadsAtOnce,
    int staleAnswers,
    Waits waitMillis,
    @Nullable Long redisCommands,
    String expected,
    String observed,
    boolean met) {}
