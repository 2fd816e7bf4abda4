// How many threads fill, and whether that is tuned.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "core/base/thread.h"
#include "core/loader/tuning/tuner.h"

namespace dataline {

struct WorkerConfig {
  int64_t num_workers = 1;    // with tune=on the limit, for which memory is planned
  int64_t start_workers = 1;  // at create
  bool workers_are_auto = false;
  Tune tune = Tune::kOff;
  bool tune_is_auto = false;
  std::shared_ptr<const ThreadHooks> threads;  // from the extensions; may be null
};

}  // namespace dataline
