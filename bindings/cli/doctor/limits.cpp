// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/doctor/limits.h"

#include <algorithm>
#include <cmath>

#include "bindings/cli/text.h"

namespace dataline::cli {
namespace {

constexpr double kInMemoryGain = 1.3;      // samples in memory are so much faster: storage is the limit
constexpr double kSomewhatBlocked = 0.15;  // of the workers' time
constexpr double kBlocked = 0.4;           // of the workers' time
constexpr double kHalf = 0.5, kNearlyAll = 0.75;  // of the CPUs
constexpr double kContended = 0.6;                // of the CPUs that the workers could use
constexpr double kUneven = 8;                     // p99 over p50
constexpr double kTail = 1.6;                     // mean over p50
constexpr double kMostOfTheTime = 0.4;
// Of the workers' time without a CPU: what takes long may have waited for one.
constexpr double kMayBeQueued = 0.2;
constexpr double kQuotaUsed = 0.85;      // a thread that is stopped by it loses some of its period
constexpr double kCopiesOfMemcpy = 0.4;  // of what as many threads would copy, who share the bandwidth
constexpr double kMuchLarger = 2;        // side of the stored image over that delivered

// Whether the threads that load are off the CPU for `share` of their work, and not because others have it.
bool is_blocked(const Run& run, double share) {
  const bool idle =
      run.num_workers > 0 && run.workers_busy < kMostOfTheTime * static_cast<double>(run.num_workers);
  return run.storage_share >= share || (run.read_share >= share && idle);
}

// Samples/s that somebody could use: the consumer, whose step is known, or the CPUs if no worker had to wait; 0: not known.
double needed_samples_per_s(const Findings& findings) {
  const Run& asked = findings.asked;
  if (findings.no_consumer && asked.step_ms > 0) return 1e3 * asked.samples_a_step / asked.step_ms;
  if (asked.workers_busy <= 0) return 0;
  return asked.samples_per_s * std::max(1.0, findings.machine.cpus / asked.workers_busy);
}

// Where the process may not run on all CPUs.
std::string affinity_text(const MachineLimits& machine) {
  if (machine.quota_cpus > 0 || machine.cpus >= static_cast<double>(machine.cores)) return "";
  return " (this process may run on " + fixed(machine.cpus, 0) + " of " + grouped(machine.cores) + ")";
}

std::optional<Verdict> of_large_images(const Findings& findings) {
  const Run& asked = findings.asked;
  const bool decoding = asked.heaviest.find("decode") != std::string::npos;
  if (!decoding || asked.heaviest_share < kMostOfTheTime || !findings.images) return std::nullopt;
  const ImageSize& size = *findings.images;
  if (size.side <= 0 ||
      static_cast<double>(std::min(size.width, size.height)) < kMuchLarger * static_cast<double>(size.side))
    return std::nullopt;
  const std::string stored = std::to_string(size.side * 3 / 2);
  return Verdict{.cause = "large_images",
                 .text = "the files are " + std::to_string(size.width) + " wide, " +
                         std::to_string(size.height) + " high, delivered as " + std::to_string(size.side) +
                         ": store a smaller copy, as with `mogrify -path smaller -resize " + stored + "x" +
                         stored + "^ *.jpg`"};
}

// The time goes into opening and reading, on the CPU: files are many and small, or compressed as a whole.
Verdict of_small_reads(const Run& asked) {
  std::string text = "finding and reading samples takes " + percent_text(asked.heaviest_share) +
                     " of the workers' time, on the CPU, without waiting for a disk";
  if (asked.samples_per_s > 0 && asked.read_bytes_per_s > 0)
    text += ": " + scaled(asked.samples_per_s) + " samples/s of " +
            bytes_text(asked.read_bytes_per_s / asked.samples_per_s);
  return {.cause = "storage", .text = text + "; pack small files into tar shards or one array"};
}

}  // namespace

std::string percent_text(double share) { return fixed(100 * share, 0) + " %"; }

// Workers that block need no CPU of their own, so more of them than CPUs may help.
bool waits_for_storage(const Findings& findings) {
  const Run& free = findings.no_consumer ? *findings.no_consumer : findings.asked;
  // A few samples may be faster for being easier, too, or for fitting the CPU's caches.
  if (findings.in_memory && free.samples_per_s > 0 && is_blocked(free, kSomewhatBlocked) &&
      findings.in_memory->samples_per_s / free.samples_per_s >= kInMemoryGain)
    return true;
  return is_blocked(findings.asked, kBlocked);
}

bool beyond_cpus(const Findings& findings, int64_t workers) {
  return static_cast<double>(workers) > std::ceil(std::max(1.0, findings.machine.cpus));
}

// Some samples take long by themselves, not because their thread had to wait for a CPU. One in a hundred may be missed by p99, and
// still take as much time as all the others.
bool is_uneven(const Findings& findings) {
  const Run& asked = findings.asked;
  const bool tail = asked.mean_to_middle >= kTail && asked.longest_to_middle >= kUneven;
  return (asked.uneven >= kUneven || tail) && asked.no_cpu_share < kMayBeQueued &&
         !beyond_cpus(findings, asked.num_workers);
}

std::string uneven_text(const Run& asked) {
  if (asked.uneven >= kUneven)
    return "one sample in a hundred takes " + fixed(asked.uneven, 0) + " times as long as the median";
  return "a few slow samples take " + percent_text(1 - 1 / asked.mean_to_middle) +
         " of the time, the longest " + fixed(asked.longest_to_middle, 0) + " times the median";
}

std::string storage_figures(const Findings& findings) {
  const Run& asked = findings.asked;
  std::string text = "the loader gets " + scaled(asked.samples_per_s) + " samples/s";
  if (asked.read_bytes_per_s <= 0) return text;
  text += ", " + bytes_text(asked.read_bytes_per_s) + "/s";
  if (const double needed = needed_samples_per_s(findings); needed > 0 && asked.samples_per_s > 0)
    text += std::string("; ") + (asked.step_ms > 0 ? "the consumer needs " : "the CPUs could use ") +
            bytes_text(asked.read_bytes_per_s / asked.samples_per_s * needed) + "/s";
  if (findings.storage) {
    const BareReads& bare = *findings.storage;
    text += "; storage alone delivers " + bytes_text(bare.random_bytes_per_s) + "/s at random to " +
            std::to_string(bare.threads) + " threads that only read " +
            bytes_text(static_cast<double>(bare.piece_bytes)) + " at a time";
    if (bare.sequential_bytes_per_s > 0)
      text += ", " + bytes_text(bare.sequential_bytes_per_s) + "/s in file order";
  }
  return text;
}

std::optional<Verdict> of_contention(const Findings& findings) {
  const Run& asked = findings.asked;
  const double consumer = findings.consumer_burns ? 1 - asked.wait_share : 0;
  const double could_use =
      std::min(static_cast<double>(asked.num_workers), std::max(0.0, findings.machine.cpus - consumer));
  if (findings.machine.quota_cpus > 0 || asked.no_cpu_share < kBlocked ||
      asked.workers_busy >= kContended * could_use)
    return std::nullopt;
  return Verdict{
      .cause = "cpu_contended",
      .text = "other programs take the CPUs: the workers are ready to run and wait for a CPU for " +
              percent_text(asked.no_cpu_share) + " of their time, and get " + fixed(asked.workers_busy, 2) +
              " of " + fixed(could_use, 1) + " CPUs; measure again when the machine is idle"};
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

bool cpus_are_used(const Findings& findings) {
  const Run& asked = findings.asked;
  const double cpus = std::max(1.0, findings.machine.cpus);
  const bool enough_workers = asked.num_workers >= static_cast<int64_t>(std::ceil(cpus));
  // Workers that rest beside a consumer do not use them, however many there are.
  const bool rest = asked.step_ms > 0 && asked.workers_busy < kHalf * cpus;
  return asked.workers_busy >= kNearlyAll * cpus || (enough_workers && !rest) ||
         asked.no_cpu_share >= kBlocked;
}

bool quota_is_used(const Findings& findings) {
  const MachineLimits& machine = findings.machine;
  return machine.quota_cpus > 0 && machine.quota_cpus < static_cast<double>(machine.cores) &&
         findings.asked.workers_busy >= kQuotaUsed * machine.quota_cpus;
}

Verdict of_quota(const Findings& findings) {
  return {.cause = "cpu_quota",
          .text = "the cgroup grants this process " + fixed(findings.machine.quota_cpus, 1) + " of " +
                  grouped(findings.machine.cores) + " CPUs, and the loader uses them: request more"};
}

Verdict of_cpu(const Findings& findings) {
  const MachineLimits& machine = findings.machine;
  if (machine.quota_cpus > 0 && machine.quota_cpus < static_cast<double>(machine.cores))
    return of_quota(findings);
  if (auto verdict = of_large_images(findings)) return *verdict;
  const std::string busy = "the job keeps " + fixed(findings.asked.cpus_busy, 2) + " of " +
                           fixed(machine.cpus, 1) + " CPUs busy" + affinity_text(machine);
  const double copied = machine.memcpy_bytes_per_s * std::max(1.0, findings.asked.workers_busy);
  if (copied > 0 && findings.asked.delivered_bytes_per_s >= kCopiesOfMemcpy * copied)
    return {.cause = "memory_bandwidth",
            .text = "samples are delivered at " + bytes_text(findings.asked.delivered_bytes_per_s) +
                    "/s, and a thread that only copies memory reaches " +
                    bytes_text(machine.memcpy_bytes_per_s) +
                    "/s: only smaller samples (u8 instead of f32) would be faster"};
  if (findings.asked.heaviest == "read" && findings.asked.heaviest_share >= kMostOfTheTime)
    return of_small_reads(findings.asked);
  if (findings.asked.heaviest_share >= kMostOfTheTime)
    return {.cause = "transform",
            .text = "'" + findings.asked.heaviest + "' takes " + percent_text(findings.asked.heaviest_share) +
                    " of the workers' time, and " + busy + ": make it cheaper, or store its result"};
  return {.cause = "cpu", .text = busy + ": more CPUs, or less work per sample, would help"};
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

}  // namespace dataline::cli
