/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.jedis;

import dev.paddock.StoreException;
import dev.paddock.redis.internal.RedisUriText;
import dev.paddock.redis.internal.Secrets;
import dev.paddock.spi.Environment;
import java.io.IOException;
import java.time.Duration;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.commons.pool2.BasePooledObjectFactory;
import org.apache.commons.pool2.PooledObject;
import org.apache.commons.pool2.impl.DefaultPooledObject;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.util.Pool;

/** One server and the connections to it. Thread-safe. */
final class Node {
  /*
   *        can't connect                 bridge over
   *   UP ---------------> BRIDGING -------------------> DOWN
   *    ^                     | connected                  | connected
   *    +---------------------+----------------------------+
   *
   * UP        commands take an idle connection, or make one.
   * BRIDGING  as UP, and whoever can't have one tries again after a pause, as long as its time allows:
   *           a cut that heals soon fails no read. The bridge is one command time-out long, counted
   *           from the first failure and not from each command, so that an outage costs a caller that
   *           wait at most once.
   * DOWN      one command at a time tries to connect, and not at once after the last failure; all
   *           others fail without trying, and have certainly not happened.
   *
   * Nobody connects in the background: when nothing is asked of a server there is nothing to
   * reconnect for.
   */
  private static final long PROBE_MIN_NANOS = 250_000_000;
  private static final long PROBE_SPREAD_NANOS = 250_000_000;
  private static final long UP = Long.MIN_VALUE;

  private final Environment environment;
  private final HostAndPort address;
  private final String name;
  private final Secrets secrets;
  private final Pool<Connection> pool;
  private final @Nullable Made made;
  private final int commandMillis;
  private final long bridgeNanos;
  private final AtomicLong failingSince = new AtomicLong(UP);
  private final AtomicBoolean probing = new AtomicBoolean();
  private volatile long nextProbe;

  /** The time-out that an application's connections have when we do not use them. */
  private volatile int applicationMillis;

  private volatile Identity identity;

  private Node(
      Environment environment,
      HostAndPort address,
      String name,
      Secrets secrets,
      Pool<Connection> pool,
      @Nullable Made made,
      int commandMillis) {
    this.environment = environment;
    this.address = address;
    this.name = name;
    this.secrets = secrets;
    this.pool = pool;
    this.made = made;
    this.commandMillis = commandMillis;
    this.applicationMillis = commandMillis;
    this.bridgeNanos = commandMillis * 1_000_000L;
    this.nextProbe = environment.nanoTime();
    this.identity = new Identity(name, 1);
  }

  /**
   * Names a server between two losses of connections: after one the same name may stand for another
   * server, with a clock of its own. Equal to itself alone.
   */
  private static final class Identity {
    private final String name;
    private final long number;

    Identity(String name, long number) {
      this.name = name;
      this.number = number;
    }

    @Override
    public String toString() {
      return name + ", connections of kind " + number;
    }
  }

  /** Looks at a connection that was just made; throws if it leads to a server that is of no use. */
  @FunctionalInterface
  interface Check {
    void accept(Connection connection);
  }

  /** Makes connections, and knows those that there are, so that closing can end their reads. */
  private static final class Made extends BasePooledObjectFactory<Connection> {
    private final HostAndPort address;
    private final JedisClientConfig config;
    private final Check check;
    private final Set<Connection> open = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    Made(HostAndPort address, JedisClientConfig config, Check check) {
      this.address = address;
      this.config = config;
      this.check = check;
    }

    @Override
    public Connection create() {
      Connection connection = new OnceConnection(address, config);
      open.add(connection);
      try {
        if (closed) {
          throw new IllegalStateException("closed");
        }
        check.accept(connection);
      } catch (RuntimeException e) {
        end(connection);
        throw e;
      }
      return connection;
    }

    @Override
    public PooledObject<Connection> wrap(Connection connection) {
      return new DefaultPooledObject<>(connection);
    }

    @Override
    public boolean validateObject(PooledObject<Connection> pooled) {
      try {
        return pooled.getObject().isConnected() && pooled.getObject().ping();
      } catch (RuntimeException e) {
        return false;
      }
    }

    @Override
    public void destroyObject(PooledObject<Connection> pooled) {
      end(pooled.getObject());
    }

    private void end(Connection connection) {
      open.remove(connection);
      try {
        connection.forceDisconnect();
      } catch (IOException e) {
        // What can't be closed is not read any more either.
        System.getLogger(Node.class.getPackageName())
            .log(System.Logger.Level.DEBUG, "a connection did not close", e);
      }
    }

    void close() {
      closed = true;
      open.forEach(this::end);
    }
  }

  /**
   * Makes a node with connections of its own; connects to nothing yet.
   *
   * @param config time-outs included
   * @param connectionsMax how many connections there may be
   */
  static Node own(
      Environment environment,
      HostAndPort address,
      JedisClientConfig config,
      Secrets secrets,
      int connectionsMax,
      Check check) {
    Made made = new Made(address, config, check);
    GenericObjectPoolConfig<Connection> limits = new ConnectionPoolConfig();
    limits.setMaxTotal(connectionsMax);
    limits.setMaxIdle(connectionsMax);
    limits.setMinIdle(0);
    limits.setJmxEnabled(false);
    return new Node(
        environment,
        address,
        RedisUriText.address(address.getHost(), address.getPort()),
        secrets,
        new Pool<>(limits, made),
        made,
        config.getSocketTimeoutMillis());
  }

  /**
   * Makes a node of the connections of an application, whose pool is not closed.
   *
   * @param name names it in messages
   */
  static Node shared(
      Environment environment,
      HostAndPort address,
      String name,
      Pool<Connection> pool,
      int commandMillis) {
    return new Node(environment, address, name, Secrets.unknown(), pool, null, commandMillis);
  }

  HostAndPort address() {
    return address;
  }

  /** Host and port. */
  String name() {
    return name;
  }

  /** Returns what is equal as long as the server is the same, as far as is known. */
  Object identity() {
    return identity;
  }

  /** Takes an idle connection; null if there is none, or if something is wrong with the server. */
  @Nullable Connection idle() {
    if (failingSince.get() != UP || pool.getNumIdle() == 0) {
      return null;
    }
    try {
      return ready(pool.borrowObject(Duration.ZERO));
    } catch (Exception e) {
      // Another thread took it, and a new one can't be made. The usual way tells why.
      return null;
    }
  }

  /**
   * Takes a connection, and makes one if there is none. Blocks.
   *
   * @throws StoreException if there is none; nothing was sent then
   */
  Connection borrow(long nanos) {
    long since = failingSince.get();
    boolean down = since != UP && environment.nanoTime() - since >= bridgeNanos;
    boolean probe = down && pool.getNumIdle() == 0;
    if (probe && (environment.nanoTime() - nextProbe < 0 || !probing.compareAndSet(false, true))) {
      throw unsent("the connection is lost, and reconnecting goes on", null);
    }
    try {
      Connection connection = ready(pool.borrowObject(Duration.ofNanos(Math.max(1, nanos))));
      if (since != UP && failingSince.compareAndSet(since, UP)) {
        identity = new Identity(name, identity.number + 1);
      }
      return connection;
    } catch (NoSuchElementException e) {
      throw unsent("all connections are in use: raise connectionsMax", null);
    } catch (Exception e) {
      if (e instanceof InterruptedException) {
        Thread.currentThread().interrupt();
      }
      failed();
      throw unsent(secrets.summary(root(e)), secrets.causeOrNull(e));
    } finally {
      if (probe) {
        probing.set(false);
      }
    }
  }

  private Connection ready(Connection connection) {
    if (made == null && connection.getSoTimeout() != commandMillis) {
      applicationMillis = connection.getSoTimeout();
      connection.setSoTimeout(commandMillis);
    }
    return connection;
  }

  private void failed() {
    long now = environment.nanoTime();
    nextProbe = now + PROBE_MIN_NANOS + Math.floorMod(environment.randomLong(), PROBE_SPREAD_NANOS);
    failingSince.compareAndSet(UP, now);
  }

  static Throwable root(Throwable thrown) {
    Throwable root = thrown;
    for (int i = 0; i < 10 && root.getCause() != null; i++) {
      root = root.getCause();
    }
    return root;
  }

  /** Whether trying again soon may help whoever got no connection. */
  boolean isBridging() {
    long since = failingSince.get();
    return since == UP || environment.nanoTime() - since < bridgeNanos;
  }

  /** Gives back a connection whose reply was read. */
  void giveBack(Connection connection) {
    if (made == null && applicationMillis != commandMillis) {
      connection.setSoTimeout(applicationMillis);
    }
    pool.returnResource(connection);
  }

  /** Gives back a connection that is of no use any more. */
  void discard(Connection connection) {
    pool.returnBrokenResource(connection);
  }

  /** A connection broke: the idle ones are most likely dead, too, and the server may be another. */
  void lost() {
    if (made != null) {
      pool.clear();
    }
    identity = new Identity(name, identity.number + 1);
  }

  StoreException unsent(String why, @Nullable Throwable cause) {
    return new StoreException("not sent to Redis at " + name + ": " + why, cause, false);
  }

  /** Words the end of a command without a reply. */
  StoreException unanswered(Throwable cause) {
    return new StoreException(
        "no answer from Redis at "
            + name
            + ", the command may have been executed: "
            + secrets.summary(root(cause)),
        secrets.causeOrNull(cause),
        true);
  }

  /** Closes the connections that are its own, also those that somebody is reading from. */
  void close() {
    if (made != null) {
      made.close();
      pool.close();
    }
  }

  @Override
  public String toString() {
    return name;
  }
}
