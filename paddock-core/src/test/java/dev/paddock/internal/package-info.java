/** Tests of the engine's inner parts. */
@NullMarked
package dev.paddock.internal;

import org.jspecify.annotations.NullMarked;
