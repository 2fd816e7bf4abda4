// The judgement of `doctor --attach` on made-up traces.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "bindings/cli/doctor/attach.h"

namespace dataline::cli::doctor_trace_test {
namespace {

// A step of 1 ms that waits 3 ms for one worker, which decodes.
TraceFigures decoding() {
  TraceFigures figures;
  figures.steps = 100;
  figures.next_ms = 3;
  figures.step_ms = 1;
  figures.work_ms = 4;
  figures.workers = 1;
  figures.stages = {{"image: decode", 0.9, 1, 2, 3}};
  return figures;
}

std::string cause(const TraceFigures& figures, double cpus = 1) { return judge_trace(figures, cpus).cause; }

TEST(DoctorTrace, WorkDividesAmongTheWorkersThatThisMachineCanHave) {
  const Verdict verdict = judge_trace(decoding(), 2);
  EXPECT_EQ(verdict.cause, "too_few_workers");
  EXPECT_EQ(verdict.change->value, "2");
  EXPECT_DOUBLE_EQ(verdict.predicted_gain, 2);
  EXPECT_DOUBLE_EQ(judge_trace(decoding(), 16).predicted_gain, 4) << "no faster than the step";
}

TEST(DoctorTrace, AConsumerThatHardlyWaitsIsTheLimit) {
  TraceFigures figures = decoding();
  figures.next_ms = 0.01;
  EXPECT_EQ(cause(figures, 8), "consumer");
}

TEST(DoctorTrace, ReadingIsStorageAndOtherStagesAreNamed) {
  TraceFigures figures = decoding();
  EXPECT_EQ(cause(figures), "transform");
  EXPECT_NE(judge_trace(figures, 1).text.find("image: decode"), std::string::npos);
  figures.read_share = 0.5;
  EXPECT_EQ(cause(figures), "storage");
  figures.read_share = 0;
  figures.stages[0].share = 0.3;
  EXPECT_EQ(cause(figures), "cpu");
}

TEST(DoctorTrace, WithoutWorkersLoadingAndTheStepTakeTurns) {
  TraceFigures figures = decoding();
  figures.workers = 0;
  figures.work_ms = 3;
  EXPECT_EQ(judge_trace(figures, 1).change.value_or(Change{}).value, "1");
}

TEST(DoctorTrace, WorkersThatRestThoughTheConsumerWaitsAreUnevenOrTooFewBatchesInFlight) {
  TraceFigures figures = decoding();
  figures.idle_share = 0.5;
  EXPECT_EQ(cause(figures), "prefetch_depth");
  figures.stages[0].p99_ms = 20;
  EXPECT_EQ(cause(figures), "uneven_samples");
}

TEST(DoctorTrace, AConsumerThatLoadsBesideTheWorkersDoesNotWaitForThem) {
  TraceFigures figures = decoding();
  figures.idle_share = 0.8;
  figures.helped_ms = 2;
  EXPECT_EQ(cause(figures), "transform");
  EXPECT_NE(judge_trace(figures, 1).text.find("loads together with the workers"), std::string::npos);
}

TEST(DoctorTrace, FiguresComeFromSpansAndTheFirstWaitDoesNotCount) {
  Timeline timeline;
  const auto span = [&](const char* name, int64_t track, double begin, double took, int64_t step) {
    TraceEvent event;
    event.name = name, event.phase = 'X', event.track = track;
    event.begin_us = begin, event.took_us = took, event.step = step;
    timeline.add(event);
  };
  span("next", 0, 0, 9000, 0);
  span("step", 0, 9000, 1000, 0);
  span("next", 0, 10'000, 3000, 1);
  span("step", 0, 13'000, 1000, 1);
  span("read", 1, 0, 2000, 0);
  span("image: decode", 1, 2000, 5000, 0);
  span("image: decode", 0, 7000, 1000, 0);
  span("no room", 1, 7000, 3000, 0);
  const TraceFigures figures = trace_figures(timeline);
  EXPECT_EQ(figures.steps, 2);
  EXPECT_EQ(figures.workers, 1);
  EXPECT_DOUBLE_EQ(figures.next_ms, 1.5);
  EXPECT_DOUBLE_EQ(figures.step_ms, 1);
  EXPECT_DOUBLE_EQ(figures.work_ms, 4);
  EXPECT_DOUBLE_EQ(figures.read_share, 0.25);
  EXPECT_DOUBLE_EQ(figures.helped_ms, 0.5);
  EXPECT_DOUBLE_EQ(figures.idle_share, 0.3);
  EXPECT_EQ(figures.stages[0].name, "image: decode");
}

}  // namespace
}  // namespace dataline::cli::doctor_trace_test
