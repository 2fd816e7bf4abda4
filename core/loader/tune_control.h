// How many workers work and how many batches are in flight: chosen by a Tuner (tuning/tuner.h) or by the host, applied to the
// pool and the window. The consumer asks it, in next(), so that tuning needs no thread.
//
// Owns the tuner; borrows the window and the pool.
// Threads: externally synchronized (the loader's lock).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/status.h"
#include "core/loader/batch_window.h"
#include "core/loader/ledger.h"
#include "core/loader/tuning/tuner.h"
#include "core/loader/worker_pool.h"

namespace dataline {

struct LoaderConfig;  // core/loader/config.h

// How many workers work, how far ahead, and what tuning makes of it.
struct Tuned {
  Tune mode = Tune::kOff;
  TuneSetting force, most, chosen;
  int64_t changes = 0;
  bool frozen = false;
  double batches_per_s = 0, wait_share = 0;
  std::string text;
};

class TuneControl {
 public:
  // All outlive it. The pool has its workers, which have no threads yet; those of config.start_workers will work.
  TuneControl(const LoaderConfig& config, BatchWindow& window, WorkerPool& pool);
  // Tuning begins, if there is any. The pool has started.
  void start();

  // With each batch that goes out. The text for the log; "": nothing is new.
  std::string observe(const LedgerCounters& counters) {
    return tuner_ != nullptr ? sample(counters) : std::string();
  }
  // 1 to the workers that were planned for. Ends tuning. kOutOfRange, kWrongState (there are none).
  Status set_workers(int64_t count);
  Tuned tuned() const;

  // In a state: a hint for the next start, on whatever machine that is. "" unless tune=on was requested: otherwise the states
  // of equal positions are equal.
  std::string state_text() const;
  // Ignores a text of another form, which a later release wrote.
  void start_from(std::string_view state_text);

 private:
  std::string sample(const LedgerCounters& counters);
  void put_in_force(TuneSetting setting);

  const LoaderConfig& config_;
  BatchWindow& window_;
  WorkerPool& pool_;
  std::unique_ptr<Tuner> tuner_;  // null: tune=off, or there are no workers
  int64_t sampled_ns_ = 0, cpus_read_ns_ = 0;
  int32_t cpus_ = 1;
  int64_t workers_set_ = 0;  // by set_workers(), how often
};

}  // namespace dataline
