/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.paddock.redis.internal.RedisUriText;
import dev.paddock.redis.internal.Secrets;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslVerifyMode;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class RedisUrisTest {
  private static RedisCredentials credentials(RedisURI uri) {
    return requireNonNull(uri.getCredentialsProvider().resolveCredentials().block());
  }

  @Test
  void uri_complete_isRead() {
    RedisURI uri =
        RedisUris.parse("rediss://al%40ice:s3cr%2Fet@cache.example:6400/7?verifyPeer=CA");

    assertThat(uri.getHost()).isEqualTo("cache.example");
    assertThat(uri.getPort()).isEqualTo(6400);
    assertThat(uri.getDatabase()).isEqualTo(7);
    assertThat(uri.isSsl()).isTrue();
    assertThat(uri.getVerifyMode()).isEqualTo(SslVerifyMode.CA);
    assertThat(credentials(uri).getUsername()).isEqualTo("al@ice");
    assertThat(credentials(uri).getPassword()).isEqualTo("s3cr/et".toCharArray());
    assertThat(RedisUris.address(uri)).isEqualTo("cache.example:6400");
  }

  @Test
  void uri_minimal_getsDefaults() {
    RedisURI uri = RedisUris.parse("REDIS://localhost");

    assertThat(uri.getPort()).isEqualTo(6379);
    assertThat(uri.getDatabase()).isZero();
    assertThat(uri.isSsl()).isFalse();
    assertThat(credentials(uri).hasPassword()).isFalse();
  }

  @Test
  void uri_tlsWithoutVerifyPeer_verifiesFully() {
    assertThat(RedisUris.parse("rediss://localhost").getVerifyMode()).isEqualTo(SslVerifyMode.FULL);
  }

  @Test
  void uri_onlyPassword_isTheDefaultUsers() {
    assertThat(credentials(RedisUris.parse("redis://:hunter22@localhost")).getPassword())
        .isEqualTo("hunter22".toCharArray());
    assertThat(credentials(RedisUris.parse("redis://:hunter22@localhost")).hasUsername()).isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    "redis://[::1]:6380, [::1]:6380",
    "redis://my_redis:6380, my_redis:6380",
    "redis://user:p_w@my_redis:6380/1, my_redis:6380",
    "redis://my_redis, my_redis:6379",
    "redis://127.0.0.1/3, 127.0.0.1:6379"
  })
  void address_ofHost_isReadable(String uri, String address) {
    assertThat(RedisUris.address(RedisUris.parse(uri))).isEqualTo(address);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis://user:hunter22 x@localhost",
        "redis://user:hunter22%@localhost",
        "redis://user:hunter22%zz@localhost",
        "redis://user:hunter22^@localhost",
        "redis://user:hunter22/x@localhost",
        "redis://user:hunter22#x@localhost",
        "redis://user:hunter22?x@localhost",
        "redis://user:hunter22?database=1@localhost",
        "redis://user:x/hunter22@localhost:6379/0",
        "redis://user:x#hunter22@localhost:6379/0",
        "redis://user:x?hunter22=1@localhost:6379/0",
        "redis://user:hunter22@:6379",
        "redis://user:hunter22@",
        "redis://user:hunter22@localhost:port",
        "redis://user:hunter22@localhost:70000",
        "redis://user:hunter22@localhost:0",
        "redis://user:hunter22@my_redis:0",
        "redis://user:hunter22@my_redis:99999",
        "redis://user:hunter22@my_redis:x",
        "redis://user:hunter22@localhost/zero",
        "redis://user:hunter22@localhost/-1",
        "redis://user:hunter22@localhost/99999999999",
        "redis://user:hunter22@localhost/1/2",
        "redis://user:hunter22@localhost?timeout=1s",
        "redis://user:hunter22@localhost?database=x",
        "redis://user:hunter22@localhost?verifyPeer=hunter22",
        "redis://user:hunter22@localhost?sentinelMasterId=m",
        "redis://user:hunter22@a,b",
        "redis://user:hunter22@[::1",
        "redis:user:hunter22@localhost",
        "http://user:hunter22@localhost",
        "redis-sentinel://user:hunter22@localhost/0",
        "redis-sentinel://user:hunter22@localhost/0#",
        "redis-sentinel://user:hunter22@localhost/0#m#hunter22",
        "redis-sentinel://user:hunter22@localhost/zero#m",
        "redis-sentinel://user:hunter22@a:1,b:hunter22/0#m",
        "redis-sentinel://user:hunter22@a:1,b:0/0#m",
        "redis-sentinel://user:hunter22@a:1,,b:2/0#m",
        "redis-sentinel://user:hunter22@a:1,b:70000/0#m",
        "redis-sentinel://user:hunter22@/0#m",
        "redis-sentinel://user:hunter22#x@a:1,b:2/0#m",
        "redis-sentinel://user:hunter22#x@a",
        "redis-sentinel://user:hunter22/x@a:1/0#m",
        "redis-sentinel://user:hunter22?x@a:1/0#m",
        "redis-sentinel://user:hunter22@a:1?timeout=1s#m",
        "redis-sentinel:user:hunter22@a#m",
        "redis://user:hunter22@localhost?sentinelMasterId=m",
        "hunter22"
      })
  void uri_malformed_isRefusedWithoutItsPassword(String uri) {
    Throwable thrown = catchThrowable(() -> RedisUris.parse(uri));

    assertThat(thrown)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Redis")
        .hasMessageNotContaining("hunter")
        .hasNoCause();
    assertThat(thrown.getSuppressed()).isEmpty();
  }

  @Test
  void uri_atSignInPassword_isNoPartOfTheHost() {
    // Either way of reading is fine, as long as nothing of a password can become a host to look up.
    Throwable thrown = catchThrowable(() -> RedisUris.parse("redis://user:hun@ter22@localhost"));

    if (thrown == null) {
      RedisURI uri = RedisUris.parse("redis://user:hun@ter22@localhost");
      assertThat(uri.getHost()).isEqualTo("localhost");
      assertThat(credentials(uri).getPassword()).isEqualTo("hun@ter22".toCharArray());
    } else {
      assertThat(thrown).hasMessageNotContaining("ter22").hasNoCause();
    }
  }

  @Test
  void provider_accepts_itsSchemesOnly() {
    LettuceStoreProvider provider = new LettuceStoreProvider();

    assertThat(provider.accepts("redis://h")).isTrue();
    assertThat(provider.accepts("rediss://h")).isTrue();
    assertThat(provider.accepts("Rediss://h")).isTrue();
    assertThat(provider.accepts("redis-sentinel://h")).isTrue();
    assertThat(provider.accepts("Rediss-Sentinel://h")).isTrue();
    assertThat(provider.accepts("redis-socket://h")).isFalse();
    assertThat(provider.accepts("redis+ssl://h")).isFalse();
    assertThat(provider.accepts("memory:x")).isFalse();
    assertThat(provider.accepts("")).isFalse();
  }

  @Test
  void provider_isFoundByServiceLoader() {
    assertThat(java.util.ServiceLoader.load(dev.paddock.spi.StoreProvider.class))
        .hasAtLeastOneElementOfType(LettuceStoreProvider.class);
  }

  @Test
  void sentinelUri_complete_isRead() {
    RedisURI uri =
        RedisUris.parse(
            "rediss-sentinel://al%40ice:s3cr%2Fet@h_1:1,h2/7?verifyPeer=CA&clientName=me#my-primary.1");

    assertThat(uri.getSentinelMasterId()).isEqualTo("my-primary.1");
    assertThat(uri.getSentinels())
        .extracting(RedisURI::getHost, RedisURI::getPort, RedisURI::isSsl, RedisURI::getVerifyMode)
        .containsExactly(
            org.assertj.core.groups.Tuple.tuple("h_1", 1, true, SslVerifyMode.CA),
            org.assertj.core.groups.Tuple.tuple("h2", 26379, true, SslVerifyMode.CA));
    assertThat(uri.getSentinels()).noneMatch(each -> credentials(each).hasPassword());
    assertThat(uri.getDatabase()).isEqualTo(7);
    assertThat(uri.getClientName()).isEqualTo("me");
    assertThat(uri.isSsl()).isTrue();
    assertThat(credentials(uri).getUsername()).isEqualTo("al@ice");
    assertThat(credentials(uri).getPassword()).isEqualTo("s3cr/et".toCharArray());
    assertThat(RedisUris.address(uri)).isEqualTo("my-primary.1 of the Sentinels h_1:1,h2:26379");
    assertThat(uri.toString()).doesNotContain("s3cr");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis-sentinel://h1#m",
        "Redis-Sentinel://h1:26379/#m",
        "redis-sentinel://:pw@h1#m",
        "redis-sentinel://h1?sentinelMasterId=m"
      })
  void sentinelUri_short_getsDefaults(String text) {
    RedisURI uri = RedisUris.parse(text);

    assertThat(uri.getSentinelMasterId()).isEqualTo("m");
    assertThat(RedisUris.address(uri)).isEqualTo("m of the Sentinels h1:26379");
    assertThat(uri.getDatabase()).isZero();
    assertThat(uri.isSsl()).isFalse();
  }

  @Test
  void redisUri_ofSentinels_isCopiedWhole() {
    RedisURI sentinel = RedisURI.create("redis://watch:sesame@s1:1");
    RedisURI uri =
        RedisURI.builder()
            .withSentinel(sentinel)
            .withSentinel("s2", 2)
            .withSentinelMasterId("m")
            .withAuthentication("u", "hunter22")
            .withDatabase(3)
            .withSsl(true)
            .build();
    uri.getSentinels().get(1).setSsl(false);
    RedisURI copy = RedisUris.copy(RedisUris.checked(uri), Duration.ofMillis(1234));
    uri.getSentinels().get(0).setHost("elsewhere");
    uri.getSentinels().remove(1);

    assertThat(copy.getSentinelMasterId()).isEqualTo("m");
    assertThat(copy.getHost()).isNull();
    assertThat(copy.getDatabase()).isEqualTo(3);
    assertThat(copy.isSsl()).isTrue();
    assertThat(credentials(copy).getPassword()).isEqualTo("hunter22".toCharArray());
    assertThat(copy.getSentinels())
        .extracting(RedisURI::getHost, RedisURI::getPort, RedisURI::isSsl, RedisURI::getTimeout)
        .containsExactly(
            org.assertj.core.groups.Tuple.tuple("s1", 1, true, Duration.ofMillis(1234)),
            org.assertj.core.groups.Tuple.tuple("s2", 2, false, Duration.ofMillis(1234)));
    assertThat(credentials(copy.getSentinels().get(0)).getUsername()).isEqualTo("watch");
    assertThat(credentials(copy.getSentinels().get(0)).getPassword())
        .isEqualTo("sesame".toCharArray());
    assertThat(RedisUris.secrets(copy).shown("it says sesame")).isEqualTo(Secrets.HIDDEN);
    assertThat(RedisUris.secrets(copy).shown("it says hunter22")).isEqualTo(Secrets.HIDDEN);
    assertThat(RedisUris.secrets(copy).shown("it says nothing")).isEqualTo("it says nothing");
  }

  @Test
  void redisUri_ofSentinelsThatIsIncomplete_isRefused() {
    RedisURI nameless = RedisURI.Builder.sentinel("127.0.0.1", 26379).build();
    RedisURI unwatched = RedisURI.create("redis://h");
    unwatched.setSentinelMasterId("m");
    RedisURI both = RedisURI.Builder.sentinel("127.0.0.1", 26379, "m").build();
    both.setHost("h");
    RedisURI hostless = RedisURI.Builder.sentinel("127.0.0.1", 26379, "m").build();
    hostless.getSentinels().get(0).setHost("");
    RedisURI portless = RedisURI.Builder.sentinel("127.0.0.1", 26379, "m").build();
    portless.getSentinels().get(0).setPort(0);

    for (RedisURI uri : java.util.List.of(nameless, unwatched, both, hostless, portless)) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> LettuceRedis.connect(uri))
          .withMessageContaining("RedisURI");
    }
  }

  @Test
  void step_ofConnecting_isAShareOfTheWhole() {
    Duration whole = Duration.ofSeconds(10);

    assertThat(RedisUris.step(RedisUris.parse("redis://h"), whole)).isEqualTo(whole);
    assertThat(RedisUris.step(RedisUris.parse("redis-sentinel://a,b,c#m"), whole))
        .isEqualTo(Duration.ofMillis(2500));
  }

  @Test
  void redisUri_changedLater_changesNothing() {
    RedisURI uri = RedisURI.create("localhost", 6379);
    RedisURI taken = RedisUris.checked(uri);
    uri.setDatabase(5);
    uri.setHost("elsewhere");

    assertThat(taken.getDatabase()).isZero();
    assertThat(taken.getHost()).isEqualTo("localhost");
  }

  @Test
  void copy_ofUri_keepsAllButTheTimeout() {
    RedisURI uri = RedisUris.parse("rediss://u:hunter22@h:1/2?clientName=me&verifyPeer=NONE");
    RedisURI copy = RedisUris.copy(uri, Duration.ofMillis(1234));

    assertThat(copy.getTimeout()).isEqualTo(Duration.ofMillis(1234));
    assertThat(copy.getHost()).isEqualTo("h");
    assertThat(copy.getPort()).isEqualTo(1);
    assertThat(copy.getDatabase()).isEqualTo(2);
    assertThat(copy.getClientName()).isEqualTo("me");
    assertThat(copy.isSsl()).isTrue();
    assertThat(copy.getVerifyMode()).isEqualTo(SslVerifyMode.NONE);
    assertThat(credentials(copy).getPassword()).isEqualTo("hunter22".toCharArray());
  }

  @Test
  void strings_ofWhatHoldsThePassword_doNotShowIt() {
    RedisURI uri = RedisUris.parse("redis://user:hunter22@localhost");

    assertThat(uri.toString()).doesNotContain("hunter22");
    assertThat(LettuceRedis.connect("redis://user:hunter22@localhost").toString())
        .doesNotContain("hunter22");
  }

  @Test
  void list_ofNodes_isOneUriForEach_withTheSameRest() {
    String text = "rediss://al:pa%2Css@one:7000,two,[::1]:7002/0?verifyPeer=NONE&clientName=a,b";
    assertThat(RedisUriText.isList(text)).isTrue();
    List<RedisURI> nodes = RedisUris.parseAll(text);

    assertThat(nodes)
        .extracting(RedisUris::address)
        .containsExactly("one:7000", "two:6379", "[::1]:7002");
    for (RedisURI node : nodes) {
      assertThat(node.isSsl()).isTrue();
      assertThat(node.getVerifyMode()).isEqualTo(SslVerifyMode.NONE);
      assertThat(node.getClientName()).isEqualTo("a,b");
      assertThat(credentials(node).getPassword()).isEqualTo("pa,ss".toCharArray());
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis://localhost",
        "redis://al:pa,ss@localhost",
        "redis://al:p@s,s@localhost/0",
        "redis://localhost?clientName=a,b",
        "http://one,two"
      })
  void uri_ofOneHost_isNoList(String text) {
    assertThat(RedisUriText.isList(text)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis://al:hunter22@one,two/1",
        "redis://al:hunter22@one,,two",
        "redis://al:hunter22@one,",
        "redis://al:hunter22@one,two:0",
        "redis://al:hunter22@one,two#x",
        "redis://al:hunter22@one,two?timeout=1s"
      })
  void list_malformed_isRefusedWithoutItsPassword(String text) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> LettuceRedis.connect(text))
        .satisfies(e -> assertThat(e).hasMessageNotContaining("hunter22").hasNoCause());
  }

  @Test
  void seeds_takeAllButTheHostFromTheFirst() {
    RedisURI first = RedisUris.parse("rediss://al:hunter22@one:7000");
    List<RedisURI> seeds = RedisUris.seeds(List.of(first, RedisUris.parse("redis://two:7001")));

    assertThat(seeds).extracting(RedisUris::address).containsExactly("one:7000", "two:7001");
    assertThat(seeds.get(1).isSsl()).isTrue();
    assertThat(credentials(seeds.get(1)).getPassword()).isEqualTo("hunter22".toCharArray());
    assertThatIllegalArgumentException().isThrownBy(() -> RedisUris.seeds(List.of()));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> RedisUris.seeds(List.of(RedisUris.parse("redis://one/3"))));
  }

  @Test
  void redlock_list_isOneUriForEachServer() {
    List<RedisURI> plain =
        RedisUris.parseRedlock("redlock://ann:pa%2Fss@one:7000,two,[::1]:7002/3?clientName=a");
    List<RedisURI> tls = RedisUris.parseRedlock("REDLOCKS://one,two,three");

    assertThat(plain)
        .extracting(RedisUris::address)
        .containsExactly("one:7000", "two:6379", "[::1]:7002");
    for (RedisURI server : plain) {
      assertThat(server.isSsl()).isFalse();
      assertThat(server.getDatabase()).isEqualTo(3);
      assertThat(server.getClientName()).isEqualTo("a");
      assertThat(credentials(server).getPassword()).isEqualTo("pa/ss".toCharArray());
    }
    assertThat(tls).hasSize(3).allMatch(RedisURI::isSsl);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redlock://:s3cret/x@one,two,three",
        "redlock://:s3cret@one,,three",
        "redlock://:s3cret@one,two,three/x",
        "redlock://:s3cret@one,two",
        "redis://:s3cret@one,two,three"
      })
  void redlock_malformed_isRefusedWithoutThePassword(String uri) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> LettuceRedis.redlock(uri))
        .withMessageNotContaining("s3cret");
  }

  @Test
  void redlock_sentinels_areRefused() {
    String sentinel = "redis-sentinel://one,two#primary";

    assertThatIllegalArgumentException()
        .isThrownBy(() -> LettuceRedis.redlock(List.of(sentinel, sentinel, sentinel)))
        .withMessageContaining("not Sentinels");
  }
}
