/**
 * JSON for cached values, on Jackson 2: {@link dev.paddock.jackson2.Jackson2Codec} is all there is.
 */
@NullMarked
package dev.paddock.jackson2;

import org.jspecify.annotations.NullMarked;
