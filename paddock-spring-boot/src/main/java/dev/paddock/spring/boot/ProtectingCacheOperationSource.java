/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spring.boot;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.cache.interceptor.CacheOperation;
import org.springframework.cache.interceptor.CacheOperationSource;
import org.springframework.cache.interceptor.CacheableOperation;
import org.springframework.core.MethodClassKey;
import org.springframework.util.StringUtils;

/**
 * Makes each cacheable operation that Spring allows it for one with {@code sync = true}, so that
 * Spring asks the cache to load instead of looking, loading and putting by itself. Operations that
 * name another cache manager stay as they are.
 */
final class ProtectingCacheOperationSource implements CacheOperationSource {
  /** The names of the bean of {@link PaddockCacheManager}. */
  static final Set<String> MANAGERS = Set.of("cacheManager", "paddockCacheManager");

  private final CacheOperationSource source;
  private final CacheMethods methods;
  private final boolean protectAll;
  private final Map<MethodClassKey, Collection<CacheOperation>> known = new ConcurrentHashMap<>();

  ProtectingCacheOperationSource(
      CacheOperationSource source, CacheMethods methods, boolean protectAll) {
    this.source = source;
    this.methods = methods;
    this.protectAll = protectAll;
  }

  @Override
  public boolean isCandidateClass(Class<?> targetClass) {
    return source.isCandidateClass(targetClass);
  }

  @Override
  public boolean hasCacheOperations(Method method, @Nullable Class<?> targetClass) {
    Collection<CacheOperation> operations = getCacheOperations(method, targetClass);
    return operations != null && !operations.isEmpty();
  }

  @Override
  public @Nullable Collection<CacheOperation> getCacheOperations(
      Method method, @Nullable Class<?> targetClass) {
    Collection<CacheOperation> operations = source.getCacheOperations(method, targetClass);
    if (operations == null || operations.isEmpty()) {
      return operations;
    }
    return known.computeIfAbsent(
        new MethodClassKey(method, targetClass),
        key ->
            treated(
                method,
                targetClass == null ? method.getDeclaringClass() : targetClass,
                operations));
  }

  private Collection<CacheOperation> treated(
      Method method, Class<?> target, Collection<CacheOperation> operations) {
    List<CacheOperation> ours = operations.stream().filter(o -> isOurs(o)).toList();
    methods.add(method, target, ours);
    List<CacheOperation> result = new ArrayList<>();
    for (CacheOperation operation : operations) {
      result.add(
          operation instanceof CacheableOperation cacheable && isOurs(operation)
              ? treated(cacheable, method, target, operations)
              : operation);
    }
    return result;
  }

  private static boolean isOurs(CacheOperation operation) {
    return !StringUtils.hasText(operation.getCacheManager())
        || MANAGERS.contains(operation.getCacheManager());
  }

  private CacheableOperation treated(
      CacheableOperation operation,
      Method method,
      Class<?> target,
      Collection<CacheOperation> operations) {
    if (operation.isSync()) {
      return operation;
    }
    String obstacle = CacheMethods.obstacle(operation, operations);
    if (obstacle != null) {
      methods.addUnprotected(method, target, obstacle);
      return operation;
    }
    if (!protectAll) {
      methods.addUnprotected(method, target, "paddock.protect-all is false, and no sync = true");
      return operation;
    }
    CacheableOperation.Builder builder = new CacheableOperation.Builder();
    builder.setName(operation.getName());
    builder.setCacheNames(operation.getCacheNames().toArray(new String[0]));
    builder.setKey(operation.getKey());
    builder.setKeyGenerator(operation.getKeyGenerator());
    builder.setCacheManager(operation.getCacheManager());
    builder.setCacheResolver(operation.getCacheResolver());
    builder.setCondition(operation.getCondition());
    builder.setSync(true);
    return builder.build();
  }
}
