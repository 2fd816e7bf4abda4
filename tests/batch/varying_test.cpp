// Images whose size differs from record to record: packed when they agree, told apart when they do not.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "core/batch/slot.h"

namespace dataline::varying_test {
namespace {

constexpr int64_t kShare = 100;

struct Image {
  int64_t sample = 0, height = 0, width = 0;
  std::string bytes() const {
    std::string out(static_cast<size_t>(height * width * 3), '\0');
    for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<char>(sample * 31 + static_cast<int64_t>(i));
    return out;
  }
  std::string text() const { return std::string(static_cast<size_t>(sample % 5), static_cast<char>(sample)); }
};

// Fields: an i64 label, text of its own length, an image in HWC or CHW.
class Varying : public ::testing::Test {
 protected:
  explicit Varying(bool planar = false) {
    const Field image = planar ? Field{"image", FieldKind::kDense, DType::kU8, {3, -1, -1}, "CHW", -1}
                               : Field{"image", FieldKind::kDense, DType::kU8, {-1, -1, 3}, "HWC", -1};
    outputs_ = {
        OutputField{.field = {"label", FieldKind::kDense, DType::kI64, {}, "", -1}, .row_stride_bytes = 8},
        OutputField{.field = {"text", FieldKind::kRagged, DType::kU8, {-1}, "", -1}, .storage = 1},
        OutputField{.field = image, .storage = 2}};
    Storage label, text, pixels;
    label.row_bytes = 8;
    text.kind = FieldKind::kRagged;
    text.row_bytes = 4;
    pixels.varies = true;
    pixels.row_bytes = kShare;
    layout_ = plan_layout({label, text, pixels}, {}, 8).take();
    memory_.reset(static_cast<std::byte*>(
        ::operator new (static_cast<size_t>(layout_.slot_bytes), std::align_val_t{kTensorAlignment})));
    std::memset(memory_.get(), 0, static_cast<size_t>(layout_.slot_bytes));
    slot_ = std::make_unique<Slot>(layout_, outputs_, SlotPlace{.host = memory_.get()});
  }

  void open(const std::vector<Image>& images, int64_t valid) {
    slot_->open(0, 0, 50, static_cast<int64_t>(images.size()), valid);
    for (size_t row = 0; row < images.size(); ++row) {
      const Image& image = images[row];
      slot_->sample_indices[row] = image.sample;
      std::memcpy(slot_->rows(0) + row * 8, &image.sample, 8);
      std::memcpy(slot_->rows(1) + row * 4, image.text().data(), image.text().size());
      slot_->row_bytes(1)[row] = static_cast<int64_t>(image.text().size());
      std::memcpy(slot_->rows(2) + row * kShare, image.bytes().data(), image.bytes().size());
      slot_->row_bytes(2)[row] = static_cast<int64_t>(image.bytes().size());
      slot_->extents(2)[2 * row] = image.height;
      slot_->extents(2)[2 * row + 1] = image.width;
    }
  }
  void fail(int64_t row, int64_t replacement, int64_t sample) {
    BadRow bad;
    bad.row = row;
    bad.slot = 50 + row;
    bad.record = sample;
    bad.replacement = replacement;
    bad.cause = error(Code::kCorrupt, "broken");
    if (replacement < 0) slot_->row_bytes(1)[row] = slot_->row_bytes(2)[row] = 0;
    slot_->add_bad(std::move(bad));
  }
  void finish() {
    slot_->finish();
    slot_->drop_bad_rows();
  }

  void expect(const std::vector<Image>& images) {
    std::string labels, text, pixels;
    for (const Image& image : images) {
      labels.append(reinterpret_cast<const char*>(&image.sample), 8);
      text += image.text();
      pixels += image.bytes();
    }
    ASSERT_EQ(slot_->samples, static_cast<int64_t>(images.size()));
    EXPECT_EQ(bytes_of(0), labels);
    EXPECT_EQ(bytes_of(1), text);
    EXPECT_EQ(bytes_of(2), pixels);
    EXPECT_EQ(slot_->used_bytes(2), static_cast<int64_t>(pixels.size()));
  }
  std::string bytes_of(size_t field) const {
    const BatchView& view = slot_->views.views()[field];
    return {static_cast<const char*>(view.data), static_cast<size_t>(view.bytes)};
  }
  std::vector<int64_t> shape(size_t field) const {
    const BatchView& view = slot_->views.views()[field];
    return {view.shape, view.shape + view.rank};
  }
  std::vector<int64_t> strides(size_t field) const {
    const BatchView& view = slot_->views.views()[field];
    return {view.strides, view.strides + view.rank};
  }

  struct Free {
    void operator()(std::byte* memory) const {
      ::operator delete (memory, std::align_val_t{kTensorAlignment});
    }
  };
  std::vector<OutputField> outputs_;
  Layout layout_;
  std::unique_ptr<std::byte, Free> memory_;
  std::unique_ptr<Slot> slot_;
};

class PlanarVarying : public Varying {
 protected:
  PlanarVarying() : Varying(true) {}
};

TEST_F(Varying, ImagesOfOneSizeArePackedAndTheViewHasIt) {
  const std::vector<Image> images = {{3, 2, 4}, {9, 2, 4}, {1, 2, 4}};
  open(images, 3);
  finish();
  EXPECT_TRUE(slot_->bad_rows().empty());
  expect(images);
  EXPECT_EQ(shape(2), (std::vector<int64_t>{3, 2, 4, 3}));
  EXPECT_EQ(strides(2), (std::vector<int64_t>{24, 12, 3, 1}));
}

TEST_F(Varying, TheNextBatchMayHaveAnotherSize) {
  open({{3, 2, 4}, {9, 2, 4}}, 2);
  finish();
  const std::vector<Image> images = {{5, 5, 1}, {6, 5, 1}};
  open(images, 2);
  finish();
  expect(images);
  EXPECT_EQ(shape(2), (std::vector<int64_t>{2, 5, 1, 3}));
  EXPECT_EQ(strides(2), (std::vector<int64_t>{15, 3, 3, 1}));
}

TEST_F(PlanarVarying, TheAxesSayWhichDimIsWhich) {
  open({{3, 2, 4}, {9, 2, 4}}, 2);
  finish();
  EXPECT_EQ(shape(2), (std::vector<int64_t>{2, 3, 2, 4}));
  EXPECT_EQ(strides(2), (std::vector<int64_t>{24, 8, 4, 1}));
}

TEST_F(Varying, AnotherSizeIsABadSampleThatNamesBoth) {
  open({{3, 2, 4}, {9, 5, 1}, {1, 2, 4}, {7, 3, 3}}, 4);
  finish();
  expect({{3, 2, 4}, {1, 2, 4}});
  EXPECT_EQ(slot_->skipped, 2);
  ASSERT_EQ(slot_->bad_rows().size(), 2u);
  const BadRow& bad = slot_->bad_rows()[0];
  EXPECT_EQ(bad.row, 1);
  EXPECT_EQ(bad.slot, 51);
  EXPECT_EQ(bad.record, 9);
  EXPECT_EQ(bad.replacement, -1);
  EXPECT_EQ(bad.cause.code(), Code::kMismatch);
  EXPECT_EQ(bad.cause.message(),
            "field 'image': sample 9 is 1 wide, 5 high, sample 3 of the same batch is 4 wide, 2 high: all "
            "images of a batch must have one size; add resize([h, w]) or random_resized_crop(size), or "
            "resize(bucket) with bucket_by=aspect");
  EXPECT_EQ(slot_->bad_rows()[1].record, 7);
}

TEST_F(Varying, TheFirstGoodSampleGivesTheSize) {
  open({{3, 2, 4}, {9, 5, 5}, {1, 2, 4}, {7, 5, 5}}, 4);
  fail(0, -1, 3);
  finish();
  expect({{9, 5, 5}, {7, 5, 5}});
  ASSERT_EQ(slot_->bad_rows().size(), 2u);
  EXPECT_EQ(slot_->bad_rows()[1].record, 1);
}

TEST_F(Varying, AStandInOfAnotherSizeIsTakenOutAndTheSampleItStoodForIsNamed) {
  open({{3, 2, 4}, {8, 5, 5}, {1, 2, 4}}, 3);
  fail(1, 8, 6);
  finish();
  expect({{3, 2, 4}, {1, 2, 4}});
  ASSERT_EQ(slot_->bad_rows().size(), 1u);
  const BadRow& bad = slot_->bad_rows()[0];
  EXPECT_EQ(bad.record, 6);
  EXPECT_EQ(bad.replacement, -1);
  EXPECT_EQ(bad.cause.code(), Code::kCorrupt);
  EXPECT_TRUE(bad.cause.message().starts_with("broken; its replacement failed too: field 'image': sample 8"))
      << bad.cause.message();
  EXPECT_EQ(slot_->skipped, 1);
}

TEST_F(Varying, PadsOfAnotherSizeAreNoSkippedSamples) {
  open({{3, 2, 4}, {1, 2, 4}, {8, 5, 5}}, 2);
  finish();
  expect({{3, 2, 4}, {1, 2, 4}});
  EXPECT_EQ(slot_->skipped, 0);
  EXPECT_EQ(slot_->valid, 2);
  ASSERT_EQ(slot_->bad_rows().size(), 1u);
  EXPECT_TRUE(slot_->bad_rows()[0].pad);
}

TEST_F(Varying, ABatchWithoutAGoodSampleIsEmpty) {
  open({{3, 2, 4}}, 1);
  fail(0, -1, 3);
  finish();
  expect({});
  EXPECT_EQ(shape(2), (std::vector<int64_t>{0, 0, 0, 3}));
}

TEST(VaryingViews, ASizeTakenFromAnotherSetCountsForAsManySamplesAsBefore) {
  const std::vector<OutputField> outputs = {
      OutputField{.field = {"image", FieldKind::kDense, DType::kU8, {-1, -1, 3}, "HWC", -1}}};
  ViewSet small(outputs, /*with_batch=*/true), large(outputs, /*with_batch=*/true);
  small.set_extent(0, 2, 1);
  small.set_samples(5);
  EXPECT_EQ(small.views()[0].bytes, 5 * 2 * 1 * 3);
  large.set_extent(0, 4, 6);
  small.set_extents_of(large);
  small.set_samples(5);
  EXPECT_EQ(small.views()[0].bytes, 5 * 4 * 6 * 3);
}

TEST(VaryingSchema, SizesAndBytesAreUnknown) {
  const std::vector<OutputField> outputs = {
      OutputField{.field = {"image", FieldKind::kDense, DType::kU8, {-1, -1, 3}, "HWC", -1}}};
  ViewSet views(outputs, /*with_batch=*/true);
  views.set_schema_rows(16);
  const BatchView& view = views.views()[0];
  EXPECT_EQ((std::vector<int64_t>(view.shape, view.shape + view.rank)),
            (std::vector<int64_t>{16, -1, -1, 3}));
  EXPECT_EQ(view.bytes, -1);
  EXPECT_STREQ(view.axes, "NHWC");
}

}  // namespace
}  // namespace dataline::varying_test
