/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.simulation;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * Whether a history could have come from one thing that does one operation at a time, each at some
 * moment between its call and its answer: the search of Wing and Gong (1993), with the memory of
 * Lowe (2017) of what has been tried. An operation without an answer may have happened at any time
 * after its call, or not at all.
 */
final class Linearizability {
  /** Longer histories would take too long; they are cut. */
  private static final int OPERATIONS_MAX = 40;

  private static final int STATES_MAX = 200_000;

  private Linearizability() {}

  /**
   * An operation.
   *
   * @param what for messages
   * @param callNanos when it was called
   * @param answerNanos when it was answered; the greatest number if it was not
   * @param step from the state before it to the state after it, null if the answer does not go with
   *     the state before
   * @param <S> a state, with equality
   */
  record Operation<S>(
      String what, long callNanos, long answerNanos, BiFunction<S, Boolean, @Nullable S> step) {
    boolean isOpen() {
      return answerNanos == Long.MAX_VALUE;
    }
  }

  /** Returns null if there is such an order, else the operations in the order of their calls. */
  static <S> @Nullable String check(S initial, List<Operation<S>> history) {
    List<Operation<S>> operations = new ArrayList<>(history);
    operations.sort(Comparator.comparingLong(Operation::callNanos));
    if (operations.size() > OPERATIONS_MAX) {
      return null;
    }
    Search<S> search = new Search<>(operations);
    if (search.possible(initial, new BitSet()) || search.tried.size() >= STATES_MAX) {
      return null;
    }
    StringBuilder shown = new StringBuilder();
    for (Operation<S> operation : operations) {
      shown
          .append(shown.isEmpty() ? "" : "; ")
          .append(operation.what())
          .append(" [")
          .append(operation.callNanos() / 1_000_000)
          .append("..")
          .append(operation.isOpen() ? "" : operation.answerNanos() / 1_000_000)
          .append("]");
    }
    return shown.toString();
  }

  private record Tried<S>(S state, BitSet done) {}

  private static final class Search<S> {
    private final List<Operation<S>> operations;
    private final Set<Tried<S>> tried = new HashSet<>();

    Search(List<Operation<S>> operations) {
      this.operations = operations;
    }

    boolean possible(S state, BitSet done) {
      long firstAnswer = Long.MAX_VALUE;
      boolean all = true;
      for (int i = 0; i < operations.size(); i++) {
        if (!done.get(i) && !operations.get(i).isOpen()) {
          all = false;
          firstAnswer = Math.min(firstAnswer, operations.get(i).answerNanos());
        }
      }
      if (all) {
        return true;
      }
      if (tried.size() >= STATES_MAX || !tried.add(new Tried<>(state, (BitSet) done.clone()))) {
        return false;
      }
      for (int i = 0; i < operations.size(); i++) {
        Operation<S> operation = operations.get(i);
        if (done.get(i) || operation.callNanos() > firstAnswer) {
          continue;
        }
        S next = operation.step().apply(state, operation.isOpen());
        // What may have been left out and changes nothing is left out.
        if (next == null || (operation.isOpen() && next.equals(state))) {
          continue;
        }
        done.set(i);
        if (possible(next, done)) {
          return true;
        }
        done.clear(i);
      }
      return false;
    }
  }
}
