/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.soak;

import java.util.List;

/**
 * A promise that was not kept.
 *
 * @param check which check found it
 * @param what what happened
 * @param at when, on the monotonic clock
 * @param expected what was promised
 * @param actual what was seen
 * @param recent what happened around it to the key or register that it concerns; empty if it
 *     concerns none
 */
record Violation(
    String check, String what, long at, String expected, String actual, List<String> recent) {

  Violation(String check, String what, long at, String expected, String actual) {
    this(check, what, at, expected, actual, List.of());
  }

  Violation with(List<String> happened) {
    return new Violation(check, what, at, expected, actual, happened);
  }
}
