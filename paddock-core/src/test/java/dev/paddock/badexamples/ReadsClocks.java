/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.badexamples;

import java.time.Clock;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.Calendar;
import java.util.Date;
import java.util.GregorianCalendar;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

final class ReadsClocks {
  long nanoTime() {
    return System.nanoTime();
  }

  long currentTimeMillis() {
    return System.currentTimeMillis();
  }

  LongSupplier reference() {
    return System::nanoTime;
  }

  LongSupplier lambda() {
    return () -> System.nanoTime() / 1000;
  }

  Instant instant() {
    return Instant.now();
  }

  LocalDate localDate() {
    return LocalDate.now(ZoneId.of("UTC"));
  }

  LocalDateTime localDateTime() {
    return LocalDateTime.now(ZoneId.of("UTC"));
  }

  LocalTime localTime() {
    return LocalTime.now(ZoneId.of("UTC"));
  }

  OffsetDateTime offsetDateTime() {
    return OffsetDateTime.now(ZoneId.of("UTC"));
  }

  OffsetTime offsetTime() {
    return OffsetTime.now(ZoneId.of("UTC"));
  }

  ZonedDateTime zonedDateTime() {
    return ZonedDateTime.now(ZoneId.of("UTC"));
  }

  Year year() {
    return Year.now(ZoneId.of("UTC"));
  }

  YearMonth yearMonth() {
    return YearMonth.now(ZoneId.of("UTC"));
  }

  Instant byClock() {
    return Clock.systemUTC().instant();
  }

  Supplier<Instant> instantReference() {
    return Instant::now;
  }

  @SuppressWarnings("JavaUtilDate") // It is what the rule is about.
  Date date() {
    return new Date();
  }

  Calendar calendar() {
    return Calendar.getInstance();
  }

  Calendar gregorian() {
    return new GregorianCalendar();
  }
}
