/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.etcd;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.paddock.PaddockInterruptedException;
import dev.paddock.StoreException;
import dev.paddock.spi.Environment;
import dev.paddock.spi.LeaseStore;
import dev.paddock.spi.LeaseStoreFactory;
import dev.paddock.spi.StoreOptions;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.ClientBuilder;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.UnaryOperator;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** Connects, checks that a majority answers, and puts a store on the client. */
final class EtcdLeaseStoreFactory implements LeaseStoreFactory {
  /** A server takes no more than one ping in five seconds, by default. */
  private static final Duration PING = Duration.ofSeconds(6);

  private final @Nullable Client applicationClient;
  private final EtcdUris.@Nullable Parsed uri;
  private final UnaryOperator<ClientBuilder> customizing;

  EtcdLeaseStoreFactory(
      @Nullable Client applicationClient,
      EtcdUris.@Nullable Parsed uri,
      UnaryOperator<ClientBuilder> customizing) {
    this.applicationClient = applicationClient;
    this.uri = uri;
    this.customizing = customizing;
  }

  @Override
  public LeaseStore open(Environment environment, StoreOptions options) {
    Client client =
        applicationClient == null
            ? ownClient(requireNonNull(uri, "uri"), options)
            : applicationClient;
    EtcdLeaseStore store =
        new EtcdLeaseStore(
            client, applicationClient == null, String.valueOf(this), environment, options);
    try {
      store
          .probe()
          .toCompletableFuture()
          .get(options.connectTimeout().toNanos(), TimeUnit.NANOSECONDS);
      return store;
    } catch (InterruptedException e) {
      store.close();
      Thread.currentThread().interrupt();
      throw new PaddockInterruptedException("interrupted while opening the etcd store", e);
    } catch (TimeoutException e) {
      store.close();
      throw new StoreException(
          "etcd at "
              + this
              + " can't be opened: no answer within "
              + options.connectTimeout()
              + "; check the address and that a majority of the members runs, or raise the connect"
              + " time-out",
          e,
          false);
    } catch (ExecutionException e) {
      store.close();
      Throwable cause = Failures.unwrap(e);
      throw new StoreException(
          "etcd at " + this + " can't be opened: " + Failures.message(cause), cause, false);
    }
  }

  private Client ownClient(EtcdUris.Parsed target, StoreOptions options) {
    ClientBuilder builder =
        Client.builder()
            .endpoints(target.endpoints().toArray(new URI[0]))
            .connectTimeout(options.connectTimeout())
            .keepaliveTime(PING)
            .keepaliveTimeout(options.commandTimeout())
            // A server ends connections that ping it with nothing under way.
            .keepaliveWithoutCalls(false);
    String user = target.user();
    String password = target.password();
    if (user != null && password != null) {
      builder.user(ByteSequence.from(user, UTF_8)).password(ByteSequence.from(password, UTF_8));
    }
    try {
      if (target.tls()) {
        builder.sslContext(context -> {});
      }
      return customizing.apply(builder).build();
    } catch (SSLException e) {
      throw new StoreException("etcd at " + target + ": TLS can't be set up", e, false);
    }
  }

  @Override
  public String toString() {
    return uri == null ? "the application's client" : uri.toString();
  }
}
