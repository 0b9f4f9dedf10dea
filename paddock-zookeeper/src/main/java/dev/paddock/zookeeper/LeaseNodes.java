/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.zookeeper;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.HexFormat;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.proto.CreateRequest;

/**
 * Where leases are and what is in their nodes: the owner and the lease time, as text, for people
 * too.
 */
final class LeaseNodes {
  private static final HexFormat HEX = HexFormat.of().withUpperCase();

  private final CuratorFramework client;
  private final String parent;

  LeaseNodes(CuratorFramework client, String path) {
    this.client = client;
    this.parent = path + "/paddock/leases";
  }

  /** Returns the node above all leases, within the client's namespace. */
  String parent() {
    return parent;
  }

  /** Returns the same as the server knows it. */
  String parentPath() throws Exception {
    String child = path("x");
    return child.substring(0, child.lastIndexOf('/'));
  }

  /** Returns the path of a lease as the server knows it, outside of any namespace. */
  String path(String name) throws Exception {
    return request(name, new byte[0]).getPath();
  }

  /** Returns a request with the client's namespace and rights in it. */
  CreateRequest request(String name, byte[] data) throws Exception {
    return (CreateRequest)
        client
            .transactionOp()
            .create()
            .withMode(CreateMode.EPHEMERAL)
            .forPath(parent + "/" + encoded(name), data)
            .get()
            .toRequestRecord();
  }

  /** All but letters, digits, {@code -} and {@code _} by their UTF-8 bytes, as in a URI. */
  static String encoded(String name) {
    StringBuilder text = new StringBuilder();
    for (byte each : name.getBytes(UTF_8)) {
      char character = (char) (each & 0xff);
      if ((character >= 'a' && character <= 'z')
          || (character >= 'A' && character <= 'Z')
          || (character >= '0' && character <= '9')
          || character == '-'
          || character == '_') {
        text.append(character);
      } else {
        text.append('%').append(HEX.toHexDigits(each));
      }
    }
    return text.toString();
  }

  static byte[] data(String owner, long leaseMillis) {
    return (owner + " " + leaseMillis).getBytes(UTF_8);
  }

  /** Returns the owner that a node names; of a foreign node, all of its text. */
  static String ownerIn(String text) {
    int end = text.indexOf(' ');
    return end < 0 ? text : text.substring(0, end);
  }

  /** Returns the lease time that a node names, or 0. */
  static long leaseMillisIn(String text) {
    try {
      return Math.max(0, Long.parseLong(text.substring(text.indexOf(' ') + 1)));
    } catch (NumberFormatException e) {
      return 0;
    }
  }
}
