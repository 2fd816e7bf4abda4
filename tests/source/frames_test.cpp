// Inflating frames of LZ4 and Zstandard: how many, how long, and every way in which they can break off.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <span>
#include <string>

#include "tests/source/frame_files.h"

namespace dataline::frames_test {
namespace {

using testing::HasSubstr;

Bytes bytes_in(std::string_view text) { return std::as_bytes(std::span(text)); }

Status inflated(FrameCodec codec, std::string_view compressed, std::string& out) {
  return FrameInflater().inflate(codec, "/x", bytes_in(compressed), std::as_writable_bytes(std::span(out)));
}

std::string words(size_t bytes) {
  std::string out;
  for (int i = 0; out.size() < bytes; ++i) out += std::to_string(i * 7) + " ";
  return out.substr(0, bytes);
}

class Frames : public testing::TestWithParam<FrameCodec> {
 protected:
  void SetUp() override {
    std::string nothing;
    if (inflated(GetParam(), stored(""), nothing).code() == Code::kUnsupported)
      GTEST_SKIP() << "this build has no " << frame_codec_name(GetParam());
  }
  static std::string stored(std::string_view data) { return stored_frame(GetParam(), data); }
  static void expect_corrupt(std::string_view compressed, size_t bytes, const std::string& says) {
    std::string out(bytes, '\0');
    const Status status = inflated(GetParam(), compressed, out);
    EXPECT_EQ(status.code(), Code::kCorrupt) << status.message();
    EXPECT_THAT(status.message(), HasSubstr("/x: "));
    EXPECT_THAT(status.message(), HasSubstr(says));
  }
};

TEST_P(Frames, OfAnyLengthComeOutWhole) {
  for (const size_t bytes : {0, 1, 63, 65536, 65537, 131072, 300001}) {
    const std::string data = words(bytes);
    std::string out(bytes, '\0');
    const Status status = inflated(GetParam(), stored(data), out);
    EXPECT_TRUE(status.is_ok()) << status.message();
    EXPECT_EQ(out, data);
  }
}

TEST_P(Frames, SeveralAreOneAfterAnother) {
  const std::string data = words(1000);
  std::string out(1000, '\0');
  EXPECT_TRUE(
      inflated(GetParam(), stored(data.substr(0, 7)) + stored("") + stored(data.substr(7)), out).is_ok());
  EXPECT_EQ(out, data);
}

TEST_P(Frames, OneInflaterDoesForManyAndGoesOnAfterADamagedOne) {
  FrameInflater inflater;
  for (int i = 0; i < 5; ++i) {
    const std::string data = words(500), frame = stored(data);
    std::string out(500, '\0');
    const auto room = std::as_writable_bytes(std::span(out));
    EXPECT_FALSE(inflater.inflate(GetParam(), "/x", bytes_in(frame).first(100), room).is_ok());
    EXPECT_TRUE(inflater.inflate(GetParam(), "/x", bytes_in(frame), room).is_ok());
    EXPECT_EQ(out, data);
  }
}

TEST_P(Frames, MoreOrLessThanExpectedIsCorrupt) {
  expect_corrupt(stored(words(100)), 99, "decompresses to more than 99 bytes");
  expect_corrupt(stored(words(100)), 101, "decompresses to 100 bytes, expected 101");
  expect_corrupt(stored(words(100)), 0, "decompresses to more than 0 bytes");
  expect_corrupt(stored(""), 1, "decompresses to 0 bytes, expected 1");
}

TEST_P(Frames, CutAnywhereIsCorrupt) {
  const std::string frame = stored(words(100));
  for (size_t bytes = 0; bytes < frame.size(); ++bytes) {
    SCOPED_TRACE(bytes);
    expect_corrupt(frame.substr(0, bytes), 100, "");
  }
}

TEST_P(Frames, WhatIsNoFrameIsCorrupt) {
  expect_corrupt("what else would it be", 100, "is damaged or truncated");
  expect_corrupt(stored(words(100)) + "and more", 100, "");
  std::string frame = stored(words(100));
  frame[4] = '\x7f';  // the descriptor of the frame
  expect_corrupt(frame, 100, frame_codec_name(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Codecs, Frames, testing::Values(FrameCodec::kLz4, FrameCodec::kZstd),
                         [](const auto& name) { return frame_codec_name(name.param); });

TEST(FrameBound, IsWhatTheFormatsCanDo) {
  EXPECT_EQ(max_inflated_frame_bytes(FrameCodec::kLz4, 100), 25500);
  EXPECT_EQ(max_inflated_frame_bytes(FrameCodec::kZstd, 4), 131072);
  EXPECT_EQ(max_inflated_frame_bytes(FrameCodec::kZstd, std::numeric_limits<int64_t>::max()),
            std::numeric_limits<int64_t>::max());
  const size_t most = size_t{128} << 10;
  const std::string frame = zstd_repeated('z', most);
  EXPECT_GE(max_inflated_frame_bytes(FrameCodec::kZstd, static_cast<int64_t>(frame.size())),
            static_cast<int64_t>(most));
  std::string out(most, '\0');
  const Status status = inflated(FrameCodec::kZstd, frame, out);
  if (status.code() == Code::kUnsupported) GTEST_SKIP() << "this build has no Zstandard";
  EXPECT_EQ(out, std::string(most, 'z'));
}

}  // namespace
}  // namespace dataline::frames_test
