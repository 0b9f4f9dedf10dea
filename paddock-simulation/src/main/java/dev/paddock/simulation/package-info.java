/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
/**
 * The protocol in virtual time: the real engine, the real Redlock client and the real scripts, in
 * worlds that one seed decides, under faults; and checks that know nothing of the product's code.
 *
 * <ul>
 *   <li>What a world is made of: {@code Clockwork} (time), {@code Machine} (a process's clocks,
 *       timers, executor, stops), {@code Wire} and {@code Network}, {@code World} (all worlds),
 *       {@code CacheWorld}, {@code LeaseWorld}; {@code Worlds} lists them.
 *   <li>What happens in it: {@code Plan}, made of {@code Step}s of each {@code Kind}.
 *   <li>What must hold: {@code Invariant}; {@code Truth}, {@code FillRules}, {@code LeaseRules} and
 *       {@code Linearizability} check it; {@code Violation}, {@code Found}.
 *   <li>The command: {@code SimulateCommand}, {@code Simulator} (runs many, and shrinks), {@code
 *       Trace} and {@code Texts} (for people).
 *   <li>Deliberate breaks: {@code Mutation} lists them, {@code MutantLoader} and {@code MutantRun}
 *       run one, {@code MutationTable} all.
 * </ul>
 */
@NullMarked
package dev.paddock.simulation;

import org.jspecify.annotations.NullMarked;
