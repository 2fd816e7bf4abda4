// From measurements to a verdict: a pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bindings/cli/doctor/findings.h"

namespace dataline::cli {

// The words of the key `cause` of `doctor --json`. They are public: one may be added, none changes its meaning.
struct Cause {
  const char* word;
  const char* doc;
};
std::span<const Cause> causes();

struct Change {
  std::string option;
  std::string value;
};

struct Verdict {
  std::string cause;  // a word of causes()
  std::string text;   // in plain words, with its evidence
  std::optional<Change> change{};
  double predicted_gain = 1;  // samples/s after the change over those before
};

Verdict judge(const Findings& findings);

}  // namespace dataline::cli
