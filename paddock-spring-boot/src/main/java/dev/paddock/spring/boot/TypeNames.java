/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spring.boot;

import java.lang.reflect.GenericArrayType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.util.ArrayList;
import java.util.List;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;

/** The text of types: {@code java.util.List<com.example.Post>}. */
final class TypeNames {
  private TypeNames() {}

  /** Returns the name of a type, the same for equal types of different makers. */
  static String of(Type type) {
    if (type instanceof ParameterizedType parameterized) {
      StringBuilder text = new StringBuilder(of(parameterized.getRawType())).append('<');
      String separator = "";
      for (Type argument : parameterized.getActualTypeArguments()) {
        text.append(separator).append(of(argument));
        separator = ",";
      }
      return text.append('>').toString();
    }
    if (type instanceof GenericArrayType array) {
      return of(array.getGenericComponentType()) + "[]";
    }
    return type.getTypeName();
  }

  /** Tells whether a type leaves nothing open, so that what is stored can't choose a class. */
  static boolean isClosed(Type type) {
    if (type instanceof TypeVariable<?>) {
      return false;
    }
    if (type instanceof WildcardType wildcard) {
      return isClosed(wildcard.getUpperBounds()[0]);
    }
    return !type.equals(Object.class);
  }

  /**
   * Reads a type.
   *
   * @throws IllegalArgumentException if the text is malformed or names no class
   */
  static Type parse(String text, ClassLoader loader) {
    Parser parser = new Parser(text, loader);
    ResolvableType type = parser.type();
    if (parser.at < text.length()) {
      throw parser.malformed();
    }
    return type.getType();
  }

  private static final class Parser {
    private final String text;
    private final ClassLoader loader;
    private int at;

    Parser(String text, ClassLoader loader) {
      this.text = text;
      this.loader = loader;
    }

    ResolvableType type() {
      int from = at;
      while (at < text.length() && "<>,".indexOf(text.charAt(at)) < 0) {
        at++;
      }
      Class<?> raw = load(text.substring(from, at).trim());
      List<ResolvableType> arguments = new ArrayList<>();
      if (at < text.length() && text.charAt(at) == '<') {
        do {
          at++;
          arguments.add(type());
        } while (at < text.length() && text.charAt(at) == ',');
        if (at == text.length() || text.charAt(at) != '>') {
          throw malformed();
        }
        at++;
      }
      if (arguments.size() != raw.getTypeParameters().length) {
        throw new IllegalArgumentException(
            raw.getName()
                + " takes "
                + raw.getTypeParameters().length
                + " type arguments, not "
                + arguments.size());
      }
      return arguments.isEmpty()
          ? ResolvableType.forClass(raw)
          : ResolvableType.forClassWithGenerics(raw, arguments.toArray(new ResolvableType[0]));
    }

    private Class<?> load(String name) {
      try {
        return ClassUtils.forName(name, loader);
      } catch (ClassNotFoundException | LinkageError e) {
        throw new IllegalArgumentException("there is no class \"" + name + "\"", e);
      }
    }

    IllegalArgumentException malformed() {
      return new IllegalArgumentException(
          "\"" + text + "\" is no type such as java.util.List<com.example.Post>");
    }
  }
}
