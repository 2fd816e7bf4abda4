// What is used up, or waited for, by a run as it was asked for: the rules that need no trial of another option.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bindings/cli/doctor/judge.h"

namespace dataline::cli {

bool waits_for_storage(const Findings& findings);
bool beyond_cpus(const Findings& findings, int64_t workers);
bool is_uneven(const Findings& findings);      // a few samples take much of the time
bool cpus_are_used(const Findings& findings);  // all of them, or by as many workers
bool quota_is_used(const Findings& findings);  // of CPUs; no number of workers changes that

// What the loader gets, what is needed, and what storage gives to those who only read.
std::string storage_figures(const Findings& findings);
std::string uneven_text(const Run& asked);

// Workers that are ready to run and get no CPU, though the loader does not use what there is. More workers would then gain by
// taking time from the others, which no trial can promise.
std::optional<Verdict> of_contention(const Findings& findings);
std::optional<Verdict> of_storage(const Findings& findings);
Verdict of_quota(const Findings& findings);
// All CPUs are at work: with what?
Verdict of_cpu(const Findings& findings);
Verdict of_refused_pin(const Findings& findings);

std::string percent_text(double share);  // "40 %"

}  // namespace dataline::cli
