// What `report` advises, by numbers that are made up: its sentences must not contradict each other.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bindings/cli/report/report_data.h"

namespace dataline::cli::report_advice_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kSecond = 1'000'000'000;

// Two CPUs and two seconds, in which the consumer waits for most of the time.
ReportData run_of(int64_t workers, double cpu_seconds) {
  ReportData data;
  data.seconds = 2;
  data.cpus = 2;
  data.workers = workers;
  data.cpu_seconds = cpu_seconds;
  const auto add = [&](const char* name, const char* part, int32_t thread, int64_t value) {
    data.rows.push_back(
        {.name = name, .part = part, .unit = "ns", .thread = thread, .value = value, .count = 1});
  };
  add("next", "", DL_THREAD_CONSUMER, 2 * kSecond - 1000);
  add("between", "", DL_THREAD_CONSUMER, 1000);
  return data;
}

std::string advice_text(const ReportData& data) {
  std::string text;
  for (const std::string& sentence : advice(data)) text += sentence + "\n";
  return text;
}

void add_work(ReportData& data, int64_t work_ns, int64_t queued_ns) {
  data.rows.push_back({.name = "work",
                       .part = "decode",
                       .unit = "ns",
                       .thread = DL_THREAD_ALL,
                       .value = work_ns,
                       .count = 1});
  data.rows.push_back({.name = "off_cpu",
                       .part = "no CPU",
                       .unit = "ns",
                       .thread = DL_THREAD_ALL,
                       .value = queued_ns,
                       .count = 1});
}

TEST(ReportAdvice, TimeWithoutACpuIsAShareOfTheWorkHoweverManyThreadsThereAre) {
  ReportData data = run_of(16, 1.0);
  add_work(data, 34 * kSecond, 31 * kSecond);
  EXPECT_THAT(advice_text(data),
              HasSubstr("Working threads had no CPU for 91 % of that time: 16 workers share 2.0 CPUs, "
                        "try num_workers=2."));
  data.workers = 2;
  add_work(data, 0, 0);
  EXPECT_THAT(advice_text(data),
              HasSubstr("91 % of that time: more workers would not help, other programs or a quota"));
}

TEST(ReportAdvice, WithoutWorkersOneThreadLoadsAndTheConsumerHasNoWorkOfItsOwn) {
  ReportData data = run_of(0, 0.84);
  add_work(data, 2 * kSecond, 0);
  EXPECT_THAT(advice_text(data),
              HasSubstr("The job keeps 0.42 of 2.0 CPUs busy, since one thread does all the loading: try "
                        "num_workers=2."));
  EXPECT_THAT(advice_text(data), Not(HasSubstr("take turns")));
}

}  // namespace
}  // namespace dataline::cli::report_advice_test
