// Text formatting: numbers, suggestions of names, wrapped columns.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dataline::cli {

std::string grouped(int64_t value);           // 60,000
std::string fixed(double value, int digits);  // 3.14; a point in any locale
// "3 images were delivered though the decoder warned of damage (...)", for dl_stats.warned.
std::string warned_text(int64_t images);
std::string scaled(double value);                            // 6.91 M; 834; 12.3 k
std::string bytes_text(double bytes);                        // 47.0 MB, powers of 1000
std::string shape_text(const int64_t* shape, int32_t rank);  // 3x32x32; ? for -1; "scalar"

// Length of the UTF-8 character at the start of `text`, which is not empty; 0 if invalid, also for overlong forms and
// surrogates.
size_t utf8_bytes(std::string_view text);
bool is_utf8(std::string_view bytes);             // and without NUL: a text
uint32_t code_point(std::string_view character);  // of one valid character
std::string trimmed(const std::string& text);     // without spaces and tabs at either end

// "--batch-size" of "batch_size": how a flag is spelt everywhere.
std::string flag_text(std::string_view name);
// Bytes from data, made safe for a terminal: control characters (also those of Unicode that turn the direction of text) and
// invalid bytes as \n, \x1b, \u202e; with `ascii` all other characters outside ASCII too.
std::string escaped_text(std::string_view bytes, bool ascii);
std::string message_text(
    std::string_view text);  // the same for messages, which keep characters outside ASCII
// What escaped_text() escapes: a character that a terminal obeys, or that sets the direction of text, instead of printing.
bool is_control(uint32_t code);
// At most `most` bytes of complete characters.
std::string_view start_of(std::string_view text, size_t most);
// The start of a text, complete characters that need at most so many columns. Those of Asian scripts take two; what is not known
// to take one is counted as two.
std::string_view cut_to_columns(std::string_view text, size_t columns);

// ", did you mean 'x'?" if a name is similar, else "".
std::string did_you_mean(std::string_view text, const std::vector<std::string>& names);

// Rows of cells in aligned columns, two spaces apart, the last column wrapped at `width`. Each row ends with a newline.
std::string table_text(const std::vector<std::vector<std::string>>& rows, size_t width, size_t indent);

// A wrapped text; lines after the first are indented by `hang`. No newline at the end.
std::string wrapped_text(std::string_view text, size_t width, size_t hang);

// Columns of the terminal at standard output; 100 if it is not a terminal.
size_t output_width();

}  // namespace dataline::cli
