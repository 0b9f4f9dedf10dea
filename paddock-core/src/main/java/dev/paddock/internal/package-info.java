/**
 * The engine. Not for use from outside: no compatibility is promised.
 *
 * <p>The read path from outside in: {@code CacheEngine} (the cache: reads, writes, switches),
 * {@code ReadCoalescer} (shares a GET that has not been sent yet), {@code Flight} (one load of one
 * key: acquire, wait, load, fill), {@code Call} (one caller's view of it).
 */
@NullMarked
package dev.paddock.internal;

import org.jspecify.annotations.NullMarked;
