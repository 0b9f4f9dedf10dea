/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.jedis;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.paddock.StoreException;
import dev.paddock.redis.internal.Secrets;
import dev.paddock.spi.HintSubscription;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/** The primary that Sentinels name has all keys. */
final class SentinelRoutes implements Routes {
  /*
   * The Sentinels are asked when the store is opened, and again at each sign that the primary may have
   * moved: no connection, a connection lost, no answer in time, READONLY. A server is believed to be
   * the primary only when it says so itself (ROLE), which each new connection asks it: what Sentinels
   * say lags, and a server that comes back is a replica before it knows.
   *
   * A switch puts the new node in place, and then closes the old one's connections, so that whoever
   * reads from a server that hangs goes on.
   */
  private static final System.Logger log = System.getLogger(SentinelRoutes.class.getPackageName());

  private final Opening opening;
  private final Target target;
  private final HintChannels hints;
  private final Refresh lookup;
  private final ReentrantLock lock = new ReentrantLock();
  private volatile Node primary; // written under the lock
  private boolean closed; // guarded by lock

  /** Asks the Sentinels, and the primary. Blocks. */
  SentinelRoutes(Opening opening, Target target, OpenFailures failures) {
    this.opening = opening;
    this.target = target;
    int steps = target.hosts().size() + 1;
    HostAndPort address = ask(opening.patient(target.sentinels(), steps));
    if (address == null) {
      throw failures.noPrimary();
    }
    try (Connection probe = new OnceConnection(address, opening.patient(target.config(), steps))) {
      requirePrimary(probe);
      JedisStore.checkVersion(About.ask(probe), failures);
    }
    this.primary = node(address);
    this.hints =
        opening.hints(
            HintChannels.Kind.PLAIN,
            target.description(),
            () -> new OnceConnection(primary.address(), opening.timed(target.config())));
    this.lookup = new Refresh(opening.environment(), opening.workers(), this::look);
  }

  private Node node(HostAndPort address) {
    return opening.node(address, target.config(), SentinelRoutes::requirePrimary);
  }

  /**
   * Asks one Sentinel after the other.
   *
   * @return null if one answered, and none that did knows the primary
   * @throws JedisException if none answers
   */
  private @Nullable HostAndPort ask(JedisClientConfig config) {
    JedisException failed = null;
    for (HostAndPort sentinel : target.hosts()) {
      try (Connection connection = new OnceConnection(sentinel, config)) {
        Object reply =
            connection.executeCommand(
                new CommandArguments(Command.SENTINEL)
                    .add("GET-MASTER-ADDR-BY-NAME")
                    .add(String.valueOf(target.primary())));
        if (reply instanceof List<?> words
            && words.size() == 2
            && words.get(0) instanceof byte[] host
            && words.get(1) instanceof byte[] port) {
          return new HostAndPort(
              new String(host, UTF_8), Integer.parseInt(new String(port, UTF_8)));
        }
        failed = null;
      } catch (JedisException e) {
        failed = e;
      }
    }
    if (failed != null) {
      throw failed;
    }
    return null;
  }

  /** Throws if the server says that it is a replica. */
  private static void requirePrimary(Connection connection) {
    Object reply;
    try {
      reply = connection.executeCommand(new CommandArguments(Command.ROLE));
    } catch (JedisDataException e) {
      // A user without the right to ask has to believe the Sentinels.
      return;
    }
    if (reply instanceof List<?> words
        && words.get(0) instanceof byte[] role
        && !new String(role, UTF_8).equals("master")) {
      throw new StoreException("the server that the Sentinels named is a replica", null, false);
    }
  }

  private void look() {
    Secrets secrets = opening.secrets();
    try {
      HostAndPort address = ask(opening.timed(target.sentinels()));
      if (address == null || address.equals(primary.address())) {
        return;
      }
      try (Connection probe = new OnceConnection(address, opening.timed(target.config()))) {
        requirePrimary(probe);
      }
      moveTo(node(address));
    } catch (JedisException | StoreException e) {
      log.log(
          System.Logger.Level.DEBUG,
          () -> "no primary of " + target.description() + ": " + secrets.summary(e));
    }
  }

  private void moveTo(Node next) {
    Node former;
    lock.lock();
    try {
      former = closed ? next : primary;
      if (!closed) {
        primary = next;
      }
    } finally {
      lock.unlock();
    }
    former.close();
    hints.reconnect();
  }

  @Override
  public Node route(byte[] key) {
    return primary;
  }

  @Override
  public Node named(String host, int port) {
    // A server that is no node of a cluster names no other.
    return primary;
  }

  @Override
  public void suspect(Node node) {
    if (node == primary) {
      lookup.wish();
    }
  }

  @Override
  public boolean isMoving() {
    // A failover takes longer than a command may, so the caller is told at once.
    return false;
  }

  @Override
  public boolean isOneServer() {
    return true;
  }

  @Override
  public boolean sharded() {
    return false;
  }

  @Override
  public HintSubscription subscribe(byte[] channel, Consumer<byte[]> onMessage) {
    return hints.subscribe(channel, onMessage::accept);
  }

  @Override
  public void close() {
    Node last;
    lock.lock();
    try {
      closed = true;
      last = primary;
    } finally {
      lock.unlock();
    }
    hints.close();
    last.close();
  }

  @Override
  public void awaitEnd(long millis) throws InterruptedException {
    hints.awaitEnd(millis);
  }
}
