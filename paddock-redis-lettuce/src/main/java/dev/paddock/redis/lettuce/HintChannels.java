/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import dev.paddock.redis.internal.Secrets;
import dev.paddock.spi.Environment;
import dev.paddock.spi.HintSubscription;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Serves all subscriptions of a process over one connection, which is opened at the first of them.
 * Thread-safe; callbacks run on Lettuce's thread.
 */
final class HintChannels {
  /*
   * A topic is a channel that somebody listens to, or that the server still has to forget:
   *
   *     IDLE --SUBSCRIBE sent--> busy --confirmed--> SUBSCRIBED --UNSUBSCRIBE sent--> busy --> IDLE
   *
   * settle() compares what is wanted (is there a listener?) with what the server last confirmed, and
   * sends at most one command per topic at a time. So a quick subscribe, unsubscribe, subscribe ends
   * with the state of the last wish, whatever the order of replies, and an idle topic is removed.
   *
   * A confirmation names its channel, and only that counts. The future of Lettuce's command does not:
   * after a reconnect Lettuce subscribes to all channels in one command, and takes the second of the
   * confirmations for the reply to the next command. A future is good for telling of errors only.
   *
   * Nothing is sent while the connection is down: Lettuce's buffer would keep it. What is wanted by
   * then is sent after the reconnect; what was confirmed before, Lettuce subscribes again by itself,
   * which shows as a second confirmation. Each listener of such a topic gets a hint then, since
   * messages may have been missed.
   *
   * A command whose connection broke under it says nothing about the channel: Lettuce fails the oldest
   * of those under way and sends the others again. What is wanted stays wanted, and goes out after the
   * reconnect. Only an error that the server has sent ends a subscription.
   *
   * Sharded channels belong to a slot. When the slot leaves the server, the server ends their
   * subscriptions by itself; their listeners are told, and nothing is tried again here, for the
   * channel is elsewhere. After a reconnect Lettuce subscribes to all of them in one command, which
   * the server refuses when they are of several slots. So each of them is subscribed anew here.
   *
   * The lock guards the topics' fields. Neither Lettuce nor a callback nor the completion of a stage
   * runs under it: Lettuce holds locks of its own when it calls us.
   */
  private enum State {
    NONE,
    OPENING,
    UP,
    DOWN,
    CLOSED
  }

  private static final System.Logger log = System.getLogger(HintChannels.class.getPackageName());

  private static final byte[] NOTHING = {};

  /** How long after a failed attempt to connect the next one is made. */
  private static final long RETRY_NANOS = 1_000_000_000;

  /** Which commands subscribe. */
  enum Kind {
    PLAIN,
    SHARDED
  }

  /** Whoever waits for hints. */
  interface Listener {
    /** A message has come, or may have been missed. */
    void message(byte[] message);

    /**
     * The subscription has ended, or could not begin; not called after close.
     *
     * @param refused the user may not have the channel, so that trying again is of no use
     */
    void lost(boolean refused);
  }

  private final Kind kind;
  private final Environment environment;
  private final String address;
  private final Secrets secrets;
  private final long readyNanos;
  private final Supplier<CompletionStage<StatefulRedisPubSubConnection<byte[], byte[]>>> connect;

  private final ReentrantLock lock = new ReentrantLock();
  private final Map<ByteBuffer, Topic> topics = new ConcurrentHashMap<>(); // written under the lock
  private final AtomicBoolean refusalLogged = new AtomicBoolean();
  private final AtomicBoolean throwLogged = new AtomicBoolean();
  private State state = State.NONE; // guarded by lock
  private @Nullable StatefulRedisPubSubConnection<byte[], byte[]> connection; // guarded by lock
  private @Nullable Long failedAt; // guarded by lock
  private long connects; // guarded by lock

  /**
   * Makes an empty set of channels.
   *
   * @param readyNanos how long a subscription waits to be confirmed before it says that it is not
   * @param connect opens a connection; may block or throw
   */
  HintChannels(
      Kind kind,
      Environment environment,
      String address,
      Secrets secrets,
      long readyNanos,
      Supplier<CompletionStage<StatefulRedisPubSubConnection<byte[], byte[]>>> connect) {
    this.kind = kind;
    this.environment = environment;
    this.address = address;
    this.secrets = secrets;
    this.readyNanos = readyNanos;
    this.connect = connect;
  }

  private static final class Topic {
    final byte[] channel;
    final List<Subscription> listeners = new CopyOnWriteArrayList<>(); // written under the lock
    boolean busy; // a command is under way; guarded by lock
    boolean asked; // it is SUBSCRIBE; guarded by lock
    boolean subscribed; // guarded by lock
    long sentOver; // the connect that the last command was sent after; guarded by lock
    boolean missed; // messages may have been missed; guarded by lock

    Topic(byte[] channel) {
      this.channel = channel;
    }
  }

  private final class Subscription implements HintSubscription {
    final Topic topic;
    final Listener listener;
    final CompletableFuture<Boolean> ready = new CompletableFuture<>();

    Subscription(Topic topic, Listener listener) {
      this.topic = topic;
      this.listener = listener;
    }

    @Override
    public CompletionStage<Boolean> ready() {
      return ready;
    }

    @Override
    public void close() {
      boolean removed;
      lock.lock();
      try {
        removed = topic.listeners.remove(this);
      } finally {
        lock.unlock();
      }
      if (removed) {
        settle(topic);
      }
      ready.complete(false);
    }

    void lost(boolean refused) {
      ready.complete(false);
      listener.lost(refused);
    }

    void hint(byte[] message) {
      try {
        listener.message(message);
      } catch (RuntimeException | Error e) {
        // The next listener must get its hint all the same, and Lettuce's thread must go on.
        System.Logger.Level level =
            throwLogged.compareAndSet(false, true)
                ? System.Logger.Level.WARNING
                : System.Logger.Level.DEBUG;
        log.log(level, "a hint's callback has thrown", e);
      }
    }
  }

  HintSubscription subscribe(byte[] channel, Consumer<byte[]> onMessage) {
    return subscribe(
        channel,
        new Listener() {
          @Override
          public void message(byte[] message) {
            onMessage.accept(message);
          }

          @Override
          public void lost(boolean refused) {}
        });
  }

  HintSubscription subscribe(byte[] channel, Listener listener) {
    Subscription subscription;
    boolean open = false;
    boolean hopeless;
    lock.lock();
    try {
      byte[] own = channel.clone();
      Topic topic = topics.computeIfAbsent(ByteBuffer.wrap(own), key -> new Topic(own));
      subscription = new Subscription(topic, listener);
      topic.listeners.add(subscription);
      hopeless = state == State.CLOSED;
      if (state == State.NONE) {
        hopeless = failedAt != null && environment.nanoTime() - failedAt < RETRY_NANOS;
        if (!hopeless) {
          state = State.OPENING;
          open = true;
        }
      }
    } finally {
      lock.unlock();
    }
    if (hopeless) {
      subscription.close();
      listener.lost(false);
      return subscription;
    }
    if (open) {
      open();
    }
    settle(subscription.topic);
    if (!subscription.ready.isDone()) {
      Environment.Timer timer =
          environment.schedule(() -> subscription.ready.complete(false), readyNanos);
      CompletableFuture<?> unused =
          subscription.ready.whenComplete((ready, never) -> timer.cancel());
    }
    return subscription;
  }

  private void open() {
    Connecting.start(environment, connect, this::opened);
  }

  private void opened(
      @Nullable StatefulRedisPubSubConnection<byte[], byte[]> opened, @Nullable Throwable failed) {
    if (opened == null) {
      log.log(
          System.Logger.Level.DEBUG,
          () ->
              "no connection for hints from Redis at "
                  + address
                  + ": "
                  + (failed == null ? "no reason given" : secrets.summary(failed)));
      List<Topic> lost;
      lock.lock();
      try {
        if (state == State.OPENING) {
          state = State.NONE;
          failedAt = environment.nanoTime();
        }
        lost = new ArrayList<>(topics.values());
      } finally {
        lock.unlock();
      }
      lost.forEach(topic -> giveUp(topic, false));
      return;
    }
    opened.addListener(new Messages());
    opened.addListener(new Connects());
    boolean late;
    lock.lock();
    try {
      late = state != State.OPENING;
      if (!late) {
        connection = opened;
        state = State.UP;
      }
    } finally {
      lock.unlock();
    }
    if (late) {
      CompletableFuture<?> unused = opened.closeAsync();
      return;
    }
    settleAll();
  }

  private void settleAll() {
    List<Topic> all;
    lock.lock();
    try {
      all = new ArrayList<>(topics.values());
    } finally {
      lock.unlock();
    }
    all.forEach(this::settle);
  }

  /** Sends what is needed to bring a topic to what is wanted. */
  private void settle(Topic topic) {
    StatefulRedisPubSubConnection<byte[], byte[]> over;
    boolean wanted;
    List<Subscription> confirmed = List.of();
    lock.lock();
    try {
      wanted = !topic.listeners.isEmpty();
      over = connection;
      if (topic.busy) {
        over = null;
      } else if (wanted == topic.subscribed) {
        over = null;
        if (wanted) {
          confirmed = List.copyOf(topic.listeners);
        } else {
          topics.remove(ByteBuffer.wrap(topic.channel), topic);
        }
      } else if (state != State.UP) {
        over = null;
      } else {
        topic.busy = true;
        topic.asked = wanted;
        topic.sentOver = connects;
      }
    } finally {
      lock.unlock();
    }
    for (Subscription subscription : confirmed) {
      subscription.ready.complete(true);
    }
    if (over == null) {
      return;
    }
    CompletionStage<Void> reply;
    try {
      reply = wanted ? subscribe(over, topic.channel) : unsubscribe(over, topic.channel);
    } catch (RuntimeException e) {
      reply = CompletableFuture.failedFuture(e);
    }
    reply.whenComplete(
        (nothing, failed) -> {
          if (failed != null) {
            failed(topic, wanted, failed);
          }
        });
  }

  private CompletionStage<Void> subscribe(
      StatefulRedisPubSubConnection<byte[], byte[]> over, byte[] channel) {
    return kind == Kind.SHARDED
        ? over.async().ssubscribe(channel)
        : over.async().subscribe(channel);
  }

  private CompletionStage<Void> unsubscribe(
      StatefulRedisPubSubConnection<byte[], byte[]> over, byte[] channel) {
    return kind == Kind.SHARDED
        ? over.async().sunsubscribe(channel)
        : over.async().unsubscribe(channel);
  }

  /** The server has confirmed a subscription, or its end. */
  private void confirmed(byte[] channel, boolean subscribed) {
    Topic topic;
    StatefulRedisPubSubConnection<byte[], byte[]> over;
    boolean again = false;
    boolean gone = false;
    lock.lock();
    try {
      over = connection;
      topic = topics.get(ByteBuffer.wrap(channel));
      if (topic != null) {
        again = subscribed && (topic.subscribed || topic.missed);
        gone = kind == Kind.SHARDED && !subscribed && topic.subscribed && !topic.busy;
        topic.subscribed = subscribed;
        topic.missed &= !subscribed;
        if (topic.asked == subscribed) {
          topic.busy = false;
        }
      }
    } finally {
      lock.unlock();
    }
    if (topic == null) {
      if (subscribed && over != null) {
        // It came too late, or its error was another's.
        CompletionStage<Void> unused = unsubscribe(over, channel);
      }
    } else if (gone) {
      giveUp(topic, false);
    } else {
      if (again) {
        topic.listeners.forEach(each -> each.hint(NOTHING));
      }
      settle(topic);
    }
  }

  private void failed(Topic topic, boolean subscribe, Throwable failed) {
    Throwable cause =
        failed instanceof CompletionException && failed.getCause() != null
            ? failed.getCause()
            : failed;
    boolean reconnected;
    lock.lock();
    try {
      if (topic.asked == subscribe) {
        topic.busy = false;
      }
      reconnected = connects != topic.sentOver;
    } finally {
      lock.unlock();
    }
    boolean broken = !(cause instanceof RedisCommandExecutionException);
    if (subscribe && (!broken || kind == Kind.SHARDED)) {
      giveUp(topic, isRefusal(cause));
    } else if (broken) {
      log.log(
          System.Logger.Level.DEBUG,
          () ->
              "a subscription's command broke off at Redis at "
                  + address
                  + ": "
                  + secrets.summary(cause));
      if (reconnected) {
        settle(topic);
      }
    } else {
      // The server goes on sending to nobody; the next listener of the topic, or the next
      // reconnect, tries again.
      log.log(
          System.Logger.Level.DEBUG,
          () -> "UNSUBSCRIBE failed at Redis at " + address + ": " + secrets.summary(cause));
    }
  }

  /** Tells whether the server refused for good, and logs that once. */
  private boolean isRefusal(Throwable cause) {
    if (!(cause instanceof RedisCommandExecutionException)
        || (kind == Kind.SHARDED && !String.valueOf(cause.getMessage()).startsWith("NOPERM"))) {
      return false;
    }
    if (refusalLogged.compareAndSet(false, true)) {
      log.log(
          System.Logger.Level.WARNING,
          () ->
              "Redis at "
                  + address
                  + " refuses subscriptions; waiters poll instead. Grant the user the channels of"
                  + " Paddock. It said: "
                  + secrets.summary(cause));
    }
    return true;
  }

  /** Tells the listeners of a topic that no hints will come. */
  private void giveUp(Topic topic, boolean refused) {
    List<Subscription> failed;
    lock.lock();
    try {
      if (topic.busy || topic.subscribed) {
        return;
      }
      failed = List.copyOf(topic.listeners);
      topic.listeners.clear();
      topics.remove(ByteBuffer.wrap(topic.channel), topic);
    } finally {
      lock.unlock();
    }
    for (Subscription subscription : failed) {
      subscription.lost(refused);
    }
  }

  /** The connection is lost. Lettuce brings plain subscriptions back, all in one command. */
  private void forgetSharded() {
    if (kind == Kind.PLAIN) {
      return;
    }
    lock.lock();
    try {
      for (Topic topic : topics.values()) {
        topic.missed |= topic.subscribed;
        topic.subscribed = false;
        topic.busy = false;
      }
    } finally {
      lock.unlock();
    }
  }

  /** How many channels are subscribed or on their way. */
  int size() {
    return topics.size();
  }

  /** Ends all subscriptions, without blocking. */
  CompletionStage<Void> close() {
    StatefulRedisPubSubConnection<byte[], byte[]> open;
    List<Subscription> ended = new ArrayList<>();
    lock.lock();
    try {
      state = State.CLOSED;
      open = connection;
      connection = null;
      for (Topic topic : topics.values()) {
        ended.addAll(topic.listeners);
        topic.listeners.clear();
      }
      topics.clear();
    } finally {
      lock.unlock();
    }
    for (Subscription subscription : ended) {
      subscription.ready.complete(false);
    }
    return open == null ? CompletableFuture.completedFuture(null) : open.closeAsync();
  }

  private void disconnected() {
    lock.lock();
    try {
      if (state == State.UP) {
        state = State.DOWN;
      }
    } finally {
      lock.unlock();
    }
  }

  private void connected() {
    lock.lock();
    try {
      connects++;
      if (state == State.DOWN) {
        state = State.UP;
      }
    } finally {
      lock.unlock();
    }
  }

  private final class Messages extends RedisPubSubAdapter<byte[], byte[]> {
    @Override
    public void message(byte[] channel, byte[] message) {
      Topic topic = topics.get(ByteBuffer.wrap(channel));
      if (topic != null) {
        topic.listeners.forEach(each -> each.hint(message));
      }
    }

    @Override
    public void subscribed(byte[] channel, long count) {
      confirmed(channel, true);
    }

    @Override
    public void unsubscribed(byte[] channel, long count) {
      confirmed(channel, false);
    }

    @Override
    public void smessage(byte[] channel, byte[] message) {
      message(channel, message);
    }

    @Override
    public void ssubscribed(byte[] channel, long count) {
      confirmed(channel, true);
    }

    @Override
    public void sunsubscribed(byte[] channel, long count) {
      confirmed(channel, false);
    }
  }

  private final class Connects implements RedisConnectionStateListener {
    @Override
    public void onRedisConnected(RedisChannelHandler<?, ?> source, SocketAddress socketAddress) {
      connected();
      settleAll();
    }

    @Override
    public void onRedisDisconnected(RedisChannelHandler<?, ?> source) {
      disconnected();
      forgetSharded();
    }
  }
}
