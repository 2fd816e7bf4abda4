// Counter-based randomness: a hash of (seed, epoch, domain, a, b). No state, the same bits on every platform.
// Golden vectors pin it: changing a constant changes every order ever saved.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/base/checked.h"

namespace dataline {

// What a draw is for, so that no two uses share bits.
enum class Domain : uint64_t {
  kPermutation = 1,  // keys of the Feistel rounds
  kFisherYates = 2,
  kWeighted = 3,
  kReplacement = 4,  // which sample replaces a bad one: a = slot, b = attempt
  kAugment = 5,      // a = slot, b = operator index (draw number in the high half)
  kMix = 6,          // whole batches: a = step, b as above
  kBuckets = 9,      // seeds of the permutations of batches by length (core/order/buckets.h)
  kBlocks = 10,      // shuffle=window: the order of the blocks
  kWindow = 11,      // shuffle=window: keys of the samples in a window: a = lane, b = window
  // Mixes of datasets (order/mix.h).
  kMixPeriod = 16,  // which part each slot of a period belongs to
  kMixPart = 17,    // the order of a part: a = part
  kMixRepeat = 18,  // which samples of a part come once more in an epoch: a = part
  kMixSteps = 19,   // seeds of homogeneous steps by repeats (order/mix_steps.cpp)
  kMixBlocks = 20,  // which samples of a block come once more (order/mix_blocks.cpp): a = block
};

// Finalizer of splitmix64 (Steele, Lea, Flood 2014; constants by Stafford, "Mix13"): a bijection of 64 bits
// with full avalanche.
constexpr uint64_t mix64(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  x ^= x >> 31;
  return x;
}

constexpr uint64_t kGolden64 = 0x9e3779b97f4a7c15u;  // 2^64 / golden ratio, the splitmix increment

// The key of one (seed, epoch, domain); draws add a and b. Seed and epoch are hashed, never added, so that
// runs with neighbouring seeds share no epoch.
constexpr uint64_t random_key(uint64_t seed, uint64_t epoch, Domain domain) {
  uint64_t key = mix64(seed + kGolden64);
  key = mix64(key ^ (epoch * kGolden64 + 0x632be59bd9b4e019u));
  return mix64(key ^ (static_cast<uint64_t>(domain) * kGolden64 + 0x2545f4914f6cdd1du));
}

constexpr uint64_t random_bits(uint64_t key, uint64_t a, uint64_t b = 0) {
  return mix64(mix64(key ^ (a * kGolden64 + 0xd1b54a32d192ed03u)) + b * kGolden64);
}

// Uniform in [0, 1) with 53 bits.
constexpr double random_unit(uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1.0p-53; }

// Uniform in [0, bound) by multiply-high; the bias is below bound / 2^64.
constexpr uint64_t random_below(uint64_t bits, uint64_t bound) {
  return static_cast<uint64_t>((static_cast<u128>(bits) * bound) >> 64);
}

}  // namespace dataline
