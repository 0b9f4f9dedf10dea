/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.zookeeper;

import static java.util.Objects.requireNonNull;

import dev.paddock.PaddockInterruptedException;
import dev.paddock.StoreException;
import dev.paddock.spi.Environment;
import dev.paddock.spi.LeaseStore;
import dev.paddock.spi.LeaseStoreFactory;
import dev.paddock.spi.StoreOptions;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.apache.curator.retry.RetryNTimes;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/** Connects, makes the node above all leases, and puts a store on the client. */
final class ZooKeeperLeaseStoreFactory implements LeaseStoreFactory {
  private static final Duration SESSION = Duration.ofSeconds(30);
  private static final int TRIES = 3;
  private static final int PAUSE_MILLIS = 100;

  private final @Nullable CuratorFramework applicationClient;
  private final ZooKeeperUris.@Nullable Parsed uri;
  private final UnaryOperator<CuratorFrameworkFactory.Builder> customizing;

  ZooKeeperLeaseStoreFactory(
      @Nullable CuratorFramework applicationClient,
      ZooKeeperUris.@Nullable Parsed uri,
      UnaryOperator<CuratorFrameworkFactory.Builder> customizing) {
    this.applicationClient = applicationClient;
    this.uri = uri;
    this.customizing = customizing;
  }

  @Override
  public LeaseStore open(Environment environment, StoreOptions options) {
    long startNanos = environment.nanoTime();
    LeavingZooKeeper.Factory own =
        applicationClient == null ? new LeavingZooKeeper.Factory() : null;
    CuratorFramework client =
        own != null
            ? ownClient(requireNonNull(uri, "uri"), options, own)
            : requireNonNull(applicationClient);
    if (own != null) {
      client.start();
    } else if (client.getState() != CuratorFrameworkState.STARTED) {
      throw new StoreException(
          "the application's client of ZooKeeper is not started, or closed: start it first",
          null,
          false);
    }
    try {
      if (!client.blockUntilConnected(
          (int) Math.max(1, options.connectTimeout().toMillis()), TimeUnit.MILLISECONDS)) {
        throw new StoreException(
            "ZooKeeper at "
                + this
                + " can't be opened: no connection within "
                + options.connectTimeout()
                + "; check the address and that a majority of the servers runs, or raise the"
                + " connect time-out",
            null,
            false);
      }
      LeaseNodes nodes = new LeaseNodes(client, uri == null ? "" : uri.path());
      makeParents(client, nodes.parent());
      return ZooKeeperLeaseStore.open(
          client, own, nodes, String.valueOf(this), environment, options, startNanos);
    } catch (Exception e) {
      if (own != null) {
        client.close();
        own.end();
      }
      throw explained(e);
    }
  }

  private RuntimeException explained(Exception error) {
    if (error instanceof InterruptedException) {
      Thread.currentThread().interrupt();
      return new PaddockInterruptedException(
          "interrupted while opening the ZooKeeper store", error);
    }
    return error instanceof StoreException known
        ? known
        : new StoreException(
            "ZooKeeper at "
                + this
                + " can't be opened: "
                + error.getMessage()
                + (error instanceof KeeperException.NoAuthException
                    ? "; nodes belong to the user who made them first: connect as that user, have"
                        + " an administrator remove or reassign them, or use another path in the URI"
                    : ""),
            error,
            false);
  }

  private static void makeParents(CuratorFramework client, String parent) throws Exception {
    try {
      client.create().creatingParentsIfNeeded().forPath(parent, new byte[0]);
    } catch (KeeperException.NodeExistsException e) {
      // As it should be.
      return;
    }
  }

  private CuratorFramework ownClient(
      ZooKeeperUris.Parsed target, StoreOptions options, LeavingZooKeeper.Factory factory) {
    CuratorFrameworkFactory.Builder builder =
        CuratorFrameworkFactory.builder()
            .connectString(target.servers())
            .sessionTimeoutMs((int) SESSION.toMillis())
            .connectionTimeoutMs(
                (int)
                    Math.min(SESSION.toMillis(), Math.max(1, options.connectTimeout().toMillis())))
            .retryPolicy(new RetryNTimes(TRIES, PAUSE_MILLIS))
            // The servers are those of the URI, whatever addresses they know of themselves.
            .ensembleTracker(false)
            .zookeeperFactory(factory);
    String credentials = target.credentials();
    if (credentials != null) {
      builder
          .authorization("digest", credentials.getBytes(StandardCharsets.UTF_8))
          .aclProvider(new OurselvesOnly());
    }
    return customizing.apply(builder).build();
  }

  /** All rights for who made a node, none for others. */
  private static final class OurselvesOnly implements ACLProvider {
    @Override
    public List<ACL> getDefaultAcl() {
      return ZooDefs.Ids.CREATOR_ALL_ACL;
    }

    @Override
    public List<ACL> getAclForPath(String path) {
      return ZooDefs.Ids.CREATOR_ALL_ACL;
    }
  }

  @Override
  public String toString() {
    return uri == null ? "the application's client" : uri.toString();
  }
}
