/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.paddock.PaddockInterruptedException;
import dev.paddock.StoreException;
import dev.paddock.spi.AcquireReply;
import dev.paddock.spi.AcquireRequest;
import dev.paddock.spi.AcquireRequest.Mode;
import dev.paddock.spi.BarrierRequest;
import dev.paddock.spi.ExtendOutcome;
import dev.paddock.spi.FillOutcome;
import dev.paddock.spi.FillRequest;
import dev.paddock.spi.PutOutcome;
import dev.paddock.spi.ReadReply;
import dev.paddock.spi.StoreKey;
import dev.paddock.spi.StoreOptions;
import dev.paddock.spi.StoredEntry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

final class RedisFillStoreTest {
  private static final StoreOptions OPTIONS =
      new StoreOptions(Duration.ofSeconds(10), Duration.ofSeconds(2));
  private static final StoreKey KEY = StoreKey.of("x:1");
  private static final String OWNER = "0123456789abcdef0123456789abcdef";
  private static final String NOW = "1795966624 165999";
  private static final String NO_EPOCH = "0000000000000000";
  private static final String NO_SEQ = "0000000000";
  private static final String NO_MILLIS = "0000000000000000";
  private static final StoredEntry LOADED =
      new StoredEntry(
          false, false, 1795966634165L, 1795966624000L, 165, 0xabcL, 7, 3, Entries.ascii("ada"));
  private static final StoredEntry PUT =
      new StoredEntry(false, false, 1795966634165L, 1795966624000L, 0, 0, 0, 3, Entries.ascii("p"));

  private final FakeEnvironment environment = new FakeEnvironment();
  private final ScriptedTransport transport = new ScriptedTransport();

  // ---- opening

  @Test
  void open_serverTellsItsTime_storeKnowsIt() {
    RedisFillStore store = open();

    assertThat(store.nowMillis(KEY)).isEqualTo(1795966624165L);
    assertThat(transport.times).isEqualTo(1);
  }

  @Test
  void open_serverRefuses_saysWhyAndClosesTheTransport() {
    transport.timeAnswer =
        key ->
            CompletableFuture.failedFuture(
                new RedisReplyException("NOAUTH Authentication required."));

    assertThatThrownBy(this::open)
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("NOAUTH");
    assertThat(transport.closes).isEqualTo(1);
    assertThat(environment.pendingTimers()).isZero();
  }

  @Test
  void open_transportThrows_isAStoreException() {
    transport.timeAnswer =
        key -> {
          throw new IllegalStateException("client library");
        };

    assertThatThrownBy(this::open).isInstanceOf(StoreException.class);
    assertThat(transport.closes).isEqualTo(1);
  }

  @Test
  void open_answerMakesNoSense_isAStoreException() {
    transport.timeAnswer = key -> CompletableFuture.completedFuture(-1L);

    assertThatThrownBy(this::open).isInstanceOf(StoreException.class);
    assertThat(transport.closes).isEqualTo(1);
  }

  @Test
  void open_noAnswer_throwsAfterTheConnectTimeout() {
    transport.timeAnswer = key -> new CompletableFuture<>();

    assertThatThrownBy(
            () ->
                RedisFillStore.open(
                    transport,
                    environment,
                    new StoreOptions(Duration.ofMillis(20), Duration.ofSeconds(2))))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("PT0.02S");
    assertThat(transport.closes).isPositive();
  }

  @Test
  void open_interrupted_keepsTheFlagAndClosesTheTransport() {
    transport.timeAnswer = key -> new CompletableFuture<>();
    Thread.currentThread().interrupt();

    assertThatThrownBy(this::open).isInstanceOf(PaddockInterruptedException.class);
    assertThat(Thread.interrupted()).isTrue();
    assertThat(transport.closes).isPositive();
  }

  @Test
  void openAsync_noAnswer_failsInVirtualTimeAndClosesTheTransport() {
    CompletableFuture<Long> late = new CompletableFuture<>();
    transport.timeAnswer = key -> late;
    CompletionStage<RedisFillStore> opening =
        RedisFillStore.openAsync(transport, environment, OPTIONS);

    environment.advanceMillis(9_999);
    assertThat(opening.toCompletableFuture()).isNotDone();
    environment.advanceMillis(1);

    assertThat(failure(opening).getMessage()).contains("PT10S");
    assertThat(transport.closes).isEqualTo(1);
    late.complete(1L);
    assertThat(environment.pendingTimers()).isZero();
  }

  // ---- reading

  @Test
  void read_nothingThere_isMissing() {
    transport.then(CompletableFuture.completedFuture(null));

    assertThat(value(open().read(KEY))).isEqualTo(ReadReply.MISSING);
    assertThat(transport.last().command()).isEqualTo("GET");
    assertThat(transport.last().keys()).containsExactly(KEY.bytes());
  }

  @Test
  void read_storedEntry_isFound() {
    transport.then(CompletableFuture.completedFuture(EntryFormat.encode(LOADED)));

    Entries.assertSame(Entries.found(value(open().read(KEY))), LOADED);
  }

  @Test
  void read_foreignBytes_areNeverReturnedAsAValue() {
    transport.then(CompletableFuture.completedFuture(Entries.ascii("{\"secret\":1}")));

    assertThat(value(open().read(KEY)))
        .isInstanceOfSatisfying(
            ReadReply.Unreadable.class, u -> assertThat(u.reason()).doesNotContain("secret"));
  }

  @Test
  void read_anotherType_isUnreadable() {
    transport.thenError("WRONGTYPE Operation against a key holding the wrong kind of value");

    assertThat(value(open().read(KEY))).isInstanceOf(ReadReply.Unreadable.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "TRYAGAIN Multiple keys request during rehashing of slot",
        "ASK 3999 127.0.0.1:6381",
        "MOVED 3999 127.0.0.1:6381",
        "CLUSTERDOWN Hash slot not served",
        "LOADING Redis is loading the dataset in memory",
        "NOPERM this user has no permissions to run the 'get' command",
      })
  void read_serverError_isNeverAMiss(String message) {
    transport.thenError(message);

    StoreException failure = failure(open().read(KEY));

    assertThat(failure.getMessage()).contains(message).contains("x:1");
    assertThat(failure.mayHaveHappened()).isFalse();
  }

  @Test
  void read_noAnswer_passesTheTransportsExceptionThrough() {
    StoreException lost = new StoreException("connection lost", null, true);
    transport.then(CompletableFuture.failedFuture(new CompletionException(lost)));

    assertThat(failure(open().read(KEY))).isSameAs(lost);
  }

  // ---- arguments

  @Test
  void acquire_anyRequest_sendsKeysOfOneSlotAndTheDocumentedArguments() {
    transport.sharded = true;
    open()
        .acquire(
            new AcquireRequest(
                KEY, OWNER, 5_000, 60_000, 0xfedcL, Mode.REPLACE_STALE, true, LOADED, 1_500));

    ScriptedTransport.Call call = transport.last();
    assertThat(call.command()).isEqualTo("EVALSHA");
    assertThat(call.script()).isEqualTo(Script.GET_OR_ACQUIRE.text().sha1());
    assertThat(call.keys()).containsExactly(KEY.bytes(), SlotTags.leaseKey(KEY.bytes()));
    assertThat(args(call))
        .containsExactly(
            OWNER + " 000000000000fedc 0000000001",
            "0000000000005000",
            "60000",
            "0001795966625665",
            "REPLACE_STALE",
            "1",
            "0001795966634165 0001795966624000 0000000165 0000000000000abc 0000000007 0000000003",
            "S");
  }

  @Test
  void acquire_plainRequest_hasNothingSeen() {
    open().acquire(request());

    assertThat(args(transport.last()))
        .containsExactly(
            OWNER + " 000000000000fedc 0000000001",
            "0000000000005000",
            "60000",
            "0001795966625665",
            "NORMAL",
            "0",
            "",
            "P");
  }

  @Test
  void otherScripts_anyRequest_sendTheDocumentedArguments() {
    RedisFillStore store = open();

    store.fill(new FillRequest(KEY, OWNER, LOADED, 20_000));
    assertThat(args(transport.last()))
        .containsExactly(
            OWNER + " 0000000000000abc 0000000007",
            new String(EntryFormat.encode(LOADED), ISO_8859_1),
            "20000",
            "P");

    store.put(KEY, PUT, 20_000, 1_500);
    assertThat(args(transport.last()))
        .containsExactly(
            new String(EntryFormat.encode(PUT), ISO_8859_1), "20000", "0001795966625665", "P", "");

    store.invalidate(KEY, 0);
    assertThat(args(transport.last())).containsExactly("HARD", "0000000000000000", "P", "");
    store.expire(KEY, 250);
    assertThat(args(transport.last())).containsExactly("SOFT", "0000000000000250", "P", "");
    store.invalidate(StoreKey.of("app:c:".getBytes(US_ASCII), "k".getBytes(US_ASCII)), 0);
    assertThat(args(transport.last()))
        .containsExactly("HARD", "0000000000000000", "P", "pdk:changes:app:c:");
    store.raiseBarrier(new BarrierRequest(KEY, "app:c:".getBytes(US_ASCII), "tred", 100, 60_000));
    assertThat(args(transport.last()))
        .containsExactly("0000000000000100", "0000000000060000", "pdk:changes:app:c:", "tred");

    store.extend(KEY, OWNER, 0xabcL, 5_000, 60_000);
    assertThat(args(transport.last()))
        .containsExactly(OWNER, "0000000000000abc", "0000000000005000", "0000000000060000");

    store.release(KEY, OWNER, 250, 60_000);
    assertThat(args(transport.last()))
        .containsExactly(OWNER, "0000000000000250", "0000000000060000", "P");
    assertThat(transport.calls).allMatch(call -> call.keys().size() == 2);
  }

  @Test
  void arguments_hugeSpans_areClampedSoThatLuaKeepsTheirDigits() {
    RedisFillStore store = open();

    store.acquire(
        new AcquireRequest(
            KEY,
            OWNER,
            Long.MAX_VALUE - 1,
            Long.MAX_VALUE,
            1,
            Mode.NORMAL,
            false,
            null,
            Long.MAX_VALUE));
    ScriptedTransport.Call call = transport.last();

    for (int index : new int[] {1, 2, 3}) {
      assertThat(call.arg(index)).hasSize(16);
      assertThat(Long.parseLong(call.arg(index))).isLessThan(1L << 53);
    }
    store.invalidate(KEY, Long.MAX_VALUE);
    assertThat(Long.parseLong(transport.last().arg(1))).isLessThan(1L << 53);
  }

  @Test
  void arguments_outOfRange_areRefusedBeforeAnythingIsSent() {
    RedisFillStore store = open();

    assertThatThrownBy(() -> store.put(KEY, PUT, 0, 1)).hasMessageContaining("ttlMillis");
    assertThatThrownBy(() -> store.put(KEY, PUT, 1, 0)).hasMessageContaining("validForMillis");
    assertThatThrownBy(() -> store.put(KEY, LOADED, 1, 1)).hasMessageContaining("epoch");
    assertThatThrownBy(() -> store.invalidate(KEY, -1)).hasMessageContaining("holdOffMillis");
    assertThatThrownBy(() -> store.expire(KEY, -1)).hasMessageContaining("holdOffMillis");
    assertThatThrownBy(() -> store.extend(KEY, OWNER, 1, 0, 5)).hasMessageContaining("leaseMillis");
    assertThatThrownBy(() -> store.extend(KEY, OWNER, 1, 5, 5)).hasMessageContaining("graceMillis");
    assertThatThrownBy(() -> store.release(KEY, OWNER, -1, 5))
        .hasMessageContaining("coolDownMillis");
    assertThatThrownBy(() -> store.release(KEY, OWNER, 0, 0)).hasMessageContaining("graceMillis");
    assertThat(transport.calls).isEmpty();
  }

  @Test
  void key_of64KiB_isSentWhole() {
    byte[] bytes = new byte[65_536];
    Arrays.fill(bytes, (byte) '{');
    StoreKey key = StoreKey.of(bytes);

    open().release(key, OWNER, 0, 1);

    assertThat(transport.last().keys().get(0)).isEqualTo(bytes);
    assertThat(transport.last().keys().get(1)).hasSizeGreaterThan(65_536);
  }

  // ---- replies

  @Test
  void acquire_granted_carriesEpochAndSeq() {
    transport.thenReply("GRANTED", NOW, "fedcba9876543210", "0000000012", NO_MILLIS, "-", "");

    assertThat(value(open().acquire(request())))
        .isEqualTo(
            new AcquireReply(AcquireReply.Status.GRANTED, 0xfedcba9876543210L, 12, 0, null, false));
  }

  @Test
  void acquire_staleWithValue_carriesTheEntryAndTheTimeLeft() {
    transport.thenReply(
        "STALE",
        NOW,
        NO_EPOCH,
        NO_SEQ,
        "0000000000001234",
        "-",
        new String(EntryFormat.encode(LOADED), ISO_8859_1));

    AcquireReply reply = value(open().acquire(request()));

    assertThat(reply.status()).isEqualTo(AcquireReply.Status.STALE);
    assertThat(reply.leftMillis()).isEqualTo(1234);
    Entries.assertSame(requireNonNull(reply.entry()), LOADED);
  }

  @Test
  void acquire_unreadableValue_isMarked() {
    transport.thenReply("WAIT", NOW, NO_EPOCH, NO_SEQ, "0000000000001234", "U", "");

    AcquireReply reply = value(open().acquire(request()));

    assertThat(reply.unreadable()).isTrue();
    assertThat(reply.entry()).isNull();
  }

  @ParameterizedTest
  @EnumSource(AcquireReply.Status.class)
  void acquire_eachStatus_isDecoded(AcquireReply.Status status) {
    RedisFillStore store = open();
    String stored = new String(EntryFormat.encode(LOADED), ISO_8859_1);
    transport.thenReply(status.name(), NOW, NO_EPOCH, NO_SEQ, NO_MILLIS, "-", stored);
    // The answer to the second attempt that TOO_LATE leads to here.
    transport.thenReply(status.name(), NOW, NO_EPOCH, NO_SEQ, NO_MILLIS, "-", stored);

    assertThat(value(store.acquire(request())).status()).isEqualTo(status);
  }

  @ParameterizedTest
  @EnumSource(FillOutcome.class)
  void fill_eachOutcome_isDecoded(FillOutcome outcome) {
    transport.thenReply(outcome.name(), NOW);

    assertThat(value(open().fill(new FillRequest(KEY, OWNER, LOADED, 1)))).isEqualTo(outcome);
  }

  @ParameterizedTest
  @EnumSource(ExtendOutcome.class)
  void extend_eachOutcome_isDecoded(ExtendOutcome outcome) {
    transport.thenReply(outcome.name(), NOW);

    assertThat(value(open().extend(KEY, OWNER, 1, 1, 2))).isEqualTo(outcome);
  }

  @Test
  void put_refused_isAnOutcome() {
    transport.thenReply("REFUSED", NOW);

    assertThat(value(open().put(KEY, PUT, 1, 1))).isEqualTo(PutOutcome.REFUSED);
  }

  @ParameterizedTest
  @CsvSource({"RELEASED, true", "NOT_OWNER, false"})
  void release_eachOutcome_isDecoded(String status, boolean released) {
    transport.thenReply(status, NOW);

    assertThat(value(open().release(KEY, OWNER, 0, 1))).isEqualTo(released);
  }

  @Test
  void invalidate_done_completesWithNothing() {
    transport.thenReply("DONE", NOW).thenReply("DONE", NOW);
    RedisFillStore store = open();

    assertThat(store.invalidate(KEY, 0).toCompletableFuture()).isCompletedWithValue(null);
    assertThat(store.expire(KEY, 0).toCompletableFuture()).isCompletedWithValue(null);
  }

  @ParameterizedTest
  @EnumSource(Script.class)
  void reply_undecodable_isAStoreExceptionOfUnknownOutcome(Script script) {
    RedisFillStore store = open();
    List<List<byte[]>> nonsense = new ArrayList<>();
    nonsense.add(null);
    nonsense.add(parts());
    nonsense.add(parts("STORED"));
    nonsense.add(parts("WHATEVER", NOW));
    nonsense.add(parts("", NOW));
    nonsense.add(parts("x".repeat(100_000), NOW));
    nonsense.add(Arrays.asList(Entries.ascii("DONE"), null));
    for (String status : new String[] {"STORED", "EXTENDED", "RELEASED", "DONE", "GRANTED"}) {
      nonsense.add(parts(status, "179596662416"));
      nonsense.add(parts(status, "-1795966624 165999"));
      nonsense.add(parts(status, "1795966624 -1"));
      nonsense.add(parts(status, "1795966624 1659990"));
      nonsense.add(parts(status, "1795966624 "));
      nonsense.add(parts(status, " 165999"));
      nonsense.add(List.of(parts(status, NOW).get(0), parts(status, NOW).get(0)));
      nonsense.add(parts(status, NOW, "more"));
    }
    nonsense.add(parts("GRANTED", NOW, "xyz", NO_SEQ, NO_MILLIS, "-", ""));
    nonsense.add(parts("GRANTED", NOW, "FEDCBA9876543210", NO_SEQ, NO_MILLIS, "-", ""));
    nonsense.add(parts("GRANTED", NOW, NO_EPOCH, "1", NO_MILLIS, "-", ""));
    nonsense.add(parts("GRANTED", NOW, NO_EPOCH, NO_SEQ, "", "-", ""));
    nonsense.add(parts("GRANTED", NOW, NO_EPOCH, NO_SEQ, NO_MILLIS, "", ""));
    nonsense.add(parts("GRANTED", NOW, NO_EPOCH, NO_SEQ, NO_MILLIS, "X", ""));
    nonsense.add(parts("STALE", NOW, NO_EPOCH, NO_SEQ, NO_MILLIS, "-", "no value"));
    nonsense.add(parts("HIT", NOW, NO_EPOCH, NO_SEQ, NO_MILLIS, "-", ""));
    for (List<byte[]> reply : nonsense) {
      transport.then(CompletableFuture.completedFuture(reply));

      StoreException failure = failure(run(script, store));

      assertThat(failure.mayHaveHappened()).isTrue();
      assertThat(failure.getMessage()).contains(script.name()).hasSizeLessThan(300);
    }
  }

  // ---- errors

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "READONLY You can't write against a read only replica.|false",
        "ERR Error running script (call to f_0): @user_script:1: -READONLY You can't write|false",
        "LOADING Redis is loading the dataset in memory|false",
        "OOM command not allowed when used memory > 'maxmemory'.|false",
        "NOPERM this user has no permissions to run the 'evalsha' command|false",
        "NOAUTH Authentication required.|false",
        "WRONGTYPE Operation against a key holding the wrong kind of value|false",
        "MISCONF Redis is configured to save RDB snapshots|false",
        "NOREPLICAS Not enough good replicas to write.|false",
        "TRYAGAIN Multiple keys request during rehashing of slot|false",
        "CLUSTERDOWN The cluster is down|false",
        "MOVED 3999 127.0.0.1:6381|false",
        "BUSY Redis is busy running a script.|false",
        "ERR UNDONE ERR ACL failure in script: User u has no permissions script: 0, on @user|false",
        "ERR PARTIAL NOPERM no right to DEL script: 0, on @user_script:93.|true",
        "ERR user_script:7: attempt to compare nil with number|true",
        "ERR unknown command 'EVALSHA'|true",
        "OOMPH READONLYISH|true",
        "UNREADONLY XOOM|true",
        "|true",
      })
  void serverError_eachCode_saysWhetherItMayHaveHappened(String message, boolean may) {
    String answered = message == null ? "" : message;
    transport.thenError(answered);

    StoreException failure = failure(open().invalidate(KEY, 0));

    assertThat(failure.mayHaveHappened()).isEqualTo(may);
    assertThat(failure.getMessage())
        .contains("INVALIDATE of x:1")
        .contains(answered.replaceFirst("(UNDONE|PARTIAL) ", ""))
        .doesNotContain("UNDONE", "PARTIAL");
    assertThat(failure.getCause()).isInstanceOf(RedisReplyException.class);
  }

  @Test
  void serverError_ofAReplica_saysWhatToDo() {
    transport.thenError("ERR UNDONE READONLY You can't write against a read only replica.");

    StoreException failure = failure(open().expire(KEY, 0));

    assertThat(failure.getMessage())
        .isEqualTo(
            "EXPIRE of x:1: the server answered ERR READONLY You can't write against a read only"
                + " replica.; it is a replica: connect to the primary, or by Sentinels, which know"
                + " it");
  }

  @Test
  void serverError_thatQuotesArguments_tellsNoneOfThem() {
    transport.thenError("ERR unknown command 'EVALSHA', with args beginning with: 'top' 'secret' ");

    StoreException failure = failure(open().invalidate(KEY, 0));

    assertThat(failure.getMessage()).contains("unknown command").doesNotContain("secret");
    assertThat(failure).cause().message().doesNotContain("secret");
  }

  @Test
  void serverError_onAHugeKey_hasAShortMessage() {
    transport.thenError("READONLY no");

    StoreException failure = failure(open().invalidate(StoreKey.of("k".repeat(60_000)), 0));

    assertThat(failure.getMessage()).hasSizeLessThan(300);
  }

  @ParameterizedTest
  @EnumSource(Script.class)
  void transportFailure_isPassedThroughOrWrapped(Script script) {
    RedisFillStore store = open();
    StoreException lost = new StoreException("connection lost", null, true);
    transport.then(CompletableFuture.failedFuture(new CompletionException(lost)));
    assertThat(failure(run(script, store))).isSameAs(lost);

    transport.then(CompletableFuture.failedFuture(new IllegalStateException("a client's own")));
    assertThat(failure(run(script, store)).mayHaveHappened()).isTrue();

    transport.answer =
        call -> {
          throw new IllegalArgumentException("thrown, not returned");
        };
    assertThat(failure(run(script, store)).mayHaveHappened()).isTrue();
  }

  // ---- NOSCRIPT

  @ParameterizedTest
  @EnumSource(Script.class)
  void noScript_eachScript_isSentWholeOnceWithTheSameArguments(Script script) {
    RedisFillStore store = open();
    transport.thenError("NOSCRIPT No matching script. Please use EVAL.");
    transport.then(CompletableFuture.completedFuture(sound(script)));

    assertThat(run(script, store).toCompletableFuture()).isCompleted();

    assertThat(transport.calls).hasSize(2);
    ScriptedTransport.Call first = transport.calls.get(0);
    ScriptedTransport.Call second = transport.calls.get(1);
    assertThat(first.command()).isEqualTo("EVALSHA");
    assertThat(first.script()).isEqualTo(script.text().sha1());
    assertThat(second.command()).isEqualTo("EVAL");
    assertThat(second.script()).isEqualTo(new String(script.text().bytes(), US_ASCII));
    assertThat(args(second)).isEqualTo(args(first));
    assertThat(second.keys()).isEqualTo(first.keys());
  }

  @Test
  void noScript_answeredToTheWholeScriptToo_isAnErrorAndNoLoop() {
    RedisFillStore store = open();
    transport.thenError("NOSCRIPT No matching script.").thenError("NOSCRIPT No matching script.");

    StoreException failure = failure(store.release(KEY, OWNER, 0, 1));

    assertThat(failure.mayHaveHappened()).isFalse();
    assertThat(transport.calls).hasSize(2);
  }

  // ---- commands that come too late

  @Test
  void acquire_tooLateThoughTimeIsLeft_isSentOnceMoreWithTheClockJustLearnt() {
    RedisFillStore store = open();
    transport.answer =
        call -> {
          environment.advanceMillis(100);
          // The server's clock has been set forward by an hour since.
          return CompletableFuture.completedFuture(
              transport.calls.size() == 1
                  ? parts("TOO_LATE", "1795970224 265000", NO_EPOCH, NO_SEQ, NO_MILLIS, "-", "")
                  : parts("WAIT", "1795970224 365000", NO_EPOCH, NO_SEQ, NO_MILLIS, "-", ""));
        };

    AcquireReply reply = value(store.acquire(request()));

    assertThat(reply.status()).isEqualTo(AcquireReply.Status.WAIT);
    assertThat(transport.calls).hasSize(2);
    long notAfter = Long.parseLong(transport.calls.get(1).arg(3));
    assertThat(notAfter).isBetween(1795970224265L + 1_400 - 1, 1795970224265L + 1_400 + 101);
  }

  @Test
  void acquire_tooLateAgain_isTheAnswer() {
    RedisFillStore store = open();
    List<byte[]> late = parts("TOO_LATE", NOW, NO_EPOCH, NO_SEQ, NO_MILLIS, "-", "");
    transport.answer = call -> CompletableFuture.completedFuture(late);

    assertThat(value(store.acquire(request())).status()).isEqualTo(AcquireReply.Status.TOO_LATE);
    assertThat(transport.calls).hasSize(2);
  }

  @Test
  void acquire_tooLateAfterItsTime_isTheAnswerAtOnce() {
    RedisFillStore store = open();
    transport.answer =
        call -> {
          environment.advanceMillis(1_500);
          return CompletableFuture.completedFuture(
              parts("TOO_LATE", NOW, NO_EPOCH, NO_SEQ, NO_MILLIS, "-", ""));
        };

    assertThat(value(store.acquire(request())).status()).isEqualTo(AcquireReply.Status.TOO_LATE);
    assertThat(transport.calls).hasSize(1);
  }

  @Test
  void put_tooLateThoughTimeIsLeft_isSentOnceMore() {
    RedisFillStore store = open();
    transport.thenReply("TOO_LATE", "1795970224 165000").thenReply("STORED", "1795970224 166000");

    assertThat(value(store.put(KEY, PUT, 1_000, 500))).isEqualTo(PutOutcome.STORED);
    assertThat(Long.parseLong(transport.last().arg(2))).isGreaterThan(1795970224165L);
  }

  // ---- hints, closing

  @Test
  void subscribe_channel_isTheLeaseKey() {
    open().subscribe(KEY, entry -> {});

    assertThat(transport.channels)
        .containsExactly(new String(SlotTags.leaseKey(KEY.bytes()), ISO_8859_1));
  }

  @Test
  void close_twice_closesTheTransportOnceAndLeavesNoTimer() {
    RedisFillStore store = open();
    store.nowMillis(KEY);
    assertThat(environment.pendingTimers()).isEqualTo(1);

    store.close();
    store.close();

    assertThat(transport.closes).isEqualTo(1);
    assertThat(environment.pendingTimers()).isZero();
  }

  @ParameterizedTest
  @EnumSource(Script.class)
  void closed_eachScript_certainlyDidNotHappen(Script script) {
    RedisFillStore store = open();
    store.close();

    StoreException failure = failure(run(script, store));

    assertThat(failure.mayHaveHappened()).isFalse();
    assertThat(failure.getMessage()).contains("closed");
    assertThat(transport.calls).isEmpty();
  }

  @Test
  void closed_readSubscribeAndClock_stayHarmless() {
    RedisFillStore store = open();
    store.close();

    assertThat(failure(store.read(KEY)).mayHaveHappened()).isFalse();
    assertThat(value(store.subscribe(KEY, entry -> {}).ready())).isFalse();
    assertThat(store.nowMillis(KEY)).isEqualTo(1795966624165L);
    assertThat(transport.calls).isEmpty();
    assertThat(transport.channels).isEmpty();
    assertThat(environment.pendingTimers()).isZero();
  }

  // ---- helpers

  private RedisFillStore open() {
    return RedisFillStore.open(transport, environment, OPTIONS);
  }

  private static AcquireRequest request() {
    return new AcquireRequest(KEY, OWNER, 5_000, 60_000, 0xfedcL, Mode.NORMAL, false, null, 1_500);
  }

  private static CompletionStage<?> run(Script script, RedisFillStore store) {
    return switch (script) {
      case GET_OR_ACQUIRE -> store.acquire(request());
      case FILL -> store.fill(new FillRequest(KEY, OWNER, LOADED, 1_000));
      case PUT -> store.put(KEY, PUT, 1_000, 1_000);
      case INVALIDATE -> store.invalidate(KEY, 0);
      case EXTEND -> store.extend(KEY, OWNER, 0xabcL, 1_000, 2_000);
      case RELEASE -> store.release(KEY, OWNER, 0, 1_000);
      case RAISE_BARRIER ->
          store.raiseBarrier(
              new BarrierRequest(KEY, "app:".getBytes(US_ASCII), "tred", 100, 60_000));
    };
  }

  private static List<byte[]> sound(Script script) {
    return switch (script) {
      case GET_OR_ACQUIRE -> parts("WAIT", NOW, NO_EPOCH, NO_SEQ, NO_MILLIS, "-", "");
      case FILL, PUT -> parts("STORED", NOW);
      case INVALIDATE -> parts("DONE", NOW);
      case EXTEND -> parts("EXTENDED", NOW);
      case RELEASE -> parts("RELEASED", NOW);
      case RAISE_BARRIER -> parts("RAISED", NOW, "0001795970224265");
    };
  }

  private static List<byte[]> parts(String... parts) {
    return ScriptedTransport.reply(parts);
  }

  private static List<String> args(ScriptedTransport.Call call) {
    return call.args().stream().map(arg -> new String(arg, ISO_8859_1)).toList();
  }

  private static <T> T value(CompletionStage<T> stage) {
    assertThat(stage.toCompletableFuture()).isDone();
    return stage.toCompletableFuture().join();
  }

  private static StoreException failure(CompletionStage<?> stage) {
    CompletableFuture<?> future = stage.toCompletableFuture();
    assertThat(future).isCompletedExceptionally();
    // As a dependent of the stage itself sees it: not wrapped.
    AtomicReference<@Nullable Throwable> seen = new AtomicReference<>();
    CompletionStage<?> observed = future;
    observed.whenComplete((value, error) -> seen.set(error));
    if (seen.get() instanceof StoreException failure) {
      return failure;
    }
    throw new AssertionError("no StoreException", seen.get());
  }
}
