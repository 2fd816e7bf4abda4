// Token streams as windows of `length + 1` tokens: x is the first `length`, y is x shifted by one.
//
// Files: headerless integers (nanoGPT's .bin: u16); one-dimensional integer .npy files; and llm.c's .bin, with 256
// little-endian i32 before the tokens, of which
//   [0] is 20240520 and [1] is 1: u16 tokens, or [0] is 20240801 and [1] is 7: u32 tokens; [2] is the number of tokens.
//
// A file of n tokens has (n - length - 1) / stride + 1 windows, none if n < length + 1.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/bytes.h"
#include "core/base/dtype.h"
#include "core/memory/mapped_file.h"
#include "core/source/source.h"

namespace dataline {

struct Format;
extern const Format kTokensFormat;

constexpr int64_t kMaxWindowTokens = int64_t{1} << 40;

struct TokensOptions {
  int64_t length = 1024;       // 1 .. kMaxWindowTokens
  int64_t stride = 1024;       // tokens from one window to the next, >= 1
  bool views = false;          // x and y are delivered as overlapping views of the window
  std::optional<DType> dtype;  // an integer type; absent: from the header, or u16 for .bin
};

// Opens one file. kTruncated (an incomplete last token, a header or file shorter than it says), kCorrupt (a header that
// contradicts the file), kUnsupported (llm.c eval files and unknown versions, .npy of other ranks or types), kMismatch
// (`dtype` contradicts the header), kBadUri (`dtype` is needed).
Result<SourceRef> open_tokens(const std::string& path, const TokensOptions& options,
                              const OpenContext& context);

// Whether a file starts with one of llm.c's magics.
bool is_llmc(Bytes start);

}  // namespace dataline
