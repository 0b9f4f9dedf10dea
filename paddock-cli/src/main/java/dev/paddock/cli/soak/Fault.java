/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.soak;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** What the nemesis does. */
enum Fault {
  /** SIGSTOP, and SIGCONT after a while. */
  WORKER_STOP(false, "worker stopped"),
  /** SIGKILL; a new one takes its place. */
  WORKER_KILL(false, "worker killed"),
  /** SIGSTOP, and SIGCONT before it counts as dead. */
  SERVER_STOP(false, "server stopped"),
  /** SIGKILL of a server that takes writes, and a start with nothing in it. */
  SERVER_KILL(true, "server killed"),
  /** All connections of a worker are reset, and new ones refused. */
  LINK_CUT(false, "link cut"),
  /** What a worker sends and hears takes its time. */
  LINK_SLOW(false, "link slow"),
  /** What a worker sends, or what it would hear, is swallowed. */
  LINK_ONE_WAY(false, "link one-way"),
  /** CLIENT PAUSE. */
  CLIENT_PAUSE(false, "CLIENT PAUSE"),
  /** CLIENT KILL of all clients. */
  CLIENT_KILL(false, "CLIENT KILL"),
  /** SCRIPT FLUSH. */
  SCRIPT_FLUSH(false, "SCRIPT FLUSH"),
  /** CONFIG SET maxmemory 1mb, and back. */
  OUT_OF_MEMORY(false, "out of memory"),
  /** A replica takes over from a server that is well. */
  FAILOVER(true, "failover"),
  /** A slot with keys in it moves to another master. */
  SLOT_MOVE(true, "slot moved"),
  /** The clock of a server jumps, and back after a while. */
  CLOCK_JUMP(false, "clock jump");

  private final boolean alone;
  private final String description;

  Fault(boolean alone, String description) {
    this.alone = alone;
    this.description = description;
  }

  /** Tells whether it takes servers that are well, but for this. */
  boolean isAlone() {
    return alone;
  }

  String description() {
    return description;
  }

  String option() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  static List<String> options() {
    return Arrays.stream(values()).map(Fault::option).toList();
  }

  static List<Fault> allBut(Set<Fault> left) {
    return Arrays.stream(values()).filter(each -> !left.contains(each)).toList();
  }
}
