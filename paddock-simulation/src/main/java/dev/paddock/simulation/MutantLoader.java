/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.simulation;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;

/** Loads all of Paddock once more, with one class or script of it changed. */
final class MutantLoader extends ClassLoader {
  private static final String OURS = "dev.paddock.";

  private final Map<String, byte[]> classes;
  private final Map<String, byte[]> resources;

  private MutantLoader(Map<String, byte[]> classes, Map<String, byte[]> resources) {
    super("mutant", MutantLoader.class.getClassLoader());
    this.classes = classes;
    this.resources = resources;
  }

  static MutantLoader of(Mutation mutation, String source) throws IOException {
    return mutation.isScript()
        ? new MutantLoader(
            Map.of(), Map.of(mutation.target(), source.getBytes(StandardCharsets.UTF_8)))
        : new MutantLoader(compile(mutation, source), Map.of());
  }

  private static Map<String, byte[]> compile(Mutation mutation, String source) throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    if (compiler == null) {
      throw new IllegalStateException("this Java has no compiler: a JDK is needed");
    }
    DiagnosticCollector<JavaFileObject> problems = new DiagnosticCollector<>();
    try (StandardJavaFileManager standard =
            compiler.getStandardFileManager(problems, null, StandardCharsets.UTF_8);
        InMemory files = new InMemory(standard)) {
      boolean done =
          compiler
              .getTask(
                  null,
                  files,
                  problems,
                  List.of("-classpath", System.getProperty("java.class.path"), "-proc:none"),
                  null,
                  List.of(new Source(mutation.target(), source)))
              .call();
      if (!done) {
        throw new IllegalStateException(
            "mutation "
                + mutation.name()
                + " does not compile: "
                + problems.getDiagnostics().stream()
                    .filter(each -> each.getKind() == Diagnostic.Kind.ERROR)
                    .findFirst());
      }
      return files.classes();
    }
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!name.startsWith(OURS)) {
      return super.loadClass(name, resolve);
    }
    synchronized (getClassLoadingLock(name)) {
      Class<?> known = findLoadedClass(name);
      if (known != null) {
        return known;
      }
      byte[] bytes = classes.get(name);
      if (bytes == null) {
        try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
          if (in == null) {
            throw new ClassNotFoundException(name);
          }
          bytes = in.readAllBytes();
        } catch (IOException e) {
          throw new ClassNotFoundException(name, e);
        }
      }
      return defineClass(name, bytes, 0, bytes.length);
    }
  }

  @Override
  public @Nullable InputStream getResourceAsStream(String name) {
    byte[] changed = resources.get(name);
    return changed != null ? new ByteArrayInputStream(changed) : super.getResourceAsStream(name);
  }

  private static final class Source extends SimpleJavaFileObject {
    private final String text;

    Source(String className, String text) {
      super(
          URI.create("string:///" + className.replace('.', '/') + Kind.SOURCE.extension),
          Kind.SOURCE);
      this.text = text;
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
      return text;
    }
  }

  private static final class InMemory extends ForwardingJavaFileManager<JavaFileManager> {
    private final Map<String, ByteArrayOutputStream> out = new HashMap<>();

    InMemory(JavaFileManager files) {
      super(files);
    }

    @Override
    public JavaFileObject getJavaFileForOutput(
        Location location, String className, JavaFileObject.Kind kind, @Nullable FileObject from) {
      return new SimpleJavaFileObject(
          URI.create("mem:///" + className.replace('.', '/') + kind.extension), kind) {
        @Override
        public OutputStream openOutputStream() {
          ByteArrayOutputStream bytes = new ByteArrayOutputStream();
          out.put(className, bytes);
          return bytes;
        }
      };
    }

    Map<String, byte[]> classes() {
      Map<String, byte[]> all = new HashMap<>();
      out.forEach((name, bytes) -> all.put(name, bytes.toByteArray()));
      return all;
    }
  }
}
