/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.badexamples;

import org.assertj.core.api.Assertions;
import org.opentest4j.AssertionFailedError;

final class UsesALibrary {
  void calls() {
    Assertions.fail("");
  }

  AssertionFailedError mentions(AssertionFailedError error) {
    return error;
  }
}
