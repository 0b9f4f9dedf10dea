/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import java.util.List;
import java.util.stream.Stream;

/** The scripts of Redlock that are not those of every lease. */
enum RedlockScript {
  REDLOCK_ACQUIRE(true),
  REDLOCK_COMMIT(true),
  REDLOCK_INSPECT(false),
  REDLOCK_STATUS(false),
  REDLOCK_COUNTERS(false),
  REDLOCK_READMIT(false);

  // Nobody changes it once it is made.
  @SuppressWarnings("ImmutableEnumChecker")
  private final ScriptText text;

  RedlockScript(boolean usualCaseFirst) {
    List<String> start = List.of("lease_start", "redlock_start");
    List<String> rules = List.of("lease_common", "redlock_common");
    this.text =
        usualCaseFirst
            ? ScriptText.withRules(start, rules, name())
            : ScriptText.of(Stream.concat(start.stream(), rules.stream()).toList(), name());
  }

  ScriptText text() {
    return text;
  }
}
