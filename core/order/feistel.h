// Full shuffle of 65,536 samples or more: a keyed bijection of [0, n), computed per slot without a table.
//
// An alternating Feistel network on b = bit_width(n - 1) bits, cut into a left part of b / 2 bits and a right part
// of the rest. Each round hashes one part into the other, which is invertible for any hash:
//
//   even rounds: left  ^= mix32(right ^ key[i])  (its low left_bits)
//   odd rounds:  right ^= mix32(left  ^ key[i])  (its low right_bits)
//
// The network permutes [0, 2^b). A value >= n goes through again until it is below n ("cycle walking"), which permutes
// [0, n); because 2^b < 2n that takes fewer than two passes on average.
//
// Both parts fit 32 bits for every n <= 2^62, so vector code needs only 32-bit lanes. Fewer rounds are visibly not
// random: tests/order/statistics_test.cpp shows which ones fail.
//
// Threads: immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

#include "core/base/random.h"

namespace dataline {

constexpr int32_t kFeistelRounds = 8;
constexpr int64_t kFeistelMaxSamples = int64_t{1} << 62;

// A bijection of 32 bits with full avalanche (constants from C. Wellons' hash prospector, public domain).
constexpr uint32_t kMix32A = 0x21f0aaadu;
constexpr uint32_t kMix32B = 0xd35a2d97u;
constexpr uint32_t mix32(uint32_t x) {
  x ^= x >> 16;
  x *= kMix32A;
  x ^= x >> 15;
  x *= kMix32B;
  x ^= x >> 15;
  return x;
}

// One epoch's bijection.
struct Feistel {
  uint64_t last = 0;  // n - 1
  uint32_t right_bits = 0;
  uint32_t left_mask = 0;
  uint32_t right_mask = 0;
  uint32_t keys[kFeistelRounds] = {};
};

// The size is part of the key, so that orders of neighbouring sizes are unrelated.
constexpr uint64_t permutation_key(uint64_t seed, int64_t epoch, int64_t n) {
  return random_bits(random_key(seed, static_cast<uint64_t>(epoch), Domain::kPermutation),
                     static_cast<uint64_t>(n));
}

// n in [2, 2^62]. The round keys are the halves of splitmix64's outputs from `key`.
constexpr Feistel make_feistel(int64_t n, uint64_t key) {
  Feistel feistel;
  feistel.last = static_cast<uint64_t>(n) - 1;
  const uint32_t bits = static_cast<uint32_t>(std::bit_width(feistel.last));
  feistel.right_bits = bits - bits / 2;
  feistel.left_mask = (uint32_t{1} << (bits / 2)) - 1;
  feistel.right_mask = (uint32_t{1} << feistel.right_bits) - 1;
  for (int32_t i = 0; i < kFeistelRounds; i += 2) {
    const uint64_t word = mix64(key += kGolden64);
    feistel.keys[i] = static_cast<uint32_t>(word);
    feistel.keys[i + 1] = static_cast<uint32_t>(word >> 32);
  }
  return feistel;
}

// The sample of one slot. The vector variants give the same result.
constexpr uint64_t feistel_permute(const Feistel& feistel, uint64_t value) {
  do {
    uint32_t left = static_cast<uint32_t>(value >> feistel.right_bits);
    uint32_t right = static_cast<uint32_t>(value) & feistel.right_mask;
    for (int32_t i = 0; i < kFeistelRounds; i += 2) {
      left ^= mix32(right ^ feistel.keys[i]) & feistel.left_mask;
      right ^= mix32(left ^ feistel.keys[i + 1]) & feistel.right_mask;
    }
    value = (static_cast<uint64_t>(left) << feistel.right_bits) | right;
  } while (value > feistel.last);
  return value;
}

}  // namespace dataline
