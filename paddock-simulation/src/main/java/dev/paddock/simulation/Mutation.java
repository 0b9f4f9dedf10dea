/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.simulation;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A deliberate break of the protocol, made in a copy of a source.
 *
 * @param name short, for the command line
 * @param what what is wrong then
 * @param file the source, from the repository's root
 * @param edits what to replace by what, each in exactly one place
 * @param worlds where it shows
 */
record Mutation(String name, String what, String file, List<Edit> edits, List<Worlds> worlds) {
  private static final String REDIS = "paddock-redis/src/main/resources/dev/paddock/redis/";
  private static final String ENGINE = "paddock-core/src/main/java/dev/paddock/internal/";

  /** One change of a text. */
  record Edit(String from, String to) {}

  /** Returns the changed source. */
  String mutated(Path home) throws IOException {
    String text = Files.readString(home.resolve(file));
    for (Edit edit : edits) {
      int at = text.indexOf(edit.from());
      if (at < 0 || text.indexOf(edit.from(), at + 1) >= 0) {
        throw new IllegalStateException(
            "mutation "
                + name
                + ": "
                + file
                + " holds "
                + (at < 0 ? "nowhere" : "more than once")
                + " what was to be changed: "
                + edit.from());
      }
      text = text.replace(edit.from(), edit.to());
    }
    return text;
  }

  boolean isScript() {
    return file.endsWith(".lua");
  }

  /** The name of the class, or of the resource. */
  String target() {
    String path = file.substring(file.indexOf("/src/main/") + "/src/main/".length());
    return isScript()
        ? path.substring("resources/".length())
        : path.substring("java/".length(), path.length() - ".java".length()).replace('/', '.');
  }

  private static Mutation of(
      String name, String what, String file, Worlds world, String... fromAndTo) {
    List<Edit> edits = new ArrayList<>();
    for (int i = 0; i < fromAndTo.length; i += 2) {
      edits.add(new Edit(fromAndTo[i], fromAndTo[i + 1]));
    }
    return new Mutation(name, what, file, List.copyOf(edits), List.of(world));
  }

  /** All of them. */
  static List<Mutation> all() {
    return List.of(
        of(
            "release-by-anybody",
            "RELEASE frees the lease of whoever has it",
            REDIS + "release.lua",
            Worlds.CACHE,
            "if not owns(record, owner) then",
            "if false then"),
        of(
            "lease-release-by-anybody",
            "LEASE_RELEASE deletes without a look at the owner",
            REDIS + "lease_release.lua",
            Worlds.LEASE,
            "if time_millis ~= '' and holder[1] == owner and",
            "if time_millis ~= '' and"),
        of(
            "fill-without-epoch",
            "FILL does not ask whether something newer has happened",
            REDIS + "fill.lua",
            Worlds.CACHE,
            "if epoch == NO_EPOCH or record.epoch ~= epoch then",
            "if epoch == NO_EPOCH then"),
        of(
            "fill-by-owner-only",
            "FILL refuses a load that was slower than its lease",
            REDIS + "fill.lua",
            Worlds.CACHE,
            "if epoch == NO_EPOCH or record.epoch ~= epoch then",
            "if epoch == NO_EPOCH or record.epoch ~= epoch or not mine then"),
        of(
            "fill-of-any-seq",
            "FILL replaces the value of a later lease",
            REDIS + "fill.lua",
            Worlds.CACHE,
            "if v.seq > seq then",
            "if false then"),
        of(
            "invalidate-keeps-lease",
            "INVALIDATE removes the value and leaves the lease",
            REDIS + "invalidate.lua",
            Worlds.CACHE,
            "write('DEL', L)",
            ""),
        of(
            "put-keeps-lease",
            "PUT stores and leaves the lease, so that an older load is stored over it",
            REDIS + "put.lua",
            Worlds.CACHE,
            "write('DEL', L)",
            ""),
        of(
            "replayed-epoch",
            "a request that arrives twice brings back the epoch that an invalidation has ended",
            REDIS + "get_or_acquire.lua",
            Worlds.CACHE,
            "sub(grant, 42, 49) .. sub(clock[1], -2) .. sub('000000' .. clock[2], -6)",
            "sub(grant, 34, 49)"),
        of(
            "hold-off-ignored",
            "a load is granted in the pause after an invalidation",
            REDIS + "get_or_acquire.lua",
            Worlds.CACHE,
            "if record.hold_off > now then",
            "if false then"),
        of(
            "cool-down-ignored",
            "a load is granted in the pause after a failure",
            REDIS + "get_or_acquire.lua",
            Worlds.CACHE,
            "if record.live then",
            "if record.live and record.owner ~= NOBODY then"),
        of(
            "degraded-without-limit",
            "whoever asks gets a degraded load",
            REDIS + "get_or_acquire.lua",
            Worlds.CACHE,
            "if record.degraded == NOBODY and seq < SEQ_MAX then",
            "if seq < SEQ_MAX then"),
        of(
            "live-lease-ignored",
            "a lease that is held is granted again",
            REDIS + "rules.lua",
            Worlds.CACHE,
            "live = epoch ~= NO_EPOCH and left > 0 and left <= granted + 0,",
            "live = epoch ~= NO_EPOCH and left > 20 and left <= granted + 0,"),
        of(
            "lease-without-ttl",
            "the lease record of a crashed holder stays for ever",
            REDIS + "get_or_acquire.lua",
            Worlds.CACHE,
            "'PX', grace)\n  if not failed(reply) then",
            "'KEEPTTL')\n  if not failed(reply) then"),
        of(
            "extend-makes-anew",
            "LEASE_EXTEND makes a lease that is gone",
            REDIS + "lease_extend.lua",
            Worlds.LEASE,
            "if lease().owner ~= owner then",
            "if lease().owner == '' then write('HSET', L, 'o', owner, 'g', ZEROS, 'q', '') elseif"
                + " lease().owner ~= owner then"),
        of(
            "token-as-number",
            "the fencing token passes through a Lua number",
            REDIS + "lease_acquire.lua",
            Worlds.LEASE,
            "local granted = '000' .. time_micros",
            "local granted = '000' .. string.format('%.14g', time_micros + 0)"),
        of(
            "token-from-nothing",
            "a lost counter starts at one again",
            REDIS + "lease_acquire.lua",
            Worlds.LEASE,
            "if not last or (type(last) == 'string'",
            "if (type(last) == 'string'",
            "if not granted or granted < least then",
            "if not granted then"),
        of(
            "counted-from-the-reply",
            "a lease's validity is counted from the reply, not from before the request",
            ENGINE + "LeaseEngine.java",
            Worlds.LEASE,
            "                  reply.token(),\n                  sentNanos,\n                  sentWallMillis,",
            "                  reply.token(),\n                  env.nanoTime(),\n"
                + "                  env.wallMillis(),",
            "            env.nanoTime() - sentNanos >= validMillis * 1_000_000L\n"
                + "                || env.wallMillis() - sentWallMillis >= validMillis;",
            "            false;"),
        of(
            "no-drift",
            "a lease is taken for valid to its very end, as if all clocks went alike",
            "paddock-redis/src/main/java/dev/paddock/redis/RedisLeaseStore.java",
            Worlds.LEASE,
            "return leaseMillis - (leaseMillis + 99) / 100 - 2;",
            "return leaseMillis;"),
        of(
            "loss-told-late",
            "a holder is told of the loss after the validity has ended",
            ENGINE + "HeldLease.java",
            Worlds.LEASE,
            "this::onLossTimer, leftNanos() - marginNanos);",
            "this::onLossTimer, leftNanos() + marginNanos);"),
        of(
            "unconditional-commit",
            "COMMIT writes the token although another holds the lease there by now",
            REDIS + "redlock_commit.lua",
            Worlds.REDLOCK,
            "if held.owner ~= owner then",
            "if false then"),
        of(
            "amnesia-votes",
            "a server that has forgotten its leases votes at once",
            REDIS + "redlock_common.lua",
            Worlds.REDLOCK,
            "if run == '' or epoch[1] ~= run or not epoch[2] then",
            "if false then"),
        of(
            "minority-wins",
            "one server fewer than a majority is enough",
            "paddock-redis/src/main/java/dev/paddock/redis/RedlockGroup.java",
            Worlds.REDLOCK,
            "return servers.size() / 2 + 1;",
            "return servers.size() / 2;"),
        of(
            "fence-ignored",
            "the register takes a write under an older token",
            REDIS + "fenced_write.lua",
            Worlds.LEASE,
            "if last and (token < last or",
            "if last and (false or"),
        of(
            "joins-a-read-under-way",
            "a caller shares a GET that was sent before its call",
            ENGINE + "ReadCoalescer.java",
            Worlds.CACHE,
            "          Call<K, V> more = error != null && gateway.isOverdue(sentNanos)"
                + " ? slot.take() : null;",
            "          Call<K, V> more = slot.take();"),
        of(
            "late-callers-served",
            "a caller that came during a load gets its value, whatever happened meanwhile",
            ENGINE + "Flight.java",
            Worlds.CACHE,
            "(shares ? served : again).add(call);",
            "served.add(call);"),
        of(
            "answered-before-removal",
            "a flight answers its callers while it can still be joined",
            ENGINE + "Flight.java",
            Worlds.CACHE,
            "    finish();\n    Lookup<V> result = cache.loaded(value);",
            "    engine.env().schedule(() -> serial.execute(this::finish), 1_000_000L);\n"
                + "    Lookup<V> result = cache.loaded(value);"),
        of(
            "push-without-poll",
            "waiters rely on the hint, which may be lost",
            ENGINE + "HolderWatch.java",
            Worlds.CACHE,
            "Math.min(poll, takeover));",
            "Long.MAX_VALUE >> 1);"),
        of(
            "waits-without-limit",
            "maxWait is not kept",
            ENGINE + "Callers.java",
            Worlds.CACHE,
            "() -> turn.accept(() -> expire(call)), left);",
            "() -> {}, left);"),
        of(
            "judged-by-the-end",
            "barriers are compared with the end of a load, not with its begin",
            ENGINE + "Flight.java",
            Worlds.TAGS,
            "cache.startOf(tags, loadStartMillis, loadStartNanos);",
            "cache.startOf(tags, gateway.store().earliestMillis(key), engine.env().nanoTime());"),
        of(
            "unknown-barrier-passes",
            "a barrier that is not known well enough lets values pass",
            ENGINE + "Barriers.java",
            Worlds.TAGS,
            "    if (unknown) {\n",
            "    if (false) {\n"),
        of(
            "late-callers-past-barrier",
            "a caller that came during a load gets its value, whatever was tagged meanwhile",
            ENGINE + "Flight.java",
            Worlds.TAGS,
            "proven && cache.mayShare(tags, loadStartMillis);",
            "proven;"),
        of(
            "near-despite-changes",
            "what is kept near stays although the key was changed",
            ENGINE + "NearCache.java",
            Worlds.TAGS,
            "if (near.stamp != stamp(near.key)) {",
            "if (false) {"));
  }
}
