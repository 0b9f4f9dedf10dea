/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.CommandOutput;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An array of bulk strings. Takes numbers, simple strings and nested arrays as well, flattened: an
 * exception while decoding would cost the connection and every command on it.
 */
final class BulkListOutput extends CommandOutput<byte[], byte[], List<byte[]>> {
  private static final byte[] NOTHING = new byte[0];

  private boolean sized;

  BulkListOutput() {
    super(ByteArrayCodec.INSTANCE, new ArrayList<>(0));
  }

  @Override
  public void multi(int count) {
    if (!sized && count > 0) {
      output = new ArrayList<>(count);
      sized = true;
    }
  }

  @Override
  public void set(@Nullable ByteBuffer bytes) {
    output.add(bytes == null ? NOTHING : codec.decodeValue(bytes));
  }

  @Override
  public void set(long integer) {
    output.add(Long.toString(integer).getBytes(StandardCharsets.US_ASCII));
  }

  @Override
  public void set(double number) {
    output.add(Double.toString(number).getBytes(StandardCharsets.US_ASCII));
  }

  @Override
  public void set(boolean value) {
    output.add(new byte[] {(byte) (value ? '1' : '0')});
  }
}
