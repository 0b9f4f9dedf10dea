/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import dev.paddock.StoreException;
import dev.paddock.redis.RedisReplyException;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.CommandOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolKeyword;
import io.netty.buffer.ByteBuf;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.CancellationException;

/**
 * One command and the stage of its reply. It is Lettuce's own command object, so a command costs no
 * further future and no mapping; only the ways in which it can end are overridden.
 */
final class Call<T> extends AsyncCommand<byte[], byte[], T> {
  /*
   * Whether a command that failed may have been executed is not read from exception texts but known
   * from encode: Lettuce calls it when it writes the command to the socket's pipeline, and at every
   * replay. Not encoded = no byte left this process = it certainly did not happen.
   *
   * Lettuce ends a command in four ways:
   *   complete()                a reply has come, perhaps an error reply
   *   completeExceptionally(t)  no reply will come; t may also be an error reply to the handshake of
   *                             a reconnect, which says nothing about this command
   *   cancel()                  the connection is closed
   *   not at all                black hole
   */
  private static final VarHandle OPEN;

  static {
    try {
      OPEN = MethodHandles.lookup().findVarHandle(Call.class, "open", boolean.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** Told how commands end. */
  interface Owner {
    /** A command has ended; called exactly once for each. */
    void settled();

    /** The server is a replica. */
    void readOnly();

    /** Words the end of a command without a reply. */
    StoreException unanswered(Throwable cause, boolean mayHaveHappened);
  }

  private final Owner owner;
  private volatile boolean encoded;
  private boolean asking;

  @SuppressWarnings("UnusedVariable") // through OPEN
  private volatile boolean open = true;

  Call(
      Owner owner,
      ProtocolKeyword type,
      CommandOutput<byte[], byte[], T> output,
      CommandArgs<byte[], byte[]> args) {
    super(new Command<>(type, output, args));
    this.owner = owner;
  }

  static CommandArgs<byte[], byte[]> args() {
    return new CommandArgs<>(ByteArrayCodec.INSTANCE);
  }

  /** Has ASKING sent in front. Called before the command is sent. */
  void askFirst() {
    asking = true;
  }

  boolean asksFirst() {
    return asking;
  }

  @Override
  public void encode(ByteBuf buffer) {
    encoded = true;
    super.encode(buffer);
  }

  @Override
  public void complete() {
    String error = getOutput().getError();
    if (error == null) {
      super.complete();
      return;
    }
    if (error.contains("READONLY")) {
      owner.readOnly();
    }
    completeExceptionally(new RedisReplyException(error));
  }

  @Override
  public boolean complete(T value) {
    settle();
    return super.complete(value);
  }

  @Override
  public boolean completeExceptionally(Throwable cause) {
    settle();
    return super.completeExceptionally(
        cause instanceof RedisReplyException || cause instanceof StoreException
            ? cause
            : owner.unanswered(cause, encoded));
  }

  /** Lettuce's way to say that the connection is closed. */
  @Override
  public void cancel() {
    completeExceptionally(new CancellationException("the connection was closed"));
  }

  @Override
  public boolean cancel(boolean mayInterruptIfRunning) {
    settle();
    return super.cancel(mayInterruptIfRunning);
  }

  private void settle() {
    if (OPEN.compareAndSet(this, true, false)) {
      owner.settled();
    }
  }
}
