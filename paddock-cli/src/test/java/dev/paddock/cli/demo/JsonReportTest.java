/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.cli.process.Json;
import java.util.List;
import org.junit.jupiter.api.Test;

final class JsonReportTest {
  private static Row row(boolean met) {
    return new Row(
        "paddock-wait", 4, 200, 1, 1, 0, new Waits(1, 2, 3), 43L, "1 load", "1 load", met);
  }

  @Test
  void json_oneExperiment_hasTheDocumentedProperties() {
    assertThat(Json.write(JsonReport.of(List.of(row(true)))))
        .isEqualTo(
            "{\"experiments\":[{\"name\":\"paddock-wait\",\"processes\":4,\"callers\":200,"
                + "\"loads\":1,\"mostLoadsAtOnce\":1,\"staleAnswers\":0,"
                + "\"waitMillis\":{\"p50\":1,\"p99\":2,\"max\":3},\"redisCommands\":43,"
                + "\"expected\":\"1 load\",\"observed\":\"1 load\",\"met\":true}],\"met\":true}");
  }

  @Test
  void met_oneVerdictFails_isFalse() {
    assertThat(JsonReport.of(List.of(row(true), row(false))).met()).isFalse();
    assertThat(JsonReport.of(List.of(row(true), row(true))).met()).isTrue();
  }
}
