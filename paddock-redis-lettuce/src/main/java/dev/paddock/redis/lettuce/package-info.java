/**
 * The Lettuce transport: {@link dev.paddock.redis.lettuce.LettuceRedis} makes stores from a URI or
 * from an application's own client; {@link dev.paddock.redis.lettuce.LettuceStoreProvider} does it
 * for {@link dev.paddock.Paddock#connect(String)}. All else is internal.
 *
 * <p>From outside in: {@code LettuceTransport} (one connection for commands), {@code Link} (what
 * happens to commands while that connection is down), {@code Call} (one command and its reply),
 * {@code HintChannels} (one connection for subscriptions), {@code OwnedClient} (the client that we
 * start and stop ourselves).
 */
@NullMarked
package dev.paddock.redis.lettuce;

import org.jspecify.annotations.NullMarked;
