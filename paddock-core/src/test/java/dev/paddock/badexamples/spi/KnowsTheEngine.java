/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.badexamples.spi;

import dev.paddock.internal.Limits;
import java.time.Duration;

final class KnowsTheEngine {
  Duration call() {
    return Limits.maxWait(Duration.ZERO);
  }

  Class<?> mention() {
    return Limits.class;
  }
}
