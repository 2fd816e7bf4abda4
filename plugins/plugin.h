// What every plug-in has: errors inside it, a code and one line of text, and the functions of the library. Exceptions end at the callbacks
// or before them; none crosses the C ABI.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sstream>
#include <string>

#include "capi/dataline.h"

namespace dataline_plugin {

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

// The function of the library with that name; false where the library is older.
template <typename Function>
bool find(const dl_plugin& plugin, const char* name, Function& out) {
  out = reinterpret_cast<Function>(plugin.find(name));
  return out != nullptr;
}

}  // namespace dataline_plugin

extern "C" DL_API dl_status dl_plugin_register(dl_plugin* plugin, dl_error* error);
