// The rules, in the order in which they are tried: what stops the job, what the caller's loop does, what an option changes (measured
// by a trial of it), and then what no option of the loader changes.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/doctor/judge.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "bindings/cli/text.h"

namespace dataline::cli {
namespace {

constexpr double kNoGain = 1.08;           // a trial that gains less may be noise
constexpr double kAlike = 0.97;            // of the best rate: the trial that needs least wins
constexpr double kWaits = 0.02;            // of the time in next: below, the consumer is the limit
constexpr double kInMemoryGain = 1.3;      // samples in memory are so much faster: storage is the limit
constexpr double kSomewhatBlocked = 0.15;  // of the workers' time
constexpr double kFewerDo = 0.93;          // of the rate: so many more threads than CPUs gain nothing
constexpr double kFewerMayDo = 0.85;       // by a short trial, which is to be measured again
constexpr double kBlocked = 0.4;           // of the workers' time
constexpr double kContended = 0.6;         // of the CPUs that the workers could use
constexpr double kUneven = 8;              // p99 over p50
constexpr double kTail = 1.6;              // mean over p50
constexpr double kMostOfTheTime = 0.4;
constexpr double kMayBeQueued =
    0.2;  // of the workers' time without a CPU: what takes long may have waited for one
constexpr double kQuotaUsed = 0.85;      // a thread that is stopped by it loses some of its period
constexpr double kCopiesOfMemcpy = 0.4;  // of what as many threads would copy, who share the bandwidth
constexpr double kMuchLarger = 2;        // side of the stored image over that delivered

constexpr Cause kCauses[] = {
    {"memory_budget", "memory_budget is below the least that the plan needs"},
    {"leases_held", "the consumer holds more batches than max_leases: the others are copied"},
    {"pin_refused", "pin_memory was asked for, and the system refused to lock the memory"},
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
    {"cpu", "all CPUs are busy, and no one stage takes most of the time"},
    {"balanced", "no option that was tried, and no single resource, is the limit"},
};

double gain_of(const Findings& findings, const Trial& trial) {
  if (trial.confirmed) return *trial.confirmed;
  return findings.asked.samples_per_s > 0 ? trial.run.samples_per_s / findings.asked.samples_per_s : 1;
}

std::string percent(double share) { return fixed(100 * share, 0) + " %"; }
std::string times(double gain) { return fixed(gain, 2) + "x"; }

// Whether the threads that load are off the CPU for `share` of their work, and not because others have it.
bool is_blocked(const Run& run, double share) {
  const bool idle =
      run.num_workers > 0 && run.workers_busy < kMostOfTheTime * static_cast<double>(run.num_workers);
  return run.storage_share >= share || (run.read_share >= share && idle);
}

// Workers that block need no CPU of their own, so more of them than CPUs may help.
bool waits_for_storage(const Findings& findings) {
  const Run& free = findings.no_consumer ? *findings.no_consumer : findings.asked;
  // A few samples may be faster for being easier, too, or for fitting the CPU's caches.
  if (findings.in_memory && free.samples_per_s > 0 && is_blocked(free, kSomewhatBlocked) &&
      findings.in_memory->samples_per_s / free.samples_per_s >= kInMemoryGain)
    return true;
  return is_blocked(findings.asked, kBlocked);
}

int64_t workers_of(const Trial& trial) { return std::atoll(trial.value.c_str()); }  // of num_workers

bool beyond_cpus(const Findings& findings, int64_t workers) {
  return static_cast<double>(workers) > std::ceil(std::max(1.0, findings.machine.cpus));
}

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

// Some samples take long by themselves, not because their thread had to wait for a CPU. One in a hundred may be missed by p99, and
// still take as much time as all the others.
bool uneven(const Findings& findings) {
  const Run& asked = findings.asked;
  const bool tail = asked.mean_to_middle >= kTail && asked.longest_to_middle >= kUneven;
  return (asked.uneven >= kUneven || tail) && asked.no_cpu_share < kMayBeQueued &&
         !beyond_cpus(findings, asked.num_workers);
}

std::string uneven_text(const Run& asked) {
  if (asked.uneven >= kUneven)
    return "one sample in a hundred takes " + fixed(asked.uneven, 0) + " times as long as the middle one";
  return "a few slow samples take " + percent(1 - 1 / asked.mean_to_middle) + " of the time, the longest " +
         fixed(asked.longest_to_middle, 0) + " times that of the middle one";
}

// Samples/s that somebody could use: the consumer, whose step is known, or the CPUs if no worker had to wait; 0: not known.
double needed_samples_per_s(const Findings& findings) {
  const Run& asked = findings.asked;
  if (findings.no_consumer && asked.step_ms > 0) return 1e3 * asked.samples_a_step / asked.step_ms;
  if (asked.workers_busy <= 0) return 0;
  return asked.samples_per_s * std::max(1.0, findings.machine.cpus / asked.workers_busy);
}

// What the loader gets, what is needed, and what storage gives to those who only read.
std::string storage_figures(const Findings& findings) {
  const Run& asked = findings.asked;
  std::string text = "the loader gets " + scaled(asked.samples_per_s) + " samples/s";
  if (asked.read_bytes_per_s <= 0) return text;
  text += ", " + bytes_text(asked.read_bytes_per_s) + "/s";
  if (const double needed = needed_samples_per_s(findings); needed > 0 && asked.samples_per_s > 0)
    text += std::string("; ") + (asked.step_ms > 0 ? "the consumer needs " : "the CPUs could take ") +
            bytes_text(asked.read_bytes_per_s / asked.samples_per_s * needed) + "/s";
  if (findings.storage) {
    const BareReads& bare = *findings.storage;
    text += "; storage alone gives " + bytes_text(bare.random_bytes_per_s) + "/s at random to " +
            std::to_string(bare.threads) + " threads that only read " +
            bytes_text(static_cast<double>(bare.piece_bytes)) + " at a time";
    if (bare.sequential_bytes_per_s > 0)
      text += ", " + bytes_text(bare.sequential_bytes_per_s) + "/s in file order";
  }
  return text;
}

Verdict of_trial(const Findings& findings, const Trial& trial) {
  const Run& asked = findings.asked;
  Verdict verdict{.cause = "prefetch_depth",
                  .text = {},
                  .change = Change{trial.option, trial.value},
                  .predicted_gain = gain_of(findings, trial)};
  std::string why = "batches take unequal times, and those in flight do not bridge them";
  if (trial.option == "prefetch_depth" && waits_for_storage(findings)) {
    verdict.cause = "storage";
    why = "the workers wait for storage, and more batches in flight wait at the same time: " +
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
              ? "the workers wait for storage, and more of them wait at the same time: " +
                    storage_figures(findings)
          : more ? busy + " and the consumer waits for " + percent(asked.wait_share) + " of the time"
                 : busy + ", and more threads than CPUs only take turns";
    if (more && asked.num_workers == 0)
      why = "loading and the consumer take turns in one thread, which waits for " +
            percent(asked.wait_share) + " of the time";
  }
  verdict.text = trial.option + "=" + trial.value + " (now " + trial.now + "): predicted " +
                 times(verdict.predicted_gain) + ", because " + why;
  return verdict;
}

// Workers that are ready to run and get no CPU, though the loader does not use what there is. More workers would then gain by
// taking time from the others, which no trial can promise.
std::optional<Verdict> of_contention(const Findings& findings) {
  const Run& asked = findings.asked;
  const double could_use = std::min(static_cast<double>(asked.num_workers), findings.machine.cpus);
  if (findings.machine.quota_cpus > 0 || asked.no_cpu_share < kBlocked ||
      asked.workers_busy >= kContended * could_use)
    return std::nullopt;
  return Verdict{.cause = "cpu_contended",
                 .text = "other programs take the CPUs: the workers are ready to run and wait for one for " +
                         percent(asked.no_cpu_share) + " of their time, and get " +
                         fixed(asked.workers_busy, 2) + " of " + fixed(could_use, 1) +
                         "; measure again when the machine is free"};
}

std::optional<Verdict> of_storage(const Findings& findings) {
  if (!waits_for_storage(findings)) return std::nullopt;
  Verdict verdict{.cause = "storage",
                  .text = "storage is the limit, the workers wait for it: " + storage_figures(findings)};
  if (findings.in_memory && findings.in_memory->samples_per_s >= kInMemoryGain * findings.asked.samples_per_s)
    verdict.text +=
        "; with the same samples in memory " + scaled(findings.in_memory->samples_per_s) + " samples/s";
  return verdict;
}

// The quota is used up: no number of workers changes that.
bool quota_is_used(const Findings& findings) {
  const MachineLimits& machine = findings.machine;
  return machine.quota_cpus > 0 && machine.quota_cpus < static_cast<double>(machine.cores) &&
         findings.asked.workers_busy >= kQuotaUsed * machine.quota_cpus;
}

Verdict of_quota(const Findings& findings) {
  return {.cause = "cpu_quota",
          .text = "the cgroup gives this process " + fixed(findings.machine.quota_cpus, 1) + " of " +
                  grouped(findings.machine.cores) + " CPUs, and the loader uses them: ask for more"};
}

// Where the process may not run on all CPUs.
std::string affinity_text(const MachineLimits& machine) {
  if (machine.quota_cpus > 0 || machine.cpus >= static_cast<double>(machine.cores)) return "";
  return " (this process may run on " + fixed(machine.cpus, 0) + " of " + grouped(machine.cores) + ")";
}

Verdict of_cpu(const Findings& findings) {
  const MachineLimits& machine = findings.machine;
  if (machine.quota_cpus > 0 && machine.quota_cpus < static_cast<double>(machine.cores))
    return of_quota(findings);
  const bool decoding = findings.asked.heaviest.find("decode") != std::string::npos &&
                        findings.asked.heaviest_share >= kMostOfTheTime;
  if (decoding && findings.images && findings.images->side > 0) {
    const ImageSize& size = *findings.images;
    if (static_cast<double>(std::min(size.width, size.height)) >=
        kMuchLarger * static_cast<double>(size.side))
      return {.cause = "large_images",
              .text = "the files are " + std::to_string(size.width) + "x" + std::to_string(size.height) +
                      ", delivered as " + std::to_string(size.side) +
                      ": store a smaller copy, as with `mogrify -path " + "smaller -resize " +
                      std::to_string(size.side * 3 / 2) + "x" + std::to_string(size.side * 3 / 2) +
                      "^ *.jpg`"};
  }
  const double copied = machine.memcpy_bytes_per_s * std::max(1.0, findings.asked.workers_busy);
  if (copied > 0 && findings.asked.delivered_bytes_per_s >= kCopiesOfMemcpy * copied)
    return {.cause = "memory_bandwidth",
            .text = "samples are delivered with " + bytes_text(findings.asked.delivered_bytes_per_s) +
                    "/s, and a thread that only copies memory reaches " +
                    bytes_text(machine.memcpy_bytes_per_s) +
                    "/s: there is nothing else to gain but smaller samples (u8 instead of f32)"};
  if (findings.asked.heaviest_share >= kMostOfTheTime)
    return {.cause = "transform",
            .text = "'" + findings.asked.heaviest + "' takes " + percent(findings.asked.heaviest_share) +
                    " of the workers' time, and all CPUs" + affinity_text(machine) +
                    " are busy: make it cheaper, or store its result"};
  return {.cause = "cpu",
          .text = "all CPUs" + affinity_text(machine) +
                  " are busy with loading: more of them, or less work a sample, would help"};
}

// The limit counts only where a driver was asked and refused; else the library says what was missing.
Verdict of_refused_pin(const Findings& findings) {
  std::string text =
      findings.pin_warning.empty() ? std::string("pin_memory was refused") : findings.pin_warning;
  if (findings.pin_warning.starts_with("page-locked")) {
    text = "pin_memory was refused: " + text;
    if (findings.machine.memlock_bytes >= 0)
      text += "; RLIMIT_MEMLOCK is " + bytes_text(static_cast<double>(findings.machine.memlock_bytes));
  }
  return {.cause = "pin_refused", .text = text};
}

// Trials that were faster, but not twice alike: nothing to promise.
std::string varying_text(const Findings& findings) {
  std::string out;
  for (const Trial& trial : findings.trials) {
    if (!trial.varies || gain_of(findings, trial) < kNoGain) continue;
    out += "; " + trial.option + "=" + trial.value + " gave " + fixed(trial.least, 1) + " to " +
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
            .text = "memory_budget is too small for any loader of these options: " + findings.over_budget,
            .change = Change{"memory_budget", "auto"}};
  if (findings.asked_to_pin && asked.pinned_bytes == 0) return of_refused_pin(findings);
  if (asked.lease_copies > 0 && findings.consumer_holds > findings.max_leases) {
    double gain = 1;
    for (const Trial& trial : findings.trials)
      if (trial.option == "max_leases") gain = gain_of(findings, trial);
    return {.cause = "leases_held",
            .text = "the loop holds " + grouped(findings.consumer_holds) +
                    " batches, more than max_leases=" + grouped(findings.max_leases) +
                    ", so batches are copied: release them earlier, or raise it",
            .change = Change{"max_leases", std::to_string(findings.consumer_holds)},
            .predicted_gain = gain};
  }
  if (asked.step_ms > 0 && findings.no_consumer && asked.wait_share < kWaits)
    return {.cause = "consumer",
            .text = "the consumer is the limit: it takes " + fixed(asked.step_ms, 2) +
                    " ms a batch and waits for " + fixed(100 * asked.wait_share, 1) +
                    " % of the time; nothing to gain here"};
  if (auto contention = of_contention(findings)) return *contention;
  if (quota_is_used(findings)) return of_quota(findings);
  const Trial* best = best_trial(findings);
  if (best == nullptr) best = enough_workers(findings);
  if (best != nullptr && best->option == "num_workers") return of_trial(findings, *best);
  if (uneven(findings) && best != nullptr && !waits_for_storage(findings)) {
    Verdict verdict = of_trial(findings, *best);
    verdict.cause = "uneven_samples";
    verdict.text += "; " + uneven_text(asked);
    return verdict;
  }
  if (best != nullptr) return of_trial(findings, *best);
  if (auto storage = of_storage(findings)) return *storage;
  if (uneven(findings)) return {.cause = "uneven_samples", .text = uneven_text(asked)};
  const double cpus = std::max(1.0, findings.machine.cpus);
  if (asked.workers_busy >= 0.75 * cpus || asked.num_workers >= static_cast<int64_t>(std::ceil(cpus)) ||
      asked.no_cpu_share >= kBlocked)
    return of_cpu(findings);
  return {.cause = "balanced", .text = "nothing that was tried makes it faster"};
}

}  // namespace

}  // namespace dataline::cli
