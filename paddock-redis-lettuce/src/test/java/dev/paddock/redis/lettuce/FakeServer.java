/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/** Speaks RESP and answers as a test says: for servers that are not at hand. */
final class FakeServer implements AutoCloseable {
  private final ServerSocket listener;
  private final Function<List<String>, String> answers;
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();

  /**
   * Starts a server.
   *
   * @param answers gives the raw reply to a request, the command in upper case; an empty one sends
   *     nothing
   */
  FakeServer(Function<List<String>, String> answers) {
    this.answers = answers;
    try {
      listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    daemon(this::accept);
  }

  /** A server that knows RESP3, and says this version to HELLO and INFO. */
  static FakeServer ofVersion(String version) {
    return new FakeServer(
        request ->
            switch (request.get(0)) {
              case "HELLO" -> hello(version);
              case "INFO" -> bulk("# Server\r\nredis_version:" + version + "\r\n");
              case "CLIENT" -> "+OK\r\n";
              case "TIME" -> "*2\r\n$10\r\n1764423456\r\n$1\r\n0\r\n";
              default -> "-ERR unknown command\r\n";
            });
  }

  static String hello(String version) {
    return "%7\r\n"
        + bulk("server")
        + bulk("redis")
        + bulk("version")
        + bulk(version)
        + bulk("proto")
        + ":3\r\n"
        + bulk("id")
        + ":1\r\n"
        + bulk("mode")
        + bulk("standalone")
        + bulk("role")
        + bulk("master")
        + bulk("modules")
        + "*0\r\n";
  }

  static String bulk(String text) {
    return "$" + text.getBytes(UTF_8).length + "\r\n" + text + "\r\n";
  }

  int port() {
    return listener.getLocalPort();
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket client = listener.accept();
        open.add(client);
        daemon(() -> serve(client));
      } catch (IOException e) {
        // Closed by the test.
        return;
      }
    }
  }

  private void serve(Socket client) {
    try (client) {
      InputStream in = new BufferedInputStream(client.getInputStream());
      while (true) {
        List<String> request = new ArrayList<>();
        int count = Integer.parseInt(line(in).substring(1));
        for (int i = 0; i < count; i++) {
          int length = Integer.parseInt(line(in).substring(1));
          request.add(new String(in.readNBytes(length), UTF_8));
          line(in);
        }
        request.set(0, request.get(0).toUpperCase(Locale.ROOT));
        client.getOutputStream().write(answers.apply(request).getBytes(UTF_8));
      }
    } catch (IOException | RuntimeException e) {
      // The client has gone, or said something that is not RESP: the connection ends.
      open.remove(client);
    }
  }

  private static String line(InputStream in) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0) {
        throw new IOException("the end");
      }
      if (c != '\r') {
        line.append((char) c);
      }
    }
    return line.toString();
  }

  private static void daemon(Runnable body) {
    Thread thread = new Thread(body, "paddock-fake-server");
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void close() throws IOException {
    listener.close();
    for (Socket each : open) {
      each.close();
    }
  }
}
