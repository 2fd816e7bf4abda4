// The order is pinned for ever: golden vectors as literals, and the same as JSON for the bindings.
// SPDX-License-Identifier: Apache-2.0
#include "tests/order/golden_order.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "core/order/orders.h"
#include "tests/order/window_support.h"
#include "tests/support/places.h"

namespace dataline::golden_test {
namespace {

std::string list_text(const std::vector<int64_t>& values) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(values[i]);
  return text + "]";
}

std::string digest_text(uint64_t digest) {
  std::ostringstream text;
  text << '"' << std::hex << digest << '"';
  return text.str();
}

// The file as it must be, byte for byte.
std::string golden_json() {
  std::ostringstream out;
  out << "{\n"
      << "\"about\": \"shuffle=full: samples of the first slots, of the slots from n / 2 on, and the digest "
         "of all "
         "(null: too many). digest = 0; for each sample: digest = (digest * 6364136223846793005 + sample + "
         "1) mod "
         "2^64, in hexadecimal. weighted: the first slots and the digest of all; weights null: 1000 weights, "
         "weight i = (i * 7919 mod 1000) / 8. shuffle_window: block i has 1 + i * 7919 mod spread samples; "
         "the "
         "first slots and the digest of all.\",\n"
      << "\"shuffle_full\": [\n";
  const std::vector<GoldenShuffle> shuffles = golden_shuffles();
  for (const GoldenShuffle& golden : shuffles) {
    out << "{\"n\": " << golden.n << ", \"seed\": " << golden.seed << ", \"epoch\": " << golden.epoch
        << ", \"first\": " << list_text(golden.first) << ", \"middle\": " << list_text(golden.middle)
        << ", \"digest\": " << (golden.n > 1'000'000 ? "null" : digest_text(golden.digest)) << "}"
        << (&golden == &shuffles.back() ? "\n" : ",\n");
  }
  out << "],\n\"shuffle_window\": [\n";
  const std::vector<GoldenWindow> windows = golden_windows();
  for (const GoldenWindow& golden : windows) {
    out << "{\"blocks\": " << golden.blocks << ", \"spread\": " << golden.spread
        << ", \"open_blocks\": " << golden.open_blocks << ", \"step_slots\": " << golden.step_slots
        << ", \"seed\": " << golden.seed << ", \"epoch\": " << golden.epoch
        << ", \"first\": " << list_text(golden.first) << ", \"digest\": " << digest_text(golden.digest)
        << (&golden == &windows.back() ? "}\n" : "},\n");
  }
  out << "],\n\"weighted\": [\n";
  const std::vector<GoldenWeights> weighted = golden_weighted();
  for (const GoldenWeights& golden : weighted) {
    out << "{\"weights\": " << (golden.large ? "null" : "[1, 0, 2.5, 0.125, 7, 3, 0, 0.5]")
        << ", \"replacement\": " << (golden.replacement ? "true" : "false") << ", \"seed\": " << golden.seed
        << ", \"epoch\": " << golden.epoch << ", \"samples_per_epoch\": " << golden.samples_per_epoch
        << ", \"first\": " << list_text(golden.first) << ", \"digest\": " << digest_text(golden.digest) << "}"
        << (&golden == &weighted.back() ? "\n" : ",\n");
  }
  out << "]\n}\n";
  return out.str();
}

std::unique_ptr<const Order> shuffle_on(const GoldenShuffle& golden, SimdTarget target) {
  if (golden.n < 2) return make_order(order_spec(golden.n, Shuffle::kFull, golden.seed));
  if (golden.n < kFisherYatesEnd) return fisher_yates_order(golden.n, golden.seed, target);
  return feistel_order(golden.n, golden.seed, target);
}

void expect_golden(const GoldenShuffle& golden, const Order& order, int64_t largest_whole,
                   const std::string& where) {
  const int64_t firsts = static_cast<int64_t>(golden.first.size());
  const int64_t middles = static_cast<int64_t>(golden.middle.size());
  EXPECT_EQ(firsts, std::min<int64_t>(golden.n, 8));
  EXPECT_EQ(slots_of(order, golden.epoch, 0, firsts), golden.first) << where;
  EXPECT_EQ(slots_of(order, golden.epoch, golden.n / 2, middles), golden.middle) << where;
  if (golden.n <= largest_whole) {
    EXPECT_EQ(golden_digest(whole_epoch(order, golden.epoch)), golden.digest) << where;
  }
}

TEST(GoldenOrder, FullShufflesAreWhatTheyWereInTheFirstRelease) {
  for (const GoldenShuffle& golden : golden_shuffles()) {
    const auto order = make_order(order_spec(golden.n, Shuffle::kFull, golden.seed));
    expect_golden(golden, *order, 1'000'000, "n = " + std::to_string(golden.n));
  }
}

TEST(GoldenOrder, FullShufflesAreTheSameOnEveryTarget) {
  for (const SimdTarget target : runnable_targets()) {
    for (const GoldenShuffle& golden : golden_shuffles()) {
      expect_golden(golden, *shuffle_on(golden, target), kSlowBuild ? 1000 : 1'000'000,
                    std::string(simd_target_name(target)) + ", n = " + std::to_string(golden.n));
    }
  }
}

TEST(GoldenOrder, WindowShufflesAreWhatTheyWereInTheFirstRelease) {
  for (const GoldenWindow& golden : golden_windows()) {
    const std::vector<int64_t> ends = uneven_ends(golden.blocks, golden.spread);
    const auto order = make_window_order(ends, golden.open_blocks, golden.step_slots, golden.seed);
    std::vector<int64_t> whole = whole_epoch(*order, golden.epoch);
    std::ostringstream got;
    got << std::hex << golden_digest(whole);
    EXPECT_EQ(golden_digest(whole), golden.digest) << got.str();
    whole.resize(golden.first.size());
    EXPECT_EQ(whole, golden.first) << list_text(whole) << " 0x" << got.str();
  }
}

TEST(GoldenOrder, WeightedDrawsAreWhatTheyWereInTheFirstRelease) {
  for (const GoldenWeights& golden : golden_weighted()) {
    const std::vector<double> weights = golden_weights(golden.large);
    OrderSpec spec = order_spec(static_cast<int64_t>(weights.size()), Shuffle::kNone, golden.seed);
    spec.weights = weights;
    spec.replacement = golden.replacement;
    spec.samples_per_epoch = golden.samples_per_epoch;
    const auto order = make_order(spec);
    std::vector<int64_t> whole = whole_epoch(*order, golden.epoch);
    EXPECT_EQ(golden_digest(whole), golden.digest);
    whole.resize(golden.first.size());
    EXPECT_EQ(whole, golden.first);
  }
}

TEST(GoldenOrder, TheJsonForTheBindingsSaysTheSame) {
  const std::string path = tests::in_repository("tests/order/golden_order.json");
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file.is_open()) << path;
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), golden_json());
}

}  // namespace
}  // namespace dataline::golden_test
