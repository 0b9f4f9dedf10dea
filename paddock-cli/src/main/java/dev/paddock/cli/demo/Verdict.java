/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

/**
 * Whether an experiment came out as expected.
 *
 * @param met whether it did
 * @param leaseMayBeLost whether all that is wrong is what a lost lease leads to, more loads that
 *     is; never so for a value that is too old, or a caller that got none
 * @param observed what was seen, in words and numbers
 */
record Verdict(boolean met, boolean leaseMayBeLost, String observed) {
  Verdict(boolean met, String observed) {
    this(met, false, observed);
  }
}
