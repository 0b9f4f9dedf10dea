/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A command on its way to an {@link InMemoryRedis}, or a message on its way to a subscriber.
 *
 * @param number counts requests of this server, from 1; messages too
 * @param client who sent it, or whom the message is for: see {@link InMemoryRedis#connect}
 * @param name {@code GET}, {@code MGET}, {@code EVALSHA}, {@code EVAL}, {@code TIME}, {@code
 *     SUBSCRIBE}, or {@code MESSAGE} for a message
 * @param script the text of the script, where one is run and the server knows it, else null
 * @param keys the keys, or the channel; not to be changed
 * @param args the arguments after the keys; not to be changed
 * @since 0.1.0
 */
public record RedisRequest(
    long number,
    String client,
    String name,
    @Nullable String script,
    List<byte[]> keys,
    List<byte[]> args) {

  /** Keeps the lists as they are. */
  public RedisRequest {
    keys = List.copyOf(keys);
    args = List.copyOf(args);
  }

  /**
   * Tells whether this runs a script with a certain text in it, such as its name in the comment at
   * its head.
   *
   * @param text what to look for
   * @return true if a script is run that holds the text
   */
  public boolean runs(String text) {
    return script != null && script.contains(text);
  }

  /** The same request, with the text of the script that the server knows by its hash by now. */
  RedisRequest running(@Nullable String text) {
    return new RedisRequest(number, client, name, text, keys, args);
  }
}
