// SPDX-License-Identifier: Apache-2.0
#include "bench/end_to_end/text_files.h"

#include <iterator>
#include <random>

#include "bench/end_to_end/files.h"

namespace bench {

namespace {

struct Piece {
  const char* text;
  const char* json;  // as it stands in the file
};
constexpr Piece kRare[] = {
    {"\n", "\\n"}, {"\"", "\\\""}, {"\xc3\xa9", "\\u00e9"}, {"\xe2\x80\x99", "\\u2019"}};

// The same pieces for both forms.
template <typename Add>
void pieces_of_line(int64_t line, const Add& add) {
  std::minstd_rand random(static_cast<uint32_t>(line + 1));
  const auto length = static_cast<int64_t>(random() % 1800 + 200);
  for (int64_t at = 0; at < length; ++at) {
    const auto drawn = static_cast<size_t>(random());
    const char letter[2] = {drawn % 6 == 0 ? ' ' : static_cast<char>('a' + drawn / 6 % 26), 0};
    add(drawn % 101 == 0 ? kRare[drawn / 101 % std::size(kRare)] : Piece{letter, letter});
  }
}

void add_line(int64_t line, std::string& out) {
  out += "{\"text\": \"";
  pieces_of_line(line, [&](const Piece& piece) { out += piece.json; });
  out += "\", \"label\": " + std::to_string(line % kLabels) + "}\n";
}

}  // namespace

std::string text_of_line(int64_t line) {
  std::string out;
  pieces_of_line(line, [&](const Piece& piece) { out += piece.text; });
  return out;
}

std::string json_lines_file(const std::string& data_dir, int64_t lines) {
  std::string text;
  for (int64_t line = 0; line < lines; ++line) add_line(line, text);
  return made_text(data_dir + "/lines_" + std::to_string(lines) + ".jsonl", text);
}

std::string csv_file(const std::string& path, const std::byte* rows, int64_t count, int64_t row_bytes) {
  std::string text;
  for (int64_t i = 0; i < row_bytes; ++i) text += "pixel" + std::to_string(i) + ",";
  text += "label\n";
  for (int64_t row = 0; row < count; ++row) {
    for (int64_t i = 0; i < row_bytes; ++i)
      text += std::to_string(static_cast<int>(rows[row * row_bytes + i])) + ",";
    text += std::to_string(row % kLabels) + "\n";
  }
  return made_text(path, text);
}

}  // namespace bench
