// SPDX-License-Identifier: Apache-2.0
#include "bench/end_to_end/measure.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace bench {

namespace {

int64_t read_clock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

int64_t now_ns() { return read_clock(CLOCK_MONOTONIC); }

int64_t process_cpu_ns() { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

namespace {

int64_t status_bytes(const char* format) {
  std::FILE* status = std::fopen("/proc/self/status", "r");
  if (status == nullptr) return 0;
  char line[256];
  long long kib = 0;
  while (std::fgets(line, sizeof line, status) != nullptr) {
    if (std::sscanf(line, format, &kib) == 1) break;
  }
  std::fclose(status);
  return int64_t{kib} * 1024;
}

}  // namespace

int64_t rss_bytes() { return status_bytes("VmRSS: %lld kB"); }

int64_t peak_rss_bytes() { return status_bytes("VmHWM: %lld kB"); }

void Report::set(const std::string& variant, const std::string& metric, double value) {
  values_[variant][metric] = value;
}

void Report::note(const std::string& variant, const std::string& text) { notes_[variant] = text; }

void Report::print_round() {
  Json json;
  json.begin_object().key("round").begin_object();
  for (const auto& [variant, metrics] : values_) {
    json.key(variant).begin_object();
    for (const auto& [metric, value] : metrics) json.key(metric).value(value);
    json.end_object();
  }
  json.end_object().key("notes").begin_object();
  for (const auto& [variant, text] : notes_) json.key(variant).value(text);
  json.end_object().end_object();
  print_line(json);
  values_.clear();
  notes_.clear();
}

void print_line(const Json& json) {
  std::printf("%s\n", json.text().c_str());
  std::fflush(stdout);
}

void report_throughput(Report& report, const std::string& variant, const Throughput& done) {
  const double seconds = static_cast<double>(done.elapsed_ns) * 1e-9;
  const double gigabytes = static_cast<double>(done.bytes) * 1e-9;
  report.set(variant, "rows_per_s", static_cast<double>(done.rows) / seconds);
  report.set(variant, "gb_per_s", gigabytes / seconds);
  report.set(variant, "cpu_s_per_gb", static_cast<double>(done.cpu_ns) * 1e-9 / gigabytes);
  report.set(variant, "cores", static_cast<double>(done.cpu_ns) / static_cast<double>(done.elapsed_ns));
  report.set(variant, "us_per_batch", seconds * 1e6 / static_cast<double>(done.batches));
  if (done.wait_ns > 0) {
    report.set(variant, "wait_percent",
               100.0 * static_cast<double>(done.wait_ns) / static_cast<double>(done.elapsed_ns));
  }
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 != 0 ? values[half] : (values[half - 1] + values[half]) / 2;
}

void fail(const std::string& message) {
  std::fprintf(stderr, "bench: %s\n", message.c_str());
  std::exit(1);
}

}  // namespace bench
