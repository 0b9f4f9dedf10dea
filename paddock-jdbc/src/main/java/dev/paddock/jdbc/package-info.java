/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * Fenced writes to SQL databases.
 *
 * <ul>
 *   <li>{@link dev.paddock.jdbc.FencedRow}: rows that carry the fencing token of their last write;
 *   <li>{@link dev.paddock.jdbc.FenceTable}: one token for any writes of a transaction.
 * </ul>
 */
@NullMarked
package dev.paddock.jdbc;

import org.jspecify.annotations.NullMarked;
