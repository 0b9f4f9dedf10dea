/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spring.boot.shop;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** One process of a fleet: on a line of input many callers ask for the same post. */
@SpringBootApplication
class ShopApplication {
  private static final int CALLERS = 40;

  ShopApplication() {}

  public static void main(String[] args) throws Exception {
    try (ConfigurableApplicationContext context =
        SpringApplication.run(ShopApplication.class, args)) {
      Posts posts = context.getBean(Posts.class);
      System.out.println("ready");
      if (new BufferedReader(new InputStreamReader(System.in, UTF_8)).readLine() == null) {
        throw new IOException("no go");
      }
      System.out.println("answers " + ask(posts));
    }
  }

  private static int ask(Posts posts) throws Exception {
    CyclicBarrier start = new CyclicBarrier(CALLERS);
    ExecutorService pool = Executors.newFixedThreadPool(CALLERS);
    try {
      List<Future<Post>> asked = new ArrayList<>();
      for (int i = 0; i < CALLERS; i++) {
        asked.add(
            pool.submit(
                () -> {
                  start.await();
                  return posts.find(42);
                }));
      }
      int right = 0;
      for (Future<Post> answer : asked) {
        if (answer.get(60, TimeUnit.SECONDS).equals(new Post(42, "post 42"))) {
          right++;
        }
      }
      return right;
    } finally {
      pool.shutdownNow();
    }
  }
}
