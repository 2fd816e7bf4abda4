// Errors inside the plug-in: a code and one line of text. Exceptions of the standard library and of Arrow end where they are
// thrown from (parquet_file.cpp) or at the callbacks (plugin.cpp); none crosses the C ABI.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sstream>
#include <string>

#include "capi/dataline.h"

namespace dataline_parquet {

struct [[nodiscard]] Failure {
  dl_status code = DL_OK;
  std::string text;

  explicit operator bool() const { return code != DL_OK; }
};

template <typename... Parts>
std::string concat(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

template <typename... Parts>
Failure failure(dl_status code, const Parts&... parts) {
  return {code, concat(parts...)};
}

}  // namespace dataline_parquet
