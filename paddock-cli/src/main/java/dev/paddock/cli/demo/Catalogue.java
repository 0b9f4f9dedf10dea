/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** All experiments, in the order in which they are run. */
final class Catalogue {
  private static final List<Experiment> ALL =
      List.of(
          new OneQuestion(
              "unprotected",
              Strategy.UNPROTECTED,
              "cache-aside without protection",
              settings ->
                  "about as many loads as callers: "
                      + Verdicts.unprotectedLoads(settings.allCallers())
                      + " or more",
              (settings, loads, stale, result) ->
                  Verdicts.unprotected(settings.allCallers(), loads.size())),
          new OneQuestion(
              "in-process",
              Strategy.IN_PROCESS,
              "cache-aside with one load at a time in each process",
              settings -> "one load in each process: " + settings.processes(),
              (settings, loads, stale, result) ->
                  Verdicts.inProcess(
                      settings.processes(), loads.size(), Measures.mostInOneProcess(loads))),
          new OneQuestion(
              "check-then-set",
              Strategy.CHECK_THEN_SET,
              "lock by EXISTS, then SET",
              settings -> "more than 1 load",
              (settings, loads, stale, result) -> Verdicts.checkThenSet(loads.size())),
          new KilledBetweenCommands(),
          new UnsharedLoads(
              "plain-del",
              Strategy.PLAIN_DEL,
              "lock by SET NX PX, shorter than the load, released by DEL",
              settings ->
                  "more loads than one per lease ("
                      + UnsharedLoads.leasesLong(settings)
                      + "): each late DEL frees the lock of another",
              Verdicts::plainDel),
          new UnsharedLoads(
              "token-release",
              Strategy.TOKEN_RELEASE,
              "the same, released by compare-and-delete",
              settings ->
                  "one load per lease ("
                      + UnsharedLoads.leasesLong(settings)
                      + "), so "
                      + UnsharedLoads.usualOverlap(settings)
                      + " at once: longest load / lease, plus 1",
              Verdicts::tokenRelease),
          new OneQuestion(
              "paddock-wait",
              Strategy.PADDOCK_FRESH,
              "a lease as short as above, and callers that wait",
              settings -> "1 load, although the lease is shorter: it is renewed",
              (settings, loads, stale, result) ->
                  Verdicts.paddockWait(
                      settings.allCallers(),
                      loads.size(),
                      result.answers(),
                      result.events().getOrDefault("LeaseRenewed", 0L))),
          new OneQuestion(
              "paddock-stale",
              Strategy.PADDOCK_STALE,
              "the same, with callers that take a stale value",
              settings -> "1 load, nobody waits: a stale value at once, or the refreshed one",
              (settings, loads, stale, result) ->
                  Verdicts.paddockStale(
                      settings.allCallers(),
                      loads.size(),
                      stale,
                      result.answers(),
                      result.events().getOrDefault("WaitEnded", 0L))),
          new KilledHolder(),
          new PausedHolder(),
          new InvalidatedInMidLoad(),
          new Churn(),
          new FailingSource(),
          new MovedSlot(),
          new KilledMaster(),
          new TwoHolders(),
          new LostMinority());

  private Catalogue() {}

  static List<Experiment> all() {
    return ALL;
  }

  /**
   * Returns those that can be carried out.
   *
   * @param topology the arrangement of the demo's own servers; null if the servers are somebody
   *     else's
   * @return the experiments, in their order
   */
  static List<Experiment> on(@Nullable Topology topology) {
    Set<Topology> needed = topology == null ? EnumSet.allOf(Topology.class) : EnumSet.of(topology);
    return ALL.stream().filter(each -> each.topologies().containsAll(needed)).toList();
  }

  static List<String> names() {
    return ALL.stream().map(Experiment::name).toList();
  }
}
