// What threads do to a loader, and what must be true then. Options and calls are drawn by the schedule's seed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "tests/interleave/job.h"

namespace dataline::interleave {

struct Scenario {
  const char* name;
  const char* what;
  uint64_t share;  // of the schedules, in parts
  Config (*config)(Draws& draws);
  void (*body)(Job& job);
};
std::span<const Scenario> scenarios();

}  // namespace dataline::interleave
