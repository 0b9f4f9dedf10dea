/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spring.boot;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.paddock.Codec;
import dev.paddock.CodecException;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZonedDateTime;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.core.ResolvableType;

/**
 * The types that one cache may hold, and the codec of its values: the name of the type, a line
 * feed, and what the codec of that type makes. A name that is read is looked up among those types,
 * never among classes, so what is stored can't choose what is instantiated.
 *
 * <p>Types may be added while the cache is in use: beans that bring them may be made late.
 */
final class ValueTypes implements Codec<Object> {
  /** Values that need no declaration: what is put by hand, mostly. */
  private static final List<Class<?>> BASIC =
      List.of(
          String.class,
          Boolean.class,
          Character.class,
          Byte.class,
          Short.class,
          Integer.class,
          Long.class,
          Float.class,
          Double.class,
          BigDecimal.class,
          BigInteger.class,
          byte[].class,
          UUID.class,
          URI.class,
          Instant.class,
          LocalDate.class,
          LocalDateTime.class,
          LocalTime.class,
          OffsetDateTime.class,
          ZonedDateTime.class,
          Duration.class);

  private static final int NAME_MAX = 2_000;
  private static final Log log = LogFactory.getLog(PaddockCacheManager.class);

  private final String cache;
  private final Map<String, Known> declared = new ConcurrentHashMap<>();
  private final Map<String, Known> basic = new ConcurrentHashMap<>();
  private final Map<Class<?>, Known> byClass = new ConcurrentHashMap<>();
  private final Map<String, String> open = new ConcurrentHashMap<>();
  private volatile ValueCodecs codecs = UnknownCodecs.INSTANCE;
  private volatile int version;

  ValueTypes(String cache) {
    this.cache = cache;
    for (Class<?> type : BASIC) {
      basic.put(TypeNames.of(type), new Known(type, type));
    }
  }

  /** Sets how values are encoded; before the cache is used. */
  void useCodecs(ValueCodecs chosen, int schemaVersion) {
    codecs = chosen;
    version = schemaVersion;
  }

  /**
   * Allows a type.
   *
   * @param type the type
   * @param source what brought it, for messages
   */
  void declare(Type type, String source) {
    if (!TypeNames.isClosed(type)) {
      open.put(source, TypeNames.of(type));
      return;
    }
    Class<?> raw = ResolvableType.forType(type).toClass();
    declared.computeIfAbsent(TypeNames.of(type), name -> new Known(type, raw)).addSource(source);
    byClass.clear();
  }

  /**
   * Finds what can't work.
   *
   * @throws IllegalStateException if a method's type says nothing, two types can't be told apart,
   *     or one can't be encoded; the message names methods and says what to do
   */
  void check() {
    if (!open.isEmpty() && declared.isEmpty()) {
      throw new IllegalStateException(
          "cache \""
              + cache
              + "\": the return type of "
              + String.join(", ", open.keySet())
              + " is "
              + String.join(", ", open.values())
              + ", which does not say what is stored. Return the type itself, or name the types of"
              + " the values by the property paddock.caches."
              + cache
              + ".types[0] and so on");
    }
    Map<Class<?>, Known> seen = new LinkedHashMap<>();
    for (Known known : declared.values()) {
      Known other = seen.putIfAbsent(known.raw, known);
      if (other != null) {
        throw new IllegalStateException(
            "cache \""
                + cache
                + "\" holds "
                + other
                + " and "
                + known
                + ": a value does not say which of the two it is. Use a cache for each");
      }
    }
    for (Known known : declared.values()) {
      try {
        known.codec();
      } catch (RuntimeException e) {
        throw new IllegalStateException(
            "cache \"" + cache + "\" can't hold " + known + ": " + e.getMessage(), e);
      }
    }
  }

  @Override
  public int schemaVersion() {
    return version;
  }

  @Override
  public byte[] encode(Object value) {
    Known known = byClass.computeIfAbsent(value.getClass(), this::find);
    byte[] payload = known.codec().encode(value);
    byte[] name = known.name;
    byte[] all = Arrays.copyOf(name, name.length + 1 + payload.length);
    all[name.length] = '\n';
    System.arraycopy(payload, 0, all, name.length + 1, payload.length);
    return all;
  }

  @Override
  public Object decode(byte[] payload) {
    int end = 0;
    while (end < payload.length && end < NAME_MAX && payload[end] != '\n') {
      end++;
    }
    if (end == payload.length || payload[end] != '\n') {
      throw new CodecException("the payload does not begin with the name of a type", null);
    }
    String name = new String(payload, 0, end, UTF_8);
    Known known = declared.get(name);
    if (known == null) {
      known = basic.get(name);
    }
    if (known == null) {
      // The name is left out: it may be anything.
      throw new CodecException("the payload is of a type that this cache does not hold", null);
    }
    return known.codec().decode(Arrays.copyOfRange(payload, end + 1, payload.length));
  }

  private Known find(Class<?> type) {
    Known best = null;
    for (Known known : declared.values()) {
      if (known.raw == type) {
        return known;
      }
      if (known.raw.isAssignableFrom(type)) {
        if (best == null || best.raw.isAssignableFrom(known.raw)) {
          best = known;
        } else if (!known.raw.isAssignableFrom(best.raw)) {
          throw refused(type, "could be " + best + " or " + known);
        }
      }
    }
    if (best == null) {
      best = basic.get(TypeNames.of(type));
    }
    if (best == null) {
      throw refused(type, "is none of its types " + declared.keySet());
    }
    return best;
  }

  private CodecException refused(Class<?> type, String why) {
    String message =
        "a value of "
            + type.getName()
            + " is not stored in cache \""
            + cache
            + "\": it "
            + why
            + ". Name its type by the property paddock.caches."
            + cache
            + ".types";
    // The caller of a load gets its value all the same, and would never know.
    log.warn(message);
    return new CodecException(message, null);
  }

  private final class Known {
    private final Type type;
    private final Class<?> raw;
    private final byte[] name;
    private final Map<String, Boolean> sources = new ConcurrentHashMap<>();
    private volatile @org.jspecify.annotations.Nullable Codec<Object> codec;

    Known(Type type, Class<?> raw) {
      this.type = type;
      this.raw = raw;
      this.name = TypeNames.of(type).getBytes(UTF_8);
    }

    void addSource(String source) {
      sources.put(source, true);
    }

    /** Made late: a class of no use to anybody may be one that JSON can't hold. */
    @SuppressWarnings("unchecked") // a codec of what the cache declares
    Codec<Object> codec() {
      Codec<Object> made = codec;
      if (made == null) {
        made = (Codec<Object>) codecs.codecOf(type);
        codec = made;
      }
      return made;
    }

    @Override
    public String toString() {
      return TypeNames.of(type)
          + (sources.isEmpty() ? "" : " (" + String.join(", ", sources.keySet()) + ")");
    }
  }

  /** In the place of codecs before there are any. */
  private enum UnknownCodecs implements ValueCodecs {
    INSTANCE;

    @Override
    public Codec<?> codecOf(Type type) {
      throw new IllegalStateException("the cache is not open yet");
    }
  }
}
