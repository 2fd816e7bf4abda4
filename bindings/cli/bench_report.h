// What `bench` found out, and its two forms. The JSON keys are public (SURFACE section 5).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace dataline::cli {

// GB: 1e9 bytes of delivered fields. A yardstick that could not be measured is empty.
struct BenchResult {
  double samples_per_s = 0;
  double gb_per_s = 0;
  std::optional<double> memcpy_gb_per_s;
  std::optional<double> gather_gb_per_s;  // its samples/s times the bytes that the loader delivers for one
  int64_t gather_threads = 0;             // as many as the loader kept cores busy; 0: no gather
  std::optional<double> cpu_ratio;        // CPU seconds a sample: the gather's over the loader's
  double us_per_batch = 0;
  double first_batch_ms = 0;
  double consumer_wait_percent = 0;
  int64_t warned = 0;  // images
  std::optional<double> cpu_s_per_gb;
  int64_t peak_rss_bytes = 0;
  int64_t num_workers = 0;
  int64_t batches = 0;
  double seconds = 0;
  std::string device = "cpu";          // where the batches lie
  std::optional<double> bus_gb_per_s;  // sent to the device; empty on the cpu
  std::string remark;                  // why there is no gather, or what it stands for
};

std::string bench_json(const BenchResult& result);
std::string bench_text(const BenchResult& result);

}  // namespace dataline::cli
