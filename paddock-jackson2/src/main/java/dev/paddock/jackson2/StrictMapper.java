/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.jackson2;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonIgnoreType;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.OptBoolean;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.cfg.CoercionAction;
import com.fasterxml.jackson.databind.cfg.CoercionInputShape;
import com.fasterxml.jackson.databind.introspect.AnnotatedMember;
import com.fasterxml.jackson.databind.introspect.AnnotatedParameter;
import com.fasterxml.jackson.databind.introspect.JacksonAnnotationIntrospector;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.type.LogicalType;
import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import com.fasterxml.jackson.module.paramnames.ParameterNamesModule;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Executable;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The mapper of codecs that are given none. A cache reads only what a cache wrote, so whatever does
 * not fit is a sign of corruption or of another version: better a miss than a value that is half
 * made of defaults.
 */
final class StrictMapper {
  static final JsonMapper INSTANCE = create();

  private StrictMapper() {}

  private static JsonMapper create() {
    return JsonMapper.builder()
        .addModules(new Jdk8Module(), new JavaTimeModule(), new ParameterNamesModule())
        // What Jackson 3 does by default.
        .disable(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS)
        .disable(SerializationFeature.WRITE_DURATIONS_AS_TIMESTAMPS)
        .enable(SerializationFeature.WRITE_ENUMS_USING_TO_STRING)
        .enable(DeserializationFeature.READ_ENUMS_USING_TO_STRING)
        .disable(MapperFeature.USE_GETTERS_AS_SETTERS)
        .disable(MapperFeature.ALLOW_FINAL_FIELDS_AS_MUTATORS)
        .annotationIntrospector(new MissingIsRefused())
        // While a deployment rolls, the newer version writes properties that the older one reads.
        .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
        .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
        // No text where a number should be, no 1.5 read as 1, no 7 read as the eighth constant.
        .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
        .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
        .enable(DeserializationFeature.FAIL_ON_NUMBERS_FOR_ENUMS)
        .withCoercionConfig(
            LogicalType.Textual,
            text ->
                text.setCoercion(CoercionInputShape.Integer, CoercionAction.Fail)
                    .setCoercion(CoercionInputShape.Float, CoercionAction.Fail)
                    .setCoercion(CoercionInputShape.Boolean, CoercionAction.Fail))
        // An object without properties would be stored as {} and come back empty.
        .enable(SerializationFeature.FAIL_ON_EMPTY_BEANS)
        // What was +02:00 or Europe/Paris comes back as such, not as UTC.
        .disable(DeserializationFeature.ADJUST_DATES_TO_CONTEXT_TIME_ZONE)
        .enable(SerializationFeature.WRITE_DATES_WITH_ZONE_ID)
        .build();
  }

  /**
   * Makes the parameters of records and other constructors required, except where the type says
   * that there may be nothing, and where annotations say that the property is left out when it is
   * written: a value must never be written in a form that is refused when it is read.
   */
  private static final class MissingIsRefused extends JacksonAnnotationIntrospector {
    private static final long serialVersionUID = 1;

    @Override
    public @Nullable Boolean hasRequiredMarker(AnnotatedMember member) {
      JsonProperty property = member.getAnnotation(JsonProperty.class);
      if (property != null && property.isRequired() != OptBoolean.DEFAULT) {
        return property.isRequired().asBoolean();
      }
      if (member instanceof AnnotatedParameter parameter && !mayBeMissing(parameter, property)) {
        return Boolean.TRUE;
      }
      return super.hasRequiredMarker(member);
    }

    private static boolean mayBeMissing(
        AnnotatedParameter parameter, @Nullable JsonProperty property) {
      Class<?> type = parameter.getRawType();
      if (type == Optional.class
          || type == OptionalInt.class
          || type == OptionalLong.class
          || type == OptionalDouble.class
          || type.isAnnotationPresent(JsonIgnoreType.class)) {
        return true;
      }
      Class<?> owner = parameter.getDeclaringClass();
      if (leavesOut(owner.getAnnotation(JsonInclude.class))
          || leavesOut(parameter.getAnnotation(JsonInclude.class))
          || hasAccess(property)) {
        return true;
      }
      // An annotation that ignores a field or a getter does not reach the parameter.
      String name = javaName(parameter, property);
      JsonIgnoreProperties ignored = owner.getAnnotation(JsonIgnoreProperties.class);
      if (ignored != null
          && (Arrays.asList(ignored.value()).contains(name)
              || (property != null && Arrays.asList(ignored.value()).contains(property.value())))) {
        return true;
      }
      String capitalized =
          name.isEmpty() ? name : Character.toUpperCase(name.charAt(0)) + name.substring(1);
      return Stream.concat(
              Arrays.stream(owner.getDeclaredFields()).filter(f -> f.getName().equals(name)),
              Arrays.stream(owner.getDeclaredMethods())
                  .filter(m -> m.getParameterCount() == 0)
                  .filter(
                      m ->
                          m.getName().equals(name)
                              || m.getName().equals("get" + capitalized)
                              || m.getName().equals("is" + capitalized)))
          .anyMatch(MissingIsRefused::leavesOut);
    }

    private static String javaName(AnnotatedParameter parameter, @Nullable JsonProperty property) {
      RecordComponent[] components = parameter.getDeclaringClass().getRecordComponents();
      if (components != null && parameter.getIndex() < components.length) {
        return components[parameter.getIndex()].getName();
      }
      if (property != null && !property.value().isEmpty()) {
        return property.value();
      }
      return parameter.getOwner().getAnnotated() instanceof Executable executable
          ? executable.getParameters()[parameter.getIndex()].getName()
          : "";
    }

    private static boolean leavesOut(AnnotatedElement member) {
      JsonIgnore ignore = member.getAnnotation(JsonIgnore.class);
      return (ignore != null && ignore.value())
          || hasAccess(member.getAnnotation(JsonProperty.class))
          || leavesOut(member.getAnnotation(JsonInclude.class));
    }

    private static boolean hasAccess(@Nullable JsonProperty property) {
      return property != null && property.access() != JsonProperty.Access.AUTO;
    }

    private static boolean leavesOut(@Nullable JsonInclude include) {
      return include != null && include.value() != JsonInclude.Include.ALWAYS;
    }
  }
}
