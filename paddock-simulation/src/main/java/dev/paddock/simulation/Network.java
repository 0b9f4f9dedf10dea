/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.simulation;

import dev.paddock.testkit.RedisRequest;
import dev.paddock.testkit.RequestFate;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Between processes and servers: delays, losses, cuts. A connection keeps the order unless told.
 */
final class Network {
  private static final long USUAL_MICROS = 100;

  private final Clockwork clockwork;
  private final SplittableRandom random;
  private final boolean reordering;
  private final Map<Kind, Long> injected;
  private final Map<Kind, Double> rates = new EnumMap<>(Kind.class);
  private final long[][] requestOrder;
  private final long[][] replyOrder;
  private final int[][] cutTo;
  private final int[][] cutFrom;
  private final int[] down;
  private boolean calm;
  private boolean hintless;

  Network(
      Clockwork clockwork,
      SplittableRandom random,
      Plan plan,
      Map<Kind, Long> injected,
      int processes,
      int servers) {
    this.clockwork = clockwork;
    this.random = random;
    this.reordering = plan.has(Kind.REORDER);
    this.injected = injected;
    requestOrder = new long[processes][servers];
    replyOrder = new long[processes][servers];
    cutTo = new int[processes][servers];
    cutFrom = new int[processes][servers];
    down = new int[servers];
    for (Kind kind :
        new Kind[] {Kind.SLOW, Kind.LOST_REQUEST, Kind.LOST_REPLY, Kind.BROKEN, Kind.DUPLICATE}) {
      // Most of what arrives twice changes nothing: more of it, to meet what does.
      rates.put(kind, plan.rate(kind) * (kind == Kind.DUPLICATE ? 3 : 1));
    }
  }

  void cut(int process, int server, boolean to, boolean from, int by) {
    cutTo[process][server] += to ? by : 0;
    cutFrom[process][server] += from ? by : 0;
  }

  void down(int server, int by) {
    down[server] += by;
  }

  /** From now on no message reaches a subscriber; all else does. */
  void dropHints() {
    hintless = true;
  }

  /** Until when messages of before are on their way, whatever happens from now on. */
  long quietNanos() {
    long last = 0;
    for (int process = 0; process < requestOrder.length; process++) {
      for (int server = 0; server < requestOrder[process].length; server++) {
        last = Math.max(last, requestOrder[process][server]);
        last = Math.max(last, replyOrder[process][server]);
      }
    }
    return last;
  }

  /** Whether all is well from now on. */
  void calm(boolean well) {
    calm = well;
  }

  private boolean strikes(Kind kind) {
    Double rate = rates.get(kind);
    if (rate == null || rate == 0 || random.nextDouble() >= rate) {
      return false;
    }
    injected.merge(kind, 1L, Long::sum);
    return true;
  }

  private long delayNanos() {
    if (!calm && strikes(Kind.SLOW)) {
      // A heavy tail: half a millisecond to two seconds.
      return (long) (500_000 * Math.pow(4_000, random.nextDouble()));
    }
    return 1_000 * random.nextLong(USUAL_MICROS, 5 * USUAL_MICROS);
  }

  private long inOrder(long[][] order, int process, int server, long delay) {
    if (reordering && !calm) {
      return delay;
    }
    long at = Math.max(clockwork.now() + delay, order[process][server] + 1);
    order[process][server] = at;
    return at - clockwork.now();
  }

  /**
   * Decides about one message.
   *
   * @param repeatable whether it may arrive once more after its sender was answered
   */
  RequestFate fate(int process, int server, RedisRequest request, boolean repeatable) {
    boolean message = request.name().equals("MESSAGE");
    long there = delayNanos();
    long back = delayNanos();
    RequestFate fate = RequestFate.DELIVERED;
    if (message && hintless) {
      fate = RequestFate.LOST_REQUEST;
    } else if (down[server] > 0) {
      fate = random.nextBoolean() ? RequestFate.NOT_SENT : RequestFate.BROKEN_BEFORE;
    } else if (message ? cutFrom[process][server] > 0 : cutTo[process][server] > 0) {
      fate = RequestFate.LOST_REQUEST;
    } else if (cutFrom[process][server] > 0) {
      fate = RequestFate.LOST_REPLY;
    } else if (!calm) {
      if (strikes(Kind.LOST_REQUEST)) {
        fate = RequestFate.LOST_REQUEST;
      } else if (strikes(Kind.LOST_REPLY)) {
        fate = RequestFate.LOST_REPLY;
      } else if (strikes(Kind.BROKEN)) {
        fate =
            switch (random.nextInt(3)) {
              case 0 -> RequestFate.NOT_SENT;
              case 1 -> RequestFate.BROKEN_BEFORE;
              default -> RequestFate.BROKEN_AFTER;
            };
      }
    }
    if (fate.executed()) {
      there = inOrder(message ? replyOrder : requestOrder, process, server, there);
    }
    if (fate.answer() == RequestFate.Answer.REPLY) {
      back = inOrder(replyOrder, process, server, there + back) - there;
    }
    if (!calm && fate.executed() && strikes(Kind.DUPLICATE)) {
      long after = repeatable ? random.nextLong(300_000_000) : back / 2;
      // A server that does not know the script refuses it; a second arrival that finds it known
      // would act on behalf of a sender that has been told so, and sends the script itself.
      boolean refused = request.name().equals("EVALSHA") && request.script() == null;
      if (!refused && (repeatable || fate.answer() == RequestFate.Answer.REPLY)) {
        fate = fate.repeated(Duration.ofNanos(after));
      }
    }
    return fate.delayed(Duration.ofNanos(there), Duration.ofNanos(Math.max(0, back)));
  }
}
