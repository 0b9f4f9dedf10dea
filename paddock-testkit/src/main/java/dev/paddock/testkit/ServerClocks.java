/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Wall clocks of servers that can be moved while the servers run. On Linux, with gcc, for programs
 * that are linked dynamically: a library that is loaded before theirs adds to what the kernel says.
 * Servers are told apart by their {@code --port}; a Sentinel, which has none, keeps the true time.
 *
 * <p>Thread-safe.
 *
 * @since 0.1.0
 */
public final class ServerClocks {
  /** Adds what a file of eight bytes says, in milliseconds, to the wall clock of a program. */
  private static final String LIBRARY =
      """
      #define _GNU_SOURCE
      #include <fcntl.h>
      #include <stdint.h>
      #include <stdlib.h>
      #include <sys/mman.h>
      #include <sys/syscall.h>
      #include <sys/time.h>
      #include <time.h>
      #include <unistd.h>
      static volatile int64_t *off;
      __attribute__((constructor)) static void init(void) {
        const char *f = getenv("SKEW_FILE");
        if (!f) return;
        int fd = open(f, O_RDONLY);
        if (fd < 0) return;
        void *p = mmap(0, 8, PROT_READ, MAP_SHARED, fd, 0);
        if (p != MAP_FAILED) off = p;
        close(fd);
      }
      int clock_gettime(clockid_t c, struct timespec *t) {
        long r = syscall(SYS_clock_gettime, c, t);
        if (!r && off && (c == CLOCK_REALTIME || c == CLOCK_REALTIME_COARSE)) {
          int64_t n = t->tv_sec * 1000000000LL + t->tv_nsec + *off * 1000000LL;
          t->tv_sec = n / 1000000000LL;
          t->tv_nsec = n % 1000000000LL;
        }
        return r;
      }
      int gettimeofday(struct timeval *tv, void *z) {
        struct timespec t;
        if (clock_gettime(CLOCK_REALTIME, &t)) return -1;
        if (tv) {
          tv->tv_sec = t.tv_sec;
          tv->tv_usec = t.tv_nsec / 1000;
        }
        return 0;
      }
      time_t time(time_t *o) {
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        if (o) *o = t.tv_sec;
        return t.tv_sec;
      }
      """;

  /** Finds the port among the arguments; a server that is started again finds its file again. */
  private static final String WRAPPER =
      """
      #!/bin/sh
      port=
      before=
      for word in "$@"; do
        [ "$before" = --port ] && port=$word
        before=$word
      done
      if [ -n "$port" ]; then
        SKEW_FILE='FOLDER'/$port
        [ -f "$SKEW_FILE" ] || printf '\\0\\0\\0\\0\\0\\0\\0\\0' >"$SKEW_FILE"
        LD_PRELOAD='FOLDER'/skew.so
        export SKEW_FILE LD_PRELOAD
      fi
      exec "$@"
      """;

  private static final long COMPILE_SECONDS_MAX = 60;

  private final Path folder;
  private final Path wrapper;

  private ServerClocks(Path folder, Path wrapper) {
    this.folder = folder;
    this.wrapper = wrapper;
  }

  /**
   * Compiles what it takes.
   *
   * @param folder an empty folder to keep it in; its path holds no apostrophe
   * @return clocks that are right
   * @throws IllegalStateException if this machine can't, and why
   */
  public static ServerClocks in(Path folder) {
    if (!System.getProperty("os.name").equals("Linux")) {
      throw new IllegalStateException("a server's clock is moved by LD_PRELOAD, on Linux only");
    }
    try {
      Path source = Files.writeString(folder.resolve("skew.c"), LIBRARY, UTF_8);
      Process gcc =
          new ProcessBuilder(
                  "gcc",
                  "-O2",
                  "-shared",
                  "-fPIC",
                  "-o",
                  folder.resolve("skew.so").toString(),
                  source.toString())
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      if (!gcc.waitFor(COMPILE_SECONDS_MAX, TimeUnit.SECONDS) || gcc.exitValue() != 0) {
        gcc.destroyForcibly();
        throw new IllegalStateException(
            "gcc can't compile the library that moves a server's clock");
      }
      Path wrapper =
          script(folder.resolve("wrapper"), WRAPPER.replace("FOLDER", folder.toString()));
      return new ServerClocks(folder, wrapper);
    } catch (IOException e) {
      throw new IllegalStateException(
          "no gcc on this machine to compile the library that moves a server's clock", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while gcc was running", e);
    }
  }

  private static Path script(Path file, String text) throws IOException {
    Files.writeString(file, text, UTF_8);
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  /**
   * Returns what to put before the words that start a server.
   *
   * @return for {@link RedisServerProcess#start(List, String...)}
   */
  public List<String> command() {
    return List.of(wrapper.toString());
  }

  /**
   * Makes a program that starts another one with a clock that can be moved.
   *
   * @param server the path of a redis-server
   * @return the path of a script that takes its arguments
   */
  public Path program(Path server) {
    try {
      return script(
          folder.resolve("server"), "#!/bin/sh\nexec '" + wrapper + "' '" + server + "' \"$@\"\n");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Moves a clock, at once.
   *
   * @param port of the server
   * @param ahead how far it is ahead of the true time from now on; negative for behind
   */
  public void set(int port, Duration ahead) {
    // In place: a file that is cut short would kill the server that has it mapped.
    try (RandomAccessFile bytes =
        new RandomAccessFile(folder.resolve(Integer.toString(port)).toFile(), "rw")) {
      bytes.write(
          ByteBuffer.allocate(Long.BYTES)
              .order(ByteOrder.LITTLE_ENDIAN)
              .putLong(ahead.toMillis())
              .array());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
