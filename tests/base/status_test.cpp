// Statuses, results, the errors of rows, dtypes and fields.
// SPDX-License-Identifier: Apache-2.0
#include "core/base/status.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "capi/dataline.h"
#include "core/base/field.h"

namespace dataline::status_test {
namespace {

TEST(Status, CarriesCodeMessageAndPlaces) {
  const Status plain = error(Code::kCorrupt, "x: offset ", int64_t{-1}, ": ", uint8_t{7}, " of ", 'c');
  EXPECT_FALSE(plain.is_ok());
  EXPECT_EQ(plain.code(), Code::kCorrupt);
  EXPECT_EQ(plain.message(), "x: offset -1: 7 of c");
  EXPECT_EQ(plain.os_error(), 0);
  EXPECT_EQ(plain.sample_index(), -1);
  EXPECT_EQ(plain.column(), 0);
  const Status full =
      error(Code::kIo, "y").with_os_error(5).with_sample(int64_t{1} << 40).with_column(9).in("opening");
  EXPECT_EQ(full.message(), "opening: y");
  EXPECT_EQ(full.code(), Code::kIo);
  EXPECT_EQ(full.os_error(), 5);
  EXPECT_EQ(full.sample_index(), int64_t{1} << 40);
  EXPECT_EQ(full.column(), 9);
  EXPECT_TRUE(Status::ok().is_ok());
  EXPECT_TRUE(Status().is_ok());
}

Result<std::unique_ptr<int>> half(int value) {
  if (value % 2 != 0) return error(Code::kOutOfRange, value, " is odd");
  return std::make_unique<int>(value / 2);
}
Result<int> quarter(int value) {
  DL_ASSIGN_OR_RETURN(std::unique_ptr<int> once, half(value));
  DL_ASSIGN_OR_RETURN(std::unique_ptr<int> twice, half(*once));
  return *twice;
}
Status needs_quarters(int value) {
  DL_RETURN_IF_ERROR(half(value).is_ok() ? Status::ok() : half(value).take_status());
  return Status::ok();
}

TEST(Result, HoldsAValueOrTheStatusThatReturnsEarly) {
  EXPECT_EQ(quarter(8).value(), 2);
  EXPECT_EQ(quarter(6).status().message(), "3 is odd");
  EXPECT_EQ(quarter(7).status().message(), "7 is odd");
  EXPECT_EQ(*half(4).take(), 2);
  EXPECT_TRUE(needs_quarters(2).is_ok());
  EXPECT_EQ(needs_quarters(3).code(), Code::kOutOfRange);
}

// Counts those that live.
struct Counted {
  static inline int alive = 0;
  Counted() { ++alive; }
  Counted(Counted&&) noexcept { ++alive; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --alive; }
};

TEST(Result, EndsItsValueOnceHoweverItIsMovedAndAssigned) {
  const auto made = [](bool good) -> Result<Counted> {
    if (!good) return error(Code::kIo, "no");
    return Counted();
  };
  for (const bool first : {false, true}) {
    for (const bool second : {false, true}) {
      {
        Result<Counted> result = made(first);
        EXPECT_EQ(Counted::alive, first ? 1 : 0);
        result = made(second);
        EXPECT_EQ(result.is_ok(), second);
        EXPECT_EQ(Counted::alive, second ? 1 : 0);
        const Result<Counted> moved = std::move(result);
        EXPECT_EQ(moved.is_ok(), second);
        EXPECT_EQ(moved.status().message(), second ? "" : "no");
      }
      EXPECT_EQ(Counted::alive, 0);
    }
  }
}

TEST(Result, OfAnOkStatusIsADefectAndHasNoValue) {
  const Result<std::string> result = Status::ok();
  EXPECT_FALSE(result.is_ok());
  EXPECT_EQ(result.status().code(), Code::kInternal);
}

TEST(Concat, TakesTextOfEveryKindAndEveryWholeNumber) {
  const std::string text("a\0b", 3);
  EXPECT_EQ(concat(text, std::string_view(), "", 'c', '\xff'), text + "c\xff");
  EXPECT_EQ(concat(INT64_MIN, " ", INT64_MAX, " ", UINT64_MAX),
            "-9223372036854775808 9223372036854775807 18446744073709551615");
  EXPECT_EQ(concat(int8_t{-1}, " ", uint8_t{255}, " ", uint16_t{65535}, " ", -7, " ", true),
            "-1 255 65535 -7 1");
  EXPECT_EQ(concat(), "");
}

TEST(Codes, HaveNamesOfTheirOwnAndTheHeadersValues) {
  std::set<std::string> names;
  int known = 0;
  for (int32_t value = -200; value <= 200; ++value) {
    const std::string name(code_name(static_cast<Code>(value)));
    if (name == "DL_ERR_UNKNOWN") continue;
    ++known;
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_EQ(name.rfind(value < 0 ? "DL_ERR_" : "DL_", 0), 0u) << name;
  }
  EXPECT_EQ(known, 6 + 34) << "soft results and errors";
  EXPECT_EQ(static_cast<int32_t>(Code::kTruncated), DL_ERR_TRUNCATED);
  EXPECT_EQ(static_cast<int32_t>(Code::kStateRefused), DL_ERR_STATE_REFUSED);
  EXPECT_EQ(static_cast<int32_t>(Code::kInterrupted), DL_INTERRUPTED);
}

TEST(RowErrors, KeepTheFirstCauseOfEachRow) {
  RowErrors errors;
  EXPECT_TRUE(errors.empty());
  EXPECT_FALSE(errors.failed(0));
  errors.fail(5, error(Code::kCorrupt, "first"));
  errors.fail(2, error(Code::kTruncated, "second"));
  errors.fail(5, error(Code::kIo, "too late"));
  ASSERT_EQ(errors.all().size(), 2u);
  EXPECT_EQ(errors.all()[0].row, 5);
  EXPECT_EQ(errors.all()[0].status.message(), "first");
  EXPECT_EQ(errors.all()[1].status.code(), Code::kTruncated);
  EXPECT_TRUE(errors.failed(2));
  EXPECT_FALSE(errors.failed(3));
  errors.clear();
  EXPECT_TRUE(errors.empty());
  EXPECT_FALSE(errors.failed(5));
}

TEST(DTypes, NamesGoThereAndBackAndSizesAreTheirs) {
  int64_t bytes = 0;
  for (int32_t value = DL_DTYPE_BOOL; value <= DL_DTYPE_C128; ++value) {
    const DType dtype = static_cast<DType>(value);
    EXPECT_EQ(dtype_from_name(dtype_name(dtype)), dtype);
    EXPECT_FALSE(dtype_is_integer(dtype) && dtype_is_float(dtype));
    bytes += dtype_bytes(dtype);
  }
  EXPECT_EQ(bytes, 1 + 2 * (1 + 2 + 4 + 8) + 2 + 2 + 4 + 8 + 8 + 16);
  EXPECT_TRUE(dtype_is_integer(DType::kU8) && dtype_is_integer(DType::kI64));
  EXPECT_TRUE(dtype_is_float(DType::kF16) && dtype_is_float(DType::kBf16) && dtype_is_float(DType::kF64));
  EXPECT_FALSE(dtype_is_integer(DType::kBool) || dtype_is_float(DType::kBool));
  EXPECT_FALSE(dtype_is_float(DType::kC64) || dtype_is_integer(DType::kC128));
  for (std::string_view bad : {"", "U8", "u8 ", "float32", "int", "u4"}) EXPECT_FALSE(dtype_from_name(bad));
}

TEST(Fields, KnowTheirBytesAndTheirText) {
  Field image{"image", FieldKind::kDense, DType::kF32, {3, 32, 32}, "CHW", -1};
  EXPECT_EQ(image.bytes(), 3 * 32 * 32 * 4);
  EXPECT_EQ(field_type_text(image), "f32[3x32x32]");
  Field label{"label", FieldKind::kDense, DType::kI64, {}, "", -1};
  EXPECT_EQ(label.bytes(), 8);
  EXPECT_EQ(field_type_text(label), "i64");
  Field words{"words", FieldKind::kRagged, DType::kU16, {-1, 5}, "", -1};
  EXPECT_EQ(words.bytes(), -1);
  EXPECT_EQ(words.item_bytes(), 10);
  EXPECT_EQ(field_type_text(words), "u16[-1x5]");
}

}  // namespace
}  // namespace dataline::status_test
