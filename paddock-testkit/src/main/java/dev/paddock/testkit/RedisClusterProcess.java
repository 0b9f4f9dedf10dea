/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A real Redis Cluster of its own for a test: three masters with a replica each, on free ports of
 * the loopback interface, formed without redis-cli.
 *
 * <p>A node that fails is noticed after two seconds (cluster-node-timeout); its replica takes over
 * a few seconds later. A slot moves in stages, see {@link #migrate(int, RedisServerProcess)}, so
 * that a test can look at what clients meet in between. The program is chosen as {@link
 * RedisServerProcess} has it; versions 6.2 and later work.
 *
 * <p>Thread-safe. All waiting is bounded by a minute and more. {@link #close()} ends all nodes;
 * nodes still running when the JVM ends are killed.
 *
 * @since 0.1.0
 */
public final class RedisClusterProcess implements AutoCloseable {
  /** How many slots a cluster has. */
  public static final int SLOTS = 16384;

  private static final int MASTERS = 3;
  private static final int NODES = 2 * MASTERS;

  /** A node listens on its port and, for other nodes, on this much more. */
  private static final int BUS_OFFSET = 10_000;

  private static final int PORT_MIN = 12_000;
  private static final int PORT_END = 22_000;
  private static final int PORT_TRIES_MAX = 200;
  private static final Duration LIMIT = Duration.ofMinutes(2);

  private final List<RedisServerProcess> nodes = new ArrayList<>();
  private final RedisConsole console = new ClusterConsole();

  private RedisClusterProcess() {}

  /**
   * Starts a cluster, and waits until each node says that all is well and each replica is connected
   * to its master.
   *
   * @param settings added to the command line of each node, in redis-server's own words
   * @return the cluster
   * @throws IllegalStateException if it does not come up
   */
  public static RedisClusterProcess start(String... settings) {
    return start(RedisServerProcess.chosen(), settings);
  }

  /**
   * Starts a cluster of a certain program.
   *
   * @param program its path
   * @param settings added to the command line of each node
   * @return the cluster
   * @throws IllegalStateException if it does not come up
   */
  public static RedisClusterProcess start(Path program, String... settings) {
    RedisClusterProcess cluster = new RedisClusterProcess();
    try {
      cluster.launch(program, settings);
      cluster.form();
      cluster.awaitStable();
      return cluster;
    } catch (RuntimeException e) {
      cluster.close();
      throw e;
    }
  }

  private void launch(Path program, String... settings) {
    List<String> all =
        new ArrayList<>(
            List.of(
                "--cluster-enabled",
                "yes",
                "--cluster-node-timeout",
                "2000",
                "--repl-diskless-sync-delay",
                "0"));
    all.addAll(List.of(settings));
    SplittableRandom random = new SplittableRandom();
    for (int i = 0; i < NODES; i++) {
      nodes.add(
          RedisServerProcess.start(program, () -> freePort(random), all.toArray(new String[0])));
    }
  }

  /** One with a free bus port. */
  private static int freePort(SplittableRandom random) {
    for (int attempt = 0; attempt < PORT_TRIES_MAX; attempt++) {
      int port = random.nextInt(PORT_MIN, PORT_END);
      if (isFree(port) && isFree(port + BUS_OFFSET)) {
        return port;
      }
    }
    throw new IllegalStateException("no free ports for the nodes of a cluster");
  }

  private static boolean isFree(int port) {
    try (ServerSocket probe = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
      return probe.isBound();
    } catch (IOException e) {
      // Somebody has it.
      return false;
    }
  }

  private void form() {
    for (int i = 0; i < NODES; i++) {
      nodes.get(i).console().command("CLUSTER", "SET-CONFIG-EPOCH", i + 1);
    }
    for (int i = 0; i < MASTERS; i++) {
      addSlots(nodes.get(i), i * SLOTS / MASTERS, (i + 1) * SLOTS / MASTERS);
    }
    for (int i = 1; i < NODES; i++) {
      nodes.get(0).console().command("CLUSTER", "MEET", "127.0.0.1", nodes.get(i).port());
    }
    for (RedisServerProcess node : nodes) {
      await(
          "all nodes to know each other",
          () -> has(node, "cluster_known_nodes:" + NODES) && !view(node).contains("handshake"));
    }
    for (int i = MASTERS; i < NODES; i++) {
      String master = id(nodes.get(i - MASTERS));
      nodes.get(i).console().command("CLUSTER", "REPLICATE", master);
    }
  }

  /** ADDSLOTSRANGE would be shorter, but is younger than 6.2. */
  private static void addSlots(RedisServerProcess node, int from, int to) {
    List<Object> words = new ArrayList<>(List.of("CLUSTER", "ADDSLOTS"));
    for (int slot = from; slot < to; slot++) {
      words.add(slot);
    }
    node.console().command(words.toArray());
  }

  /**
   * Waits until each running node says that all slots are served, all running nodes agree on who
   * serves them, and each running replica is connected to its master.
   *
   * @throws IllegalStateException if that takes minutes
   */
  public void awaitStable() {
    await("the cluster to be well", this::isStable);
  }

  private boolean isStable() {
    String owners = null;
    for (RedisServerProcess node : running()) {
      String info = node.console().text("INFO", "replication");
      boolean replica = info.contains("role:slave");
      if (!has(node, "cluster_state:ok")
          || !has(node, "cluster_slots_ok:" + SLOTS)
          || (replica && !info.contains("master_link_status:up"))) {
        return false;
      }
      String seen = owners(node);
      if (owners != null && !owners.equals(seen)) {
        return false;
      }
      owners = seen;
    }
    return true;
  }

  /** Who is master of what, and whose replica, as one node sees it. */
  private static String owners(RedisServerProcess node) {
    return view(node)
        .lines()
        .filter(line -> !line.contains("fail"))
        .map(RedisClusterProcess::owner)
        .sorted()
        .collect(Collectors.joining("\n"));
  }

  private static String owner(String line) {
    String[] words = line.split(" ", -1);
    StringBuilder owner = new StringBuilder(words[0]);
    owner.append(words[2].contains("master") ? " master" : " of " + words[3]);
    for (int i = 8; i < words.length; i++) {
      if (!words[i].startsWith("[")) {
        owner.append(' ').append(words[i]);
      }
    }
    return owner.toString();
  }

  private static boolean has(RedisServerProcess node, String line) {
    return node.console().text("CLUSTER", "INFO").contains(line + "\r\n");
  }

  private static String view(RedisServerProcess node) {
    return node.console().text("CLUSTER", "NODES");
  }

  private static String id(RedisServerProcess node) {
    return node.console().text("CLUSTER", "MYID");
  }

  private List<RedisServerProcess> running() {
    List<RedisServerProcess> running =
        nodes.stream().filter(RedisServerProcess::isRunning).collect(Collectors.toList());
    if (running.isEmpty()) {
      throw new IllegalStateException("no node of the cluster runs");
    }
    return running;
  }

  /**
   * Returns all nodes: the three that began as masters, then their replicas in the same order.
   *
   * @return an unmodifiable list
   */
  public List<RedisServerProcess> nodes() {
    return List.copyOf(nodes);
  }

  /**
   * Returns a URI that names all nodes.
   *
   * @return {@code redis://127.0.0.1:port,127.0.0.1:port,...}
   */
  public String uri() {
    return nodes.stream()
        .map(node -> "127.0.0.1:" + node.port())
        .collect(Collectors.joining(",", "redis://", ""));
  }

  /**
   * Returns a console for the whole cluster: a command goes to the master of its first key, {@code
   * KEYS} asks all masters, and settings, {@code FLUSHALL}, {@code SCRIPT} and {@code CLIENT} go to
   * all nodes that they concern.
   *
   * @return always the same
   */
  public RedisConsole console() {
    return console;
  }

  /**
   * Computes the slot of a key.
   *
   * @param key the key
   * @return 0 to 16383
   */
  public static int slotOf(byte[] key) {
    return ClusterSlots.of(key);
  }

  /**
   * Finds the master of a key.
   *
   * @param key the key
   * @return the running node that takes itself for the master of the key's slot
   * @throws IllegalStateException if there is none
   */
  public RedisServerProcess masterOf(byte[] key) {
    return masterOfSlot(slotOf(key));
  }

  /**
   * Finds the master of a slot.
   *
   * @param slot 0 to 16383
   * @return the running node that takes itself for the master of the slot
   * @throws IllegalStateException if there is none
   */
  public RedisServerProcess masterOfSlot(int slot) {
    RedisServerProcess found = findMaster(slot);
    if (found == null) {
      throw new IllegalStateException("slot " + slot + " has no master");
    }
    return found;
  }

  private @Nullable RedisServerProcess findMaster(int slot) {
    for (RedisServerProcess node : running()) {
      for (String line : view(node).split("\n", -1)) {
        String[] words = line.split(" ", -1);
        if (words.length > 8 && words[2].equals("myself,master") && covers(words, slot)) {
          return node;
        }
      }
    }
    return null;
  }

  private static boolean covers(String[] words, int slot) {
    for (int i = 8; i < words.length; i++) {
      if (words[i].startsWith("[")) {
        continue;
      }
      String[] ends = words[i].split("-", 2);
      if (Integer.parseInt(ends[0]) <= slot && slot <= Integer.parseInt(ends[ends.length - 1])) {
        return true;
      }
    }
    return false;
  }

  /**
   * Returns the nodes that are masters of slots now.
   *
   * @return the running ones; not ordered
   */
  public List<RedisServerProcess> masters() {
    return running().stream()
        .filter(node -> view(node).lines().anyMatch(RedisClusterProcess::isServingMaster))
        .collect(Collectors.toList());
  }

  private static boolean isServingMaster(String line) {
    String[] words = line.split(" ", -1);
    return words.length > 8 && words[2].equals("myself,master");
  }

  /**
   * Finds a master other than that of a slot: where the slot can be moved to.
   *
   * @param slot 0 to 16383
   * @return a running master
   */
  public RedisServerProcess otherMaster(int slot) {
    long pid = masterOfSlot(slot).pid();
    return masters().stream().filter(node -> node.pid() != pid).findFirst().orElseThrow();
  }

  /**
   * Kills the master of a key (SIGKILL). Its replica takes over within seconds; {@link
   * #awaitMaster} waits for that.
   *
   * @param key the key
   * @return the node that was killed; it can be restarted, and becomes a replica
   */
  public RedisServerProcess killMasterOf(byte[] key) {
    RedisServerProcess master = masterOf(key);
    master.kill();
    return master;
  }

  /**
   * Waits until a running node serves a key, and the others know.
   *
   * @param key the key
   * @return its master
   */
  public RedisServerProcess awaitMaster(byte[] key) {
    await("a master of slot " + slotOf(key), () -> findMaster(slotOf(key)) != null);
    awaitStable();
    return masterOf(key);
  }

  /**
   * Prepares to move a slot; nothing happens until {@link SlotMigration#begin()}.
   *
   * @param slot 0 to 16383
   * @param target the master that shall get it
   * @return the migration
   */
  public SlotMigration migrate(int slot, RedisServerProcess target) {
    return new SlotMigration(slot, masterOfSlot(slot), target);
  }

  /**
   * A slot on its way from one master to another, as resharding tools move it, one stage at a time.
   *
   * <p>After {@link #begin()} the source answers ASK for keys that it does not have, and TRYAGAIN
   * to commands of which it has some keys only; the target serves whom the source sent on. After
   * {@link #finish()} the source answers MOVED.
   *
   * @since 0.1.0
   */
  public final class SlotMigration {
    private final int slot;
    private final RedisServerProcess source;
    private final RedisServerProcess target;

    private SlotMigration(int slot, RedisServerProcess source, RedisServerProcess target) {
      this.slot = slot;
      this.source = source;
      this.target = target;
    }

    /** Opens the slot at both ends. */
    public void begin() {
      target.console().command("CLUSTER", "SETSLOT", slot, "IMPORTING", id(source));
      source.console().command("CLUSTER", "SETSLOT", slot, "MIGRATING", id(target));
    }

    /**
     * Moves certain keys; those that do not exist are skipped.
     *
     * @param keys keys of the slot
     */
    public void move(byte[]... keys) {
      List<Object> words =
          new ArrayList<>(
              List.of("MIGRATE", "127.0.0.1", target.port(), "", 0, LIMIT.toMillis(), "KEYS"));
      words.addAll(List.of(keys));
      source.console().command(words.toArray());
    }

    /** Moves the keys that are there now. */
    public void moveAll() {
      while (true) {
        List<?> keys =
            (List<?>)
                requireNonNull(
                    source.console().command("CLUSTER", "GETKEYSINSLOT", slot, 100), "keys");
        if (keys.isEmpty()) {
          return;
        }
        move(keys.stream().map(byte[].class::cast).toArray(byte[][]::new));
      }
    }

    /** Hands the slot over, and waits until all nodes know. No keys may be left at the source. */
    public void finish() {
      String id = id(target);
      target.console().command("CLUSTER", "SETSLOT", slot, "NODE", id);
      source.console().command("CLUSTER", "SETSLOT", slot, "NODE", id);
      awaitStable();
    }

    /** Does all stages in turn. */
    public void run() {
      begin();
      moveAll();
      finish();
    }
  }

  private static void await(String what, BooleanSupplier condition) {
    Servers.await(LIMIT, what, condition);
  }

  /** Ends all nodes and deletes their folders. Idempotent. */
  @Override
  public void close() {
    // Replicas first, and by force: a cluster that ends in order would fail over on the way.
    for (int i = nodes.size() - 1; i >= 0; i--) {
      nodes.get(i).kill();
      nodes.get(i).close();
    }
  }

  /** Sends each command where it belongs. */
  private final class ClusterConsole implements RedisConsole {
    @Override
    public @Nullable Object command(Object... words) {
      return switch (words[0].toString().toUpperCase(Locale.ROOT)) {
        case "ACL" -> all(running(), words);
        case "CONFIG", "FLUSHALL", "SCRIPT", "CLIENT" -> all(masters(), words);
        case "KEYS" -> keys(words);
        case "TIME" -> masters().get(0).console().command(words);
        default -> masterOf(firstKey(words)).console().command(words);
      };
    }

    private List<@Nullable Object> keys(Object... words) {
      List<@Nullable Object> keys = new ArrayList<>();
      for (RedisServerProcess node : masters()) {
        keys.addAll((List<?>) requireNonNull(node.console().command(words), "keys"));
      }
      return keys;
    }

    private static byte[] firstKey(Object... words) {
      return words[1] instanceof byte[] bytes ? bytes : words[1].toString().getBytes(UTF_8);
    }

    private @Nullable Object all(List<RedisServerProcess> targets, Object... words) {
      Object reply = null;
      for (RedisServerProcess node : targets) {
        reply = node.console().command(words);
      }
      return reply;
    }
  }
}
