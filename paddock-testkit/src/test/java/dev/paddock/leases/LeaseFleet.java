/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.leases;

import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.Lease;
import dev.paddock.LeaseEvent;
import dev.paddock.LeaseListener;
import dev.paddock.LeaseLock;
import dev.paddock.LeaseOptions;
import dev.paddock.LeaseOutcome;
import dev.paddock.redis.RedisLeaseStore;
import dev.paddock.spi.LeaseStore;
import dev.paddock.spi.StoreOptions;
import dev.paddock.testkit.InMemoryRedis;
import dev.paddock.testkit.RequestFate;
import dev.paddock.testkit.SkewedEnvironment;
import dev.paddock.testkit.VirtualEnvironment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** Several processes that compete for leases on one Redis; virtual time. */
final class LeaseFleet {
  static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(1);
  static final LeaseOptions TEN_SECONDS = LeaseOptions.defaults().leaseTime(Duration.ofSeconds(10));

  final VirtualEnvironment env = new VirtualEnvironment(1);
  final InMemoryRedis redis = new InMemoryRedis(env);
  private final List<Node> nodes = new ArrayList<>();

  /** Starts a process; the server knows the scripts afterwards, as it does in the long run. */
  Node node(String name) {
    Node node = new Node(name);
    nodes.add(node);
    Lease lease = node.acquire("warm", TEN_SECONDS);
    env.await(lease.extendAsync(), COMMAND_TIMEOUT);
    node.release(lease);
    node.events.clear();
    return node;
  }

  void advance(Duration by) {
    env.advance(by);
    redis
        .snapshot()
        .forEach(
            (key, state) -> {
              if (key.toString().startsWith("pdk:lease:") && !key.toString().endsWith("}")) {
                assertThat(state.ttlMillis())
                    .as("TTL of %s", key)
                    .isNotNegative()
                    .isLessThanOrEqualTo(Duration.ofDays(1).toMillis());
              }
            });
  }

  /** After the longest lease nothing is left: no timer, task, subscription, lease, queue. */
  void assertAtRest() {
    redis.setInterceptor(request -> RequestFate.DELIVERED);
    redis.setOutOfMemory(false);
    for (Node node : nodes) {
      for (Lease lease : node.held) {
        var unused = lease.releaseAsync();
      }
    }
    advance(Duration.ofMinutes(10));
    assertThat(env.pendingTasks()).as("tasks").isZero();
    assertThat(env.pendingTimers()).as("timers: %s", env).isZero();
    assertThat(redis.subscriptionCount()).as("subscriptions").isZero();
    assertThat(leaseKeys()).isEmpty();
  }

  List<String> leaseKeys() {
    return redis.snapshot().keySet().stream()
        .map(Object::toString)
        .filter(key -> key.startsWith("pdk:lease:") && !key.endsWith("}"))
        .toList();
  }

  /** Whatever is sent to this script from now on. */
  void fate(String script, RequestFate fate) {
    redis.setInterceptor(request -> request.runs(script + ":") ? fate : RequestFate.DELIVERED);
  }

  void allDelivered() {
    redis.setInterceptor(request -> RequestFate.DELIVERED);
  }

  long commands(String name) {
    return redis.commandCounts().getOrDefault(name, 0L);
  }

  /** One process. */
  final class Node implements LeaseListener {
    final SkewedEnvironment clock = new SkewedEnvironment(env, Duration.ZERO);
    final List<LeaseEvent> events = new ArrayList<>();
    final List<Lease> held = new ArrayList<>();
    final LeaseLock lock;

    private Node(String name) {
      LeaseStore store =
          env.await(
              RedisLeaseStore.openAsync(
                  redis.connect(name, clock),
                  clock,
                  new StoreOptions(Duration.ofSeconds(10), COMMAND_TIMEOUT)),
              Duration.ofSeconds(10));
      lock =
          LeaseLock.newBuilder()
              .store((environment, options) -> store)
              .environment(clock)
              .commandTimeout(COMMAND_TIMEOUT)
              .listener(this)
              .build();
    }

    @Override
    public void onEvent(LeaseEvent event) {
      events.add(event);
    }

    Attempt begin(String name, LeaseOptions options) {
      return new Attempt(lock.tryAcquireAsync(name, options), held);
    }

    Optional<Lease> tryAcquire(String name, LeaseOptions options) {
      Attempt attempt = begin(name, options);
      return env.await(attempt.future, Duration.ofMinutes(10));
    }

    Lease acquire(String name, LeaseOptions options) {
      return tryAcquire(name, options).orElseThrow();
    }

    LeaseOutcome release(Lease lease) {
      return env.await(lease.releaseAsync(), Duration.ofSeconds(10));
    }

    <T extends LeaseEvent> List<T> events(Class<T> type) {
      return events.stream().filter(type::isInstance).map(type::cast).toList();
    }
  }

  /** An acquire that is under way. */
  final class Attempt {
    final CompletableFuture<Optional<Lease>> future;
    private final long startNanos = env.elapsedNanos();
    private long endNanos = -1;

    private Attempt(CompletableFuture<Optional<Lease>> future, List<Lease> held) {
      this.future = future;
      var unused =
          future.whenComplete(
              (lease, error) -> {
                endNanos = env.elapsedNanos();
                if (lease != null) {
                  lease.ifPresent(held::add);
                }
              });
    }

    boolean isDone() {
      return future.isDone();
    }

    Lease lease() {
      assertThat(future).isCompleted();
      return future.join().orElseThrow();
    }

    boolean refused() {
      assertThat(future).isCompleted();
      return future.join().isEmpty();
    }

    Duration took() {
      assertThat(endNanos).isNotNegative();
      return Duration.ofNanos(endNanos - startNanos);
    }

    @Nullable Throwable error() {
      assertThat(future).isCompletedExceptionally();
      try {
        future.join();
        return null;
      } catch (CompletionException e) {
        return e.getCause();
      }
    }
  }
}
