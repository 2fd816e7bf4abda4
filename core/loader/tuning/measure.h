// What the consumer got in a stretch of time: batches a second with their scatter, and how much of the time it waited.
// Threads: externally synchronized.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace dataline {

// Totals since the loader was made.
struct TuneSample {
  int64_t at_ns = 0;
  int64_t batches = 0;  // consumed
  int64_t wait_ns = 0;  // of the consumer, in next()
  int64_t cpu_ns = 0;   // of the workers
  int32_t cpus = 1;     // that this process may use now
};

class TuneMeasure {
 public:
  // One stretch, from `before` to `after`.
  void add(const TuneSample& before, const TuneSample& after) {
    const double seconds = static_cast<double>(after.at_ns - before.at_ns) * 1e-9;
    const double batches = static_cast<double>(after.batches - before.batches);
    seconds_ += seconds;
    batches_ += batches;
    wait_s_ += static_cast<double>(after.wait_ns - before.wait_ns) * 1e-9;
    cpu_s_ += static_cast<double>(after.cpu_ns - before.cpu_ns) * 1e-9;
    ++count_;
    rates_.add(batches, seconds);
    group_batches_ += batches;
    group_seconds_ += seconds;
    if (count_ % kGroup != 0) return;
    groups_.add(group_batches_, group_seconds_);
    group_batches_ = group_seconds_ = 0;
  }

  int64_t count() const { return count_; }
  double seconds() const { return seconds_; }
  double rate() const { return seconds_ > 0 ? batches_ / seconds_ : 0; }
  // Of the rate, as a share of it. Of longer stretches, where there are enough: what a slow batch takes from one
  // stretch the next one has more.
  double standard_error() const { return (count_ >= kGroup * 4 ? groups_ : rates_).standard_error(); }
  // Of one consumer's time; several that wait at once count as one that always does.
  double wait_share() const { return seconds_ > 0 ? std::min(wait_s_ / seconds_, 1.0) : 0; }
  double busy_cpus() const { return seconds_ > 0 ? cpu_s_ / seconds_ : 0; }
  // Of the consumer's time outside of next().
  double away_s_per_batch() const { return batches_ > 0 ? std::max(seconds_ - wait_s_, 0.0) / batches_ : 0; }

 private:
  static constexpr int64_t kGroup = 4;

  // Welford's sums.
  class Rates {
   public:
    void add(double batches, double seconds) {
      const double rate = batches / std::max(seconds, 1e-9), off = rate - mean_;
      mean_ += off / ++count_;
      squares_ += off * (rate - mean_);
    }
    // A few may agree by chance: one is always taken to be kChance off.
    double standard_error() const {
      if (count_ < 2 || mean_ <= 0) return 1;
      const double chance = kChance * mean_;
      return std::sqrt((squares_ + chance * chance) / (count_ - 1) / count_) / mean_;
    }

   private:
    static constexpr double kChance = 0.05;
    double count_ = 0, mean_ = 0, squares_ = 0;
  };

  double seconds_ = 0, batches_ = 0, wait_s_ = 0, cpu_s_ = 0;
  double group_batches_ = 0, group_seconds_ = 0;
  int64_t count_ = 0;
  Rates rates_, groups_;
};

}  // namespace dataline
