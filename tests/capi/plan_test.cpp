// The plan of a job on the cpu: a stage for each field, and what travels in another's bytes.
// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/files.h"
#include "tests/support/plan_stages.h"

namespace dataline::tests::plan_test {
namespace {

TEST(Plan, OnTheCpuEachFieldHasOneStageWithItsOperatorsAsWritten) {
  const TempDir files;
  const std::string path = files.write("rows.bin", std::string(20 * 13, 'x'));
  const Opened opened = open_dataset("raw:" + path + "?fields=label:u8,image:u8[2x2x3]");
  ASSERT_EQ(opened.status, DL_OK) << opened.error.message;
  EXPECT_EQ(plan_of(make_loader(opened.dataset)),
            (std::vector<Stage>{{"label", "gather", DL_DEVICE_CPU, 1, 1},
                                {"image", "gather", DL_DEVICE_CPU, 12, 12}}));
  EXPECT_EQ(
      plan_of(make_loader(
          opened.dataset,
          {{"transform", " image :hflip( 0.5 ) ,normalize(mean=[0,0,0],std=1);label: cast(i64) "}})),
      (std::vector<Stage>{{"label", "cast(i64)", DL_DEVICE_CPU, 1, 8},
                          {"image", "hflip( 0.5 ), normalize(mean=[0,0,0],std=1)", DL_DEVICE_CPU, 12, 48}}));
}

TEST(Plan, FieldsThatShareTheirBytesSayWithWhom) {
  const TempDir files;
  const std::string path = files.write("tokens.bin", std::string(100, 't'));
  const Opened opened = open_dataset("tokens:" + path + "?dtype=u16&length=4&views=true");
  ASSERT_EQ(opened.status, DL_OK) << opened.error.message;
  EXPECT_EQ(plan_of(make_loader(opened.dataset)), (std::vector<Stage>{{"x", "gather", DL_DEVICE_CPU, 10, 10},
                                                                      {"y", "with x", DL_DEVICE_CPU, 0, 0}}));
}

TEST(Plan, RaggedFieldsVary) {
  const Dataset dataset = array_dataset(ragged_array_of("text", DL_DTYPE_U8, {3}, "abc", {0, 2, 3}));
  EXPECT_EQ(plan_of(make_loader(dataset)), (std::vector<Stage>{{"text", "gather", DL_DEVICE_CPU, -1, -1}}));
}

TEST(Plan, StagesOutsideAreRefusedByName) {
  const Loader loader = make_loader(counting_dataset(4));
  for (int32_t index : {-1, 1, INT32_MAX, INT32_MIN}) {
    dl_plan_stage stage = {};
    stage.struct_size = sizeof stage;
    Error error;
    EXPECT_EQ(dl_loader_plan_at(loader.get(), index, &stage, &error), DL_ERR_INVALID_ARGUMENT);
    EXPECT_NE(std::string(error.message).find("plan stage " + std::to_string(index)), std::string::npos)
        << error.message;
  }
}

}  // namespace
}  // namespace dataline::tests::plan_test
