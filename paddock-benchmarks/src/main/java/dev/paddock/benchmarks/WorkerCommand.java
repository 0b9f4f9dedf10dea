/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;

/**
 * One process of a fleet: takes orders from standard input and reports on standard output, a line
 * of JSON each. Ends when its input does, so none is left behind by a coordinator that died.
 */
@Command(name = "worker", hidden = true)
final class WorkerCommand implements Callable<Integer> {
  @Override
  public Integer call() throws IOException {
    PrintStream output = System.out;
    // Whatever else prints must not get between the reports.
    System.setOut(System.err);
    BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    if (!(next(orders) instanceof Order.Hello hello)) {
      return 0;
    }
    try (Worker worker = new Worker(hello.redisUri())) {
      output.println(Json.write(new Report.Ready()));
      output.flush();
      for (Order order = next(orders); !(order instanceof Order.Bye); order = next(orders)) {
        if (order == null) {
          outlive(hello.redisPid());
        } else {
          output.println(Json.write(worker.carryOut(order)));
          output.flush();
        }
      }
    }
    return 0;
  }

  /** The coordinator is gone without a farewell: its Redis goes too, and this process at once. */
  private static void outlive(long redisPid) {
    ProcessHandle.of(redisPid).ifPresent(ProcessHandle::destroy);
    Runtime.getRuntime().halt(1);
  }

  private static @Nullable Order next(BufferedReader orders) throws IOException {
    String line = orders.readLine();
    return line == null ? null : Json.read(line, Order.class);
  }
}
