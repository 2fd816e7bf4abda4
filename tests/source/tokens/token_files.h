// Token files as nanoGPT, llm.c and NumPy write them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "tests/source/source_support.h"

namespace dataline {

template <typename T>
std::vector<T> counting_tokens(int64_t count) {
  std::vector<T> tokens(static_cast<size_t>(count));
  std::iota(tokens.begin(), tokens.end(), T{100});
  return tokens;
}

inline std::string llmc_header(int32_t magic, int32_t version, int32_t count) {
  std::vector<int32_t> header(256, 0);
  header[0] = magic;
  header[1] = version;
  header[2] = count;
  return raw_bytes(header);
}

inline std::string llmc_u16(int64_t count) {
  return llmc_header(20240520, 1, static_cast<int32_t>(count)) + raw_bytes(counting_tokens<uint16_t>(count));
}

inline std::string llmc_u32(int64_t count) {
  return llmc_header(20240801, 7, static_cast<int32_t>(count)) + raw_bytes(counting_tokens<uint32_t>(count));
}

}  // namespace dataline
