/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.zookeeper;

import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.curator.utils.ZookeeperFactory;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.HostProvider;
import org.apache.zookeeper.client.ZKClientConfig;

/** A client that can go away without ending its session, which would free what it holds at once. */
@SuppressWarnings("try") // ZooKeeper.close() is as it is
final class LeavingZooKeeper extends ZooKeeper {
  private static final int TRIES = 50;
  private static final int PAUSE_MILLIS = 100;

  private LeavingZooKeeper(
      String servers, int sessionTimeout, Watcher watcher, boolean readOnly, ZKClientConfig config)
      throws IOException {
    super(servers, sessionTimeout, watcher, readOnly, config);
  }

  /** Makes one that asks where to connect. */
  LeavingZooKeeper(String servers, int sessionTimeout, Watcher watcher, HostProvider hosts)
      throws IOException {
    super(servers, sessionTimeout, watcher, false, hosts);
  }

  /**
   * Ends connection and threads, and waits for them, but not for ever; the session times out by
   * itself.
   */
  void leave() {
    // Curator would take the end for a lost session, and begin another.
    register(event -> {});
    boolean interrupted = false;
    boolean gone = false;
    for (int i = 0; i < TRIES && !gone; i++) {
      // Not once, by disconnect(): a sending thread that has just got the server's answer writes
      // "connected" over "closed" and goes on, and disconnect() would wait for it without end.
      getTestable().injectSessionExpiration();
      try {
        gone = awaitEnd(PAUSE_MILLIS);
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Returns whether its threads have ended, after at most twice that time. */
  boolean awaitEnd(int millis) throws InterruptedException {
    return testableWaitForShutdown(millis);
  }

  /** Makes them for Curator, which may want one more while it is being closed. */
  static final class Factory implements ZookeeperFactory {
    private final ReentrantLock lock = new ReentrantLock();
    private final Set<LeavingZooKeeper> made = new HashSet<>();
    private boolean ended;

    /** Lets those go that are not closed, and makes no more. */
    void end() {
      List<LeavingZooKeeper> left;
      lock.lock();
      try {
        ended = true;
        left = List.copyOf(made);
        made.clear();
      } finally {
        lock.unlock();
      }
      for (LeavingZooKeeper client : left) {
        if (client.getState().isAlive()) {
          client.leave();
        }
      }
    }

    @Override
    public ZooKeeper newZooKeeper(
        String servers, int sessionTimeout, Watcher watcher, boolean readOnly) throws Exception {
      return newZooKeeper(servers, sessionTimeout, watcher, readOnly, new ZKClientConfig());
    }

    @Override
    public ZooKeeper newZooKeeper(
        String servers,
        int sessionTimeout,
        Watcher watcher,
        boolean readOnly,
        ZKClientConfig config)
        throws Exception {
      // It starts threads, but waits for nothing.
      lock.lock();
      try {
        if (ended) {
          throw new IllegalStateException("the lease store on ZooKeeper is closed");
        }
        LeavingZooKeeper client =
            new LeavingZooKeeper(
                servers,
                sessionTimeout,
                watcher,
                readOnly,
                config == null ? new ZKClientConfig() : config);
        made.removeIf(former -> !former.getState().isAlive());
        made.add(client);
        return client;
      } finally {
        lock.unlock();
      }
    }
  }
}
