// A random seed for each run, printed so that a failure can be repeated: DATALINE_SEED=N PROGRAM.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "core/base/random.h"

namespace dataline::tests {

inline uint64_t fresh_seed() {
  const char* given = std::getenv("DATALINE_SEED");
  const uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
  std::printf("seed %llu (DATALINE_SEED repeats it)\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);  // before a test that may abort
  return seed;
}

// Number of runs of a random test: DATALINE_RUNS, or `everyday`.
inline int run_count(int everyday) {
  const char* given = std::getenv("DATALINE_RUNS");
  return given != nullptr ? std::atoi(given) : everyday;
}

// The draws of one run.
class Draws {
 public:
  explicit Draws(uint64_t seed) : key_(random_key(seed, 0, Domain::kAugment)) {}
  int64_t below(int64_t bound) {
    return static_cast<int64_t>(random_below(random_bits(key_, ++count_), static_cast<uint64_t>(bound)));
  }

 private:
  uint64_t key_, count_ = 0;
};

}  // namespace dataline::tests
