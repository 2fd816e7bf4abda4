// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/doctor/experiments.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "bindings/cli/doctor/operators.h"
#include "bindings/cli/failure.h"

namespace dataline::cli {
namespace {

constexpr int kDoctorRounds = 3;
// Pairs of runs: until the middle of their ratios is known to a few percent.
constexpr int kLeastPairs = 5, kMostPairs = 15;
constexpr double kExact = 0.03;
constexpr double kUnknown = 0.08;           // after all of them: such a gain is not promised
constexpr double kLeastSeconds = 0.1;       // a run
constexpr double kLeastPairSeconds = 0.25;  // these have to be right, not only to find the best
constexpr double kQuotaSeconds = 0.3;       // periods of the cgroup's quota are 0.1 s
constexpr double kWithWarmUp = 1.4;

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Of the median, as a share of it: by the median distance from it, as if they were normally distributed.
double error_of_median(const std::vector<double>& values) {
  const double middle = median_of(values);
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::abs(value - middle));
  return middle > 0 ? 1.86 * median_of(distances) / middle / std::sqrt(static_cast<double>(values.size()))
                    : 0;
}

}  // namespace

MeasuredGain gain_of_pairs(std::vector<double> ratios) {
  std::sort(ratios.begin(), ratios.end());
  const size_t quarter = ratios.size() / 4;
  return {.middle = ratios[ratios.size() / 2],
          .least = ratios[quarter],
          .most = ratios[ratios.size() - 1 - quarter],
          .varies = error_of_median(ratios) > kUnknown};
}

Run Experiments::first() { return run_once(base_, {"as asked", {}, consumer_}, kLeastSeconds); }

void Experiments::run_all(const Run& first, double seconds, Findings& findings) {
  plan_all(first, findings);
  double each = seconds / (kDoctorRounds * kWithWarmUp * static_cast<double>(experiments_.size() + 1));
  each = std::max(each, findings.machine.quota_cpus > 0 ? kQuotaSeconds : kLeastSeconds);
  // Rounds of all, not all rounds of one: a machine that others use changes while it is measured. What all are compared with is
  // measured at the begin and the end of each.
  for (int round = 0; round < kDoctorRounds; ++round) {
    for (Experiment& experiment : experiments_) run_round(experiment, round, each);
    run_round(experiments_.front(), round, each);
  }
  for (const Experiment& experiment : experiments_)
    if (!experiment.rounds.empty()) experiment.store(median_run(experiment.rounds));
  pair_seconds_ = std::max(kLeastPairSeconds, 2 * each);
}

void Experiments::run_round(Experiment& experiment, int round, double seconds) {
  base_.progress.show("doctor: round " + std::to_string(round + 1) + " of " + std::to_string(kDoctorRounds) +
                      ", " + experiment.plan.name);
  // In a round all get the same samples, and in each others: the first ones may be no fair share of the slow ones.
  RunPlan plan = experiment.plan;
  plan.settings.push_back({"seed", std::to_string(round)});
  try {
    experiment.rounds.push_back(run_once(base_, plan, seconds));
  } catch (const Failure&) {
    if (!experiment.optional) throw;
  }
}

std::vector<double> Experiments::pairs_of(const Change& change, const char* what) {
  std::vector<double> ratios;
  while (std::ssize(ratios) < kMostPairs) {
    base_.progress.show(std::string("doctor: ") + what + " " + change.option + "=" + change.value);
    const Setting seed{"seed", std::to_string(kDoctorRounds + drawn_++)};  // as in a round
    const RunPlan plans[] = {{"as asked", {seed}, consumer_},
                             {"changed", {seed, {change.option, change.value}}, consumer_}};
    double rates[2] = {};
    // Each comes first in turn: what a run leaves in caches helps the next one.
    for (const size_t which : {ratios.size() % 2, 1 - ratios.size() % 2})
      rates[which] = run_once(base_, plans[which], pair_seconds_).samples_per_s;
    ratios.push_back(rates[0] > 0 ? rates[1] / rates[0] : 1);
    if (std::ssize(ratios) >= kLeastPairs && error_of_median(ratios) <= kExact) break;
  }
  return ratios;
}

void Experiments::plan_all(const Run& first, Findings& findings) {
  add({"as asked", {}, consumer_}, [&findings](const Run& run) { findings.asked = run; });
  experiments_.back().optional = false;
  if (consumer_.seconds > 0)
    add({"no consumer"}, [&findings](const Run& run) { findings.no_consumer = run; });
  add({.name = "samples in memory", .same_samples = true},
      [&findings](const Run& run) { findings.in_memory = run; });
  const std::string transform = base_.request.option("transform");
  if (!transform.empty())
    add({"no transform", {{"transform", ""}}}, [&findings](const Run& run) { findings.no_transform = run; });
  for (const OperatorPrefix& prefix : prefixes_of(transform))
    add({"up to " + prefix.last, {{"transform", prefix.text}}},
        [&findings, last = prefix.last](const Run& run) {
          findings.prefixes.push_back({last, run});
        });
  // From what needs least to what needs most: of trials about as fast the first is advised.
  const auto cpus = std::max<int64_t>(1, static_cast<int64_t>(std::ceil(findings.machine.cpus)));
  for (const int64_t workers : std::set<int64_t>{0, 1, 2, cpus - 1, cpus, 2 * cpus, 4 * cpus})
    if (workers != first.num_workers) add_trial(findings, "num_workers", workers, first.num_workers);
  add_trial(findings, "prefetch_depth", std::max<int64_t>(4, 2 * first.prefetch_depth), first.prefetch_depth);
  if (consumer_.holds > findings.max_leases)
    add_trial(findings, "max_leases", consumer_.holds, findings.max_leases);
}

void Experiments::add_trial(Findings& findings, const std::string& option, int64_t value, int64_t now) {
  const std::string text = std::to_string(value);
  add({option + "=" + text, {{option, text}}, consumer_}, [&findings, option, text, now](const Run& run) {
    findings.trials.push_back({option, text, std::to_string(now), run});
  });
}

}  // namespace dataline::cli
