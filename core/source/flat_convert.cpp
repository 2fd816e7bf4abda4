// SPDX-License-Identifier: Apache-2.0
// Converting a column's bytes.

#include <bit>
#include <cstring>

#include "core/base/bytes.h"
#include "core/source/flat_file.h"

namespace dataline {
namespace {

// Reverses each element of sizeof(Word) bytes within eight bytes.
template <typename Word>
uint64_t swap_eight(uint64_t eight) {
  if constexpr (sizeof(Word) == 2) {
    constexpr uint64_t kLowBytes = 0x00ff00ff00ff00ffu;
    return ((eight & kLowBytes) << 8) | ((eight >> 8) & kLowBytes);
  }
  // Reversing all eight bytes also exchanges the two halves.
  if constexpr (sizeof(Word) == 4) return std::rotl(swap_bytes(eight), 32);
  if constexpr (sizeof(Word) == 8) return swap_bytes(eight);
}

template <typename Word>
void swap_elements(const std::byte* from, int64_t bytes, std::byte* to) {
  int64_t at = 0;
  for (; at + 8 <= bytes; at += 8) {
    uint64_t eight = swap_eight<Word>(load_native<uint64_t>(from + at));
    std::memcpy(to + at, &eight, sizeof eight);
  }
  for (; at < bytes; at += static_cast<int64_t>(sizeof(Word))) {
    Word word = swap_bytes(load_native<Word>(from + at));
    std::memcpy(to + at, &word, sizeof word);
  }
}

void widen_labels(const std::byte* from, int64_t count, std::byte* to) {
  for (int64_t i = 0; i < count; ++i) {
    auto label = std::to_integer<int64_t>(from[i]);
    std::memcpy(to + i * int64_t{sizeof label}, &label, sizeof label);
  }
}

}  // namespace

FlatConversion swap_conversion(DType dtype) {
  const bool pairs = dtype == DType::kC64 || dtype == DType::kC128;
  const int64_t bytes = dtype_bytes(dtype) / (pairs ? 2 : 1);
  return bytes == 1 ? FlatConversion::kNone : static_cast<FlatConversion>(bytes);
}

int64_t conversion_element_bytes(FlatConversion conversion) {
  return conversion == FlatConversion::kNone ? 1 : static_cast<int64_t>(conversion);
}

int64_t converted_bytes(FlatConversion conversion, int64_t stored_bytes) {
  return conversion == FlatConversion::kU8ToI64 ? stored_bytes * int64_t{sizeof(int64_t)} : stored_bytes;
}

void convert_bytes(FlatConversion conversion, const std::byte* from, int64_t stored_bytes, std::byte* to) {
  switch (conversion) {
    case FlatConversion::kNone:
      break;
    case FlatConversion::kSwap2:
      return swap_elements<uint16_t>(from, stored_bytes, to);
    case FlatConversion::kSwap4:
      return swap_elements<uint32_t>(from, stored_bytes, to);
    case FlatConversion::kSwap8:
      return swap_elements<uint64_t>(from, stored_bytes, to);
    case FlatConversion::kU8ToI64:
      return widen_labels(from, stored_bytes, to);
  }
}

}  // namespace dataline
