/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.core.AppenderBase;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.slf4j.LoggerFactory;

/**
 * Collects what is logged, at DEBUG: Lettuce's and Netty's through logback, ours (System.Logger)
 * through java.util.logging.
 */
final class Logs extends Handler implements AutoCloseable {
  private static final String OURS = "dev.paddock";

  private final Queue<String> lines = new ConcurrentLinkedQueue<>();
  private final ch.qos.logback.classic.Logger root;
  private final Level before;
  private final Logger ours = Logger.getLogger(OURS);

  private final AppenderBase<ILoggingEvent> appender =
      new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
          String start = event.getLoggerName() + " " + event.getLevel() + " ";
          lines.add(start + event.getFormattedMessage());
          for (IThrowableProxy each = event.getThrowableProxy();
              each != null;
              each = each.getCause()) {
            lines.add(start + each.getClassName() + ": " + each.getMessage());
          }
        }
      };

  Logs() {
    LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
    root = context.getLogger("ROOT");
    before = root.getLevel();
    appender.setContext(context);
    appender.start();
    root.addAppender(appender);
    root.setLevel(Level.DEBUG);
    setLevel(java.util.logging.Level.ALL);
    ours.setLevel(java.util.logging.Level.ALL);
    ours.addHandler(this);
  }

  Queue<String> lines() {
    return lines;
  }

  @Override
  public void publish(LogRecord logged) {
    lines.add(logged.getLoggerName() + " " + new SimpleFormatter().format(logged));
  }

  @Override
  public void flush() {}

  @Override
  public void close() {
    root.detachAppender(appender);
    root.setLevel(before);
    ours.removeHandler(this);
    ours.setLevel(null);
  }
}
