/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import dev.paddock.StoreException;
import dev.paddock.spi.LeaseExtension;
import dev.paddock.spi.StoreOptions;
import dev.paddock.testkit.RealTimeEnvironment;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KV;
import io.etcd.jetcd.Lease;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.ResponseHeader;
import io.etcd.jetcd.common.exception.EtcdExceptionFactory;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.lease.LeaseKeepAliveResponse;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the two answers of an extension mean together, which no real server can be made to give. */
final class ExtensionTest {
  private static final long TOKEN = 42;

  private final RealTimeEnvironment environment = RealTimeEnvironment.create();
  private CompletableFuture<LeaseKeepAliveResponse> kept =
      CompletableFuture.completedFuture(
          new LeaseKeepAliveResponse(
              io.etcd.jetcd.api.LeaseKeepAliveResponse.newBuilder()
                  .setHeader(header(7))
                  .setTTL(10)
                  .build()));
  private GetResponse first = read(7, TOKEN, "a 10");
  private GetResponse then = read(7, TOKEN, "a 10");
  private int reads;

  @AfterEach
  void tearDown() {
    environment.close();
  }

  private static ResponseHeader header(long term) {
    return ResponseHeader.newBuilder().setRaftTerm(term).build();
  }

  private static GetResponse read(long term, long createRevision, String value) {
    return new GetResponse(
        RangeResponse.newBuilder()
            .setHeader(header(term))
            .addKvs(
                io.etcd.jetcd.api.KeyValue.newBuilder()
                    .setCreateRevision(createRevision)
                    .setLease(5)
                    .setValue(ByteString.copyFromUtf8(value)))
            .build(),
        ByteSequence.EMPTY);
  }

  private static <T> T proxy(Class<T> type, InvocationHandler handler) {
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
  }

  private LeaseExtension extend() {
    KV kv =
        proxy(
            KV.class,
            (self, method, arguments) ->
                CompletableFuture.completedFuture(reads++ == 0 ? first : then));
    Lease leases = proxy(Lease.class, (self, method, arguments) -> kept);
    Client client =
        proxy(
            Client.class,
            (self, method, arguments) -> method.getName().equals("getKVClient") ? kv : leases);
    return new EtcdLeaseStore(
            client,
            false,
            "nowhere",
            environment,
            new StoreOptions(Duration.ofMinutes(1), Duration.ofMinutes(1)))
        .extend("job", "a", TOKEN, 8_000)
        .toCompletableFuture()
        .join();
  }

  private void assertUnknown() {
    assertThatThrownBy(this::extend)
        .isInstanceOf(CompletionException.class)
        .cause()
        .isInstanceOf(StoreException.class)
        .matches(error -> ((StoreException) error).mayHaveHappened());
  }

  @Test
  void sameTermAndSameKey_isExtended() {
    assertThat(extend()).isEqualTo(new LeaseExtension(true, 8_000 - 80 - 2));
  }

  @Test
  void readInALaterTerm_isUnknown() {
    then = read(8, TOKEN, "a 10");
    assertUnknown();
  }

  @Test
  void readShowsAnotherKey_isLost() {
    then = read(7, TOKEN + 1, "a 10");
    assertThat(extend()).isEqualTo(LeaseExtension.LOST);
  }

  @Test
  void readShowsAnotherOwner_isLost() {
    then = read(7, TOKEN, "b 10");
    assertThat(extend()).isEqualTo(LeaseExtension.LOST);
  }

  @Test
  void etcdLeaseNotFoundButKeyThere_isUnknown() {
    kept = CompletableFuture.failedFuture(notFound());
    assertUnknown();
  }

  @Test
  void etcdLeaseNotFoundAndKeyGone_isLost() {
    kept = CompletableFuture.failedFuture(notFound());
    then =
        new GetResponse(
            RangeResponse.newBuilder().setHeader(header(7)).build(), ByteSequence.EMPTY);
    assertThat(extend()).isEqualTo(LeaseExtension.LOST);
  }

  private static Throwable notFound() {
    return EtcdExceptionFactory.newEtcdException(
        io.etcd.jetcd.common.exception.ErrorCode.NOT_FOUND, "requested lease not found");
  }
}
