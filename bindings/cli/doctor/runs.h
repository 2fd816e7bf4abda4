// Runs of a loader, timed with a consumer of a given kind.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bindings/cli/command_line.h"
#include "bindings/cli/doctor/findings.h"
#include "bindings/cli/interrupts.h"
#include "bindings/cli/job.h"
#include "bindings/cli/progress.h"

namespace dataline::cli {

struct ConsumerPlan {
  double seconds = 0;      // a batch
  bool burns_cpu = false;  // else it sleeps, as a trainer whose work is on a device
  int64_t holds = 1;       // batches at a time
};

struct RunPlan {
  std::string name;
  std::vector<Setting> settings{};  // over those of the command line
  ConsumerPlan consumer{};
  bool same_samples = false;  // a few batches again and again, after a pass over them
};

// What all runs have in common. The dataset is opened once: that may take as long as many runs.
struct RunBase {
  RunBase(const Request& request, const Interrupts& interrupts, Progress& progress);  // throws Failure

  const Request& request;
  const Interrupts& interrupts;
  Progress& progress;
  Job job;
  Dataset dataset;
};

// One round of `plan`, of about `seconds` after a warm-up. Throws Failure.
Run run_once(const RunBase& base, const RunPlan& plan, double seconds);

// Of several rounds; not empty. Medians, but means of what rare samples cause.
Run median_run(const std::vector<Run>& rounds);

}  // namespace dataline::cli
