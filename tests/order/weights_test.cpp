// Weighted draws: the probabilities they promise, exactly where that can be added up, else by frequency.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "core/base/random.h"
#include "core/order/orders.h"
#include "tests/order/order_support.h"

namespace dataline::weights_test {
namespace {

OrderSpec weighted_spec(const std::vector<double>& weights, bool replacement, int64_t draws,
                        uint64_t seed = 1) {
  OrderSpec spec = order_spec(static_cast<int64_t>(weights.size()), Shuffle::kNone, seed);
  spec.weights = weights;
  spec.replacement = replacement;
  spec.samples_per_epoch = draws;
  return spec;
}

double sum_of(const std::vector<double>& weights) {
  return std::accumulate(weights.begin(), weights.end(), 0.0);
}

std::vector<double> spread_weights(int64_t n) {
  std::vector<double> weights(static_cast<size_t>(n));
  for (size_t i = 0; i < weights.size(); ++i) {
    const double unit = random_unit(random_bits(12, i));
    weights[i] = i % 7 == 3 ? 0 : std::ldexp(unit, static_cast<int>(i % 40) - 20);
  }
  return weights;
}

// What the table gives each sample, to a few ulp.
std::vector<double> table_shares(const std::vector<double>& weights) {
  std::vector<AliasColumn> columns(weights.size());
  fill_alias_columns(weights, columns.data());
  std::vector<double> total(columns.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    const double keep = static_cast<double>(columns[i].keep) * 0x1p-64;
    total[i] += keep / static_cast<double>(columns.size());
    total[static_cast<size_t>(columns[i].alias)] += (1 - keep) / static_cast<double>(columns.size());
  }
  return total;
}

TEST(Alias, TheTableAddsUpToEachWeightsShare) {
  const std::vector<std::vector<double>> cases = {{1},
                                                  {0, 5, 0},
                                                  {1, 1, 1, 1},
                                                  {1, 2, 3, 4, 0.5},
                                                  {1e308, 1e308, 5e307},
                                                  {1e-307, 3e-307, 3e-308},
                                                  {1, 1e-300, 1e300},
                                                  std::vector<double>(10007, 0.1),
                                                  spread_weights(50021)};
  for (const std::vector<double>& weights : cases) {
    const std::vector<double> got = table_shares(weights);
    double largest = 0;
    for (const double weight : weights) largest = std::max(largest, weight);
    double scaled_sum = 0;
    for (const double weight : weights) scaled_sum += weight / largest;
    for (size_t i = 0; i < weights.size(); ++i) {
      const double share = weights[i] / largest / scaled_sum;
      ASSERT_NEAR(got[i], share, 1e-9 * share + 0x1p-60) << "weight " << i << " of " << weights.size();
      if (weights[i] == 0) {
        ASSERT_EQ(got[i], 0);
      }
    }
  }
}

TEST(Alias, DrawsMeetTheSharesAndAreFreshInEachEpoch) {
  const std::vector<double> weights = {1, 0, 2.5, 0.01, 7, 3, 0, 0.5, 1, 1};
  const int64_t draws = 1'000'000;
  const auto order = make_order(weighted_spec(weights, true, draws));
  EXPECT_EQ(order->slots(), draws);
  EXPECT_EQ(order->table_bytes(), 0);
  EXPECT_EQ(order->allocated_bytes(), 160);
  const std::vector<int64_t> epoch_0 = whole_epoch(*order, 0);
  std::vector<double> counts(weights.size());
  for (const int64_t sample : epoch_0) ++counts[static_cast<size_t>(sample)];
  ChiSquare chi;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0) {
      EXPECT_EQ(counts[i], 0);
    } else {
      chi.add(counts[i], static_cast<double>(draws) * weights[i] / sum_of(weights));
    }
  }
  EXPECT_LT(chi.deviations(), kFarDeviations);
  EXPECT_NE(epoch_0, whole_epoch(*order, 1));
}

TEST(Alias, SuccessiveDrawsAreIndependent) {
  const std::vector<double> weights = {1, 2, 3, 4, 5, 6};
  const int64_t draws = 500'000;
  const std::vector<int64_t> drawn = whole_epoch(*make_order(weighted_spec(weights, true, draws)), 0);
  std::vector<double> pairs(36);
  for (size_t i = 0; i + 1 < drawn.size(); i += 2) ++pairs[static_cast<size_t>(drawn[i] * 6 + drawn[i + 1])];
  ChiSquare chi;
  for (size_t i = 0; i < 36; ++i)
    chi.add(pairs[i], draws / 2.0 * weights[i / 6] * weights[i % 6] / (21.0 * 21.0));
  EXPECT_LT(std::abs(chi.deviations()), kFarDeviations);
}

TEST(Race, TheDrawIsTheExponentialOfItsBits) {
  std::vector<uint64_t> cases = {0, 1, 2, 1000, (uint64_t{1} << 63) - 1, uint64_t{1} << 63, ~uint64_t{0}};
  for (int shift = 0; shift < 64; ++shift) cases.push_back(~uint64_t{0} >> shift);
  for (uint64_t i = 0; i < 20000; ++i) cases.push_back(random_bits(4, i));
  for (const uint64_t bits : cases) {
    const long double u = static_cast<long double>(bits | 1) * 0x1p-64L;
    const double expected = static_cast<double>(-log1pl(-u));
    const double got = exponential_draw(bits);
    ASSERT_GT(got, 0) << bits;
    ASSERT_NEAR(got / expected, 1, 8e-16) << bits;
  }
}

TEST(Race, KeysAreOrderedAsTheQuotientsAreForAllWeights) {
  const auto any = [](uint64_t i, uint64_t j) {
    const int exponent = static_cast<int>(random_below(random_bits(5, i, j), 2046)) - 1022;
    return std::ldexp(1 + random_unit(random_bits(6, i, j)), exponent);
  };
  for (uint64_t i = 0; i < 20000; ++i) {
    const double time_a = exponential_draw(random_bits(7, i));
    const double time_b = i % 2 == 0 ? time_a * (1 + 1e-12) : exponential_draw(random_bits(8, i));
    const double weight_a = any(i, 0);
    const double weight_b = i % 2 == 0 ? weight_a : any(i, 1);
    // long double has the exponents for it.
    const long double a = static_cast<long double>(time_a) / weight_a;
    const long double b = static_cast<long double>(time_b) / weight_b;
    ASSERT_EQ(race_key(time_a, weight_a) < race_key(time_b, weight_b), a < b) << time_a << " / " << weight_a;
  }
}

TEST(Race, EveryFinisherComesOnceAndWeightZeroNever) {
  const std::vector<double> weights = spread_weights(20011);
  std::set<int64_t> positive;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] > 0) positive.insert(static_cast<int64_t>(i));
  }
  const int64_t draws = static_cast<int64_t>(positive.size());
  const auto order = make_order(weighted_spec(weights, false, draws));
  const std::vector<int64_t> drawn = whole_epoch(*order, 5);
  EXPECT_EQ(std::set<int64_t>(drawn.begin(), drawn.end()), positive);
  EXPECT_EQ(static_cast<int64_t>(drawn.size()), draws);
  const auto fewer = make_order(weighted_spec(weights, false, 100));
  EXPECT_EQ(whole_epoch(*fewer, 5), std::vector<int64_t>(drawn.begin(), drawn.begin() + 100));
}

TEST(Race, IsTheOrderOfTheKeysByTheirDefinition) {
  const std::vector<double> weights = spread_weights(3001);
  const auto order = make_order(weighted_spec(weights, false, 2000, 17));
  const uint64_t key = random_key(17, 9, Domain::kWeighted);
  std::vector<std::pair<uint64_t, int64_t>> keys;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0) continue;
    const uint64_t full = race_key(exponential_draw(random_bits(key, i)), weights[i]);
    keys.emplace_back(full >> 20, static_cast<int64_t>(i));  // 44 bits are kept
  }
  std::sort(keys.begin(), keys.end());
  const std::vector<int64_t> drawn = whole_epoch(*order, 9);
  for (size_t i = 0; i < drawn.size(); ++i) ASSERT_EQ(drawn[i], keys[i].second) << "slot " << i;
}

TEST(Race, WholeOrdersOfFourHaveTheProbabilitiesOfSuccessiveDraws) {
  const std::vector<double> weights = {1, 2, 3, 0.5};
  const int64_t epochs = kSlowBuild ? 5'000 : 100'000;
  const auto order = make_order(weighted_spec(weights, false, 4));
  TestTable table(*order);
  std::map<std::vector<int64_t>, double> counts;
  for (int64_t epoch = 0; epoch < epochs; ++epoch) {
    table.build(*order, epoch);
    std::vector<int64_t> drawn(4);
    order->samples(epoch, &table.get(), 0, 4, drawn.data());
    ++counts[drawn];
  }
  ChiSquare chi;
  std::vector<int64_t> permutation = {0, 1, 2, 3};
  do {
    double probability = 1;
    double left = sum_of(weights);
    for (const int64_t sample : permutation) {
      probability *= weights[static_cast<size_t>(sample)] / left;
      left -= weights[static_cast<size_t>(sample)];
    }
    chi.add(counts[permutation], static_cast<double>(epochs) * probability);
  } while (std::next_permutation(permutation.begin(), permutation.end()));
  EXPECT_LT(chi.deviations(), kFarDeviations);
}

TEST(Race, FirstDrawsMeetTheShares) {
  std::vector<double> weights(60);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<double>(1 + i % 13) / 8;
  const int64_t epochs = kSlowBuild ? 5'000 : 60'000;
  const auto order = make_order(weighted_spec(weights, false, 1));
  TestTable table(*order);
  std::vector<double> counts(weights.size());
  for (int64_t epoch = 0; epoch < epochs; ++epoch) {
    table.build(*order, epoch);
    int64_t first;
    order->samples(epoch, &table.get(), 0, 1, &first);
    ++counts[static_cast<size_t>(first)];
  }
  ChiSquare chi;
  for (size_t i = 0; i < weights.size(); ++i) {
    chi.add(counts[i], static_cast<double>(epochs) * weights[i] / sum_of(weights));
  }
  EXPECT_LT(chi.deviations(), kFarDeviations);
}

TEST(Race, EqualWeightsShuffleWithoutATrace) {
  const int64_t n = 30'000;
  const std::vector<double> weights(static_cast<size_t>(n), 0.3);
  const std::vector<int64_t> drawn = whole_epoch(*make_order(weighted_spec(weights, false, n)), 0);
  EXPECT_TRUE(is_permutation(drawn));
  double displacement = 0;
  for (int64_t i = 0; i < n; ++i)
    displacement += std::abs(static_cast<double>(drawn[static_cast<size_t>(i)] - i));
  // Of a random permutation: n / 3 on average, deviation of one sample n / sqrt(18).
  const double deviation = static_cast<double>(n) / std::sqrt(18.0 * static_cast<double>(n));
  EXPECT_LT(std::abs(displacement / static_cast<double>(n) - static_cast<double>(n) / 3),
            kFarDeviations * deviation);
}

}  // namespace
}  // namespace dataline::weights_test
