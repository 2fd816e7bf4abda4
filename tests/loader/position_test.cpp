// Seek, saved states, epochs of a for loop, the caller's own order.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tests/support/job.h"

namespace dataline::tests::position_test {
namespace {

const Settings kJob = {{"batch_size", "7"}, {"shuffle", "full"}, {"seed", "3"}, {"epochs", "3"}};

// What a job delivers from here on, epoch ends included (as an empty list).
std::vector<std::vector<uint64_t>> rest_of(const Loader& loader) {
  std::vector<std::vector<uint64_t>> all;
  for (;;) {
    Delivered got = next(loader);
    if (got.status == DL_END) return all;
    EXPECT_TRUE(got.status == DL_OK || got.status == DL_END_OF_EPOCH) << got.message;
    if (got.status < 0) return all;
    all.push_back(got.values);
  }
}

std::pair<int64_t, int64_t> position_of(const Loader& loader) {
  int64_t epoch = -1, step = -1;
  Error error;
  EXPECT_EQ(dl_loader_position(loader.get(), &epoch, &step, &error), DL_OK);
  return {epoch, step};
}

TEST(LoaderState, SavedAtEveryStepTheRestIsTheSameWithOtherWorkersAndDepth) {
  Dataset dataset = counting_dataset(40);  // 6 steps, the last short
  Loader whole = make_loader(dataset, kJob);
  std::vector<std::string> states;
  std::vector<std::vector<uint64_t>> stream;
  for (;;) {
    states.push_back(save_state(whole));
    Delivered got = next(whole);
    if (got.status == DL_END) break;
    stream.push_back(got.values);
  }
  ASSERT_EQ(stream.size(), 21u);  // 3 epochs of 6 steps and an end
  const std::vector<std::pair<const char*, const char*>> shapes = {{"0", "1"}, {"1", "2"}, {"3", "8"}};
  for (size_t s = 0; s < states.size(); ++s) {
    const auto& [workers, depth] = shapes[s % shapes.size()];
    Loader again = make_loader(dataset, with(kJob, {{"num_workers", workers}, {"prefetch_depth", depth}}));
    Error error;
    ASSERT_EQ(dl_loader_state_load(again.get(), states[s].c_str(), &error), DL_OK) << error.message;
    EXPECT_EQ(save_state(again), states[s]) << "a loaded state is complete at once";
    EXPECT_EQ(rest_of(again), std::vector(stream.begin() + static_cast<std::ptrdiff_t>(s), stream.end()))
        << "state " << s;
  }
}

TEST(LoaderState, ALastStepAndAnEndedEpochAreToldApart) {
  Dataset dataset = counting_dataset(14);
  Loader loader = make_loader(dataset, {{"batch_size", "7"}});
  next(loader), next(loader);
  EXPECT_EQ(position_of(loader), std::pair(int64_t{0}, int64_t{2}));
  EXPECT_EQ(next(loader).status, DL_END_OF_EPOCH);
  EXPECT_EQ(position_of(loader), std::pair(int64_t{1}, int64_t{0}));
}

TEST(LoaderState, IsSmallTextAndCountsDeliveredBatchesOnly) {
  Dataset dataset = counting_dataset(1000);
  Loader loader = make_loader(dataset, {{"batch_size", "10"}, {"num_workers", "2"}, {"prefetch_depth", "8"}});
  next(loader);
  std::string state = save_state(loader);
  EXPECT_LT(state.size(), 1000u);
  EXPECT_NE(state.find("\nstep: 1\n"), std::string::npos) << state;
}

TEST(LoaderState, MayBeLoadedUnderAnotherWorldSizeAtTheSameGlobalBatch) {
  Dataset dataset = counting_dataset(100);
  const Settings job = {{"global_batch_size", "20"}, {"shuffle", "full"}, {"epochs", "1"}};
  Loader one = make_loader(dataset, job);
  next(one), next(one);
  const std::string state = save_state(one);
  std::vector<uint64_t> rest = joined(epoch_batches(one));
  std::vector<std::vector<uint64_t>> parts;
  for (const char* rank : {"0", "1"}) {
    Loader half = make_loader(dataset, with(job, {{"world_size", "2"}, {"rank", rank}}));
    Error error;
    ASSERT_EQ(dl_loader_state_load(half.get(), state.c_str(), &error), DL_OK) << error.message;
    parts.push_back(epoch_samples(half));
  }
  std::vector<uint64_t> joined_steps;
  for (size_t step = 0; step < 3; ++step) {
    for (const auto& part : parts)
      joined_steps.insert(joined_steps.end(), part.begin() + static_cast<std::ptrdiff_t>(step) * 10,
                          part.begin() + static_cast<std::ptrdiff_t>(step) * 10 + 10);
  }
  EXPECT_EQ(joined_steps, rest);
}

TEST(LoaderState, OfAnotherJobIsRefusedWithBothValues) {
  Dataset dataset = counting_dataset(40);
  const std::string state = save_state(make_loader(dataset, kJob));
  const std::vector<std::tuple<int64_t, Settings, std::string>> others = {
      {41, kJob, "samples is '40' in the state, '41' here"},
      {40, with(kJob, {{"seed", "4"}}), "seed is '3' in the state, '4' here"},
      {40, with(kJob, {{"shuffle", "none"}}), "shuffle is 'full' in the state, 'none' here"},
      {40, with(kJob, {{"batch_size", "8"}}), "global_batch_size is '7' in the state, '8' here"},
      {40, with(kJob, {{"last_batch", "pad"}}), "last_batch is 'keep' in the state, 'pad' here"},
      {40, with(kJob, {{"on_error", "replace"}}), "on_error is 'raise' in the state, 'replace' here"}};
  for (const auto& [n, settings, expected] : others) {
    Dataset other = counting_dataset(n);
    Loader loader = make_loader(other, settings);
    Error error;
    EXPECT_EQ(dl_loader_state_load(loader.get(), state.c_str(), &error), DL_ERR_STATE_REFUSED);
    EXPECT_NE(std::string(error.message).find(expected), std::string::npos) << error.message;
    EXPECT_EQ(next(loader).status, DL_OK) << "a refused state leaves the loader as it was";
  }
}

TEST(LoaderState, DamagedTextIsNotAState) {
  Dataset dataset = counting_dataset(40);
  Loader loader = make_loader(dataset, kJob);
  const std::string good = save_state(loader);
  std::vector<std::string> bad = {"",
                                  "x",
                                  "dataline state 3\n",
                                  "dataline state 2\n",
                                  good + "\n",
                                  good + "x: y\n",
                                  std::string(5000, 'a'),
                                  "{\"epoch\": 1}"};
  for (size_t cut = 0; cut < good.size(); ++cut) bad.push_back(good.substr(0, cut));
  for (size_t at = 0; at < good.size(); ++at) {
    std::string flipped = good;
    flipped[at] = static_cast<char>(flipped[at] ^ 1);
    bad.push_back(flipped);
  }
  for (const std::string& text : bad) {
    Error error;
    ASSERT_EQ(dl_loader_state_load(loader.get(), text.c_str(), &error), DL_ERR_BAD_STATE) << text;
    ASSERT_GT(std::string(error.message).size(), 10u);
  }
  EXPECT_EQ(next(loader).status, DL_OK);
}

TEST(LoaderState, NeedsRoomAndSaysHowMuch) {
  Dataset dataset = counting_dataset(4);
  Loader loader = make_loader(dataset);
  size_t bytes = 0;
  Error error;
  EXPECT_EQ(dl_loader_state_save(loader.get(), nullptr, &bytes, &error), DL_OK);
  EXPECT_EQ(bytes, save_state(loader).size() + 1);
  char small[8];
  size_t room = sizeof small;
  EXPECT_EQ(dl_loader_state_save(loader.get(), small, &room, &error), DL_ERR_INVALID_ARGUMENT);
}

TEST(LoaderSeek, GoesAnywhereInAnyDirectionAndRefusesWhatIsOutside) {
  Dataset dataset = counting_dataset(100);
  Loader loader = make_loader(dataset, {{"batch_size", "10"}, {"epochs", "4"}, {"shuffle", "full"}});
  std::vector<std::vector<std::vector<uint64_t>>> epochs;
  for (int e = 0; e < 4; ++e) epochs.push_back(epoch_batches(loader));
  Error error;
  for (auto [epoch, step] :
       std::vector<std::pair<int64_t, int64_t>>{{3, 9}, {0, 0}, {2, 5}, {2, 4}, {1, 9}}) {
    ASSERT_EQ(dl_loader_seek(loader.get(), epoch, step, &error), DL_OK) << error.message;
    EXPECT_EQ(next(loader).values, epochs[static_cast<size_t>(epoch)][static_cast<size_t>(step)]);
  }
  ASSERT_EQ(dl_loader_seek(loader.get(), 1, 10, &error), DL_OK);
  EXPECT_EQ(next(loader).status, DL_END_OF_EPOCH);
  EXPECT_EQ(next(loader).values, epochs[2][0]);
  ASSERT_EQ(dl_loader_seek(loader.get(), 4, 0, &error), DL_OK);
  EXPECT_EQ(next(loader).status, DL_END);
  for (auto [epoch, step] : std::vector<std::pair<int64_t, int64_t>>{
           {0, 11}, {-1, 0}, {0, -1}, {5, 0}, {4, 1}, {INT64_MAX, 0}, {INT64_MAX, INT64_MAX}}) {
    EXPECT_EQ(dl_loader_seek(loader.get(), epoch, step, &error), DL_ERR_OUT_OF_RANGE) << epoch << " " << step;
  }
}

TEST(LoaderSeek, ManyTimesInARowLeavesNothingBehind) {
  Dataset dataset = counting_dataset(1000);
  Loader loader = make_loader(dataset, {{"batch_size", "10"}, {"num_workers", "2"}, {"shuffle", "full"}});
  Loader reference = make_loader(dataset, {{"batch_size", "10"}, {"num_workers", "0"}, {"shuffle", "full"}});
  Error error;
  for (int64_t i = 0; i < 500; ++i) {
    const int64_t epoch = i * 7 % 11, step = i * 37 % 100;
    ASSERT_EQ(dl_loader_seek(loader.get(), epoch, step, &error), DL_OK);
    if (i % 3 != 0) continue;
    ASSERT_EQ(dl_loader_seek(reference.get(), epoch, step, &error), DL_OK);
    ASSERT_EQ(next(loader).values, next(reference).values);
  }
}

TEST(LoaderStart, StartEpochAndStepAreASeekAndEpochsCountsTheWholeJob) {
  Dataset dataset = counting_dataset(100);
  Loader whole = make_loader(dataset, kJob);
  epoch_batches(whole), epoch_batches(whole);
  next(whole);
  Loader late = make_loader(dataset, with(kJob, {{"start_epoch", "2"}, {"start_step", "1"}}));
  EXPECT_EQ(rest_of(late), rest_of(whole));
  EXPECT_EQ(create_error(dataset, with(kJob, {{"start_step", "99"}})).first, DL_ERR_OUT_OF_RANGE);
}

TEST(LoaderForLoop, AfterABreakTheNextLoopIsAFreshEpoch) {
  Dataset dataset = counting_dataset(20);
  for (const char* workers : {"0", "2"}) {
    Loader loader = make_loader(dataset, {{"batch_size", "5"}, {"epochs", "3"}, {"num_workers", workers}});
    Error error;
    ASSERT_EQ(dl_loader_begin_epoch(loader.get(), &error), DL_OK);
    EXPECT_EQ(next(loader).epoch, 0);
    next(loader);  // break in the middle
    ASSERT_EQ(dl_loader_begin_epoch(loader.get(), &error), DL_OK);
    EXPECT_EQ(position_of(loader), std::pair(int64_t{1}, int64_t{0}));
    EXPECT_EQ(epoch_batches(loader).size(), 4u);
    ASSERT_EQ(dl_loader_begin_epoch(loader.get(), &error), DL_OK);
    for (int step = 0; step < 4; ++step) EXPECT_EQ(next(loader).epoch, 2);  // break after the last batch
    EXPECT_EQ(dl_loader_begin_epoch(loader.get(), &error), DL_END);
  }
}

TEST(LoaderForLoop, GoesOnWhereASeekPutIt) {
  Dataset dataset = counting_dataset(20);
  Loader loader = make_loader(dataset, {{"batch_size", "5"}});
  Error error;
  ASSERT_EQ(dl_loader_seek(loader.get(), 1, 2, &error), DL_OK);
  ASSERT_EQ(dl_loader_begin_epoch(loader.get(), &error), DL_OK);
  EXPECT_EQ(epoch_batches(loader).size(), 2u);
}

TEST(LoaderIndices, TheCallersOrderHoldsEachEpochUntilItIsChanged) {
  Dataset dataset = counting_dataset(10);
  Options options = make_options({{"batch_size", "2"}, {"num_workers", "2"}});
  Error error;
  const std::vector<int64_t> first = {9, 9, 1, 0}, second = {3, 4, 5, 6};
  ASSERT_EQ(dl_options_set_indices(options.get(), first.data(), 4, nullptr, nullptr, &error), DL_OK);
  dl_loader* handle = nullptr;
  ASSERT_EQ(dl_loader_create(dataset.get(), options.get(), &handle, &error), DL_OK) << error.message;
  Loader loader(handle);
  EXPECT_EQ(epoch_samples(loader), (std::vector<uint64_t>{9, 9, 1, 0}));
  EXPECT_EQ(next(loader).values, (std::vector<uint64_t>{9, 9}));
  ASSERT_EQ(dl_loader_set_indices(loader.get(), second.data(), 4, nullptr, nullptr, &error), DL_OK)
      << error.message;
  EXPECT_EQ(next(loader).values, (std::vector<uint64_t>{1, 0})) << "the epoch that has begun keeps its order";
  EXPECT_EQ(next(loader).status, DL_END_OF_EPOCH);
  EXPECT_EQ(epoch_samples(loader), (std::vector<uint64_t>{3, 4, 5, 6}));
  const std::vector<int64_t> bad = {3, 4, 5, 10};
  EXPECT_EQ(dl_loader_set_indices(loader.get(), bad.data(), 4, nullptr, nullptr, &error),
            DL_ERR_OUT_OF_RANGE);
  EXPECT_EQ(dl_loader_set_indices(loader.get(), bad.data(), 3, nullptr, nullptr, &error),
            DL_ERR_INVALID_ARGUMENT);
}

const std::vector<int64_t> kOrders[] = {{0, 1, 2, 3}, {4, 5, 6, 7}, {9, 8, 3, 1}};

class IndicesState : public ::testing::TestWithParam<const char*> {
 protected:
  // Ten samples, two steps of two an epoch, in kOrders[0].
  void SetUp() override {
    Options options = make_options({{"batch_size", "2"}, {"num_workers", GetParam()}});
    Error error;
    ASSERT_EQ(dl_options_set_indices(options.get(), kOrders[0].data(), 4, nullptr, nullptr, &error), DL_OK);
    dl_loader* handle = nullptr;
    ASSERT_EQ(dl_loader_create(dataset_.get(), options.get(), &handle, &error), DL_OK) << error.message;
    loader_.reset(handle);
  }
  void set(size_t order) {
    Error error;
    ASSERT_EQ(dl_loader_set_indices(loader_.get(), kOrders[order].data(), 4, nullptr, nullptr, &error), DL_OK)
        << error.message;
  }
  dl_status load(const std::string& state) {
    Error error;
    const dl_status status = dl_loader_state_load(loader_.get(), state.c_str(), &error);
    message_ = error.message;
    return status;
  }
  std::vector<uint64_t> order(size_t number) const {
    return {kOrders[number].begin(), kOrders[number].end()};
  }

  Dataset dataset_ = counting_dataset(10);
  Loader loader_;
  std::string message_;
};

TEST_P(IndicesState, OfBeforeNewOnesTookEffectIsLoadedAndTheJobGoesOnAsItDid) {
  next(loader_);
  const std::string state = save_state(loader_);
  set(1);
  next(loader_), next(loader_);  // the end of epoch 0 too
  EXPECT_EQ(next(loader_).values, (std::vector<uint64_t>{4, 5}));
  ASSERT_EQ(load(state), DL_OK) << message_;
  EXPECT_EQ(save_state(loader_), state);
  EXPECT_EQ(next(loader_).values, (std::vector<uint64_t>{2, 3}));
  EXPECT_EQ(next(loader_).status, DL_END_OF_EPOCH);
  EXPECT_EQ(epoch_samples(loader_), order(1)) << "epoch 1 has the order that was set for it";
}

TEST_P(IndicesState, OfAnEpochsStartIsLoadedAfterThatEpochGotAnotherOrder) {
  epoch_samples(loader_);
  const std::string state = save_state(loader_);  // (1, 0), of order 0
  set(1);
  const std::string later = save_state(loader_);  // (1, 0), of order 1
  EXPECT_EQ(epoch_samples(loader_), order(1));
  ASSERT_EQ(load(state), DL_OK) << message_;
  EXPECT_EQ(save_state(loader_), state);
  EXPECT_EQ(epoch_samples(loader_), order(0));
  EXPECT_EQ(epoch_samples(loader_), order(1)) << "what was set holds from the next epoch";
  ASSERT_EQ(load(later), DL_OK) << message_;
  EXPECT_EQ(epoch_samples(loader_), order(1));
}

TEST_P(IndicesState, OfOlderOnesIsRefusedWithAdviceThatWorks) {
  next(loader_);
  const std::string state = save_state(loader_);
  for (size_t order : {1u, 2u, 1u, 2u}) {
    epoch_samples(loader_);
    set(order);
  }
  next(loader_);
  ASSERT_EQ(load(state), DL_ERR_STATE_REFUSED);
  EXPECT_NE(message_.find("set them again"), std::string::npos) << message_;
  EXPECT_EQ(next(loader_).values, (std::vector<uint64_t>{3, 1}))
      << "a refused state leaves the loader as it was";
  set(0);
  ASSERT_EQ(load(state), DL_OK) << message_;
  EXPECT_EQ(epoch_samples(loader_), (std::vector<uint64_t>{2, 3}));
  EXPECT_EQ(epoch_samples(loader_), order(0));
}

INSTANTIATE_TEST_SUITE_P(Workers, IndicesState, ::testing::Values("0", "2"),
                         [](const auto& workers) { return std::string("Workers") + workers.param; });

TEST(LoaderIndices, BorrowedArraysAreGivenBackOnceWhenNothingNeedsThem) {
  static const int64_t values[] = {0, 1};
  int released = 0;
  auto release = [](void* context) { ++*static_cast<int*>(context); };
  Error error;
  {
    Dataset dataset = counting_dataset(10);
    Options options = make_options();
    ASSERT_EQ(dl_options_set_indices(options.get(), values, 2, release, &released, &error), DL_OK);
    dl_loader* handle = nullptr;
    ASSERT_EQ(dl_loader_create(dataset.get(), options.get(), &handle, &error), DL_OK);
    options.reset();
    EXPECT_EQ(released, 0);
    Batch held = std::move(next(Loader(handle)).batch);
    EXPECT_EQ(released, 1) << "a batch that is still held needs no order";
  }
  EXPECT_EQ(released, 1);
}

}  // namespace
}  // namespace dataline::tests::position_test
