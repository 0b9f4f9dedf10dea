/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

/**
 * Whether an experiment came out as expected.
 *
 * @param met whether it did
 * @param observed what was seen, in words and numbers
 */
record Verdict(boolean met, String observed) {}
