/**
 * Classes that break the rules of {@code ArchitectureTest} on purpose, one per rule, each method in
 * another way, to show that the rules see it. Nothing here is ever run.
 */
@NullMarked
package dev.paddock.badexamples;

import org.jspecify.annotations.NullMarked;
