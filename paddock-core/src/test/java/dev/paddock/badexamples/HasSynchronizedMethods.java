/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.badexamples;

final class HasSynchronizedMethods {
  synchronized void onThis() {}

  static synchronized void onClass() {}
}
