/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spring.boot;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.paddock.testkit.RedisServerProcess;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.cache.Cache;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.CacheEvict;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Caches inside transactions, on a real server and a database in memory. */
final class TransactionsIT {
  private static @Nullable RedisServerProcess server;

  static class Accounts {
    private final JdbcTemplate jdbc;
    private final AtomicInteger loads = new AtomicInteger();

    Accounts(JdbcTemplate jdbc) {
      this.jdbc = jdbc;
    }

    public int loads() {
      return loads.get();
    }

    @Cacheable("balances")
    public @Nullable Integer balance(long id) {
      loads.incrementAndGet();
      return jdbc.queryForObject("SELECT balance FROM account WHERE id = ?", Integer.class, id);
    }

    @Cacheable("balances")
    @Transactional
    public @Nullable Integer balanceInOwnTransaction(long id) {
      return balance(id);
    }

    @CacheEvict(cacheNames = "balances", key = "#p0")
    public void set(long id, int balance) {
      jdbc.update("UPDATE account SET balance = ? WHERE id = ?", balance, id);
    }

    public void setBehindTheCache(long id, int balance) {
      jdbc.update("UPDATE account SET balance = ? WHERE id = ?", balance, id);
    }
  }

  @BeforeAll
  static void startRedis() {
    server = RedisServerProcess.start();
  }

  @AfterAll
  static void stopRedis() {
    redis().close();
  }

  private static RedisServerProcess redis() {
    return requireNonNull(server);
  }

  @BeforeEach
  void forget() {
    redis().console().command("FLUSHALL");
  }

  private static void run(Consumer<ApplicationContext> test) {
    Contexts.withDatabase(Contexts.runner(redis().port()))
        .withBean(
            DataSource.class,
            () -> new DriverManagerDataSource("jdbc:h2:mem:accounts;DB_CLOSE_DELAY=-1"))
        .withBean(Accounts.class)
        .run(
            context -> {
              assertThat(context).hasNotFailed();
              JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
              jdbc.execute("DROP TABLE IF EXISTS account");
              jdbc.execute("CREATE TABLE account (id BIGINT PRIMARY KEY, balance INT)");
              jdbc.update("INSERT INTO account VALUES (1, 100), (2, 200)");
              test.accept(context);
            });
  }

  private static Accounts accounts(ApplicationContext context) {
    return context.getBean(Accounts.class);
  }

  private static TransactionTemplate transaction(ApplicationContext context) {
    return new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
  }

  private static Cache cache(ApplicationContext context) {
    return requireNonNull(context.getBean(CacheManager.class).getCache("balances"));
  }

  @Test
  void eviction_insideATransaction_happensAfterTheCommit() {
    run(
        context -> {
          assertThat(accounts(context).balance(1)).isEqualTo(100);
          transaction(context)
              .executeWithoutResult(
                  status -> {
                    accounts(context).set(1, 50);
                    assertThat(redis().console().command("EXISTS", "balances:1")).isEqualTo(1L);
                    assertThat(accounts(context).balance(1)).as("its own write").isEqualTo(50);
                  });
          assertThat(redis().console().command("EXISTS", "balances:1")).isEqualTo(0L);
          assertThat(accounts(context).balance(1)).isEqualTo(50);
        });
  }

  @Test
  void eviction_ofATransactionThatIsRolledBack_doesNotHappenAndNothingOfItIsStored() {
    run(
        context -> {
          transaction(context)
              .executeWithoutResult(
                  status -> {
                    accounts(context).set(1, 50);
                    assertThat(accounts(context).balance(1)).isEqualTo(50);
                    status.setRollbackOnly();
                  });
          assertThat(cache(context).get(1L)).isNull();
          assertThat(accounts(context).balance(1)).isEqualTo(100);
        });
  }

  @Test
  void miss_insideATransactionThatMayHaveWritten_isLoadedAndNotStored() {
    run(
        context -> {
          transaction(context)
              .executeWithoutResult(
                  status -> {
                    accounts(context).setBehindTheCache(1, 7);
                    assertThat(accounts(context).balance(1)).isEqualTo(7);
                    status.setRollbackOnly();
                  });
          assertThat(cache(context).get(1L)).isNull();
          assertThat(accounts(context).balance(1)).isEqualTo(100);
        });
  }

  @Test
  void hit_insideATransaction_isServed() {
    run(
        context -> {
          accounts(context).balance(1);
          transaction(context).executeWithoutResult(status -> accounts(context).balance(1));
          assertThat(accounts(context).loads()).isEqualTo(1);
        });
  }

  @Test
  void miss_insideAReadOnlyTransactionThatReadsCommittedData_isStored() {
    run(
        context -> {
          TransactionTemplate readOnly = transaction(context);
          readOnly.setReadOnly(true);
          readOnly.executeWithoutResult(status -> accounts(context).balance(1));
          assertThat(cache(context).get(1L)).isNotNull();
        });
  }

  @Test
  void miss_insideATransactionWithASnapshot_isNotStored() {
    run(
        context -> {
          TransactionTemplate snapshot = transaction(context);
          snapshot.setReadOnly(true);
          snapshot.setIsolationLevel(TransactionDefinition.ISOLATION_REPEATABLE_READ);
          snapshot.executeWithoutResult(status -> accounts(context).balance(1));
          assertThat(cache(context).get(1L)).isNull();
        });
  }

  @Test
  void miss_ofAMethodThatBeginsItsOwnTransaction_isStored() {
    run(
        context -> {
          assertThat(accounts(context).balanceInOwnTransaction(2)).isEqualTo(200);
          assertThat(cache(context).get(2L)).isNotNull();
        });
  }

  @Test
  void putByHand_insideATransaction_isStoredAfterTheCommitOnly() {
    run(
        context -> {
          transaction(context)
              .executeWithoutResult(
                  status -> {
                    cache(context).put(1L, 1);
                    assertThat(cache(context).get(1L)).isNull();
                    cache(context).put(1L, 2);
                  });
          assertThat(cache(context).get(1L, Integer.class)).isEqualTo(2);
          transaction(context)
              .executeWithoutResult(
                  status -> {
                    cache(context).put(1L, 3);
                    status.setRollbackOnly();
                  });
          assertThat(cache(context).get(1L, Integer.class)).isEqualTo(2);
        });
  }

  @Test
  void evictIfPresent_insideATransaction_happensAtOnceAndAfterTheCommitAgain() {
    run(
        context -> {
          accounts(context).balance(1);
          transaction(context)
              .executeWithoutResult(
                  status -> {
                    assertThat(cache(context).evictIfPresent(1L)).isTrue();
                    assertThat(redis().console().command("EXISTS", "balances:1")).isEqualTo(0L);
                    TransactionTemplate other = transaction(context);
                    other.setPropagationBehavior(TransactionDefinition.PROPAGATION_NOT_SUPPORTED);
                    other.executeWithoutResult(none -> accounts(context).balance(1));
                    assertThat(redis().console().command("EXISTS", "balances:1")).isEqualTo(1L);
                  });
          assertThat(redis().console().command("EXISTS", "balances:1")).isEqualTo(0L);
        });
  }

  @Test
  void eviction_byWhoIsToldOfTheCommit_isNotLost() {
    run(
        context -> {
          accounts(context).balance(1);
          transaction(context)
              .executeWithoutResult(
                  status ->
                      TransactionSynchronizationManager.registerSynchronization(
                          new TransactionSynchronization() {
                            @Override
                            public void afterCommit() {
                              cache(context).evict(1L);
                            }
                          }));
          assertThat(cache(context).get(1L)).isNull();
        });
  }

  @Test
  void eviction_afterTheCommit_thatFails_reachesTheCallerAndTheOthersAreTried() {
    RedisServerProcess other = RedisServerProcess.start();
    try {
      Contexts.withDatabase(Contexts.runner(other.port()))
          .withBean(
              DataSource.class,
              () -> new DriverManagerDataSource("jdbc:h2:mem:failing;DB_CLOSE_DELAY=-1"))
          .withPropertyValues("paddock.command-timeout=300ms")
          .run(
              context -> {
                Cache cache =
                    requireNonNull(context.getBean(CacheManager.class).getCache("balances"));
                assertThatThrownBy(
                        () ->
                            transaction(context)
                                .executeWithoutResult(
                                    status -> {
                                      cache.evict(1L);
                                      cache.evict(2L);
                                      other.kill();
                                    }))
                    .isInstanceOf(dev.paddock.StoreException.class)
                    .satisfies(failure -> assertThat(failure.getSuppressed()).hasSize(1));
              });
    } finally {
      other.close();
    }
  }
}
