/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.soak;

import java.util.List;

/**
 * A stretch of time on the monotonic clock, both ends included.
 *
 * @param from its begin
 * @param to its end
 */
record Span(long from, long to) {
  boolean touches(long begin, long end) {
    return from <= end && begin <= to;
  }

  static boolean anyTouches(List<Span> spans, long begin, long end) {
    return spans.stream().anyMatch(span -> span.touches(begin, end));
  }
}
