// Which fields a transform is for: those it names, the only one, or the image.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <memory>
#include <string_view>
#include <vector>

#include "core/transform/transform.h"
#include "tests/transform/support/field_text.h"

namespace dataline::fields_test {
namespace {

Result<CompiledTransforms> compile(std::string_view text, std::vector<std::string_view> fields) {
  std::vector<Field> all;
  for (std::string_view field : fields) all.push_back(field_from(field));
  return compile_transforms(text, all);
}

TEST(Fields, AreChosenByNameByBeingAloneOrByBeingTheImage) {
  const auto both = compile("y, x: cast(i64)", {"x:u16[4]", "y:u16[4]", "z:u16[4]"});
  ASSERT_TRUE(both.is_ok());
  EXPECT_EQ(written(both.value().programs[0]->output()), "i64[4]");
  EXPECT_EQ(written(both.value().programs[1]->output()), "i64[4]");
  EXPECT_TRUE(both.value().programs[2]->identity());
  const auto image = compile("normalize(mnist); label: one_hot(10)", {"label:u8", "image:u8[28x28]HW"});
  ASSERT_TRUE(image.is_ok());
  EXPECT_EQ(written(image.value().programs[0]->output()), "f32[10]");
  EXPECT_EQ(written(image.value().programs[1]->output()), "f32[28x28]HW");
}

TEST(Fields, DecodeTakesTheImageAndLeavesTheOthers) {
  const auto both =
      compile("decode, resize(8x8), chw; label: one_hot(10)", {"image:?u8[0]", "label:i64", "key:?u8[0]"});
  ASSERT_TRUE(both.is_ok()) << both.status().message();
  EXPECT_EQ(written(both.value().programs[0]->output()), "u8[3x8x8]CHW");
  EXPECT_EQ(written(both.value().programs[2]->output()), "?u8[-1]");
  EXPECT_TRUE(both.value().programs[0]->heavy());
  EXPECT_FALSE(both.value().programs[1]->heavy() || both.value().programs[2]->heavy());
  const auto wrong = compile("image, label: decode", {"image:?u8[0]", "label:i64"});
  ASSERT_FALSE(wrong.is_ok());
  EXPECT_EQ(wrong.status().message(),
            "field 'label': transform: column 15: decode: expected encoded bytes, u8[-1], got i64");
}

TEST(Fields, WrongOnesAreErrorsThatListThem) {
  auto wrong = compile("imagee: chw", {"image:u8[4x4]", "label:u8"});
  ASSERT_FALSE(wrong.is_ok());
  EXPECT_EQ(wrong.status().code(), Code::kNoSuchField);
  EXPECT_EQ(wrong.status().column(), 1);
  EXPECT_EQ(wrong.status().message(),
            "transform: column 1: expected a field (image, label), got 'imagee', did you mean 'image'?");
  wrong = compile("x: chw; cast(i64)", {"x:u8[4x4]", "y:u8"});
  ASSERT_FALSE(wrong.is_ok());
  EXPECT_EQ(wrong.status().code(), Code::kNoSuchField);
  EXPECT_EQ(wrong.status().column(), 9);
  EXPECT_EQ(wrong.status().message(),
            "transform: column 9: expected a field name (x, y) before these operators, got none");
  for (const auto& [text, column] : std::vector<std::pair<std::string_view, int64_t>>{
           {"x, x: cast(i64)", 4}, {"x: cast(i64); x: cast(i64)", 15}, {"image: flatten; cast(u8)", 17}}) {
    wrong = compile(text, {"x:u8[4x4]", "image:u8[4]"});
    ASSERT_FALSE(wrong.is_ok()) << text;
    EXPECT_EQ(wrong.status().code(), Code::kBadTransform);
    EXPECT_EQ(wrong.status().column(), column) << text;
    EXPECT_NE(wrong.status().message().find("expected each field once"), std::string::npos) << text;
  }
  wrong = compile("x, y: chw", {"x:u8[4x4]", "y:u8"});
  ASSERT_FALSE(wrong.is_ok());
  EXPECT_EQ(wrong.status().message(),
            "field 'y': transform: column 7: chw: expected an image of 2 or 3 dims, got u8");
}

}  // namespace
}  // namespace dataline::fields_test
