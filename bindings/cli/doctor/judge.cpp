// The rules, in the order in which they are tried: what stops the job, what the caller's loop does, what an option changes (measured
// by a trial of it), and then what no option of the loader changes.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/doctor/judge.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "bindings/cli/doctor/limits.h"
#include "bindings/cli/text.h"

namespace dataline::cli {
namespace {

constexpr double kNoGain = 1.08;      // a trial that gains less may be noise
constexpr double kAlike = 0.97;       // of the best rate: the trial that needs least wins
constexpr double kWaits = 0.02;       // of the time in next: below, the consumer is the limit
constexpr double kFewerDo = 0.93;     // of the rate: so many more threads than CPUs gain nothing
constexpr double kFewerMayDo = 0.85;  // by a short trial, which is to be measured again

constexpr Cause kCauses[] = {
    {"memory_budget", "memory_budget is below the minimum for the plan"},
    {"leases_held", "the consumer holds more batches than max_leases: the others are copied"},
    {"pin_refused", "pin_memory was requested, but the system refused to lock the memory"},
    {"consumer", "the consumer takes longer than the loader: nothing to gain here"},
    {"too_few_workers", "more workers are faster, and the machine has the CPUs"},
    {"too_many_workers", "fewer workers are faster, or as fast"},
    {"prefetch_depth", "more batches in flight are faster"},
    {"storage", "the workers wait for storage"},
    {"uneven_samples", "some samples take many times as long as the others"},
    {"cpu_quota", "the cgroup grants less CPU than the machine has, and all of it is used"},
    {"cpu_contended", "other programs take the CPUs that the workers need"},
    {"large_images", "images are stored much larger than they are delivered, and decoding them is the limit"},
    {"memory_bandwidth", "samples are copied about as fast as these threads copy memory"},
    {"transform", "one operator takes most of the time, on all CPUs"},
    {"cpu", "the CPUs are busy, and no one stage takes most of the time"},
    {"balanced", "no option that was tried, and no single resource, is the limit"},
};

double gain_of(const Findings& findings, const Trial& trial) {
  if (trial.confirmed) return *trial.confirmed;
  return findings.asked.samples_per_s > 0 ? trial.run.samples_per_s / findings.asked.samples_per_s : 1;
}

std::string times(double gain) { return fixed(gain, 2) + "x"; }

int64_t workers_of(const Trial& trial) { return std::atoll(trial.value.c_str()); }  // of num_workers

// The fastest trial; of those about as fast the first, which needs least. More workers than CPUs only where they wait for storage.
const Trial* best_trial(const Findings& findings) {
  std::vector<const Trial*> open;
  for (const Trial& trial : findings.trials) {
    const bool workers = trial.option == "num_workers";
    if (trial.varies) continue;
    if (!workers || !beyond_cpus(findings, workers_of(trial)) || waits_for_storage(findings))
      open.push_back(&trial);
  }
  double best = 0;
  for (const Trial* trial : open) best = std::max(best, gain_of(findings, *trial));
  for (const Trial* trial : open)
    if (gain_of(findings, *trial) >= kAlike * best)
      return gain_of(findings, *trial) >= kNoGain ? trial : nullptr;
  return nullptr;
}

// More threads than CPUs, and fewer do as well: they take memory, and CPU from the consumer.
const Trial* enough_workers(const Findings& findings) {
  if (!beyond_cpus(findings, findings.asked.num_workers) || waits_for_storage(findings)) return nullptr;
  for (const Trial& trial : findings.trials) {
    if (trial.option == "num_workers" && !trial.varies && workers_of(trial) > 0 &&
        !beyond_cpus(findings, workers_of(trial)) &&
        gain_of(findings, trial) >= (trial.confirmed ? kFewerDo : kFewerMayDo))
      return &trial;
  }
  return nullptr;
}

Verdict of_trial(const Findings& findings, const Trial& trial) {
  const Run& asked = findings.asked;
  Verdict verdict{.cause = "prefetch_depth",
                  .text = {},
                  .change = Change{trial.option, trial.value},
                  .predicted_gain = gain_of(findings, trial)};
  std::string why = "batches take unequal times, and too few are in flight";
  if (trial.option == "prefetch_depth" && waits_for_storage(findings)) {
    verdict.cause = "storage";
    why = "the workers wait for storage, and more batches in flight overlap their waits: " +
          storage_figures(findings);
  }
  if (trial.option == "num_workers") {
    const bool more = std::atoll(trial.value.c_str()) > asked.num_workers;
    verdict.cause = waits_for_storage(findings) && more ? "storage"
                    : more                              ? "too_few_workers"
                                                        : "too_many_workers";
    const std::string busy = "the workers keep " + fixed(asked.workers_busy, 2) + " of " +
                             fixed(findings.machine.cpus, 1) + " CPUs busy";
    why = verdict.cause == "storage"
              ? "the workers wait for storage, and more workers overlap their waits: " +
                    storage_figures(findings)
          : more ? busy + " and the consumer waits for " + percent_text(asked.wait_share) + " of the time"
                 : busy + ", and more threads than CPUs only take turns";
    if (more && asked.num_workers == 0)
      why = "one thread does all the loading, and the consumer waits for " + percent_text(asked.wait_share) +
            " of the time";
  }
  verdict.text = trial.option + "=" + trial.value + " (now " + trial.now + "): predicted " +
                 times(verdict.predicted_gain) + ", because " + why;
  return verdict;
}

// Trials that were faster, but not twice alike: nothing to promise.
std::string varying_text(const Findings& findings) {
  std::string out;
  for (const Trial& trial : findings.trials) {
    if (!trial.varies || gain_of(findings, trial) < kNoGain) continue;
    out += "; " + trial.option + "=" + trial.value + " reached " + fixed(trial.least, 1) + " to " +
           times(trial.most) + ", which varies too much to promise a gain";
  }
  return out;
}

Verdict judge_alone(const Findings& findings);

}  // namespace

std::span<const Cause> causes() { return kCauses; }

Verdict judge(const Findings& findings) {
  Verdict verdict = judge_alone(findings);
  if (!verdict.change) verdict.text += varying_text(findings);
  return verdict;
}

namespace {

Verdict judge_alone(const Findings& findings) {
  const Run& asked = findings.asked;
  if (!findings.over_budget.empty())
    return {.cause = "memory_budget",
            .text = "memory_budget is too small for a loader with these options: " + findings.over_budget,
            .change = Change{"memory_budget", "auto"}};
  if (findings.asked_to_pin && asked.pinned_bytes == 0) return of_refused_pin(findings);
  if (asked.lease_copies > 0 && findings.consumer_holds > findings.max_leases) {
    double gain = 1;
    for (const Trial& trial : findings.trials)
      if (trial.option == "max_leases") gain = gain_of(findings, trial);
    return {.cause = "leases_held",
            .text = "the loop holds " + grouped(findings.consumer_holds) +
                    " batches, more than max_leases=" + grouped(findings.max_leases) +
                    ", so batches are copied: release them earlier, or raise max_leases",
            .change = Change{"max_leases", std::to_string(findings.consumer_holds)},
            .predicted_gain = gain};
  }
  if (asked.step_ms > 0 && findings.no_consumer && asked.wait_share < kWaits)
    return {.cause = "consumer",
            .text = "the consumer is the limit: it takes " + fixed(asked.step_ms, 2) +
                    " ms per batch and waits for " + fixed(100 * asked.wait_share, 1) +
                    " % of the time; nothing to gain here"};
  if (auto contention = of_contention(findings)) return *contention;
  if (quota_is_used(findings)) return of_quota(findings);
  const Trial* best = best_trial(findings);
  if (best == nullptr) best = enough_workers(findings);
  if (best != nullptr && best->option == "num_workers") return of_trial(findings, *best);
  if (is_uneven(findings) && best != nullptr && !waits_for_storage(findings)) {
    Verdict verdict = of_trial(findings, *best);
    verdict.cause = "uneven_samples";
    verdict.text += "; " + uneven_text(asked);
    return verdict;
  }
  if (best != nullptr) return of_trial(findings, *best);
  if (auto storage = of_storage(findings)) return *storage;
  if (is_uneven(findings)) return {.cause = "uneven_samples", .text = uneven_text(asked)};
  if (cpus_are_used(findings)) return of_cpu(findings);
  return {.cause = "balanced", .text = "no change that was tried makes it faster"};
}

}  // namespace

}  // namespace dataline::cli
