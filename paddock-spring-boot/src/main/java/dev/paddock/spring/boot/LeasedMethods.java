/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spring.boot;

import dev.paddock.Lease;
import dev.paddock.LeaseLock;
import dev.paddock.LeaseOptions;
import dev.paddock.LeaseTimeoutException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.MethodClassKey;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.expression.Expression;
import org.springframework.expression.spel.standard.SpelExpressionParser;

/** Finds methods that are {@link Leased}, checks them when their bean is made, and runs them. */
final class LeasedMethods extends StaticMethodMatcherPointcut implements MethodInterceptor {
  private static final Log log = LogFactory.getLog(Leased.class);

  private final Supplier<LeaseLock> lock;
  private final Supplier<PaddockProperties> properties;
  private final UnaryOperator<@Nullable String> placeholders;
  private final SpelExpressionParser parser = new SpelExpressionParser();
  private final ParameterNameDiscoverer names = new DefaultParameterNameDiscoverer();
  private final Map<MethodClassKey, Optional<LeasedMethod>> known = new ConcurrentHashMap<>();

  LeasedMethods(
      Supplier<LeaseLock> lock,
      Supplier<PaddockProperties> properties,
      UnaryOperator<@Nullable String> placeholders) {
    this.lock = lock;
    this.properties = properties;
    this.placeholders = placeholders;
  }

  @Override
  public boolean matches(Method method, Class<?> targetClass) {
    return find(method, targetClass).isPresent();
  }

  private Optional<LeasedMethod> find(Method method, Class<?> target) {
    MethodClassKey key = new MethodClassKey(method, target);
    Optional<LeasedMethod> found = known.get(key);
    if (found == null) {
      Method specific = AopUtils.getMostSpecificMethod(method, target);
      Leased leased = AnnotatedElementUtils.findMergedAnnotation(specific, Leased.class);
      // Not inside the map's own lock: reading asks for beans, which are matched here too.
      found = leased == null ? Optional.empty() : Optional.of(read(leased, specific));
      known.put(key, found);
    }
    return found;
  }

  private LeasedMethod read(Leased leased, Method method) {
    String where = "@Leased on " + method.getDeclaringClass().getName() + "." + method.getName();
    Class<?> returned = method.getReturnType();
    boolean async = CompletionStage.class.isAssignableFrom(returned);
    if (!async && isPublisher(returned)) {
      throw new IllegalStateException(
          where
              + "(): it returns a "
              + returned.getName()
              + ", whose work begins with somebody's subscription: return a CompletableFuture");
    }
    if (async && !returned.isAssignableFrom(CompletableFuture.class)) {
      throw new IllegalStateException(
          where + "(): return a CompletableFuture or a CompletionStage");
    }
    if (returned.isPrimitive()
        && returned != void.class
        && leased.whenHeld() == Leased.WhenHeld.SKIP) {
      throw new IllegalStateException(
          where
              + "(): it returns "
              + returned
              + ", which can't say that it was skipped: return an object, or say whenHeld = FAIL");
    }
    PaddockProperties.LeaseSettings settings = properties.get().getLeases();
    Duration atLeast = duration(leased.atLeastFor(), Duration.ZERO, where, "atLeastFor");
    Duration leaseTime = duration(leased.leaseTime(), settings.getLeaseTime(), where, "leaseTime");
    Duration renewFor = duration(leased.renewFor(), settings.getRenewFor(), where, "renewFor");
    // Should its process die after the method, the lease is still there for as long as was asked.
    Duration longer = leaseTime.compareTo(atLeast) < 0 ? atLeast : leaseTime;
    try {
      LeaseOptions options =
          LeaseOptions.defaults()
              .leaseTime(longer)
              .waitTime(duration(leased.waitTime(), Duration.ZERO, where, "waitTime"));
      if (!renewFor.isZero()) {
        options = options.renewFor(renewFor);
      }
      return new LeasedMethod(
          settings.getNamePrefix() + resolved(leased.value()),
          leased.key().isEmpty() ? null : parser.parseExpression(leased.key()),
          method,
          options,
          atLeast,
          leased.whenHeld(),
          async,
          returned == Optional.class);
    } catch (RuntimeException e) {
      throw new IllegalStateException(where + "(): " + e.getMessage(), e);
    }
  }

  private static boolean isPublisher(Class<?> type) {
    ReactiveAdapterRegistry registry = ReactiveAdapterRegistry.getSharedInstance();
    return registry.hasAdapters() && registry.getAdapter(type) != null;
  }

  private Duration duration(String text, Duration otherwise, String where, String attribute) {
    String value = resolved(text);
    if (value.isEmpty()) {
      return otherwise;
    }
    try {
      return DurationStyle.detectAndParse(value);
    } catch (IllegalArgumentException e) {
      throw new IllegalStateException(
          where + "(): " + attribute + " = \"" + value + "\" is no duration such as 30s or PT10M",
          e);
    }
  }

  private String resolved(String text) {
    return Objects.requireNonNullElse(placeholders.apply(text), "");
  }

  @Override
  public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
    Object target = Objects.requireNonNull(invocation.getThis(), "target");
    LeasedMethod method =
        find(invocation.getMethod(), AopUtils.getTargetClass(target)).orElseThrow();
    String name = method.name(target, invocation.getArguments(), names);
    if (method.async) {
      return invokeAsync(method, name, invocation);
    }
    Optional<Lease> acquired = lock.get().tryAcquire(name, method.options);
    if (acquired.isEmpty()) {
      return skipped(method, name);
    }
    Lease lease = acquired.get();
    long startNanos = System.nanoTime();
    Lease outer = CurrentLease.set(lease);
    try {
      return invocation.proceed();
    } finally {
      CurrentLease.set(outer);
      Duration left = method.left(startNanos);
      if (left.isZero()) {
        lease.close();
      } else {
        releaseLater(lease, left);
      }
    }
  }

  private static @Nullable Object skipped(LeasedMethod method, String name) {
    if (method.whenHeld == Leased.WhenHeld.FAIL) {
      throw refused(method, name);
    }
    log.debug("skipped: another holds the lease \"" + name + "\"");
    return method.optional ? Optional.empty() : null;
  }

  private static LeaseTimeoutException refused(LeasedMethod method, String name) {
    Duration waited = method.options.waitTime();
    return new LeaseTimeoutException(
        "another held the lease \"" + name + "\" for the whole waitTime of " + waited, waited);
  }

  private CompletableFuture<@Nullable Object> invokeAsync(
      LeasedMethod method, String name, MethodInvocation invocation) {
    // The original is done with once this call has returned.
    MethodInvocation kept =
        invocation instanceof ProxyMethodInvocation proxied ? proxied.invocableClone() : invocation;
    return lock.get()
        .tryAcquireAsync(name, method.options)
        .thenCompose(
            acquired -> {
              if (acquired.isEmpty()) {
                return method.whenHeld == Leased.WhenHeld.FAIL
                    ? CompletableFuture.<@Nullable Object>failedFuture(refused(method, name))
                    : CompletableFuture.<@Nullable Object>completedFuture(null);
              }
              return run(method, acquired.get(), kept);
            });
  }

  private static CompletableFuture<@Nullable Object> run(
      LeasedMethod method, Lease lease, MethodInvocation invocation) {
    long startNanos = System.nanoTime();
    Lease outer = CurrentLease.set(lease);
    CompletableFuture<@Nullable Object> work;
    try {
      CompletionStage<?> started = (CompletionStage<?>) invocation.proceed();
      work =
          started == null
              ? CompletableFuture.<@Nullable Object>completedFuture(null)
              : started.<@Nullable Object>thenApply(value -> value).toCompletableFuture();
    } catch (Throwable e) {
      work = CompletableFuture.failedFuture(e);
    } finally {
      CurrentLease.set(outer);
    }
    CompletableFuture<@Nullable Object> ended = work;
    return ended
        .handle((value, failure) -> end(method, lease, startNanos))
        .thenCompose(released -> released)
        .thenCompose(released -> ended);
  }

  private static CompletionStage<?> end(LeasedMethod method, Lease lease, long startNanos) {
    Duration left = method.left(startNanos);
    if (left.isZero()) {
      return lease.releaseAsync();
    }
    releaseLater(lease, left);
    return CompletableFuture.<@Nullable Object>completedFuture(null);
  }

  private static void releaseLater(Lease lease, Duration left) {
    CompletableFuture.delayedExecutor(left.toNanos(), TimeUnit.NANOSECONDS, Runnable::run)
        .execute(
            () -> {
              var unused = lease.releaseAsync();
            });
  }

  private record LeasedMethod(
      String base,
      @Nullable Expression key,
      Method method,
      LeaseOptions options,
      Duration atLeast,
      Leased.WhenHeld whenHeld,
      boolean async,
      boolean optional) {

    String name(Object target, @Nullable Object[] arguments, ParameterNameDiscoverer names) {
      if (key == null) {
        return base;
      }
      Object value =
          key.getValue(new MethodBasedEvaluationContext(target, method, arguments, names));
      return base + ":" + value;
    }

    /** What is left of the time for which the lease is kept at least. */
    Duration left(long startNanos) {
      Duration left = atLeast.minusNanos(System.nanoTime() - startNanos);
      return left.isNegative() ? Duration.ZERO : left;
    }
  }
}
