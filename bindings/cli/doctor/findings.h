// What `doctor` has measured, as plain values: the judgement (judge.h) sees nothing else.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dataline::cli {

// A loader under one set of options, with one consumer; of several rounds each figure is the median, or the mean.
struct Run {
  std::string name{};  // "as asked", "num_workers=2"
  double samples_per_s = 0;
  double wait_share = 0;  // of the time, in dl_loader_next
  double step_ms = 0;     // what the consumer took a batch, outside of it
  double samples_a_step = 0;
  double workers_busy = 0;   // CPU seconds of the workers a second
  double cpus_busy = 0;      // of the whole process: the consumer, which may load too, included
  double read_share = 0;     // of the workers' time: finding records and waiting for storage
  double storage_share = 0;  // of the workers' time: blocked without a CPU
  double no_cpu_share = 0;   // of the workers' time: others had all CPUs
  double uneven = 0;         // p99 over p50 of the heaviest stage; 0: not known
  double mean_to_middle = 0, longest_to_middle = 0;  // of the same stage, over p50
  std::string heaviest{};  // the stage that took most of the workers' time, as dl_metric names it
  double heaviest_share = 0;
  double read_bytes_per_s = 0, delivered_bytes_per_s = 0;
  int64_t num_workers = 0, prefetch_depth = 0;
  int64_t lease_copies = 0;
  int64_t arena_bytes = 0, held_bytes = 0, budget_bytes = 0, pinned_bytes = 0, device_bytes = 0;
};

// A run that differs from the one that was asked for in one option.
struct Trial {
  std::string option;
  std::string value;
  std::string now;  // the value in force
  Run run;
  // Samples/s over those of the run as asked, measured again in turns. The fastest of many short runs is fast by luck, too: its
  // own figure is too high to be promised.
  std::optional<double> confirmed{};
  bool varies = false;         // from pair to pair, so much that it is not known
  double least = 0, most = 0;  // of the middle half of the pairs
};

// The transform cut off after an operator.
struct Prefix {
  std::string last;  // "decode"
  Run run;
};

struct MachineLimits {
  double cpus = 0;             // usable by this process: affinity and quota
  double quota_cpus = 0;       // of the cgroup; 0: none
  int64_t cores = 0;           // of the machine
  int64_t memlock_bytes = -1;  // RLIMIT_MEMLOCK; -1: no limit, or not known
  double memcpy_bytes_per_s = 0;
};

// Storage alone: threads that read and do nothing else.
struct BareReads {
  double random_bytes_per_s = 0;      // pieces as large as a sample
  double sequential_bytes_per_s = 0;  // 0: not known
  int64_t piece_bytes = 0;
  int64_t threads = 0;
};

struct ImageSize {
  int64_t width = 0, height = 0;  // the median of those looked at
  int64_t side = 0;               // shorter side of what is delivered
};

struct Findings {
  std::string
      over_budget{};  // the library's message when no loader could be made within memory_budget, or ""
  Run asked;
  std::optional<Run> no_consumer;   // only where the consumer takes time
  std::optional<Run> in_memory;     // the same few samples again and again
  std::optional<Run> no_transform;  // only where there is one
  std::vector<Prefix> prefixes;
  std::vector<Trial> trials;
  MachineLimits machine;
  std::optional<ImageSize> images;
  std::optional<BareReads> storage;
  bool asked_to_pin = false;
  std::string pin_warning{};  // the library's, why memory is not page-locked
  int64_t max_leases = 0;
  int64_t consumer_holds = 1;   // batches at a time
  bool consumer_burns = false;  // a CPU, for its step
};

}  // namespace dataline::cli
