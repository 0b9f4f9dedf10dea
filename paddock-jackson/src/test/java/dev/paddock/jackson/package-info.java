/** Tests of the JSON codecs. */
@NullMarked
package dev.paddock.jackson;

import org.jspecify.annotations.NullMarked;
