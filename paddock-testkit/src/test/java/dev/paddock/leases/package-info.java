/**
 * The tests of leases: processes that compete, on one thread, in virtual time, on the model of
 * Redis.
 */
@NullMarked
package dev.paddock.leases;

import org.jspecify.annotations.NullMarked;
