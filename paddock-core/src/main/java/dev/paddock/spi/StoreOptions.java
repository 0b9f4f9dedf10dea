/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spi;

import java.time.Duration;

/**
 * What a store has to know from the builder.
 *
 * @param connectTimeout how long opening the store may take
 * @param commandTimeout how long the engine waits for one command; a store may drop what it could
 *     not send by then
 */
public record StoreOptions(Duration connectTimeout, Duration commandTimeout) {}
