// Batches by length: what is in them, that ranks agree, what happens at the ends of buckets, states, and what is refused.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include "tests/support/job.h"

namespace dataline::testing {
namespace {

constexpr int32_t kPad = -7;

// Sample i: `lengths[i]` items, of which the k-th is 1000 i + k.
class Sequences {
 public:
  explicit Sequences(std::vector<int64_t> lengths) : lengths_(std::move(lengths)), offsets_{0} {
    for (size_t i = 0; i < lengths_.size(); ++i) {
      for (int64_t k = 0; k < lengths_[i]; ++k)
        items_.push_back(static_cast<int32_t>(i) * 1000 + static_cast<int32_t>(k));
      offsets_.push_back(static_cast<int64_t>(items_.size()));
    }
  }
  Dataset dataset() const {
    const std::vector<int64_t> shape = {static_cast<int64_t>(items_.size())};
    return array_dataset(ragged_array_of("tokens", DL_DTYPE_I32, shape, items_.data(), offsets_));
  }
  const std::vector<int64_t>& lengths() const { return lengths_; }
  int64_t count() const { return static_cast<int64_t>(lengths_.size()); }

 private:
  std::vector<int64_t> lengths_, offsets_;
  std::vector<int32_t> items_;
};

// Lengths from 0 to 99, many of them short.
Sequences sequences(int64_t count) {
  std::vector<int64_t> lengths;
  for (int64_t i = 0; i < count; ++i)
    lengths.push_back((i * i * 31 + i * 7) % 100 * (i % 3 == 0 ? 1 : 0) + i % 10);
  for (int64_t& length : lengths) length = std::min<int64_t>(length, 99);
  return Sequences(std::move(lengths));
}

const Settings kBucketed = {
    {"bucket_edges", "10,30, 100"}, {"transform", "pad_to(bucket, value=-7)"}, {"shuffle", "full"}};

Settings with(Settings settings, const Settings& more) {
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

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
      ASSERT_EQ(step.items[static_cast<size_t>(row * step.edge + k)], k < length ? sample * 1000 + k : kPad)
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

Loader with_lengths(const Dataset& dataset, const std::vector<int64_t>& lengths, const Settings& settings) {
  const Options options = make_options(settings);
  Error error;
  EXPECT_EQ(dl_options_set_lengths(options.get(), lengths.data(), static_cast<int64_t>(lengths.size()),
                                   nullptr, nullptr, &error),
            DL_OK);
  dl_loader* loader = nullptr;
  EXPECT_EQ(dl_loader_create(dataset.get(), options.get(), &loader, &error), DL_OK) << error.message;
  return Loader(loader);
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

TEST(BucketedState, OfOtherEdgesLengthsOrRowsIsRefusedByName) {
  const Sequences set = sequences(100);
  const Dataset dataset = set.dataset();
  const Settings job = with(kBucketed, {{"batch_size", "8"}});
  const std::string state = save_state(make_loader(dataset, job));
  EXPECT_NE(state.find("\nbucket_edges: 10,30,100\nlengths: "), std::string::npos) << state;
  EXPECT_NE(state.find("\nglobal_batch_size: 8,8,8\n"), std::string::npos) << state;
  std::vector<int64_t> other_lengths = set.lengths();
  other_lengths[7] ^= 1;
  const auto refused = [&](const Loader& loader, const std::string& text) {
    Error error;
    EXPECT_EQ(dl_loader_state_load(loader.get(), text.c_str(), &error), DL_ERR_STATE_REFUSED);
    return std::string(error.message);
  };
  EXPECT_EQ(refused(make_loader(dataset, with(job, {{"bucket_edges", "10,40,100"}})), state),
            "state of another job: bucket_edges is '10,30,100' in the state, '10,40,100' here");
  EXPECT_EQ(refused(make_loader(dataset, with(job, {{"max_tokens", "200"}})), state),
            "state of another job: global_batch_size is '8,8,8' in the state, '8,6,2' here");
  EXPECT_NE(refused(with_lengths(dataset, other_lengths, job), state).find("another job: lengths is '"),
            std::string::npos);
  const Loader plain = make_loader(dataset, {{"batch_size", "8"}, {"shuffle", "full"}});
  EXPECT_EQ(refused(plain, state),
            "state of another job: bucket_edges is '10,30,100' in the state, 'none' here");
  EXPECT_EQ(refused(make_loader(dataset, job), save_state(plain)),
            "state of another job: bucket_edges is 'none' in the state, '10,30,100' here");
  EXPECT_EQ(save_state(plain).find("bucket"), std::string::npos) << "as in releases without buckets";
  Error error;
  const Loader same = with_lengths(dataset, set.lengths(), job);
  EXPECT_EQ(dl_loader_state_load(same.get(), state.c_str(), &error), DL_OK) << error.message;
}

TEST(BadBuckets, AreRefusedByOptionExpectedAndGot) {
  const Sequences set({3, 40, 90});
  const Dataset dataset = set.dataset();
  const std::string numbers = "expected whole numbers from 1 to 1099511627776, as in 128,256,512, got '";
  std::string many = "1";
  for (int64_t edge = 2; edge <= 1025; ++edge) many += "," + std::to_string(edge);
  struct Row {
    Settings settings;
    dl_status status;
    std::string message;
  };
  const dl_status bad = DL_ERR_BAD_OPTION;
  const std::vector<Row> table = {
      {{{"bucket_edges", ""}}, bad, "option bucket_edges: " + numbers + "'"},
      {{{"bucket_edges", "10,,20"}}, bad, "option bucket_edges: " + numbers + "'"},
      {{{"bucket_edges", "10,20,"}}, bad, "option bucket_edges: " + numbers + "'"},
      {{{"bucket_edges", "0,20"}}, bad, "option bucket_edges: " + numbers + "0'"},
      {{{"bucket_edges", "-5"}}, bad, "option bucket_edges: " + numbers + "-5'"},
      {{{"bucket_edges", "10;20"}}, bad, "option bucket_edges: " + numbers + "10;20'"},
      {{{"bucket_edges", "1e3"}}, bad, "option bucket_edges: " + numbers + "1e3'"},
      {{{"bucket_edges", "1099511627777"}}, bad, "option bucket_edges: " + numbers + "1099511627777'"},
      {{{"bucket_edges", "99999999999999999999"}},
       bad,
       "option bucket_edges: " + numbers + "99999999999999999999'"},
      {{{"bucket_edges", "10,10"}}, bad, "option bucket_edges: expected increasing numbers, got 10 after 10"},
      {{{"bucket_edges", "20,10"}}, bad, "option bucket_edges: expected increasing numbers, got 10 after 20"},
      {{{"bucket_edges", many}}, bad, "option bucket_edges: expected at most 1024 edges"},
      {{{"bucket_edges", "50,80"}},
       DL_ERR_OUT_OF_RANGE,
       "sample 2: its length is 90, the last of bucket_edges is 80"},
      {{{"bucket_edges", "100"}, {"max_tokens", "99"}},
       bad,
       "option max_tokens: expected at least the last of bucket_edges, 100, got 99"},
      {{{"max_tokens", "99"}}, bad, "option max_tokens: needs bucket_edges"},
      {{{"bucket_edges", "100"}, {"batch_size", "1099511627776"}, {"world_size", "2"}},
       bad,
       "option batch_size: a step of 1099511627776 rows on each of 2 ranks is too large"},
      {{{"bucket_edges", "100"}, {"transform", "pad_to(bucket), cast(i64)"}},
       DL_ERR_BAD_TRANSFORM,
       "transform: column 17: expected nothing after pad_to(bucket), got 'cast'; put it before"},
      {{{"transform", "pad_to(bucket)"}},
       DL_ERR_BAD_TRANSFORM,
       "transform: column 8: pad_to: length: bucket: needs batches by length, the loader's option "
       "bucket_edges"},
      {{{"bucket_edges", "100"}, {"transform", "pad_to(100), pad_to(bucket)"}},
       DL_ERR_BAD_TRANSFORM,
       "transform: column 21: pad_to: length: bucket: expected sequences of their own lengths, got i32[100]"},
      {{{"bucket_edges", "100"}, {"transform", "pad_to(bucket, value=0.5)"}}, DL_ERR_BAD_TRANSFORM, ""},
      {{{"bucket_edges", "100"}, {"transform", "pad_to(buckets)"}}, DL_ERR_BAD_TRANSFORM, ""},
      {{{"bucket_edges", "100"}, {"batch_size", "4"}, {"last_batch", "drop"}},
       DL_ERR_EMPTY,
       "an epoch has no steps (3 samples, 3 slots, global batch 4), and epochs=0 asks for them for ever"},
  };
  for (const Row& row : table) {
    const auto [status, message] = create_error(dataset, row.settings);
    EXPECT_EQ(status, row.status) << message;
    if (!row.message.empty()) {
      EXPECT_EQ(message, row.message);
    }
  }
}

TEST(BadBuckets, WithAnotherOrderOrLengthsOfAnotherCountAreRefused) {
  const Dataset set = counting_dataset(4);
  EXPECT_EQ(create_error(set, {{"bucket_edges", "10"}}).second,
            "option bucket_edges: only reading sample 0 would tell its length; give the option lengths, one "
            "a sample");
  const auto refused = [&](std::vector<int64_t> lengths, const Settings& settings,
                           const std::function<dl_status(dl_options*, dl_error*)>& more = nullptr) {
    const Options options = make_options(settings);
    Error error;
    EXPECT_EQ(dl_options_set_lengths(options.get(), lengths.data(), static_cast<int64_t>(lengths.size()),
                                     nullptr, nullptr, &error),
              DL_OK);
    if (more) {
      EXPECT_EQ(more(options.get(), &error), DL_OK);
    }
    dl_loader* loader = nullptr;
    EXPECT_LT(dl_loader_create(set.get(), options.get(), &loader, &error), 0);
    dl_loader_destroy(loader);
    return std::string(error.message);
  };
  EXPECT_EQ(refused({1, 2, 3}, {{"bucket_edges", "10"}}), "option lengths: expected one a sample, 4, got 3");
  EXPECT_EQ(refused({}, {{"bucket_edges", "10"}}), "option lengths: expected one a sample, 4, got 0");
  EXPECT_EQ(refused({1, 2, -3, 4}, {{"bucket_edges", "10"}}),
            "sample 2: its length is -3, expected 0 or more");
  EXPECT_EQ(refused({1, 2, 3, 4}, {}), "option lengths: needs bucket_edges");
  const std::string both = ": expected one of the two, got both: a bucket takes every sample once an epoch";
  EXPECT_EQ(refused({1, 2, 3, 4}, {{"bucket_edges", "10"}},
                    [](dl_options* options, dl_error* error) {
                      const int64_t index = 0;
                      return dl_options_set_indices(options, &index, 1, nullptr, nullptr, error);
                    }),
            "options bucket_edges and sample_indices" + both);
  EXPECT_EQ(refused({1, 2, 3, 4}, {{"bucket_edges", "10"}},
                    [](dl_options* options, dl_error* error) {
                      const double weights[4] = {1, 1, 1, 1};
                      return dl_options_set_weights(options, weights, 4, nullptr, nullptr, error);
                    }),
            "options bucket_edges and weights" + both);
}

}  // namespace
}  // namespace dataline::testing
