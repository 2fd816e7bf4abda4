// The wire format of tf.train.Example: all that protobuf's readers take, and nothing that they refuse.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/tfrecord/example.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "core/source/tfrecord/features.h"
#include "tests/source/source_support.h"
#include "tests/source/tfrecord/tfrecord_files.h"

namespace dataline::example_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Bytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

// What a message says, or why it is none.
struct Read {
  std::map<std::string, Feature> features;
  std::string fault;
  bool sequence = false, plain = false;
};

Read read(std::string_view message) {
  Read out;
  ExampleReader reader(bytes_of(message));
  std::string_view name;
  for (Feature feature; reader.next(name, feature);) out.features[std::string(name)] = feature;
  if (reader.fault().what != nullptr) {
    out.fault = reader.fault().what;
    EXPECT_GE(reader.fault().at, bytes_of(message).data());
    EXPECT_LE(reader.fault().at, bytes_of(message).data() + message.size());
  }
  out.sequence = reader.is_sequence();
  out.plain = reader.is_plain();
  return out;
}

std::vector<int64_t> ints_of(std::string_view message, const std::string& name = "a") {
  const Read got = read(message);
  std::vector<int64_t> out(64);
  WireFault fault;
  const int64_t count =
      read_int_values(got.features.at(name), reinterpret_cast<std::byte*>(out.data()), 64, fault);
  EXPECT_EQ(fault.what, nullptr);
  out.resize(static_cast<size_t>(count));
  return out;
}

std::string example_of(const std::string& feature) { return example({{"a", feature}}); }

TEST(ExampleTest, EveryKindIsFoundByName) {
  const Read got =
      read(example({{"i", int_feature({1})}, {"f", float_feature({2})}, {"b", bytes_feature({"x"})}}));
  EXPECT_EQ(got.features.at("i").kind, FeatureKind::kInts);
  EXPECT_EQ(got.features.at("f").kind, FeatureKind::kFloats);
  EXPECT_EQ(got.features.at("b").kind, FeatureKind::kBytes);
  EXPECT_TRUE(got.plain);
  EXPECT_FALSE(got.sequence);
}

TEST(ExampleTest, IntsComePackedOrOneByOneOrBoth) {
  const std::vector<int64_t> values = {0, 127, 128, -1, INT64_MAX, INT64_MIN};
  EXPECT_EQ(ints_of(example_of(int_feature(values))), values);
  std::string apart;
  for (const int64_t value : values) apart += wire_int(1, value);
  EXPECT_EQ(ints_of(example_of(wire_bytes(3, apart))), values);
  EXPECT_THAT(ints_of(example_of(wire_bytes(3, wire_int(1, 5) + wire_bytes(1, packed_ints({6, 7}))))),
              ElementsAre(5, 6, 7));
}

TEST(ExampleTest, NoMoreValuesAreWrittenThanThereIsRoomFor) {
  const std::string message = example_of(int_feature({1, 2, 3}));
  const Read got = read(message);
  int64_t out[3] = {-9, -9, -9};
  WireFault fault;
  EXPECT_EQ(read_int_values(got.features.at("a"), reinterpret_cast<std::byte*>(out), 2, fault), 3);
  EXPECT_THAT(out, ElementsAre(1, 2, -9));
}

TEST(ExampleTest, FloatsInOnePieceAreNotCopied) {
  const std::string whole = example_of(float_feature({1, 2, 3}));
  WireFault fault;
  FloatValues values = find_float_values(read(whole).features.at("a"), fault);
  EXPECT_EQ(values.count, 3);
  EXPECT_THAT(values_of<float>({reinterpret_cast<const char*>(values.packed), 12}), ElementsAre(1, 2, 3));

  const std::string apart = example_of(
      wire_bytes(2, wire_tag(1, 5) + raw_bytes(1.0f) + wire_bytes(1, raw_bytes(std::vector<float>{2, 3}))));
  const Feature feature = read(apart).features.at("a");
  values = find_float_values(feature, fault);
  EXPECT_EQ(values.count, 3);
  EXPECT_EQ(values.packed, nullptr);
  float out[3];
  copy_float_values(feature, reinterpret_cast<std::byte*>(out));
  EXPECT_THAT(out, ElementsAre(1, 2, 3));
}

TEST(ExampleTest, TheLastOfTwoEntriesOfANameIsValid) {
  EXPECT_THAT(
      ints_of(example({{"a", int_feature({1})}, {"b", int_feature({2})}, {"a", int_feature({3, 4})}})),
      ElementsAre(3, 4));
  // Also where the features come in two messages, which are one.
  EXPECT_THAT(ints_of(example({{"a", int_feature({1})}}) + example({{"a", int_feature({5})}})),
              ElementsAre(5));
}

TEST(ExampleTest, TheLastKindOfAFeatureIsValidAndItsListsAreJoined) {
  EXPECT_THAT(ints_of(example_of(int_feature({1}) + int_feature({2}))), ElementsAre(1, 2));
  EXPECT_THAT(ints_of(example_of(int_feature({1}) + float_feature({2}) + int_feature({3}))), ElementsAre(3));
  EXPECT_EQ(read(example_of(int_feature({1}) + bytes_feature({}))).features.at("a").kind,
            FeatureKind::kBytes);
}

TEST(ExampleTest, UnknownFieldsAreSkippedByTheirWireType) {
  const std::string unknown =
      wire_int(9, -1) + wire_tag(10, 1) + "12345678" + wire_bytes(2000, "text") + wire_tag(11, 5) + "1234";
  const std::string list = unknown + wire_bytes(1, packed_ints({4})) + unknown;
  const std::string feature = unknown + wire_bytes(3, list) + unknown;
  const std::string entry = unknown + wire_bytes(1, "a") + unknown + wire_bytes(2, feature) + unknown;
  const std::string message = unknown + wire_bytes(1, unknown + wire_bytes(1, entry) + unknown) + unknown;
  EXPECT_THAT(ints_of(message), ElementsAre(4));
  EXPECT_FALSE(read(message).plain);
  // A known number of another wire type is unknown too.
  EXPECT_THAT(ints_of(wire_int(1, 3) + example_of(wire_int(3, 1) + int_feature({4}))), ElementsAre(4));
}

TEST(ExampleTest, AFeatureWithoutAListIsNone) {
  EXPECT_EQ(read(example_of("")).features.at("a").kind, FeatureKind::kNone);
  EXPECT_EQ(read(wire_bytes(1, wire_bytes(1, wire_bytes(1, "a")))).features.at("a").kind, FeatureKind::kNone);
  EXPECT_TRUE(read("").features.empty());
}

TEST(ExampleTest, AnEmptyListHasNoValues) {
  EXPECT_TRUE(ints_of(example_of(int_feature({}))).empty());
  EXPECT_TRUE(ints_of(example_of(wire_bytes(3, wire_bytes(1, "")))).empty());
}

TEST(ExampleTest, WhatIsNoMessageSaysWhy) {
  const std::string good = example_of(int_feature({300}));
  EXPECT_THAT(read(good.substr(0, good.size() - 1)).fault, HasSubstr("longer than the remaining bytes"));
  EXPECT_THAT(read("\x08").fault, HasSubstr("is truncated"));
  EXPECT_THAT(read("\x08" + std::string(10, '\xff')).fault, HasSubstr("more than 64 bits"));
  EXPECT_THAT(read("\x08" + std::string(9, '\xff') + "\x02").fault, HasSubstr("more than 64 bits"));
  EXPECT_THAT(read(std::string("\0\0", 2)).fault, HasSubstr("field number"));
  EXPECT_THAT(read(wire_tag(uint64_t{1} << 29, 0) + "1").fault, HasSubstr("field number"));
  EXPECT_THAT(read("\x0b").fault, HasSubstr("wire type"));
  EXPECT_THAT(read("\x0c").fault, HasSubstr("wire type"));
  EXPECT_THAT(read("\x0e").fault, HasSubstr("wire type"));
  EXPECT_THAT(read("\x09"
                   "1234567")
                  .fault,
              HasSubstr("longer"));
  EXPECT_THAT(read(wire_bytes(1, wire_bytes(1, wire_bytes(2, "") + wire_bytes(2, "")))).fault,
              HasSubstr("two values"));
}

TEST(ExampleTest, BrokenValuesSayWhy) {
  WireFault fault;
  const std::string floats = example_of(wire_bytes(2, wire_bytes(1, "12345")));
  EXPECT_EQ(find_float_values(read(floats).features.at("a"), fault).count, -1);
  EXPECT_THAT(fault.what, HasSubstr("four bytes"));
  fault = {};
  const std::string ints = example_of(wire_bytes(3, wire_bytes(1, "\x80")));
  EXPECT_EQ(read_int_values(read(ints).features.at("a"), nullptr, 0, fault), -1);
  EXPECT_THAT(fault.what, HasSubstr("is truncated"));
  fault = {};
  const std::string text = example_of(wire_bytes(1, "\x0a\x05xx"));
  EXPECT_EQ(read_bytes_values(read(text).features.at("a"), fault).count, -1);
  EXPECT_THAT(fault.what, HasSubstr("longer"));
}

TEST(ExampleTest, SequenceExamplesAreToldFromExamplesWithUnknownFields) {
  const std::string list = wire_bytes(1, int_feature({1})) + wire_bytes(1, int_feature({2}));
  const std::string lists = wire_bytes(1, wire_bytes(1, "t") + wire_bytes(2, list));
  const std::string context = example({{"n", int_feature({1})}});
  EXPECT_TRUE(is_sequence_example(bytes_of(context + wire_bytes(2, lists))));
  EXPECT_TRUE(is_sequence_example(bytes_of(wire_bytes(2, lists))));
  EXPECT_FALSE(is_sequence_example(bytes_of(context)));
  EXPECT_FALSE(is_sequence_example(bytes_of(context + wire_bytes(2, "free text"))));
  EXPECT_FALSE(is_sequence_example(bytes_of(context + wire_bytes(2, ""))));
  EXPECT_TRUE(read(context + wire_bytes(2, lists)).sequence);
}

TEST(ExampleTest, OnlyWhatAnExamplesWriterWritesIsPlain) {
  EXPECT_TRUE(is_plain_example(bytes_of(example_of(int_feature({1})))));
  EXPECT_FALSE(is_plain_example(bytes_of("")));
  EXPECT_FALSE(is_plain_example(bytes_of("hello")));
  EXPECT_FALSE(is_plain_example(bytes_of(example_of(""))));
  EXPECT_FALSE(is_plain_example(bytes_of(example({{"", int_feature({1})}}))));
  EXPECT_FALSE(is_plain_example(bytes_of(example_of(wire_bytes(3, wire_bytes(1, "\x80"))))));
  EXPECT_FALSE(is_plain_example(bytes_of(example_of(int_feature({1})) + wire_int(7, 1))));
}

}  // namespace
}  // namespace dataline::example_test
