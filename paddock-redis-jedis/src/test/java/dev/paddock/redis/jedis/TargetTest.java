/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.jedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.paddock.redis.internal.Secrets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.HostAndPort;

final class TargetTest {
  @Test
  void server_withEverything_isRead() {
    Target target =
        Target.parse("REDISS://us%2Fer:hun%2Fter22@h:7000/3?clientName=shop&verifyPeer=NONE");

    assertThat(target.hosts()).containsExactly(new HostAndPort("h", 7000));
    assertThat(target.primary()).isNull();
    assertThat(target.cluster()).isFalse();
    assertThat(target.config().getUser()).isEqualTo("us/er");
    assertThat(target.config().getPassword()).isEqualTo("hun/ter22");
    assertThat(target.config().getDatabase()).isEqualTo(3);
    assertThat(target.config().getClientName()).isEqualTo("shop");
    assertThat(target.config().isSsl() || target.config().getSslOptions() != null).isTrue();
  }

  @Test
  void server_withLittle_hasDefaults() {
    Target target = Target.parse("redis://under_score");

    assertThat(target.hosts()).containsExactly(new HostAndPort("under_score", 6379));
    assertThat(target.config().getPassword()).isNull();
    assertThat(target.config().getSslOptions()).isNull();
    assertThat(target.toString()).isEqualTo("Redis at under_score:6379");
    assertThat(Target.parse("redis://:a+b@[::1]:1").config().getPassword()).isEqualTo("a+b");
    assertThat(Target.parse("redis://:x@[::1]:1").toString()).isEqualTo("Redis at [::1]:1");
    assertThat(Target.parse("redis://only-a-password@h").config().getPassword())
        .isEqualTo("only-a-password");
  }

  @Test
  void sentinels_andTheirPrimary_areRead() {
    Target target = Target.parse("redis-sentinel://app:secret@s1,s2:26380/1#mymaster");

    assertThat(target.hosts())
        .containsExactly(new HostAndPort("s1", 26379), new HostAndPort("s2", 26380));
    assertThat(target.primary()).isEqualTo("mymaster");
    assertThat(target.config().getPassword()).isEqualTo("secret");
    assertThat(target.sentinels().getPassword()).isNull();
    assertThat(target.toString()).isEqualTo("Redis at mymaster of the Sentinels s1:26379,s2:26380");
  }

  @Test
  void nodes_ofACluster_shareTheirCredentials() {
    Target target = Target.parse("redis://app:se@cret,x@n1:1,n2:2");

    assertThat(target.cluster()).isTrue();
    assertThat(target.hosts()).containsExactly(new HostAndPort("n1", 1), new HostAndPort("n2", 2));
    assertThat(target.config().getPassword()).isEqualTo("se@cret,x");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "sesame",
        "http://sesame",
        "redis://:sesame@",
        "redis://:sesame@h:0",
        "redis://:sesame@h:70000",
        "redis://:sesame@h:x",
        "redis://:sesame@h/x",
        "redis://:sesame@h#x",
        "redis://:sesame@h?x=y",
        "redis://:sesame@h?timeout=1",
        "redis://:sesame@h?libraryName=x",
        "rediss://:sesame@h?verifyPeer=perhaps",
        "redis://:ses%zzame@h",
        "redis://:ses/ame@h",
        "redis://:sesame@h1,h2/1",
        "redis://:sesame@h1,,h2",
        "redis-sentinel://:sesame@h1",
        "redis-sentinel://:sesame@h1#na me"
      })
  void malformed_isRefused_withoutAnyPartOfIt(String uri) {
    assertThatThrownBy(() -> JedisRedis.connect(uri))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("malformed Redis URI")
        .hasMessageNotContaining("sesame")
        .hasMessageNotContaining("ses/ame");
  }

  @Test
  void secrets_ofTheUri_areKnown() {
    Secrets secrets = Target.parse("redis://:hun%2Fter22@h").secrets();

    assertThat(secrets.shown("it says hun/ter22")).isEqualTo(Secrets.HIDDEN);
  }

  @Test
  void limits_areCheckedAtOnce() {
    assertThatThrownBy(() -> JedisRedis.connect("redis://h").connectionsMax(0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("connectionsMax must be at least 1, is 0");
    assertThatThrownBy(() -> JedisRedis.connect("redis://h").threadsMax(0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("threadsMax must be at least 1, is 0");
  }
}
