// Pictures in a terminal: each character is an upper half block, with one pixel as its colour and one as its background.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "bindings/cli/png_file.h"

namespace dataline::cli {

enum class Colours { kNone, k256, kAll };

// Of standard output: none unless it is a terminal that shows UTF-8 and says that it has colours (COLORTERM, TERM), and
// NO_COLOR is not set.
Colours terminal_colours();
bool terminal_shows_utf8();  // standard output; true for what is no terminal

// Lines that each end with a newline, at most `columns` wide; a larger picture is reduced.
std::string half_blocks(const Picture& picture, Colours colours, size_t columns, size_t indent);

}  // namespace dataline::cli
