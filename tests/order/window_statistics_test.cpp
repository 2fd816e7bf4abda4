// Whether shuffle=window looks random: small bijections, and whole epochs against a full shuffle's figures.
//
// Seeds are fixed, so a test passes always or never.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

#include "core/base/random.h"
#include "core/order/feistel.h"
#include "tests/order/window_support.h"

namespace dataline::window_statistics_test {
namespace {

// Windows may have a few samples only, and sets a few blocks: where two blocks come in an epoch, over many epochs.
double pair_deviation(int64_t n, const std::function<void(int64_t, int64_t*)>& order_of) {
  const int64_t keys = 400'000;
  std::vector<double> counts(static_cast<size_t>(n * n));
  std::vector<int64_t> order(static_cast<size_t>(n));
  for (int64_t key = 0; key < keys; ++key) {
    order_of(key, order.data());
    ++counts[static_cast<size_t>(order.front() * n + order.back())];
  }
  const double expected = static_cast<double>(keys) / static_cast<double>(n * (n - 1));
  double sum = 0;
  for (int64_t cell = 0; cell < n * n; ++cell) {
    const double count = counts[static_cast<size_t>(cell)];
    if (cell / n != cell % n) sum += (count - expected) * (count - expected) / expected;
  }
  const double freedom = static_cast<double>(n * (n - 1) - 1);
  return (sum - freedom) / std::sqrt(2 * freedom);
}

TEST(WindowStatistics, AFewPlacesAreShuffledEvenly) {
  for (const int64_t n : {3, 7, 8, 13, 24, 50, 64, 96, 128}) {
    // One step, one lane, one window: all of the set (96 and more: by the Feistel network).
    const auto order = make_window_order(even_ends(1, n), 1, n, 5);
    TestTable table(*order);
    table.build(*order, 0);
    const double deviation = pair_deviation(
        n, [&](int64_t epoch, int64_t* out) { order->samples(epoch, &table.get(), 0, n, out); });
    EXPECT_LT(deviation, kFarDeviations) << "n = " << n;
  }
}

TEST(WindowStatistics, TheTestSeesAFeistelNetworkOfAFewPlaces) {
  const double deviation = pair_deviation(7, [](int64_t key, int64_t* out) {
    const Feistel feistel = make_feistel(7, mix64(static_cast<uint64_t>(key) * kGolden64 + 99));
    for (uint64_t i = 0; i < 7; ++i) out[i] = static_cast<int64_t>(feistel_permute(feistel, i));
  });
  EXPECT_GT(deviation, 20);
}

// 2,000 blocks of 512 records: 2^20 / 1.024 samples, 512 blocks open.
const std::vector<int64_t>& many_blocks() {
  static const std::vector<int64_t> ends = even_ends(2'000, 512);
  return ends;
}

TEST(WindowStatistics, BatchesAreBalancedInEveryBitOfTheSample) {
  constexpr int64_t kBatch = 512;
  const auto order = make_window_order(many_blocks(), 512, kBatch, 1);
  const std::vector<int64_t> epoch = whole_epoch(*order, 0);
  const double n = static_cast<double>(epoch.size());
  for (int bit = 0; bit < 19; ++bit) {
    double set = 0;
    for (const int64_t sample : epoch) set += static_cast<double>(sample >> bit & 1);
    const double share = set / n;
    double sum = 0, batches = 0;
    for (size_t at = 0; at + kBatch <= epoch.size(); at += kBatch, ++batches) {
      double count = 0;
      for (size_t i = at; i < at + kBatch; ++i) count += static_cast<double>(epoch[i] >> bit & 1);
      sum += (count - kBatch * share) * (count - kBatch * share);
    }
    // Bits of the record in its block are as good as independent. Those of the block vary less or more than in a full
    // shuffle: batches next to each other have the same blocks.
    const double ratio = sum / batches / (kBatch * share * (1 - share));
    EXPECT_LT(ratio, bit < 9 ? 1.15 : 3) << "bit " << bit;
    EXPECT_GT(ratio, bit < 9 ? 0.85 : 0.3) << "bit " << bit;
  }
}

TEST(WindowStatistics, NeighbouringSlotsAreUnrelated) {
  const auto order = make_window_order(many_blocks(), 512, 512, 2);
  const std::vector<int64_t> epoch = whole_epoch(*order, 0);
  const double n = static_cast<double>(epoch.size()), mean = (n - 1) / 2;
  double covariance = 0, same_parity = 0;
  int64_t same_block = 0;
  for (size_t i = 1; i < epoch.size(); ++i) {
    const int64_t other = epoch[i - 1];
    covariance += (static_cast<double>(epoch[i]) - mean) * (static_cast<double>(other) - mean);
    same_parity += static_cast<double>((epoch[i] ^ other ^ 1) & 1);
    same_block += epoch[i] / 512 == other / 512 ? 1 : 0;
  }
  EXPECT_LT(std::abs(covariance / (n * n * n / 12)), 0.1);  // 2,000 blocks are few
  EXPECT_LT(std::abs(same_parity - n / 2) / std::sqrt(n / 4), kFarDeviations);
  EXPECT_LT(static_cast<double>(same_block) / n, 0.01);
}

TEST(WindowStatistics, SamplesLieFarFromTheirPlaces) {
  const auto order = make_window_order(many_blocks(), 512, 512, 3);
  const std::vector<int64_t> epoch = whole_epoch(*order, 0);
  const double n = static_cast<double>(epoch.size());
  double sum = 0;
  for (size_t i = 0; i < epoch.size(); ++i)
    sum += std::abs(static_cast<double>(epoch[i]) - static_cast<double>(i));
  EXPECT_NEAR(sum / n, n / 3, n / 3 * 0.05);  // whole blocks move: 2,000 draws
}

TEST(WindowStatistics, BatchesOfTwoEpochsShareAsManySamplesAsChanceGives) {
  constexpr int64_t kBatch = 512;
  const auto order = make_window_order(many_blocks(), 512, kBatch, 4);
  const std::vector<int64_t> first = whole_epoch(*order, 0);
  const std::vector<int64_t> second = whole_epoch(*order, 1);
  std::vector<int64_t> batch_of(first.size());
  for (size_t i = 0; i < first.size(); ++i)
    batch_of[static_cast<size_t>(first[i])] = static_cast<int64_t>(i) / kBatch;
  double pairs = 0;
  for (size_t at = 0; at + kBatch <= second.size(); at += kBatch) {
    std::map<int64_t, double> met;
    for (size_t i = at; i < at + kBatch; ++i) ++met[batch_of[static_cast<size_t>(second[i])]];
    for (const auto& [batch, count] : met) pairs += count * (count - 1) / 2;
  }
  const double batches = static_cast<double>(second.size() / kBatch);
  const double expected =
      batches * kBatch * (kBatch - 1) / 2 * (kBatch - 1) / static_cast<double>(first.size());
  EXPECT_NEAR(pairs / expected, 1, 0.15);
}

// 1,000 classes of 1,280 samples, sorted: the mean entropy of a batch's labels, relative to drawing at random.
double label_entropy(const Order& order, int64_t batch, int64_t classes) {
  const std::vector<int64_t> epoch = whole_epoch(order, 0);
  const int64_t of_class = static_cast<int64_t>(epoch.size()) / classes;
  double sum = 0, batches = 0;
  for (size_t at = 0; at + static_cast<size_t>(batch) <= epoch.size();
       at += static_cast<size_t>(batch), ++batches) {
    std::map<int64_t, double> counts;
    for (size_t i = at; i < at + static_cast<size_t>(batch); ++i) ++counts[epoch[i] / of_class];
    for (const auto& [label, count] : counts)
      sum -= count / static_cast<double>(batch) * std::log2(count / static_cast<double>(batch));
  }
  return sum / batches;
}

TEST(WindowStatistics, LabelsOfASortedSetAreAsMixedAsInAFullShuffle) {
  constexpr int64_t kClasses = 1'000, kSamples = 1'280'000;
  const auto full = make_order(order_spec(kSamples, Shuffle::kFull, 1));
  for (const int64_t records :
       {76, 1'000}) {  // photographs of 110 KB in blocks of 8 MiB; a block for each class
    const std::vector<int64_t> ends = even_ends(kSamples / records, records);
    std::vector<int64_t> all = ends;
    if (all.back() != kSamples) all.push_back(kSamples);
    for (const int64_t batch : {32, 256, 512}) {
      const auto window = make_window_order(all, 512, batch, 1);
      const double ratio = label_entropy(*window, batch, kClasses) / label_entropy(*full, batch, kClasses);
      // Of 1,280 blocks that are a class each, 512 are open: no batch can have more labels.
      EXPECT_GT(ratio, records == 76 ? 0.99 : 0.96) << records << " records a block, batch " << batch;
    }
    const auto too_few = make_window_order(all, 16, 512, 1);
    EXPECT_LT(label_entropy(*too_few, 512, kClasses) / label_entropy(*full, 512, kClasses), 0.8)
        << "the figure sees 16 open blocks";
  }
}

}  // namespace
}  // namespace dataline::window_statistics_test
