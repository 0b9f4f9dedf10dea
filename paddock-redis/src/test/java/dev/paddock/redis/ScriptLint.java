/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import java.io.StringReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.luaj.vm2.Lua;
import org.luaj.vm2.LuaString;
import org.luaj.vm2.ast.Chunk;
import org.luaj.vm2.ast.Exp;
import org.luaj.vm2.ast.Name;
import org.luaj.vm2.ast.NameResolver;
import org.luaj.vm2.ast.Stat;
import org.luaj.vm2.ast.SyntaxElement;
import org.luaj.vm2.ast.Visitor;
import org.luaj.vm2.parser.LuaParser;
import org.luaj.vm2.parser.ParseException;
import org.luaj.vm2.parser.TokenMgrError;

/**
 * What the scripts may not do: format numbers by Lua's own means, whose output differs between
 * interpreters; depend on the order of a table; use globals; touch keys that were not declared.
 */
final class ScriptLint extends Visitor {
  private static final Set<String> GLOBALS =
      Set.of("KEYS", "ARGV", "redis", "string", "math", "type", "error");
  private static final Map<String, Set<String>> MEMBERS =
      Map.of("string", Set.of("find", "format", "sub"), "math", Set.of("floor"));

  /** Of halves of numbers, each below 2^31: there all interpreters agree. */
  private static final String FORMAT = "%08d%08d";

  private static final Set<String> COMMANDS =
      Set.of(
          "GET",
          "GETRANGE",
          "STRLEN",
          "SET",
          "SETRANGE",
          "DEL",
          "PTTL",
          "PEXPIRE",
          "PUBLISH",
          "SPUBLISH");

  /** What the prelude of leases says of itself. */
  private static final String LEASES = "-- The prelude of each script of leases";

  /** What the scripts of leases use besides. */
  private static final Set<String> LEASE_COMMANDS =
      Set.of("HDEL", "HGET", "HGETALL", "HINCRBY", "HMGET", "HSET", "INCR");

  /** What the scripts of leases may ask of the server itself, which is no key. */
  private static final Set<String> INFO_SECTIONS = Set.of("server", "memory");

  /** Names of the keys, which the preludes give them. */
  private static final Set<String> KEY_NAMES = Set.of("V", "L", "C", "E");

  /** Functions of ours and of Lua that return strings. */
  private static final Set<String> TEXT_FUNCTIONS =
      Set.of(
          "bare",
          "decimal",
          "plain",
          "sub",
          "record_of",
          "answer",
          "micros",
          "standing",
          "token",
          "now_digits",
          "joined");

  /**
   * Functions of ours that put their arguments into a text, and which of these are to be text. What
   * is given to them is looked at where they are called.
   */
  private static final Map<String, Set<Integer>> TAKE_TEXT =
      Map.of(
          "record_of", Set.of(0, 1, 2, 3, 4),
          "answer", Set.of(0),
          "hint", Set.of(0),
          "joined", Set.of(0, 1),
          "reply_with", Set.of(0, 1));

  /** Fields of our records and of error replies that hold strings. */
  private static final Set<String> TEXT_FIELDS =
      Set.of("awaited", "degraded", "epoch", "err", "identity", "line", "owner", "text", "token");

  /** Tables of ours and of the server that hold strings. */
  private static final Set<String> TEXT_TABLES = Set.of("ARGV", "KEYS", "clock", "epoch", "holder");

  private final boolean prelude;
  private final boolean leases;
  private final Map<String, List<Exp>> assigned;
  private final List<String> found = new ArrayList<>();

  private ScriptLint(boolean prelude, boolean leases, Map<String, List<Exp>> assigned) {
    this.prelude = prelude;
    this.leases = leases;
    this.assigned = assigned;
  }

  /**
   * Checks a script, alone with its prelude.
   *
   * @param common the prelude
   * @param rules the rules, or the preludes of leases where these come later; null if there are
   *     none
   * @param script the script without them; empty to check prelude and rules
   * @return what is wrong, with the line within the whole or within the script; empty if nothing is
   */
  static List<String> check(String common, @Nullable String rules, String script) {
    String shared = rules == null ? common : common + rules;
    boolean leases = rules == null || rules.contains(LEASES);
    if (script.isEmpty()) {
      return check(parse(shared), new HashMap<>(), leases);
    }
    Map<String, List<Exp>> assigned = new HashMap<>();
    parse(shared).accept(new Assignments(assigned));
    // Own names win: a script's `epoch` says nothing about the prelude's.
    Map<String, List<Exp>> own = new HashMap<>();
    parse(script).accept(new Assignments(own));
    assigned.putAll(own);

    List<String> found = new ArrayList<>();
    if (script.contains("#!")) {
      found.add("a #! line makes the server refuse the whole script under OOM");
    }
    // Whole, so that the prelude's names are known, and none is used before it is there; its own
    // faults are found by its own check.
    Chunk whole = parse(ScriptText.whole(common, rules, script));
    found.addAll(new Globals().in(whole));
    ScriptLint lint = new ScriptLint(false, leases, assigned);
    parse(script).accept(lint);
    found.addAll(lint.found);
    return found;
  }

  private static List<String> check(Chunk chunk, Map<String, List<Exp>> assigned, boolean leases) {
    chunk.accept(new Assignments(assigned));
    List<String> found = new ArrayList<>(new Globals().in(chunk));
    ScriptLint lint = new ScriptLint(true, leases, assigned);
    chunk.accept(lint);
    found.addAll(lint.found);
    return found;
  }

  private static Chunk parse(String text) {
    try {
      return new LuaParser(new StringReader(text)).Chunk();
    } catch (ParseException | TokenMgrError e) {
      throw new AssertionError("no Lua: " + e.getMessage() + "\n" + text, e);
    }
  }

  private void fault(SyntaxElement where, String what) {
    found.add("line " + where.beginLine + ": " + what);
  }

  @Override
  public void visit(Exp.BinopExp exp) {
    if (exp.op == Lua.OP_CONCAT) {
      text(exp.lhs, "an operand of ..");
      text(exp.rhs, "an operand of ..");
    }
    super.visit(exp);
  }

  @Override
  public void visit(Exp.FuncCall call) {
    String callee = name(call.lhs);
    if (callee.equals("format") || callee.equals("string.format")) {
      List<?> args = call.args.exps;
      if (!prelude || args.isEmpty() || !constant((Exp) args.get(0)).equals(FORMAT)) {
        fault(call, "formats, though numbers are formatted by decimal() and plain()");
      }
    }
    boolean direct = callee.equals("redis.call") || callee.equals("redis.pcall");
    if (direct || callee.equals("read") || callee.equals("write")) {
      command(call);
      call.args.accept(this);
      return;
    }
    for (int i : TAKE_TEXT.getOrDefault(callee, Set.of())) {
      if (i < call.args.exps.size()) {
        text((Exp) call.args.exps.get(i), "argument " + (i + 1) + " of " + callee);
      }
    }
    super.visit(call);
  }

  private void command(Exp.FuncCall call) {
    List<?> args = call.args.exps;
    if (args.size() == 1 && args.get(0) instanceof Exp.VarargsExp) {
      if (!prelude) {
        fault(call, "a command made of varargs");
      }
      return;
    }
    String command = args.isEmpty() ? "" : constant((Exp) args.get(0));
    if (command.equals("TIME") && args.size() == 1) {
      return;
    }
    if (leases
        && command.equals("INFO")
        && args.size() == 2
        && args.get(1) instanceof Exp.Constant section
        && INFO_SECTIONS.contains(section.value.tojstring())) {
      return;
    }
    if (!COMMANDS.contains(command) && !(leases && LEASE_COMMANDS.contains(command))) {
      fault(call, "command " + command + " is not one of those the scripts use");
    }
    String key = args.size() < 2 ? "" : name((Exp) args.get(1));
    // A channel of plain messages is no key: on a cluster every node has it.
    boolean toAll = command.equals("PUBLISH") && key.equals("changes");
    if (!toAll && !KEY_NAMES.contains(key)) {
      fault(call, "the key of " + command + " is none of those that the prelude names");
    }
    for (int i = 2; i < args.size(); i++) {
      text((Exp) args.get(i), "an argument of " + command);
    }
  }

  @Override
  public void visit(Exp.MethodCall call) {
    fault(call, "a method call hides what is called");
    super.visit(call);
  }

  @Override
  public void visit(Exp.FieldExp exp) {
    String base = name(exp.lhs);
    if (base.equals("redis")) {
      fault(exp, "redis." + exp.name.name + " under another name, or not for a command");
    } else if (MEMBERS.containsKey(base)
        && (!MEMBERS.get(base).contains(exp.name.name)
            || (!prelude && exp.name.name.equals("format")))) {
      fault(exp, base + "." + exp.name.name + " is banned");
    }
    super.visit(exp);
  }

  @Override
  public void visit(Exp.IndexExp exp) {
    String base = name(exp.lhs);
    if (MEMBERS.containsKey(base) || base.equals("redis")) {
      fault(exp, base + "[...] hides what is called");
    }
    if (base.equals("KEYS") && !prelude) {
      fault(exp, "KEYS are named once, in the prelude");
    }
    super.visit(exp);
  }

  @Override
  public void visit(Stat.GenericFor loop) {
    fault(loop, "iterates over a table");
    super.visit(loop);
  }

  @Override
  public void visit(Stat.Goto jump) {
    fault(jump, "goto is not Lua 5.1");
  }

  private void text(Exp exp, String role) {
    if (!isText(exp, new HashSet<>())) {
      fault(exp, role + " is not surely a string: Lua would format a number");
    }
  }

  private boolean isText(Exp exp, Set<String> underway) {
    if (exp instanceof Exp.Constant constant) {
      return constant.value instanceof LuaString;
    }
    if (exp instanceof Exp.ParensExp parens) {
      return isText(parens.exp, underway);
    }
    if (exp instanceof Exp.BinopExp binary) {
      boolean either = binary.op == Lua.OP_OR || binary.op == Lua.OP_AND;
      // Operands of a .. are looked at where it is visited.
      return binary.op == Lua.OP_CONCAT
          || (either
              && (binary.op == Lua.OP_AND || isText(binary.lhs, underway))
              && isText(binary.rhs, underway));
    }
    if (exp instanceof Exp.FuncCall call) {
      return TEXT_FUNCTIONS.contains(name(call.lhs)) || isGet(call);
    }
    if (exp instanceof Exp.FieldExp field) {
      return TEXT_FIELDS.contains(field.name.name);
    }
    if (exp instanceof Exp.IndexExp index) {
      return TEXT_TABLES.contains(name(index.lhs));
    }
    if (exp instanceof Exp.NameExp nameExp) {
      String name = nameExp.name.name;
      if (!underway.add(name)) {
        return true;
      }
      List<Exp> values = assigned.get(name);
      return values != null && values.stream().allMatch(value -> isText(value, underway));
    }
    return false;
  }

  /** What GET and HGET find is a string, or nothing that could be formatted. */
  private static boolean isGet(Exp.FuncCall call) {
    List<?> args = call.args.exps;
    return name(call.lhs).equals("redis.pcall")
        && !args.isEmpty()
        && Set.of("GET", "HGET").contains(constant((Exp) args.get(0)));
  }

  private static String constant(Exp exp) {
    return exp instanceof Exp.Constant constant ? constant.value.tojstring() : "(computed)";
  }

  private static String name(Exp exp) {
    if (exp instanceof Exp.NameExp name) {
      return name.name.name;
    }
    if (exp instanceof Exp.FieldExp field) {
      return name(field.lhs) + "." + field.name.name;
    }
    return "";
  }

  /** Collects what each name is given anywhere. */
  private static final class Assignments extends Visitor {
    private final Map<String, List<Exp>> assigned;

    Assignments(Map<String, List<Exp>> assigned) {
      this.assigned = assigned;
    }

    @Override
    public void visit(Stat.LocalAssign stat) {
      for (int i = 0; i < stat.names.size(); i++) {
        given(((Name) stat.names.get(i)).name, stat.values, i);
      }
      super.visit(stat);
    }

    @Override
    public void visit(Stat.Assign stat) {
      for (int i = 0; i < stat.vars.size(); i++) {
        given(name((Exp) stat.vars.get(i)), stat.exps, i);
      }
      super.visit(stat);
    }

    @Override
    public void visit(Stat.NumericFor loop) {
      given(loop.name.name, List.of(loop.initial), 0);
      super.visit(loop);
    }

    @Override
    public void visit(Stat.LocalFuncDef def) {
      for (int i : TAKE_TEXT.getOrDefault(def.name.name, Set.of())) {
        Name parameter = (Name) def.body.parlist.names.get(i);
        given(parameter.name, List.of(new Exp.Constant(LuaString.valueOf(""))), 0);
      }
      super.visit(def);
    }

    private void given(String name, List<?> values, int index) {
      Exp value =
          values != null && index < values.size() ? (Exp) values.get(index) : new Exp.VarargsExp();
      assigned.computeIfAbsent(name, n -> new ArrayList<>()).add(value);
    }
  }

  /** Finds names that are no locals. */
  private static final class Globals extends NameResolver {
    private final List<String> found = new ArrayList<>();

    List<String> in(Chunk chunk) {
      chunk.accept(this);
      return found;
    }

    @Override
    public void visit(Exp.NameExp exp) {
      super.visit(exp);
      if (!exp.name.variable.isLocal() && !GLOBALS.contains(exp.name.name)) {
        found.add("line " + exp.beginLine + ": global " + exp.name.name);
      }
    }

    @Override
    public void visit(Stat.Assign stat) {
      super.visit(stat);
      for (Object target : stat.vars) {
        if (target instanceof Exp.NameExp exp && !exp.name.variable.isLocal()) {
          found.add("line " + exp.beginLine + ": sets the global " + exp.name.name);
        }
      }
    }

    @Override
    public void visit(Stat.FuncDef def) {
      super.visit(def);
      found.add("line " + def.beginLine + ": defines a function that is not local");
    }
  }
}
