// The exact look-ahead on storage that forgets everything: which records are asked for, and that it does not stop
// because records it asked for itself are found in memory.
// SPDX-License-Identifier: Apache-2.0
#include "core/loader/lookahead.h"

#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/loader/loader.h"
#include "core/loader/options.h"
#include "core/source/composed/mix.h"
#include "core/source/forward_source.h"
#include "core/source/host/host.h"
#include "core/source/source.h"

namespace dataline::lookahead_test {
namespace {

constexpr int64_t kForEver = -1;

// Storage that is cold until a record is asked for. Remembers what was asked for, and what was read unasked.
class ColdStorage final : public ForwardSource {
 public:
  explicit ColdStorage(SourceRef source) : ForwardSource(std::move(source)) {}

  void advise(std::span<const int64_t> indices) const override {
    const std::lock_guard lock(mutex_);
    for (const int64_t index : indices) alone_ += ask(index) ? 1 : 0;
  }
  void advise_block(int64_t first, int64_t count) const override {
    const std::lock_guard lock(mutex_);
    for (int64_t index = first; index < first + count; ++index) ask(index);
    ++blocks_;
  }
  bool cached(int64_t index) const override {
    const std::lock_guard lock(mutex_);
    return asked_.count(index) != 0;
  }
  void locate(Run& run) const override {
    {
      const std::lock_guard lock(mutex_);
      for (int64_t i = 0; i < run.count; ++i) unasked_ += asked_.count(run.indices[i]) == 0 ? 1 : 0;
    }
    ForwardSource::locate(run);
  }

  int64_t asked() const { return static_cast<int64_t>(asked_.size()); }
  int64_t asked_twice() const { return asked_twice_; }
  int64_t read_unasked() const { return unasked_; }
  int64_t blocks() const { return blocks_; }
  int64_t asked_alone() const { return alone_; }  // not as part of a block, and before it
  int64_t stored_bytes() const override { return record_bytes; }

  int64_t record_bytes = 1;  // on storage, whatever a sample has

 private:
  bool ask(int64_t index) const {
    const bool first = asked_.insert(index).second;
    asked_twice_ += first ? 0 : 1;
    return first;
  }

  mutable std::mutex mutex_;
  mutable std::set<int64_t> asked_;
  mutable int64_t asked_twice_ = 0, unasked_ = 0, blocks_ = 0, alone_ = 0;
};

// n samples of one byte, the stand-in for records on a cold disk.
std::shared_ptr<ColdStorage> cold_storage(int64_t n) {
  const std::vector<uint8_t> bytes(static_cast<size_t>(n));
  ArrayField field;
  field.field.name = "data";
  field.field.dtype = DType::kU8;
  field.data = reinterpret_cast<const std::byte*>(bytes.data());
  return std::make_shared<ColdStorage>(array_source({field}, n, {}, *HostMemory::create({})).take());
}

// One epoch in the caller's thread.
void read_an_epoch(const std::shared_ptr<Loader>& loader) {
  Batch* batch = nullptr;
  Status status;
  while ((status = loader->next(kForEver, &batch)).is_ok()) batch->release();
  ASSERT_EQ(status.code(), Code::kEndOfEpoch) << status.message();
}

TEST(Lookahead, AsksForEveryColdRecordOnceBeforeItIsRead) {
  constexpr int64_t kSamples = 100'000;  // far more runs than coldness lasts without a new look
  const std::shared_ptr<ColdStorage> storage = cold_storage(kSamples);
  Options options;
  for (const auto& [key, value] : {std::pair{"num_workers", "0"}, {"batch_size", "64"}, {"shuffle", "full"}})
    ASSERT_TRUE(options.set(key, value).is_ok());
  const std::shared_ptr<Loader> loader = Loader::create(storage, options).take();
  read_an_epoch(loader);
  EXPECT_EQ(storage->asked(), kSamples);
  EXPECT_EQ(storage->read_unasked(), 0);
  EXPECT_LE(storage->asked_twice(), Lookahead::kRecordsAhead) << "the head start of the next epoch";
}

using Settings = std::vector<std::pair<const char*, const char*>>;

// Of one block each 1,000 records, unless `more` says otherwise.
std::shared_ptr<Loader> window_loader(const std::shared_ptr<ColdStorage>& storage,
                                      const Settings& more = {}) {
  Settings settings = {{"num_workers", "0"},
                       {"global_batch_size", "64"},
                       {"shuffle", "window"},
                       {"shuffle_block", "1000"},
                       {"shuffle_blocks", "8"}};
  settings.insert(settings.end(), more.begin(), more.end());
  Options options;
  for (const auto& [key, value] : settings) EXPECT_TRUE(options.set(key, value).is_ok());
  return Loader::create(storage, options).take();
}

TEST(Lookahead, AsksForEachBlockOfAWindowShuffleOnceBeforeItIsRead) {
  constexpr int64_t kSamples = 100'000;
  const std::shared_ptr<ColdStorage> storage = cold_storage(kSamples);
  read_an_epoch(window_loader(storage));
  EXPECT_EQ(storage->asked(), kSamples);
  EXPECT_EQ(storage->read_unasked(), 0);
  EXPECT_GE(storage->blocks(), 90) << "whole blocks";
  EXPECT_LE(storage->blocks(), 100);
  // At the start the records of the first batches are asked for one by one.
  EXPECT_LE(storage->asked_twice(), 20'000);
}

TEST(Lookahead, ARankAsksForTheBlocksOfItsLanes) {
  constexpr int64_t kSamples = 100'000;
  int64_t asked = 0;
  for (const char* rank : {"0", "1"}) {
    const std::shared_ptr<ColdStorage> storage = cold_storage(kSamples);
    read_an_epoch(window_loader(storage, {{"rank", rank}, {"world_size", "2"}}));
    EXPECT_LE(storage->read_unasked(), 32) << "the epoch's short last step";
    asked += storage->asked();
  }
  EXPECT_GE(asked, kSamples);
  EXPECT_LE(asked, kSamples + 8'000) << "ranks share the blocks at the borders of their lanes";
}

TEST(Lookahead, AfterASeekAsksForTheOpenBlocksAndThoseThatCome) {
  constexpr int64_t kSamples = 100'000;
  const std::shared_ptr<ColdStorage> storage = cold_storage(kSamples);
  read_an_epoch(window_loader(storage, {{"start_step", "1171"}}));  // three quarters of 1,563 steps
  EXPECT_EQ(storage->read_unasked(), 0);
  EXPECT_LE(storage->asked(), kSamples / 4 + 20'000);
}

// One by one a drive reads many times slower than in blocks: that ends after a few runs, however many blocks are open.
TEST(Lookahead, WhereAllBlocksAreOpenFewRecordsAreAskedForOneByOne) {
  constexpr int64_t kSamples = 100'000;
  const std::shared_ptr<ColdStorage> storage = cold_storage(kSamples);
  read_an_epoch(window_loader(storage, {{"shuffle_block", "100"}, {"shuffle_blocks", "1000"}}));
  EXPECT_EQ(storage->asked(), kSamples);
  EXPECT_EQ(storage->read_unasked(), 0);
  EXPECT_LE(storage->asked_alone(), 2'000);
}

// What runs of a step claim until nothing is due to it; the last one is not behind.
std::vector<int64_t> claimed(BlockLookahead& lookahead, const BlockLookahead::Job& job, int64_t epoch,
                             int64_t step) {
  std::vector<int64_t> steps;
  Order::Sweep sweep;
  bool behind = true;
  int64_t end = -1;
  while (lookahead.claim(job, epoch, step, sweep, behind)) {
    EXPECT_EQ(sweep.begins, steps.empty());
    EXPECT_TRUE(end < 0 || sweep.from == end) << "no step is left out";
    end = sweep.to;
    EXPECT_EQ(behind, end < std::min(step + job.steps_per_block, job.steps));
    steps.push_back(sweep.to - sweep.from);
  }
  EXPECT_FALSE(behind);
  return steps;
}

TEST(BlockLookahead, ASweepThatBeginsCatchesUpInStepsThatDoubleToABound) {
  // A step takes a block.
  const BlockLookahead::Job whole{.steps_per_block = 200, .records_per_block = 64, .steps = 200, .rows = 64};
  BlockLookahead lookahead;
  const std::vector<int64_t> doubled = {2, 2, 4, 8, 16, 32, 32, 32, 32, 32, 8};
  EXPECT_EQ(claimed(lookahead, whole, 0, 0), doubled);
  EXPECT_EQ(claimed(lookahead, whole, 1, 0), doubled) << "the next epoch begins as slowly";
  lookahead.restart();
  const BlockLookahead::Job part{.steps_per_block = 100, .records_per_block = 64, .steps = 1000, .rows = 64};
  const std::vector<int64_t> after_seek = {2, 2, 4, 8, 16, 32, 32, 32, 32, 32, 12};
  EXPECT_EQ(claimed(lookahead, part, 0, 600), after_seek);
}

TEST(BlockLookahead, OnceItHasCaughtUpItGoesOnByTwoBlocks) {
  const BlockLookahead::Job job{.steps_per_block = 100, .records_per_block = 64, .steps = 1000, .rows = 64};
  BlockLookahead lookahead;
  EXPECT_EQ(claimed(lookahead, job, 0, 0).back(), 8);
  Order::Sweep sweep;
  bool behind = true;
  for (int64_t step = 1; step < 800; ++step) {
    const bool due = lookahead.claim(job, 0, step, sweep, behind);
    EXPECT_EQ(due, step % 2 == 0) << step;
    if (!due) continue;
    EXPECT_EQ(sweep.to - sweep.from, BlockLookahead::kBlocksAtOnce);
    EXPECT_EQ(sweep.to, step + 100 + BlockLookahead::kBlocksAhead);
    EXPECT_FALSE(behind);
  }
}

// What a loader of windows over records of so many bytes says at create.
std::vector<std::string> warnings_of(int64_t record_bytes, const Settings& more) {
  const std::shared_ptr<ColdStorage> storage = cold_storage(20'000);
  storage->record_bytes = record_bytes;
  std::vector<std::string> said;
  Options options;
  options.log = {.context = &said,
                 .write = [](void* context, int32_t level, const char* text, size_t length) {
                   if (level != static_cast<int32_t>(LogLevel::kWarning)) return;
                   static_cast<std::vector<std::string>*>(context)->emplace_back(text, length);
                 }};
  Settings settings = {{"num_workers", "0"}, {"shuffle", "window"}, {"shuffle_block", "1GiB"}};
  settings.insert(settings.end(), more.begin(), more.end());
  for (const auto& [key, value] : settings) EXPECT_TRUE(options.set(key, value).is_ok());
  EXPECT_TRUE(Loader::create(storage, options).is_ok());
  return said;
}

TEST(Windows, WhatIsOpenAndDoesNotFitTheMemoryIsWarnedOf) {
  constexpr int64_t kRecord = int64_t{1} << 30;  // 20 TB in all
  const std::vector<std::string> said = warnings_of(kRecord, {{"shuffle_blocks", "10000"}});
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].find("open blocks take up to 21474836480000 bytes of the page cache"), std::string::npos)
      << said[0];
  EXPECT_NE(said[0].find("lower one of them (1073741824 x 10000)"), std::string::npos) << said[0];
  EXPECT_TRUE(
      warnings_of(kRecord, {{"shuffle_blocks", "1"}, {"batch_size", "1"}, {"world_size", "64"}}).empty());
  EXPECT_TRUE(warnings_of(1, {{"shuffle_blocks", "10000"}}).empty()) << "the set is smaller";
}

// --- Mixes ---

struct ColdMix {
  std::vector<std::shared_ptr<ColdStorage>> parts;
  std::shared_ptr<Loader> loader;
};

// Three parts, of which the last may be open whole; blocks of 1,000 records.
ColdMix cold_mix(bool repeats, std::vector<std::pair<const char*, std::string>> more) {
  ColdMix mix;
  MixRecipe recipe;
  const std::pair<int64_t, double> parts[] = {
      {60'000, repeats ? 1 : 6}, {30'000, repeats ? 1.5 : 3}, {2'000, 1}};
  for (const auto& [samples, number] : parts) {
    mix.parts.push_back(cold_storage(samples));
    recipe.parts.emplace_back();
    recipe.parts.back().source = mix.parts.back();
    (repeats ? recipe.parts.back().repeat : recipe.parts.back().weight) = number;
  }
  if (!repeats)
    recipe.samples_per_epoch = 99'968;  // whole steps: the large parts once, the small one several times
  more.insert(more.begin(), {{"num_workers", "0"},
                             {"global_batch_size", "64"},
                             {"shuffle", "window"},
                             {"shuffle_block", "1000"},
                             {"shuffle_blocks", "30"}});
  Options options;
  for (const auto& [key, value] : more) EXPECT_TRUE(options.set(key, value).is_ok());
  Result<std::shared_ptr<Loader>> loader = Loader::create(mix_sources(std::move(recipe)).take(), options);
  EXPECT_TRUE(loader.is_ok()) << (loader.is_ok() ? "" : loader.status().message());
  mix.loader = loader.take();
  return mix;
}

TEST(Lookahead, AsksForEachBlockOfAMixInWindowsBeforeItIsRead) {
  for (const bool repeats : {false, true}) {
    const ColdMix mix = cold_mix(repeats, {});
    read_an_epoch(mix.loader);
    const int64_t blocks[] = {60, 30, 2};
    for (size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(mix.parts[k]->read_unasked(), 0) << k;
      EXPECT_EQ(mix.parts[k]->asked(), 1000 * blocks[k]) << k;
      EXPECT_GE(mix.parts[k]->blocks(), blocks[k] * 8 / 10) << "whole blocks";
      // A block that comes again is in memory; at the start the records of the first batches are asked for one by one.
      EXPECT_LE(mix.parts[k]->blocks(), blocks[k]) << k;
      EXPECT_LE(mix.parts[k]->asked_twice(), k == 2 ? 2000 : 500 * blocks[k]) << k;
    }
  }
}

TEST(Lookahead, AsksForTheBlocksOfAMixAfterASeek) {
  for (const char* homogeneous : {"none", "batch"}) {
    // 99,968 samples are whole steps.
    const ColdMix mix = cold_mix(false, {{"homogeneous", homogeneous}, {"start_step", "1171"}});
    read_an_epoch(mix.loader);
    int64_t asked = 0;
    for (const auto& part : mix.parts) {
      EXPECT_EQ(part->read_unasked(), 0);
      asked += part->asked();
    }
    EXPECT_LE(asked, 25'000 + 2 * 30'000) << "a quarter of the epoch, and what is open at its two ends";
  }
}

// By weights a rank's rows fall into any block: up to 16 ranks ask for all of them, of more each for its own records.
TEST(Lookahead, ManyRanksOfAMixAskForTheirOwnRecords) {
  for (const char* world : {"16", "17"}) {
    const bool few = world == std::string("16");
    const ColdMix mix = cold_mix(false, {{"global_batch_size", "272"}, {"rank", "3"}, {"world_size", world}});
    read_an_epoch(mix.loader);
    for (size_t k = 0; k < 2; ++k) {
      EXPECT_EQ(mix.parts[k]->read_unasked(), 0);
      if (few) {
        EXPECT_GE(mix.parts[k]->blocks(), k == 0 ? 50 : 25);
      } else {
        EXPECT_EQ(mix.parts[k]->blocks(), 0);
        EXPECT_LE(mix.parts[k]->asked(), k == 0 ? 60'000 / 17 + 600 : 30'000 / 17 + 600);
      }
    }
  }
}

TEST(Lookahead, EndsSomeRunsAfterUnaskedRecordsAreInMemory) {
  const std::shared_ptr<ColdStorage> storage = cold_storage(1);
  Lookahead lookahead;
  EXPECT_TRUE(lookahead.observe(*storage, 0));
  const int64_t first = 0;
  storage->advise({&first, 1});
  int64_t cold_runs = 0;
  while (lookahead.observe(*storage, 0)) ASSERT_LT(++cold_runs, 10'000);
  lookahead.stay_cold();
  EXPECT_TRUE(lookahead.observe(*storage, 0)) << "somebody met a record that was not in memory";
  lookahead.restart();
  EXPECT_FALSE(lookahead.observe(*storage, 0)) << "a seek looks anew";
}

}  // namespace
}  // namespace dataline::lookahead_test
