// Clocks and statistics of this process, and the lines a row prints.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bindings/cli/json.h"

namespace bench {

int64_t now_ns();          // monotonic
int64_t process_cpu_ns();  // all threads of this process
int64_t rss_bytes();       // now
int64_t peak_rss_bytes();  // VmHWM: of this program image, unlike ru_maxrss, which survives exec

struct Settings {
  std::string data_dir;
  std::string photos_dir;  // photographs, read in place
  double seconds = 0.5;    // a variant's share of a round
  bool small = false;      // small data, to check that it runs and results are sane
};

// The results of one round of one variant. Metric names end in their unit and are the keys of the results file.
class Report {
 public:
  void set(const std::string& variant, const std::string& metric, double value);
  void note(const std::string& variant, const std::string& text);
  // Returns one line of JSON and clears the metrics.
  void print_round();

 private:
  std::map<std::string, std::map<std::string, double>> values_;
  std::map<std::string, std::string> notes_;
};

// Work done in an interval.
struct Throughput {
  int64_t batches = 0;
  int64_t rows = 0;
  int64_t bytes = 0;
  int64_t elapsed_ns = 0;
  int64_t cpu_ns = 0;
  int64_t wait_ns = 0;  // the consumer's time inside next and release
};
void report_throughput(Report& report, const std::string& variant, const Throughput& done);

using Json = dataline::cli::Json;  // the shell's writer
void print_line(const Json& json);
double median(std::vector<double> values);

// Keeps the compiler from removing an unused result.
template <typename T>
inline void keep(const T& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

[[noreturn]] void fail(const std::string& message);

}  // namespace bench
