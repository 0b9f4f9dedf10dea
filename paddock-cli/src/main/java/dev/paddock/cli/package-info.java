/** The {@code paddock} command. {@link dev.paddock.cli.PaddockCommand} is where it starts. */
@NullMarked
package dev.paddock.cli;

import org.jspecify.annotations.NullMarked;
