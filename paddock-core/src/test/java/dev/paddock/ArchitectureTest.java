/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noMethods;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget.CodeUnitAccessTarget;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaCodeUnitAccess;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaType;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.EvaluationResult;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import dev.paddock.badexamples.GoodExample;
import dev.paddock.internal.SystemEnvironment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What the engine must not do, so that it runs deterministically in virtual time, does not pin
 * virtual threads, and depends on nothing. Each rule is shown to see each of its bad examples.
 */
final class ArchitectureTest {
  private static final JavaClasses MAIN =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("dev.paddock");

  private static final JavaClasses EXAMPLES =
      new ClassFileImporter().importPackages("dev.paddock.badexamples");

  private static final String BAD = "dev.paddock.badexamples.";

  // ArchUnit does not say that its rules are immutable.
  @SuppressWarnings("ImmutableEnumChecker")
  enum Rule {
    NO_CLOCK(
        unlessSystemEnvironment(
            "read a clock",
            target ->
                is(target, System.class, "nanoTime", "currentTimeMillis")
                    || (owner(target).startsWith("java.time.") && target.getName().equals("now"))
                    || is(target, java.time.Clock.class, "systemUTC", "systemDefaultZone")
                    || is(target, java.time.Clock.class, "system", "tickMillis", "tickSeconds")
                    || is(target, java.time.Clock.class, "tickMinutes")
                    || is(target, java.util.Calendar.class, "getInstance")
                    || isNew(target, java.util.Date.class)
                    || isNew(target, java.util.GregorianCalendar.class)),
        "ReadsClocks"),

    NO_TIMED_WAIT(
        unlessSystemEnvironment(
            "wait by the JVM's clock",
            target ->
                is(target, Thread.class, "sleep")
                    || (is(target, Thread.class, "join") && !target.getParameterTypes().isEmpty())
                    || is(target, java.util.concurrent.TimeUnit.class, "sleep", "timedJoin")
                    || is(target, java.util.concurrent.TimeUnit.class, "timedWait")
                    || is(
                        target,
                        java.util.concurrent.locks.LockSupport.class,
                        "parkNanos",
                        "parkUntil")
                    || target.getName().equals("awaitNanos")
                    || target.getName().equals("awaitUntil")
                    || (owner(target).startsWith("java.util.concurrent.")
                        && !owner(target).equals("java.util.concurrent.TimeUnit")
                        && takes(target, java.util.concurrent.TimeUnit.class))),
        "WaitsByTheClock"),

    NO_RANDOMNESS(
        unlessSystemEnvironment(
            "draw random numbers",
            target ->
                target.getOwner().isAssignableTo(java.util.random.RandomGenerator.class)
                    || is(target, Math.class, "random")
                    || is(target, StrictMath.class, "random")
                    || is(target, java.util.UUID.class, "randomUUID")
                    || is(target, java.util.Collections.class, "shuffle")),
        "DrawsRandomNumbers"),

    NO_COMMON_POOL(
        unlessSystemEnvironment(
            "run something on the common pool",
            target ->
                (target.getOwner().isAssignableTo(java.util.concurrent.CompletionStage.class)
                        && target.getName().endsWith("Async")
                        && !takes(target, java.util.concurrent.Executor.class))
                    || is(target, java.util.concurrent.ForkJoinPool.class, "commonPool")
                    || target.getName().equals("parallelStream")
                    || (target.getOwner().isAssignableTo(java.util.stream.BaseStream.class)
                        && target.getName().equals("parallel"))),
        "UsesTheCommonPool"),

    NO_RANDOM_ORDER(
        unlessSystemEnvironment(
            "make a set or map whose order differs from one JVM to the next",
            target ->
                is(target, java.util.Set.class, "of", "copyOf")
                    || is(target, java.util.Map.class, "of", "copyOf", "ofEntries")
                    || is(
                        target,
                        java.util.stream.Collectors.class,
                        "toUnmodifiableSet",
                        "toUnmodifiableMap")),
        "IteratesInRandomOrder"),

    NO_SYNCHRONIZED_METHOD(
        noMethods().should().haveModifier(JavaModifier.SYNCHRONIZED), "HasSynchronizedMethods"),

    NO_MONITOR(
        noClasses()
            .should(
                access(
                    "wait for or wake a monitor",
                    target -> is(target, Object.class, "wait", "notify", "notifyAll"))),
        "UsesMonitors"),

    NO_LIBRARY(
        classes()
            .should()
            .onlyDependOnClassesThat(
                resideInAnyPackage(
                        "dev.paddock..",
                        "java..",
                        "org.jspecify..",
                        "org.HdrHistogram..",
                        "com.github.benmanes.caffeine.cache..")
                    .and(not(resideInAPackage("java.util.logging.."))))
            .as(
                "core depends on the JDK, JSpecify, HdrHistogram and Caffeine only, and logs by System.Logger"),
        "UsesALibrary"),

    SPI_KNOWS_NO_ENGINE(
        noClasses()
            .that()
            .resideInAPackage("dev.paddock..spi..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("dev.paddock.internal.."),
        "spi.KnowsTheEngine"),

    API_SHOWS_NO_ENGINE(
        classes()
            .that()
            .arePublic()
            .and()
            .resideOutsideOfPackage("dev.paddock.internal..")
            .should(showNothingOf("dev.paddock.internal")),
        "ExposesInternals");

    private final ArchRule rule;
    private final String badExample;

    Rule(ArchRule rule, String badExample) {
      this.rule = rule;
      this.badExample = BAD + badExample;
    }
  }

  private static ArchRule unlessSystemEnvironment(
      String what, Predicate<CodeUnitAccessTarget> banned) {
    return noClasses()
        .that(not(belongToAnyOf(SystemEnvironment.class)))
        .should(access(what, banned));
  }

  /** Sees calls, constructors, and references to methods and constructors. */
  private static ArchCondition<JavaClass> access(
      String what, Predicate<CodeUnitAccessTarget> banned) {
    return new ArchCondition<>(what) {
      @Override
      public void check(JavaClass item, ConditionEvents events) {
        for (JavaCodeUnitAccess<?> access : item.getCodeUnitAccessesFromSelf()) {
          if (banned.test(access.getTarget())) {
            events.add(SimpleConditionEvent.satisfied(access, access.getDescription()));
          }
        }
      }
    };
  }

  private static String owner(CodeUnitAccessTarget target) {
    return target.getOwner().getName();
  }

  private static boolean is(CodeUnitAccessTarget target, Class<?> owner, String... names) {
    // A monitor's methods are called by way of any class.
    return (owner == Object.class || owner(target).equals(owner.getName()))
        && Arrays.asList(names).contains(target.getName());
  }

  private static boolean isNew(CodeUnitAccessTarget target, Class<?> type) {
    return owner(target).equals(type.getName())
        && target.getName().equals("<init>")
        && target.getParameterTypes().isEmpty();
  }

  private static boolean takes(CodeUnitAccessTarget target, Class<?> type) {
    return target.getRawParameterTypes().stream().anyMatch(t -> t.isEquivalentTo(type));
  }

  private static ArchCondition<JavaClass> showNothingOf(String hiddenPackage) {
    return new ArchCondition<>("show nothing of " + hiddenPackage) {
      @Override
      public void check(JavaClass item, ConditionEvents events) {
        List<JavaType> above = new ArrayList<>(item.getInterfaces());
        item.getSuperclass().ifPresent(above::add);
        report(item.getDescription() + " extends", above, item, events);
        for (JavaMember member : item.getMembers()) {
          if (member.getModifiers().contains(JavaModifier.PUBLIC)
              || member.getModifiers().contains(JavaModifier.PROTECTED)) {
            report(member.getDescription() + " shows", typesOf(member), item, events);
          }
        }
      }

      private void report(
          String who, Collection<JavaType> types, JavaClass item, ConditionEvents events) {
        for (JavaType type : types) {
          for (JavaClass raw : type.getAllInvolvedRawTypes()) {
            if (raw.getBaseComponentType().getPackageName().startsWith(hiddenPackage)) {
              events.add(SimpleConditionEvent.violated(item, who + " " + raw.getName()));
            }
          }
        }
      }
    };
  }

  private static List<JavaType> typesOf(JavaMember member) {
    List<JavaType> types = new ArrayList<>();
    if (member instanceof JavaField field) {
      types.add(field.getType());
    }
    if (member instanceof JavaCodeUnit unit) {
      types.add(unit.getReturnType());
      types.addAll(unit.getParameterTypes());
      types.addAll(unit.getTypeParameters());
      types.addAll(unit.getThrowsClause().getTypes());
    }
    return types;
  }

  private static JavaClasses example(String name) {
    JavaClasses example = EXAMPLES.that(named(name));
    assertThat(example).as(name).isNotEmpty();
    return example;
  }

  private static DescribedPredicate<JavaClass> named(String name) {
    return DescribedPredicate.describe(name, c -> c.getName().equals(name));
  }

  @Test
  void importedClasses_areThoseOfCore_withoutTests() {
    assertThat(MAIN.contain(CacheBuilder.class)).isTrue();
    assertThat(MAIN.contain(SystemEnvironment.class)).isTrue();
    assertThat(MAIN.contain(dev.paddock.spi.FillStore.class)).isTrue();
    assertThat(MAIN.contain(ArchitectureTest.class)).isFalse();
  }

  @ParameterizedTest
  @EnumSource
  void core_keepsTheRule(Rule rule) {
    rule.rule.check(MAIN);
  }

  @ParameterizedTest
  @EnumSource
  void rule_seesEachWayToBreakIt(Rule rule) throws Exception {
    EvaluationResult result = rule.rule.evaluate(example(rule.badExample));

    assertThat(result.hasViolation()).isTrue();
    List<String> details = result.getFailureReport().getDetails();
    List<String> methods =
        Arrays.stream(Class.forName(rule.badExample).getDeclaredMethods())
            .filter(method -> !method.isSynthetic())
            .map(method -> rule.badExample + "." + method.getName() + "(")
            .toList();
    assertThat(methods).isNotEmpty();
    for (String method : methods) {
      assertThat(details).as(method).anyMatch(detail -> detail.contains(method));
    }
  }

  @ParameterizedTest
  @EnumSource
  void rule_reportsNothingElse(Rule rule) {
    assertThat(rule.rule.allowEmptyShould(true).evaluate(example(GoodExample.class.getName())))
        .satisfies(result -> assertThat(result.getFailureReport().getDetails()).isEmpty());
  }

  @Test
  void systemEnvironment_isExempt_andNothingElseIs() {
    JavaClasses exempt = new ClassFileImporter().importClasses(SystemEnvironment.class);
    ArchRule withoutExemption =
        noClasses().should(access("read a clock", target -> is(target, System.class, "nanoTime")));

    assertThat(withoutExemption.evaluate(exempt).hasViolation()).isTrue();
    assertThat(Rule.NO_CLOCK.rule.allowEmptyShould(true).evaluate(exempt).hasViolation()).isFalse();
    assertThat(withoutExemption.evaluate(MAIN).getFailureReport().getDetails())
        .allMatch(detail -> detail.contains(SystemEnvironment.class.getName() + "."));
  }

  @Test
  void loggingOfTheJdk_isALibraryToo() throws ClassNotFoundException {
    // The rule would pass it as part of java.. otherwise; JUnit has a class that uses it.
    EvaluationResult result =
        Rule.NO_LIBRARY.rule.evaluate(
            new ClassFileImporter()
                .importClasses(
                    Class.forName(
                        "org.junit.platform.commons.logging.LoggerFactory$DelegatingLogger")));

    assertThat(result.getFailureReport().getDetails())
        .anyMatch(detail -> detail.contains("java.util.logging"));
  }

  // --- synchronized blocks, which leave no trace that ArchUnit can see

  private static final Pattern COMMENT_OR_LITERAL =
      Pattern.compile(
          "//[^\n]*|/\\*.*?\\*/|\"\"\".*?\"\"\"|\"(?:\\\\.|[^\"\\\\\n])*\"|'(?:\\\\.|[^'\\\\\n])+'",
          Pattern.DOTALL);

  private static boolean isSynchronized(String source) {
    String code = COMMENT_OR_LITERAL.matcher(source).replaceAll(Matcher.quoteReplacement("_"));
    return Pattern.compile("\\bsynchronized\\b").matcher(code).find();
  }

  @Test
  void core_hasNoSynchronizedBlock() throws IOException {
    List<Path> sources;
    try (Stream<Path> tree = Files.walk(Path.of("src/main/java"))) {
      sources = tree.filter(path -> path.toString().endsWith(".java")).toList();
    }
    assertThat(sources).hasSizeGreaterThan(30);
    for (Path source : sources) {
      assertThat(isSynchronized(Files.readString(source))).as(source.toString()).isFalse();
    }
  }

  @Test
  void synchronizedBlock_isSeen_butNotTheWordAlone() throws IOException {
    assertThat(isSynchronized("void f() { synchronized (this) {} }")).isTrue();
    assertThat(isSynchronized("/* a */ synchronized(lock) { } // b")).isTrue();
    assertThat(isSynchronized("char c = '\"'; synchronized (x) {} String s = \"\";")).isTrue();
    assertThat(
            isSynchronized(
                Files.readString(
                    Path.of("src/test/java/dev/paddock/badexamples/HasSynchronizedMethods.java"))))
        .isTrue();
    assertThat(isSynchronized("// no synchronized here\nint synchronizedAt;")).isFalse();
    assertThat(isSynchronized("/** synchronized */ String s = \"synchronized \\\" x\";")).isFalse();
  }
}
