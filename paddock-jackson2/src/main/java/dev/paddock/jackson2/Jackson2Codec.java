/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.jackson2;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.cfg.MapperConfig;
import com.fasterxml.jackson.databind.exc.InvalidDefinitionException;
import dev.paddock.Codec;
import dev.paddock.CodecException;
import java.io.IOException;
import java.lang.reflect.Field;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Stores values as JSON, by Jackson 2: records, classes with a constructor or setters, {@code
 * java.time}, {@link java.util.Optional}, enums, collections and maps of them.
 *
 * <p>What is read is always of the type that was named here; JSON never chooses a Java class. A
 * mapper with default typing is refused therefore. A base type whose subtypes are named by {@code
 * JsonTypeInfo} and {@code JsonSubTypes} works; name them by {@code Id.NAME} there, never by class.
 *
 * <p>Codecs that are given no mapper are strict, because what does not fit is corrupt or of another
 * version, and then a miss is better than a value that is half made of defaults:
 *
 * <ul>
 *   <li>Unknown properties are ignored, so that while a deployment rolls, the old version reads
 *       what the new one wrote.
 *   <li>A component of a record, or a constructor parameter, that is missing makes the payload
 *       unreadable, so the new version does not read what the old one wrote. To let it, declare the
 *       new component as an {@code Optional} (missing is then empty) or with {@code
 *       JsonProperty(isRequired = OptBoolean.FALSE)}. Properties set by setters can always be
 *       missing. Written nulls are read as null.
 *   <li>Numbers, text, booleans and enum constants are not converted into each other.
 *   <li>Offsets and zones of {@code java.time} are kept.
 *   <li>An object without any property is not encoded.
 * </ul>
 *
 * <p>A change of a type that Jackson can't see (the same property with another meaning) needs
 * another {@link #withSchemaVersion schema version}.
 *
 * <p>Whatever the mapper, a payload that is empty, the JSON {@code null}, truncated, or followed by
 * anything but white space is refused, and so is a value that would be encoded as {@code null}, for
 * example an empty {@code Optional}: let the loader return null instead. Messages of exceptions and
 * of their causes name types and properties and never quote the value or the payload; messages of
 * Jackson are left out for that reason.
 *
 * <p>The codecs that are given no mapper write what those of {@code paddock-jackson} (Jackson 3)
 * write, so that an application can change from one to the other with its cache filled.
 *
 * <p>Immutable and thread-safe.
 *
 * @param <V> the type of the values
 */
public final class Jackson2Codec<V> implements Codec<V> {
  private static final int MAX_SCHEMA_VERSION = 999_999_999;
  private static final int MAX_PATH = 10;
  private static final int MAX_CAUSES = 10;

  private final JavaType type;
  private final ObjectWriter writer;
  private final ObjectReader reader;
  private final int schemaVersion;

  private Jackson2Codec(JavaType type, ObjectWriter writer, ObjectReader reader, int version) {
    this.type = type;
    this.writer = writer;
    this.reader = reader;
    this.schemaVersion = version;
  }

  /**
   * Makes a codec for a class that has no type parameters.
   *
   * @param <V> the type of the values
   * @param type the class, for example of a record
   * @return a codec with schema version 0
   * @throws IllegalArgumentException if the class is generic, is {@code Object}, or Jackson can't
   *     read it
   */
  public static <V> Jackson2Codec<V> of(Class<V> type) {
    return of(StrictMapper.INSTANCE, type);
  }

  /**
   * Makes a codec for any type: {@code Jackson2Codec.of(new TypeReference<List<Post>>() {})}.
   *
   * @param <V> the type of the values
   * @param type the type
   * @return a codec with schema version 0
   * @throws IllegalArgumentException if the type is {@code Object}, or Jackson can't read it
   */
  public static <V> Jackson2Codec<V> of(TypeReference<V> type) {
    return of(StrictMapper.INSTANCE, type);
  }

  /**
   * Makes a codec with an application's own mapper, whose settings hold, except that trailing
   * tokens are refused in any case.
   *
   * @param <V> the type of the values
   * @param mapper the mapper, without default typing
   * @param type the class, for example of a record
   * @return a codec with schema version 0
   * @throws IllegalArgumentException if the mapper has default typing, the class is generic, is
   *     {@code Object}, or Jackson can't read it
   */
  public static <V> Jackson2Codec<V> of(ObjectMapper mapper, Class<V> type) {
    if (type.getTypeParameters().length > 0) {
      throw new IllegalArgumentException(
          type.getName()
              + " has type parameters, which a Class does not hold: use"
              + " Jackson2Codec.of(new TypeReference<"
              + type.getSimpleName()
              + "<...>>() {})");
    }
    return of(mapper, mapper.constructType(type));
  }

  /**
   * Makes a codec for any type with an application's own mapper, whose settings hold, except that
   * trailing tokens are refused in any case.
   *
   * @param <V> the type of the values
   * @param mapper the mapper, without default typing
   * @param type the type
   * @return a codec with schema version 0
   * @throws IllegalArgumentException if the mapper has default typing, the type is {@code Object},
   *     or Jackson can't read it
   */
  public static <V> Jackson2Codec<V> of(ObjectMapper mapper, TypeReference<V> type) {
    return of(mapper, mapper.constructType(type));
  }

  private static <V> Jackson2Codec<V> of(ObjectMapper mapper, JavaType type) {
    if (type.isJavaLangObject()) {
      throw new IllegalArgumentException(
          "java.lang.Object says nothing about the type of the values: name the type itself");
    }
    refuseDefaultTyping(mapper.getSerializationConfig(), type);
    refuseDefaultTyping(mapper.getDeserializationConfig(), type);
    ObjectReader reader =
        mapper
            .readerFor(type)
            .with(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .without(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION);
    refuseUnreadable(reader, type);
    return new Jackson2Codec<>(type, mapper.writerFor(type), reader, 0);
  }

  private static void refuseDefaultTyping(MapperConfig<?> config, JavaType type) {
    Class<?> mixIn = config.findMixInClassFor(Object.class);
    JsonTypeInfo info = mixIn == null ? null : mixIn.getAnnotation(JsonTypeInfo.class);
    if (config.getDefaultTyper(type) != null
        || (info != null && info.use() != JsonTypeInfo.Id.NONE)) {
      throw new IllegalArgumentException(
          "the mapper has default typing, by which whoever can write to the store chooses the Java"
              + " classes that are instantiated: give the codec for "
              + type.toCanonical()
              + " a mapper without it, mapper.copy().deactivateDefaultTyping() for"
              + " example, and annotate base types with JsonTypeInfo(use = NAME)");
    }
  }

  /** A type that can be written but never read would miss for ever, and only metrics would tell. */
  private static void refuseUnreadable(ObjectReader reader, JavaType type) {
    try {
      reader.readValue("null");
      if (type.isAbstract() && !type.isPrimitive() && !type.isContainerType()) {
        reader.readValue("{}");
      }
    } catch (InvalidDefinitionException e) {
      // No value is involved yet, so the message can't quote one.
      throw new IllegalArgumentException(
          "Jackson can't read values of type " + type.toCanonical() + ": " + e.getOriginalMessage(),
          e);
    } catch (JsonProcessingException | RuntimeException e) {
      // The probe is no value of the type; all that matters is that Jackson knows what would be.
      return;
    }
  }

  /**
   * Returns a codec that says that its payloads are of another version of the type. Raise it with
   * each change of the type that the old version would misread; stored values of other versions
   * count as missing.
   *
   * @param version 0 to 999,999,999
   * @return a copy
   * @throws IllegalArgumentException if the version is out of range
   */
  public Jackson2Codec<V> withSchemaVersion(int version) {
    if (version < 0 || version > MAX_SCHEMA_VERSION) {
      throw new IllegalArgumentException(
          "schemaVersion must be between 0 and " + MAX_SCHEMA_VERSION + ", is " + version);
    }
    return new Jackson2Codec<>(type, writer, reader, version);
  }

  @Override
  public int schemaVersion() {
    return schemaVersion;
  }

  @Override
  public byte[] encode(V value) {
    requireNonNull(value, "value");
    byte[] payload;
    try {
      payload = writer.writeValueAsBytes(value);
    } catch (JsonProcessingException | RuntimeException e) {
      throw failure("can't encode a value of type " + type.toCanonical() + " as JSON", e);
    }
    if (isJsonNull(payload)) {
      throw new CodecException(
          "a value of type "
              + type.toCanonical()
              + " would be encoded as JSON null, which is never a payload: return null itself",
          null);
    }
    return payload;
  }

  @Override
  public V decode(byte[] payload) {
    if (payload.length == 0) {
      throw new CodecException("an empty payload is no " + type.toCanonical() + " as JSON", null);
    }
    if (isJsonNull(payload)) {
      throw new CodecException(
          "the payload is JSON null, which is never a " + type.toCanonical(), null);
    }
    @Nullable V value;
    try {
      value = reader.readValue(payload);
    } catch (IOException | RuntimeException e) {
      throw failure(
          "can't decode a payload of "
              + payload.length
              + " bytes as JSON of type "
              + type.toCanonical(),
          e);
    }
    if (value == null) {
      throw new CodecException("the payload was decoded to null, no " + type.toCanonical(), null);
    }
    return value;
  }

  @Override
  public String toString() {
    return "Jackson2Codec[" + type.toCanonical() + ", schemaVersion=" + schemaVersion + "]";
  }

  private static boolean isJsonNull(byte[] payload) {
    int from = 0;
    int to = payload.length;
    while (from < to && isWhiteSpace(payload[from])) {
      from++;
    }
    while (to > from && isWhiteSpace(payload[to - 1])) {
      to--;
    }
    return to - from == 4
        && payload[from] == 'n'
        && payload[from + 1] == 'u'
        && payload[from + 2] == 'l'
        && payload[from + 3] == 'l';
  }

  private static boolean isWhiteSpace(byte b) {
    return b == ' ' || b == '\n' || b == '\r' || b == '\t';
  }

  private static CodecException failure(String what, Exception e) {
    StringBuilder message =
        new StringBuilder(what).append(": ").append(e.getClass().getSimpleName());
    if (e instanceof InvalidDefinitionException definition && definition.getType() != null) {
      message.append(" about ").append(definition.getType().toCanonical());
    }
    if (e instanceof JsonMappingException mapping && !mapping.getPath().isEmpty()) {
      message.append(" at ");
      appendPath(message, mapping);
    }
    if (e instanceof JsonProcessingException jackson) {
      if (jackson.getLocation() != null && jackson.getLocation().getByteOffset() >= 0) {
        message.append(", byte ").append(jackson.getLocation().getByteOffset());
      }
    }
    return new CodecException(message.toString(), Redacted.of(e, MAX_CAUSES));
  }

  /** Keys of maps are data, so only names that the class itself declares are shown. */
  private static void appendPath(StringBuilder message, JsonMappingException e) {
    int shown = 0;
    for (JsonMappingException.Reference step : e.getPath()) {
      if (shown == MAX_PATH) {
        message.append("...");
        return;
      }
      Class<?> owner = classOf(step.getFrom());
      if (shown == 0) {
        message.append(owner.getSimpleName());
      }
      String name = step.getFieldName();
      if (name == null) {
        message.append('[').append(step.getIndex()).append(']');
      } else {
        message.append('.').append(declares(owner, name) ? name : "?");
      }
      shown++;
    }
  }

  private static Class<?> classOf(Object from) {
    return from instanceof Class<?> c ? c : from.getClass();
  }

  private static boolean declares(Class<?> owner, String name) {
    for (Class<?> c = owner; c != null && c != Object.class; c = c.getSuperclass()) {
      for (Field field : c.getDeclaredFields()) {
        if (field.getName().equals(name)) {
          return !Map.class.isAssignableFrom(owner);
        }
      }
    }
    return false;
  }

  /** Stands for a cause: its class and its stack trace, without its message. */
  private static final class Redacted extends RuntimeException {
    private static final long serialVersionUID = 1;

    private Redacted(String message, @Nullable Throwable cause) {
      super(message, cause);
    }

    static Redacted of(Throwable original, int depth) {
      Throwable cause = original.getCause();
      Redacted redacted =
          new Redacted(
              original.getClass().getName() + ", whose message is left out: it may quote the value",
              cause == null || depth == 0 ? null : of(cause, depth - 1));
      redacted.setStackTrace(original.getStackTrace());
      return redacted;
    }
  }
}
