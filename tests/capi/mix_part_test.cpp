// dl_mix_part and dl_part over their releases: hosts that were compiled before `transform` was there; and recipes with it.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cstddef>
#include <string>

#include "tests/memory/temp_files.h"
#include "tests/support/job.h"

namespace dataline::tests::mix_part_test {
namespace {

using ::testing::HasSubstr;

Dataset made(dl_mix_part part, dl_status expected = DL_OK) {
  dl_dataset* dataset = nullptr;
  Error error;
  EXPECT_EQ(dl_dataset_mix(&part, 1, nullptr, 0, -1, nullptr, &dataset, &error), expected) << error.message;
  return Dataset(dataset);
}

// What hosts of the first release that had mixes write.
struct OldPart {
  dl_mix_part part = {};
  explicit OldPart(dl_dataset* dataset) {
    part.struct_size = offsetof(dl_mix_part, transform);
    part.name = "old";
    part.dataset = dataset;
    part.weight = 1;
    part.transform = "data: no such thing";  // not there for the library
  }
};

TEST(MixPart, OfAnOlderHostHasNoTransform) {
  const Dataset set = counting_dataset(4);
  const Dataset mix = made(OldPart(set.get()).part);
  dl_part part = {};
  part.struct_size = sizeof part;
  Error error;
  ASSERT_EQ(dl_dataset_part_at(mix.get(), 0, &part, &error), DL_OK) << error.message;
  EXPECT_STREQ(part.transform, "");
  part.struct_size = offsetof(dl_part, transform);  // written no further
  part.transform = "the host's";
  ASSERT_EQ(dl_dataset_part_at(mix.get(), 0, &part, &error), DL_OK) << error.message;
  EXPECT_STREQ(part.transform, "the host's");
}

TEST(MixPart, ItsTransformIsCopiedAndTold) {
  const Dataset set = counting_dataset(4);
  OldPart old(set.get());
  std::string text = "data: cast(f32)";
  old.part.struct_size = sizeof old.part;
  old.part.transform = text.c_str();
  const Dataset mix = made(old.part);
  text.assign(text.size(), 'x');
  dl_part part = {};
  part.struct_size = sizeof part;
  Error error;
  ASSERT_EQ(dl_dataset_part_at(mix.get(), 0, &part, &error), DL_OK) << error.message;
  EXPECT_STREQ(part.transform, "data: cast(f32)");
  EXPECT_EQ(dl_dataset_fields(mix.get(), nullptr)[0].dtype, DL_DTYPE_F32);
  const Loader loader = make_loader(mix);
  ASSERT_EQ(dl_loader_part_at(loader.get(), 0, &part, &error), DL_OK) << error.message;
  EXPECT_EQ(part.transform, nullptr);
}

TEST(MixPart, AnEmptyTransformIsNone) {
  const Dataset set = counting_dataset(4);
  OldPart old(set.get());
  old.part.struct_size = sizeof old.part;
  old.part.transform = "";
  const Dataset mix = made(old.part);
  EXPECT_EQ(next(make_loader(mix, {{"batch_size", "4"}})).values, (std::vector<uint64_t>{0, 1, 2, 3}));
}

// A recipe is a file, so what is wrong in it is corrupt data with the file's name, no option of the caller's.
TEST(MixPart, TheTransformOfARecipeIsRefusedWithTheRecipe) {
  TempDir folder;
  folder.write("a.bin", std::string(12, 'a'));
  const auto refused = [&](const std::string& transform) {
    folder.write(
        "mix.json",
        R"({"parts": [{"name": "a", "uri": "raw:a.bin?dtype=u8&shape=4", "weight": 1, "transform": ")" +
            transform + "\"}]}");
    dl_dataset* dataset = nullptr;
    Error error;
    EXPECT_EQ(dl_dataset_open(("mix:" + folder.path("mix.json")).c_str(), nullptr, &dataset, &error),
              DL_ERR_CORRUPT);
    EXPECT_EQ(dataset, nullptr);
    EXPECT_THAT(error.message, HasSubstr("mix.json: part a: "));
    return std::string(error.message);
  };
  EXPECT_THAT(refused("shrink(2)"), HasSubstr("shrink"));
  EXPECT_THAT(refused("hflip("), HasSubstr("column"));
  EXPECT_THAT(refused("picture: cast(f32)"), HasSubstr("picture"));
  EXPECT_THAT(refused("pad_to(bucket)"), HasSubstr("pad_to"));
}

}  // namespace
}  // namespace dataline::tests::mix_part_test
