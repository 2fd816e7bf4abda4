// What a loader measures, and traces, through dataline.hpp.
// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <stdexcept>
#include <thread>

#include "tests/cpp/support.h"

namespace dataline::cpp_tests::metrics_test {
namespace {

int64_t value_of(const std::vector<dl_metric>& rows, std::string_view name, std::string_view part = "") {
  for (const dl_metric& row : rows) {
    if (row.name == name && row.part == part) return row.value;
  }
  ADD_FAILURE() << "no row " << name << " " << part;
  return -1;
}

TEST(CppMetrics, RowsOutliveTheLoaderAndTellItsLastNumbers) {
  Metrics metrics;
  EXPECT_FALSE(metrics);
  EXPECT_TRUE(metrics.rows().empty());
  {
    Loader loader(counting(100), {{"batch_size", 10}, {"stats", "full"}, {"num_workers", 1}});
    metrics = loader.metrics();
    EXPECT_EQ(value_of(metrics.rows(), "batches"), 0);
    loop(loader);
  }
  EXPECT_EQ(value_of(metrics.rows(), "batches"), 10);
  EXPECT_EQ(value_of(metrics.rows(), "samples"), 100);
  EXPECT_GT(value_of(metrics.rows(), "work", "data: copy"), 0);
  EXPECT_TRUE(metrics.stalls().size() <= 10);
}

TEST(CppMetrics, LabelsMayBeAnyTextAndNamesAreChecked) {
  Loader loader(counting(10));
  const Metrics metrics = loader.metrics();
  EXPECT_NE(metrics.text().find("\ndataline_batches_total 0\n"), std::string::npos);
  const std::string text = metrics.text({{"job", "a \"b\" \\ \n c"}, {"rank", "3"}});
  EXPECT_NE(text.find("dataline_batches_total{job=\"a \\\"b\\\" \\\\ \\n c\",rank=\"3\"} 0\n"),
            std::string::npos)
      << text;
  for (const char* name : {"", "a b", "a=\"x\",b", "stage"})
    EXPECT_EQ(metrics.try_text({{name, "x"}}).status(), DL_ERR_INVALID_ARGUMENT) << name;
}

TEST(CppMetrics, FourThreadsReadWhileLoadersEnd) {
  for (int round = 0; round < 20; ++round) {
    Loader loader(counting(1000), {{"batch_size", 10}, {"stats", "full"}, {"num_workers", 2}});
    const Metrics metrics = loader.metrics();
    std::atomic<bool> over{false};
    std::vector<std::thread> readers;
    for (int reader = 0; reader < 4; ++reader) {
      readers.emplace_back([&] {
        while (!over) {
          EXPECT_FALSE(metrics.rows().empty());
          EXPECT_NE(metrics.text({{"rank", "0"}}).find("dataline_next_seconds_count"), std::string::npos);
          metrics.stalls();
        }
      });
    }
    for (int step = 0; step < 5; ++step) EXPECT_TRUE(loader.next());
    loader = Loader();  // destroyed
    over = true;
    for (std::thread& reader : readers) reader.join();
    EXPECT_EQ(value_of(metrics.rows(), "batches"), 5);
  }
}

TEST(CppMetrics, ATraceGoesToAFunctionUntilItIsStopped) {
  Loader loader(counting(1000), {{"batch_size", 10}, {"num_workers", 1}});
  std::string text;
  loader.trace_start([&](std::string_view piece) {
    text += piece;
    return 0;
  });
  EXPECT_EQ(thrown_by([&] { loader.trace_start("second.json"); }).code(), DL_ERR_WRONG_STATE);
  loop(loader);
  loader.trace_stop();
  EXPECT_EQ(text.substr(0, 20), "{\"displayTimeUnit\":\"");
  EXPECT_EQ(text.substr(text.size() - 3), "]}\n");
  const size_t length = text.size();
  loop(loader);
  loader.trace_stop();
  EXPECT_EQ(text.size(), length);
}

TEST(CppMetrics, WhatATraceIsWrittenToIsKeptUntilItsLoaderEnds) {
  std::atomic<int> returned{0}, alive{0};
  std::string text;
  const auto trace = [&](Loader& loader) {
    loader.trace_start([&text, loan = Loan(&returned, &alive)](std::string_view piece) {
      loan();
      text += piece;
      return 0;
    });
  };
  Loader loader(counting(1000), {{"batch_size", 10}, {"num_workers", 1}});
  trace(loader);
  EXPECT_TRUE(loader.next());
  EXPECT_EQ(alive, 1);
  loader = Loader(counting(10));
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(text.substr(text.size() - 3), "]}\n");
  {
    Loader other(counting(10));
    trace(other);
    EXPECT_TRUE(other.next());
  }
  EXPECT_EQ(alive, 0);
}

TEST(CppMetrics, ASinkThatThrowsOrFailsEndsTheTraceAndNotTheJob) {
  Loader loader(counting(1000), {{"batch_size", 10}, {"num_workers", 1}});
  int64_t pieces = 0;
  loader.trace_start([&](std::string_view) -> int32_t {
    if (++pieces > 1) throw std::runtime_error("full");
    return 0;
  });
  EXPECT_EQ(loop(loader).size(), 1000u);
  EXPECT_EQ(thrown_by([&] { loader.trace_stop(); }).os_error(), EIO);
  const Result<void> refused = loader.try_trace_start([](std::string_view) { return ENOSPC; });
  EXPECT_EQ(refused.error().os_error(), ENOSPC);
  EXPECT_EQ(loader.try_trace_start("/dev/full").status(), DL_ERR_NOT_A_FILE);
  EXPECT_EQ(loader.try_trace_start("").status(), DL_ERR_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace dataline::cpp_tests::metrics_test
