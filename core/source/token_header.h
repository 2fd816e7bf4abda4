// How a token file begins: which of the three kinds it is, and llm.c's header.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/base/dtype.h"
#include "core/base/status.h"
#include "core/memory/mapped_file.h"

namespace dataline {

constexpr int64_t kLlmcHeaderBytes = 1024;

// llm.c's magics, each the day its format was made.
constexpr uint32_t kLlmcMagicU16 = 20240520;
constexpr uint32_t kLlmcMagicU32 = 20240801;
constexpr uint32_t kLlmcMagicEval = 20240522;

enum class TokenFormat { kHeaderless, kNpy, kLlmc };

// By the first bytes; kNpy also by the name, so that a damaged .npy file is reported as one. kUnsupported for
// an llm.c header in the other byte order.
Result<TokenFormat> token_format(const MappedFile& file);

struct LlmcHeader {
  DType dtype = DType::kU16;
  int64_t token_count = 0;
};

// kTruncated, kCorrupt (the count is negative, or the file longer than it says), kUnsupported (an eval file,
// another version).
Result<LlmcHeader> read_llmc_header(const MappedFile& file);

}  // namespace dataline
