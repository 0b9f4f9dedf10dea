/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spring.boot;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Tells of a wrong property without a stack trace. */
final class InvalidPropertyFailureAnalyzer
    extends AbstractFailureAnalyzer<InvalidPropertyException> {
  @Override
  protected FailureAnalysis analyze(Throwable rootFailure, InvalidPropertyException cause) {
    return new FailureAnalysis(
        cause.getMessage(),
        "Change " + cause.property() + ". Ranges and defaults are in docs/spring.md of Paddock.",
        cause);
  }
}
