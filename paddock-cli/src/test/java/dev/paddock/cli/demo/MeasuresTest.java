/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

final class MeasuresTest {
  private static final Cell CELL = new Cell("cell", 150, 0, 0);

  private static Load load(long begin, long end) {
    return new Load(0, begin, begin, begin, end, false);
  }

  private static Report.Answer answer(long asked, long loadStart) {
    return new Report.Answer(asked, asked + 10, loadStart == 0 ? 0 : 7, loadStart, null);
  }

  @Test
  void mostAtOnce_noLoads_isZero() {
    assertThat(Measures.mostAtOnce(List.of())).isZero();
  }

  @Test
  void mostAtOnce_oneAfterTheOther_isOne() {
    assertThat(Measures.mostAtOnce(List.of(load(0, 10), load(10, 20), load(25, 30)))).isEqualTo(1);
  }

  @Test
  void mostAtOnce_overlapInTheMiddle_isFoundInAnyOrder() {
    List<Load> loads =
        List.of(load(100, 130), load(0, 50), load(20, 60), load(49, 110), load(55, 70));
    assertThat(Measures.mostAtOnce(loads)).isEqualTo(3);
  }

  @Test
  void mostAtOnce_sameInstant_countsAll() {
    assertThat(Measures.mostAtOnce(List.of(load(5, 9), load(5, 9), load(5, 9)))).isEqualTo(3);
  }

  @Test
  void mostAtOnce_loadsWithoutLength_countOneAtATime() {
    assertThat(Measures.mostAtOnce(List.of(load(5, 5), load(6, 6)))).isEqualTo(1);
  }

  @Test
  void mostAtOnceInOneProcess_loadsOfOthers_doNotCount() {
    Load elsewhere = new Load(1, 9, 5, 5, 25, false);
    assertThat(Measures.mostAtOnceInOneProcess(List.of(load(0, 10), load(10, 20), elsewhere)))
        .isEqualTo(1);
    assertThat(Measures.mostAtOnceInOneProcess(List.of(load(0, 11), load(10, 20), elsewhere)))
        .isEqualTo(2);
    assertThat(Measures.mostAtOnceInOneProcess(List.of())).isZero();
  }

  @Test
  void loads_beginAndEnd_arePaired() {
    List<Journal.Entry> entries =
        List.of(
            new Journal.Entry(1, new Report.LoadBegan("cell", 11, 95, 100)),
            new Journal.Entry(0, new Report.LoadBegan("cell", 22, 80, 80)),
            new Journal.Entry(0, new Report.LoadBegan("other", 33, 1, 1)),
            new Journal.Entry(1, new Report.LoadEnded("cell", 11, 300, true)),
            new Journal.Entry(0, new Report.LoadEnded("cell", 22, 280, false)));
    assertThat(Measures.loads(entries, CELL, 999))
        .containsExactly(new Load(0, 22, 80, 80, 280, false), new Load(1, 11, 95, 100, 300, true));
  }

  @Test
  void loads_withoutEnd_areCutOff() {
    List<Journal.Entry> entries =
        List.of(new Journal.Entry(2, new Report.LoadBegan("cell", 11, 100, 100)));
    assertThat(Measures.loads(entries, CELL, 250))
        .containsExactly(new Load(2, 11, 100, 100, 250, true));
  }

  @Test
  void mostInOneProcess_unevenLoads_isThatOfTheBusiest() {
    assertThat(
            Measures.mostInOneProcess(
                List.of(
                    new Load(0, 1, 0, 0, 1, false),
                    new Load(3, 2, 0, 0, 1, false),
                    new Load(3, 3, 0, 0, 1, false))))
        .isEqualTo(2);
    assertThat(Measures.mostInOneProcess(List.of())).isZero();
  }

  @Test
  void loadedBefore_answersWithoutValue_doNotCount() {
    assertThat(Measures.loadedBefore(List.of(answer(50, 0), answer(50, 19), answer(50, 20)), 20))
        .isEqualTo(1);
  }

  @Test
  void outdated_loadBeganBeforeAnInvalidationThatHadReturned_counts() {
    List<Report.Invalidated> invalidations = List.of(new Report.Invalidated("cell", 100, 110));
    assertThat(Measures.outdated(List.of(answer(110, 99)), invalidations)).isEqualTo(1);
  }

  @Test
  void outdated_loadBeganDuringTheInvalidation_doesNotCount() {
    List<Report.Invalidated> invalidations = List.of(new Report.Invalidated("cell", 100, 110));
    assertThat(Measures.outdated(List.of(answer(110, 100)), invalidations)).isZero();
  }

  @Test
  void outdated_askedBeforeTheInvalidationReturned_doesNotCount() {
    List<Report.Invalidated> invalidations = List.of(new Report.Invalidated("cell", 100, 110));
    assertThat(Measures.outdated(List.of(answer(109, 50)), invalidations)).isZero();
  }

  @Test
  void outdated_severalInvalidations_theLastThatHadReturnedCounts() {
    List<Report.Invalidated> invalidations =
        List.of(
            new Report.Invalidated("cell", 200, 215),
            new Report.Invalidated("cell", 100, 110),
            new Report.Invalidated("cell", 300, 310));
    assertThat(
            Measures.outdated(
                List.of(answer(220, 150), answer(220, 201), answer(214, 150), answer(400, 0)),
                invalidations))
        .isEqualTo(1);
  }
}
