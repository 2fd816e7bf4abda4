// Datasets opened without waiting. The first line of the log holds the opening until the test lets it go on.
// SPDX-License-Identifier: Apache-2.0
#include <chrono>

#include "tests/cpp/support.h"
#include "tests/memory/temp_files.h"
#include "tests/support/gated_log.h"

namespace dataline::cpp_tests::opening_test {
namespace {

using namespace std::chrono_literals;

class CppOpening : public ::testing::Test {
 protected:
  CppOpening() {
    for (int i = 0; i < 300; ++i) dir_.write("shards/" + std::to_string(i) + ".bin", "xyz");
  }

  ~CppOpening() override { log_.let_go(); }

  // An opening that stands still in the middle.
  Opening held() {
    Options options;
    options.set_log(log_.table());
    Opening opening(uri_, options);
    log_.wait_held();
    return opening;
  }

  TempDir dir_;
  std::string uri_ = "raw:" + dir_.path("shards") + "?dtype=u8&shape=1";
  dataline::tests::GatedLog log_;
};

TEST_F(CppOpening, HandsTheDatasetOutAndTellsHowFarItIs) {
  Opening opening = held();
  EXPECT_EQ(opening.wait(0s).status(), DL_TIMEOUT);
  EXPECT_EQ(opening.progress().total_files, 300);
  EXPECT_FALSE(opening.progress().done);
  log_.let_go();
  const Dataset dataset = opening.wait().value();
  EXPECT_EQ(dataset.size(), 900);
  EXPECT_EQ(opening.progress().files, 300);
  EXPECT_TRUE(opening.progress().done);
  EXPECT_GE(opening.wait_handle(), 0);
  EXPECT_EQ(opening.try_wait().status(), DL_ERR_WRONG_STATE) << "it was handed out";
}

TEST_F(CppOpening, ACancelIsAResultAndAnErrorIsThrown) {
  Opening opening = held();
  opening.cancel();
  log_.let_go();
  EXPECT_EQ(opening.wait().status(), DL_CANCELLED);
  Opening nowhere("npy:" + dir_.path("nowhere.npy"));
  EXPECT_EQ(nowhere.try_wait().status(), DL_ERR_NOT_FOUND);
  EXPECT_EQ(thrown_by([&] { static_cast<void>(nowhere.wait()); }).code(), DL_ERR_NOT_FOUND);
}

TEST_F(CppOpening, GoneInTheMiddleItEndsAndAnEmptyOneFails) {
  {
    const Opening opening = held();
    log_.let_go();
  }
  Opening empty;
  EXPECT_FALSE(empty);
  empty.cancel();
  EXPECT_EQ(empty.try_wait().status(), DL_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(empty.try_progress().status(), DL_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(empty.try_wait_handle().status(), DL_ERR_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace dataline::cpp_tests::opening_test
