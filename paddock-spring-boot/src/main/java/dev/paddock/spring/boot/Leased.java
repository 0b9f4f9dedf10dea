/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spring.boot;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs a method under a lease, so that it does not run twice at the same time in the fleet: for
 * scheduled jobs, beside {@code @Scheduled}. Works by a proxy, as Spring's own annotations do: on
 * methods of beans, called from outside. The lease is taken before a transaction begins and given
 * back after it has ended.
 *
 * <p>A lease can be lost while its method still runs. Where a second run would do damage, hand
 * {@link CurrentLease} to the resource, by its fencing token. While the store can't be asked the
 * method does not run, and the caller gets a {@link dev.paddock.StoreException}.
 *
 * <p>Methods may return anything, or a {@link java.util.concurrent.CompletableFuture}, for which
 * the lease is kept until it has completed; methods that return a publisher are refused when the
 * bean is made. Durations are written as {@code 30s}, {@code 10m}, {@code PT1H}; placeholders work
 * in all attributes.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface Leased {
  /**
   * Returns the name of the lease.
   *
   * @return 1 to 200 characters with prefix and key; placeholders are replaced
   */
  String value();

  /**
   * Returns what is added to the name, after a colon.
   *
   * @return an expression (SpEL) about the arguments, {@code #region} for example; empty for
   *     nothing
   */
  String key() default "";

  /**
   * Returns how long the lease lasts without its holder saying anything, and so how long others are
   * kept out when the holder dies.
   *
   * @return a duration of 1 ms to 1 day; empty for {@code paddock.leases.lease-time}, 30 s
   */
  String leaseTime() default "";

  /**
   * Returns for how long at most the lease is renewed while the method runs.
   *
   * @return a duration of 0 (never renewed) to 1 day; empty for {@code paddock.leases.renew-for}, 1
   *     hour
   */
  String renewFor() default "";

  /**
   * Returns how long to wait for another holder.
   *
   * @return a duration of 0 to 1 day
   */
  String waitTime() default "0s";

  /**
   * Returns for how long the lease is kept at least, although the method has ended. For a short job
   * that all processes start by their own clocks: above the difference of those, and below the time
   * between two runs.
   *
   * @return a duration of 0 to 1 day
   */
  String atLeastFor() default "0s";

  /**
   * Returns what happens if another holds the lease.
   *
   * @return skip by default
   */
  WhenHeld whenHeld() default WhenHeld.SKIP;

  /** What happens to a call while another holds the lease. */
  enum WhenHeld {
    /** It returns null, an empty {@code Optional}, or a completed future of null. */
    SKIP,
    /** It throws a {@link dev.paddock.LeaseTimeoutException}. */
    FAIL
  }
}
