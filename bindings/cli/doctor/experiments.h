// The runs with one thing changed at a time, in turns.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bindings/cli/doctor/findings.h"
#include "bindings/cli/doctor/judge.h"
#include "bindings/cli/doctor/runs.h"

namespace dataline::cli {

// Samples/s after a change over those before, of pairs of runs.
struct MeasuredGain {
  double middle = 1;
  double least = 1, most = 1;  // of the middle half
  bool varies = false;         // too much for the middle to be known
};
MeasuredGain gain_of_pairs(std::vector<double> ratios);  // not empty

class Experiments {
 public:
  Experiments(const RunBase& base, ConsumerPlan consumer) : base_(base), consumer_(consumer) {}

  // A short run as asked, which finds what is wrong with the command line. Throws Failure.
  Run first();
  // All of them in about `seconds`, into `findings`, which has the rest already.
  void run_all(const Run& first, double seconds, Findings& findings);
  // The ratios of as many pairs as their spread needs. After run_all().
  std::vector<double> pairs_of(const Change& change, const char* what);

 private:
  struct Experiment {
    RunPlan plan;
    std::function<void(const Run&)> store;
    bool optional = true;  // left out where its options do not fit the set
    std::vector<Run> rounds{};
  };

  void run_round(Experiment& experiment, int round, double seconds);
  void plan_all(const Run& first, Findings& findings);
  void add(RunPlan plan, std::function<void(const Run&)> store) {
    experiments_.push_back({std::move(plan), std::move(store)});
  }
  void add_trial(Findings& findings, const std::string& option, int64_t value, int64_t now);

  const RunBase& base_;
  const ConsumerPlan consumer_;
  std::vector<Experiment> experiments_;
  double pair_seconds_ = 0;
  int64_t drawn_ = 0;  // seeds of pairs
};

}  // namespace dataline::cli
