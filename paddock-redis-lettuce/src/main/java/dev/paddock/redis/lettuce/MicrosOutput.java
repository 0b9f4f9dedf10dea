/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.CommandOutput;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** The reply to TIME, seconds and microseconds, as microseconds. */
final class MicrosOutput extends CommandOutput<byte[], byte[], Long> {
  private boolean secondsSeen;

  MicrosOutput() {
    super(ByteArrayCodec.INSTANCE, 0L);
  }

  @Override
  public void set(@Nullable ByteBuffer digits) {
    long number = 0;
    while (digits != null && digits.hasRemaining()) {
      byte digit = digits.get();
      if (digit < '0' || digit > '9') {
        setError("ERR TIME answered with something that is no number");
        return;
      }
      number = number * 10 + (digit - '0');
    }
    set(number);
  }

  @Override
  public void set(long number) {
    output = secondsSeen ? output + number : number * 1_000_000;
    secondsSeen = true;
  }
}
