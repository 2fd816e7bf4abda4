// A program cut in two for a device: what its tail is, and that host part, geometry and tail together make what the
// whole program makes, bit for bit. The tail is run by a twin written from core/base/tail.h.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <optional>

#include "core/base/text.h"
#include "core/transform/transform.h"
#include "tests/transform/support/runner.h"
#include "tests/transform/support/tail_twin.h"

namespace dataline::tests::split_test {
namespace {

std::optional<DeviceSplit> split_one(std::string_view text, const Field& field) {
  auto split = compile_transforms(text, std::span(&field, 1));
  EXPECT_TRUE(split.is_ok()) << text;
  return std::move(split.value().splits[0]);
}

Field field_of(DType dtype, std::vector<int64_t> shape, std::string axes = "") {
  Field out;
  out.name = "data";
  out.dtype = dtype;
  out.shape = std::move(shape);
  out.axes = std::move(axes);
  return out;
}

std::vector<std::vector<std::byte>> in_two_parts(const DeviceSplit& split,
                                                 const std::vector<std::vector<std::byte>>& rows,
                                                 const RunSetup& setup) {
  std::vector<std::vector<std::byte>> crossed = rows, views, out;
  if (split.host) crossed = run_program(*split.host, "host part", rows, setup).rows;
  if (split.geometry) {
    RunSetup plain = setup;
    plain.target_stride = -1;
    views = run_program(*split.geometry, "geometry", rows, plain).rows;
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    TailGeometry view = split.tail.view;
    if (split.geometry) std::memcpy(&view, views[i].data(), sizeof view);
    out.push_back(twin_tail(split.tail, crossed[i], view));
  }
  return out;
}

// How many of the texts have a tail.
int64_t expect_equal(const Field& field, const std::vector<std::string>& texts, int64_t rows_count = 5) {
  int64_t cut = 0;
  for (const std::string& text : texts) {
    std::vector<std::vector<std::byte>> rows;
    for (int64_t i = 0; i < rows_count; ++i)
      rows.push_back(finite_tensor(field.dtype, field.shape, field.axes, static_cast<uint64_t>(i)).bytes);
    RunSetup setup;
    setup.seed = 11;
    setup.epoch = 2;
    setup.first_slot = 1000;
    setup.run_rows = 2;
    const std::optional<DeviceSplit> split = split_one(text, field);
    if (!split) continue;
    ++cut;
    EXPECT_EQ(run_transform(text, field, rows, setup).rows, in_two_parts(*split, rows, setup))
        << text << " on " << field_type_text(field);
  }
  return cut;
}

TEST(Split, ATailMakesWhatTheProgramMakesForEveryTypeAndLayout) {
  for (DType from : {DType::kU8, DType::kU16, DType::kI32, DType::kF32, DType::kF16, DType::kBf16}) {
    for (const char* to : {"f32", "f16", "bf16", "i64"}) {
      std::vector<std::string> texts;
      for (const char* places :
           {"chw", "hwc", "random_crop([7,5], padding=3), hflip", "center_crop(3x4), chw", "hflip(1), hwc",
            "random_crop(6, padding=2, fill=1), chw"}) {
        texts.push_back(concat(places, ", scale(0.37), cast(", to, ")"));
        texts.push_back(concat(places, ", scale(3), scale(0.1)"));
        texts.push_back(std::string(places));
      }
      for (int64_t channels : {1, 3, 4, 7}) {
        EXPECT_GT(expect_equal(field_of(from, {9, 6, channels}, "HWC"), texts), 6);
        EXPECT_GT(expect_equal(field_of(from, {channels, 6, 9}, "CHW"), texts), 6);
      }
      EXPECT_GT(expect_equal(field_of(from, {13, 6}, "HW"), texts), 6);
      EXPECT_EQ(expect_equal(field_of(from, {13}), {concat("scale(2), cast(", to, ")")}), 1);
    }
  }
}

TEST(Split, FlatRowsKnowTheChannelOfEachElement) {
  const std::string text = "normalize(mean=[0.1,0.2,0.3], std=[1,2,3])";
  const std::optional<DeviceSplit> last = split_one(text, field_of(DType::kU8, {5, 4, 3}, "HWC"));
  ASSERT_TRUE(last);
  EXPECT_EQ(last->tail.channels, 3);
  EXPECT_EQ(last->tail.in_width, 20);
  EXPECT_FALSE(last->tail.in_planar || last->tail.moves);
  const std::optional<DeviceSplit> between = split_one(text, field_of(DType::kU8, {2, 3, 4, 5}, "TCHW"));
  ASSERT_TRUE(between);
  EXPECT_EQ(between->tail.images, 2);
  EXPECT_EQ(between->tail.in_width, 20);
  EXPECT_TRUE(between->tail.in_planar && between->tail.out_planar);
  EXPECT_EQ(between->tail.in_bytes(), 120);
  EXPECT_EQ(between->tail.out_bytes(), 480);
  EXPECT_EQ(expect_equal(field_of(DType::kU8, {2, 3, 4, 5}, "TCHW"), {text}), 1);
  EXPECT_EQ(expect_equal(field_of(DType::kU16, {3, 4, 5}, "CHW"), {text}), 1);
  EXPECT_EQ(expect_equal(field_of(DType::kU8, {5, 4, 3}, "HWC"), {text}), 1);
}

TEST(Split, GeometryCrossesOnlyWhereRowsDiffer) {
  const Field image = field_of(DType::kU8, {32, 32, 3}, "HWC");
  EXPECT_TRUE(split_one("random_crop(32, padding=4), scale(2)", image)->geometry);
  EXPECT_TRUE(split_one("hflip", image)->geometry);
  for (const char* text : {"chw", "center_crop(8)", "hflip(1), chw", "hflip(0)"}) {
    const std::optional<DeviceSplit> split = split_one(text, image);
    ASSERT_TRUE(split) << text;
    EXPECT_EQ(split->geometry, nullptr) << text;
    EXPECT_FALSE(split->tail.geometry) << text;
  }
}

TEST(Split, GeometryIsWrittenForAbsentRowsToo) {
  const std::optional<DeviceSplit> split =
      split_one("random_crop(8, padding=2)", field_of(DType::kU8, {9, 9}, "HW"));
  std::vector<TailGeometry> views(3);
  FieldRows rows;
  rows.count = 3;
  rows.target = reinterpret_cast<std::byte*>(views.data());
  rows.target_stride = sizeof(TailGeometry);
  split->geometry->run(rows);
  for (const TailGeometry& view : views) EXPECT_TRUE(view.x.sign == 1 && view.y.high > view.y.low);
}

TEST(Split, TheHostKeepsWhatComesBeforeTheLastPass) {
  const std::optional<DeviceSplit> split =
      split_one("random_crop(28, padding=2), scale(0.5), random_crop(28, padding=1, fill=3) , hflip, chw",
                field_of(DType::kU8, {28, 28, 3}, "HWC"));
  ASSERT_TRUE(split && split->host);
  EXPECT_TRUE(split->host->draws());
  EXPECT_EQ(split->host_text, "random_crop(28, padding=2), scale(0.5)");
  EXPECT_EQ(split->device_text, "random_crop(28, padding=1, fill=3), hflip, chw");
  EXPECT_EQ(split->tail.from, DType::kF32);
  EXPECT_EQ(split->host->output().bytes(), split->tail.in_bytes());
  const std::optional<DeviceSplit> labels =
      split_one("one_hot(10, dtype=u8), cast(f16)", field_of(DType::kU8, {}));
  ASSERT_TRUE(labels && labels->host);
  EXPECT_FALSE(labels->host->draws());
  EXPECT_EQ(labels->host_text, "one_hot(10, dtype=u8)");
  EXPECT_EQ(labels->device_text, "cast(f16)");
  const std::optional<DeviceSplit> all = split_one("cast(i64)", field_of(DType::kU16, {1024}, "T"));
  ASSERT_TRUE(all);
  EXPECT_EQ(all->host, nullptr);
  EXPECT_EQ(all->host_text, "");
}

TEST(Split, WhatNoDeviceRunsStaysWhole) {
  Field ragged = field_of(DType::kU8, {-1});
  ragged.kind = FieldKind::kRagged;
  EXPECT_FALSE(split_one("scale(2)", ragged));
  EXPECT_FALSE(split_one("scale(2), pad_to(9)", ragged));
  const Field image = field_of(DType::kU8, {4, 4, 3}, "HWC");
  EXPECT_FALSE(split_one("", image));
  EXPECT_FALSE(split_one("flatten", image));
  EXPECT_FALSE(split_one("chw, hwc", image));
  EXPECT_FALSE(split_one("cast(f64)", image));
  EXPECT_FALSE(split_one("cast(f16), scale(2)", image));
  EXPECT_FALSE(split_one("scale(2), cast(f16), cast(f32)", image));
  EXPECT_FALSE(split_one("one_hot(3)", field_of(DType::kU8, {})));
  EXPECT_FALSE(split_one("pad_to(9), cast(f32)", field_of(DType::kU8, {4})));
  EXPECT_FALSE(split_one("cast(f32)", field_of(DType::kF64, {4})));
  EXPECT_TRUE(split_one("hflip", field_of(DType::kC128, {4, 4}, "HW"))) << "a move is of any type";
}

}  // namespace
}  // namespace dataline::tests::split_test
