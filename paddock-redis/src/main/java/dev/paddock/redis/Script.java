/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import java.util.List;

/**
 * The seven scripts around values, each with the prelude in front, and the rules where it wants
 * them.
 */
enum Script {
  GET_OR_ACQUIRE,
  FILL,
  PUT,
  INVALIDATE,
  EXTEND,
  RELEASE,
  RAISE_BARRIER;

  // Nobody changes it once it is made.
  @SuppressWarnings("ImmutableEnumChecker")
  private final ScriptText text = ScriptText.withRules(List.of("common"), List.of("rules"), name());

  ScriptText text() {
    return text;
  }
}
