/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import dev.paddock.StoreException;
import dev.paddock.redis.RedisReplyException;
import dev.paddock.testkit.PrimaryWithReplicas;
import dev.paddock.testkit.RedisServerProcess;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** Servers that the demo has started for itself, and so may do harm to. */
interface OwnServers extends AutoCloseable {
  /** Servers of which one takes the place of another that dies. */
  interface WithStandIns extends OwnServers {
    /**
     * Kills the server that takes writes of a key (SIGKILL).
     *
     * @param key the key
     * @return host and port of that server
     */
    String killMaster(String key);

    /** Waits until another has taken the place of the one that was killed. */
    void awaitStandIn();

    /** Starts what was killed, and waits until all are as they should be. */
    void restore();
  }

  /** Servers between which keys can move. */
  interface WithSlots extends OwnServers {
    /**
     * Moves the slot of a key, with all that is in it, to another master.
     *
     * @param key the key
     * @return for how many milliseconds its keys were at both ends
     */
    long moveSlot(String key);

    /**
     * Tells whether a key is where it was moved to.
     *
     * @param key the key that was moved last
     * @return true if the master to which its slot was moved has it
     */
    boolean arrived(String key);
  }

  /**
   * Starts servers.
   *
   * @param topology how they are arranged
   * @return servers that are ready
   * @throws DemoException if they do not come up
   */
  static OwnServers start(Topology topology) {
    return switch (topology) {
      case STANDALONE -> new Standalone(attempt(() -> RedisServerProcess.start()));
      case REPLICAS -> new Replicas(attempt(() -> PrimaryWithReplicas.start(2)));
      case SENTINEL -> SentinelServers.start();
      case CLUSTER -> ClusterServers.start();
    };
  }

  /**
   * Does what takes servers that behave.
   *
   * @param <T> what it gives
   * @param action what to do
   * @return what it gave
   * @throws DemoException if they do not
   */
  static <T> T attempt(Supplier<T> action) {
    try {
      return action.get();
    } catch (IllegalStateException
        | UncheckedIOException
        | StoreException
        | RedisReplyException e) {
      throw new DemoException(withCause(e), e);
    }
  }

  private static String withCause(Exception e) {
    String message = String.valueOf(e.getMessage());
    Throwable cause = e.getCause();
    return cause == null || message.contains(String.valueOf(cause.getMessage()))
        ? message
        : message + ": " + cause.getMessage();
  }

  static String address(RedisServerProcess server) {
    return "127.0.0.1:" + server.port();
  }

  /**
   * Returns what to connect to.
   *
   * @return a URI as Paddock takes it
   */
  String uri();

  /**
   * Returns all processes.
   *
   * @return also such as have been killed
   */
  List<RedisServerProcess> processes();

  /**
   * Returns the ids of the processes.
   *
   * @return those that would be left behind if this JVM were killed
   */
  default List<Long> pids() {
    return processes().stream().map(RedisServerProcess::pid).toList();
  }

  @Override
  void close();

  /**
   * One server.
   *
   * @param server the server
   */
  record Standalone(RedisServerProcess server) implements OwnServers {
    @Override
    public String uri() {
      return server.uri();
    }

    @Override
    public List<RedisServerProcess> processes() {
      return List.of(server);
    }

    @Override
    public void close() {
      server.close();
    }
  }

  /**
   * A primary with replicas.
   *
   * @param all the servers
   */
  record Replicas(PrimaryWithReplicas all) implements OwnServers {
    @Override
    public String uri() {
      return all.primary().uri();
    }

    @Override
    public List<RedisServerProcess> processes() {
      List<RedisServerProcess> processes = new ArrayList<>(all.replicas());
      processes.add(all.primary());
      return processes;
    }

    @Override
    public void close() {
      all.close();
    }
  }
}
