// Batches by length: what is in them, that ranks agree, what happens at the ends of buckets, states, and what is refused.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include "tests/support/sequences.h"

namespace dataline::tests::buckets_test {
namespace {

struct Step {
  int64_t rows = 0, edge = 0, valid = 0;
  std::vector<int64_t> indices, lengths;
  std::vector<int32_t> items;  // rows x edge
  Batch batch;
};

// The next batch; none at the end of the epoch.
std::optional<Step> next_step(const Loader& loader) {
  Delivered got = next(loader);
  if (got.status != DL_OK) {
    EXPECT_EQ(got.status, DL_END_OF_EPOCH) << got.message;
    return std::nullopt;
  }
  int32_t count = 0;
  const dl_view* views = dl_batch_views(got.batch.get(), &count);
  Step step;
  EXPECT_EQ(count, 2);
  EXPECT_STREQ(views[0].name, "tokens");
  EXPECT_EQ(views[0].kind, DL_KIND_DENSE);
  EXPECT_EQ(views[0].rank, 2);
  step.rows = views[0].shape[0], step.edge = views[0].shape[1], step.valid = got.valid;
  EXPECT_EQ(views[0].strides[0], step.edge);
  EXPECT_EQ(views[0].bytes, step.rows * step.edge * 4);
  const auto* items = static_cast<const int32_t*>(views[0].data);
  step.items.assign(items, items + step.rows * step.edge);
  EXPECT_STREQ(views[1].name, "length");
  const auto* lengths = static_cast<const int64_t*>(views[1].data);
  step.lengths.assign(lengths, lengths + views[1].shape[0]);
  step.indices = got.indices;
  step.batch = std::move(got.batch);
  return step;
}

std::vector<Step> epoch_of(const Loader& loader) {
  std::vector<Step> steps;
  while (std::optional<Step> step = next_step(loader)) steps.push_back(std::move(*step));
  return steps;
}

void expect_rows_of(const Sequences& set, const Step& step) {
  ASSERT_EQ(step.indices.size(), static_cast<size_t>(step.rows));
  for (int64_t row = 0; row < step.rows; ++row) {
    const int64_t sample = step.indices[static_cast<size_t>(row)];
    const int64_t length = set.lengths()[static_cast<size_t>(sample)];
    ASSERT_EQ(step.lengths[static_cast<size_t>(row)], length);
    for (int64_t k = 0; k < step.edge; ++k) {
      ASSERT_EQ(step.items[static_cast<size_t>(row * step.edge + k)],
                k < length ? sample * 1000 + k : kPadItem)
          << "sample " << sample << ", item " << k;
    }
  }
}

class BatchesByLength : public ::testing::TestWithParam<const char*> {
 protected:
  Loader loader_of(const Sequences& set, const Settings& more) const {
    return make_loader(set.dataset(), with(with(kBucketed, {{"num_workers", GetParam()}}), more));
  }
};

TEST_P(BatchesByLength, HoldEachSampleOnceFilledUpToTheEdgeOfOneBucket) {
  const Sequences set = sequences(500);
  const Loader loader = loader_of(set, {{"batch_size", "16"}});
  std::vector<int64_t> first_order;
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    std::vector<int64_t> seen;
    const std::vector<Step> steps = epoch_of(loader);
    EXPECT_EQ(static_cast<int64_t>(steps.size()), dl_loader_steps(loader.get())) << "in every epoch";
    for (const Step& step : steps) {
      expect_rows_of(set, step);
      EXPECT_TRUE(step.edge == 10 || step.edge == 30 || step.edge == 100) << step.edge;
      seen.insert(seen.end(), step.indices.begin(), step.indices.end());
    }
    EXPECT_NE(seen, first_order);
    if (epoch == 0) first_order = seen;
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(static_cast<int64_t>(seen.size()), set.count());
    EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end());
  }
}

TEST_P(BatchesByLength, OfMaxTokensHaveRowsTimesEdgeAtMostThatAndOneShapeABucket) {
  const Sequences set = sequences(900);
  const Loader loader = loader_of(set, {{"max_tokens", "320"}, {"last_batch", "pad"}});
  std::set<std::pair<int64_t, int64_t>> shapes;
  for (const Step& step : epoch_of(loader)) {
    expect_rows_of(set, step);
    shapes.insert({step.rows, step.edge});
  }
  EXPECT_EQ(shapes, (std::set<std::pair<int64_t, int64_t>>{{32, 10}, {10, 30}, {3, 100}}));
  const Loader limited = loader_of(set, {{"max_tokens", "320"}, {"batch_size", "12"}, {"last_batch", "pad"}});
  shapes.clear();
  for (const Step& step : epoch_of(limited)) shapes.insert({step.rows, step.edge});
  EXPECT_EQ(shapes, (std::set<std::pair<int64_t, int64_t>>{{12, 10}, {10, 30}, {3, 100}}));
}

// For every count of ranks, and every way to end an epoch.
TEST_P(BatchesByLength, OfAllRanksJoinToTheStreamOfOneWithOneShapeAStep) {
  const Sequences set = sequences(333);
  for (const char* last : {"keep", "drop", "pad"}) {
    for (const Settings& size : {Settings{{"global_batch_size", "24"}},
                                 Settings{{"global_batch_size", "24"}, {"max_tokens", "700"}}}) {
      const Settings job = with(size, {{"last_batch", last}, {"seed", "5"}});
      const std::vector<Step> whole = epoch_of(loader_of(set, job));
      for (const int64_t world : {2, 3, 5, 24}) {
        std::vector<Loader> ranks;
        for (int64_t rank = 0; rank < world; ++rank) {
          ranks.push_back(loader_of(
              set, with(job, {{"world_size", std::to_string(world)}, {"rank", std::to_string(rank)}})));
          EXPECT_EQ(dl_loader_steps(ranks.back().get()), static_cast<int64_t>(whole.size()));
        }
        for (const Step& expected : whole) {
          std::vector<int64_t> indices;
          std::vector<int32_t> items;
          for (const Loader& rank : ranks) {
            const std::optional<Step> part = next_step(rank);
            ASSERT_TRUE(part.has_value());
            EXPECT_EQ(part->edge, expected.edge);
            indices.insert(indices.end(), part->indices.begin(), part->indices.end());
            items.insert(items.end(), part->items.begin(), part->items.end());
          }
          ASSERT_EQ(indices, expected.indices) << last << ", " << world << " ranks";
          ASSERT_EQ(items, expected.items);
        }
        for (const Loader& rank : ranks) EXPECT_FALSE(next_step(rank).has_value());
      }
    }
  }
}

TEST_P(BatchesByLength, OfEachRankCountEverySlotAsDeliveredOrDropped) {
  const Sequences set = sequences(333);
  for (const char* last : {"keep", "drop", "pad"}) {
    int64_t delivered = 0, dropped = 0, padded = 0;
    for (const char* rank : {"0", "1", "2"}) {
      const Loader loader =
          loader_of(set, {{"batch_size", "7"}, {"world_size", "3"}, {"rank", rank}, {"last_batch", last}});
      int64_t rows = 0;
      for (const Step& step : epoch_of(loader)) rows += step.rows;
      const dl_stats stats = stats_of(loader);
      EXPECT_EQ(stats.samples + stats.padded, rows);
      delivered += stats.samples, dropped += stats.dropped, padded += stats.padded;
    }
    EXPECT_EQ(delivered + dropped, set.count()) << last;
    EXPECT_EQ(dropped > 0, std::string(last) == "drop");
    EXPECT_EQ(padded > 0, std::string(last) == "pad");
  }
}

TEST_P(BatchesByLength, PadStepsFromTheirOwnBucketCyclically) {
  const Sequences set({5, 5, 50, 50, 50});  // two short ones, three long ones
  const Loader loader = loader_of(set, {{"batch_size", "8"}, {"last_batch", "pad"}});
  for (const Step& step : epoch_of(loader)) {
    expect_rows_of(set, step);
    EXPECT_EQ(step.rows, 8);
    const int64_t real = step.edge == 10 ? 2 : 3;
    EXPECT_EQ(step.valid, real);
    for (size_t row = 0; row < 8; ++row)
      EXPECT_EQ(step.indices[row], step.indices[row % static_cast<size_t>(real)]);
  }
}

TEST_P(BatchesByLength, GoOnAfterASeekOrALoadedStateAsIfNothingHadHappened) {
  const Sequences set = sequences(200);
  const Loader loader = loader_of(set, {{"batch_size", "16"}});
  std::vector<std::string> states;
  std::vector<Step> steps;
  for (int64_t epoch = 0; epoch < 2; ++epoch) {
    states.push_back(save_state(loader));
    while (std::optional<Step> step = next_step(loader)) {
      steps.push_back(std::move(*step));
      states.push_back(save_state(loader));
    }
    states.pop_back();
  }
  const Loader again = loader_of(set, {{"batch_size", "16"}});
  Error error;
  for (size_t t = steps.size(); t-- > 0;) {
    ASSERT_EQ(dl_loader_state_load(again.get(), states[t].c_str(), &error), DL_OK) << error.message;
    const std::optional<Step> step = next_step(again);
    ASSERT_TRUE(step.has_value());
    EXPECT_EQ(step->indices, steps[t].indices);
    EXPECT_EQ(step->items, steps[t].items);
  }
  const auto first_epoch = static_cast<size_t>(dl_loader_steps(again.get()));
  ASSERT_EQ(dl_loader_seek(again.get(), 1, 2, &error), DL_OK);
  EXPECT_EQ(next_step(again)->indices, steps[first_epoch + 2].indices);
}

// Batches beyond max_leases are copied: with the shape of their own bucket.
TEST_P(BatchesByLength, MayAllBeHeldAtOnce) {
  const Sequences set = sequences(300);
  const Loader loader = loader_of(set, {{"batch_size", "8"}, {"max_leases", "2"}, {"prefetch_depth", "2"}});
  const std::vector<Step> steps = epoch_of(loader);
  EXPECT_GT(stats_of(loader).lease_copies, 0);
  for (const Step& step : steps) {
    expect_rows_of(set, step);
    int32_t count = 0;
    const auto* items = static_cast<const int32_t*>(dl_batch_views(step.batch.get(), &count)[0].data);
    EXPECT_EQ(std::vector<int32_t>(items, items + step.rows * step.edge), step.items) << "still there";
  }
}

// The lengths say 5, one sample has more items than its bucket's edge: another of its bucket stands in.
TEST_P(BatchesByLength, ReplaceABadSampleByOneOfItsBucket) {
  std::vector<int64_t> real(40, 5), told(40, 5);
  for (size_t i = 20; i < 40; ++i) real[i] = told[i] = 50;
  real[3] = 60;
  const Sequences set(real);
  const Loader loader = with_lengths(
      set.dataset(), told,
      with(kBucketed, {{"batch_size", "8"}, {"on_error", "replace"}, {"num_workers", GetParam()}}));
  int64_t rows = 0;
  for (const Step& step : epoch_of(loader)) {
    rows += step.rows;
    for (const int64_t sample : step.indices) {
      EXPECT_NE(sample, 3);
      EXPECT_EQ(sample < 20, step.edge == 10) << "sample " << sample;
    }
  }
  EXPECT_EQ(rows, 40);
  EXPECT_EQ(stats_of(loader).replaced, 1);
}

TEST_P(BatchesByLength, NameASampleThatIsLongerThanItsLengthSays) {
  const Sequences set({5, 60, 5});
  const Loader loader =
      with_lengths(set.dataset(), {5, 5, 5}, with(kBucketed, {{"num_workers", GetParam()}}));
  const Delivered got = next(loader);
  EXPECT_EQ(got.status, DL_ERR_BAD_SAMPLE);
  EXPECT_NE(got.message.find(
                "sample 1: array row 1: field 'tokens': pad_to: expected at most 10 steps, the edge of its "
                "bucket, got 60"),
            std::string::npos)
      << got.message;
  const std::optional<Step> rest = next_step(loader);
  ASSERT_TRUE(rest.has_value());
  EXPECT_EQ(rest->rows, 2);
  expect_rows_of(set, *rest);
}

TEST_P(BatchesByLength, WorkForFieldsThatAreNotPaddedToo) {
  const Dataset set = counting_dataset(30);
  std::vector<int64_t> lengths;
  for (int64_t i = 0; i < 30; ++i) lengths.push_back(i);
  const Loader loader = with_lengths(
      set, lengths, {{"bucket_edges", "9,29"}, {"batch_size", "5"}, {"num_workers", GetParam()}});
  std::vector<uint64_t> in_order;
  for (const auto& batch : epoch_batches(loader)) {
    for (const uint64_t value : batch) {
      EXPECT_EQ(value < 10, batch.front() < 10);
      in_order.push_back(value);
    }
  }
  std::vector<uint64_t> expected(30);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(in_order, expected) << "file order without shuffle";
}

INSTANTIATE_TEST_SUITE_P(Workers, BatchesByLength, ::testing::Values("0", "1", "3"));

// A slot has room for the largest batch of each bucket, not for its rows at the longest edge.
TEST(BucketedSlots, TakeWhatTheLargestBatchOfABucketNeeds) {
  const Sequences set = sequences(3000);
  const auto arena = [&](const char* tokens) {
    return stats_of(
               make_loader(set.dataset(), with(kBucketed, {{"max_tokens", tokens}, {"num_workers", "1"}})))
        .arena_bytes;
  };
  // 10 slots of at most 100,000 items of 4 bytes; rows of 10 items padded to 100 would be ten times as much.
  EXPECT_LT(arena("100000") - arena("100"), 12 * 4 * 100'000);
}

TEST(BucketedLengths, AreAFieldUnlessTheSetHasOneOfThatName) {
  const std::vector<int64_t> own = {70, 71};
  const Dataset dataset = array_dataset(array_of("length", DL_DTYPE_I64, {2}, own.data()));
  const Loader loader = with_lengths(dataset, {3, 4}, {{"bucket_edges", "10"}, {"transform", "cast(i32)"}});
  const Delivered got = next(loader);
  int32_t count = 0;
  const dl_view* views = dl_batch_views(got.batch.get(), &count);
  ASSERT_EQ(count, 1);
  EXPECT_EQ(static_cast<const int32_t*>(views[0].data)[1], 71);
}

TEST(BucketedLengths, AreLentUntilTheLoaderIsGone) {
  const Sequences set({3, 4});
  static int returned;
  returned = 0;
  const Options options = make_options({{"bucket_edges", "10"}});
  const std::vector<int64_t> lengths = {3, 4};
  Error error;
  ASSERT_EQ(dl_options_set_lengths(
                options.get(), lengths.data(), 2, [](void*) { ++returned; }, nullptr, &error),
            DL_OK);
  dl_loader* handle = nullptr;
  const Dataset dataset = set.dataset();
  ASSERT_EQ(dl_loader_create(dataset.get(), options.get(), &handle, &error), DL_OK) << error.message;
  Loader loader(handle);
  ASSERT_EQ(dl_options_set_lengths(options.get(), lengths.data(), 2, nullptr, nullptr, &error), DL_OK);
  EXPECT_EQ(returned, 0) << "the loader still has them";
  loader.reset();
  EXPECT_EQ(returned, 1);
}

}  // namespace
}  // namespace dataline::tests::buckets_test
