// Whether shuffles look random: the tests that caught other loaders' permutations.
//
// Seeds are fixed, so a test passes always or never. Each statistic is also shown to see something: fewer
// Feistel rounds, or Levanter's multiply-add rounds, must fail it by far.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "core/base/random.h"
#include "core/order/feistel.h"
#include "core/order/orders.h"
#include "tests/order/order_support.h"

namespace dataline::statistics_test {
namespace {

constexpr double kSeenByFar = 20;  // deviations

// The bijection with fewer rounds: what the tests must tell from the real one.
uint64_t permute_with_rounds(const Feistel& feistel, int rounds, uint64_t value) {
  do {
    uint32_t left = static_cast<uint32_t>(value >> feistel.right_bits);
    uint32_t right = static_cast<uint32_t>(value) & feistel.right_mask;
    for (int i = 0; i < rounds; ++i) {
      if (i % 2 == 0) left ^= mix32(right ^ feistel.keys[i]) & feistel.left_mask;
      if (i % 2 == 1) right ^= mix32(left ^ feistel.keys[i]) & feistel.right_mask;
    }
    value = static_cast<uint64_t>(left) << feistel.right_bits | right;
  } while (value > feistel.last);
  return value;
}

// Levanter's defect: the round function is multiply-add modulo 2^k, so that low bits never see high ones.
uint64_t weak_permute(int half_bits, uint64_t key, uint64_t value) {
  const uint64_t mask = (uint64_t{1} << half_bits) - 1;
  uint64_t left = value >> half_bits;
  uint64_t right = value & mask;
  for (uint64_t i = 0; i < 8; ++i) {
    const uint64_t next = left ^ ((right * (mix64(key + 2 * i) | 1) + mix64(key + 2 * i + 1)) & mask);
    left = right;
    right = next;
  }
  return left << half_bits | right;
}

std::vector<int64_t> weak_permutation(int half_bits, uint64_t key) {
  std::vector<int64_t> out(size_t{1} << (2 * half_bits));
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<int64_t>(weak_permute(half_bits, key, i));
  return out;
}

TEST(FisherYatesStatistics, AllOrdersOfFiveAreEquallyLikely) {
  const auto order = fisher_yates_order(5, 1, best_simd_target());
  TestTable table(*order);
  const int64_t epochs = 240'000;
  std::vector<double> counts(3125);
  for (int64_t epoch = 0; epoch < epochs; ++epoch) {
    table.build(*order, epoch);
    int64_t out[5];
    order->samples(epoch, &table.get(), 0, 5, out);
    int64_t code = 0;
    for (const int64_t sample : out) code = code * 5 + sample;
    ++counts[static_cast<size_t>(code)];
  }
  ChiSquare chi;
  int64_t met = 0;
  for (const double count : counts) {
    if (count == 0) continue;
    chi.add(count, epochs / 120.0);
    ++met;
  }
  EXPECT_EQ(met, 120);
  EXPECT_LT(std::abs(chi.deviations()), kFarDeviations);
}

TEST(FisherYatesStatistics, PairsOfSlotsHoldAllPairsOfSamplesEquallyOften) {
  const SimdTarget target = best_simd_target();
  for (const int64_t n : {16, 50, 97, 128}) {
    const int64_t slots[3][2] = {{0, 1}, {0, n / 2}, {n / 2, n - 1}};
    std::vector<double> counts[3];
    for (auto& count : counts) count.resize(static_cast<size_t>(n * n));
    const int64_t keys = 200'000;
    for (int64_t key = 0; key < keys; ++key) {
      const auto order = fisher_yates_order(n, static_cast<uint64_t>(key / 100), target);
      TestTable table(*order);
      table.build(*order, key % 100);
      int64_t out[128];
      order->samples(key % 100, &table.get(), 0, n, out);
      for (int i = 0; i < 3; ++i) ++counts[i][static_cast<size_t>(out[slots[i][0]] * n + out[slots[i][1]])];
    }
    for (int i = 0; i < 3; ++i) {
      ChiSquare chi;
      for (int64_t cell = 0; cell < n * n; ++cell) {
        if (cell / n == cell % n) {
          ASSERT_EQ(counts[i][static_cast<size_t>(cell)], 0);
        } else {
          chi.add(counts[i][static_cast<size_t>(cell)],
                  static_cast<double>(keys) / static_cast<double>(n * (n - 1)));
        }
      }
      EXPECT_LT(std::abs(chi.deviations()), kFarDeviations) << "n = " << n << ", pair " << i;
    }
  }
}

// Joint chi-squares of pi(a), pi(b) over many keys, each into 16 x 16 or 256 cells; the largest deviation.
double worst_pair_deviation(int64_t n, int rounds, int64_t keys) {
  const uint64_t size = static_cast<uint64_t>(n);
  const uint64_t slots[3][2] = {{0, 1}, {0, size / 2}, {size / 2, size - 1}};
  constexpr int kViews = 5;
  std::vector<std::vector<double>> counts(3 * kViews, std::vector<double>(256));
  for (int64_t key = 0; key < keys; ++key) {
    const Feistel feistel = make_feistel(n, permutation_key(static_cast<uint64_t>(key / 64), key % 64, n));
    for (size_t i = 0; i < 3; ++i) {
      const uint64_t x = permute_with_rounds(feistel, rounds, slots[i][0]);
      const uint64_t y = permute_with_rounds(feistel, rounds, slots[i][1]);
      const uint64_t cells[kViews] = {
          x * 16 / size * 16 + y * 16 / size,  // high bits
          (x & 15) * 16 + (y & 15),            // low bits
          (x >> 7 & 15) * 16 + (y >> 7 & 15),  // where the parts meet
          (x + size - y) % size * 256 / size,  // difference
          (x ^ y) & 255,
      };
      for (size_t view = 0; view < kViews; ++view) ++counts[i * kViews + view][cells[view]];
    }
  }
  double worst = 0;
  for (const std::vector<double>& count : counts) {
    ChiSquare chi;
    // n is a multiple of 256 or so large that cells of unequal size do not show.
    for (const double observed : count) chi.add(observed, static_cast<double>(keys) / 256);
    worst = std::max(worst, std::abs(chi.deviations()));
  }
  return worst;
}

TEST(FeistelStatistics, PairsOfSlotsHoldAllPairsOfSamplesEquallyOften) {
  for (const int64_t n : {65536, 65536 + 256, 98304, 131072 - 256, 131072, 1'000'192, 1'000'000'000}) {
    EXPECT_LT(worst_pair_deviation(n, kFeistelRounds, 200'000), kFarDeviations) << "n = " << n;
  }
}

TEST(FeistelStatistics, ThePairTestSeesThreeRounds) {
  EXPECT_GT(worst_pair_deviation(131072, 3, 200'000), kSeenByFar);
}

// Odd samples (bit 0), and each higher bit, in batches of 512: chi-square over the batches of one epoch.
double worst_bit_deviation(std::span<const int64_t> order) {
  constexpr size_t kBatch = 512;
  const double n = static_cast<double>(order.size());
  double worst = 0;
  for (int bit = 0; int64_t{1} << bit < static_cast<int64_t>(order.size()); ++bit) {
    double set = 0;
    for (size_t i = 0; i < order.size(); ++i) set += static_cast<double>(i >> bit & 1);
    const double share = set / n;
    const double variance = kBatch * share * (1 - share) * (1 - kBatch / n);  // drawn without replacement
    double sum = 0;
    double batches = 0;
    for (size_t at = 0; at + kBatch <= order.size(); at += kBatch, ++batches) {
      double count = 0;
      for (size_t i = at; i < at + kBatch; ++i) count += static_cast<double>(order[i] >> bit & 1);
      sum += (count - kBatch * share) * (count - kBatch * share) / variance;
    }
    worst = std::max(worst, std::abs(sum - batches) / std::sqrt(2 * batches));
  }
  return worst;
}

// Of neighbouring slots: correlation of the samples, and how often they have the same parity.
double serial_deviation(std::span<const int64_t> order) {
  const double n = static_cast<double>(order.size());
  const double mean = (n - 1) / 2;
  const double variance = (n * n - 1) / 12;
  double covariance = 0;
  double same_parity = 0;
  for (size_t i = 1; i < order.size(); ++i) {
    covariance += (static_cast<double>(order[i]) - mean) * (static_cast<double>(order[i - 1]) - mean);
    same_parity += static_cast<double>((order[i] ^ order[i - 1] ^ 1) & 1);
  }
  const double correlation = covariance / (n * variance) * std::sqrt(n);
  return std::max(std::abs(correlation), std::abs(same_parity - n / 2) / std::sqrt(n / 4));
}

// Mean distance between a sample and its slot: n / 3, n / sqrt(18) for one.
double displacement_deviation(std::span<const int64_t> order) {
  const double n = static_cast<double>(order.size());
  double sum = 0;
  for (size_t i = 0; i < order.size(); ++i)
    sum += std::abs(static_cast<double>(order[i]) - static_cast<double>(i));
  return std::abs(sum / n - n / 3) / (n / std::sqrt(18 * n));
}

TEST(ShuffleStatistics, BatchesAreBalancedInEveryBit) {
  for (const int64_t n : {60'000, 65'537, 131'072, 1 << 20, 1'000'000}) {
    for (uint64_t seed = 0; seed < 3; ++seed) {
      EXPECT_LT(worst_bit_deviation(whole_epoch(*make_order(order_spec(n, Shuffle::kFull, seed)), 0)),
                kFarDeviations)
          << "n = " << n << ", seed = " << seed;
    }
  }
  EXPECT_GT(worst_bit_deviation(weak_permutation(9, 5)), kSeenByFar);
}

TEST(ShuffleStatistics, NeighbouringSlotsAreUnrelated) {
  for (const int64_t n : {60'000, 65'537, 131'072, 1 << 20, 1'000'000}) {
    for (uint64_t seed = 0; seed < 3; ++seed) {
      EXPECT_LT(serial_deviation(whole_epoch(*make_order(order_spec(n, Shuffle::kFull, seed)), 0)),
                kFarDeviations)
          << "n = " << n << ", seed = " << seed;
    }
  }
  EXPECT_GT(serial_deviation(weak_permutation(9, 5)), kSeenByFar);
}

TEST(ShuffleStatistics, SamplesLieFarFromTheirPlaces) {
  for (const int64_t n : {60'000, 65'537, 131'072, 1 << 20, 1'000'000}) {
    const auto order = make_order(order_spec(n, Shuffle::kFull, 4));
    EXPECT_LT(displacement_deviation(whole_epoch(*order, 0)), kFarDeviations) << "n = " << n;
  }
  std::vector<int64_t> windowed(1 << 17);  // shuffled inside windows of 2^10 only
  for (size_t i = 0; i < windowed.size(); ++i) windowed[i] = static_cast<int64_t>(i ^ 0x3ff);
  EXPECT_GT(displacement_deviation(windowed), kSeenByFar);
}

TEST(ShuffleStatistics, FixedPointsAreAsRareAsChance) {
  // One on average in each epoch; 200 epochs: Poisson, deviation sqrt(200).
  for (const int64_t n : {1000, 65'537}) {
    const auto order = make_order(order_spec(n, Shuffle::kFull, 3));
    double fixed = 0;
    for (int64_t epoch = 0; epoch < 200; ++epoch) {
      const std::vector<int64_t> whole = whole_epoch(*order, epoch);
      for (size_t i = 0; i < whole.size(); ++i) fixed += whole[i] == static_cast<int64_t>(i) ? 1 : 0;
    }
    EXPECT_NEAR(fixed, 200, kFarDeviations * std::sqrt(200.0));
  }
}

// Samples that batch t of 512 has in both orders, summed over all batches, in deviations from chance.
double overlap_deviation(std::span<const int64_t> a, std::span<const int64_t> b) {
  constexpr int64_t kBatch = 512;
  std::vector<int64_t> batch_of(a.size());
  for (size_t i = 0; i < a.size(); ++i)
    batch_of[static_cast<size_t>(a[i])] = static_cast<int64_t>(i) / kBatch;
  double shared = 0;
  for (size_t i = 0; i < b.size(); ++i) {
    if (b[i] >= static_cast<int64_t>(a.size())) continue;  // b may be longer by one
    shared += batch_of[static_cast<size_t>(b[i])] == static_cast<int64_t>(i) / kBatch ? 1 : 0;
  }
  return std::abs(shared - kBatch) / std::sqrt(static_cast<double>(kBatch));
}

TEST(ShuffleStatistics, NeighbouringSeedsEpochsAndSizesShareNoMoreThanChance) {
  for (const int64_t n : {60'000, 65'537, 200'000}) {
    const std::vector<int64_t> base = whole_epoch(*make_order(order_spec(n, Shuffle::kFull, 10)), 10);
    for (uint64_t seed = 9; seed <= 11; ++seed) {
      for (int64_t epoch = 9; epoch <= 11; ++epoch) {
        if (seed == 10 && epoch == 10) continue;
        const std::vector<int64_t> other =
            whole_epoch(*make_order(order_spec(n, Shuffle::kFull, seed)), epoch);
        EXPECT_LT(overlap_deviation(base, other), kFarDeviations)
            << n << ", seed " << seed << ", epoch " << epoch;
      }
    }
    const std::vector<int64_t> longer = whole_epoch(*make_order(order_spec(n + 1, Shuffle::kFull, 10)), 10);
    EXPECT_LT(overlap_deviation(base, longer), kFarDeviations) << n << " and one more";
    EXPECT_GT(overlap_deviation(base, base), kSeenByFar);
  }
}

int64_t inversions(std::span<const int64_t> values) {
  int64_t count = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t j = i + 1; j < values.size(); ++j) count += values[i] > values[j] ? 1 : 0;
  }
  return count;
}

// E exp(-theta * inversions) of a random order of n (the generating function of inversions).
double mean_mallows_kernel(int64_t n, double theta) {
  double product = 1;
  for (int64_t j = 1; j <= n; ++j) {
    const double length = static_cast<double>(j);
    product *= (1 - std::exp(-length * theta)) / (length * (1 - std::exp(-theta)));
  }
  return product;
}

// The kernel test of arXiv 2106.06161 (Mitchell, Stokes, Frank, Holmes): the mean Mallows kernel between
// orders against its value for random ones. `relative` fills the relative order of some slots.
double mallows_deviation(int64_t slots, int64_t pairs,
                         const std::function<void(int64_t index, std::span<int64_t>)>& relative) {
  const double theta = 5.0 / (static_cast<double>(slots * (slots - 1)) / 2);
  std::vector<int64_t> a(static_cast<size_t>(slots));
  std::vector<int64_t> b(a.size());
  std::vector<int64_t> place(a.size());
  double sum = 0;
  for (int64_t pair = 0; pair < pairs; ++pair) {
    relative(2 * pair, a);
    relative(2 * pair + 1, b);
    // Slots in the order of a's samples, seen through b: its inversions are the discordant pairs of a and b.
    std::iota(place.begin(), place.end(), 0);
    std::sort(place.begin(), place.end(), [&](int64_t i, int64_t j) { return a[size_t(i)] < a[size_t(j)]; });
    for (int64_t& i : place) i = b[static_cast<size_t>(i)];
    sum += std::exp(-theta * static_cast<double>(inversions(place)));
  }
  const double mean = mean_mallows_kernel(slots, theta);
  const double variance = mean_mallows_kernel(slots, 2 * theta) - mean * mean;
  return std::abs(sum / static_cast<double>(pairs) - mean) / std::sqrt(variance / static_cast<double>(pairs));
}

TEST(ShuffleStatistics, TheMallowsKernelHasItsRandomMean) {
  for (const int64_t n : {47, 101, 65'537, 100'003}) {
    const int64_t slots = std::min<int64_t>(n, 47);
    const auto some_slots = [&](int64_t index, std::span<int64_t> out) {
      const auto order = make_order(order_spec(n, Shuffle::kFull, static_cast<uint64_t>(index / 8)));
      if (order->table_bytes() == 0) {
        order->samples(index % 8, nullptr, 0, slots, out.data());
      } else {
        const std::vector<int64_t> samples = slots_of(*order, index % 8, 0, slots);
        std::copy(samples.begin(), samples.end(), out.begin());
      }
    };
    EXPECT_LT(mallows_deviation(slots, 10'000, some_slots), kFarDeviations) << "n = " << n;
  }
  const auto rotated = [](int64_t index, std::span<int64_t> out) {  // one order at 47 offsets
    for (size_t i = 0; i < out.size(); ++i) out[i] = (static_cast<int64_t>(i) + index * 7) % 47;
  };
  EXPECT_GT(mallows_deviation(47, 10'000, rotated), kSeenByFar);
}

}  // namespace
}  // namespace dataline::statistics_test
