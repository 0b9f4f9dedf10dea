/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.paddock.StoreException;
import dev.paddock.redis.RedisReplyException;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One connection to a real server, on a blocking socket: no pool, no retry, no reconnect. For
 * arranging, checking and tools, not for production.
 *
 * <p>Thread-safe: one command at a time. After a failure the connection is closed, since what the
 * server would answer next is no longer known.
 *
 * @since 0.1.0
 */
public final class RedisCommands implements RedisConsole, AutoCloseable {
  private static final int LINE_BYTES_MAX = 64 * 1024;
  private static final long BULK_BYTES_MAX = 512L * 1024 * 1024;
  private static final int ITEMS_MAX = 1024 * 1024;

  private final ReentrantLock lock = new ReentrantLock();
  private final Socket socket;
  private final InputStream in;
  private final OutputStream out;

  private RedisCommands(Socket socket) throws IOException {
    this.socket = socket;
    this.in = new BufferedInputStream(socket.getInputStream());
    this.out = new BufferedOutputStream(socket.getOutputStream());
  }

  /**
   * Connects to a server on the loopback interface.
   *
   * @param port its port
   * @param timeout how long connecting, and each reply, may take; at least 1 ms
   * @return the connection
   * @throws StoreException if the server can't be reached
   */
  // Closed by the object that is returned, or below if there is none.
  @SuppressWarnings("resource")
  public static RedisCommands connect(int port, Duration timeout) {
    Socket socket = new Socket();
    try {
      int millis = Math.toIntExact(Math.max(1, timeout.toMillis()));
      socket.setTcpNoDelay(true);
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), millis);
      socket.setSoTimeout(millis);
      return new RedisCommands(socket);
    } catch (IOException e) {
      close(socket);
      throw new StoreException("no connection to port " + port + ": " + e, e, false);
    }
  }

  /**
   * Returns this connection's own end, as the server's CLIENT LIST and MONITOR show it.
   *
   * @return address and port
   */
  public String clientAddress() {
    return "127.0.0.1:" + socket.getLocalPort();
  }

  @Override
  public @Nullable Object command(Object... words) {
    lock.lock();
    try {
      send(words);
      return reply();
    } catch (IOException e) {
      close();
      throw new StoreException("no answer: " + e, e, true);
    } finally {
      lock.unlock();
    }
  }

  /** Sends without waiting for a reply, for connections whose replies another thread reads. */
  void send(Object... words) throws IOException {
    out.write(("*" + words.length + "\r\n").getBytes(UTF_8));
    for (Object word : words) {
      byte[] bytes = word instanceof byte[] raw ? raw : word.toString().getBytes(UTF_8);
      out.write(("$" + bytes.length + "\r\n").getBytes(UTF_8));
      out.write(bytes);
      out.write('\r');
      out.write('\n');
    }
    out.flush();
  }

  private @Nullable Object reply() throws IOException {
    Object reply = read();
    if (reply instanceof RedisReplyException error) {
      throw error;
    }
    return reply;
  }

  /** Waits, for as long as it takes, for what the server sends by itself. */
  @Nullable Object readPushed() throws IOException {
    socket.setSoTimeout(0);
    return read();
  }

  private @Nullable Object read() throws IOException {
    String line = line();
    if (line.isEmpty()) {
      throw new IOException("an empty line instead of a reply");
    }
    String rest = line.substring(1);
    return switch (line.charAt(0)) {
      case '+' -> rest;
      case '-' -> new RedisReplyException(rest);
      case ':' -> number(rest);
      case '$' -> bulk(number(rest));
      case '*' -> array(number(rest));
      default -> throw new IOException("no reply begins with " + (int) line.charAt(0));
    };
  }

  private static long number(String text) throws IOException {
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw new IOException("not a number in a reply", e);
    }
  }

  private byte @Nullable [] bulk(long length) throws IOException {
    if (length < 0) {
      return null;
    }
    if (length > BULK_BYTES_MAX) {
      throw new IOException("a reply of " + length + " bytes");
    }
    byte[] bytes = in.readNBytes((int) length);
    if (bytes.length < length || in.read() != '\r' || in.read() != '\n') {
      throw new EOFException("a reply was cut short");
    }
    return bytes;
  }

  private @Nullable List<@Nullable Object> array(long length) throws IOException {
    if (length < 0) {
      return null;
    }
    if (length > ITEMS_MAX) {
      throw new IOException("a reply of " + length + " items");
    }
    List<@Nullable Object> items = new ArrayList<>();
    for (long i = 0; i < length; i++) {
      items.add(read());
    }
    return items;
  }

  private String line() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    while (true) {
      int c = in.read();
      if (c < 0) {
        throw new EOFException("the server closed the connection");
      }
      if (c == '\r') {
        if (in.read() != '\n') {
          throw new IOException("a line of a reply ends oddly");
        }
        return line.toString(UTF_8);
      }
      if (line.size() == LINE_BYTES_MAX) {
        throw new IOException("a line of a reply is too long");
      }
      line.write(c);
    }
  }

  /** Tells whether the connection was closed here, by a failure or by {@link #close()}. */
  boolean isClosed() {
    return socket.isClosed();
  }

  /** Closes the connection; a command under way on another thread fails. Idempotent. */
  @Override
  public void close() {
    close(socket);
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      // Nothing is left to do with it.
      return;
    }
  }
}
