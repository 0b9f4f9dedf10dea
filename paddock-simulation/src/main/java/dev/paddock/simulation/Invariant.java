/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.simulation;

/** What must hold in every world; docs/internals/verification.md says more about each. */
enum Invariant {
  I1("no two leases overlap within their validity"),
  I2("fencing tokens are unique"),
  I3("fencing tokens grow in the order in which leases were granted"),
  I4("a fenced register never goes back"),
  I5("nothing deletes, extends or makes anew another owner's lease"),
  I6("once all is well, somebody acquires and every waiter ends"),
  I7("each lease key has a TTL, and none beyond the maximum"),
  I8("no lease is valid beyond its time, and a loss is told before"),
  I9("no read begun after an invalidate returns older data"),
  I10("loads are granted one at a time and only where one is due, and are not for nothing"),
  I11("nobody waits longer than the cap"),
  I12("at rest nothing is left: no timer, subscription, load or lease"),
  I13("every call is answered exactly once"),
  I14("an error never becomes a miss");

  private final String text;

  Invariant(String text) {
    this.text = text;
  }

  /** In words. */
  String text() {
    return text;
  }
}
