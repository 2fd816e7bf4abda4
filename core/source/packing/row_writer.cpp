// SPDX-License-Identifier: Apache-2.0
#include "core/source/packing/row_writer.h"

#include <cstring>

#include "core/base/bytes.h"
#include "core/source/packing/packing.h"

namespace dataline {
namespace {

constexpr int64_t kBlock = 16;  // a fixed inner loop, which compilers vectorize even at -O2

template <typename Token, typename Target>
void write_targets(const std::byte* tokens, int64_t count, bool more, std::byte* out) {
  const std::byte* const from = tokens + sizeof(Token);
  const int64_t known = more ? count : count - 1;
  const auto target_of = [&](int64_t i) {
    return static_cast<Target>(load_native<Token>(from + i * int64_t{sizeof(Token)}));
  };
  int64_t i = 0;
  for (; i + kBlock <= known; i += kBlock) {
    Token block[kBlock];
    Target wide[kBlock];
    std::memcpy(block, from + i * int64_t{sizeof(Token)}, sizeof block);
    for (int64_t k = 0; k < kBlock; ++k) wide[k] = static_cast<Target>(block[k]);
    std::memcpy(out + i * int64_t{sizeof(Target)}, wide, sizeof wide);
  }
  for (; i < count; ++i) {
    const Target target = i < known ? target_of(i) : Target{kNoTarget};
    std::memcpy(out + i * int64_t{sizeof target}, &target, sizeof target);
  }
}

template <typename Target>
void write_no_targets(std::byte* out, int64_t count) {
  constexpr Target kNone{kNoTarget};
  for (int64_t i = 0; i < count; ++i) std::memcpy(out + i * int64_t{sizeof kNone}, &kNone, sizeof kNone);
}

}  // namespace

DType target_dtype(DType tokens) {
  const bool wide = tokens == DType::kU32 || dtype_bytes(tokens) == 8;
  return wide ? DType::kI64 : DType::kI32;
}

WriteTargets write_targets_function(DType tokens) {
  switch (tokens) {
    case DType::kU8:
      return write_targets<uint8_t, int32_t>;
    case DType::kI8:
      return write_targets<int8_t, int32_t>;
    case DType::kU16:
      return write_targets<uint16_t, int32_t>;
    case DType::kI16:
      return write_targets<int16_t, int32_t>;
    case DType::kI32:
      return write_targets<int32_t, int32_t>;
    case DType::kU32:
      return write_targets<uint32_t, int64_t>;
    case DType::kU64:
      return write_targets<uint64_t, int64_t>;
    default:
      return write_targets<int64_t, int64_t>;
  }
}

WriteNoTargets write_no_targets_function(DType tokens) {
  return target_dtype(tokens) == DType::kI64 ? write_no_targets<int64_t> : write_no_targets<int32_t>;
}

void fill_i32(int32_t* out, int64_t count, int32_t value) {
  int64_t i = 0;
  for (; i + kBlock <= count; i += kBlock) {
    for (int64_t k = 0; k < kBlock; ++k) out[i + k] = value;
  }
  for (; i < count; ++i) out[i] = value;
}

void count_i32(int32_t* out, int64_t count) {
  int64_t i = 0;
  for (; i + kBlock <= count; i += kBlock) {
    for (int64_t k = 0; k < kBlock; ++k) out[i + k] = static_cast<int32_t>(i + k);
  }
  for (; i < count; ++i) out[i] = static_cast<int32_t>(i);
}

}  // namespace dataline
