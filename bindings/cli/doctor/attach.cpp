// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/doctor/attach.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "bindings/cli/json.h"
#include "bindings/cli/text.h"

namespace dataline::cli {
namespace {

constexpr double kTraceWaits = 0.02;  // as the consumer's limit in judge.cpp
constexpr double kMostOfTheWork = 0.4;
constexpr double kMostOfNext = 0.5;
constexpr double kIdle = 0.2;      // of the workers' time
constexpr double kUnevenRuns = 8;  // p99 over p50
constexpr double kTraceNoGain = 1.08;

bool is_idle(std::string_view name) { return name == "no room" || name == "no work" || name == "device"; }
bool is_loading(std::string_view name) {
  return !is_idle(name) && name != "parked" && name != "next" && name != "step" && name != "release";
}

double sum_us(const Timeline& timeline, const Timeline::Track& track, bool (*wanted)(std::string_view)) {
  double sum = 0;
  for (size_t i = 0; i < track.totals.size(); ++i)
    if (wanted(timeline.names()[i])) sum += track.totals[i].sum_us;
  return sum;
}

double first_wait_us(const Timeline& timeline) {
  for (const Timeline::Wait& wait : timeline.longest_waits())
    if (wait.epoch == 0 && wait.step == 0) return wait.took_us;
  return 0;
}

// What a step takes where `workers` share the work beside the consumer.
double modelled_ms(const TraceFigures& figures, double workers) {
  return std::max(figures.step_ms, figures.work_ms / workers);
}

std::string share_text(double share) { return fixed(100 * share, share < 0.1 ? 1 : 0) + " %"; }

Verdict more_workers(const TraceFigures& figures, int64_t workers, double gain, const std::string& why) {
  return {.cause = "too_few_workers",
          .text = "num_workers=" + std::to_string(workers) + " (now " + std::to_string(figures.workers) +
                  "): predicted " + fixed(gain, 2) + "x, because " + why,
          .change = Change{"num_workers", std::to_string(workers)},
          .predicted_gain = gain};
}

// Workers that rest although the consumer waits: batches come in bursts.
Verdict of_bursts(const TraceFigures& figures) {
  const std::string rest = "the workers are idle for " + share_text(figures.idle_share) +
                           " of their time although the consumer waits: ";
  for (const TraceFigures::Stage& stage : figures.stages) {
    if (stage.share < kMostOfTheWork || stage.p50_ms <= 0 || stage.p99_ms < kUnevenRuns * stage.p50_ms)
      continue;
    return {.cause = "uneven_samples",
            .text = rest + "one run of '" + stage.name + "' in a hundred takes " +
                    fixed(stage.p99_ms / stage.p50_ms, 0) +
                    " times as long as the median; more batches in flight (prefetch_depth) even that out"};
  }
  return {.cause = "prefetch_depth",
          .text = rest + "batches take unequal times, and too few are in flight; raise prefetch_depth"};
}

// Whoever loads has no rest.
Verdict of_work(const TraceFigures& figures, const std::string& who) {
  if (figures.stages.empty() || figures.stages[0].share < kMostOfTheWork)
    return {.cause = "cpu", .text = who + ": more CPUs, or less work per sample, would help"};
  return {.cause = "transform",
          .text = who + "; '" + figures.stages[0].name + "' takes " + share_text(figures.stages[0].share) +
                  " of the work: make it cheaper, store its result, or use more CPUs"};
}

}  // namespace

TraceFigures trace_figures(const Timeline& timeline) {
  TraceFigures figures;
  const Durations next = timeline.total("next"), step = timeline.total("step");
  figures.steps = std::max(next.count, step.count);
  if (figures.steps == 0) return figures;
  const auto steps = static_cast<double>(figures.steps);
  figures.next_ms = 1e-3 * (next.sum_us - first_wait_us(timeline)) / steps;
  figures.step_ms = 1e-3 * step.sum_us / steps;
  double work_us = 0, idle_us = 0, busy_us = 0;
  for (const auto& [number, track] : timeline.tracks()) {
    const double loading_us = sum_us(timeline, track, is_loading);
    work_us += loading_us;
    if (number == 0) figures.helped_ms = 1e-3 * loading_us / steps;
    if (number == 0 || track.totals.empty()) continue;
    ++figures.workers;
    busy_us += loading_us;
    idle_us += sum_us(timeline, track, is_idle);
  }
  figures.work_ms = 1e-3 * work_us / steps;
  figures.idle_share = busy_us + idle_us > 0 ? idle_us / (busy_us + idle_us) : 0;
  for (const std::string& name : timeline.names()) {
    const Durations total = timeline.total(name);
    if (!is_loading(name) || work_us <= 0) continue;
    figures.stages.push_back({name, total.sum_us / work_us, 1e-3 * total.quantile_us(0.5),
                              1e-3 * total.quantile_us(0.99), 1e-3 * total.longest_us});
    if (name == "read") figures.read_share = total.sum_us / work_us;
  }
  std::sort(figures.stages.begin(), figures.stages.end(),
            [](const auto& a, const auto& b) { return a.share > b.share; });
  return figures;
}

Verdict judge_trace(const TraceFigures& figures, double cpus) {
  if (figures.wait_share() < kTraceWaits)
    return {.cause = "consumer",
            .text = "the consumer is the limit: it takes " + fixed(figures.step_ms, 2) +
                    " ms per step and waits for " + share_text(figures.wait_share()) +
                    " of the time; nothing to gain here"};
  const std::string waits = "the consumer waits for " + share_text(figures.wait_share()) + " of the time";
  const auto most = std::max<int64_t>(1, static_cast<int64_t>(std::ceil(cpus)));
  const double now_ms = figures.next_ms + figures.step_ms;
  const double gain = now_ms / modelled_ms(figures, static_cast<double>(most));
  if (figures.workers == 0 && gain >= kTraceNoGain)
    return more_workers(figures, most, gain,
                        waits + ", in which it loads alone: loading and the step take turns in one thread");
  if (figures.read_share >= kMostOfTheWork)
    return {.cause = "storage",
            .text = waits + ", and the workers spend " + share_text(figures.read_share) +
                    " of their work on reading: storage is the limit"};
  if (figures.workers > 0 && figures.helped_ms >= kMostOfNext * figures.next_ms)
    return of_work(figures, waits + ", in which it loads together with the workers");
  if (figures.workers > 0 && figures.idle_share >= kIdle) return of_bursts(figures);
  if (figures.workers > 0 && figures.workers < most && gain >= kTraceNoGain)
    return more_workers(figures, most, gain,
                        waits + ", the workers are busy for " + share_text(1 - figures.idle_share) +
                            " of their time, and this machine has " + std::to_string(most) + " CPUs");
  return of_work(figures, waits + ", and all workers are busy");
}

std::string trace_json(const TraceFigures& figures, const Verdict& verdict, double cpus) {
  Json json;
  json.begin_object().key("verdict").value(verdict.text).key("cause").value(verdict.cause).key("change");
  if (verdict.change) {
    json.begin_object().key("option").value(verdict.change->option);
    json.key("value").value(verdict.change->value).end_object();
  } else {
    json.null();
  }
  json.key("predicted_gain").value(verdict.predicted_gain).key("measured_gain").null();
  json.key("evidence").begin_array().begin_object().key("run").value("trace");
  json.key("steps").value(figures.steps).key("wait_share").value(figures.wait_share());
  json.key("step_ms").value(figures.step_ms).key("work_ms").value(figures.work_ms);
  json.key("num_workers").value(figures.workers).key("idle_share").value(figures.idle_share);
  json.key("read_share").value(figures.read_share).end_object().end_array();
  json.key("stages").begin_array();
  for (const TraceFigures::Stage& stage : figures.stages) {
    json.begin_object().key("stage").value(stage.name).key("share").value(stage.share);
    json.key("p50_ms").value(stage.p50_ms).key("p99_ms").value(stage.p99_ms);
    json.key("longest_ms").value(stage.longest_ms).end_object();
  }
  json.end_array().key("memory").begin_array().end_array().key("cpus").value(cpus);
  return json.end_object().text() + "\n";
}

std::string trace_text(const TraceFigures& figures, const Verdict& verdict) {
  std::string out = table_text({{"from the trace alone: " + verdict.text}}, output_width(), 0);
  out += "\n" + grouped(figures.steps) + " steps of " + fixed(figures.next_ms + figures.step_ms, 3) +
         " ms, waiting " + share_text(figures.wait_share()) + "; " +
         (figures.workers == 0
              ? "the consumer loads alone"
              : std::to_string(figures.workers) + (figures.workers == 1 ? " worker" : " workers") +
                    ", idle " + share_text(figures.idle_share) + " of the time") +
         "\n\n";
  std::vector<std::vector<std::string>> rows = {{"stage", "of the work", "p50 ms", "p99 ms", "longest ms"}};
  for (const TraceFigures::Stage& stage : figures.stages)
    rows.push_back({escaped_text(stage.name, true), share_text(stage.share), fixed(stage.p50_ms, 3),
                    fixed(stage.p99_ms, 3), fixed(stage.longest_ms, 3)});
  return out + table_text(rows, output_width(), 0);
}

}  // namespace dataline::cli
