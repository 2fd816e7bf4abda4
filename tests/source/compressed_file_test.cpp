// Files that are compressed as a whole: what is found by their first bytes, how much memory they get, and what breaks off.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/compressed_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/source/frames.h"
#include "core/source/gzip.h"
#include "tests/source/frame_files.h"
#include "tests/source/gzip_files.h"
#include "tests/source/source_support.h"

namespace dataline::compressed_file_test {
namespace {

using testing::HasSubstr;

// A frame that does not say how much it holds, as `zstd <input >output` makes: a window of 8 MiB, blocks of at most 128 KiB.
std::string unsized_frame(std::string_view data) {
  std::string out = frame_number(0xfd2fb528u, 4) + std::string("\x00\x68", 2);
  do {
    const std::string_view piece = data.substr(0, size_t{128} << 10);
    data.remove_prefix(piece.size());
    out += zstd_block(piece.size(), 0, data.empty());
    out += piece;
  } while (!data.empty());
  return out;
}
std::string skippable_frame(std::string_view data) {
  return frame_number(0x184d2a53u, 4) + frame_number(data.size(), 4) + std::string(data);
}
std::string sample_text(size_t bytes) {
  std::string out;
  for (int i = 0; out.size() < bytes; ++i) out += std::to_string(i * 7) + "\n";
  return out.substr(0, bytes);
}

class CompressedFile : public testing::Test {
 protected:
  Result<MappedFile> open(const std::string& bytes, const OpenContext& context = test_context()) {
    return open_maybe_compressed(dir_.write("a.zst", bytes), nullptr, context);
  }
  std::string text_of(const std::string& bytes) {
    const Result<MappedFile> file = open(bytes);
    if (!file.is_ok()) return std::string(file.status().message());
    std::string out(static_cast<size_t>(file.value().bytes()), '\0');
    EXPECT_TRUE(file.value().read(0, file.value().bytes(), reinterpret_cast<std::byte*>(out.data())).is_ok());
    return out;
  }
  void expect_failure(const std::string& bytes, Code code, const std::string& says) {
    const Status status = open(bytes).status();
    EXPECT_EQ(status.code(), code) << status.message();
    EXPECT_THAT(status.message(), HasSubstr("a.zst"));
    EXPECT_THAT(status.message(), HasSubstr(says));
  }
  bool built() { return open(zstd_stored("x")).is_ok(); }

  TempDir dir_;
};

TEST_F(CompressedFile, WhatIsNotCompressedIsOpenedAsItIs) {
  for (const std::string text : {"", "x", "xyz", "four", "a longer text"}) {
    EXPECT_EQ(text_of(text), text);
    EXPECT_FALSE(open(text).value().inflated());
  }
}

TEST_F(CompressedFile, FramesOfZstandardAreInflatedWhetherTheySayTheirSizeOrNot) {
  if (!built()) GTEST_SKIP() << "this build has no Zstandard";
  for (const size_t bytes : {0, 1, 255, 256, 131072, 131073, 700001}) {
    const std::string text = sample_text(bytes);
    EXPECT_EQ(text_of(zstd_stored(text)), text);
    EXPECT_EQ(text_of(unsized_frame(text)), text);
  }
  EXPECT_EQ(text_of(unsized_frame("one, ") + zstd_stored("two, ") + skippable_frame("an index") +
                    unsized_frame("") + zstd_repeated('3', 3)),
            "one, two, 333");
  EXPECT_TRUE(open(unsized_frame("x")).value().inflated());
  EXPECT_EQ(open(unsized_frame("x")).value().bytes(), 1);
}

TEST_F(CompressedFile, ItsNoteSaysWhatItWasAndHowMuchMemoryItTakes) {
  const std::string gzip = gzip_stored("four"), zstd = zstd_stored("twelve bytes");
  const auto note = [&](const std::string& bytes) {
    const Result<MappedFile> file = open(bytes);
    return file.is_ok() ? inflated_note(std::as_bytes(std::span(bytes)), file.value()) : "";
  };
  if (built()) {
    EXPECT_EQ(note(zstd), "Zstandard: decompressed into 12 bytes of memory");
  }
  if (open(gzip).is_ok()) {
    EXPECT_EQ(note(gzip), "gzip: decompressed into 4 bytes of memory");
  }
}

TEST_F(CompressedFile, CutAnywhereIsTruncatedOrNoFrame) {
  const std::string frame = unsized_frame(sample_text(300)) + zstd_stored(sample_text(40));
  for (size_t bytes = 4; bytes < frame.size(); ++bytes) {
    if (bytes == unsized_frame(sample_text(300)).size()) continue;  // one frame less
    const Status status = open(frame.substr(0, bytes)).status();
    EXPECT_TRUE(status.code() == Code::kTruncated) << bytes << ": " << status.message();
  }
  expect_failure(frame.substr(0, 40), Code::kTruncated, "its Zstandard data is truncated after 40 bytes");
}

TEST_F(CompressedFile, WhatFollowsAFrameAndIsNoneIsCorrupt) {
  expect_failure(zstd_stored("x") + "behind", Code::kCorrupt,
                 "expected a Zstandard frame, got 6 other bytes");
}

TEST_F(CompressedFile, DamageIsFound) {
  if (!built()) GTEST_SKIP() << "this build has no Zstandard";
  std::string reserved = zstd_stored("a text");
  reserved[9] = static_cast<char>(reserved[9] | 6);  // the type of the block
  expect_failure(reserved, Code::kCorrupt, "damaged");
  std::string size = zstd_stored("a text");
  size[5] = 7;
  expect_failure(size, Code::kCorrupt, "damaged");
}

TEST_F(CompressedFile, ALieAboutTheSizeGetsNoMemory) {
  const std::string lie = zstd_frame(zstd_block(3, 0, true) + "abc", 0xffffffff);
  EXPECT_EQ(zstd_frames_bound("/x", std::as_bytes(std::span(lie))).value(), 128 << 10);
  OpenContext context = test_context();
  context.memory = HostMemory::create({}, 1 << 20);
  EXPECT_FALSE(open(lie, context).is_ok());
  EXPECT_LE(context.memory->peak_bytes(), 200'000);
}

TEST_F(CompressedFile, TheLimitOfMemoryIsKept) {
  OpenContext context = test_context();
  context.memory = HostMemory::create({}, 100'000);
  const Status status = open(zstd_stored(sample_text(200'000)), context).status();
  EXPECT_EQ(status.code(), Code::kOverBudget) << status.message();
  EXPECT_THAT(status.message(), HasSubstr("a.zst"));
}

}  // namespace
}  // namespace dataline::compressed_file_test
