/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.paddock.spi.ReadReply;
import dev.paddock.spi.StoredEntry;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class EntryFormatTest {
  private static final long SOFT = 1795966624165L;
  private static final long START = 1795966614165L;

  @Test
  void encode_filledValue_isReadableFixedWidthText() {
    byte[] bytes =
        EntryFormat.encode(
            new StoredEntry(
                false,
                true,
                SOFT,
                START,
                5,
                0xfedcba9876543210L,
                1,
                3,
                "hello".getBytes(US_ASCII)));

    assertThat(new String(bytes, US_ASCII))
        .isEqualTo(
            "PDK1 0099 VC-- 0001795966624165 0001795966614165 0000000005 fedcba9876543210"
                + " 0000000001 0000000003\nhello");
  }

  @Test
  void encode_anyEntry_isDecodedToTheSame() {
    Random random = new Random(20261129);
    for (int i = 0; i < 20_000; i++) {
      StoredEntry entry = Entries.random(random);
      assertThat(EntryFormat.decode(EntryFormat.encode(entry)))
          .isInstanceOfSatisfying(
              ReadReply.Found.class, found -> Entries.assertSame(found.entry(), entry));
    }
  }

  @Test
  void encode_timesTooLargeForTheirWidth_areClamped() {
    StoredEntry entry =
        new StoredEntry(
            false,
            false,
            Long.MAX_VALUE,
            Long.MAX_VALUE,
            Long.MAX_VALUE,
            7,
            1,
            Integer.MAX_VALUE,
            new byte[0]);

    StoredEntry decoded = Entries.found(EntryFormat.decode(EntryFormat.encode(entry)));

    assertThat(decoded.softExpiryMillis()).isEqualTo(9_999_999_999_999_999L);
    assertThat(decoded.loadStartMillis()).isEqualTo(9_999_999_999_999_999L);
    assertThat(decoded.loadMillis()).isEqualTo(9_999_999_999L);
    assertThat(decoded.schemaVersion()).isEqualTo(Integer.MAX_VALUE);
  }

  @Test
  void encode_seqTooLarge_isRefused() {
    StoredEntry entry = new StoredEntry(false, false, 1, 1, 1, 7, 10_000_000_000L, 1, new byte[0]);

    assertThatThrownBy(() -> EntryFormat.encode(entry))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("10000000000");
  }

  @Test
  void encode_negativeEntryThatHasAPayload_storesNone() {
    byte[] bytes =
        EntryFormat.encode(new StoredEntry(true, false, 1, 1, 1, 7, 1, 1, new byte[] {1, 2}));

    assertThat(bytes).hasSize(EntryFormat.FIXED);
    assertThat(Entries.found(EntryFormat.decode(bytes)).negative()).isTrue();
  }

  @Test
  void encode_emptyValueAndNoValue_stayApart() {
    StoredEntry empty = new StoredEntry(false, false, 1, 1, 1, 7, 1, 1, new byte[0]);
    StoredEntry none = new StoredEntry(true, false, 1, 1, 1, 7, 1, 1, new byte[0]);

    assertThat(Entries.found(EntryFormat.decode(EntryFormat.encode(empty))).negative()).isFalse();
    assertThat(Entries.found(EntryFormat.decode(EntryFormat.encode(none))).negative()).isTrue();
  }

  @Test
  void identity_entryReadBack_isTheStoredBytesFromSoftExpiryToSchemaVersion() throws IOException {
    for (String name : new String[] {"filled", "put", "negative", "tagged-with-extension"}) {
      byte[] stored = golden(name);

      byte[] identity = EntryFormat.identity(Entries.found(EntryFormat.decode(stored)));

      assertThat(identity).as(name).isEqualTo(Arrays.copyOfRange(stored, 15, 98));
    }
  }

  @Test
  void decode_extensionBeforeThePayload_holdsTags_andIsSkippedBehindThem() throws IOException {
    StoredEntry entry = Entries.found(EntryFormat.decode(golden("tagged-with-extension")));

    assertThat(entry.tags()).containsExactly("blue", "red");

    assertThat(entry.payload()).isEqualTo("payload".getBytes(US_ASCII));
    assertThat(entry.compressed()).isTrue();
    assertThat(entry.seq()).isEqualTo(17);
  }

  @ParameterizedTest
  @CsvSource({
    "filled, false, false, 1795966624165, 1795966614165, 5, fedcba9876543210, 1, 3, 22",
    "put, false, false, 1795966624165, 1795966614165, 0, 0, 0, 0, 256",
    "negative, true, false, 1795966624165, 1795966614165, 1234567890, 1, 9999999999, 2147483647, 0",
    "compressed, false, true, 1795966624165, 1795966614165, 5, abc, 17, 3, 7",
    "empty-value, false, false, 0, 0, 0, abc, 17, 3, 0",
  })
  void goldenPayload_ofVersion1_staysReadableAndIsWhatIsWrittenToday(
      String name,
      boolean negative,
      boolean compressed,
      long soft,
      long start,
      long load,
      String epoch,
      long seq,
      int schema,
      int payload)
      throws IOException {
    byte[] stored = golden(name);

    StoredEntry entry = Entries.found(EntryFormat.decode(stored));

    assertThat(entry.negative()).isEqualTo(negative);
    assertThat(entry.compressed()).isEqualTo(compressed);
    assertThat(entry.softExpiryMillis()).isEqualTo(soft);
    assertThat(entry.loadStartMillis()).isEqualTo(start);
    assertThat(entry.loadMillis()).isEqualTo(load);
    assertThat(entry.epoch()).isEqualTo(Long.parseUnsignedLong(epoch, 16));
    assertThat(entry.seq()).isEqualTo(seq);
    assertThat(entry.schemaVersion()).isEqualTo(schema);
    assertThat(entry.payload()).hasSize(payload);
    assertThat(EntryFormat.encode(entry)).isEqualTo(stored);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "x",
        "{\"json\":true}",
        // One byte short.
        "PDK1 0099 V--- 0001795966624165 0001795966614165 0000000005 fedcba9876543210 0000000001"
            + " 0000000003",
        // Another version.
        "PDK2 0099 V--- 0001795966624165 0001795966614165 0000000005 fedcba9876543210 0000000001"
            + " 0000000003\n",
        // Another magic.
        "PDX1 0099 V--- 0001795966624165 0001795966614165 0000000005 fedcba9876543210 0000000001"
            + " 0000000003\n",
        // A header longer than all there is, and one shorter than its fixed part.
        "PDK1 0100 V--- 0001795966624165 0001795966614165 0000000005 fedcba9876543210 0000000001"
            + " 0000000003\n",
        "PDK1 0098 V--- 0001795966624165 0001795966614165 0000000005 fedcba9876543210 0000000001"
            + " 0000000003\n",
        // Flags that do not exist, and the reserved one.
        "PDK1 0099 X--- 0001795966624165 0001795966614165 0000000005 fedcba9876543210 0000000001"
            + " 0000000003\n",
        "PDK1 0099 V-C- 0001795966624165 0001795966614165 0000000005 fedcba9876543210 0000000001"
            + " 0000000003\n",
        "PDK1 0099 V--X 0001795966624165 0001795966614165 0000000005 fedcba9876543210 0000000001"
            + " 0000000003\n",
        // Numbers with a sign, a space, upper-case digits.
        "PDK1 0099 V--- -001795966624165 0001795966614165 0000000005 fedcba9876543210 0000000001"
            + " 0000000003\n",
        "PDK1 0099 V--- 0001795966624165 0001795966614165          5 fedcba9876543210 0000000001"
            + " 0000000003\n",
        "PDK1 0099 V--- 0001795966624165 0001795966614165 0000000005 FEDCBA9876543210 0000000001"
            + " 0000000003\n",
        // A schema version beyond an int.
        "PDK1 0099 V--- 0001795966624165 0001795966614165 0000000005 fedcba9876543210 0000000001"
            + " 2147483648\n",
        // Another separator, another end.
        "PDK1 0099 V--- 0001795966624165_0001795966614165 0000000005 fedcba9876543210 0000000001"
            + " 0000000003\n",
        "PDK1 0099 V--- 0001795966624165 0001795966614165 0000000005 fedcba9876543210 0000000001"
            + " 0000000003 ",
        // A negative entry with something in it.
        "PDK1 0099 N--- 0001795966624165 0001795966614165 0000000005 fedcba9876543210 0000000001"
            + " 0000000003\nx",
      })
  void decode_malformed_isUnreadableAndTellsNoContents(String stored) {
    assertThat(EntryFormat.decode(stored.getBytes(ISO_8859_1)))
        .isInstanceOfSatisfying(
            ReadReply.Unreadable.class,
            unreadable ->
                assertThat(unreadable.reason())
                    .isNotBlank()
                    .doesNotContain("1795966624165", "json"));
  }

  @Test
  void decode_anyByteOfTheHeaderThatFitsNowhere_isUnreadable() throws IOException {
    byte[] stored = golden("filled");
    for (int at = 0; at < EntryFormat.FIXED; at++) {
      byte[] damaged = stored.clone();
      damaged[at] = '_';

      assertThat(EntryFormat.decode(damaged))
          .as("byte %s", at)
          .isInstanceOf(ReadReply.Unreadable.class);
    }
  }

  @Test
  void encode_tags_areReadBack() {
    List<String> tags = List.of("red", "\u00fcber:alles", "x".repeat(255));
    StoredEntry tagged =
        new StoredEntry(false, true, 9, 8, 7, 6, 5, 4, tags, "payload".getBytes(US_ASCII));

    byte[] bytes = EntryFormat.encode(tagged);
    StoredEntry read = Entries.found(EntryFormat.decode(bytes));

    assertThat(read.tags()).isEqualTo(tags);
    assertThat(read.payload()).isEqualTo(tagged.payload());
    assertThat(EntryFormat.identity(read)).isEqualTo(Arrays.copyOfRange(bytes, 15, 98));
  }

  @Test
  void encode_tagsBeyondTheHeader_areRefused() {
    List<String> many = IntStream.range(0, 100).mapToObj(i -> "t" + i).toList();
    List<String> large = IntStream.range(0, 40).mapToObj(i -> i + "x".repeat(250)).toList();
    for (List<String> tags : List.of(many, large)) {
      StoredEntry tagged = new StoredEntry(false, false, 9, 8, 7, 6, 5, 4, tags, new byte[0]);
      assertThatIllegalArgumentException().isThrownBy(() -> EntryFormat.encode(tagged));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "1",
        "00",
        "xx",
        "01",
        "01000",
        "010000",
        "010005TAGS",
        "020004TAGS",
        "01-004TAGS"
      })
  void decode_malformedTags_areSaidToBeAndTheRestIsRead(String extension) {
    byte[] stored =
        ("PDK1 "
                + String.format("%04d", 99 + extension.length())
                + " V-T- 0001795966624165 0001795966614165 0000000005 fedcba9876543210 0000000001"
                + " 0000000003\n"
                + extension)
            .getBytes(US_ASCII);

    assertThat(Entries.found(EntryFormat.decode(stored)).tags())
        .isEqualTo(StoredEntry.UNREADABLE_TAGS);
  }

  @Test
  void decode_negativeEntryWithAnExtensionOnly_isReadable() {
    byte[] stored =
        ("PDK1 0109 N-T- 0001795966624165 0001795966614165 0000000005 fedcba9876543210 0000000001"
                + " 0000000003\n010004TAGS")
            .getBytes(US_ASCII);

    StoredEntry entry = Entries.found(EntryFormat.decode(stored));

    assertThat(entry.negative()).isTrue();
    assertThat(entry.payload()).isEmpty();
  }

  @Test
  void decode_anyMutation_neverThrows() {
    Random random = new Random(77);
    int unreadable = 0;
    for (int i = 0; i < 100_000; i++) {
      byte[] stored = Entries.mutated(random);
      if (EntryFormat.decode(stored) instanceof ReadReply.Unreadable) {
        unreadable++;
      }
    }
    assertThat(unreadable).as("both kinds occur").isBetween(10_000, 90_000);
  }

  private static byte[] golden(String name) throws IOException {
    try (InputStream in = EntryFormatTest.class.getResourceAsStream("golden/" + name + ".bin")) {
      assertThat(in).as(name).isNotNull();
      return in.readAllBytes();
    }
  }
}
