// The results of `bench`. The keys of the JSON are public (SURFACE section 5).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dataline::cli {

// How much of the time that threads filled batches went into a stage.
struct StageShare {
  std::string stage;
  double percent = 0;
};

// A GB is 1e9 bytes of delivered fields. A yardstick that could not be measured is empty.
struct BenchResult {
  double samples_per_s = 0;
  double gb_per_s = 0;
  std::optional<double> memcpy_gb_per_s;
  std::optional<double> gather_gb_per_s;  // its samples/s times the loader's bytes per sample
  int64_t gather_threads = 0;             // 0: not measured
  double us_per_batch = 0;
  double first_batch_ms = 0;
  double consumer_wait_percent = 0;
  int64_t warned = 0;                      // images
  int64_t cache_read = 0, cache_made = 0;  // samples; 0 without a cache
  double cores_busy = 0;                   // by the loader and its consumer: CPU seconds per second
  std::optional<double> cpu_s_per_gb;
  std::optional<double> gather_cpu_s_per_gb;  // of the same delivered bytes
  int64_t peak_rss_bytes = 0;
  int64_t num_workers = 0;
  int64_t batches = 0;
  double seconds = 0;
  std::string device = "cpu";          // where the batches are delivered
  std::optional<double> bus_gb_per_s;  // copied to the device; empty for the cpu
  std::vector<StageShare> stages;      // with stats=full
  std::optional<dl_tuned> tuned;       // with tune=on and tune=watch
  std::string remark;                  // why the gather is missing, or what part of the dataset it covers
};

std::string bench_json(const BenchResult& result);
std::string bench_text(const BenchResult& result);

}  // namespace dataline::cli
