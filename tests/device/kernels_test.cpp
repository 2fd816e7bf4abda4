// The kernels against the host's programs, bit for bit: every type, layout and channel count, crops and flips, gathers
// by index, rows of odd sizes and places. On the fake driver, whose twins run the kernels' own bodies; with
// DATALINE_CUDA_LIBRARY=libcuda.so.1 on a real device, with the kernels that this build holds.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "core/base/text.h"
#include "core/transform/transform.h"
#include "tests/device/kernel_bench.h"
#include "tests/transform/support/runner.h"

namespace dataline::tests::kernels_test {
namespace {

using Rows = std::vector<std::vector<std::byte>>;

Field field_of(DType dtype, std::vector<int64_t> shape, std::string axes = "") {
  Field out;
  out.name = "data";
  out.dtype = dtype;
  out.shape = std::move(shape);
  out.axes = std::move(axes);
  return out;
}

class Kernels : public KernelBench {
 protected:
  // How many of the texts a kernel ran.
  int64_t expect_equal(const Field& field, const std::vector<std::string>& texts, const Places& places = {},
                       int64_t count = 5) {
    int64_t ran = 0;
    Rows rows;
    for (int64_t i = 0; i < count; ++i)
      rows.push_back(finite_tensor(field.dtype, field.shape, field.axes, static_cast<uint64_t>(i) + 9).bytes);
    RunSetup setup;
    setup.seed = 5;
    setup.epoch = 1;
    setup.first_slot = 77;
    for (const std::string& text : texts) {
      auto splits = compile_transforms(text, std::span(&field, 1));
      EXPECT_TRUE(splits.is_ok()) << text;
      const std::optional<DeviceSplit>& split = splits.value().splits[0];
      if (!split || !kernels().runs(split->tail)) continue;
      ++ran;
      const Rows crossed = split->host ? run_program(*split->host, text, rows, setup).rows : rows;
      Rows views;
      if (split->geometry) views = run_program(*split->geometry, text, rows, setup).rows;
      const Rows whole = run_transform(text, field, rows, setup).rows;
      Rows expected;
      for (int64_t row : places.index) expected.push_back(whole[static_cast<size_t>(row)]);
      EXPECT_TRUE(run_tail(split->tail, crossed, views, places) == (places.index.empty() ? whole : expected))
          << text << " on " << field_type_text(field) << field.axes;
    }
    return ran;
  }
};

const std::vector<std::string> kPlaces = {"chw",
                                          "hwc",
                                          "random_crop([7,8], padding=3), hflip",
                                          "center_crop(4x4), chw",
                                          "hflip(1), chw",
                                          "hflip(1), hwc",
                                          "random_crop(6, padding=2, fill=1), chw",
                                          "random_crop([3,5], padding=1), hwc",
                                          "random_crop(8, padding=9, fill=1), hflip, chw"};

TEST_F(Kernels, EveryPairOfTypesAndEveryLayout) {
  for (DType from : {DType::kU8, DType::kU16, DType::kI32, DType::kF32, DType::kF16, DType::kBf16}) {
    for (const char* to : {"f32", "f16", "bf16", "i64"}) {
      std::vector<std::string> texts;
      for (const std::string& places : kPlaces) {
        texts.push_back(concat(places, ", scale(0.37), cast(", to, ")"));
        texts.push_back(concat(places, ", cast(", to, ")"));
        texts.push_back(places);
      }
      for (int64_t channels : {1, 3, 4, 7}) {
        EXPECT_GE(expect_equal(field_of(from, {9, 8, channels}, "HWC"), texts), 7);
        EXPECT_GE(expect_equal(field_of(from, {channels, 6, 9}, "CHW"), texts), 7);
      }
      EXPECT_GE(expect_equal(field_of(from, {13, 6}, "HW"), texts), 7);
    }
  }
}

TEST_F(Kernels, ValuesAChannelWhereverTheChannelLies) {
  const std::vector<std::string> texts = {
      "normalize(mean=[0.1,0.2,0.3], std=[1,2,3])",
      "chw, normalize(mean=[0.1,0.2,0.3], std=[1,2,3]), cast(f16)",
      "hwc, normalize(mean=[0.1,0.2,0.3], std=[1,2,3]), cast(bf16)",
      "scale(0.5), scale(3), normalize(mean=[0.1,0.2,0.3], std=[1,2,3]), cast(i64)",
      "random_crop(4, padding=2), hflip, normalize(mean=[0.1,0.2,0.3], std=[1,2,3])"};
  for (DType from : {DType::kU8, DType::kU16}) {
    EXPECT_EQ(expect_equal(field_of(from, {5, 7, 3}, "HWC"), texts), 5);
    EXPECT_EQ(expect_equal(field_of(from, {3, 5, 7}, "CHW"), texts), 5);
    EXPECT_EQ(expect_equal(field_of(from, {2, 3, 4, 5}, "TCHW"), {texts[0]}), 1);
  }
}

TEST_F(Kernels, FlatRowsOfEveryLengthAndPlace) {
  for (int64_t length : {1, 2, 3, 7, 16, 17, 31, 64, 100}) {
    for (DType from : {DType::kU8, DType::kU16, DType::kI32, DType::kI64, DType::kF32}) {
      for (int64_t offset : {0, 1, 2}) {
        Places places;
        places.source_offset = offset * dtype_bytes(from);
        places.source_gap = offset == 1 ? dtype_bytes(from) : 0;
        const int64_t ran =
            expect_equal(field_of(from, {length}),
                         {"cast(f32)", "cast(f16)", "cast(bf16)", "cast(i64)", "scale(0.1)"}, places);
        EXPECT_GE(ran, 3) << dtype_name(from);
      }
    }
  }
}

TEST_F(Kernels, ResidentRowsAreGatheredByIndex) {
  Places places;
  places.index = {4, 0, 0, 3, 2, 1, 4};
  for (int64_t offset : {0, 3}) {
    places.source_offset = offset;
    EXPECT_EQ(expect_equal(field_of(DType::kU8, {13}), {"scale(2)", "cast(i64)"}, places), 2);
    EXPECT_EQ(expect_equal(field_of(DType::kU8, {6, 8, 3}, "HWC"), kPlaces, places), 8);
    EXPECT_EQ(expect_equal(field_of(DType::kU8, {3, 5, 7}, "CHW"), kPlaces, places), 8);
  }
}

// Words are only loaded and stored where they are aligned: a device faults where they are not, and the fake's twins do too.
TEST_F(Kernels, RowsMayBeginAndEndAtAnyElementOnBothSides) {
  Places places;
  for (DType from : {DType::kU8, DType::kU16, DType::kI32, DType::kI64, DType::kF32, DType::kF16}) {
    const int64_t bytes = dtype_bytes(from);
    for (int64_t before : {0, 1, 3}) {
      for (const bool gather : {false, true}) {
        places.index = gather ? std::vector<int64_t>{4, 0, 0, 3, 2, 1, 4} : std::vector<int64_t>();
        places.source_offset = before * bytes;
        places.source_gap = before == 3 ? bytes : 0;
        for (const auto& [to, to_bytes] : {std::pair{"f32", 4}, {"f16", 2}, {"i64", 8}}) {
          places.target_offset = before * to_bytes;
          const std::string cast = concat("cast(", to, ")");
          expect_equal(field_of(from, {7}), {cast, concat("scale(0.5), ", cast)}, places);
          expect_equal(field_of(from, {5, 7, 3}, "HWC"),
                       {concat("chw, ", cast), concat("random_crop(3, padding=1), hflip, chw, ", cast),
                        concat("random_crop([3,5], padding=1), hwc, ", cast)},
                       places);
        }
        places.target_offset = before * bytes;
        EXPECT_GE(expect_equal(field_of(from, {5, 7, 3}, "HWC"), kPlaces, places), 7) << dtype_name(from);
      }
    }
  }
}

TEST_F(Kernels, MovesOfEveryElementSize) {
  for (DType dtype : {DType::kI8, DType::kI16, DType::kU32, DType::kF64, DType::kC128}) {
    EXPECT_EQ(expect_equal(field_of(dtype, {6, 8, 3}, "HWC"), kPlaces), 8);
    EXPECT_EQ(expect_equal(field_of(dtype, {3, 6, 8}, "CHW"), kPlaces), 8);
  }
}

TEST_F(Kernels, WholeRowsAreGatheredAsBytes) {
  for (int64_t bytes : {1, 3, 4, 8, 12, 16, 24, 48, 100, 4096}) {
    for (int64_t offset : {0, 1, 4, 8}) {
      Tail tail;
      tail.from = tail.to = DType::kU8;
      tail.in_width = tail.out_width = bytes;
      Rows rows, expected;
      for (uint64_t i = 0; i < 6; ++i) rows.push_back(random_tensor(DType::kU8, {bytes}, "", i).bytes);
      Places places;
      places.index = {5, 1, 1, 0, 4, 3, 2, 5, 5};
      places.source_offset = offset;
      for (int64_t row : places.index) expected.push_back(rows[static_cast<size_t>(row)]);
      ASSERT_TRUE(kernels().runs(tail));
      EXPECT_TRUE(run_tail(tail, rows, {}, places) == expected) << bytes << " bytes at " << offset;
    }
  }
}

TEST_F(Kernels, ManyRowsFillSeveralBlocks) {
  EXPECT_EQ(expect_equal(field_of(DType::kU8, {32, 32, 3}, "HWC"),
                         {"random_crop(32, padding=4), hflip, chw, normalize(cifar10)",
                          "normalize(cifar10), cast(bf16)"},
                         {}, 100),
            2);
  EXPECT_EQ(expect_equal(field_of(DType::kU16, {257}), {"cast(i64)"}, {}, 1000), 1);
}

TEST_F(Kernels, WhatTheyDoNotDoIsSaidBefore) {
  Tail tail;
  tail.from = DType::kF64;
  EXPECT_FALSE(kernels().runs(tail));
  tail.from = DType::kU8;
  EXPECT_TRUE(kernels().runs(tail));
  tail.affines.assign(9, {{1.0f}, {0.0f}});
  EXPECT_FALSE(kernels().runs(tail));
  tail.affines.assign(1, {std::vector<float>(300, 1.0f), std::vector<float>(300, 0.0f)});
  tail.channels = 300;
  EXPECT_FALSE(kernels().runs(tail));
  tail.affines.clear();
  EXPECT_TRUE(kernels().runs(tail));
  tail.in_width = tail.out_width = int64_t{1} << 31;
  EXPECT_FALSE(kernels().runs(tail));
}

}  // namespace
}  // namespace dataline::tests::kernels_test
