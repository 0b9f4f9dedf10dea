/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spring.boot;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/**
 * Tells whether what the calling thread would load is committed data no older than the load, so
 * that it may be stored for everybody.
 *
 * <p>Without a transaction it is. Inside one it is if the transaction began with the cacheable
 * method itself, so has neither written nor read before, or if it is read-only and each of its
 * statements sees what has been committed by then. Spring does not tell whether a transaction has
 * written, so one that may is taken for one that has.
 */
final class TransactionalReads {
  private static final boolean JDBC =
      ClassUtils.isPresent(
          "org.springframework.jdbc.datasource.ConnectionHolder",
          TransactionalReads.class.getClassLoader());

  private final CacheMethods methods;

  TransactionalReads(CacheMethods methods) {
    this.methods = methods;
  }

  /** Whether a load for this cache may be stored and shared. */
  boolean mayBeStored(String cache) {
    if (!TransactionSynchronizationManager.isActualTransactionActive()) {
      return true;
    }
    CacheTransaction changes = CacheTransaction.current();
    if (changes != null && changes.hasTouchedAnything()) {
      return false;
    }
    String name = TransactionSynchronizationManager.getCurrentTransactionName();
    if (name != null && methods.fills(cache, name)) {
      return true;
    }
    return TransactionSynchronizationManager.isCurrentTransactionReadOnly() && readsCommitted();
  }

  private static boolean readsCommitted() {
    Integer declared = TransactionSynchronizationManager.getCurrentTransactionIsolationLevel();
    if (declared != null && declared != TransactionDefinition.ISOLATION_DEFAULT) {
      return declared == TransactionDefinition.ISOLATION_READ_COMMITTED;
    }
    return JDBC && Databases.readCommittedByDefault();
  }

  /** Apart, so that applications without JDBC need no classes of it. */
  private static final class Databases {
    /** Whether connections of a data source read committed data by default. Asked once for each. */
    private static final Map<Object, Boolean> KNOWN =
        Collections.synchronizedMap(new WeakHashMap<>());

    private Databases() {}

    static boolean readCommittedByDefault() {
      boolean found = false;
      for (Map.Entry<Object, Object> resource :
          TransactionSynchronizationManager.getResourceMap().entrySet()) {
        if (resource.getValue() instanceof ConnectionHolder holder) {
          Boolean known = KNOWN.get(resource.getKey());
          if (known == null) {
            known = readsCommitted(holder);
            if (known == null) {
              return false;
            }
            KNOWN.put(resource.getKey(), known);
          }
          if (!known) {
            return false;
          }
          found = true;
        }
      }
      return found;
    }

    private static @Nullable Boolean readsCommitted(ConnectionHolder holder) {
      try {
        return holder.getConnection().getTransactionIsolation()
            == Connection.TRANSACTION_READ_COMMITTED;
      } catch (SQLException | RuntimeException e) {
        // Not known: asked again the next time, and not stored until then.
        return null;
      }
    }
  }
}
