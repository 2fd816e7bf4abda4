// Which sample stands in for a bad one: by the draw (seed, epoch, slot, attempt) alone, pinned for ever. The numbers were
// made from the definition, in Python (order/check_golden_order.py has its hash), not from this library: attempt a of
// slot s is the epoch's order at random_bits(key of domain 4, s, a) * slots >> 64; the first good one is taken, of 16.
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <set>

#include "tests/support/job.h"

namespace dataline::tests::stand_in_test {
namespace {

const std::set<int64_t> kBad = {3, 11, 12};

Dataset some_bad(TestReader& reader, int64_t n) {
  reader.fails = [](int64_t index) { return kBad.count(index) > 0; };
  return reader.dataset(n);
}

class StandIns : public ::testing::TestWithParam<const char*> {
 protected:
  Settings with(Settings settings) const {
    settings.emplace_back("num_workers", GetParam());
    settings.emplace_back("on_error", "replace");
    return settings;
  }
};

TEST_P(StandIns, AreDrawnBySeedEpochAndSlot) {
  struct Golden {
    const char* seed;
    std::vector<uint64_t> in[3];  // of epochs 0 to 2, for slots 3, 11 and 12
  };
  const Golden table[] = {{"0", {{1, 1, 6}, {1, 9, 13}, {17, 6, 0}}},
                          {"7", {{0, 16, 4}, {10, 17, 17}, {16, 4, 13}}},
                          {"9223372036854775807", {{1, 13, 7}, {5, 1, 5}, {10, 9, 7}}}};
  for (const Golden& golden : table) {
    TestReader reader;
    Dataset dataset = some_bad(reader, 20);
    Loader loader = make_loader(dataset, with({{"batch_size", "6"}, {"epochs", "3"}, {"seed", golden.seed}}));
    for (const std::vector<uint64_t>& in : golden.in) {
      std::vector<uint64_t> expected(20);
      std::iota(expected.begin(), expected.end(), 0);
      expected[3] = in[0], expected[11] = in[1], expected[12] = in[2];
      EXPECT_EQ(epoch_samples(loader), expected) << "seed " << golden.seed;
    }
  }
}

TEST_P(StandIns, AreOfTheEpochsOwnOrder) {
  TestReader reader;
  Dataset dataset = some_bad(reader, 20);
  Loader loader =
      make_loader(dataset, with({{"batch_size", "8"}, {"epochs", "2"}, {"seed", "5"}, {"shuffle", "full"}}));
  EXPECT_EQ(epoch_samples(loader),
            (std::vector<uint64_t>{4, 4, 16, 7, 18, 1, 5, 15, 9, 19, 14, 9, 6, 10, 17, 2, 8, 0, 14, 13}));
  EXPECT_EQ(epoch_samples(loader),
            (std::vector<uint64_t>{17, 6, 1, 13, 8, 5, 15, 7, 0, 18, 10, 0, 1, 16, 14, 9, 4, 19, 17, 2}));
}

TEST_P(StandIns, OfAPadAreThoseOfTheSlotItRepeats) {
  TestReader reader;
  Dataset dataset = some_bad(reader, 20);
  Loader loader = make_loader(dataset, with({{"batch_size", "16"}, {"last_batch", "pad"}, {"epochs", "1"}}));
  EXPECT_EQ(next(loader).values, (std::vector<uint64_t>{0, 1, 2, 1, 4, 5, 6, 7, 8, 9, 10, 1, 6, 13, 14, 15}));
  Delivered padded = next(loader);
  EXPECT_EQ(padded.values, (std::vector<uint64_t>{16, 17, 18, 19, 0, 1, 2, 1, 4, 5, 6, 7, 8, 9, 10, 1}));
  EXPECT_EQ(padded.indices, (std::vector<int64_t>{16, 17, 18, 19, 0, 1, 2, 1, 4, 5, 6, 7, 8, 9, 10, 1}));
  EXPECT_EQ(padded.valid, 4);
  dl_stats stats = stats_of(loader);
  EXPECT_EQ(stats.replaced, 3) << "those that stand in among the pads are no samples of the epoch";
  EXPECT_EQ(stats.padded, 12);
  EXPECT_EQ(stats.samples, 20);
  EXPECT_EQ(stats.bad, 3);
}

TEST_P(StandIns, AreTheSameOnWhateverRankTheSlotLies) {
  TestReader reader;
  Dataset dataset = some_bad(reader, 20);
  for (int64_t world : {2, 3, 5}) {
    std::vector<uint64_t> all(20, 99);
    for (int64_t rank = 0; rank < world; ++rank) {
      Loader loader = make_loader(dataset, with({{"global_batch_size", "10"},
                                                 {"world_size", std::to_string(world)},
                                                 {"rank", std::to_string(rank)},
                                                 {"epochs", "1"}}));
      for (int64_t step = 0; step < 2; ++step) {
        Delivered got = next(loader);
        const int64_t first = 10 * step + 10 * rank / world;
        ASSERT_EQ(static_cast<int64_t>(got.values.size()), 10 * (rank + 1) / world - 10 * rank / world);
        std::copy(got.values.begin(), got.values.end(), all.begin() + first);
      }
    }
    EXPECT_EQ(all,
              (std::vector<uint64_t>{0, 1, 2, 1, 4, 5, 6, 7, 8, 9, 10, 1, 6, 13, 14, 15, 16, 17, 18, 19}))
        << "world_size " << world;
  }
}

// Of 64 samples only the first five are good: some slots find one at their sixteenth draw, one would at its seventeenth.
TEST_P(StandIns, AreLookedForSixteenTimes) {
  const std::map<int64_t, int64_t> in = {
      {5, 3},  {6, 1},  {8, 3},  {9, 3},  {11, 1}, {12, 3}, {14, 2}, {16, 2}, {17, 3}, {19, 4}, {20, 0},
      {21, 0}, {23, 2}, {24, 1}, {25, 1}, {26, 1}, {27, 2}, {28, 1}, {29, 0}, {30, 0}, {31, 3}, {32, 0},
      {33, 1}, {36, 4}, {37, 1}, {38, 1}, {39, 1}, {41, 3}, {42, 4}, {43, 2}, {45, 1}, {48, 4}, {52, 2},
      {53, 2}, {54, 4}, {55, 0}, {56, 3}, {58, 0}, {59, 2}, {60, 0}, {61, 4}, {63, 3}};
  const std::vector<int64_t> none = {7, 10, 13, 15, 18, 22, 34, 35, 40, 44, 46, 47, 49, 50, 51, 57, 62};
  TestReader reader;
  reader.fails = [](int64_t index) { return index >= 5; };
  Dataset dataset = reader.dataset(64);
  Loader loader = make_loader(dataset, with({{"batch_size", "64"}, {"epochs", "1"}, {"seed", "1"}}));
  Error error;
  dl_batch* batch = nullptr;
  ASSERT_EQ(dl_loader_next(loader.get(), -1, &batch, &error), DL_ERR_BAD_SAMPLE);
  EXPECT_NE(std::string(error.message).find("17 of 64 samples are bad"), std::string::npos) << error.message;
  EXPECT_EQ(error.sample_index, 7);
  std::vector<uint64_t> expected;
  for (int64_t slot = 0; slot < 64; ++slot) {
    if (slot < 5) {
      expected.push_back(static_cast<uint64_t>(slot));
    } else if (in.count(slot) > 0) {
      expected.push_back(static_cast<uint64_t>(in.at(slot)));
    }
  }
  EXPECT_EQ(next(loader).values, expected);
  dl_stats stats = stats_of(loader);
  EXPECT_EQ(stats.replaced, 42);
  EXPECT_EQ(stats.skipped, 17);
  EXPECT_EQ(stats.samples, 47);
  EXPECT_EQ(stats.bad, 59);
  for (int64_t i = 0; i < 59; ++i) {
    dl_bad_sample bad = {};
    bad.struct_size = sizeof bad;
    ASSERT_EQ(dl_loader_bad_sample_at(loader.get(), i, &bad, &error), DL_OK);
    EXPECT_EQ(bad.index, i + 5) << "in the order of the rows";
    EXPECT_EQ(bad.slot, bad.index);
    EXPECT_EQ(bad.replacement, in.count(bad.index) > 0 ? in.at(bad.index) : -1);
  }
}

INSTANTIATE_TEST_SUITE_P(Workers, StandIns, ::testing::Values("0", "1", "3"));

}  // namespace
}  // namespace dataline::tests::stand_in_test
