/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import java.util.Map;
import java.util.TreeMap;

/** All scripts, as clients send them, and the keys that they are given. */
public final class ScriptCatalog {
  private ScriptCatalog() {}

  /**
   * Returns the whole text of each script.
   *
   * @return by name, in capitals
   */
  public static Map<String, byte[]> texts() {
    Map<String, byte[]> all = new TreeMap<>();
    for (Script each : Script.values()) {
      all.put(each.name(), each.text().bytes());
    }
    for (LeaseScript each : LeaseScript.values()) {
      all.put(each.name(), each.text().bytes());
    }
    for (RedlockScript each : RedlockScript.values()) {
      all.put(each.name(), each.text().bytes());
    }
    all.put("FENCED_WRITE", FencedWrite.raiseFloor(new byte[0], 1).script());
    return all;
  }

  /** Returns a value's key and that of its lease record. */
  public static byte[][] valueKeys(byte[] value) {
    return new byte[][] {value, SlotTags.leaseKey(value)};
  }

  /** Returns a fenced value's key and that of its fence. */
  public static byte[][] fenceKeys(byte[] value) {
    return new byte[][] {value, SlotTags.fenceKey(value)};
  }

  /** Returns the keys of a lease: itself and its counter. */
  public static byte[][] leaseKeys(String name) {
    return LeaseKeys.of(name);
  }

  /** Returns the keys of a lease by a majority: itself, the counters, the epoch. */
  public static byte[][] redlockKeys(String name) {
    return RedlockKeys.of(name);
  }

  /** Returns the keys of a script that concerns a server of a group, but no lease. */
  public static byte[][] redlockServerKeys() {
    return RedlockKeys.ofServer();
  }
}
