// What a loader delivers: order, epochs, last batches, ranks; the same for any number of workers.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "tests/support/job.h"

namespace dataline::tests::order_test {
namespace {

std::vector<uint64_t> range(uint64_t begin, uint64_t end) {
  std::vector<uint64_t> values(end - begin);
  std::iota(values.begin(), values.end(), begin);
  return values;
}

class LoaderOrder : public ::testing::TestWithParam<const char*> {
 protected:
  Settings with(Settings settings) const {
    settings.emplace_back("num_workers", GetParam());
    return settings;
  }
};

TEST_P(LoaderOrder, FileOrderIsChunkedWithAShortLastBatch) {
  Dataset dataset = counting_dataset(10);
  Loader loader = make_loader(dataset, with({{"batch_size", "4"}, {"epochs", "1"}}));
  EXPECT_EQ(dl_loader_steps(loader.get()), 3);
  EXPECT_EQ(epoch_batches(loader),
            (std::vector<std::vector<uint64_t>>{range(0, 4), range(4, 8), range(8, 10)}));
  EXPECT_EQ(next(loader).status, DL_END);
  EXPECT_EQ(next(loader, 0).status, DL_END) << "the end is told for ever, and never waits";
}

TEST_P(LoaderOrder, DropLeavesTheShortBatchOutAndBooksIt) {
  Dataset dataset = counting_dataset(10);
  Loader loader = make_loader(dataset, with({{"batch_size", "4"}, {"last_batch", "drop"}, {"epochs", "2"}}));
  EXPECT_EQ(epoch_samples(loader), range(0, 8));
  EXPECT_EQ(epoch_samples(loader), range(0, 8));
  EXPECT_EQ(stats_of(loader).samples, 16);
  EXPECT_EQ(stats_of(loader).dropped, 4);
}

TEST_P(LoaderOrder, PadFillsWithTheEpochsFirstSlotsAndCountsValid) {
  Dataset dataset = counting_dataset(3);
  Loader loader = make_loader(dataset, with({{"batch_size", "8"}, {"last_batch", "pad"}, {"epochs", "1"}}));
  Delivered got = next(loader);
  ASSERT_EQ(got.status, DL_OK) << got.message;
  EXPECT_EQ(got.values, (std::vector<uint64_t>{0, 1, 2, 0, 1, 2, 0, 1}));
  EXPECT_EQ(got.valid, 3);
  EXPECT_EQ(stats_of(loader).samples, 3);
  EXPECT_EQ(stats_of(loader).padded, 5);
}

TEST_P(LoaderOrder, EachEpochOfAFullShuffleIsAnotherPermutation) {
  for (int64_t n : {1000, 70'000}) {  // with a table, and by bijection
    Dataset dataset = counting_dataset(n);
    Loader loader = make_loader(dataset, with({{"batch_size", "96"}, {"shuffle", "full"}, {"seed", "5"}}));
    std::set<std::vector<uint64_t>> orders;
    for (int epoch = 0; epoch < 3; ++epoch) {
      std::vector<uint64_t> order = epoch_samples(loader);
      orders.insert(order);
      std::sort(order.begin(), order.end());
      EXPECT_EQ(order, range(0, static_cast<uint64_t>(n)));
    }
    EXPECT_EQ(orders.size(), 3u);
  }
}

TEST_P(LoaderOrder, DeliveryDoesNotDependOnWorkersOrDepth) {
  Dataset dataset = counting_dataset(5000);
  Settings job = {{"batch_size", "37"}, {"shuffle", "full"}, {"seed", "9"}, {"epochs", "2"}};
  Settings plain = job;
  plain.emplace_back("num_workers", "0");
  Loader reference = make_loader(dataset, plain);
  Settings deep = with(job);
  deep.emplace_back("prefetch_depth", "9");
  Loader loader = make_loader(dataset, deep);
  for (int epoch = 0; epoch < 2; ++epoch) EXPECT_EQ(epoch_batches(loader), epoch_batches(reference));
}

TEST_P(LoaderOrder, RanksJoinedStepByStepGiveOneStreamForAnyWorldSize) {
  Dataset dataset = counting_dataset(1003);
  for (const char* last : {"keep", "drop", "pad"}) {
    Settings job = {{"global_batch_size", "50"}, {"shuffle", "full"}, {"last_batch", last}, {"epochs", "1"}};
    std::vector<std::vector<uint64_t>> whole = epoch_batches(make_loader(dataset, with(job)));
    for (int world : {2, 3, 7, 64}) {
      std::vector<std::vector<uint64_t>> steps(whole.size());
      for (int rank = 0; rank < world; ++rank) {
        Settings mine = with(job);
        mine.emplace_back("world_size", std::to_string(world));
        mine.emplace_back("rank", std::to_string(rank));
        std::vector<std::vector<uint64_t>> part = epoch_batches(make_loader(dataset, mine));
        ASSERT_EQ(part.size(), whole.size()) << "every rank has the same number of steps";
        for (size_t s = 0; s < part.size(); ++s)
          steps[s].insert(steps[s].end(), part[s].begin(), part[s].end());
      }
      EXPECT_EQ(steps, whole) << "world_size " << world << ", last_batch " << last;
    }
  }
}

TEST_P(LoaderOrder, AnEmptyEpochGivesOnlyItsEnd) {
  Dataset dataset = counting_dataset(0);
  Loader loader = make_loader(dataset, with({{"epochs", "2"}}));
  EXPECT_EQ(next(loader).status, DL_END_OF_EPOCH);
  EXPECT_EQ(next(loader).status, DL_END_OF_EPOCH);
  EXPECT_EQ(next(loader).status, DL_END);
}

TEST_P(LoaderOrder, EndlessEmptyEpochsAreRefused) {
  EXPECT_EQ(create_error(counting_dataset(0), with({})).first, DL_ERR_EMPTY);
  EXPECT_EQ(create_error(counting_dataset(3), with({{"batch_size", "4"}, {"drop_last", "true"}})).first,
            DL_ERR_EMPTY);
}

TEST_P(LoaderOrder, TinyEpochsAreLoadedAheadAcrossTheirEnds) {
  Dataset dataset = counting_dataset(3);
  Loader loader = make_loader(
      dataset, with({{"batch_size", "3"}, {"shuffle", "full"}, {"epochs", "200"}, {"prefetch_depth", "16"}}));
  for (int epoch = 0; epoch < 200; ++epoch) {
    std::vector<uint64_t> order = epoch_samples(loader);
    std::sort(order.begin(), order.end());
    ASSERT_EQ(order, range(0, 3)) << "epoch " << epoch;
  }
  EXPECT_EQ(next(loader).status, DL_END);
}

TEST_P(LoaderOrder, TwoNamesOfOneThingThatContradictAreToldAsTheyWereGiven) {
  Dataset dataset = counting_dataset(10);
  for (const auto& [drop, last] :
       {std::pair("true", "keep"), std::pair("true", "pad"), std::pair("false", "drop")}) {
    const auto [status, message] = create_error(dataset, with({{"drop_last", drop}, {"last_batch", last}}));
    EXPECT_EQ(status, DL_ERR_BAD_OPTION);
    EXPECT_NE(message.find(std::string("drop_last=") + drop + ", last_batch=" + last), std::string::npos)
        << message;
  }
  for (const auto& [drop, last] :
       {std::pair("true", "drop"), std::pair("false", "keep"), std::pair("false", "pad")}) {
    Loader loader =
        make_loader(dataset, with({{"batch_size", "4"}, {"drop_last", drop}, {"last_batch", last}}));
    EXPECT_EQ(dl_loader_steps(loader.get()), drop == std::string("true") ? 2 : 3);
  }
}

INSTANTIATE_TEST_SUITE_P(Workers, LoaderOrder, ::testing::Values("0", "1", "2", "3", "8"));

}  // namespace
}  // namespace dataline::tests::order_test
