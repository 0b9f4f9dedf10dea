/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.jedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.paddock.Cache;
import dev.paddock.Codecs;
import dev.paddock.Paddock;
import dev.paddock.PaddockInterruptedException;
import dev.paddock.StoreException;
import dev.paddock.testkit.FaultProxy;
import dev.paddock.testkit.RedisServerProcess;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;

/** Opening, with what may go wrong. */
@Timeout(120)
final class JedisOpenIT {
  private static RedisServerProcess server;
  private static RedisServerProcess secured;

  @BeforeAll
  static void start() {
    server = RedisServerProcess.start();
    secured = RedisServerProcess.start();
    secured.console().command("ACL", "SETUSER", "app", "on", ">hun/ter22", "~*", "&*", "+@all");
    secured.console().command("ACL", "SETUSER", "default", "resetpass", ">other");
  }

  @AfterAll
  static void stop() {
    server.close();
    secured.close();
  }

  private static String everything(Throwable thrown) {
    StringWriter text = new StringWriter();
    thrown.printStackTrace(new PrintWriter(text));
    return text.toString();
  }

  private static void works(Paddock paddock) {
    try (paddock) {
      Cache<String, String> cache = paddock.<String, String>cache("c", Codecs.string()).build();
      cache.put("k", "v");
      assertThat(cache.getIfPresent("k")).isEqualTo("v");
    }
  }

  @Test
  void connect_byUri_findsThisModule() {
    works(Paddock.connect(server.uri()));
  }

  @Test
  void connect_withUserAndPassword_works() {
    works(Paddock.connect("redis://app:hun%2Fter22@127.0.0.1:" + secured.port()));
    HostAndPort address = new HostAndPort("127.0.0.1", secured.port());
    DefaultJedisClientConfig config =
        DefaultJedisClientConfig.builder().user("app").password("hun/ter22").build();
    works(Paddock.newBuilder().store(JedisRedis.connect(address, config)).build());
  }

  @Test
  void wrongPassword_isToldWithoutIt() {
    Throwable thrown =
        catchThrowable(() -> Paddock.connect("redis://app:wr%2Fong@127.0.0.1:" + secured.port()));

    assertThat(thrown)
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("refuses the user or the password");
    assertThat(everything(thrown)).doesNotContain("wr/ong").doesNotContain("wr%2Fong");
    assertThatThrownBy(() -> Paddock.connect("redis://127.0.0.1:" + secured.port()))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("wants a password");
  }

  @Test
  void wrongDatabase_andNoServer_areTold() {
    assertThatThrownBy(() -> Paddock.connect(server.uri() + "/99"))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("no database 99");
    FaultProxy gone = FaultProxy.to(server.port());
    String uri = gone.uri();
    gone.close();
    assertThatThrownBy(() -> Paddock.connect(uri))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("refused");
  }

  @Test
  void serverThatIsSilent_isGivenUpAfterTheConnectTimeout() {
    try (FaultProxy proxy = FaultProxy.to(server.port())) {
      proxy.blackHoleDown(true);
      assertThatThrownBy(
              () ->
                  Paddock.newBuilder()
                      .store(proxy.uri())
                      .connectTimeout(Duration.ofMillis(300))
                      .build())
          .isInstanceOf(StoreException.class)
          .hasMessageContaining("connectTimeout of 300 ms");
    }
  }

  @Test
  void threadThatIsInterrupted_opensNothing() {
    Thread.currentThread().interrupt();
    try {
      assertThatThrownBy(() -> Paddock.connect(server.uri()))
          .isInstanceOf(PaddockInterruptedException.class);
    } finally {
      assertThat(Thread.interrupted()).isTrue();
    }
  }

  @Test
  void applicationsClient_isNotClosed_andKeepsItsTimeout() {
    try (RedisClient client =
        RedisClient.builder()
            .hostAndPort(new HostAndPort("127.0.0.1", server.port()))
            .clientConfig(DefaultJedisClientConfig.builder().socketTimeoutMillis(4321).build())
            .build()) {
      works(Paddock.newBuilder().store(JedisRedis.using(client)).build());

      assertThat(client.get("c:k")).endsWith("v");
      try (redis.clients.jedis.Connection connection = client.getPool().getResource()) {
        assertThat(connection.getSoTimeout()).isEqualTo(4321);
      }
      assertThat(client.getPool().getNumActive()).isZero();
    }
  }

  @Test
  void asynchronousCall_returnsAtOnce_whileTheServerHangs() {
    try (Paddock paddock = Paddock.connect(server.uri())) {
      Cache<String, String> cache = paddock.<String, String>cache("t", Codecs.string()).build();
      cache.put("k", "v");
      CompletableFuture<String> answer;
      server.pause();
      try {
        // Would not come back if it read on this thread.
        answer = cache.getIfPresentAsync("k");
        assertThat(answer).isNotDone();
      } finally {
        server.resume();
      }
      assertThat(answer.join()).isEqualTo("v");
    }
  }
}
