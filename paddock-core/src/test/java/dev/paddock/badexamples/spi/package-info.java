/** An SPI that knows the engine, which the real one must not. */
@NullMarked
package dev.paddock.badexamples.spi;

import org.jspecify.annotations.NullMarked;
