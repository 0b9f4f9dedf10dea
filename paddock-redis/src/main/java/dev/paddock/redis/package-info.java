/**
 * What every Redis client shares: {@link dev.paddock.redis.RedisFillStore} runs the six scripts
 * over a {@link dev.paddock.redis.RedisTransport}, which is all that a client library has to bring.
 */
@NullMarked
package dev.paddock.redis;

import org.jspecify.annotations.NullMarked;
