/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.paddock.StoreException;
import dev.paddock.redis.RedisReplyException;
import dev.paddock.redis.RedisTransport;
import dev.paddock.spi.HintSubscription;
import dev.paddock.spi.StoreKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

final class InMemoryRedisTest {
  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final byte[] KEY = bytes("k");
  private static final byte[][] ONE_KEY = {KEY};
  private static final byte[][] NO_ARGS = {};

  private final VirtualEnvironment env = new VirtualEnvironment(7);
  private final InMemoryRedis redis = new InMemoryRedis(env);

  @Test
  void get_reply_comesThroughTheExecutorOnly() {
    redis.command("SET", "k", "v");
    CompletionStage<byte[]> reply = redis.get(KEY);
    AtomicInteger seen = new AtomicInteger();
    reply.whenComplete((value, error) -> seen.incrementAndGet());
    assertThat(seen).hasValue(0);
    assertThat(env.await(reply, Duration.ZERO)).isEqualTo(bytes("v"));
    assertThat(seen).hasValue(1);
  }

  @Test
  void resume_whatAnotherWasSavedAs_isGoneOnWithUnderItsRunId() {
    redis.command("HSET", "h", "f", "v");
    InMemoryRedis.Saved saved = redis.save();
    InMemoryRedis other = new InMemoryRedis(env);
    other.command("SET", "own", "v");
    other.resume(saved);
    redis.command("HSET", "h", "f", "later");

    assertThat(other.snapshot()).containsOnlyKeys(StoreKey.of("h"));
    assertThat(other.command("HGET", "h", "f")).isEqualTo(bytes("v"));
    assertThat(other.text("INFO", "server")).isEqualTo(redis.text("INFO", "server"));
  }

  @Test
  void get_otherType_failsWithTheServersError() {
    redis.command("RPUSH", "k", "v");
    assertThatThrownBy(() -> env.await(redis.get(KEY), Duration.ZERO))
        .isInstanceOf(CompletionException.class)
        .cause()
        .isInstanceOf(RedisReplyException.class)
        .hasMessageStartingWith("WRONGTYPE ");
  }

  @Test
  void expiry_clockOfTheServer_decides() {
    redis.command("SET", "a", "v", "PX", 1000);
    redis.command("SET", "b", "v", "PX", 3000);
    env.advance(SECOND);
    assertThat(redis.text("PTTL", "a")).isEqualTo("0");
    env.advance(Duration.ofMillis(1));
    assertThat(redis.text("PTTL", "a")).isEqualTo("-2");
    assertThat(redis.text("EXISTS", "a")).isEqualTo("0");
    redis.stepClock(SECOND.negated());
    assertThat(redis.text("PTTL", "b")).isEqualTo("2999");
    redis.stepClock(SECOND.multipliedBy(4));
    assertThat(redis.snapshot()).isEmpty();
  }

  @Test
  void info_afterARestart_tellsOfANewRunAndItsUptime() {
    String before = redis.text("INFO", "server");
    env.advance(SECOND.multipliedBy(90));
    assertThat(redis.text("INFO", "server"))
        .contains("uptime_in_seconds:90\r\n")
        .contains(line(before, "run_id:"));

    redis.restart();

    String after = redis.text("INFO", "server");
    assertThat(after)
        .contains("uptime_in_seconds:0\r\n")
        .doesNotContain(line(before, "run_id:"))
        .containsPattern("run_id:[0-9a-f]{40}\r\n");
    assertThat(redis.text("INFO", "memory")).contains("maxmemory_policy:noeviction\r\n");
    redis.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
    assertThat(redis.text("INFO", "memory")).contains("maxmemory_policy:allkeys-lru\r\n");
  }

  private static String line(String text, String name) {
    int from = text.indexOf(name);
    return text.substring(from, text.indexOf("\r\n", from));
  }

  @Test
  void restart_keptLostOrOlder_findsTheKeysOfThatMoment() {
    redis.command("SET", "s", "1");
    redis.command("HSET", "h", "f", "1");
    InMemoryRedis.Saved saved = redis.save();
    redis.command("SET", "s", "2");
    redis.command("HSET", "h", "f", "2");

    redis.restart();
    assertThat(redis.text("GET", "s") + redis.text("HGET", "h", "f")).isEqualTo("22");
    redis.restart(saved);
    assertThat(redis.text("GET", "s") + redis.text("HGET", "h", "f")).isEqualTo("11");
    redis.command("HSET", "h", "f", "3");
    redis.restart(saved);
    assertThat(redis.text("GET", "s") + redis.text("HGET", "h", "f")).isEqualTo("11");
    redis.restartEmpty();
    assertThat(redis.snapshot()).isEmpty();
  }

  @Test
  void restart_requestUnderWay_isUnknownAndOneOnItsWayReachesTheNewRun() {
    byte[] script = bytes("redis.call('SET', KEYS[1], 'late') return {'x'}");
    redis.setInterceptor(request -> RequestFate.DELIVERED.delayed(SECOND, Duration.ZERO));
    CompletionStage<List<byte[]>> reply = redis.eval(script, ONE_KEY, NO_ARGS);

    redis.restartEmpty();

    assertThat(error(reply))
        .isInstanceOf(StoreException.class)
        .matches(e -> ((StoreException) e).mayHaveHappened());
    env.advance(SECOND);
    assertThat(redis.text("GET", "k")).isEqualTo("late");
  }

  @Test
  void evalsha_unknownScript_isNoScriptUntilItWasSentAndAgainAfterFlush() {
    byte[] script = bytes("return {ARGV[1]}");
    String sha1 = Sha1.hex(script);
    byte[][] args = {bytes("x")};
    assertThat(error(redis.evalsha(sha1, ONE_KEY, args))).hasMessageStartingWith("NOSCRIPT ");
    assertThat(env.await(redis.eval(script, ONE_KEY, args), Duration.ZERO))
        .containsExactly(bytes("x"));
    assertThat(env.await(redis.evalsha(sha1, ONE_KEY, args), Duration.ZERO))
        .containsExactly(bytes("x"));
    redis.scriptFlush();
    assertThat(error(redis.evalsha(sha1, ONE_KEY, args))).hasMessageStartingWith("NOSCRIPT ");
    assertThat(redis.commandCounts()).containsEntry("EVAL", 1L).containsEntry("EVALSHA", 3L);
  }

  @Test
  void eval_errorAfterAWrite_keepsTheWriteAndAnswersTheError() {
    byte[] script = bytes("redis.call('SET', KEYS[1], 'v') redis.call('HGET', KEYS[1], 'f')");
    assertThat(error(redis.eval(script, ONE_KEY, NO_ARGS))).hasMessageStartingWith("WRONGTYPE ");
    assertThat(redis.text("GET", "k")).isEqualTo("v");
  }

  @Test
  void eval_pcall_givesTheErrorAsATableAndLuasPcallAsText() {
    redis.command("RPUSH", "k", "v");
    assertThat(
            eval(
                "local e = redis.pcall('GET', KEYS[1]) "
                    + "local ok, text = pcall(redis.call, 'GET', KEYS[1]) "
                    + "return {type(e), e.err, tostring(ok), text}"))
        .satisfies(
            reply -> {
              assertThat(reply.get(0)).isEqualTo("table");
              assertThat(reply.get(1)).startsWith("WRONGTYPE ");
              assertThat(reply.get(2)).isEqualTo("false");
              assertThat(reply.get(3)).startsWith("WRONGTYPE ");
            });
  }

  @Test
  void eval_errorWithLevelZero_hasNoPosition() {
    assertThat(error(redis.eval(bytes("error('PARTIAL x', 0)"), ONE_KEY, NO_ARGS)))
        .hasMessageStartingWith("ERR PARTIAL x");
    assertThat(error(redis.eval(bytes("error({err = 'OWN x'})"), ONE_KEY, NO_ARGS)))
        .hasMessageStartingWith("OWN x");
    assertThat(error(redis.eval(bytes("return redis.error_reply('OWN y')"), ONE_KEY, NO_ARGS)))
        .hasMessage("OWN y");
  }

  @Test
  void eval_globals_areGuarded() {
    assertThat(error(redis.eval(bytes("x = 1"), ONE_KEY, NO_ARGS)))
        .hasMessageContaining("readonly");
    assertThat(error(redis.eval(bytes("return x"), ONE_KEY, NO_ARGS)))
        .hasMessageContaining("nonexistent global variable 'x'");
    assertThat(error(redis.eval(bytes("return os.time()"), ONE_KEY, NO_ARGS)))
        .hasMessageContaining("nonexistent global variable 'os'");
  }

  @Test
  void eval_syntaxError_isAnErrorReply() {
    assertThat(error(redis.eval(bytes("return return"), ONE_KEY, NO_ARGS)))
        .isInstanceOf(RedisReplyException.class)
        .hasMessageContaining("Error compiling script");
  }

  @Test
  void eval_keyNotAnnounced_isRefused() {
    assertThat(error(redis.eval(bytes("redis.call('GET', 'other')"), ONE_KEY, NO_ARGS)))
        .hasMessageContaining("not among its KEYS");
  }

  @Test
  void eval_keysOfTwoSlots_isRefused() {
    byte[][] keys = {bytes("a"), bytes("b")};
    assertThat(error(redis.eval(bytes("return {}"), keys, NO_ARGS)))
        .hasMessageStartingWith("CROSSSLOT ");
  }

  @Test
  void eval_bytes_passUnchanged() {
    byte[] all = new byte[256];
    for (int i = 0; i < all.length; i++) {
      all[i] = (byte) i;
    }
    byte[][] args = {all};
    assertThat(
            env.await(
                redis.eval(
                    bytes(
                        "redis.call('SET', KEYS[1], ARGV[1]) "
                            + "local v = redis.call('GET', KEYS[1]) "
                            + "return {v, '\\255\\0' .. string.sub(v, 129), "
                            + "string.format('%s', v), table.concat({v, 'x'})}"),
                    ONE_KEY,
                    args),
                Duration.ZERO))
        .satisfies(
            reply -> {
              assertThat(reply.get(0)).isEqualTo(all);
              assertThat(new String(reply.get(1), ISO_8859_1))
                  .isEqualTo("\u00ff\0" + new String(all, ISO_8859_1).substring(128));
              assertThat(reply.get(2)).isEqualTo(all);
              assertThat(new String(reply.get(3), ISO_8859_1))
                  .isEqualTo(new String(all, ISO_8859_1) + "x");
            });
    byte[] literal = "return {'\u00e9\u00ff'}".getBytes(ISO_8859_1);
    assertThat(env.await(redis.eval(literal, ONE_KEY, NO_ARGS), Duration.ZERO).get(0))
        .isEqualTo("\u00e9\u00ff".getBytes(ISO_8859_1));
  }

  @Test
  void eval_numbers_becomeTextByTheRulesOfC() {
    assertThat(
            eval(
                "return {tostring(1e15), string.format('%d', 1767225600000), "
                    + "tostring(tonumber('9007199254740993')), tostring(0.1)}"))
        .containsExactly("1e+15", "1767225600000", "9.007199254741e+15", "0.1");
    assertThat(eval("redis.call('SET', KEYS[1], 2^53) return {redis.call('GET', KEYS[1])}"))
        .containsExactly("9007199254740992");
  }

  @Test
  void eval_expiryWithLeadingZeros_isRefusedAsByRedis() {
    assertThat(
            error(
                redis.eval(
                    bytes("redis.call('SET', KEYS[1], 'v', 'PX', '0100')"), ONE_KEY, NO_ARGS)))
        .hasMessageContaining("not an integer");
  }

  @Test
  void eval_replyThatIsNoArrayOfStrings_failsLoudly() {
    assertThat(error(redis.eval(bytes("return {'a', 1}"), ONE_KEY, NO_ARGS)))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void outOfMemory_script_isRefusedOnlyAtItsFirstWrite() {
    redis.command("SET", "k", "v", "PX", 5000);
    redis.setOutOfMemory(true);
    assertThat(error(redis.eval(bytes("redis.call('SET', KEYS[1], 'w')"), ONE_KEY, NO_ARGS)))
        .hasMessageStartingWith("OOM ");
    assertThat(
            eval(
                "local e = redis.pcall('SET', KEYS[1], 'w') "
                    + "redis.call('PEXPIRE', KEYS[1], '9000') "
                    + "redis.call('SET', KEYS[1], 'x', 'KEEPTTL') "
                    + "return {e.err}"))
        .singleElement()
        .asString()
        .startsWith("OOM ");
    assertThat(redis.snapshot().get(StoreKey.of("k")))
        .satisfies(
            state -> {
              assertThat(state.string()).isEqualTo("x");
              assertThat(state.ttlMillis()).isEqualTo(9000);
            });
    assertThat(redis.text("DEL", "k")).isEqualTo("1");
    assertThatThrownBy(() -> redis.command("SET", "k", "v")).hasMessageStartingWith("OOM ");
  }

  @Test
  void readOnly_writes_areRefusedAndReadsAreNot() {
    redis.command("SET", "k", "v");
    redis.setReadOnly(true);
    assertThat(env.await(redis.get(KEY), Duration.ZERO)).isEqualTo(bytes("v"));
    assertThat(error(redis.eval(bytes("redis.call('DEL', KEYS[1])"), ONE_KEY, NO_ARGS)))
        .hasMessageContaining("READONLY ");
  }

  @Test
  void timeMicros_server_isItsClock() {
    redis.stepClock(SECOND.multipliedBy(100));
    assertThat(env.await(redis.timeMicros(KEY), Duration.ZERO))
        .isEqualTo((env.wallMillis() + 100_000) * 1000);
  }

  @Test
  void publish_subscribersOfTheChannel_areTold() {
    List<String> seen = new ArrayList<>();
    HintSubscription first = redis.subscribe(KEY, message -> seen.add("first"));
    RedisTransport other = redis.connect("other", env);
    HintSubscription second = other.subscribe(KEY, message -> seen.add("second"));
    HintSubscription elsewhere = other.subscribe(bytes("c"), message -> seen.add("elsewhere"));
    assertThat(env.await(first.ready(), Duration.ZERO)).isTrue();
    env.run();
    assertThat(eval("return {tostring(redis.call('PUBLISH', KEYS[1], 'x'))}")).containsExactly("2");
    assertThat(eval("return {tostring(redis.call('SPUBLISH', KEYS[1], 'x'))}"))
        .containsExactly("0");
    env.run();
    assertThat(seen).containsExactly("first", "second");
    first.close();
    first.close();
    other.close();
    redis.command("PUBLISH", "k", "x");
    env.run();
    assertThat(seen).hasSize(2);
    assertThat(redis.subscriptionCount()).isZero();
    elsewhere.close();
    second.close();
  }

  @Test
  void publish_shardedChannels_needSpublish() {
    redis.setShardedChannels(true);
    AtomicInteger seen = new AtomicInteger();
    redis.subscribe(KEY, message -> seen.incrementAndGet());
    redis.command("PUBLISH", "k", "x");
    env.run();
    assertThat(seen).hasValue(0);
    redis.command("SPUBLISH", "k", "x");
    env.run();
    assertThat(seen).hasValue(1);
  }

  @Test
  void channelsDenied_subscribeAndPublish_areRefused() {
    redis.setChannelsDenied(true);
    HintSubscription refused = redis.subscribe(KEY, message -> {});
    assertThat(env.await(refused.ready(), Duration.ZERO)).isFalse();
    assertThat(eval("return {redis.pcall('PUBLISH', KEYS[1], 'x').err}"))
        .singleElement()
        .asString()
        .startsWith("NOPERM ");
  }

  @Test
  void interceptor_delays_moveExecutionAndReply() {
    redis.command("SET", "k", "early");
    redis.setInterceptor(request -> RequestFate.DELIVERED.delayed(SECOND, SECOND.multipliedBy(2)));
    CompletionStage<byte[]> reply = redis.get(KEY);
    env.run();
    redis.command("SET", "k", "at the server");
    env.advance(SECOND);
    redis.command("SET", "k", "late");
    assertThat(env.await(reply, SECOND.multipliedBy(2))).isEqualTo(bytes("at the server"));
    assertThat(env.elapsedNanos()).isEqualTo(SECOND.multipliedBy(3).toNanos());
  }

  @Test
  void interceptor_lossAndFailure_executeAndAnswerAsTheySay() {
    byte[] incr = bytes("return {tostring(redis.call('INCR', KEYS[1]))}");
    AtomicInteger answered = new AtomicInteger();

    redis.setInterceptor(request -> RequestFate.LOST_REQUEST);
    redis.eval(incr, ONE_KEY, NO_ARGS).whenComplete((r, e) -> answered.incrementAndGet());
    env.advance(SECOND);
    assertThat(redis.text("GET", "k")).isEqualTo("nil");

    redis.setInterceptor(request -> RequestFate.LOST_REPLY);
    redis.eval(incr, ONE_KEY, NO_ARGS).whenComplete((r, e) -> answered.incrementAndGet());
    env.advance(SECOND);
    assertThat(redis.text("GET", "k")).isEqualTo("1");
    assertThat(answered).hasValue(0);

    redis.setInterceptor(request -> RequestFate.NOT_SENT);
    assertThat(error(redis.eval(incr, ONE_KEY, NO_ARGS)))
        .isInstanceOfSatisfying(
            StoreException.class, e -> assertThat(e.mayHaveHappened()).isFalse());
    assertThat(redis.text("GET", "k")).isEqualTo("1");

    redis.setInterceptor(request -> RequestFate.BROKEN_BEFORE);
    assertThat(error(redis.eval(incr, ONE_KEY, NO_ARGS)))
        .isInstanceOfSatisfying(
            StoreException.class, e -> assertThat(e.mayHaveHappened()).isTrue());
    assertThat(redis.text("GET", "k")).isEqualTo("1");

    redis.setInterceptor(request -> RequestFate.BROKEN_AFTER);
    assertThat(error(redis.eval(incr, ONE_KEY, NO_ARGS)))
        .isInstanceOfSatisfying(
            StoreException.class, e -> assertThat(e.mayHaveHappened()).isTrue());
    assertThat(redis.text("GET", "k")).isEqualTo("2");

    redis.setInterceptor(request -> RequestFate.DELIVERED.repeated(SECOND));
    assertThat(env.await(redis.eval(incr, ONE_KEY, NO_ARGS), Duration.ZERO))
        .containsExactly(bytes("3"));
    env.advance(SECOND);
    assertThat(redis.text("GET", "k")).isEqualTo("4");
    assertThat(redis.commandCounts()).containsEntry("EVAL", 4L);
  }

  @Test
  void interceptor_requests_nameClientScriptKeysAndArgs() {
    List<RedisRequest> seen = new ArrayList<>();
    redis.setInterceptor(
        request -> {
          seen.add(request);
          return RequestFate.DELIVERED;
        });
    byte[] script = bytes("-- NAMED\nreturn {}");
    byte[][] args = {bytes("arg")};
    RedisTransport other = redis.connect("other", env);
    env.await(other.eval(script, ONE_KEY, args), Duration.ZERO);
    env.await(other.evalsha(Sha1.hex(script), ONE_KEY, args), Duration.ZERO);
    assertThat(seen)
        .hasSize(2)
        .allSatisfy(
            request -> {
              assertThat(request.client()).isEqualTo("other");
              assertThat(request.runs("NAMED")).isTrue();
              assertThat(request.runs("OTHER")).isFalse();
              assertThat(request.keys()).containsExactly(KEY);
              assertThat(request.args()).containsExactly(bytes("arg"));
            });
    assertThat(seen).extracting(RedisRequest::name).containsExactly("EVAL", "EVALSHA");
    assertThat(seen).extracting(RedisRequest::number).containsExactly(1L, 2L);
  }

  @Test
  void interceptor_message_canBeLostOrDoubled() {
    AtomicInteger seen = new AtomicInteger();
    redis.subscribe(KEY, message -> seen.incrementAndGet());
    env.run();
    redis.setInterceptor(
        request ->
            request.name().equals("MESSAGE") ? RequestFate.LOST_REQUEST : RequestFate.DELIVERED);
    redis.command("PUBLISH", "k", "x");
    env.advance(SECOND);
    assertThat(seen).hasValue(0);
    redis.setInterceptor(request -> RequestFate.DELIVERED.repeated(SECOND));
    redis.command("PUBLISH", "k", "x");
    env.advance(SECOND);
    assertThat(seen).hasValue(2);
  }

  @Test
  void dropConnections_underWay_failsWithUnknownOutcome() {
    redis.setInterceptor(request -> RequestFate.DELIVERED.delayed(Duration.ZERO, SECOND));
    CompletionStage<byte[]> reply = redis.get(KEY);
    redis.dropConnections();
    assertThat(error(reply))
        .isInstanceOfSatisfying(
            StoreException.class, e -> assertThat(e.mayHaveHappened()).isTrue());
    env.advance(SECOND);
  }

  @Test
  void close_connection_failsItsCommandsAndLeavesTheServer() {
    RedisTransport other = redis.connect("other", env);
    redis.command("SET", "k", "v");
    redis.close();
    redis.close();
    assertThat(error(redis.get(KEY)))
        .isInstanceOfSatisfying(
            StoreException.class, e -> assertThat(e.mayHaveHappened()).isFalse());
    assertThat(env.await(other.get(KEY), Duration.ZERO)).isEqualTo(bytes("v"));
  }

  @Test
  void requestFate_contradiction_isRefused() {
    assertThatThrownBy(() -> RequestFate.LOST_REQUEST.repeated(SECOND))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(
            () ->
                new RequestFate(
                    Duration.ZERO, true, null, Duration.ZERO, RequestFate.Answer.FAILURE))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(
            () ->
                new RequestFate(
                    Duration.ZERO, false, null, Duration.ZERO, RequestFate.Answer.REPLY))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> RequestFate.DELIVERED.delayed(SECOND.negated(), SECOND))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private List<String> eval(String script) {
    return env.await(redis.eval(bytes(script), ONE_KEY, NO_ARGS), Duration.ZERO).stream()
        .map(part -> new String(part, UTF_8))
        .toList();
  }

  private Throwable error(CompletionStage<?> stage) {
    try {
      Object reply = env.await(stage, SECOND);
      throw new AssertionError("no error but " + reply);
    } catch (CompletionException e) {
      return requireNonNull(e.getCause());
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }
}
