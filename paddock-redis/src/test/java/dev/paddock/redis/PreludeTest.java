/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.spi.ReadReply;
import dev.paddock.spi.StoredEntry;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.luaj.vm2.LuaString;
import org.luaj.vm2.LuaValue;

final class PreludeTest {
  private static final String PARSE = "function(v) return parse(sub(v, 1, FIXED), #v) end";

  @Test
  void parse_anyMutation_judgesAsTheClientDoes() {
    LuaValue parse = LuaScripts.inPrelude(PARSE);
    Random random = new Random(4711);
    int readable = 0;
    int cases = 15_000;
    for (int i = 0; i < cases; i++) {
      byte[] stored = Entries.mutated(random);
      boolean inLua = !parse.call(LuaString.valueOf(stored)).isnil();
      boolean inJava = EntryFormat.decode(stored) instanceof ReadReply.Found;
      if (inLua != inJava) {
        throw new AssertionError(
            "case "
                + i
                + " is readable in "
                + (inLua ? "Lua" : "Java")
                + " only: "
                + Arrays.toString(stored));
      }
      readable += inJava ? 1 : 0;
    }
    assertThat(readable).as("both kinds occur").isBetween(cases / 10, cases * 9 / 10);
  }

  @Test
  void parse_readableHeader_seesTheFieldsThatTheClientSees() {
    LuaValue parse =
        LuaScripts.inPrelude(
            "function(v) local h = parse(sub(v, 1, FIXED), #v)"
                + " return decimal(h.soft, 16) .. h.epoch .. decimal(h.seq, 10) .. h.identity end");
    Random random = new Random(815);
    for (int i = 0; i < 2_000; i++) {
      StoredEntry entry = Entries.random(random);
      StoredEntry bounded =
          new StoredEntry(
              entry.negative(),
              entry.compressed(),
              entry.softExpiryMillis() % (1L << 53),
              entry.loadStartMillis(),
              entry.loadMillis(),
              entry.epoch(),
              entry.seq(),
              entry.schemaVersion(),
              entry.payload());
      byte[] stored = EntryFormat.encode(bounded);

      byte[] seen = bytes(parse.call(LuaString.valueOf(stored)));

      assertThat(seen)
          .isEqualTo(
              concat(
                  Digits.decimal(bounded.softExpiryMillis(), 16),
                  Digits.hex(bounded.epoch()),
                  Digits.decimal(bounded.seq(), 10),
                  EntryFormat.identity(bounded)));
    }
  }

  @Test
  void decimal_anyNumberBelow2To53_isExactAndFixedWidth() {
    LuaValue roundTrip =
        LuaScripts.inPrelude(
            "function(digits) return decimal(number(digits), 16) .. ' ' .. plain(number(digits)) end");
    Random random = new Random(53);
    for (int i = 0; i < 2_000; i++) {
      long value = random.nextLong(1L << 53) >> random.nextInt(53);
      byte[] digits = Digits.decimal(value, 16);

      byte[] back = bytes(roundTrip.call(LuaString.valueOf(digits)));

      assertThat(back).isEqualTo(concat(digits, Entries.ascii(" " + value)));
    }
  }

  @Test
  void number_anythingButUpToSixteenDigits_isNone() {
    LuaValue number = LuaScripts.inPrelude("function(text) return number(text) == nil end");

    for (String text : new String[] {"", "-1", "1.5", "1e3", " 1", "0x1", "12345678901234567"}) {
      assertThat(number.call(LuaValue.valueOf(text)).toboolean()).as(text).isTrue();
    }
    assertThat(number.call(LuaValue.FALSE).toboolean()).as("a missing field").isTrue();
    assertThat(number.call(LuaValue.valueOf("1234567890123456")).toboolean()).isFalse();
  }

  @Test
  void now_serverTime_isInWholeMilliseconds() {
    assertThat(LuaScripts.inPrelude("decimal(now, 16)").tojstring()).isEqualTo("0001795966624165");
  }

  private static byte[] bytes(LuaValue value) {
    LuaString string = value.checkstring();
    byte[] bytes = new byte[string.length()];
    string.copyInto(0, bytes, 0, bytes.length);
    return bytes;
  }

  private static byte[] concat(byte[]... parts) {
    byte[] all = {};
    for (byte[] part : parts) {
      int length = all.length;
      all = Arrays.copyOf(all, length + part.length);
      System.arraycopy(part, 0, all, length, part.length);
    }
    return all;
  }
}
