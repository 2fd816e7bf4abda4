// Packed records that the caller describes.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/source/open.h"
#include "tests/source/located.h"

namespace dataline::raw_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

SourceRef open(const std::string& path, const std::string& keys, IoMode io = IoMode::kAuto) {
  Result<SourceRef> source = open_source("raw:" + path + "?" + keys, context_for(io));
  EXPECT_TRUE(source.is_ok()) << source.status().message();
  return source.is_ok() ? source.take() : nullptr;
}

TEST(Raw, OneFieldFillsTheFile) {
  TempDir dir;
  std::string bytes = pattern_bytes(90 * 24);
  std::string path = dir.write("a.bin", bytes);
  for (IoMode io : kIoModes) {
    SourceRef source = open(path, "dtype=f32&shape=2x3", io);
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
  for (IoMode io : kIoModes) {
    SourceRef source = open(path, "fields=label:u8,image:u8[3x2x2],weight:f64&header=7", io);
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
  EXPECT_EQ(open(dir.write("a", ""), "dtype=u8&shape=4")->count(), 0);
  EXPECT_EQ(open(dir.write("a", "abc"), "dtype=u8&shape=4&header=3")->count(), 0);
}

TEST(Raw, CutLastRecordIsLeftOutOnRequestAndNoted) {
  TempDir dir;
  const std::string keys = "dtype=u8&shape=4&partial=ignore";
  SourceRef source = open(dir.write("a", "abcdefghij"), keys);
  EXPECT_EQ(source->count(), 2);
  EXPECT_EQ(all_samples(*source), "abcdefgh");
  EXPECT_THAT(source->info().notes, ElementsAre(HasSubstr("last 2 bytes")));
  source = open(dir.write("a", "abc"), keys);
  EXPECT_EQ(source->count(), 0);
}

TEST(Raw, ABillionRecordsOpenAtOnce) {
  TempDir dir;
  constexpr int64_t kCount = 1000000000;
  std::string path = dir.write("sparse", "");
  if (::truncate(path.c_str(), kCount * 784) != 0) GTEST_SKIP() << "no sparse file of 784 GB here";
  OpenContext context = context_for(IoMode::kMmap);
  SourceRef source = open_source("raw:" + path + "?dtype=u8&shape=28x28", context).take();
  EXPECT_EQ(source->count(), kCount);
  EXPECT_EQ(context.memory->peak_bytes(), 0);
  Located run(*source, {0, kCount - 1, 123456789}, {.cold = true});
  EXPECT_TRUE(run.errors().empty());
  EXPECT_EQ(run.field(0, 1), std::string(784, '\0'));
}

}  // namespace
}  // namespace dataline::raw_test
