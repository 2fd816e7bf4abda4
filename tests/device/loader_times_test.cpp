// What a loader tells of the device's work: how long copies and kernels took by the device's own clock, and when.
// SPDX-License-Identifier: Apache-2.0
#include <ctime>
#include <filesystem>
#include <fstream>

#include "tests/device/loader_support.h"
#include "tests/loader/measured.h"
#include "tests/support/temp_folder.h"

namespace dataline::tests::loader_times_test {
namespace {

constexpr int64_t kBatches = 36;  // three epochs
// Each batch's copies are waited for, so that each is told of.
const Settings kJob = {{"batch_size", "8"}, {"num_workers", "2"}, {"epochs", "3"}, {"device_sync", "host"}};

class DeviceTimes : public DeviceLoaders {
 protected:
  DeviceTimes() { dataset_ = reader_.dataset(96); }
  // The whole job, whose metrics outlive it.
  Metrics run(const Settings& more) {
    Consumer consumer;
    const Loader loader = make_loader(dataset_, on_device(kJob + more));
    Metrics metrics = metrics_of(loader);
    int64_t batches = 0;
    for (const Content& content : whole_job(loader, &consumer)) batches += content.status == DL_OK ? 1 : 0;
    EXPECT_EQ(batches, kBatches);
    return metrics;
  }
  MixedReader reader_;
  Dataset dataset_;
};

int64_t number_after(const std::string& text, const std::string& key) {
  return std::stoll(text.substr(text.find(key) + key.size()));
}

int64_t now_us() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000;
}

TEST_F(DeviceTimes, AreMeasuredForEachBatchWithStatsFull) {
  const Metrics metrics = run({{"stats", "full"}});
  const dl_metric copies = row_of(metrics, "device", "copy"), kernels = row_of(metrics, "device", "kernels");
  EXPECT_EQ(copies.count, kBatches);
  EXPECT_EQ(kernels.count, kBatches);
  EXPECT_GT(copies.value, 0);
  EXPECT_LE(copies.p50_ns, copies.max_ns);
  EXPECT_EQ(copies.bytes, row_of(metrics, "copied_bytes").value);
  EXPECT_THAT(text_of(metrics), ::testing::HasSubstr("\ndataline_device_seconds_total{stage=\"copy\"} "));
}

TEST_F(DeviceTimes, WithoutStatsFullCostNoCallOfTheDriver) {
  const Metrics metrics = run({});
  EXPECT_EQ(std::string(row_of(metrics, "device", "copy").name), "");
  EXPECT_EQ(fake_cuda_calls("cuEventElapsedTime"), 0);
  EXPECT_EQ(fake_cuda_live_with("events", 0), 0);
}

TEST_F(DeviceTimes, ThatTheDriverDoesNotTellAreLeftOutAndTheBatchesCome) {
  constexpr int32_t kInvalidValue = 1;
  fake_cuda_fail_name("cuEventElapsedTime", 0, kInvalidValue, -1);
  const Metrics metrics = run({{"stats", "full"}});
  EXPECT_EQ(row_of(metrics, "device", "copy").count, 0);
}

TEST_F(DeviceTimes, AreATrackOfTheTraceWithinTheRunAndOneAfterAnotherInEachStream) {
  const std::string folder = make_temp_folder("dataline-device-times");
  const std::string path = folder + "/trace.json";
  run({{"trace", path}});
  std::ifstream file(path);
  int64_t named = 0, spans = 0, monotonic_us = 0, realtime_us = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.find("realtime_ns") != std::string::npos) {
      realtime_us = number_after(line, "\"realtime_ns\":\"") / 1000;
      monotonic_us = number_after(line, "\"monotonic_ns\":\"") / 1000;
    }
    named += line.find("\"tid\":3,\"args\":{\"name\":\"device\"}") != std::string::npos ? 1 : 0;
    if (line.find("\"name\":\"copy\"") == std::string::npos) continue;
    ++spans;
    EXPECT_NE(line.find("\"tid\":3,"), std::string::npos) << line;
    const int64_t begin_us = number_after(line, "\"ts\":");
    EXPECT_GE(begin_us, realtime_us) << line;
    EXPECT_LE(begin_us + number_after(line, "\"dur\":"), realtime_us + now_us() - monotonic_us) << line;
  }
  EXPECT_EQ(named, 1);
  EXPECT_EQ(spans, kBatches);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace dataline::tests::loader_times_test
