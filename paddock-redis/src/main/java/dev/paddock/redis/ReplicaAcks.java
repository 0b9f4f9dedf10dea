/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import java.util.concurrent.CompletionStage;

/**
 * What a {@link RedisTransport} can do in addition that keeps one connection to one server: wait
 * until replicas have what was written over that connection.
 */
public interface ReplicaAcks {
  /**
   * Sends WAIT. Commands of the same connection that come after it are answered after it.
   *
   * <p>The answer says something about an earlier write only if {@link RedisTransport#nodeOf} is
   * the same before that write and after the answer: a new connection has written nothing, which
   * any replica acknowledges.
   *
   * @param replicas how many are to acknowledge; at least 1
   * @param millis how long to wait for them; at least 1
   * @return how many have acknowledged by then
   */
  CompletionStage<Long> awaitReplicas(int replicas, long millis);
}
