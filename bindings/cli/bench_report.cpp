// The report of `bench`, as JSON and as text.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/bench_report.h"

#include <vector>

#include "bindings/cli/json.h"
#include "bindings/cli/text.h"

namespace dataline::cli {
namespace {

std::optional<double> quotient(double value, const std::optional<double>& of) {
  return of && *of > 0 ? std::optional(value / *of) : std::nullopt;
}

// CPU seconds: the gather's over the loader's, so that 1 is as good as a bare loop, as in the ratio of rates.
std::optional<double> cpu_ratio(const BenchResult& result) {
  return result.gather_cpu_s_per_gb ? quotient(*result.gather_cpu_s_per_gb, result.cpu_s_per_gb)
                                    : std::nullopt;
}

// "0.062 s a GB, 1.97 cores busy; gather 0.058 s a GB on 2 threads, 0.935 of it"
std::string cpu_text(const BenchResult& result) {
  std::string text = (result.cpu_s_per_gb ? fixed(*result.cpu_s_per_gb, 3) + " s a GB, " : "") +
                     fixed(result.cores_busy, 2) + " cores busy";
  if (const auto ratio = cpu_ratio(result)) {
    text += "; gather " + fixed(*result.gather_cpu_s_per_gb, 3) + " s a GB on " +
            grouped(result.gather_threads) + (result.gather_threads == 1 ? " thread, " : " threads, ") +
            fixed(*ratio, 3) + " of it";
  }
  return text;
}

}  // namespace

std::string bench_json(const BenchResult& result) {
  Json json;
  const auto optional = [&](const char* key, const std::optional<double>& value) {
    json.key(key);
    value ? json.value(*value) : json.null();
  };
  json.begin_object();
  json.key("samples_per_s").value(result.samples_per_s);
  json.key("gb_per_s").value(result.gb_per_s);
  optional("memcpy_gb_per_s", result.memcpy_gb_per_s);
  optional("memcpy_ratio", quotient(result.gb_per_s, result.memcpy_gb_per_s));
  optional("gather_gb_per_s", result.gather_gb_per_s);
  optional("gather_ratio", quotient(result.gb_per_s, result.gather_gb_per_s));
  json.key("gather_threads").value(result.gather_threads);
  optional("cpu_ratio", cpu_ratio(result));
  json.key("us_per_batch").value(result.us_per_batch);
  json.key("first_batch_ms").value(result.first_batch_ms);
  json.key("consumer_wait_percent").value(result.consumer_wait_percent);
  optional("cpu_s_per_gb", result.cpu_s_per_gb);
  optional("gather_cpu_s_per_gb", result.gather_cpu_s_per_gb);
  json.key("peak_rss_bytes").value(result.peak_rss_bytes);
  json.key("num_workers").value(result.num_workers);
  json.key("batches").value(result.batches);
  json.key("seconds").value(result.seconds);
  json.key("device").value(result.device);
  optional("bus_gb_per_s", result.bus_gb_per_s);
  if (!result.stages.empty()) {
    json.key("stages").begin_array();
    for (const StageShare& share : result.stages)
      json.begin_object().key("stage").value(share.stage).key("percent").value(share.percent).end_object();
    json.end_array();
  }
  if (result.tuned) {
    json.key("tuned").begin_object();
    json.key("num_workers")
        .value(result.tuned->num_workers)
        .key("prefetch_depth")
        .value(result.tuned->prefetch_depth);
    json.key("wanted_workers")
        .value(result.tuned->wanted_workers)
        .key("wanted_depth")
        .value(result.tuned->wanted_depth);
    json.key("changes").value(result.tuned->changes).key("frozen").value(result.tuned->frozen != 0);
    json.key("text").value(std::string(result.tuned->text)).end_object();
  }
  return json.end_object().text() + "\n";
}

std::string bench_text(const BenchResult& result) {
  const auto yardstick = [&](const std::optional<double>& gb_per_s) -> std::string {
    if (!gb_per_s) return "-";
    const auto ratio = quotient(result.gb_per_s, gb_per_s);
    return fixed(*gb_per_s, 2) + " GB/s, the loader reaches " + (ratio ? fixed(*ratio, 3) : "-") + " of it";
  };
  const std::string workers = result.num_workers == 0   ? "in the caller's thread"
                              : result.num_workers == 1 ? "1 worker"
                                                        : grouped(result.num_workers) + " workers";
  std::vector<std::vector<std::string>> rows = {
      {"loader", scaled(result.samples_per_s) + " samples/s, " + fixed(result.gb_per_s, 2) + " GB/s, " +
                     fixed(result.us_per_batch, 2) + " us per batch, " + workers},
      {"gather", yardstick(result.gather_gb_per_s)},
      {"memcpy", yardstick(result.memcpy_gb_per_s)},
      {"first batch", fixed(result.first_batch_ms, 2) + " ms after the call to open"},
      {"consumer", "waited " + fixed(result.consumer_wait_percent, 1) + " % of the time, doing nothing else"},
      {"CPU", cpu_text(result)},
      {"peak memory", bytes_text(static_cast<double>(result.peak_rss_bytes))},
      {"measured", grouped(result.batches) + " batches in " + fixed(result.seconds, 2) + " s"}};
  if (result.bus_gb_per_s) {
    rows.push_back({"device", result.device + ", " + fixed(*result.bus_gb_per_s, 2) +
                                  " GB/s sent to it; gather and memcpy stay on the host"});
  }
  for (size_t at = 0; at < result.stages.size(); ++at) {
    const StageShare& share = result.stages[at];
    rows.push_back({at == 0 ? "work" : "", fixed(share.percent, 1) + " % " + share.stage});
  }
  if (result.cache_read + result.cache_made > 0) {
    rows.push_back(
        {"cache", grouped(result.cache_read) + " samples found, " + grouped(result.cache_made) + " made"});
  }
  if (result.tuned) rows.push_back({"tuning", result.tuned->text});
  if (result.warned > 0) rows.push_back({"warnings", warned_text(result.warned)});
  if (!result.remark.empty()) rows.push_back({"note", result.remark});
  return table_text(rows, output_width(), 0);
}

}  // namespace dataline::cli
