// Files as TensorFlow 2.21 wrote them (tf.io.TFRecordWriter, tf.train.Example), byte for byte.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/source/open.h"
#include "tests/source/located.h"
#include "tests/source/tfrecord/tfrecord_files.h"

namespace dataline::tensorflow_test {
namespace {

using testing::ElementsAre;
using Rows = std::vector<std::string>;

std::string unhex(std::string_view text) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string out;
  for (size_t i = 0; i + 1 < text.size(); i += 2)
    out += static_cast<char>(digit(text[i]) * 16 + digit(text[i + 1]));
  return out;
}

// {"image/encoded": [b"\xff\xd8"], "label": [-7], "box": [0.5, -1.25]}, {[b""], [2 ** 62], [1e-3, 3.0]}
const std::string kExamples = unhex(
    "490000000000000036250ea30a470a130a03626f78120c120a0a080000003f0000a0bf0a170a0d696d6167652f656e636f646564"
    "12060a040a02ffd80a170a056c6162656c120e1a0c0a0af9ffffffffffffffff016c859c2246000000000000007235b9a50a440a"
    "130a03626f78120c120a0a086f12833a000040400a150a0d696d6167652f656e636f64656412040a020a000a160a056c6162656c"
    "120d1a0b0a098080808080808080400a006546");
// b"hello", b""
const std::string kTexts =
    unhex("0500000000000000eab2043e68656c6c6fbb1f1c19000000000000000029039807d8ea82a2");
// {"label": [1], "x": [2.0]}, {"label": [2], "x": [3.0]} with the compressions GZIP and ZLIB
const std::string kGzip = unhex(
    "1f8b080000000000000353648000c6ea37dfb8e4b9f8b85873129352738458a598b91819b978b9182b843884d8b858806a1c2cfe"
    "2c"
    "fea4884f03138a060787e99b030f0000f88d6ddd62000000");
const std::string kZlib = unhex(
    "789c53648000c6ea37dfb8e4b9f8b85873129352738458a598b91819b978b9182b843884d8b858806a1c2cfe2cfea4884f03138a"
    "06"
    "0787e99b030f000039fe11b8");
// A SequenceExample: context {"n": [1]}, feature list "t" of [1] and [2].
const std::string kSequence =
    unhex("0a0c0a0a0a016e12051a030a010112150a130a0174120e0a051a030a01010a051a030a0102");
// {"e": Feature(), "y": [b"a", b"bc"], "z": an empty int64_list}
const std::string kKinds = unhex("0a200a050a016512000a0e0a017912090a070a01610a0262630a070a017a12021a00");

class TensorFlowFiles : public ::testing::Test {
 protected:
  Result<SourceRef> open(const std::string& bytes, const std::string& keys = "") {
    return open_source("tfrecord:" + dir_.write("a.tfrecord", bytes) + keys, test_context());
  }
  TempDir dir_;
};

TEST_F(TensorFlowFiles, ExamplesComeOutAsTheyWentIn) {
  const Fetched rows = fetch_all(*open(kExamples).take());
  EXPECT_TRUE(rows.errors.empty());
  EXPECT_THAT(values_of<float>(rows.bytes[0][0]), ElementsAre(0.5f, -1.25f));
  EXPECT_THAT(values_of<float>(rows.bytes[0][1]), ElementsAre(1e-3f, 3.0f));
  EXPECT_EQ(rows.bytes[1], (Rows{"\xff\xd8", ""}));
  EXPECT_THAT(values_of<int64_t>(rows.bytes[2][0]), ElementsAre(-7));
  EXPECT_THAT(values_of<int64_t>(rows.bytes[2][1]), ElementsAre(int64_t{1} << 62));
}

TEST_F(TensorFlowFiles, AreWhatTheTestsWrite) {
  EXPECT_EQ(kTexts, record("hello") + record(""));
  EXPECT_EQ(kExamples.substr(0, 89), example_record({{"box", float_feature({0.5, -1.25})},
                                                     {"image/encoded", bytes_feature({"\xff\xd8"})},
                                                     {"label", int_feature({-7})}}));
  EXPECT_EQ(kKinds, example({{"e", ""}, {"y", bytes_feature({"a", "bc"})}, {"z", int_feature({})}}));
}

TEST_F(TensorFlowFiles, BytesAreRead) {
  EXPECT_EQ(fetch_all(*open(kTexts).take()).bytes[0], (Rows{"hello", ""}));
}

TEST_F(TensorFlowFiles, GzipIsInflatedAndZlibRefused) {
  const Fetched rows = fetch_all(*open(kGzip).take());
  EXPECT_THAT(values_of<int64_t>(rows.bytes[0][0] + rows.bytes[0][1]), ElementsAre(1, 2));
  EXPECT_THAT(values_of<float>(rows.bytes[1][0] + rows.bytes[1][1]), ElementsAre(2.0f, 3.0f));
  expect_error(open(kZlib), Code::kUnsupported, {"zlib data", "without compression"});
}

TEST_F(TensorFlowFiles, SequencesAreRefusedByName) {
  expect_error(open(record(kSequence)), Code::kUnsupported, {"record 0", "tf.train.SequenceExample"});
  const SourceRef source = open(example_record({{"n", int_feature({1})}}) + record(kSequence)).take();
  const Fetched rows = fetch_all(*source);
  ASSERT_EQ(rows.errors.size(), 1u);
  EXPECT_EQ(rows.errors.at(1).code(), Code::kUnsupported);
  EXPECT_EQ(fetch_all(*open(record(kSequence), "?records=bytes").take()).bytes[0], Rows{kSequence});
}

TEST_F(TensorFlowFiles, AnEmptyFeatureIsMissingAndAnEmptyListIsNot) {
  const SourceRef source = open(record(kKinds), "?fields=e:i64,z:i64[]&nulls=fill(4)").take();
  const Fetched rows = fetch_all(*source);
  EXPECT_TRUE(rows.errors.empty());
  EXPECT_THAT(values_of<int64_t>(rows.bytes[0][0]), ElementsAre(4));
  EXPECT_EQ(rows.bytes[1][0], "");
}

}  // namespace
}  // namespace dataline::tensorflow_test
