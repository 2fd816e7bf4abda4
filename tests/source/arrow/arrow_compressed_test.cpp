// Arrow files whose buffers are compressed: they are inflated into memory, and their rows are those of a file that is not.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "core/source/open.h"
#include "tests/source/arrow/arrow_files.h"
#include "tests/source/arrow/compressed_files.h"
#include "tests/source/frame_files.h"
#include "tests/source/located.h"

namespace dataline::arrow_compressed_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string framed(FrameCodec codec, const std::string& buffer) {
  return stored_bytes(static_cast<int64_t>(buffer.size())) + stored_frame(codec, buffer);
}
std::string as_it_is(const std::string& buffer) { return stored_bytes(int64_t{-1}) + buffer; }

// All kinds of buffers, in several batches.
TestArrow every_kind() {
  const TestColumn words = texts("w", {"red", "green", "blue"});
  const auto batch = [&](int32_t first) {
    return std::vector<TestColumn>{numbers<int32_t>("x", {first, first + 1, first + 2}),
                                   bools("b", "101"),
                                   texts("t", {"a", "", "a text of some length"}),
                                   texts<int64_t>("big", {"of", "64-bit", "offsets"}),
                                   views("v", {"short", "a view of some length", "another one, as long"}, 2),
                                   lists<int32_t>("l", {0, 2, 2, 3}, numbers<int16_t>("item", {4, 5, 6})),
                                   fixed_lists("f", 2, 3, numbers<double>("item", {1, 2, 3, 4, 5, 6})),
                                   structs("s", 3, {numbers<uint8_t>("y", {7, 8, 9})}),
                                   encoded<int8_t>(words, 7, {2, 0, 1})};
  };
  TestArrow out = arrow_table({batch(1), batch(100), batch(-50)});
  out.messages.insert(out.messages.begin(), arrow_dictionary(7, words));
  return out;
}

class ArrowCompressed : public testing::TestWithParam<FrameCodec> {
 protected:
  void SetUp() override {
    std::string nothing;
    const std::string frame = stored_frame(GetParam(), "");
    if (!FrameInflater()
             .inflate(GetParam(), "/x", as_bytes(std::span(frame)), as_writable_bytes(std::span(nothing)))
             .is_ok())
      GTEST_SKIP() << "this build has no " << frame_codec_name(GetParam());
  }
  static TestMessage compressed(const TestMessage& plain, const ArrowFrames& frames = nullptr) {
    return arrow_compressed(
        plain, GetParam() == FrameCodec::kLz4 ? 0 : 1,
        frames ? frames : [](size_t, const std::string& b) { return framed(GetParam(), b); });
  }
  static TestArrow all_compressed(TestArrow table) {
    for (TestMessage& message : table.messages) message = compressed(message);
    return table;
  }
  std::string uri(const std::string& bytes, const std::string& keys = "") {
    return "arrow:" + dir_.write("a.arrow", bytes) + keys;
  }
  SourceRef open(const std::string& bytes, IoMode io = IoMode::kAuto, const std::string& keys = "") {
    Result<SourceRef> source = open_source(uri(bytes, keys), test_context(io));
    EXPECT_TRUE(source.is_ok()) << (source.is_ok() ? "" : source.status().message());
    return source.is_ok() ? source.take() : nullptr;
  }
  void expect_same_rows(const TestArrow& table, const TestArrow& plain) {
    const Fetched expected = fetch_all(*open(plain.file()));
    for (const std::string& bytes : {table.file(), table.stream()}) {
      for (const IoMode io : kIoModes) {
        const SourceRef source = open(bytes, io);
        ASSERT_NE(source, nullptr);
        for (const bool cold : {false, true}) {
          const Fetched got = fetch_all(*source, {.cold = cold});
          EXPECT_TRUE(got.errors.empty());
          EXPECT_EQ(got.bytes, expected.bytes);
        }
      }
    }
  }

  TempDir dir_;
};

TEST_P(ArrowCompressed, EveryKindOfBufferIsReadAsWithoutCompression) {
  const TestArrow plain = every_kind();
  expect_same_rows(all_compressed(plain), plain);
}

TEST_P(ArrowCompressed, BuffersThatCompressionWouldLengthenAreStoredAsTheyAre) {
  const TestArrow plain = every_kind();
  TestArrow table = plain;
  for (TestMessage& message : table.messages) {
    message = compressed(message, [](size_t number, const std::string& buffer) {
      return number % 2 == 0 ? as_it_is(buffer) : framed(GetParam(), buffer);
    });
  }
  expect_same_rows(table, plain);
}

TEST_P(ArrowCompressed, OnlySomeBatchesMayBe) {
  const TestArrow plain = every_kind();
  for (size_t which = 0; which < plain.messages.size(); ++which) {
    TestArrow table = plain;
    table.messages[which] = compressed(table.messages[which]);
    expect_same_rows(table, plain);
  }
}

TEST_P(ArrowCompressed, ColumnsThatAreNotAskedForAreNotInflated) {
  TestArrow table = arrow_table({{numbers<int32_t>("x", {1, 2}), numbers<int64_t>("y", {3, 4})}});
  table.messages[0] = compressed(table.messages[0], [](size_t number, const std::string& buffer) {
    return number == 1 ? framed(GetParam(), buffer) : stored_bytes(int64_t{16}) + "no frame";
  });
  const SourceRef source = open(table.file(), IoMode::kAuto, "?fields=x");
  ASSERT_NE(source, nullptr);
  EXPECT_EQ(values_of<int32_t>(fetch_all(*source).bytes[0][1]), std::vector<int32_t>{2});
  EXPECT_EQ(open_source(uri(table.file(), "?fields=y"), test_context()).status().code(), Code::kCorrupt);
}

TEST_P(ArrowCompressed, TheNotesSayWhatIsInMemory) {
  const TestArrow table = all_compressed(arrow_table({{numbers<int32_t>("x", {1, 2, 3})}}));
  EXPECT_THAT(open(table.file())->info().notes,
              ElementsAre(HasSubstr(concat("compressed with ", frame_codec_name(GetParam()),
                                           ": 64 bytes decompressed into memory"))));
}

TEST_P(ArrowCompressed, MemoryIsCountedAndItsLimitIsKept) {
  const TestArrow table = all_compressed(arrow_table({{texts("t", {std::string(100'000, 'a')})}}));
  OpenContext context = test_context();
  context.memory = HostMemory::create({}, 50'000);
  const Status status = open_source(uri(table.file()), context).status();
  EXPECT_EQ(status.code(), Code::kOverBudget) << status.message();
  EXPECT_THAT(status.message(), HasSubstr("decompressing "));
  EXPECT_THAT(status.message(), HasSubstr("a.arrow"));
  context.memory = HostMemory::create({}, 1'000'000);
  const SourceRef source = open_source(uri(table.file()), context).take();
  EXPECT_GE(context.memory->in_use_bytes(), 100'000);
  EXPECT_LT(context.memory->in_use_bytes(), 200'000) << "compressed bytes are given back";
}

TEST_P(ArrowCompressed, ABadRowIsSaidWithoutAnOffsetThatIsNotInTheFile) {
  TestColumn bad = texts("t", {"a", "b"});
  bad.buffers[1] = stored_bytes(std::vector<int32_t>{0, 9, 2});
  const TestArrow table = all_compressed(arrow_table({{bad}}));
  const Fetched rows = fetch_all(*open(table.file()));
  ASSERT_FALSE(rows.errors.empty());
  const std::string message(rows.errors.begin()->second.message());
  EXPECT_THAT(message, HasSubstr("a.arrow"));
  EXPECT_THAT(message, testing::Not(HasSubstr("offset ")));
}

TEST_P(ArrowCompressed, ACutFileIsReadUpToTheCutWhereTheUriSaysSo) {
  const TestArrow table = all_compressed(every_kind());
  const std::string bytes = table.stream();
  const SourceRef source = open(bytes.substr(0, bytes.size() - 100), IoMode::kAuto, "?end=cut");
  ASSERT_NE(source, nullptr);
  EXPECT_EQ(source->count(), 6);
  EXPECT_THAT(source->info().notes, testing::Contains(HasSubstr("are left out")));
}

TEST_P(ArrowCompressed, ManyBuffersAreInflatedByThreadsAndTheFirstDamagedOneIsNamed) {
  std::vector<std::vector<TestColumn>> batches;
  std::vector<std::vector<int32_t>> expected;
  for (int32_t b = 0; b < 200; ++b) {
    batches.push_back({numbers<int32_t>("x", std::vector<int32_t>(50, b))});
    for (int i = 0; i < 50; ++i) expected.push_back({b});
  }
  TestArrow table = all_compressed(arrow_table(batches));
  const Fetched rows = fetch_all(*open(table.stream()));
  for (size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(values_of<int32_t>(rows.bytes[0][i]), expected[i]);

  // The frame's magic, of batches 150 and 40 to 60.
  for (size_t b = 40; b < 60; ++b) table.messages[b].body[8] = 'x';
  table.messages[150].body[8] = 'x';
  const std::string bytes = table.stream();
  size_t first = 0;
  for (int i = 0; i < 20; ++i) {
    const Status status = open_source(uri(bytes), test_context()).status();
    EXPECT_EQ(status.code(), Code::kCorrupt);
    const std::string message(status.message());
    const size_t at = message.find("offset ");
    ASSERT_NE(at, std::string::npos) << message;
    const size_t offset = std::stoul(message.substr(at + 7));
    if (first == 0) first = offset;
    EXPECT_EQ(offset, first) << "whichever thread is faster";
    EXPECT_EQ(bytes[offset], 'x');
  }
}

INSTANTIATE_TEST_SUITE_P(Codecs, ArrowCompressed, testing::Values(FrameCodec::kLz4, FrameCodec::kZstd),
                         [](const auto& name) { return frame_codec_name(name.param); });

}  // namespace
}  // namespace dataline::arrow_compressed_test
