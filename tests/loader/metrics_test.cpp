// What a loader measures of itself: the table, who waits for what, stalls, and readers beside a loader that ends.
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <regex>
#include <set>
#include <thread>
#include <tuple>

#include "tests/loader/measured.h"

namespace dataline::tests::metrics_test {
namespace {

constexpr int64_t kMs = 1'000'000;

// Busy or blocked for so long: what is measured are durations, which need time to pass.
void take_time(int64_t ns) { std::this_thread::sleep_for(std::chrono::nanoseconds(ns)); }

TEST(Metrics, CountersAreThoseOfStats) {
  const Dataset dataset = counting_dataset(100);
  const Loader loader = make_loader(dataset, {{"batch_size", "8"}, {"epochs", "1"}, {"num_workers", "1"}});
  const Metrics metrics = metrics_of(loader);
  ASSERT_EQ(epoch_samples(loader).size(), 100u);
  const dl_stats stats = stats_of(loader);
  EXPECT_EQ(row_of(metrics, "batches").value, 13);
  EXPECT_EQ(row_of(metrics, "samples").value, 100);
  EXPECT_EQ(row_of(metrics, "bytes").value, stats.bytes);
  EXPECT_EQ(row_of(metrics, "wait_ns").value, stats.wait_ns);
  EXPECT_EQ(row_of(metrics, "waits").value, stats.waits);
  EXPECT_EQ(row_of(metrics, "arena_bytes").value, stats.arena_bytes);
  EXPECT_EQ(row_of(metrics, "num_workers").value, 1);
  EXPECT_EQ(row_of(metrics, "num_workers").kind, DL_METRIC_GAUGE);
  EXPECT_EQ(row_of(metrics, "batches").kind, DL_METRIC_COUNTER);
}

TEST(Metrics, WithoutFullOnlyCountersAreThere) {
  const Loader loader = make_loader(counting_dataset(100));
  const Metrics metrics = metrics_of(loader);
  ASSERT_EQ(next(loader).status, DL_OK);
  for (const dl_metric& row : rows_of(metrics)) EXPECT_NE(row.kind, DL_METRIC_DURATION) << row.name;
}

TEST(Metrics, RowsAreToldApartByNamePartAndThreadAndSayTheirUnit) {
  const Loader loader = make_loader(counting_dataset(100), {{"stats", "full"}, {"num_workers", "3"}});
  std::set<std::tuple<std::string, std::string, int32_t>> seen;
  const Metrics metrics = metrics_of(loader);
  for (const dl_metric& row : rows_of(metrics)) {
    EXPECT_TRUE(seen.emplace(row.name, row.part, row.thread).second)
        << row.name << " " << row.part << " " << row.thread;
    EXPECT_STRNE(row.unit, "") << row.name;
    EXPECT_STRNE(row.doc, "") << row.name;
    EXPECT_EQ(std::string(row.unit) == "ns",
              row.kind == DL_METRIC_DURATION || std::string(row.name).ends_with("_ns"))
        << row.name;
  }
  for (int32_t worker = 0; worker < 3; ++worker) EXPECT_TRUE(seen.contains({"work", "data: copy", worker}));
}

TEST(Metrics, WorkOfAllThreadsIsTheirSumAndFitsTheClock) {
  const auto begin = std::chrono::steady_clock::now();
  const Loader loader =
      make_loader(counting_dataset(20'000),
                  {{"stats", "full"}, {"num_workers", "2"}, {"batch_size", "64"}, {"epochs", "1"}});
  const Metrics metrics = metrics_of(loader);
  ASSERT_EQ(epoch_samples(loader).size(), 20'000u);
  int64_t threads_ns = 0, all_ns = 0;
  for (const dl_metric& row : rows_of(metrics)) {
    if (std::string(row.name) != "work") continue;
    (row.thread == DL_THREAD_ALL ? all_ns : threads_ns) += row.value;
  }
  EXPECT_EQ(threads_ns, all_ns) << "nobody works any more";
  EXPECT_GT(all_ns, 0);
  const int64_t elapsed_ns = (std::chrono::steady_clock::now() - begin).count();
  EXPECT_LE(all_ns, 3 * elapsed_ns) << "two workers and a consumer that helps";
  // Each batch is found, copied and packed once.
  const int64_t runs = row_of(metrics, "work", "data: copy").count;
  EXPECT_LE(runs, 313);
  EXPECT_GE(runs, 313 - 3 * 63) << "of short runs one in 64 is measured, and stands for those before it";
  EXPECT_EQ(row_of(metrics, "work", "data: copy").bytes, 20'000 * 8);
}

// Of the rows of an image's program every fourth is timed; with a trace every run is.
TEST(Metrics, CountsOfOperatorsOnImagesAreThoseOfAllRowsInEachField) {
  const std::vector<uint8_t> pixels(size_t{21} * 8 * 8 * 3);
  const std::vector<int64_t> shape = {21, 8, 8, 3};
  const dl_array arrays[] = {array_of("left", DL_DTYPE_U8, shape, pixels.data()),
                             array_of("right", DL_DTYPE_U8, shape, pixels.data())};
  dl_dataset* dataset = nullptr;
  Error error;
  ASSERT_EQ(dl_dataset_from_arrays(arrays, 2, nullptr, nullptr, nullptr, &dataset, &error), DL_OK)
      << error.message;
  const Dataset owned(dataset);
  const std::string transform =
      "left: resize([4, 4]), gaussian_blur(3); right: resize([4, 4]), gaussian_blur(3)";
  for (const char* batch_size : {"1", "2", "4", "21"}) {
    const Loader loader = make_loader(owned, {{"stats", "full"},
                                              {"num_workers", "0"},
                                              {"epochs", "1"},
                                              {"batch_size", batch_size},
                                              {"transform", transform}});
    const Metrics metrics = metrics_of(loader);
    dl_trace_sink sink = {};
    sink.struct_size = sizeof sink;
    sink.write = [](void*, const char*, size_t) -> int32_t { return 0; };
    ASSERT_EQ(dl_loader_trace_start(loader.get(), nullptr, &sink, &error), DL_OK) << error.message;
    dl_status status = DL_OK;
    while (status == DL_OK) status = next(loader).status;
    ASSERT_EQ(status, DL_END_OF_EPOCH);
    for (const char* part : {"left: resize([4, 4])", "left: gaussian_blur(3)", "right: resize([4, 4])"}) {
      EXPECT_EQ(row_of(metrics, "work", part).count, 21) << part << " in batches of " << batch_size;
      EXPECT_GT(row_of(metrics, "work", part).value, 0) << part << " in batches of " << batch_size;
    }
  }
}

TEST(Metrics, NextAndBetweenAreTheConsumersTime) {
  const Loader loader =
      make_loader(counting_dataset(400), {{"stats", "full"}, {"batch_size", "100"}, {"epochs", "1"}});
  const Metrics metrics = metrics_of(loader);
  for (int step = 0; step < 4; ++step) {
    ASSERT_EQ(next(loader).status, DL_OK);
    take_time(3 * kMs);
  }
  const dl_metric call = row_of(metrics, "next", "", DL_THREAD_CONSUMER);
  const dl_metric between = row_of(metrics, "between", "", DL_THREAD_CONSUMER);
  EXPECT_EQ(call.count, 4);
  EXPECT_EQ(between.count, 3);
  EXPECT_GE(between.value, 9 * kMs);
  EXPECT_GE(between.p50_ns, 3 * kMs);
  EXPECT_GE(between.max_ns, between.p99_ns);
}

TEST(Metrics, WorkersOfASlowConsumerHaveNoRoom) {
  const Loader loader =
      make_loader(counting_dataset(1'000),
                  {{"stats", "full"}, {"num_workers", "1"}, {"batch_size", "10"}, {"prefetch_depth", "2"}});
  const Metrics metrics = metrics_of(loader);
  ASSERT_EQ(next(loader).status, DL_OK);
  while (row_of(metrics, "wait", "no room").value < 5 * kMs) take_time(kMs);  // also while it still waits
  EXPECT_GT(row_of(metrics, "wait", "no room", 0).value, row_of(metrics, "wait", "no work", 0).value);
}

TEST(Metrics, StallsNameTheBatchAndWhatTheWorkersDidMeanwhile) {
  TestReader reader;
  reader.before = [](const int64_t* indices, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      if (indices[i] == 25) take_time(40 * kMs);
    }
  };
  const Dataset dataset = reader.dataset(60);
  const Loader loader =
      make_loader(dataset, {{"stats", "full"}, {"num_workers", "1"}, {"batch_size", "10"}, {"epochs", "1"}});
  const Metrics metrics = metrics_of(loader);
  ASSERT_EQ(epoch_samples(loader).size(), 60u);
  bool named = false;
  for (const dl_stall& stall : stalls_of(metrics)) {
    if (stall.epoch != 0 || stall.step != 2) continue;
    named = true;
    EXPECT_STREQ(stall.cause, "read");
    EXPECT_GE(stall.wait_ns, 10 * kMs);
  }
  EXPECT_TRUE(named);
  EXPECT_GE(row_of(metrics, "work", "read").max_ns, 25 * kMs) << "the coarse clock finds it among short ones";
  EXPECT_GE(row_of(metrics, "off_cpu", "storage").value, 20 * kMs) << "it slept in the reader";
}

// Three batches of ten, of which all but the first wait until it is opened.
struct GatedReader {
  std::atomic<bool> open{false};
  TestReader reader;

  Loader loader() {
    reader.before = [this](const int64_t* indices, int64_t) {
      for (int ms = 0; indices[0] >= 10 && !open && ms < 60'000; ++ms) take_time(kMs);
    };
    return make_loader(reader.dataset(30),
                       {{"stats", "full"}, {"num_workers", "1"}, {"batch_size", "10"}, {"epochs", "1"}});
  }
};

// As languages wait that look for signals between slices.
TEST(Metrics, AWaitInSlicesIsOneCall) {
  GatedReader gate;
  const Loader loader = gate.loader();
  const Metrics metrics = metrics_of(loader);
  ASSERT_EQ(next(loader).status, DL_OK);
  for (int slice = 0; slice < 20; ++slice) ASSERT_EQ(next(loader, slice * kMs / 2).status, DL_TIMEOUT);
  gate.open = true;
  ASSERT_EQ(next(loader).status, DL_OK);
  ASSERT_EQ(next(loader).status, DL_OK);
  const dl_metric call = row_of(metrics, "next", "", DL_THREAD_CONSUMER);
  EXPECT_EQ(call.count, 3);
  EXPECT_GE(call.max_ns, 95 * kMs) << "all slices together";
  EXPECT_EQ(row_of(metrics, "between", "", DL_THREAD_CONSUMER).count, 2);
  bool named = false;
  for (const dl_stall& stall : stalls_of(metrics)) {
    if (stall.step == 1) named = stall.wait_ns >= 95 * kMs;
  }
  EXPECT_TRUE(named);
}

// As a frame loop looks, and does its own work between two looks: that is no wait.
TEST(Metrics, WhatLiesBetweenTwoLooksIsNoWait) {
  GatedReader gate;
  const Loader loader = gate.loader();
  const Metrics metrics = metrics_of(loader);
  ASSERT_EQ(next(loader).status, DL_OK);
  int64_t in_calls_ns = 0;
  const auto look = [&] {
    take_time(5 * kMs);
    const auto called = std::chrono::steady_clock::now();
    const dl_status status = next(loader, 0).status;
    in_calls_ns += (std::chrono::steady_clock::now() - called).count();
    return status;
  };
  for (int frame = 0; frame < 10; ++frame) ASSERT_EQ(look(), DL_TIMEOUT);
  gate.open = true;
  dl_status status = look();
  while (status == DL_TIMEOUT) status = look();
  ASSERT_EQ(status, DL_OK);
  ASSERT_EQ(next(loader).status, DL_OK);
  for (const dl_stall& stall : stalls_of(metrics)) {
    if (stall.step == 1) {
      EXPECT_LE(stall.wait_ns, in_calls_ns) << "a busy machine may make a look long";
    }
  }
  EXPECT_EQ(row_of(metrics, "next", "", DL_THREAD_CONSUMER).count, 3);
}

TEST(Metrics, AStallForALeaseSaysSo) {
  const Loader loader = make_loader(counting_dataset(100), {{"stats", "full"},
                                                            {"num_workers", "1"},
                                                            {"batch_size", "10"},
                                                            {"max_leases", "1"},
                                                            {"lease_overflow", "wait"}});
  const Metrics metrics = metrics_of(loader);
  Delivered held = next(loader);
  std::thread release([&] {
    take_time(30 * kMs);
    held.batch.reset();
  });
  ASSERT_EQ(next(loader).status, DL_OK);
  release.join();
  const std::vector<dl_stall> stalls = stalls_of(metrics);
  ASSERT_FALSE(stalls.empty());
  EXPECT_STREQ(stalls.back().cause, "leases");
}

TEST(Metrics, TheLast64StallsAreKept) {
  TestReader reader;
  reader.before = [](const int64_t*, int64_t) { take_time(11 * kMs); };
  const Dataset dataset = reader.dataset(70);
  const Loader loader =
      make_loader(dataset, {{"stats", "full"}, {"num_workers", "0"}, {"batch_size", "1"}, {"epochs", "1"}});
  const Metrics metrics = metrics_of(loader);
  ASSERT_EQ(epoch_samples(loader).size(), 70u);
  const std::vector<dl_stall> stalls = stalls_of(metrics);
  ASSERT_EQ(stalls.size(), 64u);
  EXPECT_EQ(stalls.front().step, 6);
  EXPECT_EQ(stalls.back().step, 69);
  Error error;
  dl_stall stall = {};
  stall.struct_size = sizeof stall;
  EXPECT_EQ(dl_metrics_stall_at(metrics.get(), 64, &stall, &error), DL_ERR_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "stall 64: expected 0 to 64 exclusive");
}

TEST(Metrics, OutliveTheirLoaderWithItsLastNumbers) {
  Loader loader =
      make_loader(counting_dataset(100), {{"stats", "full"}, {"batch_size", "10"}, {"epochs", "1"}});
  const Metrics metrics = metrics_of(loader);
  ASSERT_EQ(epoch_samples(loader).size(), 100u);
  loader.reset();
  EXPECT_EQ(row_of(metrics, "batches").value, 10);
  EXPECT_EQ(row_of(metrics, "work", "data: copy").bytes, 800);
  EXPECT_NE(text_of(metrics).find("dataline_batches_total 10\n"), std::string::npos);
}

TEST(Metrics, AreReadByManyThreadsWhileTheirLoaderEnds) {
  for (int round = 0; round < 20; ++round) {
    Loader loader = make_loader(
        counting_dataset(1'000),
        {{"stats", round % 2 == 0 ? "full" : "basic"}, {"num_workers", "2"}, {"batch_size", "10"}});
    const Metrics metrics = metrics_of(loader);
    Error error;
    intptr_t handle = 0;  // then workers take the loader's lock, too
    if (round % 4 < 2) {
      ASSERT_EQ(dl_loader_wait_handle(loader.get(), &handle, &error), DL_OK) << error.message;
    }
    std::atomic<bool> ended{false};
    std::atomic<int> reading{0};
    std::vector<std::thread> readers;
    for (int t = 0; t < 3; ++t) {
      readers.emplace_back([&] {
        while (!ended.load()) {
          EXPECT_NE(text_of(metrics).find("dataline_batches_total"), std::string::npos);
          stalls_of(metrics);
          reading.fetch_add(1);
        }
      });
    }
    for (int step = 0; step < 20; ++step) ASSERT_EQ(next(loader).status, DL_OK);
    while (reading.load() < 3) std::this_thread::yield();
    loader.reset();
    EXPECT_EQ(row_of(metrics, "batches").value, 20);
    ended.store(true);
    for (std::thread& reader : readers) reader.join();
  }
}

TEST(MetricsText, IsPrometheusTextWithEachSeriesOnce) {
  const Loader loader = make_loader(counting_dataset(100), {{"stats", "full"}, {"num_workers", "2"}});
  ASSERT_EQ(next(loader).status, DL_OK);
  const std::string text = text_of(metrics_of(loader), R"(rank="3",job="a\"b\\\n")");
  const std::regex comment(R"(# (HELP|TYPE) dataline_[a-z_]+ .+)");
  const std::regex sample(R"re((dataline_[a-z_]+\{rank="3",job="a\\"b\\\\\\n"[^}]*\}) [-+0-9.e]+)re");
  std::set<std::string> series, families;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (line.starts_with("# TYPE")) {
      EXPECT_TRUE(families.insert(line.substr(7, line.find(' ', 7) - 7)).second) << line;
    }
    if (line.starts_with("#")) {
      EXPECT_TRUE(std::regex_match(line, comment)) << line;
    } else {
      ASSERT_TRUE(std::regex_match(line, match, sample)) << line;
      EXPECT_TRUE(series.insert(match[1]).second) << line;
    }
  }
  for (const char* name :
       {"dataline_exposed_seconds_total", "dataline_next_seconds", "dataline_worker_work_seconds_total",
        "dataline_worker_wait_seconds_total", "dataline_held_bytes"})
    EXPECT_TRUE(families.contains(name)) << name;
}

TEST(MetricsText, HistogramsEndWithAllAndNeverFall) {
  const Loader loader =
      make_loader(counting_dataset(100), {{"stats", "full"}, {"batch_size", "10"}, {"epochs", "1"}});
  ASSERT_EQ(epoch_samples(loader).size(), 100u);
  const Metrics metrics = metrics_of(loader);
  const std::string text = text_of(metrics);
  const std::regex bucket(R"re(dataline_next_seconds_bucket\{le="([^"]+)"\} (\d+))re");
  int64_t before = 0;
  std::string last;
  for (std::sregex_iterator at(text.begin(), text.end(), bucket), end; at != end; ++at) {
    const int64_t count = std::stoll((*at)[2]);
    EXPECT_GE(count, before);
    before = count;
    last = (*at)[1];
  }
  EXPECT_EQ(last, "+Inf");
  EXPECT_EQ(before, row_of(metrics, "next", "", DL_THREAD_CONSUMER).count);
}

TEST(MetricsText, LabelsThatAreNoneAreRefusedByColumn) {
  const Loader loader = make_loader(counting_dataset(10));
  const Metrics metrics = metrics_of(loader);
  const auto refusal = [&](const char* labels) {
    Error error;
    size_t bytes = 0;
    EXPECT_EQ(dl_metrics_text(metrics.get(), labels, nullptr, &bytes, &error), DL_ERR_INVALID_ARGUMENT)
        << labels;
    return std::string(error.message);
  };
  for (const char* labels : {"rank", "rank=0", "rank=\"0", "0a=\"x\"", "a=\"x\" b=\"y\"", "a=\"x\",",
                             "a=\"\n\"", "a=\"\\x\"", ",", "a=\"x\",,b=\"y\"", "a-b=\"x\""})
    EXPECT_NE(refusal(labels).find("labels: expected "), std::string::npos)
        << labels << ": " << refusal(labels);
  EXPECT_EQ(refusal("thread=\"1\""), "labels: 'thread' is reserved for the loader");
  EXPECT_NE(refusal("a=\"x\",b").find("column 7"), std::string::npos) << refusal("a=\"x\",b");
}

TEST(MetricsText, TooLittleRoomSaysHowMuchIsNeededAndWritesNothing) {
  const Loader loader = make_loader(counting_dataset(10));
  const Metrics metrics = metrics_of(loader);
  Error error;
  char text[8] = "before";
  size_t bytes = sizeof text;
  EXPECT_EQ(dl_metrics_text(metrics.get(), nullptr, text, &bytes, &error), DL_ERR_INVALID_ARGUMENT);
  EXPECT_GT(bytes, sizeof text);
  EXPECT_STREQ(text, "before");
}

}  // namespace
}  // namespace dataline::tests::metrics_test
