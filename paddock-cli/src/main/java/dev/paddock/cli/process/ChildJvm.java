/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.process;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * This program in another process, which talks in lines: it hears them on its standard input and
 * says them on its standard output. It can be killed, stopped and let go on. Thread-safe but for
 * {@link #pause()} and {@link #resume()}, which one thread calls in turn.
 */
public final class ChildJvm {
  private static final long FAREWELL_SECONDS = 5;

  /** Hears what a process says. Called by one thread. */
  public interface Ear {
    /**
     * The process has said something.
     *
     * @param line what
     */
    void line(String line);

    /**
     * What it says can't be read or understood. It will not be listened to any more.
     *
     * @param message why
     */
    void garbled(String message);

    /** The process has ended, and nobody had ended it. */
    void gone();
  }

  private final String name;
  private final Process process;
  private final BufferedWriter input;
  private final AtomicBoolean expectedToEnd = new AtomicBoolean();
  private @Nullable Process pause;

  private ChildJvm(String name, Process process) {
    this.name = name;
    this.process = process;
    this.input = process.outputWriter(UTF_8);
  }

  /**
   * Starts the program.
   *
   * @param name what it is called in messages: {@code "process 3"}
   * @param command the command of the command line that it runs
   * @param ear hears it
   * @param complaints takes what it prints on its standard error
   * @return the process
   * @throws IOException if it can't be started
   */
  public static ChildJvm start(String name, String command, Ear ear, PrintStream complaints)
      throws IOException {
    List<String> words = new ArrayList<>();
    words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    words.add("-Xmx256m");
    words.add("-XX:+UseSerialGC");
    words.add("-XX:TieredStopAtLevel=1");
    words.add("-cp");
    words.add(System.getProperty("java.class.path"));
    words.add("dev.paddock.cli.PaddockCommand");
    words.add(command);
    // Not inherited: it would hold this process's own standard error open.
    ChildJvm child = new ChildJvm(name, new ProcessBuilder(words).start());
    inBackground(name, () -> child.listen(ear));
    inBackground(name + " complaints", () -> child.passComplaintsOn(complaints));
    return child;
  }

  private static void inBackground(String name, Runnable task) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    thread.start();
  }

  private void listen(Ear ear) {
    try (BufferedReader reader = process.inputReader(UTF_8)) {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        ear.line(line);
      }
    } catch (IOException | RuntimeException e) {
      if (!expectedToEnd.get()) {
        ear.garbled(String.valueOf(e.getMessage()));
      }
    }
    if (!expectedToEnd.get()) {
      ear.gone();
    }
  }

  private void passComplaintsOn(PrintStream complaints) {
    try (BufferedReader reader = process.errorReader(UTF_8)) {
      boolean goesOn = false;
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        if (!goesOn && Shutdown.comesSoon()) {
          return;
        }
        complaints.println(line);
        goesOn = reader.ready();
      }
    } catch (IOException e) {
      if (!expectedToEnd.get()) {
        complaints.println("What " + name + " prints can't be read: " + e.getMessage());
      }
    }
  }

  /**
   * Tells whether it runs; a stopped one does.
   *
   * @return false after its end
   */
  public boolean isAlive() {
    return process.isAlive();
  }

  /**
   * Says something to it.
   *
   * @param line what
   * @throws IOException if it does not listen any more
   */
  public void say(String line) throws IOException {
    input.write(line);
    input.newLine();
    input.flush();
  }

  /**
   * Kills it, as the machine's out-of-memory killer would (SIGKILL).
   *
   * @throws InterruptedException if the thread was interrupted
   */
  public void kill() throws InterruptedException {
    expectedToEnd.set(true);
    process.destroyForcibly().waitFor();
  }

  /**
   * Stops it, as a long garbage collection or a moved virtual machine would (SIGSTOP).
   *
   * @throws IOException if that can't be done
   */
  public void pause() throws IOException {
    // The helper goes on when its input ends, so also when this process dies: a stopped process
    // could not notice that itself.
    Process helper =
        new ProcessBuilder(
                "/bin/sh",
                "-c",
                "kill -STOP \"$1\" && echo stopped; read -r line; kill -CONT \"$1\"",
                "pause",
                Long.toString(process.pid()))
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    pause = helper;
    String said = helper.inputReader(UTF_8).readLine();
    if (!"stopped".equals(said)) {
      throw new IOException(name + " could not be stopped");
    }
  }

  /**
   * Lets it go on after {@link #pause()} (SIGCONT).
   *
   * @throws IOException if that can't be done
   * @throws InterruptedException if the thread was interrupted
   */
  public void resume() throws IOException, InterruptedException {
    Process helper = pause;
    if (helper != null) {
      pause = null;
      helper.getOutputStream().close();
      helper.waitFor();
    }
  }

  /**
   * Asks it to end.
   *
   * @param farewell the last line that it hears
   */
  public void sayGoodbye(String farewell) {
    expectedToEnd.set(true);
    try {
      resume();
      if (process.isAlive()) {
        say(farewell);
        input.close();
      }
    } catch (IOException e) {
      process.destroyForcibly();
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }

  /** Waits for its end, and kills it if that takes too long. */
  public void awaitEnd() {
    try {
      if (!process.waitFor(FAREWELL_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }

  /** Ends it without delay. */
  public void destroy() {
    expectedToEnd.set(true);
    process.destroyForcibly();
  }
}
