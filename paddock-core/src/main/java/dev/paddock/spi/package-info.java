/**
 * For authors of a storage backend or of a test environment.
 *
 * <ul>
 *   <li>{@link dev.paddock.spi.FillStore}: the storage primitives the engine needs, with their
 *       requests ({@link dev.paddock.spi.AcquireRequest}, {@link dev.paddock.spi.FillRequest}) and
 *       replies ({@link dev.paddock.spi.ReadReply}, {@link dev.paddock.spi.AcquireReply}, {@link
 *       dev.paddock.spi.FillOutcome}, {@link dev.paddock.spi.PutOutcome}, {@link
 *       dev.paddock.spi.ExtendOutcome});
 *   <li>{@link dev.paddock.spi.StoredEntry} and {@link dev.paddock.spi.StoreKey}: what is stored
 *       and where;
 *   <li>{@link dev.paddock.spi.StoreFactory} and {@link dev.paddock.spi.StoreProvider}: how a store
 *       is made, by hand or from a URI;
 *   <li>{@link dev.paddock.spi.Environment}: clocks, timers, executor and randomness. Nothing in
 *       the engine takes them from anywhere else.
 * </ul>
 */
@NullMarked
package dev.paddock.spi;

import org.jspecify.annotations.NullMarked;
