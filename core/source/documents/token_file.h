// Files of tokens, and where in them the tokens are.
//
// Files: headerless integers (nanoGPT's .bin: u16); one-dimensional integer .npy files; and llm.c's .bin, with 256
// little-endian i32 before the tokens, of which
//   [0] is 20240520 and [1] is 1: u16 tokens, or [0] is 20240801 and [1] is 7: u32 tokens; [2] is the number of tokens.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/dtype.h"
#include "core/memory/mapped_file.h"
#include "core/source/files.h"
#include "core/source/format.h"

namespace dataline {

// Where the tokens of a file are.
struct TokenSpan {
  DType dtype = DType::kU16;
  bool swapped = false;  // stored in the other byte order
  int64_t data_offset = 0;
  int64_t token_count = 0;
  std::string note;
};

// By the first bytes, and .npy also by name, so that a damaged .npy file is reported as such. `dtype`: what the URI says;
// an integer type. kTruncated (an incomplete last token, a header or file shorter than it says), kCorrupt (a header that
// contradicts the file), kUnsupported (llm.c eval files and unknown versions, headers in the other byte order, .npy of other
// ranks or types), kMismatch (`dtype` contradicts the header), kBadUri (`dtype` is needed).
// `losses`: where it is given (end=cut), the whole tokens of a file that is not as long as it says; a note on the rest is added.
Result<TokenSpan> find_tokens(const MappedFile& file, std::optional<DType> dtype,
                              std::vector<std::string>* losses = nullptr);

Sniff sniff_llmc(const FirstBytes& file);

}  // namespace dataline
