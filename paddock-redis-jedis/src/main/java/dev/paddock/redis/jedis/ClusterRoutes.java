/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.jedis;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.paddock.StoreException;
import dev.paddock.spi.HintSubscription;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.util.JedisClusterCRC16;

/** The masters of a cluster have the keys of their slots. */
final class ClusterRoutes implements Routes {
  /*
   * Who is master of which slot is asked (CLUSTER SLOTS) when the store is opened, and again at each
   * sign of a change: MOVED, no connection, a connection lost, no answer in time, READONLY,
   * CLUSTERDOWN, a subscription that the server has ended. A node that none of them knows any more is
   * closed, so that whoever reads from one that hangs goes on elsewhere.
   */
  private static final System.Logger log = System.getLogger(ClusterRoutes.class.getPackageName());
  private static final int SLOTS = 16384;

  /** From here on hints go through the shard of the key alone. */
  private static final int SHARDED_SINCE = 7;

  /** How the nodes of the cluster are reached. */
  interface Access {
    /** Makes the connections to a node, by and by. */
    Node node(HostAndPort address);

    /** Connects to a node, for one question or for hints. Blocks. */
    Connection connect(HostAndPort address);

    /** The nodes to ask when no other answers. */
    List<HostAndPort> seeds();
  }

  private final Opening opening;
  private final Access access;
  private final String description;
  private final boolean sharded;
  private final Refresh renewal;
  private final ClusterHints hints;

  /** For what any node broadcasts to all. */
  private final ClusterHints broadcasts;

  private final ConcurrentHashMap<HostAndPort, Node> nodes = new ConcurrentHashMap<>();
  private volatile @Nullable Node[] masters = new Node[SLOTS];
  private volatile boolean closed;

  /** Asks for the slots, and for the version. Blocks. */
  ClusterRoutes(Opening opening, Access access, String description, OpenFailures failures) {
    this.opening = opening;
    this.access = access;
    this.description = description;
    About about = null;
    JedisException failed = null;
    for (HostAndPort seed : access.seeds()) {
      try (Connection connection = access.connect(seed)) {
        about = About.ask(connection);
        JedisStore.checkVersion(about, failures);
        if (about.version() != null && !about.cluster()) {
          throw failures.noCluster();
        }
        take(seed, connection);
        break;
      } catch (JedisException e) {
        failed = e;
        about = null;
      }
    }
    if (about == null) {
      throw failed == null ? failures.noCluster() : failed;
    }
    this.sharded = about.version() != null && about.version().major() >= SHARDED_SINCE;
    this.renewal = new Refresh(opening.environment(), opening.workers(), this::renew);
    this.hints = new ClusterHints(opening, sharded, this);
    this.broadcasts = new ClusterHints(opening, false, this);
  }

  /** Asks any node that answers. */
  private void renew() {
    if (closed) {
      return;
    }
    Set<HostAndPort> asked = new LinkedHashSet<>();
    for (Node master : masters) {
      if (master != null) {
        asked.add(master.address());
      }
    }
    asked.addAll(access.seeds());
    for (HostAndPort each : asked) {
      try (Connection connection = access.connect(each)) {
        take(each, connection);
        hints.topologyChanged();
        broadcasts.topologyChanged();
        return;
      } catch (JedisException | StoreException e) {
        log.log(
            System.Logger.Level.DEBUG,
            () ->
                "the slots of "
                    + description
                    + " can't be read from "
                    + each
                    + ": "
                    + opening.secrets().summary(e));
      }
    }
  }

  private void take(HostAndPort asked, Connection connection) {
    Object reply = connection.executeCommand(new CommandArguments(Command.CLUSTER).add("SLOTS"));
    if (!(reply instanceof List<?> ranges) || ranges.isEmpty()) {
      throw new JedisException("it knows no slots");
    }
    @Nullable Node[] read = new Node[SLOTS];
    Set<HostAndPort> members = new LinkedHashSet<>();
    for (Object each : ranges) {
      List<?> range = (List<?>) each;
      for (int i = 2; i < range.size(); i++) {
        HostAndPort address = address(asked, (List<?>) range.get(i));
        if (address == null) {
          continue;
        }
        members.add(address);
        if (i == 2) {
          Node master = node(address);
          for (long slot = (Long) range.get(0); slot <= (Long) range.get(1); slot++) {
            read[(int) slot] = master;
          }
        }
      }
    }
    masters = read;
    nodes.forEach(
        (address, node) -> {
          if (!members.contains(address) && nodes.remove(address, node)) {
            node.close();
          }
        });
  }

  /** A node that knows no name of itself leaves it empty: it is the one that was asked. */
  private static @Nullable HostAndPort address(HostAndPort asked, List<?> node) {
    String host = node.get(0) instanceof byte[] name ? new String(name, UTF_8) : "";
    if (host.equals("?") || !(node.get(1) instanceof Long port)) {
      return null;
    }
    return new HostAndPort(host.isEmpty() ? asked.getHost() : host, port.intValue());
  }

  private Node node(HostAndPort address) {
    Node node = nodes.computeIfAbsent(address, access::node);
    if (closed) {
      node.close();
    }
    return node;
  }

  @Override
  public Node route(byte[] key) {
    return master(JedisClusterCRC16.getSlot(key));
  }

  /** Returns the master of a slot. */
  Node master(int slot) {
    Node master = masters[slot];
    if (master == null) {
      renewal.wish();
      throw new StoreException(
          "not sent to " + description + ": no node has slot " + slot, null, false);
    }
    return master;
  }

  @Override
  public Node named(String host, int port) {
    return node(new HostAndPort(host, port));
  }

  /** Connects to a node, for hints. Blocks. */
  Connection connect(Node node) {
    return access.connect(node.address());
  }

  /** Tells whether a node is master of a slot, as far as is known. */
  boolean isMaster(Node node) {
    for (Node master : masters) {
      if (master == node) {
        return true;
      }
    }
    return false;
  }

  @Override
  public void suspect(Node node) {
    renewal.wish();
  }

  /** A slot seems to have another master. */
  void slotsChanged() {
    renewal.wish();
  }

  @Override
  public boolean isMoving() {
    return true;
  }

  @Override
  public boolean isOneServer() {
    return false;
  }

  @Override
  public boolean sharded() {
    return sharded;
  }

  @Override
  public HintSubscription subscribe(byte[] channel, Consumer<byte[]> onMessage) {
    return hints.subscribe(channel, onMessage);
  }

  @Override
  public HintSubscription subscribeToAll(byte[] channel, Consumer<byte[]> onMessage) {
    return broadcasts.subscribe(channel, onMessage);
  }

  @Override
  public void close() {
    closed = true;
    hints.close();
    broadcasts.close();
    new ArrayList<>(nodes.values()).forEach(Node::close);
  }

  @Override
  public void awaitEnd(long millis) throws InterruptedException {
    hints.awaitEnd(millis);
    broadcasts.awaitEnd(millis);
  }
}
