/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spring.boot;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.paddock.KeyFormat;
import dev.paddock.KeyFormats;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.RecordComponent;
import java.math.BigDecimal;
import java.net.URI;
import java.time.ZoneId;
import java.time.temporal.TemporalAccessor;
import java.time.temporal.TemporalAmount;
import java.util.Currency;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.cache.interceptor.SimpleKey;
import org.springframework.util.ReflectionUtils;

/**
 * Turns the keys of Spring's cache into bytes. What core's standard format takes stays as it is
 * there; several parameters are {@code (eu,42)}, and so are lists and arrays; a record is {@code
 * Route(a,b)}. Different keys give different text: commas, parentheses and backslashes inside parts
 * are escaped by a backslash, and so is a parenthesis or a backslash at the head of a text.
 */
final class SpringKeys implements KeyFormat<Object> {
  static final SpringKeys INSTANCE = new SpringKeys();

  /** Spring has no accessor for them, and its toString does not keep them apart. */
  private static final @Nullable Field PARAMETERS = parameters();

  private static final KeyFormat<Object> STANDARD = KeyFormats.standard();

  private SpringKeys() {}

  private static @Nullable Field parameters() {
    Field field = ReflectionUtils.findField(SimpleKey.class, "params", Object[].class);
    if (field != null) {
      ReflectionUtils.makeAccessible(field);
    }
    return field;
  }

  @Override
  public byte[] format(Object key) {
    if (isCompound(key)) {
      return KeyFormats.utf8(compound(key));
    }
    if (key instanceof byte[] bytes) {
      return bytes.clone();
    }
    String text = single(key);
    if (!text.isEmpty() && (text.charAt(0) == '(' || text.charAt(0) == '\\')) {
      text = "\\" + text;
    }
    return KeyFormats.utf8(text);
  }

  private static boolean isCompound(Object key) {
    return key instanceof SimpleKey
        || key instanceof List<?>
        || key instanceof Record
        || (key.getClass().isArray() && !(key instanceof byte[]));
  }

  private static String compound(Object key) {
    if (key instanceof SimpleKey simple) {
      return join("", parametersOf(simple));
    }
    if (key instanceof List<?> list) {
      return join("", list.toArray());
    }
    if (key instanceof Record) {
      return "\\" + join(key.getClass().getSimpleName(), componentsOf(key));
    }
    Object[] parts = new Object[Array.getLength(key)];
    for (int i = 0; i < parts.length; i++) {
      parts[i] = Array.get(key, i);
    }
    return join("", parts);
  }

  private static String join(String name, @Nullable Object[] parts) {
    StringBuilder text = new StringBuilder(name).append('(');
    String separator = "";
    for (Object part : parts) {
      text.append(separator);
      separator = ",";
      if (part == null) {
        text.append("\\0");
      } else if (isCompound(part)) {
        text.append(compound(part));
      } else {
        escape(single(part), text);
      }
    }
    return text.append(')').toString();
  }

  private static void escape(String part, StringBuilder text) {
    for (int i = 0; i < part.length(); i++) {
      char c = part.charAt(i);
      if (c == ',' || c == '(' || c == ')' || c == '\\') {
        text.append('\\');
      }
      text.append(c);
    }
  }

  private static String single(Object key) {
    if (key instanceof TemporalAccessor
        || key instanceof TemporalAmount
        || key instanceof ZoneId
        || key instanceof BigDecimal
        || key instanceof Double
        || key instanceof Float
        || key instanceof Currency
        || key instanceof URI) {
      return key.toString();
    }
    if (key instanceof Locale locale) {
      return locale.toLanguageTag();
    }
    if (key instanceof Class<?> type) {
      return type.getName();
    }
    if (key instanceof byte[] bytes) {
      return HexFormat.of().formatHex(bytes);
    }
    if (key instanceof Optional<?> optional) {
      return optional.map(SpringKeys::single).orElse("");
    }
    try {
      return new String(STANDARD.format(key), UTF_8);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "a key of type "
              + key.getClass().getName()
              + " has no safe text: give the annotation a key, key = \"#p0.id\" for example, use a"
              + " record, or set a key format by a PaddockCacheCustomizer",
          e);
    }
  }

  private static @Nullable Object[] parametersOf(SimpleKey key) {
    if (PARAMETERS == null) {
      throw new IllegalStateException(
          "the parameters of Spring's SimpleKey can't be read: give the annotation a key");
    }
    @Nullable Object[] found = (Object[]) ReflectionUtils.getField(PARAMETERS, key);
    if (found == null) {
      throw new IllegalStateException("Spring's SimpleKey has no parameters");
    }
    return found;
  }

  private static @Nullable Object[] componentsOf(Object key) {
    RecordComponent[] components = key.getClass().getRecordComponents();
    @Nullable Object[] values = new @Nullable Object[components.length];
    for (int i = 0; i < components.length; i++) {
      try {
        ReflectionUtils.makeAccessible(components[i].getAccessor());
        values[i] = components[i].getAccessor().invoke(key);
      } catch (IllegalAccessException | InvocationTargetException e) {
        throw new IllegalArgumentException(
            "the components of " + key.getClass().getName() + " can't be read", e);
      }
    }
    return values;
  }
}
