/** The engine's tests: a whole fleet on one thread, in virtual time, on the model of Redis. */
@NullMarked
package dev.paddock.engine;

import org.jspecify.annotations.NullMarked;
