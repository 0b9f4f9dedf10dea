/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.paddock.spi.ChangeListener;
import dev.paddock.spi.StoreKey;
import java.util.Arrays;

/**
 * What is said on the channel of a space: {@code K} and the key that was changed, or {@code B}, a
 * barrier in 16 digits and its label.
 */
final class ChangeMessages {
  private static final int MILLIS = 16;

  private ChangeMessages() {}

  /** Passes a message on. An empty one says that some were missed; so does one of another form. */
  static void tell(byte[] message, ChangeListener listener) {
    if (message.length > 0 && message[0] == 'K') {
      listener.changed(StoreKey.of(Arrays.copyOfRange(message, 1, message.length)));
      return;
    }
    long barrier =
        message.length > MILLIS && message[0] == 'B' ? Digits.decimal(message, 1, MILLIS) : -1;
    if (barrier < 0) {
      listener.missed();
    } else {
      int label = 1 + MILLIS;
      listener.raised(new String(message, label, message.length - label, UTF_8), barrier);
    }
  }
}
