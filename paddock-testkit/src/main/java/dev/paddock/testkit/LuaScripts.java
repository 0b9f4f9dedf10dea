/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.paddock.redis.RedisReplyException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.luaj.vm2.Globals;
import org.luaj.vm2.LuaClosure;
import org.luaj.vm2.LuaError;
import org.luaj.vm2.LuaString;
import org.luaj.vm2.LuaTable;
import org.luaj.vm2.LuaValue;
import org.luaj.vm2.Prototype;
import org.luaj.vm2.Varargs;
import org.luaj.vm2.compiler.LuaC;
import org.luaj.vm2.lib.BaseLib;
import org.luaj.vm2.lib.MathLib;
import org.luaj.vm2.lib.PackageLib;
import org.luaj.vm2.lib.StringLib;
import org.luaj.vm2.lib.TableLib;
import org.luaj.vm2.lib.VarArgFunction;

/**
 * Runs scripts as the server's Lua 5.1 does, on LuaJ: its numbers become text by C's rules, strings
 * are bytes, the globals are the server's and can't be added to.
 *
 * <p>Thread-safe: scripts share only what they can't change in a way that another would notice.
 */
final class LuaScripts {
  private static final String[] FROM_BASE = {
    "assert",
    "getmetatable",
    "ipairs",
    "next",
    "pairs",
    "rawequal",
    "rawget",
    "rawset",
    "select",
    "setmetatable",
    "type"
  };
  private static final String[] FROM_STRING = {
    "byte", "char", "find", "gmatch", "gsub", "len", "match", "rep", "reverse", "sub"
  };
  private static final String[] FROM_MATH = {
    "abs", "ceil", "exp", "floor", "fmod", "huge", "max", "min", "modf", "pi", "pow", "sqrt"
  };
  private static final LuaString ERR = LuaString.valueOf("err");
  private static final LuaString OK = LuaString.valueOf("ok");

  private static final LuaString KEYS = LuaString.valueOf("KEYS");
  private static final LuaString ARGV = LuaString.valueOf("ARGV");
  private static final LuaString REDIS = LuaString.valueOf("redis");

  /** What executes the commands of the script that this thread runs. */
  private static final ThreadLocal<Function<byte[][], @Nullable Object>> CURRENT =
      new ThreadLocal<>();

  private static final LuaTable BASE = base();
  private static final LuaTable LIBRARY = library();
  private static final LuaTable GUARD = guard();

  private LuaScripts() {}

  private static LuaTable base() {
    LuaTable base = new LuaTable();
    Globals stock = new Globals();
    stock.load(new BaseLib());
    stock.load(new PackageLib());
    stock.load(new StringLib());
    stock.load(new TableLib());
    stock.load(new MathLib());
    for (String name : FROM_BASE) {
      base.set(name, stock.get(name));
    }
    base.set("math", pick(stock.get("math").checktable(), FROM_MATH));
    LuaTable string = pick(stock.get("string").checktable(), FROM_STRING);
    string.set("format", function(CNumbers::format));
    string.set("lower", function(args -> mapped(args, 'A', 'Z', 'a' - 'A')));
    string.set("upper", function(args -> mapped(args, 'a', 'z', 'A' - 'a')));
    base.set("string", string);
    LuaTable table =
        pick(stock.get("table").checktable(), new String[] {"insert", "remove", "sort"});
    table.set("concat", function(LuaScripts::concat));
    base.set("table", table);
    base.set("unpack", stock.get("table").get("unpack"));
    base.set("tostring", function(args -> CNumbers.text(args.checkvalue(1))));
    base.set("tonumber", function(LuaScripts::tonumber));
    base.set("error", function(LuaScripts::raise));
    base.set("pcall", function(LuaScripts::pcall));
    return base;
  }

  private static LuaTable pick(LuaTable from, String[] names) {
    LuaTable picked = new LuaTable();
    for (String name : names) {
      LuaValue value = from.get(name);
      if (value.isnil()) {
        throw new IllegalStateException("the interpreter has no " + name);
      }
      picked.set(name, value);
    }
    return picked;
  }

  /**
   * Compiles a script.
   *
   * @throws RedisReplyException if its syntax is wrong
   */
  static Prototype compile(byte[] script) {
    try {
      return LuaC.instance.compile(new ByteArrayInputStream(script), "@user_script");
    } catch (LuaError | IOException e) {
      throw new RedisReplyException("ERR Error compiling script (new function): " + e.getMessage());
    }
  }

  /**
   * Runs a script.
   *
   * @param redis executes a command; throws {@link RedisReplyException}
   * @return its reply in the form of {@link RedisKeyspace}
   * @throws RedisReplyException if it ends with an error, or returns one
   */
  static @Nullable Object run(
      Prototype script,
      String sha1,
      byte[][] keys,
      byte[][] args,
      Function<byte[][], @Nullable Object> redis) {
    LuaTable env = new LuaTable(0, 4);
    env.rawset(KEYS, strings(keys));
    env.rawset(ARGV, strings(args));
    env.rawset(REDIS, LIBRARY);
    env.setmetatable(GUARD);
    CURRENT.set(redis);
    try {
      return reply(new LuaClosure(script, env).call());
    } catch (LuaError e) {
      LuaValue thrown = message(e);
      String message = isError(thrown) ? thrown.get(ERR).tojstring() : "ERR " + thrown.tojstring();
      throw new RedisReplyException(message + " script: " + sha1 + ", on @user_script.");
    } finally {
      CURRENT.remove();
    }
  }

  private static LuaTable guard() {
    LuaTable guard = new LuaTable();
    guard.set(
        LuaValue.INDEX,
        function(
            lookup -> {
              LuaValue found = BASE.get(lookup.arg(2));
              if (found.isnil()) {
                throw new LuaError(
                    "Script attempted to access nonexistent global variable '"
                        + lookup.arg(2).tojstring()
                        + "'");
              }
              return found;
            }));
    guard.set(
        LuaValue.NEWINDEX,
        function(
            ignored -> {
              throw new LuaError("Attempt to modify a readonly table");
            }));
    return guard;
  }

  /** What all scripts share of the server; they can't change it. */
  private static final class Library extends LuaTable {
    private boolean complete;

    @Override
    public void rawset(LuaValue key, LuaValue value) {
      if (complete) {
        throw new LuaError("Attempt to modify a readonly table");
      }
      super.rawset(key, value);
    }

    @Override
    public void rawset(int key, LuaValue value) {
      rawset(LuaValue.valueOf(key), value);
    }
  }

  private static LuaTable library() {
    Library library = new Library();
    library.set(
        "call",
        function(
            args -> {
              LuaValue reply = execute(args);
              if (isError(reply)) {
                throw new LuaError(reply);
              }
              return reply;
            }));
    library.set("pcall", function(LuaScripts::execute));
    library.set("error_reply", function(args -> single(ERR, args)));
    library.set("status_reply", function(args -> single(OK, args)));
    library.set("sha1hex", function(args -> LuaString.valueOf(Sha1.hex(bytes(args.arg(1))))));
    library.set("log", function(args -> LuaValue.NONE));
    library.set("LOG_DEBUG", 0);
    library.set("LOG_VERBOSE", 1);
    library.set("LOG_NOTICE", 2);
    library.set("LOG_WARNING", 3);
    library.set("REDIS_VERSION", "7.0.15");
    library.set("REDIS_VERSION_NUM", 0x0007000f);
    library.complete = true;
    return library;
  }

  private static LuaTable single(LuaString name, Varargs args) {
    LuaTable table = new LuaTable();
    table.set(name, args.checkstring(1));
    return table;
  }

  private static LuaValue execute(Varargs args) {
    if (args.narg() == 0) {
      return error("ERR Please specify at least one argument for this redis.call() call");
    }
    byte[][] words = new byte[args.narg()][];
    for (int i = 0; i < words.length; i++) {
      LuaValue word = args.arg(i + 1);
      if (word.type() != LuaValue.TSTRING && word.type() != LuaValue.TNUMBER) {
        return error("ERR Lua redis lib command arguments must be strings or integers");
      }
      words[i] = bytes(word);
    }
    try {
      return value(CURRENT.get().apply(words));
    } catch (RedisReplyException e) {
      return error(String.valueOf(e.getMessage()));
    }
  }

  private static boolean isError(LuaValue reply) {
    return reply.istable() && !reply.get(ERR).isnil();
  }

  private static LuaTable error(String message) {
    LuaTable table = new LuaTable();
    table.set(ERR, LuaString.valueOf(message));
    return table;
  }

  /** From a reply to Lua. */
  private static LuaValue value(@Nullable Object reply) {
    if (reply == null) {
      return LuaValue.FALSE;
    }
    if (reply instanceof byte[] bytes) {
      return LuaString.valueUsing(bytes.clone());
    }
    if (reply instanceof Long number) {
      return LuaValue.valueOf((double) number);
    }
    if (reply instanceof String status) {
      LuaTable table = new LuaTable();
      table.set(OK, LuaString.valueOf(status));
      return table;
    }
    List<?> items = (List<?>) reply;
    LuaTable table = new LuaTable(items.size(), 0);
    for (int i = 0; i < items.size(); i++) {
      table.set(i + 1, value(items.get(i)));
    }
    return table;
  }

  /** From Lua to a reply. */
  private static @Nullable Object reply(LuaValue value) {
    return switch (value.type()) {
      case LuaValue.TSTRING -> bytes(value);
      case LuaValue.TNUMBER -> (long) value.todouble();
      case LuaValue.TBOOLEAN -> value.toboolean() ? 1L : null;
      case LuaValue.TTABLE -> reply(value.checktable());
      default -> null;
    };
  }

  private static Object reply(LuaTable table) {
    if (isError(table)) {
      throw new RedisReplyException(table.get(ERR).tojstring());
    }
    if (!table.get(OK).isnil()) {
      return table.get(OK).tojstring();
    }
    List<@Nullable Object> items = new ArrayList<>();
    for (int i = 1; !table.rawget(i).isnil(); i++) {
      items.add(reply(table.rawget(i)));
    }
    return items;
  }

  private static byte[] bytes(LuaValue value) {
    if (value.type() == LuaValue.TNUMBER) {
      return CNumbers.argument(value.todouble()).getBytes(ISO_8859_1);
    }
    LuaString string = value.checkstring();
    byte[] copy = new byte[string.m_length];
    System.arraycopy(string.m_bytes, string.m_offset, copy, 0, copy.length);
    return copy;
  }

  private static LuaTable strings(byte[][] all) {
    LuaTable table = new LuaTable(all.length, 0);
    for (int i = 0; i < all.length; i++) {
      table.set(i + 1, LuaString.valueUsing(all[i].clone()));
    }
    return table;
  }

  private static LuaValue tonumber(Varargs args) {
    LuaValue value = args.checkvalue(1);
    if (!args.isnoneornil(2) && args.checkint(2) != 10) {
      return CNumbers.tonumber(value.checkstring(), args.checkint(2));
    }
    return switch (value.type()) {
      case LuaValue.TNUMBER -> value;
      case LuaValue.TSTRING -> CNumbers.tonumber(value.checkstring());
      default -> LuaValue.NIL;
    };
  }

  /** LuaJ's own turns a table that is thrown into text, and always adds the position. */
  private static Varargs raise(Varargs args) {
    LuaValue thrown = args.arg(1);
    throw thrown.type() == LuaValue.TSTRING && args.optint(2, 1) > 0
        ? new LuaError(thrown.tojstring(), args.optint(2, 1))
        : new LuaError(thrown);
  }

  /** As the server has it: what a command's error leaves is its text, not the table around it. */
  private static Varargs pcall(Varargs args) {
    try {
      return LuaValue.varargsOf(LuaValue.TRUE, args.checkvalue(1).invoke(args.subargs(2)));
    } catch (LuaError e) {
      LuaValue message = message(e);
      return LuaValue.varargsOf(LuaValue.FALSE, isError(message) ? message.get(ERR) : message);
    }
  }

  private static LuaValue message(LuaError error) {
    LuaValue thrown = error.getMessageObject();
    return thrown == null ? LuaString.valueOf(String.valueOf(error.getMessage())) : thrown;
  }

  private static LuaValue concat(Varargs args) {
    LuaTable table = args.checktable(1);
    byte[] separator = bytes(args.optstring(2, LuaString.valueOf("")));
    int from = args.optint(3, 1);
    int to = args.optint(4, table.length());
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (int i = from; i <= to; i++) {
      LuaValue item = table.get(i);
      if (item.type() != LuaValue.TSTRING && item.type() != LuaValue.TNUMBER) {
        throw new LuaError(
            "invalid value (" + item.typename() + ") at index " + i + " in table for 'concat'");
      }
      byte[] piece = bytes(CNumbers.text(item));
      out.write(piece, 0, piece.length);
      if (i < to) {
        out.write(separator, 0, separator.length);
      }
    }
    return LuaString.valueUsing(out.toByteArray());
  }

  private static LuaValue mapped(Varargs args, char from, char to, int shift) {
    byte[] bytes = bytes(args.checkstring(1));
    for (int i = 0; i < bytes.length; i++) {
      if (bytes[i] >= from && bytes[i] <= to) {
        bytes[i] += (byte) shift;
      }
    }
    return LuaString.valueUsing(bytes);
  }

  private static VarArgFunction function(Function<Varargs, Varargs> body) {
    return new VarArgFunction() {
      @Override
      public Varargs invoke(Varargs args) {
        return body.apply(args);
      }
    };
  }
}
