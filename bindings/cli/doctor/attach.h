// The verdict on a job that ran elsewhere, from its trace (`trace=FILE`) alone.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bindings/cli/doctor/judge.h"
#include "bindings/cli/report/timeline.h"

namespace dataline::cli {

// What a trace tells. The first wait, in which everything starts, does not count.
struct TraceFigures {
  int64_t steps = 0;
  double next_ms = 0, step_ms = 0;  // a step: in dl_loader_next, and outside of it
  double work_ms = 0;               // a step, of all threads together
  double helped_ms = 0;             // of that, by the consumer itself in dl_loader_next
  double read_share = 0;            // of the work
  double idle_share = 0;            // of the workers' time: no room, or no work
  int64_t workers = 0;              // 0: the consumer loads
  struct Stage {
    std::string name;
    double share = 0;  // of the work
    double p50_ms = 0, p99_ms = 0, longest_ms = 0;
  };
  std::vector<Stage> stages;  // the longest first

  double wait_share() const { return next_ms + step_ms > 0 ? next_ms / (next_ms + step_ms) : 0; }
};

TraceFigures trace_figures(const Timeline& timeline);

// `cpus`: of the machine that doctor runs on. A gain is predicted by a model, since nothing was run: work divides among workers, and
// is done while the consumer is busy.
Verdict judge_trace(const TraceFigures& figures, double cpus);

std::string trace_json(const TraceFigures& figures, const Verdict& verdict, double cpus);
std::string trace_text(const TraceFigures& figures, const Verdict& verdict);

}  // namespace dataline::cli
