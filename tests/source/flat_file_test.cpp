// Fixed-stride records: places, columns, overlaps, conversions, and files that shrink.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/flat_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "tests/source/located.h"
#include "tests/support/data_digest.h"

namespace dataline::flat_file_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Schema schema_of(std::vector<Field> fields) {
  Schema schema;
  for (Field& field : fields) {
    schema.columns.push_back({field.bytes()});
    schema.places.push_back({static_cast<int32_t>(schema.places.size()), 0, false});
    schema.fields.push_back(std::move(field));
  }
  return schema;
}

Field u8_field(std::string name, std::vector<int64_t> shape) {
  Field field;
  field.name = std::move(name);
  field.shape = std::move(shape);
  return field;
}

SourceRef open(const std::string& path, IoMode io, Schema schema, FlatLayout layout) {
  MappedFile file = MappedFile::open(path, context_for(io)).take();
  return FlatFile::create(std::move(file), std::move(schema), std::move(layout), {"flat", "", {}}).take();
}

TEST(FlatFile, RecordsAreFoundAtOffsetPlusStride) {
  TempDir dir;
  std::string bytes = pattern_bytes(7 + 20 * 13);
  std::string path = dir.write("a", bytes);
  for (IoMode io : kIoModes) {
    SourceRef source = open(path, io, schema_of({u8_field("data", {13})}), {7, 13, 13, 20, {{0, 13}}});
    EXPECT_EQ(source->count(), 20);
    EXPECT_EQ(all_samples(*source), bytes.substr(7));
    Located run(*source, {19, 0, 5, 5});
    EXPECT_EQ(run.field(0, 0), bytes.substr(7 + 19 * 13, 13));
    EXPECT_EQ(run.field(0, 2), run.field(0, 3));
  }
}

TEST(FlatFile, ColumnsLieAtTheirOffsetsInTheRecord) {
  TempDir dir;
  std::string bytes = pattern_bytes(9 * 10);
  std::string path = dir.write("a", bytes);
  for (IoMode io : kIoModes) {
    SourceRef source = open(path, io, schema_of({u8_field("label", {}), u8_field("image", {2, 3})}),
                            {0, 9, 9, 10, {{8, 1}, {1, 6}}});
    std::string labels, images;
    for (size_t i = 0; i < 10; ++i) labels += bytes[i * 9 + 8], images += bytes.substr(i * 9 + 1, 6);
    EXPECT_EQ(all_samples(*source, 0), labels);
    EXPECT_EQ(all_samples(*source, 1), images);
  }
}

TEST(FlatFile, RecordsMayOverlapOrLeaveGaps) {
  TempDir dir;
  std::string bytes = pattern_bytes(64);
  std::string path = dir.write("a", bytes);
  for (IoMode io : kIoModes) {
    for (int64_t stride : {2, 10, 16}) {
      int64_t count = (64 - 10) / stride + 1;
      SourceRef source =
          open(path, io, schema_of({u8_field("data", {10})}), {0, stride, 10, count, {{0, 10}}});
      std::string expected;
      for (int64_t i = 0; i < count; ++i) expected += bytes.substr(static_cast<size_t>(i * stride), 10);
      EXPECT_EQ(all_samples(*source), expected) << stride;
    }
  }
}

TEST(FlatFile, NeighboursWithoutGapsAreContiguous) {
  TempDir dir;
  std::string path = dir.write("a", pattern_bytes(100));
  Schema whole = schema_of({u8_field("data", {10})}), part = schema_of({u8_field("data", {4})});
  FlatLayout whole_layout{0, 10, 10, 10, {{0, 10}}}, part_layout{0, 10, 10, 10, {{3, 4}}};
  for (IoMode io : kIoModes) {
    SourceRef source = open(path, io, whole, whole_layout);
    EXPECT_TRUE(Located(*source, {3, 4, 5}, {.contiguous = true}).contiguous(0));
    EXPECT_TRUE(Located(*source, {3}).contiguous(0)) << "one row always is";
    source = open(path, io, part, part_layout);
    EXPECT_FALSE(Located(*source, {3, 4, 5}, {.contiguous = true}).contiguous(0));
  }
}

TEST(FlatFile, MappedRecordsComeWithoutScratchOrCopy) {
  TempDir dir;
  std::string path = dir.write("a", pattern_bytes(100));
  SourceRef source =
      open(path, IoMode::kMmap, schema_of({u8_field("data", {10})}), {0, 10, 10, 10, {{0, 10}}});
  EXPECT_EQ(source->scratch_bytes(1 << 20), 0);
  EXPECT_EQ(Located(*source, {7}).data(0, 0), Located(*source, {7}).data(0, 0)) << "the map itself";
}

TEST(FlatFile, ElementsOfTheOtherByteOrderAreSwapped) {
  TempDir dir;
  for (auto [dtype, conversion, unit] : {std::tuple{DType::kU16, FlatConversion::kSwap2, size_t{2}},
                                         {DType::kF32, FlatConversion::kSwap4, size_t{4}},
                                         {DType::kI64, FlatConversion::kSwap8, size_t{8}},
                                         {DType::kC64, FlatConversion::kSwap4, size_t{4}},
                                         {DType::kC128, FlatConversion::kSwap8, size_t{8}}}) {
    EXPECT_EQ(swap_conversion(dtype), conversion);
    for (int64_t elements : {1, 3, 8, 11}) {
      Field field = u8_field("data", {elements});
      field.dtype = dtype;
      int64_t record = field.bytes();
      std::string bytes = pattern_bytes(5 + 70 * record), expected = bytes.substr(5);
      for (size_t at = 0; at < expected.size(); at += unit) {
        std::reverse(expected.begin() + static_cast<ptrdiff_t>(at),
                     expected.begin() + static_cast<ptrdiff_t>(at + unit));
      }
      std::string path = dir.write("a", bytes);
      for (IoMode io : kIoModes) {
        SourceRef source =
            open(path, io, schema_of({field}), {5, record, record, 70, {{0, record, conversion}}});
        EXPECT_EQ(all_samples(*source), expected);
        EXPECT_TRUE(Located(*source, {4, 1}).contiguous(0)) << "scratch is packed";
      }
    }
  }
  for (DType dtype : {DType::kBool, DType::kU8, DType::kI8})
    EXPECT_EQ(swap_conversion(dtype), FlatConversion::kNone);
  for (DType dtype : {DType::kF16, DType::kBf16, DType::kI16})
    EXPECT_EQ(swap_conversion(dtype), FlatConversion::kSwap2);
}

TEST(FlatFile, ByteLabelsBecomeI64BesideAnImageThatIsNotTouched) {
  TempDir dir;
  std::string bytes = pattern_bytes(100 * 5);
  std::string path = dir.write("a", bytes);
  Field label = u8_field("label", {});
  label.dtype = DType::kI64;
  for (IoMode io : kIoModes) {
    SourceRef source = open(path, io, schema_of({label, u8_field("image", {4})}),
                            {0, 5, 5, 100, {{0, 1, FlatConversion::kU8ToI64}, {1, 4}}});
    std::string labels = all_samples(*source, 0);
    for (size_t i = 0; i < 100; ++i) {
      int64_t value;
      std::memcpy(&value, labels.data() + 8 * i, 8);
      EXPECT_EQ(value, static_cast<uint8_t>(bytes[i * 5]));
    }
    EXPECT_EQ(Located(*source, {42}).field(1, 0), bytes.substr(42 * 5 + 1, 4));
  }
}

TEST(FlatFile, NoRecordsIsNoError) {
  TempDir dir;
  for (IoMode io : kIoModes) {
    SourceRef source =
        open(dir.write("a", ""), io, schema_of({u8_field("data", {4})}), {0, 4, 4, 0, {{0, 4}}});
    EXPECT_EQ(source->count(), 0);
    EXPECT_TRUE(Located(*source, {}).errors().empty());
    source->advise({});
  }
}

TEST(FlatFile, RecordsOutsideOfTheFileAreRefusedAtOpen) {
  TempDir dir;
  std::string path = dir.write("a", pattern_bytes(100));
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  for (auto [offset, stride, count] : {std::tuple<int64_t, int64_t, int64_t>{1, 10, 10},
                                       {0, 10, 11},
                                       {101, 10, 1},
                                       {0, kMost, 3},
                                       {0, 10, kMost},
                                       {kMost, 10, 1},
                                       {0, kMost / 2, 3}}) {
    MappedFile file = MappedFile::open(path, context_for(IoMode::kMmap)).take();
    Result<SourceRef> source = FlatFile::create(std::move(file), schema_of({u8_field("data", {10})}),
                                                {offset, stride, 10, count, {{0, 10}}}, {});
    ASSERT_FALSE(source.is_ok());
    EXPECT_EQ(source.status().code(), Code::kTruncated);
    EXPECT_THAT(source.status().message(), AllOf(HasSubstr(path), HasSubstr(concat("offset ", offset)),
                                                 HasSubstr("need"), HasSubstr("file has")));
  }
}

TEST(FlatFile, RecordsThatNoMachineCanHoldAreRefusedEvenWhenThereAreNone) {
  TempDir dir;
  for (int64_t bytes : {kMaxRecordBytes + 1, std::numeric_limits<int64_t>::max()}) {
    MappedFile file = MappedFile::open(dir.write("a", ""), context_for(IoMode::kPread)).take();
    Result<SourceRef> source = FlatFile::create(std::move(file), schema_of({u8_field("data", {bytes})}),
                                                {0, bytes, bytes, 0, {{0, bytes}}}, {});
    ASSERT_FALSE(source.is_ok());
    EXPECT_EQ(source.status().code(), Code::kTooLarge);
  }
}

TEST(FlatFile, LayoutsThatDoNotFitTheSchemaAreADefect) {
  TempDir dir;
  std::string path = dir.write("a", pattern_bytes(100));
  FlatLayout wrong[] = {{0, 10, 10, 1, {}},
                        {0, 10, 10, 1, {{0, 9}}},
                        {0, 10, 10, 1, {{1, 10}}},
                        {0, 10, 10, 1, {{-1, 10}}},
                        {0, 0, 10, 1, {{0, 10}}},
                        {0, 10, 0, 1, {{0, 10}}},
                        {-1, 10, 10, 1, {{0, 10}}},
                        {0, 10, 10, -1, {{0, 10}}},
                        {0, 10, 5, 1, {{0, 10}}},
                        {0, 10, 10, 1, {{0, 10, FlatConversion::kSwap4}}},
                        {0, 10, 10, 1, {{0, 10, FlatConversion::kU8ToI64}}}};
  for (const FlatLayout& layout : wrong) {
    MappedFile file = MappedFile::open(path, context_for(IoMode::kMmap)).take();
    Result<SourceRef> source =
        FlatFile::create(std::move(file), schema_of({u8_field("data", {10})}), layout, {});
    ASSERT_FALSE(source.is_ok());
    EXPECT_EQ(source.status().code(), Code::kInternal);
  }
}

TEST(FlatFile, TheIdentityKnowsTheDataAndNotTheDirectory) {
  TempDir dir;
  auto identity = [&](const std::string& name, int64_t file_bytes, int64_t offset, int64_t stride,
                      IoMode io) {
    std::string path = dir.write(name, pattern_bytes(file_bytes));
    return data_digest(
        *open(path, io, schema_of({u8_field("data", {10})}), {offset, stride, 10, 4, {{0, 10}}}));
  };
  uint64_t first = identity("a", 100, 0, 10, IoMode::kMmap);
  EXPECT_EQ(identity("b", 100, 0, 10, IoMode::kPread), first);
  EXPECT_NE(identity("a", 101, 0, 10, IoMode::kMmap), first);
  EXPECT_NE(identity("a", 100, 1, 10, IoMode::kMmap), first);
  EXPECT_NE(identity("a", 100, 0, 11, IoMode::kMmap), first);
}

TEST(FlatFile, AdviceBringsRecordsIn) {
  TempDir dir;
  std::string path = dir.write("a", pattern_bytes(1 << 20));
  for (IoMode io : kIoModes) {
    SourceRef source =
        open(path, io, schema_of({u8_field("data", {4096})}), {0, 4096, 4096, 256, {{0, 4096}}});
    std::vector<int64_t> indices = {255, 3, 4, 5, 0};
    source->advise(indices);
    EXPECT_TRUE(source->cached(3)) << "written a moment ago";
  }
}

TEST(FlatFile, WorkersShareASource) {
  TempDir dir;
  std::string bytes = pattern_bytes(1000 * 10);
  std::string path = dir.write("a", bytes);
  for (IoMode io : kIoModes) {
    SourceRef source = open(path, io, schema_of({u8_field("data", {10})}), {0, 10, 10, 1000, {{0, 10}}});
    std::vector<std::thread> workers;
    for (int w = 0; w < 4; ++w) {
      workers.emplace_back([&] {
        for (int64_t stamp = 0; stamp < 50; ++stamp) {
          Located run(*source, {stamp * 3, 999 - stamp}, {.opened_ns = monotonic_ns()});
          EXPECT_EQ(run.field(0, 0), bytes.substr(static_cast<size_t>(stamp * 30), 10));
        }
      });
    }
    for (std::thread& worker : workers) worker.join();
  }
}

}  // namespace
}  // namespace dataline::flat_file_test
