/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.soak;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.paddock.LeaseLock;
import dev.paddock.Paddock;
import dev.paddock.cli.process.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;

/** One worker of a soak. Ends when its input does, so none is left behind. */
@Command(name = "soak-worker", hidden = true)
public final class SoakWorkerCommand implements Callable<Integer> {
  private static final long FLUSH_MILLIS = 200;
  private static final long END_NANOS_MAX = TimeUnit.SECONDS.toNanos(15);

  private final ReentrantLock outputLock = new ReentrantLock();
  private final PrintStream output = System.out;
  private final AtomicBoolean stopping = new AtomicBoolean();
  private final Counts counts = new Counts();
  private final List<Thread> threads = new ArrayList<>();
  private @Nullable Stampede stampede;

  /** Makes the command. */
  public SoakWorkerCommand() {}

  @Override
  public Integer call() throws IOException {
    // Whatever else prints must not get between the lines.
    System.setOut(System.err);
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    if (!(next(input) instanceof Told.Hello hello)) {
      return 0;
    }
    List<Long> pids = hello.pids();
    Deque<AutoCloseable> open = new ArrayDeque<>();
    try {
      begin(hello, open);
      say(new Said.Ready());
      for (Told told = next(input); !(told instanceof Told.Bye); told = next(input)) {
        if (told == null) {
          outlive(pids);
        } else if (told instanceof Told.Outlive outlive) {
          pids = outlive.pids();
        } else if (told instanceof Told.Stop) {
          daemon("stop", this::stop).start();
        }
      }
    } catch (RuntimeException e) {
      say(new Said.Trouble(e.toString()));
    }
    Thread closing = daemon("close", () -> open.forEach(SoakWorkerCommand::close));
    closing.start();
    try {
      closing.join(TimeUnit.SECONDS.toMillis(2));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return 0;
  }

  private void begin(Told.Hello hello, Deque<AutoCloseable> open) {
    SplittableRandom seeds = new SplittableRandom(hello.seed());
    Connections connections = new Connections(hello);
    open.push(connections);
    List<Runnable> tasks = new ArrayList<>();
    tasks.add(new Heartbeat(this::say));
    if (hello.sourceFile() != null) {
      Stampede calls =
          new Stampede(this::say, counts, Truth.open(Path.of(hello.sourceFile())), stopping);
      stampede = calls;
      Paddock paddock = connections.paddock(calls::onEvent);
      open.push(paddock);
      tasks.addAll(calls.threads(paddock, seeds));
      tasks.add(() -> flushUntilStopped(calls));
    }
    if (hello.databaseUrl() != null) {
      Registers registers = new Registers(this::say, counts, hello.databaseUrl(), stopping);
      LeaseLock lock = connections.leases(registers::onEvent);
      open.push(lock);
      tasks.addAll(registers.threads(lock, seeds));
    }
    for (Runnable task : tasks) {
      threads.add(daemon("soak", () -> run(task)));
    }
    threads.forEach(Thread::start);
  }

  private static Thread daemon(String name, Runnable task) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }

  private void run(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException | Error e) {
      say(new Said.Trouble(e + (e.getStackTrace().length > 0 ? " " + e.getStackTrace()[0] : "")));
    }
  }

  private void flushUntilStopped(Stampede calls) {
    while (!stopping.get()) {
      Stampede.pause(FLUSH_MILLIS);
      calls.flush();
    }
  }

  private void stop() {
    stopping.set(true);
    long start = System.nanoTime();
    // All but the heartbeat, which comes first and goes on.
    for (Thread thread : threads.subList(1, threads.size())) {
      long left = END_NANOS_MAX - (System.nanoTime() - start);
      try {
        thread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(left)));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      if (thread.isAlive()) {
        say(new Said.Trouble("a call does not come to its end"));
        break;
      }
    }
    if (stampede != null) {
      stampede.flush();
    }
    say(new Said.Done(counts.get()));
  }

  private static void close(AutoCloseable each) {
    try {
      each.close();
    } catch (Exception e) {
      // The process is ending, and takes it along.
      return;
    }
  }

  /** The coordinator is gone without a farewell: its servers go too, and this process at once. */
  private static void outlive(List<Long> pids) {
    pids.forEach(pid -> ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly));
    Runtime.getRuntime().halt(1);
  }

  private static @Nullable Told next(BufferedReader input) throws IOException {
    String line = input.readLine();
    return line == null ? null : Json.read(line, Told.class);
  }

  private void say(Said said) {
    String line = Json.write(said);
    outputLock.lock();
    try {
      output.println(line);
      output.flush();
    } finally {
      outputLock.unlock();
    }
  }
}
