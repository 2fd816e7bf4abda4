// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/letters.h"

#include <cstdint>
#include <span>

#include "bindings/cli/text.h"

namespace dataline::cli {
namespace {

// clang-format off
// From U+00C0: Unicode's compatibility decompositions without the marks, and common spellings for the other letters.
constexpr const char* kLatin[] = {
    "A", "A", "A", "A", "A", "A", "AE", "C", "E", "E", "E", "E", "I", "I", "I", "I", "D", "N", "O", "O", "O", "O",
    "O", "x", "O", "U", "U", "U", "U", "Y", "Th", "ss", "a", "a", "a", "a", "a", "a", "ae", "c", "e", "e", "e",
    "e", "i", "i", "i", "i", "d", "n", "o", "o", "o", "o", "o", "/", "o", "u", "u", "u", "u", "y", "th", "y", "A",
    "a", "A", "a", "A", "a", "C", "c", "C", "c", "C", "c", "C", "c", "D", "d", "D", "d", "E", "e", "E", "e", "E",
    "e", "E", "e", "E", "e", "G", "g", "G", "g", "G", "g", "G", "g", "H", "h", "H", "h", "I", "i", "I", "i", "I",
    "i", "I", "i", "I", "i", "IJ", "ij", "J", "j", "K", "k", "k", "L", "l", "L", "l", "L", "l", "L", "l", "L",
    "l", "N", "n", "N", "n", "N", "n", "'n", "N", "n", "O", "o", "O", "o", "O", "o", "OE", "oe", "R", "r", "R",
    "r", "R", "r", "S", "s", "S", "s", "S", "s", "S", "s", "T", "t", "T", "t", "T", "t", "U", "u", "U", "u", "U",
    "u", "U", "u", "U", "u", "U", "u", "W", "w", "Y", "y", "Y", "Z", "z", "Z", "z", "Z", "z", "s",
};
// From U+0391: the transcription of ISO 843.
constexpr const char* kGreek[] = {
    "A", "V", "G", "D", "E", "Z", "I", "Th", "I", "K", "L", "M", "N", "X", "O", "P", "R", "-", "S", "T", "Y", "F",
    "Ch", "Ps", "O", "I", "Y", "a", "e", "i", "i", "y", "a", "v", "g", "d", "e", "z", "i", "th", "i", "k", "l",
    "m", "n", "x", "o", "p", "r", "s", "s", "t", "y", "f", "ch", "ps", "o", "i", "y", "o", "y", "o",
};
// From U+0410: BGN/PCGN 1947.
constexpr const char* kCyrillic[] = {
    "A", "B", "V", "G", "D", "E", "Zh", "Z", "I", "Y", "K", "L", "M", "N", "O", "P", "R", "S", "T", "U", "F",
    "Kh", "Ts", "Ch", "Sh", "Shch", "'", "Y", "'", "E", "Yu", "Ya", "a", "b", "v", "g", "d", "e", "zh", "z", "i",
    "y", "k", "l", "m", "n", "o", "p", "r", "s", "t", "u", "f", "kh", "ts", "ch", "sh", "shch", "'", "y", "'",
    "e", "yu", "ya",
};
// clang-format on

struct Block {
  uint32_t first;
  std::span<const char* const> letters;
};
constexpr Block kBlocks[] = {{0xC0, kLatin}, {0x391, kGreek}, {0x410, kCyrillic}};

void append_letters(uint32_t code, std::string& out) {
  if (code >= 0x300 && code < 0x370) return;  // combining marks, as in the file names of macOS
  if (code == 0x401 || code == 0x451) {
    out += code == 0x401 ? "Yo" : "yo";
    return;
  }
  if (code == 0xA0 || (code >= 0x2000 && code <= 0x200A)) code = ' ';
  if (code >= 0x2010 && code <= 0x2015) code = '-';
  if (code == 0x2018 || code == 0x2019) code = '\'';
  if (code >= ' ' && code <= '~') {
    out += static_cast<char>(code);
    return;
  }
  for (const Block& block : kBlocks) {
    if (code < block.first || code - block.first >= block.letters.size()) continue;
    out += block.letters[code - block.first];
    return;
  }
  out += kUnknownLetter;
}

}  // namespace

std::string in_ascii(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t bytes = utf8_bytes(text);
    if (bytes == 0) {
      out += kUnknownLetter;
    } else {
      append_letters(code_point(text.substr(0, bytes)), out);
    }
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return out;
}

}  // namespace dataline::cli
