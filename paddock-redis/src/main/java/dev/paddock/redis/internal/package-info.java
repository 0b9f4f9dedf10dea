/**
 * What the transports share with each other and with nobody else: {@link
 * dev.paddock.redis.internal.RedisUriText} (URIs that are never repeated in a message), {@link
 * dev.paddock.redis.internal.Secrets} (passwords that others put into exceptions), {@link
 * dev.paddock.redis.internal.ServerVersion}, {@link dev.paddock.redis.internal.ClusterReply} (what
 * an error of a cluster means for a command).
 */
@NullMarked
package dev.paddock.redis.internal;

import org.jspecify.annotations.NullMarked;
