/** What every Redis client shares: the scripts, the stored form, and the store over a transport. */
@org.jspecify.annotations.NullMarked
module dev.paddock.redis {
  requires transitive dev.paddock.core;
  requires static transitive org.jspecify;

  exports dev.paddock.redis;
  exports dev.paddock.redis.internal to
      dev.paddock.redis.jedis,
      dev.paddock.redis.lettuce;
}
