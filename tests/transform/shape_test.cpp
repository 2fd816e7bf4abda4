// Operators that change the shape: chw, hwc, reshape, flatten, pad_to, one_hot.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/transform/support/runner.h"
#include "tests/transform/support/twin.h"

namespace dataline::tests::shape_test {
namespace {

void expect_on_all_targets(const std::string& text, const Tensor& in, const Tensor& expected) {
  for (SimdTarget target : simd_targets()) {
    RunSetup setup;
    setup.target = target;
    setup.misalignment = 1;
    EXPECT_EQ(difference(expected, transform_one(text, in, setup)), "")
        << text << " of " << field_type_text(in.field("")) << " " << in.axes << ", "
        << simd_target_name(target);
  }
}

TEST(Layout, EveryElementSizeAndChannelCountEqualsTheTwin) {
  for (DType dtype : {DType::kU8, DType::kBf16, DType::kF32, DType::kF64, DType::kC128}) {
    for (int64_t channels : {1, 2, 3, 4, 7}) {
      for (int64_t side : {1, 3, 8, 17, 40}) {
        const Tensor hwc = random_tensor(dtype, {side, side + 2, channels}, "HWC", 6);
        const Tensor chw = random_tensor(dtype, {channels, side + 2, side}, "CHW", 7);
        expect_on_all_targets("chw", hwc, twin_chw(hwc));
        expect_on_all_targets("hwc", chw, twin_hwc(chw));
        expect_on_all_targets("chw", chw, chw);
        expect_on_all_targets("hwc", hwc, hwc);
        expect_on_all_targets("chw, hwc", hwc, hwc);
      }
    }
  }
}

TEST(Layout, LargeImagesGoThroughSeveralBlocks) {
  const Tensor hwc = random_tensor(DType::kU8, {224, 224, 3}, "HWC", 1);
  const Tensor chw = random_tensor(DType::kU8, {3, 224, 219}, "CHW", 1);
  expect_on_all_targets("chw", hwc, twin_chw(hwc));
  expect_on_all_targets("hwc", chw, twin_hwc(chw));
  expect_on_all_targets("normalize(imagenet), chw", hwc,
                        twin_chw(twin_normalize(hwc, {0.485, 0.456, 0.406}, {0.229, 0.224, 0.225})));
  expect_on_all_targets(
      "hwc, normalize(imagenet), cast(bf16)", chw,
      twin_cast(twin_normalize(twin_hwc(chw), {0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}), DType::kBf16));
}

TEST(Layout, WithoutAxesThreeDimsAreWhatIsNotAskedFor) {
  const Tensor bare = random_tensor(DType::kU8, {5, 6, 3}, "", 2);
  expect_on_all_targets("chw", bare, twin_chw(bare));
  expect_on_all_targets("hwc", bare, twin_hwc(bare));
  EXPECT_EQ(transform_one("chw", bare).shape, (std::vector<int64_t>{3, 5, 6}));
  EXPECT_EQ(transform_one("hwc", bare).shape, (std::vector<int64_t>{6, 3, 5}));
}

TEST(Layout, GreyImagesGainADimAndStayTheSameBytes) {
  for (const char* axes : {"HW", ""}) {
    const Tensor grey = random_tensor(DType::kU8, {28, 20}, axes, 2);
    const Tensor chw = transform_one("chw", grey), hwc = transform_one("hwc", grey);
    EXPECT_EQ(chw.shape, (std::vector<int64_t>{1, 28, 20}));
    EXPECT_EQ(chw.axes, "CHW");
    EXPECT_EQ(hwc.shape, (std::vector<int64_t>{28, 20, 1}));
    EXPECT_EQ(hwc.axes, "HWC");
    EXPECT_EQ(chw.bytes, grey.bytes);
    EXPECT_TRUE(run_transform("chw", grey.field("data"), {grey.bytes}).identity);
  }
}

TEST(Shape, ReshapeAndFlattenAreCopiesWithoutAxes) {
  const Tensor in = random_tensor(DType::kF32, {4, 6, 3}, "HWC", 3);
  for (const auto& [text, shape] :
       std::vector<std::pair<std::string, std::vector<int64_t>>>{{"reshape(72)", {72}},
                                                                 {"reshape(8x9)", {8, 9}},
                                                                 {"reshape([2, 3, 12])", {2, 3, 12}},
                                                                 {"flatten", {72}}}) {
    expect_on_all_targets(text, in, twin_reshape(in, shape));
    EXPECT_TRUE(run_transform(text, in.field("data"), {in.bytes}).identity);
  }
  const Tensor scalar = random_tensor(DType::kI64, {}, "", 3);
  expect_on_all_targets("flatten", scalar, twin_reshape(scalar, {1}));
}

TEST(Shape, AReshapeBetweenImageOperatorsStartsOver) {
  const Tensor in = random_tensor(DType::kU8, {4, 6, 3}, "HWC", 3);
  const std::vector<double> mean = {0.1, 0.2, 0.3}, deviation = {0.4, 0.5, 0.6};
  Tensor expected = twin_chw(twin_reshape(twin_chw(in), {6, 4, 3}));
  expect_on_all_targets("chw, reshape(6x4x3), chw", in, expected);
  expected = twin_chw(twin_reshape(twin_normalize(in, mean, deviation), {2, 12, 3}));
  expected = twin_normalize(expected, mean, deviation);
  expect_on_all_targets(
      "normalize(mean=[0.1, 0.2, 0.3], std=[0.4, 0.5, 0.6]), reshape(2x12x3), chw, "
      "normalize(mean=[0.1, 0.2, 0.3], std=[0.4, 0.5, 0.6])",
      in, expected);
}

TEST(PadTo, DenseRowsAreFilledOnTheFirstDim) {
  for (DType dtype : kAllDtypes) {
    for (int64_t length : {5, 6, 100, 1024}) {
      const Tensor flat = random_tensor(dtype, {5}, "", 4), deep = random_tensor(dtype, {5, 3}, "", 4);
      expect_on_all_targets(concat("pad_to(", length, ")"), flat, settled(twin_pad_to(flat, length, 0)));
      expect_on_all_targets(concat("pad_to(", length, ", value=1)"), deep,
                            settled(twin_pad_to(deep, length, 1)));
    }
  }
}

TEST(PadTo, TheValueGoesThroughTheOperatorsThatFollow) {
  const Tensor in = random_tensor(DType::kU8, {7}, "", 4);
  const Tensor padded = twin_pad_to(in, 20, 200);
  expect_on_all_targets("pad_to(20, value=200), normalize(mnist)", in,
                        twin_normalize(padded, {0.1307}, {0.3081}));
  expect_on_all_targets("pad_to(20, value=200), scale(2), cast(i16)", in,
                        twin_cast(twin_scale(padded, 2), DType::kI16));
  expect_on_all_targets("cast(i32), pad_to(20, value=-7), pad_to(33, value=8)", in,
                        twin_pad_to(twin_pad_to(twin_cast(in, DType::kI32), 20, -7), 33, 8));
  const Tensor rows = random_tensor(DType::kU8, {3, 2}, "TC", 5);
  expect_on_all_targets("normalize(mean=[0, 1], std=[1, 2]), pad_to(5, value=0.5)", rows,
                        twin_pad_to(twin_normalize(rows, {0, 1}, {1, 2}), 5, 0.5));
  expect_on_all_targets("pad_to(5, value=9), normalize(mean=[0, 1], std=[1, 2])", rows,
                        twin_normalize(twin_pad_to(rows, 5, 9), {0, 1}, {1, 2}));
}

Field ragged_tokens() {
  Field field;
  field.name = "x";
  field.kind = FieldKind::kRagged;
  field.dtype = DType::kU16;
  field.shape = {-1};
  return field;
}

TEST(PadTo, RaggedRowsBecomeDenseAndALongerOneFailsAlone) {
  std::vector<std::vector<std::byte>> rows;
  std::vector<Tensor> inputs;
  for (int64_t length : {0, 1, 9, 8, 3}) {
    inputs.push_back(random_tensor(DType::kU16, {length}, "", static_cast<uint64_t>(length)));
    rows.push_back(inputs.back().bytes);
  }
  const RunResult result = run_transform("pad_to(8, value=50256), cast(i64)", ragged_tokens(), rows);
  EXPECT_EQ(result.output.kind, FieldKind::kDense);
  EXPECT_EQ(result.output.shape, (std::vector<int64_t>{8}));
  for (size_t i : {0u, 1u, 3u, 4u})
    EXPECT_EQ(result.rows[i], twin_cast(twin_pad_to(inputs[i], 8, 50256), DType::kI64).bytes);
  ASSERT_EQ(result.errors.size(), 1u);
  EXPECT_EQ(result.errors[0].row, 2);
  EXPECT_EQ(result.errors[0].status.code(), Code::kTooLarge);
  EXPECT_EQ(result.errors[0].status.message(), "field 'x': pad_to: expected at most 8 steps, got 9");
}

TEST(PadTo, RaggedRowsCanGoOnAsImages) {
  const Tensor in = random_tensor(DType::kU16, {11}, "", 1);
  const RunResult result = run_transform("pad_to(12), reshape(2x6), chw", ragged_tokens(), {in.bytes});
  EXPECT_EQ(result.output.axes, "CHW");
  EXPECT_EQ(result.rows[0], twin_pad_to(in, 12, 0).bytes);
}

TEST(OneHot, EqualsTheTwinForEveryLabelTypeAndOutput) {
  for (DType labels : kAllDtypes) {
    if (!dtype_is_integer(labels)) continue;
    for (DType to : kAllDtypes) {
      Tensor in = empty_tensor(labels, {4}, "");
      const int64_t values[] = {0, 9, 3, 9};
      for (int64_t i = 0; i < 4; ++i)
        std::memcpy(in.at(i), &values[i], static_cast<size_t>(dtype_bytes(labels)));
      expect_on_all_targets(concat("one_hot(10, dtype=", dtype_name(to), ")"), in, twin_one_hot(in, 10, to));
      if (to == DType::kF32) expect_on_all_targets("one_hot(10)", in, twin_one_hot(in, 10, to));
    }
  }
}

TEST(OneHot, ScalarsGiveOneDimAndLabelMapsGainAChannelDim) {
  Tensor scalar = empty_tensor(DType::kI64, {}, "");
  scalar.bytes[0] = std::byte{2};
  expect_on_all_targets("one_hot(3)", scalar, twin_one_hot(scalar, 3, DType::kF32));
  Tensor map = empty_tensor(DType::kU8, {2, 3}, "HW");
  map.bytes[4] = std::byte{1};
  expect_on_all_targets("one_hot(2), chw", map, twin_chw(twin_one_hot(map, 2, DType::kF32)));
  expect_on_all_targets("one_hot(2, dtype=u8), normalize(mean=[0, 1], std=[1, 1])", map,
                        twin_normalize(twin_one_hot(map, 2, DType::kU8), {0, 1}, {1, 1}));
}

TEST(OneHot, ALabelOutOfRangeFailsItsRowNamingTheValue) {
  std::vector<std::vector<std::byte>> rows;
  for (int64_t label : {3, 10, -1, 9}) {
    Tensor one = empty_tensor(DType::kI64, {}, "");
    std::memcpy(one.bytes.data(), &label, sizeof label);
    rows.push_back(one.bytes);
  }
  const RunResult result =
      run_transform("one_hot(10)", empty_tensor(DType::kI64, {}, "").field("label"), rows);
  ASSERT_EQ(result.errors.size(), 2u);
  EXPECT_EQ(result.errors[0].row, 1);
  EXPECT_EQ(result.errors[0].status.code(), Code::kOutOfRange);
  EXPECT_EQ(result.errors[0].status.message(),
            "field 'label': one_hot: expected a label from 0 to 9, got 10");
  EXPECT_EQ(result.errors[1].status.message(),
            "field 'label': one_hot: expected a label from 0 to 9, got -1");
  const std::vector<std::byte> big(8, std::byte{0xff});
  const RunResult wide =
      run_transform("one_hot(10)", empty_tensor(DType::kU64, {}, "").field("label"), {big});
  ASSERT_EQ(wide.errors.size(), 1u);
}

}  // namespace
}  // namespace dataline::tests::shape_test
