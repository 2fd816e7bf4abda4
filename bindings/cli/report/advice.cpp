// What the numbers of a report say, in words.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>

#include "bindings/cli/report/report_data.h"
#include "bindings/cli/text.h"

namespace dataline::cli {
namespace {

constexpr double kKeepsUp = 0.01;   // of the consumer's time: less waiting is nobody's trouble
constexpr double kCpusUsed = 0.85;  // of the CPUs: more are hardly ever to be had

bool is_consumers(const std::string& name) { return name == "next" || name == "step" || name == "release"; }
bool is_devices(const std::string& name) { return name == "copy" || name == "kernels"; }

bool is_wait(const std::string& name) {
  return name == "no room" || name == "no work" || name == "parked" || name == "device";
}

std::string percent(double share) { return fixed(100 * share, share < 0.1 ? 1 : 0) + " %"; }

}  // namespace

const MeasuredRow* ReportData::row(std::string_view name, std::string_view part, int32_t thread) const {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const MeasuredRow& each) {
    return each.name == name && each.part == part && each.thread == thread;
  });
  return found == rows.end() ? nullptr : &*found;
}

int64_t ReportData::value(std::string_view name) const {
  const MeasuredRow* found = row(name, "", DL_THREAD_ALL);
  return found == nullptr ? 0 : found->value;
}

double ReportData::waiting_share() const {
  if (is_trace) {
    const double next_us = timeline.total("next").sum_us, step_us = timeline.total("step").sum_us;
    return next_us + step_us > 0 ? next_us / (next_us + step_us) : 0;
  }
  const MeasuredRow* next = row("next", "", DL_THREAD_CONSUMER);
  const MeasuredRow* between = row("between", "", DL_THREAD_CONSUMER);
  if (next == nullptr || between == nullptr || next->value + between->value <= 0) return 0;
  return static_cast<double>(next->value) / static_cast<double>(next->value + between->value);
}

std::vector<StageTime> stage_times(const ReportData& data) {
  std::vector<StageTime> out;
  if (data.is_trace) {
    for (const std::string& name : data.timeline.names()) {
      const Durations total = data.timeline.total(name);
      if (is_consumers(name) || is_devices(name) || total.count == 0) continue;
      out.push_back({name, total.sum_us * 1e-6, total.quantile_us(0.5) * 1e-6, total.quantile_us(0.99) * 1e-6,
                     total.longest_us * 1e-6, total.count, is_wait(name)});
    }
  }
  for (const MeasuredRow& row : data.rows) {
    const bool waits = row.name == "wait";
    if (row.thread != DL_THREAD_ALL || !(waits || row.name == "work") || row.value <= 0) continue;
    const auto seconds = [](int64_t ns) { return static_cast<double>(ns) * 1e-9; };
    out.push_back({row.part, seconds(row.value), seconds(row.p50_ns), seconds(row.p99_ns),
                   seconds(row.max_ns), row.count, waits});
  }
  std::sort(out.begin(), out.end(),
            [](const StageTime& a, const StageTime& b) { return a.seconds > b.seconds; });
  return out;
}

std::vector<std::string> advice(const ReportData& data) {
  const double waits = data.waiting_share();
  std::vector<std::string> out;
  if (waits < kKeepsUp) {
    out.push_back("The consumer waits " + percent(waits) +
                  " of the time: loading keeps up, and nothing here would make the job faster.");
    return out;
  }
  double work = 0;
  const StageTime* longest = nullptr;
  const std::vector<StageTime> stages = stage_times(data);
  for (const StageTime& stage : stages) {
    if (stage.waits) continue;
    work += stage.seconds;
    if (longest == nullptr) longest = &stage;
  }
  std::string first = "The consumer waits " + percent(waits) + " of the time";
  if (longest != nullptr)
    first += "; the stage '" + longest->name + "' takes most of the threads' work, " +
             percent(longest->seconds / work);
  out.push_back(first + ".");
  if (data.is_trace) return out;
  const MeasuredRow* queued = data.row("off_cpu", "no CPU", DL_THREAD_ALL);
  const MeasuredRow* blocked = data.row("off_cpu", "storage", DL_THREAD_ALL);
  const double work_ns = work * 1e9;
  const double cpus_busy = data.seconds > 0 ? data.cpu_seconds / data.seconds : 0;
  const bool used = cpus_busy >= kCpusUsed * data.cpus;
  const std::string busy =
      "The job keeps " + fixed(cpus_busy, 2) + " of " + fixed(data.cpus, 1) + " CPUs busy";
  if (blocked != nullptr && static_cast<double>(blocked->value) > 0.3 * work_ns) {
    out.push_back(
        "Working threads are blocked " + percent(static_cast<double>(blocked->value) / work_ns) +
        " of that time, mostly by storage: raise prefetch_depth, use shuffle=window, or a faster drive.");
  } else if (!used && queued != nullptr && static_cast<double>(queued->value) > 0.2 * work_ns) {
    const auto queued_ns = static_cast<double>(queued->value);  // measured more finely than the work
    const double share = queued_ns / std::max(work_ns, queued_ns + data.cpu_seconds * 1e9);
    const double cpus = std::ceil(data.cpus);
    out.push_back("Working threads had no CPU for " + percent(share) + " of that time: " +
                  (static_cast<double>(data.workers) > cpus
                       ? std::to_string(data.workers) + " workers share " + fixed(data.cpus, 1) +
                             " CPUs, try num_workers=" + fixed(cpus, 0) + "."
                       : "more workers would not help, other programs or a quota take the CPUs."));
  } else if (!used && static_cast<double>(data.workers) < data.cpus) {
    out.push_back(busy +
                  (data.workers == 0 ? ", since one thread does all the loading"
                                     : ", with num_workers=" + std::to_string(data.workers)) +
                  ": try num_workers=" + fixed(std::ceil(data.cpus), 0) + ".");
  } else if (!used) {
    out.push_back(
        busy + ", although there is a worker for each: run dataline doctor to find the option that helps.");
  } else if (longest != nullptr) {
    out.push_back(busy + ": make '" + longest->name + "' cheaper, or do it once and store the result.");
  }
  return out;
}

}  // namespace dataline::cli
