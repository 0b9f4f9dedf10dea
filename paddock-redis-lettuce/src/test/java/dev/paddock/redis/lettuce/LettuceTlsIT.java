/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static dev.paddock.redis.lettuce.Transports.bytes;
import static dev.paddock.redis.lettuce.Transports.get;
import static dev.paddock.redis.lettuce.Transports.open;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.paddock.StoreException;
import dev.paddock.spi.StoreFactory;
import dev.paddock.testkit.RealTimeEnvironment;
import dev.paddock.testkit.RedisServerProcess;
import dev.paddock.testkit.SelfSignedCertificate;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs on an installed redis-server that was built with TLS: the bundled one was not. */
final class LettuceTlsIT {
  @TempDir private static Path folder;

  private static RedisServerProcess server;
  private static Path trusted;
  private static int tlsPort;
  private final RealTimeEnvironment environment = RealTimeEnvironment.create();

  @BeforeAll
  static void start() throws Exception {
    Path program;
    try {
      program = RedisServerProcess.installed();
    } catch (IllegalStateException e) {
      abort("no redis-server is installed, and the bundled one has no TLS");
      return;
    }
    SelfSignedCertificate certificate = SelfSignedCertificate.in(folder);
    trusted = certificate.certificate();
    try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      tlsPort = probe.getLocalPort();
    }
    try {
      server =
          RedisServerProcess.start(
              program,
              "--tls-port",
              Integer.toString(tlsPort),
              "--tls-cert-file",
              trusted.toString(),
              "--tls-key-file",
              certificate.key().toString(),
              "--tls-auth-clients",
              "no");
    } catch (IllegalStateException e) {
      if (String.valueOf(e.getMessage()).contains("Bad directive")) {
        abort("the installed redis-server was built without TLS");
      }
      throw e;
    }
  }

  @AfterAll
  static void stop() {
    if (server != null) {
      server.close();
    }
  }

  @AfterEach
  void close() {
    environment.close();
  }

  /** A client that trusts the certificate. */
  private static RedisClient trusting() {
    RedisClient client = RedisClient.create();
    client.setOptions(
        ClientOptions.builder()
            .sslOptions(
                SslOptions.builder().jdkSslProvider().trustManager(trusted.toFile()).build())
            .build());
    return client;
  }

  private void works(StoreFactory factory) throws Exception {
    LettuceTransport transport = open(factory, environment);
    try {
      assertThat(get(transport.get(bytes("k")))).isNull();
      CompletableFuture<Boolean> hinted = new CompletableFuture<>();
      assertThat(get(transport.subscribe(bytes("c"), message -> hinted.complete(true)).ready()))
          .isTrue();
      server.console().command("PUBLISH", "c", "");
      assertThat(get(hinted)).isTrue();
    } finally {
      transport.close();
    }
  }

  private void isRefused(StoreFactory factory, String... hints) {
    Throwable thrown = catchThrowable(() -> open(factory, environment));
    assertThat(thrown).isInstanceOf(StoreException.class);
    assertThat(thrown.getMessage()).contains(hints);
  }

  @Test
  void trustedCertificate_connects() throws Exception {
    RedisClient client = trusting();
    try {
      works(LettuceRedis.using(client, RedisURI.create("rediss://127.0.0.1:" + tlsPort)));
    } finally {
      client.shutdown(0, 2, TimeUnit.SECONDS);
    }
  }

  @Test
  void certificateOfAnotherName_isRefused_unlessOnlyTheIssuerIsVerified() throws Exception {
    RedisClient client = trusting();
    try {
      isRefused(
          LettuceRedis.using(client, RedisURI.create("rediss://localhost:" + tlsPort)),
          "localhost:" + tlsPort,
          "TLS failed");
      works(
          LettuceRedis.using(
              client, RedisURI.create("rediss://localhost:" + tlsPort + "?verifyPeer=CA")));
    } finally {
      client.shutdown(0, 2, TimeUnit.SECONDS);
    }
  }

  @Test
  void unknownCertificate_isRefused_unlessNothingIsVerified() throws Exception {
    String uri = "rediss://u:hunter22@127.0.0.1:" + tlsPort;
    isRefused(LettuceRedis.connect(uri), "127.0.0.1:" + tlsPort, "TLS failed", "trust store");

    works(LettuceRedis.connect("rediss://127.0.0.1:" + tlsPort + "?verifyPeer=NONE"));
  }

  @Test
  void plainUri_toATlsPort_isToldWhatToTry() {
    isRefused(LettuceRedis.connect("redis://127.0.0.1:" + tlsPort), "rediss://");
  }

  @Test
  void tlsUri_toAPlainPort_isToldWhatToTry() {
    isRefused(
        LettuceRedis.connect("rediss://127.0.0.1:" + server.port()),
        "TLS failed",
        "check that the port speaks TLS");
  }
}
