// What a report tells: of a run that was made for it, or of a trace alone.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline.h>

#include <cstdint>
#include <string>
#include <vector>

#include "bindings/cli/report/timeline.h"

namespace dataline::cli {

// A row of dl_metrics, by value.
struct MeasuredRow {
  std::string name, part, unit;
  int32_t thread = 0;
  int64_t value = 0, count = 0, bytes = 0, p50_ns = 0, p99_ns = 0, max_ns = 0;
};

struct OptionLine {
  std::string key, value, default_value;
};

struct MeasuredStall {
  int64_t epoch = 0, step = 0, wait_ns = 0;
  std::string cause;
};

struct ReportData {
  std::string subject;    // the URI, or the trace's path
  bool is_trace = false;  // then what follows `timeline` is empty
  Timeline timeline;
  double seconds = 0;
  double traced_seconds = 0;  // of them, where the time line was ended for its size; 0: it has all
  std::vector<MeasuredRow> rows;
  std::vector<MeasuredStall> stalls;
  std::vector<OptionLine> options;
  std::vector<std::string> bad_samples;  // one line each; the first few
  int64_t bad_count = 0;
  std::string plan;       // as `info --plan` prints it
  std::string sheet_png;  // "": none, and why:
  std::string sheet_remark;
  double samples = 0, bytes = 0, cpu_seconds = 0, memcpy_gb_per_s = 0;
  double cpus = 0;  // that this process may use
  int64_t workers = 0, peak_rss_bytes = 0;
  std::string cpu, version;

  const MeasuredRow* row(std::string_view name, std::string_view part, int32_t thread) const;
  int64_t value(std::string_view name) const;  // of a counter or gauge; 0: there is none
  // Of the consumer's time.
  double waiting_share() const;
};

// How long stages took, all threads together, the longest first: from rows, or from a trace.
struct StageTime {
  std::string name;
  double seconds = 0, p50_s = 0, p99_s = 0, longest_s = 0;
  int64_t count = 0;
  bool waits = false;
};
std::vector<StageTime> stage_times(const ReportData& data);

// At most three sentences: whether the consumer waits, for what, and what to change.
std::vector<std::string> advice(const ReportData& data);

// The whole page.
std::string report_page(const ReportData& data);

}  // namespace dataline::cli
