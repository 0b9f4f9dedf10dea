/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import java.util.List;

/** The scripts of leases. */
enum LeaseScript {
  LEASE_ACQUIRE(true),
  LEASE_EXTEND(false),
  LEASE_RELEASE(true),
  LEASE_INSPECT(false);

  // Nobody changes it once it is made.
  @SuppressWarnings("ImmutableEnumChecker")
  private final ScriptText text;

  LeaseScript(boolean usualCaseFirst) {
    this.text =
        usualCaseFirst
            ? ScriptText.withRules(List.of("lease_start"), List.of("lease_common"), name())
            : ScriptText.of(List.of("lease_common"), name());
  }

  ScriptText text() {
    return text;
  }
}
