// The live line of a job whose batches are written somewhere: where it is, how fast, what share of the time it waits for the
// loader, and how long it will take.
// Threads: one at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/cli/clock.h"
#include "bindings/cli/job.h"
#include "bindings/cli/live_line.h"

namespace dataline::cli {

constexpr int64_t kNoLimit = INT64_MAX;

class JobLine {
 public:
  // `command` begins the line. Both must outlive this object. Time counts from now on.
  JobLine(const char* command, const Job& job, const dl_loader* loader)
      : command_(command), job_(job), loader_(loader) {}

  // After so many batches of the run, of which `wanted` are all, and so many bytes written.
  LiveLine after(int64_t batches, int64_t wanted, int64_t bytes);

 private:
  int64_t batches_to_end(int64_t epoch, int64_t step) const;

  const char* command_;
  const Job& job_;
  const dl_loader* loader_;
  const Clock::time_point start_ = Clock::now();
  Pace pace_;
};

}  // namespace dataline::cli
