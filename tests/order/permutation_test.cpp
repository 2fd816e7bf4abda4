// The two shuffles as permutations: bijective at every size, equal on every vector target, equal to a second,
// naive implementation.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "core/base/random.h"
#include "core/order/feistel.h"
#include "core/order/orders.h"
#include "tests/order/order_support.h"

namespace dataline::permutation_test {
namespace {

TEST(Simd, TheBestTargetHasANameAndIsRunnable) {
  for (const SimdTarget target : runnable_targets()) EXPECT_STRNE(simd_target_name(target), "?");
}

TEST(Simd, PickingTakesTheNearestLesserVariantThatWasCompiled) {
  using Function = int (*)();
  const Function avx2 = [] { return 2; };
  const Function sse4 = [] { return 1; };
  const Function plain = [] { return 0; };
  EXPECT_EQ(simd_pick<Function>(SimdTarget::kAvx3, nullptr, avx2, sse4, nullptr, plain), avx2);
  EXPECT_EQ(simd_pick<Function>(SimdTarget::kAvx2, avx2, nullptr, sse4, nullptr, plain), sse4);
  EXPECT_EQ(simd_pick<Function>(SimdTarget::kSse4, avx2, avx2, nullptr, nullptr, plain), plain);
  EXPECT_EQ(simd_pick<Function>(SimdTarget::kNeon, avx2, avx2, sse4, nullptr, plain), plain);
  EXPECT_EQ(simd_pick<Function>(SimdTarget::kPlain, avx2, avx2, sse4, avx2, plain), plain);
}

// Around 2^k lie the traps: Grain lost a sample at 2^16 + 1.
std::vector<int64_t> sizes_around_powers_of_two() {
  std::vector<int64_t> sizes;
  for (int k = 1; k <= (kSlowBuild ? 17 : 20); ++k) {
    for (const int64_t offset : {-1, 0, 1}) {
      if ((int64_t{1} << k) + offset >= 2) sizes.push_back((int64_t{1} << k) + offset);
    }
    sizes.push_back((int64_t{3} << k) / 2 + 1);
  }
  return sizes;
}

TEST(Permutation, OfEverySizeAroundEveryPowerOfTwoTakesEachSampleOnce) {
  for (const int64_t n : sizes_around_powers_of_two()) {
    const auto order = make_order(order_spec(n, Shuffle::kFull, 3));
    EXPECT_TRUE(is_permutation(whole_epoch(*order, 2))) << "n = " << n;
  }
}

TEST(Feistel, OfEverySizeAroundEveryPowerOfTwoTakesEachSampleOnce) {
  const SimdTarget best_simd = best_simd_target();
  for (const SimdTarget target : runnable_targets()) {
    for (const int64_t n : sizes_around_powers_of_two()) {
      if (n > 1 << (kSlowBuild ? 14 : 18) && target != best_simd) continue;
      const auto order = feistel_order(n, 3, target);
      EXPECT_TRUE(is_permutation(whole_epoch(*order, 2))) << simd_target_name(target) << ", n = " << n;
    }
  }
}

// Takes one value back through the network: the rounds in reverse, walking until it is in range.
uint64_t inverse(const Feistel& feistel, uint64_t value) {
  do {
    uint64_t left = value >> feistel.right_bits;
    uint64_t right = value & feistel.right_mask;
    for (int i = kFeistelRounds - 1; i >= 0; --i) {
      uint64_t& to = i % 2 == 0 ? left : right;
      const uint64_t from = i % 2 == 0 ? right : left;
      uint32_t x = static_cast<uint32_t>(from) ^ feistel.keys[i];
      x = (x ^ (x >> 16)) * 0x21f0aaadu;
      x = (x ^ (x >> 15)) * 0xd35a2d97u;
      x ^= x >> 15;
      to ^= x & (i % 2 == 0 ? feistel.left_mask : feistel.right_mask);
    }
    value = left << feistel.right_bits | right;
  } while (value > feistel.last);
  return value;
}

constexpr int64_t kLargeSizes[] = {
    1'000'000,
    6'000'000,
    1'000'000'000,
    (int64_t{1} << 31) + 1,
    (int64_t{1} << 32) - 1,
    int64_t{1} << 32,
    (int64_t{1} << 32) + 1,
    (int64_t{1} << 33) + 1,
    1'000'000'000'000,
    (int64_t{1} << 61) + 1,
    (int64_t{1} << 62) - 1,
    int64_t{1} << 62,
};

TEST(Feistel, CanBeTakenBackAtSizesTooLargeToList) {
  for (const int64_t n : kLargeSizes) {
    const Feistel feistel = make_feistel(n, permutation_key(9, 4, n));
    for (uint64_t i = 0; i < 2000; ++i) {
      const uint64_t slot = random_below(random_bits(1, i), static_cast<uint64_t>(n));
      const uint64_t sample = feistel_permute(feistel, slot);
      ASSERT_LT(sample, static_cast<uint64_t>(n));
      ASSERT_EQ(inverse(feistel, sample), slot) << "n = " << n;
    }
  }
}

TEST(Feistel, EveryTargetGivesThePlainValuesWhereverACallBeginsAndEnds) {
  std::vector<int64_t> sizes(std::begin(kLargeSizes), std::end(kLargeSizes));
  for (const int64_t n : {2, 3, 5, 100, 65536, 65537, 131073}) sizes.push_back(n);
  for (const SimdTarget target : runnable_targets()) {
    for (const int64_t n : sizes) {
      const auto order = feistel_order(n, 11, target);
      const Feistel feistel = make_feistel(n, permutation_key(11, 6, n));
      for (uint64_t i = 0; i < 60; ++i) {
        const int64_t count = std::min<int64_t>(n, i < 40 ? static_cast<int64_t>(i) : 64 + 13 * i);
        // The last calls end at the last slot.
        const int64_t first =
            i % 4 == 0
                ? n - count
                : static_cast<int64_t>(random_below(random_bits(2, i), static_cast<uint64_t>(n - count + 1)));
        std::vector<int64_t> out(static_cast<size_t>(count) + 1, -1);
        order->samples(6, nullptr, first, count, out.data());
        for (int64_t k = 0; k < count; ++k) {
          ASSERT_EQ(static_cast<uint64_t>(out[static_cast<size_t>(k)]),
                    feistel_permute(feistel, static_cast<uint64_t>(first + k)))
              << simd_target_name(target) << ", n = " << n << ", slot " << first << " + " << k;
        }
        ASSERT_EQ(out.back(), -1) << "wrote past the end";
      }
    }
  }
}

TEST(Feistel, CallsAcrossTheFourthGigaslotCarryIntoTheHighWord) {
  const int64_t n = int64_t{1} << 40;
  const Feistel feistel = make_feistel(n, permutation_key(1, 1, n));
  for (const SimdTarget target : runnable_targets()) {
    const auto order = feistel_order(n, 1, target);
    const int64_t first = (int64_t{1} << 32) - 100;
    std::vector<int64_t> out(200);
    order->samples(1, nullptr, first, 200, out.data());
    for (int64_t k = 0; k < 200; ++k) {
      ASSERT_EQ(static_cast<uint64_t>(out[static_cast<size_t>(k)]),
                feistel_permute(feistel, static_cast<uint64_t>(first + k)));
    }
  }
}

TEST(Feistel, RunsOfManyKeysAreThoseOfEachKeyOnEveryTarget) {
  for (const int bits : {1, 7, 16, 31, 32, 33, 40, 62}) {
    const int64_t n = int64_t{1} << bits;
    // Runs of no slot, a few, several vectors; at the ends of the network, and across slot 2^32 where there is one.
    std::vector<FeistelRun> runs;
    std::vector<int64_t> expected;
    for (int64_t r = 0; r < 150; ++r) {
      const int64_t count = std::min<int64_t>(n, r % 7 == 0 ? r : r % 5);
      const int64_t end = r % 3 == 0 ? n : std::min(n, (int64_t{1} << 32) + count / 2);
      const FeistelRun run{random_bits(7, static_cast<uint64_t>(r)), static_cast<uint64_t>(end - count),
                           count};
      const Feistel feistel = make_feistel(n, run.key);
      for (int64_t k = 0; k < count; ++k)
        expected.push_back(
            static_cast<int64_t>(feistel_permute(feistel, run.first + static_cast<uint64_t>(k))));
      runs.push_back(run);
    }
    for (const SimdTarget target : runnable_targets()) {
      std::vector<int64_t> out(expected.size() + 1, -1);
      feistel_runs_function(target)(n, runs.data(), static_cast<int64_t>(runs.size()), out.data());
      EXPECT_EQ(out.back(), -1) << "nothing is written past the last run";
      out.pop_back();
      EXPECT_EQ(out, expected) << bits << " bits, " << simd_target_name(target);
    }
  }
}

TEST(Feistel, ACallOfMoreThanAMillionSlotsIsTheSameAsManySmallOnes) {
  const int64_t n = 1'100'000;
  const auto order = feistel_order(n, 8, best_simd_target());
  std::vector<int64_t> whole(static_cast<size_t>(n));
  order->samples(0, nullptr, 0, n, whole.data());
  EXPECT_TRUE(is_permutation(whole));
  std::vector<int64_t> pieces(static_cast<size_t>(n));
  for (int64_t at = 0; at < n; at += 1000) order->samples(0, nullptr, at, 1000, pieces.data() + at);
  EXPECT_EQ(whole, pieces);
}

// Fisher-Yates as the definition in fisher_yates.cpp reads, one step after the other.
std::vector<int64_t> naive_fisher_yates(int64_t n, uint64_t seed, int64_t epoch, int64_t& rejections) {
  const uint64_t key = random_bits(random_key(seed, static_cast<uint64_t>(epoch), Domain::kFisherYates),
                                   static_cast<uint64_t>(n));
  std::vector<int64_t> entries(static_cast<size_t>(n));
  std::iota(entries.begin(), entries.end(), 0);
  for (int64_t i = 0; i + 1 < n; ++i) {
    const uint64_t bound = static_cast<uint64_t>(n - i);
    uint64_t bits = mix64(key + static_cast<uint64_t>(i / 2 + 1) * kGolden64) >> (32 * (i % 2));
    for (uint64_t attempt = 1;; ++attempt) {
      // Each value owns 2^32 / bound words, rounded down; the 2^32 mod bound words left over are rejected.
      const uint64_t product = (bits & 0xffffffffu) * bound;
      if ((product & 0xffffffffu) >= (uint64_t{1} << 32) % bound) {
        std::swap(entries[static_cast<size_t>(i)],
                  entries[static_cast<size_t>(i + static_cast<int64_t>(product >> 32))]);
        break;
      }
      ++rejections;
      bits = random_bits(key, static_cast<uint64_t>(i), attempt);
    }
  }
  return entries;
}

TEST(FisherYates, IsTheTextbookShuffleWithRejectionOnEveryTarget) {
  int64_t rejections = 0;
  for (const SimdTarget target : runnable_targets()) {
    for (const int64_t n : {2, 3, 10, 255, 256, 257, 258, 1000, 1023, 40000, 65535}) {
      for (int64_t epoch = 0; epoch < 8; ++epoch) {
        const auto order = fisher_yates_order(n, 77, target);
        ASSERT_EQ(whole_epoch(*order, epoch), naive_fisher_yates(n, 77, epoch, rejections))
            << simd_target_name(target) << ", n = " << n;
      }
    }
  }
  // About 2^-18 of the draws at n = 65,535 are rejected: the tables above must have met some.
  EXPECT_GT(rejections, 0);
}

TEST(FisherYates, SlotsAlreadyPassedAreFinal) {
  const int64_t n = 5000;
  const auto order = make_order(order_spec(n, Shuffle::kFull, 5));
  const std::vector<int64_t> whole = whole_epoch(*order, 3);
  TestTable table(*order);
  order->begin_table(table.get(), 3);
  for (const int64_t slice : {1, 2, 255, 256, 257, 1000, 1}) {
    order->advance_table(table.get(), slice);
    std::vector<int64_t> out(static_cast<size_t>(table.get().done));
    order->samples(3, &table.get(), 0, table.get().done, out.data());
    ASSERT_TRUE(std::equal(out.begin(), out.end(), whole.begin()));
  }
}

}  // namespace
}  // namespace dataline::permutation_test
