/**
 * Paddock's public API.
 *
 * <ul>
 *   <li>{@link dev.paddock.Paddock}: the entry; connects, makes caches, closes;
 *   <li>{@link dev.paddock.Cache}: reads, loads once in the fleet, writes, invalidates; made by
 *       {@link dev.paddock.CacheBuilder}, described by {@link dev.paddock.CacheConfiguration},
 *       called with {@link dev.paddock.CallOptions};
 *   <li>{@link dev.paddock.KeyLoader}, {@link dev.paddock.Loader}, {@link dev.paddock.AsyncLoader},
 *       {@link dev.paddock.LoadContext}: the user's function and what it is told;
 *   <li>{@link dev.paddock.BulkLoader}, {@link dev.paddock.AsyncBulkLoader}, {@link
 *       dev.paddock.BulkContext}, {@link dev.paddock.BulkResult}: the same for several keys at
 *       once;
 *   <li>{@link dev.paddock.Otherwise}: what a caller gets when waiting did not help;
 *   <li>{@link dev.paddock.Codec}, {@link dev.paddock.Codecs}, {@link dev.paddock.KeyFormat},
 *       {@link dev.paddock.KeyFormats}: bytes;
 *   <li>{@link dev.paddock.PaddockListener} and {@link dev.paddock.CacheEvent}: what happened;
 *   <li>{@link dev.paddock.PaddockException} and its children.
 * </ul>
 */
@NullMarked
package dev.paddock;

import org.jspecify.annotations.NullMarked;
