/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A TCP proxy on the loopback interface that spoils what passes: it delays, swallows, refuses and
 * breaks.
 *
 * <p><em>Up</em> is from the client to the server, <em>down</em> is back. A setting counts at once,
 * for connections that are open and for later ones; of bytes on their way a delay is that of the
 * moment they arrived. Bytes that were swallowed are gone, so what follows them on that connection
 * makes no sense to the receiver: after a black hole, {@link #cut()} or {@link #reset()}.
 *
 * <p>It works on real time, with two threads for each direction of a connection. Thread-safe.
 *
 * @since 0.1.0
 */
public final class FaultProxy implements AutoCloseable {
  private static final int BUFFER_BYTES = 16 * 1024;
  private static final int CONNECT_MILLIS = 10_000;

  private final ServerSocket listener;
  private final InetSocketAddress target;
  private final Set<Link> links = ConcurrentHashMap.newKeySet();
  private final Direction up = new Direction();
  private final Direction down = new Direction();
  private volatile boolean refusing;
  private volatile boolean closed;

  /** The settings of one direction. */
  private static final class Direction {
    volatile long delayNanos;
    volatile boolean blackHole;
  }

  /** Bytes and when they may go on; no bytes for the end. */
  private static final class Chunk {
    final long dueNanos;
    final byte[] bytes;

    Chunk(long dueNanos, byte[] bytes) {
      this.dueNanos = dueNanos;
      this.bytes = bytes;
    }
  }

  private FaultProxy(ServerSocket listener, int targetPort) {
    this.listener = listener;
    this.target = new InetSocketAddress(InetAddress.getLoopbackAddress(), targetPort);
  }

  /**
   * Starts a proxy on a free port.
   *
   * @param targetPort where on the loopback interface the server listens
   * @return the proxy
   */
  // Closed by the object that is returned.
  @SuppressWarnings("resource")
  public static FaultProxy to(int targetPort) {
    try {
      ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
      FaultProxy proxy = new FaultProxy(listener, targetPort);
      daemon("accept", proxy::accept);
      return proxy;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Returns the port of the proxy.
   *
   * @return where clients connect
   */
  public int port() {
    return listener.getLocalPort();
  }

  /**
   * Returns the URI of a Redis server behind the proxy.
   *
   * @return {@code redis://127.0.0.1:port}
   */
  public String uri() {
    return "redis://127.0.0.1:" + port();
  }

  /**
   * Delays what clients send.
   *
   * @param delay how long; zero for no delay
   */
  public void delayUp(Duration delay) {
    up.delayNanos = delay.toNanos();
  }

  /**
   * Delays what the server sends.
   *
   * @param delay how long; zero for no delay
   */
  public void delayDown(Duration delay) {
    down.delayNanos = delay.toNanos();
  }

  /**
   * Swallows what clients send: requests are lost, and nobody is told.
   *
   * @param on whether it does
   */
  public void blackHoleUp(boolean on) {
    up.blackHole = on;
  }

  /**
   * Swallows what the server sends: replies are lost, and nobody is told.
   *
   * @param on whether it does
   */
  public void blackHoleDown(boolean on) {
    down.blackHole = on;
  }

  /**
   * Closes each new connection at once; those that are open go on.
   *
   * @param on whether it does
   */
  public void refuse(boolean on) {
    refusing = on;
  }

  /** Resets all open connections (RST). */
  public void reset() {
    links.forEach(link -> link.end(true));
  }

  /** Ends all open connections in order (FIN). What was on its way is lost. */
  public void cut() {
    links.forEach(link -> link.end(false));
  }

  /** Lifts every fault that has been set; open connections stay. */
  public void heal() {
    refusing = false;
    for (Direction direction : Arrays.asList(up, down)) {
      direction.delayNanos = 0;
      direction.blackHole = false;
    }
  }

  /**
   * Counts open connections.
   *
   * @return how many clients are connected through the proxy
   */
  public int connections() {
    return links.size();
  }

  /** Ends all connections and listens no more. Idempotent. */
  @Override
  public void close() {
    closed = true;
    closeQuietly(listener::close);
    cut();
  }

  private void accept() {
    while (!closed) {
      Socket client;
      try {
        client = listener.accept();
      } catch (IOException e) {
        if (closed) {
          return;
        }
        throw new UncheckedIOException(e);
      }
      if (refusing) {
        resetSocket(client);
      } else {
        daemon("connect", () -> connect(client));
      }
    }
  }

  private void connect(Socket client) {
    Socket server = new Socket();
    try {
      server.connect(target, CONNECT_MILLIS);
      server.setTcpNoDelay(true);
      client.setTcpNoDelay(true);
    } catch (IOException e) {
      resetSocket(client);
      closeQuietly(server::close);
      return;
    }
    Link link = new Link(client, server);
    links.add(link);
    // Whoever comes second, closing or adding, sees the other.
    if (closed) {
      link.end(false);
      return;
    }
    link.pump("up", client, server, up);
    link.pump("down", server, client, down);
  }

  private final class Link {
    private final Socket client;
    private final Socket server;

    Link(Socket client, Socket server) {
      this.client = client;
      this.server = server;
    }

    void pump(String name, Socket from, Socket to, Direction direction) {
      BlockingQueue<Chunk> queue = new LinkedBlockingQueue<>();
      daemon(name + "-read", () -> read(from, direction, queue));
      daemon(name + "-write", () -> write(to, queue));
    }

    private void read(Socket from, Direction direction, BlockingQueue<Chunk> queue) {
      byte[] buffer = new byte[BUFFER_BYTES];
      try {
        while (true) {
          int count = from.getInputStream().read(buffer);
          if (count < 0) {
            break;
          }
          if (!direction.blackHole) {
            queue.add(
                new Chunk(System.nanoTime() + direction.delayNanos, Arrays.copyOf(buffer, count)));
          }
        }
      } catch (IOException e) {
        // The other side, or this proxy, has ended the connection; so does what follows.
        queue.add(new Chunk(System.nanoTime(), new byte[0]));
        return;
      }
      queue.add(new Chunk(System.nanoTime() + direction.delayNanos, new byte[0]));
    }

    private void write(Socket to, BlockingQueue<Chunk> queue) {
      try {
        while (true) {
          Chunk chunk = queue.take();
          TimeUnit.NANOSECONDS.sleep(chunk.dueNanos - System.nanoTime());
          if (chunk.bytes.length == 0) {
            break;
          }
          to.getOutputStream().write(chunk.bytes);
        }
      } catch (IOException e) {
        // As above: the connection is over.
        end(false);
        return;
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      end(false);
    }

    void end(boolean abruptly) {
      links.remove(this);
      for (Socket each : Arrays.asList(client, server)) {
        if (abruptly) {
          resetSocket(each);
        } else {
          closeQuietly(each::close);
        }
      }
    }
  }

  private static void resetSocket(Socket socket) {
    closeQuietly(
        () -> {
          socket.setSoLinger(true, 0);
          socket.close();
        });
  }

  @FunctionalInterface
  private interface Closing {
    void run() throws IOException;
  }

  private static void closeQuietly(Closing closing) {
    try {
      closing.run();
    } catch (IOException e) {
      // It is closed, which was the aim.
      return;
    }
  }

  private static void daemon(String name, Runnable body) {
    Thread thread = new Thread(requireNonNull(body, "body"), "paddock-proxy-" + name);
    thread.setDaemon(true);
    thread.start();
  }
}
