// The consumer of `bench`: takes batches and releases them, and starts a job again that has ended.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "bindings/cli/job.h"
#include "bindings/cli/live_line.h"

namespace dataline::cli {

// What a loader delivered in some time.
struct Round {
  double seconds = 0;
  double cpu_seconds = 0;  // of all threads
  dl_stats before{}, after{};

  double delivered(int64_t dl_stats::*count) const {
    return static_cast<double>(after.*count - before.*count);
  }
};

class Consumer {
 public:
  Consumer(const Job& job, Loader loader);  // a loader that has delivered nothing yet

  dl_loader* loader() const { return loader_.get(); }
  bool next(Batch* out);  // false: an epoch has ended
  void take(int64_t batches);
  dl_stats stats() const;
  dl_tuned tuned() const;
  void position(int64_t* epoch, int64_t* step) const;
  int64_t slots() const;  // of the loader: it prefetches at most an epoch, and one batch without workers

  // Takes batches for one epoch, but for at least and at most so many seconds.
  void warm_up(double least_seconds, double most_seconds);
  // Takes batches for so many seconds. `seen`, if any, is called about every interval of the live line with what was delivered
  // since the round began.
  Round round(double seconds, const std::function<void(const Delivered&)>& seen);
  // Until the workers have filled what they may ahead of the consumer, so that they take no core from what runs next.
  void settle(double most_seconds) const;

 private:
  int64_t option(const char* key) const;
  int64_t ahead() const;  // batches filled before they are asked for

  const Job& job_;
  Loader loader_;
  int64_t start_epoch_ = 0;
  int64_t start_step_ = 0;
  int64_t batches_a_check_ = 1;  // between readings of the clock
};

}  // namespace dataline::cli
