/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spring.boot;

import java.util.Arrays;
import java.util.Objects;
import java.util.stream.Stream;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.util.ClassUtils;

/** Application contexts as Spring Boot 3 or 4 would make them, whichever is on the class path. */
final class Contexts {
  private static final String[] BOOT = {
    "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
    "org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration",
    "org.springframework.boot.cache.autoconfigure.CacheAutoConfiguration",
    "org.springframework.boot.autoconfigure.cache.CacheAutoConfiguration",
    "org.springframework.boot.autoconfigure.aop.AopAutoConfiguration",
  };

  private static final String[] JDBC = {
    "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
    "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration",
    "org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration",
    "org.springframework.boot.autoconfigure.jdbc.DataSourceTransactionManagerAutoConfiguration",
    "org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration",
    "org.springframework.boot.autoconfigure.transaction.TransactionAutoConfiguration",
    "org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration",
    "org.springframework.boot.autoconfigure.jdbc.JdbcTemplateAutoConfiguration",
  };

  private Contexts() {}

  static ApplicationContextRunner runner() {
    return new ApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(
                Stream.concat(present(BOOT), Stream.of(PaddockAutoConfiguration.class))
                    .toArray(Class<?>[]::new)));
  }

  static ApplicationContextRunner runner(int redisPort) {
    return runner()
        .withPropertyValues(
            "spring.data.redis.host=127.0.0.1", "spring.data.redis.port=" + redisPort);
  }

  static ApplicationContextRunner withDatabase(ApplicationContextRunner runner) {
    return runner.withConfiguration(AutoConfigurations.of(present(JDBC).toArray(Class<?>[]::new)));
  }

  private static Stream<Class<?>> present(String... names) {
    return Arrays.stream(names)
        .filter(name -> ClassUtils.isPresent(name, null))
        .map(name -> ClassUtils.resolveClassName(name, null))
        .map(Objects::requireNonNull);
  }
}
