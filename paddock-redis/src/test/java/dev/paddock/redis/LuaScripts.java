/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import org.luaj.vm2.Globals;
import org.luaj.vm2.LuaTable;
import org.luaj.vm2.LuaValue;
import org.luaj.vm2.Varargs;
import org.luaj.vm2.lib.VarArgFunction;
import org.luaj.vm2.lib.jse.JsePlatform;

/** The scripts' text, and pieces of the prelude run by a Lua interpreter without a server. */
final class LuaScripts {
  private LuaScripts() {}

  static String text(String name) {
    try (InputStream in = Script.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new AssertionError("no " + name);
      }
      return new String(in.readAllBytes(), US_ASCII);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Runs the prelude and the rules and then an expression that may use its locals, and returns its
   * value.
   */
  static LuaValue inPrelude(String expression) {
    Globals globals = JsePlatform.standardGlobals();
    LuaTable redis = new LuaTable();
    redis.set("pcall", new OnlyTime());
    globals.set("redis", redis);
    globals.set(
        "KEYS", LuaValue.listOf(new LuaValue[] {LuaValue.valueOf("v"), LuaValue.valueOf("l")}));
    byte[] chunk =
        (text("common.lua") + text("rules.lua") + "\nreturn " + expression).getBytes(US_ASCII);
    return globals.load(new ByteArrayInputStream(chunk), "prelude", "t", globals).call();
  }

  private static final class OnlyTime extends VarArgFunction {
    @Override
    public Varargs invoke(Varargs args) {
      return LuaValue.listOf(
          new LuaValue[] {LuaValue.valueOf("1795966624"), LuaValue.valueOf("165999")});
    }
  }
}
