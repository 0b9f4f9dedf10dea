/** What tests need of the scripts and keys that only this package knows. */
@NullMarked
package dev.paddock.redis;

import org.jspecify.annotations.NullMarked;
