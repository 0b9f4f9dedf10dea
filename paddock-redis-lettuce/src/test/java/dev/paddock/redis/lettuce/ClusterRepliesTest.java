/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static dev.paddock.redis.lettuce.FakeServer.bulk;
import static dev.paddock.redis.lettuce.Transports.bytes;
import static dev.paddock.redis.lettuce.Transports.failure;
import static dev.paddock.redis.lettuce.Transports.get;
import static dev.paddock.redis.lettuce.Transports.text;
import static dev.paddock.redis.lettuce.Transports.until;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.StoreException;
import dev.paddock.redis.RedisReplyException;
import dev.paddock.spi.StoreOptions;
import dev.paddock.testkit.RealTimeEnvironment;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of a command when a node of a cluster answers with an error, or not at all. */
final class ClusterRepliesTest {
  private static final String DONE = "*1\r\n" + bulk("done");
  private static final byte[] SCRIPT = bytes("return {'done'}");
  private static final byte[][] KEYS = {bytes("v{t}"), bytes("l{t}")};
  private static final byte[][] NONE = {};

  private final RealTimeEnvironment environment = RealTimeEnvironment.create();
  private final AtomicInteger evals = new AtomicInteger();
  private final AtomicInteger askings = new AtomicInteger();
  private final AtomicInteger topologies = new AtomicInteger();
  private volatile IntFunction<String> answers = n -> DONE;
  private volatile int port;
  private volatile List<String> lastEval = List.of();
  private FakeServer server;
  private ClusterTransport transport;

  /** A cluster of one node. */
  @BeforeEach
  void start() {
    server =
        new FakeServer(
            request ->
                switch (request.get(0)) {
                  case "HELLO" -> FakeServer.hello("7.0.15");
                  case "INFO" -> bulk("redis_version:7.0.15\r\nredis_mode:cluster\r\n");
                  case "CLUSTER" -> cluster(request.get(1));
                  case "ASKING" -> {
                    askings.incrementAndGet();
                    yield "+OK\r\n";
                  }
                  case "EVAL" -> {
                    lastEval = request;
                    yield answers.apply(evals.getAndIncrement());
                  }
                  default -> "+OK\r\n";
                });
    port = server.port();
    transport = opened(Transports.OPTIONS);
  }

  @AfterEach
  void close() throws Exception {
    transport.close();
    environment.close();
    server.close();
  }

  private ClusterTransport opened(StoreOptions options) {
    return ((ClusterStoreFactory)
            LettuceRedis.connect("redis://127.0.0.1:" + port + ",127.0.0.1:" + port))
        .transport(environment, options);
  }

  /**
   * Says what the node answers.
   *
   * @param raw the raw reply to the first EVAL, the second, and so on
   */
  private void answering(IntFunction<String> raw) {
    answers = raw;
  }

  private void answeringTheImpatient(IntFunction<String> raw) {
    answers = raw;
    transport.close();
    transport = opened(Transports.IMPATIENT);
  }

  private String cluster(String subcommand) {
    if (!subcommand.equalsIgnoreCase("NODES")) {
      return bulk("c000000000000000000000000000000000000001");
    }
    topologies.incrementAndGet();
    return bulk(
        "c000000000000000000000000000000000000001 127.0.0.1:"
            + port
            + "@1 myself,master - 0 0 1 connected 0-16383\n");
  }

  private CompletableFuture<List<byte[]>> eval() {
    return transport.eval(SCRIPT, KEYS, NONE).toCompletableFuture();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "TRYAGAIN Multiple keys request during rehashing of slot",
        "CLUSTERDOWN Hash slot not served",
        "CLUSTERDOWN The cluster is down",
        "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
        "READONLY You can't write against a read only replica.",
        "ERR UNDONE READONLY You can't write against a read only replica. script: 1, on @u:1.",
        "MOVED 1 ?:0"
      })
  void transientRefusal_isTriedAgain(String error) throws Exception {
    answering(n -> n < 3 ? "-" + error + "\r\n" : DONE);
    assertThat(text(get(eval()).get(0))).isEqualTo("done");
    assertThat(evals).hasValue(4);
    assertThat(transport.pausing()).isZero();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "TRYAGAIN Multiple keys request during rehashing of slot",
        "CLUSTERDOWN The cluster is down",
        "READONLY You can't write against a read only replica."
      })
  void transientRefusal_thatLasts_isTheErrorInTheEnd(String error) throws Exception {
    answeringTheImpatient(n -> "-" + error + "\r\n");
    assertThat(failure(eval())).isInstanceOf(RedisReplyException.class).hasMessage(error);
    assertThat(evals.get()).isGreaterThan(1);
    assertThat(transport.pausing()).isZero();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "LOADING Redis is loading the dataset in memory",
        "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
        "NOSCRIPT No matching script. Please use EVAL.",
        "OOM command not allowed when used memory > 'maxmemory'.",
        "CROSSSLOT Keys in request don't hash to the same slot",
        "NOPERM this user has no permissions to run the 'eval' command",
        "ERR PARTIAL READONLY You can't write against a read only replica. script: 1, on @u:1.",
        "ERR the word NOTREADONLY is no code"
      })
  void otherError_isPassedOnAtOnce(String error) throws Exception {
    answering(n -> n == 0 ? "-" + error + "\r\n" : DONE);
    assertThat(failure(eval())).isInstanceOf(RedisReplyException.class).hasMessage(error);
    assertThat(evals).hasValue(1);
  }

  @Test
  void moved_withoutAHost_isTheNodeThatAnswered() throws Exception {
    answering(n -> n == 0 ? "-MOVED 1 :" + port + "\r\n" : DONE);
    assertThat(text(get(eval()).get(0))).isEqualTo("done");
    assertThat(evals).hasValue(2);
    assertThat(askings).hasValue(0);
  }

  @Test
  void moved_isFollowed_andTheTopologyReadAnew() throws Exception {
    answering(n -> n == 0 ? "-MOVED 1 127.0.0.1:" + port + "\r\n" : DONE);
    int before = topologies.get();
    assertThat(text(get(eval()).get(0))).isEqualTo("done");
    until(() -> topologies.get() > before);
  }

  @Test
  void moved_inCircles_isTheErrorInTheEnd() throws Exception {
    answeringTheImpatient(n -> "-MOVED 1 127.0.0.1:" + port + "\r\n");
    assertThat(failure(eval()))
        .isInstanceOf(RedisReplyException.class)
        .hasMessageStartingWith("MOVED");
  }

  @Test
  void ask_isFollowedBehindAsking() throws Exception {
    answering(n -> n == 0 ? "-ASK 1 127.0.0.1:" + port + "\r\n" : DONE);
    assertThat(text(get(eval()).get(0))).isEqualTo("done");
    assertThat(evals).hasValue(2);
    assertThat(askings).hasValue(1);
  }

  @Test
  void ask_thenTryAgain_isAskedOnceMoreWithOneKey() throws Exception {
    answering(
        n ->
            switch (n) {
              case 0 -> "-ASK 1 127.0.0.1:" + port + "\r\n";
              case 1 -> "-TRYAGAIN Multiple keys request during rehashing of slot\r\n";
              default -> DONE;
            });
    assertThat(text(get(eval()).get(0))).isEqualTo("done");
    assertThat(askings).hasValue(2);
    assertThat(lastEval.subList(2, lastEval.size())).containsExactly("1", "v{t}", "l{t}");
  }

  @Test
  void moved_toAnUnknownNode_isNotLost() throws Exception {
    answeringTheImpatient(n -> n == 0 ? "-MOVED 1 127.0.0.1:1\r\n" : DONE);
    // Nobody listens there, nor is it in the topology: back to the node that is.
    assertThat(text(get(eval()).get(0))).isEqualTo("done");
  }

  @Test
  void connectionLost_beforeTheReply_isAskedAgain() throws Exception {
    answering(
        n -> {
          if (n == 0) {
            throw new IllegalStateException("the connection ends");
          }
          return DONE;
        });
    assertThat(text(get(eval()).get(0))).isEqualTo("done");
    assertThat(evals).hasValue(2);
  }

  @Test
  void serverGone_commandsAfterTheBridge_fail_andCertainlyWereNotSent() throws Exception {
    answeringTheImpatient(n -> DONE);
    assertThat(text(get(eval()).get(0))).isEqualTo("done");
    server.close();
    ClusterNode node = requireNonNull(transport.node("127.0.0.1:" + port));
    until(() -> !node.link().isUp());
    for (int i = 0; i < 3; i++) {
      assertThat(failure(eval()))
          .isInstanceOfSatisfying(
              StoreException.class, e -> assertThat(e.mayHaveHappened()).isFalse());
    }
    assertThat(node.link().open()).isZero();
  }

  @Test
  void close_withCommandsThatPause_endsThem() throws Exception {
    answering(n -> "-TRYAGAIN later\r\n");
    CompletableFuture<List<byte[]>> reply = eval();
    until(() -> transport.pausing() == 1);
    transport.close();
    assertThat(failure(reply)).isInstanceOf(StoreException.class).hasMessageContaining("closed");
    assertThat(transport.pausing()).isZero();
  }
}
