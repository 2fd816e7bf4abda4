// Chooses how many workers work and how many batches are in flight, from what the consumer gets: batches consumed a
// second, and the share of its time that it waits. Never from batches made: workers that take the trainer's CPU make
// the whole slower.
//
// It climbs: measure, change one thing, measure again, and take the change back unless it helped by more than the
// measurements scatter. A consumer that waits gets more workers, then more depth, then fewer workers; one that does
// not wait is asked whether fewer do. When nothing is left to try it freezes, and begins anew when the rate falls or
// the waiting grows for good, or the CPUs change. Each new beginning has to wait twice as long as the one before, up
// to a minute, so that a job that goes up and down by itself is not followed for ever.
//
// A pure function of the samples that it was given: no clock, no threads, nothing of the loader.
// Threads: externally synchronized.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/loader/tuning/measure.h"

namespace dataline {

struct TuneSetting {
  int64_t workers = 1, depth = 1;
  bool operator==(const TuneSetting&) const = default;
};

// Values of DL_TUNE_*; kAuto only until the options are read.
enum class Tune : int32_t { kAuto = -1, kOff, kWatch, kOn };

// What a Tuner decides by. Behind each rule: how far halving or doubling it moved the job that it matters to most, in batches
// over 20 s or over the two minutes after, of the jobs of bench/auto/rules.cpp. What moved none by 1 % is not a rule.
struct TuneRules {
  double waits = 0.01;               // a consumer that waits a smaller share of its time needs nothing: 2 %
  double sure = 2;                   // standard errors that a change has to be apart: 17 %
  double sharp = 0.05;               // a measurement with a smaller error is not continued: 5 %
  double hopeless = 0.7;             // of the rate: a trial below it ends early: 2 %
  double odd = 0.1;                  // of the rate, or of the time: a change that starts a new search: 3 %
  int64_t stretch_batches = 2;       // in one stretch at least: 8 %
  int64_t few_stretches = 3;         // of a trial, at least: 4 %
  int64_t many_stretches = 24;       // of a trial that scatters, at most, unless it looks good: 14 %
  int64_t window_stretches = 8;      // at rest, of one look: 6 %
  int64_t settle_ns = 100'000'000;   // after a change nothing is measured: 10 %
  int64_t quiet_ns = 1'000'000'000;  // the first rest; each is twice as long as the one before: 21 %
};

class Tuner {
 public:
  static constexpr int64_t kSampleNs =
      50'000'000;  // samples come no closer together than that, nor before there is a batch

  // 1 <= start <= most. kWatch: only says what it would try first.
  Tuner(Tune mode, TuneSetting start, TuneSetting most, const TuneRules& rules = {});

  // True: force() or text() is another one now.
  bool observe(const TuneSample& sample);
  // Goes on from here, as if it had just begun.
  void start_from(TuneSetting setting);
  // The host has chosen: nothing is tried any more.
  void fix(int64_t workers);

  TuneSetting force() const { return force_; }    // to be in force now, perhaps only to be tried
  TuneSetting chosen() const { return chosen_; }  // the best so far; of kWatch what it would try
  bool frozen() const { return phase_ == Phase::kFrozen || phase_ == Phase::kFixed; }
  int64_t changes() const { return changes_; }   // of force()
  double rate() const { return shown_.rate(); }  // of the last whole measurement, in batches a second
  double wait_share() const { return shown_.wait_share(); }
  const std::string& text() const { return text_; }  // what it does, and why

 private:
  enum class Phase { kBase, kTrial, kFrozen, kFixed };
  enum class Move { kMoreWorkers, kMoreDepth, kFewerWorkers, kCount };

  static constexpr int kMostTries = 2;

  bool was_away(const TuneSample& from, const TuneSample& to);
  // A stretch was added to now_; each returns what observe() does.
  bool end_base();
  bool end_trial();
  bool end_window();
  bool end_fixed();

  bool try_next();
  std::optional<TuneSetting> candidate(Move move, bool waits) const;
  bool lost_cpus() const { return cpus_ < cpus_before_ && chosen_.workers > cpus_; }
  bool begin_trial(Move move, TuneSetting to);
  bool keep();
  bool undo();
  bool freeze();
  bool rest(bool news);
  bool wake(const std::string& why);
  void put(TuneSetting setting);
  void settle();
  std::string words(TuneSetting setting) const;
  int& tries(Move move) { return tries_[static_cast<int>(move)]; }
  int tries(Move move) const { return tries_[static_cast<int>(move)]; }

  const Tune mode_;
  const TuneRules rules_;
  const TuneSetting most_;
  Phase phase_ = Phase::kBase;
  TuneSetting force_, chosen_;
  Move move_ = Move::kMoreWorkers;                  // of the trial
  int tries_[static_cast<int>(Move::kCount)] = {};  // that failed, by move
  std::optional<TuneSample> from_;                  // where the present stretch began
  int64_t settle_until_ = 0, settle_until_batch_ = 0;
  TuneMeasure now_, base_, shown_;
  bool away_before_ = false;  // the stretch before this one was not counted, for the consumer was away
  bool kept_ = false;         // base_ is of the trial that was kept just now
  int odd_windows_ = 0;       // that differed from base_, in a row, while frozen
  int64_t frozen_ns_ = 0, quiet_ns_;
  int32_t cpus_ = 0, cpus_before_ = 0;
  int64_t changes_ = 0;
  std::string text_;
};

}  // namespace dataline
