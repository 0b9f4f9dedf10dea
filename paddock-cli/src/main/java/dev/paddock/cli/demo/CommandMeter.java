/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.CharBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Counts the commands that name a key of the demo, by MONITOR, so that a killed process is counted
 * too and other users of the same Redis are not. What scripts do inside Redis is left out: it costs
 * no round trip.
 */
final class CommandMeter implements AutoCloseable {
  private static final int CONNECT_MILLIS = 5000;
  private static final long CATCH_UP_SECONDS = 10;

  private final Socket socket;
  private final RedisCommands<String, String> redis;
  private final String prefix;
  private final String markPrefix;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private long count;
  private long marks;
  private long marksSeen;
  private boolean lost;

  private CommandMeter(Socket socket, RedisCommands<String, String> redis, String prefix) {
    this.socket = socket;
    this.redis = redis;
    this.prefix = prefix;
    this.markPrefix = prefix + "mark-";
  }

  /**
   * Begins to listen.
   *
   * @param uri where Redis is
   * @param redis another connection to it, whose commands must not name a key while it is counted
   * @param prefix what the keys begin with
   * @return the meter
   * @throws IOException if the server can't be reached or refuses, or speaks TLS
   */
  static CommandMeter open(RedisURI uri, RedisCommands<String, String> redis, String prefix)
      throws IOException {
    if (uri.isSsl()) {
      throw new IOException("that is not done over TLS");
    }
    Socket socket = new Socket();
    try {
      socket.connect(new InetSocketAddress(uri.getHost(), uri.getPort()), CONNECT_MILLIS);
      BufferedReader reader =
          new BufferedReader(new InputStreamReader(socket.getInputStream(), UTF_8));
      List<String> authentication = authentication(uri);
      if (!authentication.isEmpty()) {
        call(socket, reader, authentication);
      }
      call(socket, reader, List.of("MONITOR"));
      CommandMeter meter = new CommandMeter(socket, redis, prefix);
      Thread thread = new Thread(() -> meter.read(reader), "command-meter");
      thread.setDaemon(true);
      thread.start();
      return meter;
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }

  private static List<String> authentication(RedisURI uri) {
    RedisCredentials credentials = uri.getCredentialsProvider().resolveCredentials().block();
    List<String> command = new ArrayList<>();
    if (credentials != null && credentials.hasPassword()) {
      command.add("AUTH");
      if (credentials.hasUsername()) {
        command.add(credentials.getUsername());
      }
      command.add(CharBuffer.wrap(credentials.getPassword()).toString());
    }
    return command;
  }

  private static void call(Socket socket, BufferedReader reader, List<String> command)
      throws IOException {
    StringBuilder request = new StringBuilder("*" + command.size() + "\r\n");
    for (String part : command) {
      request
          .append('$')
          .append(part.getBytes(UTF_8).length)
          .append("\r\n")
          .append(part)
          .append("\r\n");
    }
    OutputStream out = socket.getOutputStream();
    out.write(request.toString().getBytes(UTF_8));
    out.flush();
    String reply = reader.readLine();
    if (!"+OK".equals(reply)) {
      throw new IOException(command.get(0) + " was answered " + reply);
    }
  }

  private void read(BufferedReader reader) {
    try {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        note(line);
      }
    } catch (IOException e) {
      // Told by the flag, as an orderly end is.
    }
    lock.lock();
    try {
      lost = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** A line is like {@code +1700000000.123456 [0 127.0.0.1:5555] "GET" "key"}. */
  private void note(String line) {
    lock.lock();
    try {
      int mark = line.indexOf(markPrefix);
      if (mark >= 0) {
        int from = mark + markPrefix.length();
        marksSeen = Long.parseLong(line.substring(from, line.indexOf('"', from)));
        changed.signalAll();
      } else if (line.contains(prefix)
          && !line.substring(0, line.indexOf(']') + 1).endsWith(" lua]")) {
        count++;
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Counts from here.
   *
   * @throws InterruptedException if the thread was interrupted
   */
  void begin() throws InterruptedException {
    catchUp();
    lock.lock();
    try {
      count = 0;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns the count.
   *
   * @return commands since {@link #begin()}
   * @throws InterruptedException if the thread was interrupted
   */
  long end() throws InterruptedException {
    catchUp();
    lock.lock();
    try {
      return count;
    } finally {
      lock.unlock();
    }
  }

  private void catchUp() throws InterruptedException {
    lock.lock();
    try {
      long mark = ++marks;
      redis.echo(markPrefix + mark);
      long left = TimeUnit.SECONDS.toNanos(CATCH_UP_SECONDS);
      while (marksSeen < mark) {
        if (lost || left <= 0) {
          throw new DemoException("the commands can't be counted: MONITOR came to an end");
        }
        left = changed.awaitNanos(left);
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
