/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.badexamples;

import java.security.SecureRandom;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

final class DrawsRandomNumbers {
  int random() {
    return new Random().nextInt();
  }

  Supplier<Random> reference() {
    return Random::new;
  }

  int seeded(long seed) {
    return new Random(seed).nextInt();
  }

  int threadLocal() {
    return ThreadLocalRandom.current().nextInt();
  }

  double math() {
    return Math.random();
  }

  double strictMath() {
    return StrictMath.random();
  }

  int secure() {
    return new SecureRandom().nextInt();
  }

  int splittable() {
    return new SplittableRandom().nextInt();
  }

  int generator() {
    return RandomGenerator.getDefault().nextInt();
  }

  UUID uuid() {
    return UUID.randomUUID();
  }

  void shuffle(List<?> list) {
    Collections.shuffle(list);
  }
}
