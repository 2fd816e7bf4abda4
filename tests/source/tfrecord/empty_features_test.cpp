// Fields of TFRecord files whose first records say too little: features without values, without a list, and no features.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/source/open.h"
#include "tests/source/source_support.h"
#include "tests/source/tfrecord/tfrecord_files.h"

namespace dataline::empty_features_test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using Rows = std::vector<std::string>;

std::string ints(const std::vector<int64_t>& values) { return raw_bytes(values); }
std::string floats(const std::vector<float>& values) { return raw_bytes(values); }

class EmptyFeatures : public testing::Test {
 protected:
  Result<SourceRef> open(const std::string& bytes, const std::string& keys = "") {
    return open_source("tfrecord:" + dir_.write("a.tfrecord", bytes) + keys, test_context());
  }
  // "a i64[-1]: " and the rows of the only field.
  std::string field_of(const std::string& bytes, const std::string& keys = "") {
    const Result<SourceRef> source = open(bytes, keys);
    if (!source.is_ok()) return source.status().message();
    const Field& field = source.value()->schema().fields[0];
    return field.name + " " + field_type_text(field);
  }
  Rows rows_of(const std::string& bytes, const std::string& keys = "") {
    const Result<SourceRef> source = open(bytes, keys);
    if (!source.is_ok()) return {source.status().message()};
    const Fetched fetched = fetch_all(*source.value());
    for (const auto& [row, status] : fetched.errors) ADD_FAILURE() << row << ": " << status.message();
    return fetched.bytes[0];
  }

  TempDir dir_;
};

std::string one(const std::string& feature) { return example_record({{"a", feature}}); }

TEST_F(EmptyFeatures, AListWithoutValuesIsOfAnyLength) {
  const std::string i = one(int_feature({})) + one(int_feature({1, 2})) + one(int_feature({3}));
  EXPECT_EQ(field_of(i), "a i64[-1]");
  EXPECT_EQ(rows_of(i), (Rows{"", ints({1, 2}), ints({3})}));
  const std::string f = one(float_feature({})) + one(float_feature({1}));
  EXPECT_EQ(field_of(f), "a f32[-1]");
  EXPECT_EQ(rows_of(f), (Rows{"", floats({1})}));
}

TEST_F(EmptyFeatures, AFeatureWithoutAListHasTheTypeOfALaterOne) {
  const std::string none = one("");
  EXPECT_EQ(field_of(none + none + one(int_feature({1}))), "a i64[-1]");
  EXPECT_EQ(rows_of(none + none + one(int_feature({1}))), (Rows{"", "", ints({1})}));
  EXPECT_EQ(field_of(none + one(float_feature({1, 2}))), "a f32[-1]");
  EXPECT_EQ(rows_of(none + one(float_feature({1, 2}))), (Rows{"", floats({1, 2})}));
  EXPECT_EQ(field_of(none + one(bytes_feature({"x"}))), "a u8[-1]");
  EXPECT_EQ(rows_of(none + one(bytes_feature({"x"})), "?nulls=fill(0)"), (Rows{"", "x"}));
  EXPECT_EQ(field_of(none + one(int_feature({})) + one(int_feature({1}))), "a i64[-1]");
  EXPECT_EQ(field_of(none + one(int_feature({1})), "?fields=a"), "a i64[-1]");
  EXPECT_EQ(field_of(none + one(float_feature({1})), "?fields=a:f32"), "a f32");
}

TEST_F(EmptyFeatures, AStringThatIsNotThereIsABadSampleOrNull) {
  const std::string file = one(bytes_feature({})) + one(bytes_feature({"x"}));
  EXPECT_EQ(field_of(file), "a u8[-1]");
  const Fetched rows = fetch_all(*open(file).take());
  ASSERT_EQ(rows.errors.size(), 1u);
  EXPECT_THAT(
      rows.errors.at(0).message(),
      HasSubstr("record 0: no value in feature 'a', expected bytes (nulls=fill(0) makes it an empty row)"));
  EXPECT_EQ(rows_of(file, "?nulls=fill(0)"), (Rows{"", "x"}));
  const Fetched masked = fetch_all(*open(file, "?nulls=mask").take());
  EXPECT_EQ(masked.bytes[1], (Rows{std::string(1, '\0'), "\1"}));
}

TEST_F(EmptyFeatures, ADeclaredNumberOfValuesThatAreNotThereIsFilled) {
  for (const std::string& empty : {one(""), one(int_feature({})), example_record({})}) {
    const std::string file = one(int_feature({1, 2})) + empty;
    EXPECT_EQ(rows_of(file, "?fields=a:i64[2]&nulls=fill(5)"), (Rows{ints({1, 2}), ints({5, 5})}));
    EXPECT_EQ(fetch_all(*open(file, "?fields=a:i64[2]").take()).errors.size(), 1u);
  }
}

TEST_F(EmptyFeatures, WhereNoRecordHasValuesTheTypeHasToBeDeclared) {
  EXPECT_EQ(field_of(one("") + one("")), "data u8[-1]") << "nothing shows that these are Examples";
  expect_error(open(one("") + one(""), "?records=example"), Code::kUnsupported,
               {"record 0: feature 'a' is empty", "declare it in fields=, as in 'a:i64[]'"});
  EXPECT_EQ(rows_of(one("") + one(""), "?fields=a:i64[]"), (Rows{"", ""}));
}

TEST_F(EmptyFeatures, AnExampleWithoutFeaturesDecidesNothing) {
  for (const std::string& empty : {record(""), example_record({})}) {
    const std::string file = empty + empty + one(int_feature({1}));
    EXPECT_EQ(field_of(file), "a i64");
    const Fetched rows = fetch_all(*open(file).take());
    EXPECT_EQ(rows.errors.size(), 2u);
    EXPECT_EQ(rows_of(file, "?nulls=fill(0)"), (Rows{ints({0}), ints({0}), ints({1})}));
    EXPECT_EQ(field_of(empty + record("\xff\xfe no example")), "data u8[-1]");
    EXPECT_EQ(field_of(empty), "data u8[-1]");
  }
}

TEST_F(EmptyFeatures, ADamagedRecordThatIsLookedAtIsABadSampleOnly) {
  const auto with = [](const std::string& feature) {
    return example_record({{"a", feature}, {"b", int_feature({1})}});
  };
  std::string damaged = with(int_feature({9}));
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  const std::string file = with("") + damaged + record("no example") + with(int_feature({1}));
  EXPECT_EQ(field_of(file), "a i64[-1]");
  EXPECT_EQ(fetch_all(*open(file).take()).errors.size(), 2u);
  EXPECT_THAT(open(file).take()->info().notes,
              Contains("fields inferred from the first record and from those after it: a:i64[], b:i64"));
}

}  // namespace
}  // namespace dataline::empty_features_test
