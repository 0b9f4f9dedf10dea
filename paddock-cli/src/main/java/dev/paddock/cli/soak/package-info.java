/**
 * {@code paddock soak}: workers in processes of their own, real servers, and a nemesis that does
 * harm to both. {@link dev.paddock.cli.soak.SoakCommand} is the command; {@code Soak} runs a
 * topology; {@code Field} and its kinds are the servers, {@code Crew} the workers, {@code Nemesis}
 * the faults; {@code Stampede} and {@code Registers} are what workers do; {@code History} is what
 * they said, {@code Recent} an excerpt of it, and {@code LoadCheck}, {@code FreshnessCheck}, {@code
 * WaitCheck}, {@code AnchorCheck}, {@code RegisterCheck} and {@code RecoveryCheck} judge it without
 * looking at anything else.
 */
@NullMarked
package dev.paddock.cli.soak;

import org.jspecify.annotations.NullMarked;
