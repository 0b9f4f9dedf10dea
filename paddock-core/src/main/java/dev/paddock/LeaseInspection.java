/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a store of leases knows of one lease: for people and tools, never for deciding who may do
 * what. Immutable.
 *
 * @param name the lease
 * @param verdict what the nodes say together
 * @param nodes what each node says, in the order of the configuration
 */
public record LeaseInspection(String name, Verdict verdict, List<Node> nodes) {

  /** What the nodes say together. */
  public enum Verdict {
    /** No node that answered knows a holder. */
    FREE,
    /** One owner holds it: on the single node, or on a majority. */
    HELD,
    /** Some nodes know a holder, but none has a majority: an attempt under way, or left behind. */
    SPLIT,
    /**
     * Two owners hold what only one should, after a failover for example: the resource has to tell
     * them apart by their tokens.
     */
    TWO_HOLDERS,
    /** Too few nodes answered. */
    UNKNOWN
  }

  /**
   * What one node says.
   *
   * @param node its address
   * @param owner who holds the lease there; null if nobody does, or it did not answer
   * @param token the fencing token of the lease there; 0 if there is none
   * @param remaining how long it lasts there unless extended; zero if there is none
   * @param clockOffset how far the node's clock is ahead of this process's wall clock, by half of
   *     the round trip at worst; null if the node has no clock to ask
   * @param error why there is no answer, or why the node may not vote; null if all is well
   */
  public record Node(
      String node,
      @Nullable String owner,
      long token,
      Duration remaining,
      @Nullable Duration clockOffset,
      @Nullable String error) {
    /** Checks the values. */
    public Node {
      requireNonNull(node, "node");
      requireNonNull(remaining, "remaining");
    }
  }

  /** Checks and copies the values. */
  public LeaseInspection {
    requireNonNull(name, "name");
    requireNonNull(verdict, "verdict");
    nodes = List.copyOf(nodes);
  }

  /**
   * Puts this report beside one of the same lease from another server: one that was the primary
   * before a failover, for example, and still answers.
   *
   * @param other the other report
   * @return the nodes of both; {@code TWO_HOLDERS} if their owners differ, {@code UNKNOWN} if
   *     either is, else what either knows
   * @throws IllegalArgumentException if it is of another lease
   */
  public LeaseInspection beside(LeaseInspection other) {
    if (!name.equals(other.name)) {
      throw new IllegalArgumentException(
          "a report of the lease " + other.name + " says nothing about the lease " + name);
    }
    List<Node> all = new ArrayList<>(nodes);
    all.addAll(other.nodes);
    return new LeaseInspection(name, together(verdict, other.verdict, holders(all)), all);
  }

  private static long holders(List<Node> nodes) {
    return nodes.stream().map(Node::owner).filter(Objects::nonNull).distinct().count();
  }

  private static Verdict together(Verdict one, Verdict other, long holders) {
    if (one == Verdict.TWO_HOLDERS || other == Verdict.TWO_HOLDERS) {
      return Verdict.TWO_HOLDERS;
    }
    if (one == Verdict.HELD && other == Verdict.HELD) {
      return holders > 1 ? Verdict.TWO_HOLDERS : Verdict.HELD;
    }
    if (one == Verdict.UNKNOWN || other == Verdict.UNKNOWN) {
      return Verdict.UNKNOWN;
    }
    if (one == Verdict.HELD || other == Verdict.HELD) {
      return Verdict.HELD;
    }
    return one == Verdict.SPLIT || other == Verdict.SPLIT ? Verdict.SPLIT : Verdict.FREE;
  }
}
