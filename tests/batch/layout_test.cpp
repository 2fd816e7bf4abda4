// Where storages lie in a slot, what views tell of them, and the references that hold a batch.
// SPDX-License-Identifier: Apache-2.0
#include "core/batch/layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/batch/batch.h"

namespace dataline::layout_test {
namespace {

Storage storage_of(FieldKind kind, int64_t row_bytes) {
  Storage storage;
  storage.kind = kind;
  storage.row_bytes = row_bytes;
  return storage;
}

// The parts of a slot as [begin, end), for any plan.
std::vector<std::pair<int64_t, int64_t>> parts_of(const Layout& layout) {
  std::vector<std::pair<int64_t, int64_t>> parts;
  auto part = [&](int64_t offset, int64_t bytes) { parts.emplace_back(offset, offset + bytes); };
  for (const Storage& storage : layout.storages) {
    part(storage.offset, layout.rows * storage.row_bytes);
    if (storage.kind != FieldKind::kRagged) continue;
    part(storage.offsets_offset, (layout.rows + 1) * 8);
    part(storage.row_bytes_offset, layout.rows * 8);
  }
  part(layout.indices_offset, layout.rows * 8);
  part(layout.sources_offset, layout.rows * 8);
  return parts;
}

TEST(Layout, EveryPartIsAlignedInsideAndApartFromTheOthers) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    auto draw = [&, count = uint64_t{0}](uint64_t bound) mutable {
      return static_cast<int64_t>(random_below(random_bits(11, seed, count++), bound));
    };
    std::vector<Storage> storages;
    const int64_t count = 1 + draw(5);
    for (int64_t s = 0; s < count; ++s)
      storages.push_back(storage_of(draw(2) == 0 ? FieldKind::kDense : FieldKind::kRagged, 1 + draw(5000)));
    const int64_t rows = draw(300);
    std::vector<Region> regions(static_cast<size_t>(draw(3)));
    for (Region& region : regions) region.row_bytes = draw(3000);
    const Layout layout = plan_layout(storages, regions, rows).take();
    ASSERT_EQ(layout.rows, rows);
    ASSERT_EQ(layout.storages.size(), storages.size());
    std::vector<std::pair<int64_t, int64_t>> parts = parts_of(layout);
    std::sort(parts.begin(), parts.end());
    int64_t end = 0;
    for (const auto& [begin, part_end] : parts) {
      EXPECT_EQ(begin % kTensorAlignment, 0) << seed;
      EXPECT_GE(begin, end) << seed;
      end = part_end;
    }
    EXPECT_LE(end, layout.slot_bytes);
    EXPECT_EQ(layout.slot_bytes % kTensorAlignment, 0);
    EXPECT_LT(layout.slot_bytes - end, kTensorAlignment) << "nothing is wasted at the end";
    int64_t device_end = layout.slot_bytes;  // regions follow, in their order
    ASSERT_EQ(layout.regions.size(), regions.size());
    for (const Region& region : layout.regions) {
      EXPECT_EQ(region.offset % kTensorAlignment, 0) << seed;
      EXPECT_GE(region.offset, device_end) << seed;
      device_end = region.offset + rows * region.row_bytes;
    }
    EXPECT_LE(device_end, layout.device_bytes);
    EXPECT_LT(layout.device_bytes - device_end, kTensorAlignment);
  }
}

TEST(Layout, ASlotBeyondAnyMemoryIsOverBudgetNamingTheOptions) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const std::vector<std::pair<int64_t, int64_t>> tables = {
      {kMost, 1},           {1, kMost},
      {kMost, kMost},       {int64_t{1} << 32, int64_t{1} << 32},
      {16, kMost / 8},      {int64_t{1} << 47, 1},
      {3, (kMost / 3) + 1}, {1, (int64_t{1} << 46) + 1}};
  for (FieldKind kind : {FieldKind::kDense, FieldKind::kRagged}) {
    for (const auto& [row_bytes, rows] : tables) {
      Result<Layout> layout = plan_layout({storage_of(kind, row_bytes)}, {}, rows);
      ASSERT_FALSE(layout.is_ok()) << row_bytes << " " << rows;
      EXPECT_EQ(layout.status().code(), Code::kOverBudget);
      EXPECT_EQ(layout.status().message(),
                concat("a batch of ", rows,
                       " samples does not fit in memory; lower batch_size or max_bytes_per_sample"));
    }
  }
  std::vector<Storage> many(8, storage_of(FieldKind::kDense, int64_t{1} << 44));
  EXPECT_EQ(plan_layout(many, {}, 1).status().code(), Code::kOverBudget) << "each would fit";
}

TEST(Layout, ASlotAsLargeAsTheLimitIsPlannedAndOneByteMoreIsNot) {
  constexpr int64_t kLimit = int64_t{1} << 46;
  const int64_t others = plan_layout({}, {}, 1).take().slot_bytes;
  Region rest;
  rest.row_bytes = kLimit - others;
  const Result<Layout> largest = plan_layout({}, {rest}, 1);
  ASSERT_TRUE(largest.is_ok()) << largest.status().message();
  EXPECT_EQ(largest.value().device_bytes, kLimit);
  ++rest.row_bytes;
  EXPECT_EQ(plan_layout({}, {rest}, 1).status().code(), Code::kOverBudget);
}

TEST(Views, TellShapeStridesAxesAndBytesOfABatch) {
  std::vector<OutputField> outputs = {
      OutputField{.field = {"image", FieldKind::kDense, DType::kU8, {4, 5, 3}, "HWC", -1},
                  .row_stride_bytes = 60,
                  .flags = kViewReadOnly},
      OutputField{.field = {"label", FieldKind::kDense, DType::kI64, {}, "", -1},
                  .storage = 1,
                  .row_stride_bytes = 8},
      OutputField{.field = {"text", FieldKind::kRagged, DType::kU8, {-1}, "", -1}, .storage = 2}};
  ViewSet set(outputs, true);
  std::vector<std::byte> memory(1024);
  const std::vector<int64_t> offsets = {0, 4, 4, 9};
  set.set_data(0, memory.data(), nullptr);
  set.set_data(1, memory.data() + 512, nullptr);
  set.set_data(2, memory.data() + 768, offsets.data());
  set.set_samples(3);
  const BatchView &image = set.views()[0], &label = set.views()[1], &text = set.views()[2];
  EXPECT_STREQ(image.name, "image");
  EXPECT_EQ(std::vector<int64_t>(image.shape, image.shape + image.rank), (std::vector<int64_t>{3, 4, 5, 3}));
  EXPECT_EQ(std::vector<int64_t>(image.strides, image.strides + image.rank),
            (std::vector<int64_t>{60, 15, 3, 1}));
  EXPECT_STREQ(image.axes, "NHWC");
  EXPECT_EQ(image.bytes, 180);
  EXPECT_EQ(image.flags, kViewReadOnly);
  EXPECT_EQ(image.data, memory.data());
  EXPECT_EQ(label.rank, 1);
  EXPECT_EQ(label.strides[0], 1);
  EXPECT_STREQ(label.axes, "");
  EXPECT_EQ(label.bytes, 24);
  EXPECT_EQ(text.shape[0], 9) << "the packed dim stands for the batch too";
  EXPECT_EQ(text.rank, 1);
  EXPECT_EQ(text.bytes, 9);
  EXPECT_EQ(text.offsets, offsets.data());
  set.set_samples(1);
  EXPECT_EQ(image.shape[0], 1);
  EXPECT_EQ(image.bytes, 60);
  EXPECT_EQ(text.shape[0], 4);
  set.set_samples(0);
  EXPECT_EQ(label.bytes, 0);
  EXPECT_EQ(text.bytes, 0);
}

TEST(Views, OfOverlappingFieldsLookIntoOneRow) {
  const Field x{"x", FieldKind::kDense, DType::kU16, {4}, "", -1};
  std::vector<OutputField> outputs = {
      OutputField{.field = x, .row_stride_bytes = 10, .flags = kViewOverlapping},
      OutputField{.field = x, .storage_offset = 2, .row_stride_bytes = 10, .flags = kViewOverlapping}};
  ViewSet set(outputs, true);
  std::vector<std::byte> memory(64);
  for (size_t f = 0; f < 2; ++f) set.set_data(f, memory.data(), nullptr);
  set.set_samples(2);
  EXPECT_EQ(set.views()[0].byte_offset, 0u);
  EXPECT_EQ(set.views()[1].byte_offset, 2u);
  EXPECT_EQ(set.views()[1].strides[0], 5) << "a row of length + 1 tokens";
  EXPECT_EQ(set.views()[1].bytes, 16);
}

TEST(Views, OfASchemaSayWhatVaries) {
  std::vector<OutputField> outputs = {
      OutputField{.field = {"a", FieldKind::kDense, DType::kF32, {2}, "C", -1}, .row_stride_bytes = 8},
      OutputField{.field = {"b", FieldKind::kRagged, DType::kU8, {-1}, "", -1}, .storage = 1}};
  ViewSet loader(outputs, true), dataset(outputs, false);
  loader.set_schema_rows(-1);
  EXPECT_EQ(loader.views()[0].shape[0], -1);
  EXPECT_EQ(loader.views()[0].bytes, -1);
  EXPECT_EQ(loader.views()[1].shape[0], -1);
  EXPECT_EQ(loader.views()[1].bytes, -1);
  loader.set_schema_rows(32);
  EXPECT_EQ(loader.views()[0].shape[0], 32);
  EXPECT_EQ(loader.views()[0].bytes, 256);
  dataset.set_schema_rows(-1);
  EXPECT_EQ(dataset.views()[0].rank, 1);
  EXPECT_EQ(dataset.views()[0].bytes, 8);
  EXPECT_STREQ(dataset.views()[0].axes, "C");
  EXPECT_EQ(dataset.views()[0].data, nullptr);
}

struct CountingOwner : BatchOwner {
  std::atomic<int> recycled{0}, waits{0};
  std::atomic<int>* alive;
  explicit CountingOwner(std::atomic<int>* count) : alive(count) { ++*alive; }
  ~CountingOwner() override { --*alive; }
  void recycle(Batch&) noexcept override { ++recycled; }
  Status wait(Batch&, void*) override {
    ++waits;
    return Status::ok();
  }
  Status done(Batch&, void*) override {
    ++waits;
    return error(Code::kDeviceLost, "lost");
  }
  void passed_on(Batch&) noexcept override { ++waits; }
};

TEST(BatchStreams, OnTheCpuNobodyIsAskedAndOnADeviceItsOwnerIs) {
  std::atomic<int> alive{0};
  const std::vector<OutputField> outputs;
  Batch batch(outputs);
  auto owner = std::make_shared<CountingOwner>(&alive);
  batch.lend(owner);
  EXPECT_TRUE(batch.wait(nullptr).is_ok());
  EXPECT_TRUE(batch.release_on(nullptr).is_ok());
  EXPECT_EQ(owner->waits.load(), 0);
  EXPECT_EQ(owner->recycled.load(), 1);
  batch.on_device = true;
  batch.lend(owner);
  EXPECT_TRUE(batch.wait(nullptr).is_ok());
  EXPECT_EQ(batch.release_on(nullptr).code(), Code::kDeviceLost);
  EXPECT_EQ(owner->waits.load(), 2);
  EXPECT_EQ(owner->recycled.load(), 2) << "the reference is given up whatever happened";
}

TEST(BatchReferences, TheLastReleaseGivesTheBatchBackOnceAndLetsItsOwnerGo) {
  std::atomic<int> alive{0};
  const std::vector<OutputField> outputs;
  Batch batch(outputs);
  for (int holders : {1, 2, 8}) {
    auto owner = std::make_shared<CountingOwner>(&alive);
    CountingOwner* seen = owner.get();
    std::shared_ptr<CountingOwner> watch = owner;
    batch.lend(std::move(owner));
    for (int i = 1; i < holders; ++i) batch.retain();
    watch.reset();
    EXPECT_EQ(alive.load(), 1) << "a batch that is held keeps its owner";
    std::vector<std::thread> threads;
    for (int i = 0; i + 1 < holders; ++i) threads.emplace_back([&] { batch.release(); });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(seen->recycled.load(), 0);
    batch.release();
    EXPECT_EQ(alive.load(), 0);
  }
}

TEST(BatchReferences, RetainAndReleaseFromManyThreadsRecycleOnce) {
  std::atomic<int> alive{0};
  const std::vector<OutputField> outputs;
  for (int round = 0; round < 100; ++round) {
    Batch batch(outputs);
    auto owner = std::make_shared<CountingOwner>(&alive);
    batch.lend(owner);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      batch.retain();
      threads.emplace_back([&] {
        for (int i = 0; i < 50; ++i) batch.retain(), batch.release();
        batch.release();
      });
    }
    batch.release();
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(owner->recycled.load(), 1);
  }
  EXPECT_EQ(alive.load(), 0);
}

}  // namespace
}  // namespace dataline::layout_test
