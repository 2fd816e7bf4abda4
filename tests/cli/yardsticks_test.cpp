// The yardsticks of `dataline bench`: a bare loop that copies wrong rows would measure nothing.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <list>
#include <numeric>
#include <random>

#include "bindings/cli/failure.h"
#include "bindings/cli/gather.h"

namespace dataline::cli::yardsticks_test {
namespace {

constexpr size_t kSpareRows = RowOrder::kSpare;

std::vector<std::byte> noise(size_t bytes) {
  std::vector<std::byte> out(bytes);
  std::minstd_rand bits(7);
  for (std::byte& b : out) b = static_cast<std::byte>(bits() >> 8);
  return out;
}

TEST(GatherLoops, CopyTheRowsTheyAreGiven) {
  constexpr size_t kRows = 37;
  std::vector<uint32_t> order(kRows + kSpareRows);
  std::iota(order.begin(), order.end(), 0u);
  std::shuffle(order.begin(), order.begin() + kRows, std::minstd_rand(3));
  for (uint32_t& row : order) row %= kRows;

  std::vector<size_t> sizes(600);
  std::iota(sizes.begin(), sizes.end(), size_t{1});
  sizes.insert(sizes.end(), {784, 1023, 2050, 3072, 12289, 40000});
  for (const size_t bytes : sizes) {
    for (const size_t from : {size_t{0}, size_t{3}}) {
      const size_t stride = bytes + from + 5;
      const std::vector<std::byte> rows = noise(kRows * stride);
      std::vector<std::byte> wanted;
      for (size_t i = 0; i < kRows; ++i) {
        const std::byte* row = rows.data() + order[i] * stride + from;
        wanted.insert(wanted.end(), row, row + bytes);
      }
      for (const GatherLoop loop : gather_loops(bytes)) {
        std::vector<std::byte> out(kRows * bytes + 1, std::byte{0x5A});
        loop(rows.data(), stride, from, bytes, order.data(), kRows, out.data());
        ASSERT_EQ(out.back(), std::byte{0x5A}) << bytes;
        out.pop_back();
        ASSERT_EQ(out, wanted) << bytes;
      }
    }
  }
}

class Rows : public testing::Test {
 protected:
  Rows() {
    dl_options* options = nullptr;
    EXPECT_EQ(dl_options_create(&options, nullptr), DL_OK);
    options_.reset(options);
  }

  void add(const char* name, int32_t dtype, std::vector<int64_t> shape, const void* data,
           const std::vector<int64_t>& offsets = {}) {
    shapes_.push_back(std::move(shape));
    auto& array = arrays_.emplace_back(sized<dl_array>());
    array.name = name;
    array.dtype = dtype;
    array.rank = static_cast<int32_t>(shapes_.back().size());
    array.shape = shapes_.back().data();
    array.data = data;
    if (offsets.empty()) return;
    array.kind = DL_KIND_RAGGED;
    array.offsets = offsets.data();
    array.sample_count = static_cast<int64_t>(offsets.size()) - 1;
  }

  StoredRows take(int64_t limit_bytes = int64_t{1} << 30) {
    dl_dataset* dataset = nullptr;
    dl_error error = DL_ERROR_INIT;
    check(dl_dataset_from_arrays(arrays_.data(), static_cast<int32_t>(arrays_.size()), nullptr, nullptr,
                                 nullptr, &dataset, &error),
          error);
    dataset_.reset(dataset);
    return take_rows(dataset, options_.get(), Region::Pages::kSmall, limit_bytes, interrupts_);
  }

  Interrupts interrupts_;
  Options options_;
  Dataset dataset_;
  std::vector<dl_array> arrays_;
  std::list<std::vector<int64_t>> shapes_;
};

TEST_F(Rows, AreTakenInFileOrder) {
  const auto images = noise(3000 * 12);
  const auto labels = noise(3000 * 8);
  add("image", DL_DTYPE_U8, {3000, 3, 4}, images.data());
  add("label", DL_DTYPE_I64, {3000}, labels.data());
  const StoredRows rows = take();
  EXPECT_EQ(rows.samples, 3000);
  EXPECT_EQ(rows.bytes(), 3000 * 20);
  ASSERT_EQ(rows.pieces.size(), 2u);
  EXPECT_EQ(std::memcmp(rows.pieces[0].memory.data(), images.data(), images.size()), 0);
  EXPECT_EQ(std::memcmp(rows.pieces[1].memory.data(), labels.data(), labels.size()), 0);
}

TEST_F(Rows, AreTheFirstThatFitTheLimit) {
  const auto images = noise(3000 * 12);
  add("image", DL_DTYPE_U8, {3000, 12}, images.data());
  const StoredRows rows = take(1000);
  EXPECT_EQ(rows.samples, 83);
  EXPECT_EQ(std::memcmp(rows.pieces[0].memory.data(), images.data(), 83 * 12), 0);
}

TEST_F(Rows, OfFieldsThatAreShiftedByOneItemAreKeptOnce) {
  const auto tokens = noise(500 * 22);
  std::vector<std::byte> x, y;
  for (size_t i = 0; i < 500; ++i) {
    const std::byte* row = tokens.data() + i * 22;
    x.insert(x.end(), row, row + 20);
    y.insert(y.end(), row + 2, row + 22);
  }
  add("x", DL_DTYPE_U16, {500, 10}, x.data());
  add("y", DL_DTYPE_U16, {500, 10}, y.data());
  const StoredRows rows = take();
  ASSERT_EQ(rows.pieces.size(), 1u);
  EXPECT_EQ(rows.pieces[0].row_bytes, 22);
  EXPECT_EQ(std::memcmp(rows.pieces[0].memory.data(), tokens.data(), tokens.size()), 0);
  ASSERT_EQ(rows.pieces[0].parts.size(), 2u);
  EXPECT_EQ(rows.pieces[0].parts[1].from, 2);
}

TEST_F(Rows, OfFieldsThatOnlyStartAlikeAreKeptApart) {
  std::vector<std::byte> x(200'000 * 10), y(200'000 * 10);
  y.back() = std::byte{1};
  y[y.size() - 5] = std::byte{1};
  add("x", DL_DTYPE_U8, {200'000, 10}, x.data());
  add("y", DL_DTYPE_U8, {200'000, 10}, y.data());
  const StoredRows rows = take();
  ASSERT_EQ(rows.pieces.size(), 2u);
  EXPECT_EQ(rows.samples, 200'000);
  EXPECT_EQ(std::memcmp(rows.pieces[1].memory.data(), y.data(), y.size()), 0);
}

TEST_F(Rows, OfDifferentLengthsKeepTheirOffsets) {
  std::vector<int64_t> offsets = {0};
  for (int64_t i = 0; i < 100; ++i) offsets.push_back(offsets.back() + i % 7);
  const auto items = noise(static_cast<size_t>(offsets.back()) * 4);
  add("text", DL_DTYPE_F32, {offsets.back()}, items.data(), offsets);
  const StoredRows rows = take();
  EXPECT_EQ(rows.samples, 100);
  ASSERT_EQ(rows.pieces.size(), 1u);
  EXPECT_EQ(rows.pieces[0].row_bytes, 0);
  for (size_t i = 0; i < offsets.size(); ++i) EXPECT_EQ(rows.pieces[0].offsets[i], offsets[i] * 4);
  EXPECT_EQ(std::memcmp(rows.pieces[0].memory.data(), items.data(), items.size()), 0);
}

// A batch that the bare gather fills is the batch that a loader delivers in that order.
TEST_F(Rows, GatheredIntoASlotAreTheLoadersBatch) {
  const auto images = noise(300 * 100);
  std::vector<std::byte> x, y;
  for (size_t i = 0; i < 300; ++i) {
    const std::byte* row = images.data() + i * 100;
    x.insert(x.end(), row, row + 96);
    y.insert(y.end(), row + 4, row + 100);
  }
  std::vector<int64_t> offsets = {0};
  for (int64_t i = 0; i < 300; ++i) offsets.push_back(offsets.back() + i % 5);
  add("x", DL_DTYPE_F32, {300, 24}, x.data());
  add("text", DL_DTYPE_U8, {offsets.back()}, images.data(), offsets);
  add("y", DL_DTYPE_F32, {300, 24}, y.data());
  const StoredRows rows = take();
  ASSERT_EQ(rows.pieces.size(), 2u);

  ASSERT_EQ(dl_options_set(options_.get(), "shuffle", "full", nullptr), DL_OK);
  ASSERT_EQ(dl_options_set(options_.get(), "batch_size", "128", nullptr), DL_OK);
  ASSERT_EQ(dl_options_set(options_.get(), "num_workers", "0", nullptr), DL_OK);
  dl_loader* raw = nullptr;
  ASSERT_EQ(dl_loader_create(dataset_.get(), options_.get(), &raw, nullptr), DL_OK);
  const Loader loader(raw);
  RowOrder order(1000);
  std::vector<Batch> batches;
  for (dl_batch* batch = nullptr; dl_loader_next(raw, -1, &batch, nullptr) == DL_OK;) {
    auto info = sized<dl_batch_info>();
    ASSERT_EQ(dl_batch_get_info(batch, &info, nullptr), DL_OK);
    order.add(info.sample_indices, info.samples);
    batches.emplace_back(batch);
  }
  ASSERT_EQ(batches.size(), 3u);
  order.finish(rows.samples);

  const Yardsticks yardsticks(rows, order, 8, 1, 0.001);
  std::vector<std::byte> slot(yardsticks.slot_bytes());
  for (size_t b = 0; b < batches.size(); ++b) {
    yardsticks.fill(b, slot.data());
    int32_t count = 0;
    const dl_view* views = dl_batch_views(batches[b].get(), &count);
    const size_t x_room = (128 * 96 + 255) / 256 * 256;  // x, then y, then the ragged text
    const auto same = [&](const dl_view& view, size_t at) {
      return std::memcmp(slot.data() + at, static_cast<const std::byte*>(view.data) + view.byte_offset,
                         static_cast<size_t>(view.bytes)) == 0;
    };
    EXPECT_TRUE(same(views[0], 0)) << b;
    EXPECT_TRUE(same(views[2], x_room)) << b;
    EXPECT_TRUE(same(views[1], 2 * x_room)) << b;
  }
  EXPECT_GT(yardsticks.gather(0.01).samples_per_s, 0);
  EXPECT_GT(yardsticks.memcpy_bytes_per_s(0.01), 0);
  const Yardsticks threads(rows, order, 2, 3, 0.001);
  const Gathered three = threads.gather(0.01);
  EXPECT_GT(three.samples_per_s, 0);
  EXPECT_GT(three.cpu_seconds, 0);
}

}  // namespace
}  // namespace dataline::cli::yardsticks_test
