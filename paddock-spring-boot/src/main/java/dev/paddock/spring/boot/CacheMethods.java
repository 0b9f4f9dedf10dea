/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spring.boot;

import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.cache.interceptor.CacheOperation;
import org.springframework.cache.interceptor.CachePutOperation;
import org.springframework.cache.interceptor.CacheableOperation;
import org.springframework.core.GenericTypeResolver;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * What the annotated methods of the application say about the caches: the types of values, which
 * methods fill which cache, and which of them Spring does not let us protect. Thread-safe; filled
 * while beans are made.
 */
final class CacheMethods {
  private final Map<String, ValueTypes> types = new ConcurrentHashMap<>();
  private final Map<String, Set<String>> fillers = new ConcurrentHashMap<>();
  private final Map<String, String> unprotected = new ConcurrentHashMap<>();

  ValueTypes types(String cache) {
    return types.computeIfAbsent(cache, ValueTypes::new);
  }

  /** Returns the names of the caches that methods use, or that have been asked for. */
  Set<String> caches() {
    return Set.copyOf(types.keySet());
  }

  /** Checks what is known of all caches so far. */
  void check() {
    types.values().forEach(ValueTypes::check);
  }

  /** Tells whether a method, {@code com.example.Posts.find}, is cacheable in this cache. */
  boolean fills(String cache, String method) {
    return fillers.getOrDefault(cache, Set.of()).contains(method);
  }

  /** Returns the methods that are not protected, and why. */
  Map<String, String> unprotected() {
    return new TreeMap<>(unprotected);
  }

  /** Remembers a method. */
  void add(Method method, Class<?> target, Collection<CacheOperation> operations) {
    String name = ClassUtils.getUserClass(target).getName() + "." + method.getName();
    for (CacheOperation operation : operations) {
      boolean cacheable = operation instanceof CacheableOperation;
      if (!cacheable && !(operation instanceof CachePutOperation)) {
        continue;
      }
      for (String cache : operation.getCacheNames()) {
        Type type = valueType(method, target);
        if (type != null) {
          types(cache).declare(type, name);
        }
        if (cacheable) {
          fillers(cache).add(name);
          // A transaction is named after the class that declares the annotation or is proxied.
          fillers(cache).add(method.getDeclaringClass().getName() + "." + method.getName());
        }
      }
    }
  }

  private Set<String> fillers(String cache) {
    return fillers.computeIfAbsent(cache, c -> ConcurrentHashMap.newKeySet());
  }

  void addUnprotected(Method method, Class<?> target, String why) {
    unprotected.put(ClassUtils.getUserClass(target).getName() + "." + method.getName() + "()", why);
  }

  /** Returns the type of what Spring stores: what is inside futures, publishers and optionals. */
  private static @Nullable Type valueType(Method method, Class<?> target) {
    Type declared = GenericTypeResolver.resolveType(method.getGenericReturnType(), target);
    Class<?> raw = ResolvableType.forType(declared).toClass();
    if (raw == void.class || raw == Void.class) {
      return null;
    }
    if (CompletionStage.class.isAssignableFrom(raw)) {
      declared = argument(declared, CompletionStage.class);
    } else {
      ReactiveAdapter adapter = adapter(raw);
      if (adapter != null && adapter.isNoValue()) {
        return null;
      }
      if (adapter != null) {
        declared = argument(declared, raw);
        if (adapter.isMultiValue()) {
          return ResolvableType.forClassWithGenerics(List.class, ResolvableType.forType(declared))
              .getType();
        }
      }
    }
    if (ResolvableType.forType(declared).toClass() == java.util.Optional.class) {
      declared = argument(declared, java.util.Optional.class);
    }
    if (declared == Void.class) {
      return null;
    }
    return declared instanceof Class<?> type && type.isPrimitive()
        ? ClassUtils.resolvePrimitiveIfNecessary(type)
        : declared;
  }

  private static @Nullable ReactiveAdapter adapter(Class<?> raw) {
    return ReactiveAdapterRegistry.getSharedInstance().hasAdapters()
        ? ReactiveAdapterRegistry.getSharedInstance().getAdapter(raw)
        : null;
  }

  private static Type argument(Type type, Class<?> as) {
    if (type instanceof ParameterizedType parameterized
        && parameterized.getActualTypeArguments().length == 1) {
      return parameterized.getActualTypeArguments()[0];
    }
    ResolvableType found = ResolvableType.forType(type).as(as).getGeneric(0);
    return found.equals(ResolvableType.NONE) ? Object.class : found.getType();
  }

  /**
   * Says what keeps a method's cacheable operation from being loaded through the cache.
   *
   * @return null if nothing does
   */
  static @Nullable String obstacle(
      CacheableOperation operation, Collection<CacheOperation> operations) {
    List<String> reasons = new ArrayList<>();
    if (StringUtils.hasText(operation.getUnless())) {
      reasons.add(
          operation.getUnless().replace(" ", "").equals("#result==null")
              ? "unless = \"#result == null\"; leave it out and set negative-time-to-live to 0"
              : "unless; use condition, or a cache whose method loads and whose caller decides");
    }
    if (operation.getCacheNames().size() > 1) {
      reasons.add("several caches");
    }
    if (StringUtils.hasText(operation.getCacheResolver())) {
      reasons.add("a cache resolver");
    }
    if (operations.size() > 1) {
      reasons.add("several operations on one method");
    }
    return reasons.isEmpty() ? null : String.join("; ", reasons);
  }
}
