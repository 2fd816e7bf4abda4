// The live line: what it says at each width, and the rates that it shows.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/live_line.h"

#include <gtest/gtest.h>

#include "bindings/cli/gather.h"

namespace dataline::cli::live_line_test {
namespace {

LiveLine whole_line() {
  LiveLine line;
  line.position = "cat: epoch 0, step 211 of 469";
  line.done = 0.45;
  line.elapsed_s = 61;
  line.left_s = 3725;
  line.samples_per_s = 23'400;
  line.waited_share = 0.0031;
  line.bytes_per_s = 18.3e6;
  return line;
}

size_t characters(const std::string& text) {
  size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

TEST(LiveText, SaysWhereHowFastHowMuchWaitingAndHowLong) {
  EXPECT_EQ(live_text(whole_line(), 114, false),
            "cat: epoch 0, step 211 of 469:  45%|########          |"
            " [01:01<1:02:05, 23.4 k samples/s, waited 0.3 %, 18.3 MB/s]");
  EXPECT_EQ(live_text(whole_line(), 114, true),
            "cat: epoch 0, step 211 of 469:  45%|████████          |"
            " [01:01<1:02:05, 23.4 k samples/s, waited 0.3 %, 18.3 MB/s]");
}

TEST(LiveText, LeavesOutWhatIsNotKnown) {
  LiveLine line = whole_line();
  line.done.reset();
  line.left_s.reset();
  line.waited_share.reset();
  EXPECT_EQ(live_text(line, 120, true), "cat: epoch 0, step 211 of 469 [01:01, 23.4 k samples/s, 18.3 MB/s]");
}

TEST(LiveText, DropsTheBarThenTheLastFiguresOnANarrowTerminal) {
  const LiveLine line = whole_line();
  const std::string head = "cat: epoch 0, step 211 of 469:  45%";
  EXPECT_EQ(live_text(line, 95, true), head + " [01:01<1:02:05, 23.4 k samples/s, waited 0.3 %, 18.3 MB/s]");
  EXPECT_EQ(live_text(line, 90, true), head + " [01:01<1:02:05, 23.4 k samples/s, waited 0.3 %]");
  EXPECT_EQ(live_text(line, 80, true), head + " [01:01<1:02:05, 23.4 k samples/s]");
  EXPECT_EQ(live_text(line, 60, true), head + " [01:01<1:02:05]");
  EXPECT_EQ(live_text(line, 40, true), head);
  EXPECT_EQ(live_text(line, 10, true), "cat: epoch");
  EXPECT_EQ(live_text(line, 1, true), "c");
}

TEST(LiveText, IsNeverWiderThanTheTerminal) {
  for (const bool utf8 : {false, true}) {
    for (size_t columns = 1; columns < 200; ++columns) {
      for (const double done : {-1.0, 0.0, 0.001, 0.5, 0.999, 1.0, 7.0}) {
        LiveLine line = whole_line();
        line.done = done;
        EXPECT_LE(characters(live_text(line, columns, utf8)), columns);
      }
    }
  }
}

TEST(ClockText, HasHoursOnlyWhenThereAreSome) {
  EXPECT_EQ(clock_text(0), "00:00");
  EXPECT_EQ(clock_text(59.6), "01:00");
  EXPECT_EQ(clock_text(3600), "1:00:00");
  EXPECT_EQ(clock_text(359'999), "99:59:59");
  EXPECT_EQ(clock_text(1e30), "?");
  EXPECT_EQ(clock_text(-1), "?");
  EXPECT_EQ(clock_text(0.0 / 0.0), "?");
}

TEST(Pace, OfASteadyRunIsItsRateFromTheFirstLineOn) {
  Pace pace;
  for (int i = 1; i <= 50; ++i) {
    pace.note({0.1 * i, 2.0 * i, 64.0 * i, 6400.0 * i, 0.025 * i});
    EXPECT_NEAR(pace.steps_per_s(), 20, 1e-9);
    EXPECT_NEAR(pace.samples_per_s(), 640, 1e-9);
    EXPECT_NEAR(pace.bytes_per_s(), 64'000, 1e-6);
    EXPECT_NEAR(pace.waited_share(), 0.25, 1e-9);
  }
}

TEST(Pace, FollowsARunThatStandsStillByHalfAfterTwoSeconds) {
  Pace pace;
  double t = 0;
  for (int i = 0; i < 1000; ++i) pace.note({t += 0.1, 10.0 * i, 100.0 * i, 0, 0});
  const double before = pace.samples_per_s();
  for (int i = 0; i < 20; ++i) pace.note({t += 0.1, 9990, 99'900, 0, 0});
  EXPECT_NEAR(pace.samples_per_s() / before, 0.5, 0.02);
}

TEST(Pace, IgnoresALineAtTheSameMomentAndNeverWaitsMoreThanAllTheTime) {
  Pace pace;
  pace.note({0, 5, 5, 5, 5});
  EXPECT_EQ(pace.samples_per_s(), 0);
  pace.note({1, 5, 5, 5, 5});
  EXPECT_EQ(pace.samples_per_s(), 5);
  EXPECT_EQ(pace.waited_share(), 1);
}

TEST(GatherThreads, AreTheCoresThatTheLoaderKeptBusy) {
  EXPECT_EQ(gather_threads(0.2, 8), 1);
  EXPECT_EQ(gather_threads(1.4, 8), 1);
  EXPECT_EQ(gather_threads(1.6, 8), 2);
  EXPECT_EQ(gather_threads(7.9, 8), 8);
  EXPECT_EQ(gather_threads(8.7, 8), 8);  // a clock that ran ahead
  EXPECT_EQ(gather_threads(2.0, 0), 1);  // where the system does not tell
}

}  // namespace
}  // namespace dataline::cli::live_line_test
