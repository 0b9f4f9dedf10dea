/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;

/** The figures, in the order of the table. */
enum Figure {
  HIT("hit", "reads of stored values, by threads with a key each, against plain GETs") {
    @Override
    List<Line> measure(Bench bench) throws IOException, InterruptedException {
      return Throughput.hit(bench);
    }
  },
  HOT_KEY("hot-key", "reads of one stored value by 64 threads, against plain GETs") {
    @Override
    List<Line> measure(Bench bench) throws IOException, InterruptedException {
      return Throughput.hotKey(bench);
    }
  },
  JEDIS("jedis", "reads of stored values over Jedis, against a bare socket for each thread") {
    @Override
    List<Line> measure(Bench bench) throws IOException, InterruptedException {
      return Throughput.jedis(bench);
    }
  },
  COMMANDS("commands", "commands per hit, cold fill and refresh, as the server counts them") {
    @Override
    List<Line> measure(Bench bench) throws IOException, InterruptedException {
      return CommandCounts.measure(bench);
    }
  },
  COLD_FILL("cold-fill", "time of a cold fill by one thread, against three commands in sequence") {
    @Override
    List<Line> measure(Bench bench) throws IOException, InterruptedException {
      return ColdFills.one(bench);
    }
  },
  HERD("herd", "4 JVMs of 50 callers ask for a key that takes 200 ms to load") {
    @Override
    List<Line> measure(Bench bench) throws IOException, InterruptedException {
      return bench.herds().lines();
    }
  },
  HERD_SCALE("herd-scale", "commands of herds of 2, 4 and 8 JVMs, and of 200 callers in each") {
    @Override
    List<Line> measure(Bench bench) throws IOException, InterruptedException {
      return Herds.scale(bench);
    }
  },
  FILLS("fills", "10,000 cold keys by 64 threads, with a loader of 1 ms, against the bare way") {
    @Override
    List<Line> measure(Bench bench) throws IOException, InterruptedException {
      return ColdFills.many(bench);
    }
  },
  LEASE("lease", "leases: alone, 4 JVMs of 4 threads on one, and by a majority of 5 servers") {
    @Override
    List<Line> measure(Bench bench) throws IOException, InterruptedException {
      return Leases.measure(bench);
    }
  },
  LIBRARIES("libraries", "herd, cold fill, hit and near hit beside those of other JVM libraries") {
    @Override
    List<Line> measure(Bench bench) throws IOException, InterruptedException {
      return Libraries.measure(bench);
    }
  },
  OUTAGE("outage", "200 callers while their server is frozen, killed, made a replica, filled up") {
    @Override
    List<Line> measure(Bench bench) throws InterruptedException {
      return Outages.measure(bench);
    }
  },
  MEMORY("memory", "what is left in the process of keys read once; what an open flight takes") {
    @Override
    List<Line> measure(Bench bench) throws IOException, InterruptedException {
      return Memory.measure(bench);
    }
  },
  CPU("cpu", "processor time of the JVMs and of Redis in a herd, against the bare way") {
    @Override
    List<Line> measure(Bench bench) throws IOException, InterruptedException {
      return bench.herds().cpuLines();
    }
  },
  JOIN("join", "a caller that joins a flight, and allocation per hit, by JMH") {
    @Override
    List<Line> measure(Bench bench) {
      return SingleOperations.measure(bench);
    }
  };

  private final String title;
  private final String summary;

  Figure(String title, String summary) {
    this.title = title;
    this.summary = summary;
  }

  String title() {
    return title;
  }

  String summary() {
    return summary;
  }

  abstract List<Line> measure(Bench bench) throws IOException, InterruptedException;

  static List<String> titles() {
    return Arrays.stream(values()).map(Figure::title).toList();
  }
}
