// Packed records that the caller describes.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/raw/raw.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/source/located.h"

namespace dataline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Field field_of(std::string name, DType dtype, std::vector<int64_t> shape) {
  Field field;
  field.name = std::move(name);
  field.dtype = dtype;
  field.shape = std::move(shape);
  return field;
}

RawOptions one_field(DType dtype, std::vector<int64_t> shape) {
  RawOptions options;
  options.fields = {field_of("data", dtype, std::move(shape))};
  return options;
}

TEST(Raw, OneFieldFillsTheFile) {
  TempDir dir;
  std::string bytes = pattern_bytes(90 * 24);
  std::string path = dir.write("a.bin", bytes);
  for (IoMode io : kIoModes) {
    SourceRef source = open_raw(path, one_field(DType::kF32, {2, 3}), context_for(io)).take();
    EXPECT_EQ(source->count(), 90);
    EXPECT_EQ(source->info().format, "raw");
    EXPECT_THAT(source->info().notes, IsEmpty());
    EXPECT_TRUE(all_samples(*source) == bytes);
  }
}

TEST(Raw, FieldsArePackedInTheOrderGiven) {
  TempDir dir;
  std::string bytes = pattern_bytes(7 + 12 * (1 + 12 + 8));
  std::string path = dir.write("a.bin", bytes);
  RawOptions options;
  options.fields = {field_of("label", DType::kU8, {}), field_of("image", DType::kU8, {3, 2, 2}),
                    field_of("weight", DType::kF64, {})};
  options.header_bytes = 7;
  for (IoMode io : kIoModes) {
    SourceRef source = open_raw(path, options, context_for(io)).take();
    EXPECT_EQ(source->count(), 12);
    std::string labels, images, weights;
    for (size_t i = 0; i < 12; ++i) {
      labels += bytes.substr(7 + i * 21, 1);
      images += bytes.substr(8 + i * 21, 12);
      weights += bytes.substr(20 + i * 21, 8);
    }
    EXPECT_EQ(all_samples(*source, 0), labels);
    EXPECT_EQ(all_samples(*source, 1), images);
    EXPECT_EQ(all_samples(*source, 2), weights);
  }
}

TEST(Raw, EmptyBodyIsAnEmptySet) {
  TempDir dir;
  RawOptions options = one_field(DType::kU8, {4});
  EXPECT_EQ(open_raw(dir.write("a", ""), options, context_for(IoMode::kAuto)).take()->count(), 0);
  options.header_bytes = 3;
  EXPECT_EQ(open_raw(dir.write("a", "abc"), options, context_for(IoMode::kAuto)).take()->count(), 0);
}

TEST(Raw, CutLastRecordIsLeftOutOnRequestAndNoted) {
  TempDir dir;
  RawOptions options = one_field(DType::kU8, {4});
  options.partial_ignore = true;
  SourceRef source = open_raw(dir.write("a", "abcdefghij"), options, context_for(IoMode::kAuto)).take();
  EXPECT_EQ(source->count(), 2);
  EXPECT_EQ(all_samples(*source), "abcdefgh");
  EXPECT_THAT(source->info().notes, ElementsAre(HasSubstr("last 2 bytes")));
  source = open_raw(dir.write("a", "abc"), options, context_for(IoMode::kAuto)).take();
  EXPECT_EQ(source->count(), 0);
}

TEST(Raw, ABillionRecordsOpenAtOnce) {
  TempDir dir;
  constexpr int64_t kCount = 1000000000;
  std::string path = dir.write("sparse", "");
  if (::truncate(path.c_str(), kCount * 784) != 0) GTEST_SKIP() << "no sparse file of 784 GB here";
  OpenContext context = context_for(IoMode::kMmap);
  SourceRef source = open_raw(path, one_field(DType::kU8, {28, 28}), context).take();
  EXPECT_EQ(source->count(), kCount);
  EXPECT_EQ(context.memory->peak_bytes(), 0);
  Located run(*source, {0, kCount - 1, 123456789}, {.cold = true});
  EXPECT_TRUE(run.errors().empty());
  EXPECT_EQ(run.field(0, 1), std::string(784, '\0'));
}

}  // namespace
}  // namespace dataline
