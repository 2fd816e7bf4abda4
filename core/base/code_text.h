// The words for a code that a callback of the host's returned.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "core/base/status.h"

namespace dataline {

// "code -45 (DL_ERR_CORRUPT)", or "code 77" when no error of the library has that code.
inline std::string code_text(int64_t code) {
  const bool may_be_ours = code < 0 && code >= INT32_MIN;
  const std::string_view name = may_be_ours ? code_name(static_cast<Code>(code)) : "DL_ERR_UNKNOWN";
  return name == "DL_ERR_UNKNOWN" ? concat("code ", code) : concat("code ", code, " (", name, ")");
}

}  // namespace dataline
