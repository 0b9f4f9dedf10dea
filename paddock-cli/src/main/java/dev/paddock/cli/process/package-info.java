/**
 * Processes that the commands start: {@link dev.paddock.cli.process.ChildJvm} is this program in
 * another process, {@link dev.paddock.cli.process.Json} the language of their lines, {@link
 * dev.paddock.cli.process.Shutdown} tells whether this one is being ended.
 */
@NullMarked
package dev.paddock.cli.process;

import org.jspecify.annotations.NullMarked;
