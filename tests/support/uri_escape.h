// Text as a part of a URI.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace dataline {

// `text` with `% , ? & =` written as %XX, for use as a path or a value in a URI.
inline std::string uri_escape(std::string_view text) {
  constexpr std::string_view kSpecial = "%,?&=";
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (char c : text) {
    if (kSpecial.find(c) == std::string_view::npos) {
      out.push_back(c);
      continue;
    }
    unsigned byte = static_cast<unsigned char>(c);
    out.push_back('%');
    out.push_back(kHex[byte >> 4]);
    out.push_back(kHex[byte & 15]);
  }
  return out;
}

}  // namespace dataline
