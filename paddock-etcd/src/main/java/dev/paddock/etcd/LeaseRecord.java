/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.etcd;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.etcd.jetcd.ByteSequence;

/**
 * The value of a lease's key: the owner, and the seconds of its etcd lease for people who look at
 * it. Text, so that {@code etcdctl get} shows it.
 */
record LeaseRecord(String owner, long ttlSeconds) {
  private static final ByteSequence PREFIX = ByteSequence.from("paddock/lease/", UTF_8);

  static ByteSequence key(String name) {
    return PREFIX.concat(ByteSequence.from(name, UTF_8));
  }

  ByteSequence value() {
    return ByteSequence.from(owner + " " + ttlSeconds, UTF_8);
  }

  /** Returns the owner that a value names; of a foreign value, all of it. */
  static String ownerIn(ByteSequence value) {
    String text = value.toString(UTF_8);
    int end = text.indexOf(' ');
    return end < 0 ? text : text.substring(0, end);
  }
}
