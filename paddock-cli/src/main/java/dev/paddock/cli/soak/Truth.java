/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.soak;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * The source of truth: a version for each key, in a file that all processes have mapped, so that
 * whoever reads after a change sees it. Thread-safe, in all processes.
 */
final class Truth {
  private static final VarHandle LONGS =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

  private final MappedByteBuffer bytes;

  private Truth(MappedByteBuffer bytes) {
    this.bytes = bytes;
  }

  static Truth open(Path file) {
    try (FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      return new Truth(
          channel.map(FileChannel.MapMode.READ_WRITE, 0, 2L * Terms.KEYS * Long.BYTES));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Reads the version, as a load does, and counts the load.
   *
   * @param key the key
   * @return the version, at least 1
   */
  long load(int key) {
    long unused = (long) LONGS.getAndAdd(bytes, (Terms.KEYS + key) * Long.BYTES, 1L);
    return (long) LONGS.getVolatile(bytes, key * Long.BYTES) + 1;
  }

  /**
   * Changes the value.
   *
   * @param key the key
   * @return the version after the change
   */
  long change(int key) {
    return (long) LONGS.getAndAdd(bytes, key * Long.BYTES, 1L) + 2;
  }

  /**
   * Counts.
   *
   * @return how many loads have begun in all processes
   */
  long loads() {
    long sum = 0;
    for (int key = 0; key < Terms.KEYS; key++) {
      sum += (long) LONGS.getVolatile(bytes, (Terms.KEYS + key) * Long.BYTES);
    }
    return sum;
  }
}
