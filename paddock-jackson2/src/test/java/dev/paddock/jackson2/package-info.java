/** Tests of the JSON codec by Jackson 2. */
@NullMarked
package dev.paddock.jackson2;

import org.jspecify.annotations.NullMarked;
