// The tokens of a vocabulary, by id. The content of the file tells its form:
//   one token a line              the first line is id 0
//   {"token": id, ...}            JSON, as GPT-2's vocab.json: where its tokens are spelt in GPT-2's 256 characters for bytes
//                                 (a space is U+0120), they are turned into those bytes
//   base64 id                     a line each, as tiktoken's files of ranks
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "bindings/cli/interrupts.h"

namespace dataline::cli {

class Vocabulary {
 public:
  // Throws Failure with the file's name and the line; read() also Interrupted.
  static Vocabulary read(const std::string& path, const Interrupts& interrupts);
  static Vocabulary parse(std::string_view text, const std::string& path);

  size_t size() const { return tokens_.size(); }
  // The token's bytes; "<id>" for an id that is not in it.
  std::string text_of(int64_t id) const;

 private:
  std::unordered_map<int64_t, std::string> tokens_;
};

}  // namespace dataline::cli
