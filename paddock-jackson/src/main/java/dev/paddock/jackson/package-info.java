/**
 * JSON for cached values, on Jackson 3: {@link dev.paddock.jackson.JacksonCodec} is all there is.
 */
@NullMarked
package dev.paddock.jackson;

import org.jspecify.annotations.NullMarked;
