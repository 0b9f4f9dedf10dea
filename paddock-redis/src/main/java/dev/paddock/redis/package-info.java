/**
 * What every Redis client shares: {@link dev.paddock.redis.RedisFillStore} runs the six scripts
 * over a {@link dev.paddock.redis.RedisTransport}, which is all that a client library has to bring.
 * Leases: {@link dev.paddock.redis.RedisLeaseStore} on one primary, {@link
 * dev.paddock.redis.RedlockLeaseStore} on a majority of independent {@link
 * dev.paddock.redis.RedlockNode}s, which a {@link dev.paddock.redis.RedlockBootstrap} begins.
 */
@NullMarked
package dev.paddock.redis;

import org.jspecify.annotations.NullMarked;
