/**
 * The Jedis transport: {@link dev.paddock.redis.jedis.JedisRedis} makes stores from a URI, from an
 * application's settings or from its own client; {@link dev.paddock.redis.jedis.JedisStoreProvider}
 * does it for {@link dev.paddock.Paddock#connect(String)}. All else is internal.
 *
 * <p>From outside in: {@code JedisTransport} (one command until its reply, and on which thread),
 * {@code Workers} (the threads that block for others), {@code Routes} (which server has a key),
 * {@code Node} (the connections to one server), {@code HintChannels} (the connection for
 * subscriptions).
 */
@NullMarked
package dev.paddock.redis.jedis;

import org.jspecify.annotations.NullMarked;
