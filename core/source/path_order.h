// The order in which Python's sorted() puts file names, so that a folder's samples stand where torchvision puts them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace dataline {

// a < b by code points, names decoded as os.fsdecode does: UTF-8, a byte that is none standing for U+DC80 .. U+DCFF
// (PEP 383). That is the plain order of bytes, except among names with bytes of 0x80 and above.
bool python_less(std::string_view a, std::string_view b);

}  // namespace dataline
