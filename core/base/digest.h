// A 64-bit fingerprint of bytes and words. Saved states contain it, so it is the same on every platform and in every
// build. It detects mistakes, not attacks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/random.h"

namespace dataline {

class Digest {
 public:
  void add(uint64_t word) { value_ = mix64(std::rotl(value_, 5) ^ (word * kGolden64 + ++words_)); }
  void add(std::string_view text) {
    add(static_cast<uint64_t>(text.size()));
    add(std::as_bytes(std::span(text)));
  }
  // As little-endian words; the last one is zero-padded.
  void add(Bytes bytes) {
    size_t at = 0;
    for (; at + 8 <= bytes.size(); at += 8) add(load_little<uint64_t>(bytes.data() + at));
    uint64_t tail = 0;
    for (size_t i = 0; at + i < bytes.size(); ++i)
      tail |= std::to_integer<uint64_t>(bytes[at + i]) << (8 * i);
    if (at < bytes.size()) add(tail);
  }
  uint64_t value() const { return value_; }
  std::string hex() const {
    std::string out(16, '0');
    for (int i = 0; i < 16; ++i) out[i] = "0123456789abcdef"[(value_ >> (60 - 4 * i)) & 15];
    return out;
  }

 private:
  uint64_t value_ = kGolden64;
  uint64_t words_ = 0;  // mixed into each word, so order and count matter
};

}  // namespace dataline
