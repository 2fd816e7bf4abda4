// What `doctor` says. The keys of the JSON are public (SURFACE section 5).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "bindings/cli/doctor/findings.h"
#include "bindings/cli/doctor/judge.h"

namespace dataline::cli {

// measured_gain: of the run that checks the change; empty where there is no change, or it could not be run.
std::string doctor_json(const Findings& findings, const Verdict& verdict,
                        std::optional<double> measured_gain);
std::string doctor_text(const Findings& findings, const Verdict& verdict,
                        std::optional<double> measured_gain);

}  // namespace dataline::cli
