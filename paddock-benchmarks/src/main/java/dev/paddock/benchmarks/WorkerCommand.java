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
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import picocli.CommandLine.Command;

/**
 * One process of a fleet: takes orders from standard input and reports on standard output, a line
 * of JSON each. Ends when its input does, so none is left behind by a coordinator that died.
 */
@Command(name = "worker", hidden = true)
final class WorkerCommand implements Callable<Integer> {
  @Override
  public Integer call() throws IOException, InterruptedException {
    PrintStream output = System.out;
    // Whatever else prints must not get between the reports.
    System.setOut(System.err);
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    String first = lines.readLine();
    if (first == null || !(Json.read(first, Order.class) instanceof Order.Hello hello)) {
      return 0;
    }
    BlockingQueue<Order> orders = new LinkedBlockingQueue<>();
    Thread reader = new Thread(() -> readOrders(lines, orders, hello.redisPids()), "orders");
    reader.setDaemon(true);
    reader.start();
    try (Worker worker = new Worker(hello.redisUri())) {
      output.println(Json.write(new Report.Ready()));
      output.flush();
      for (Order order = orders.take(); !(order instanceof Order.Bye); order = orders.take()) {
        output.println(Json.write(worker.carryOut(order)));
        output.flush();
      }
    }
    return 0;
  }

  /** Beside the work, so that the end of the orders is noticed during a long one too. */
  private static void readOrders(
      BufferedReader lines, BlockingQueue<Order> orders, List<Long> redisPids) {
    try {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        Order order = Json.read(line, Order.class);
        orders.add(order);
        if (order instanceof Order.Bye) {
          return;
        }
      }
    } catch (IOException e) {
      // As good as an end.
    }
    outlive(redisPids);
  }

  /** The coordinator is gone without a farewell: its servers go too, and this process at once. */
  private static void outlive(List<Long> redisPids) {
    for (long pid : redisPids) {
      ProcessHandle.of(pid).ifPresent(ProcessHandle::destroy);
    }
    Runtime.getRuntime().halt(1);
  }
}
