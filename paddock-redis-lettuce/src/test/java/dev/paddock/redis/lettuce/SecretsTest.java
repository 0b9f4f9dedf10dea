/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.redis.internal.Secrets;
import io.lettuce.core.RedisURI;
import org.junit.jupiter.api.Test;

final class SecretsTest {
  private final Secrets secrets =
      RedisUris.secrets(RedisUris.parse("redis://user:hun%2Fter22@localhost"));

  @Test
  void cause_withoutPassword_isKept() {
    Exception harmless = new IllegalStateException("refused", new RuntimeException("closed"));

    assertThat(secrets.causeOrNull(harmless)).isSameAs(harmless);
    assertThat(secrets.summary(harmless)).isEqualTo("IllegalStateException: refused");
  }

  @Test
  void password_inMessage_isHidden() {
    Exception leak = new IllegalStateException("args beginning with: `hun/ter22`");

    assertThat(secrets.causeOrNull(leak)).isNull();
    assertThat(secrets.summary(leak)).isEqualTo(Secrets.HIDDEN);
  }

  @Test
  void password_deepInTheChain_isFound() {
    Exception cause = new IllegalStateException("a", new RuntimeException("hun/ter22"));
    Exception suppressing = new IllegalStateException("b");
    suppressing.addSuppressed(new RuntimeException("c", new Error("is hun/ter22")));

    assertThat(secrets.causeOrNull(cause)).isNull();
    assertThat(secrets.causeOrNull(suppressing)).isNull();
  }

  @Test
  void chain_thatIsALoop_ends() {
    Exception first = new IllegalStateException("a");
    Exception second = new IllegalStateException("b", first);
    first.initCause(second);

    assertThat(secrets.causeOrNull(first)).isSameAs(first);
  }

  @Test
  void nothing_isHiddenWithoutAPassword() {
    Exception any = new IllegalStateException("hun/ter22");

    assertThat(RedisUris.secrets(RedisURI.create("localhost", 1)).causeOrNull(any)).isSameAs(any);
  }
}
