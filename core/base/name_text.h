// Which texts can name a field: those that messages show as they are, in every format that is read or written.
// Threads: plain functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace dataline {

// UTF-8 without the characters that message_text() escapes: controls, separators of lines, characters that set the direction of
// text, the byte order mark. True for the empty text.
bool is_name_text(std::string_view text);

// What is_name_text() accepts, for messages.
inline constexpr std::string_view kNameText = "UTF-8 without control and direction characters";

}  // namespace dataline
