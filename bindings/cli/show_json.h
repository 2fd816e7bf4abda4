// A field of one sample, for `show --json`.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "bindings/cli/json.h"
#include "bindings/cli/values.h"

namespace dataline::cli {

// `class_name`: of a label, else "". `text`: of bytes, or of tokens with a vocabulary; values of bytes that are text are left out.
void append_field(const SampleView& sample, const std::string& class_name,
                  const std::optional<std::string>& text, Json& json);

}  // namespace dataline::cli
