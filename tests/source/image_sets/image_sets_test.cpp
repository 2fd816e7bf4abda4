// MNIST and CIFAR from their usual directories.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/image_sets/image_sets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "core/source/open.h"
#include "tests/source/image_sets/image_set_files.h"
#include "tests/support/places.h"

namespace dataline::image_sets_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ImageSetsTest : public testing::Test {
 protected:
  SourceRef open(const std::string& uri, IoMode io = IoMode::kAuto) {
    Result<SourceRef> source = open_source(uri, test_context(io));
    EXPECT_TRUE(source.is_ok()) << uri << ": " << (source.is_ok() ? "" : source.status().message());
    return source.is_ok() ? source.take() : nullptr;
  }
  // One label a record, as the numbers delivered.
  std::vector<int64_t> labels(const Source& source, size_t field = 1) {
    std::vector<int64_t> out;
    Fetched rows = fetch_all(source);
    for (const std::string& bytes : rows.bytes[field]) {
      out.push_back(bytes.size() == 1 ? static_cast<uint8_t>(bytes[0]) : values_of<int64_t>(bytes).at(0));
    }
    return out;
  }
  std::string schema_text(const Source& source) {
    std::string out;
    for (const Field& field : source.schema().fields) {
      out += concat(field.name, " ", field_type_text(field), " ", field.axes, ";");
    }
    return out;
  }

  TempDir dir_;
};

TEST_F(ImageSetsTest, MnistHasImagesAndLabels) {
  write_mnist(dir_);
  SourceRef source = open("mnist:" + dir_.path("m"));
  EXPECT_EQ(source->info().format, "mnist");
  EXPECT_EQ(schema_text(*source), "image u8[28x28] HW;label i64 ;");
  EXPECT_THAT(labels(*source), ElementsAre(7, 0, 9));
  EXPECT_EQ(fetch_all(*source).bytes[0][2], std::string(784, '\x02'));
  EXPECT_THAT(labels(*open("mnist:" + dir_.path("m") + "?split=test")), ElementsAre(1, 2));
}

TEST_F(ImageSetsTest, LabelsComeAsStoredWhenAsked) {
  write_mnist(dir_);
  write_cifar10(dir_);
  write_cifar100(dir_);
  SourceRef mnist = open("mnist:" + dir_.path("m") + "?label_dtype=u8");
  EXPECT_EQ(schema_text(*mnist), "image u8[28x28] HW;label u8 ;");
  EXPECT_THAT(labels(*mnist), ElementsAre(7, 0, 9));
  EXPECT_EQ(mnist->scratch_bytes(0), 0);
  EXPECT_THAT(labels(*open("cifar10:" + dir_.path("c") + "?label_dtype=u8&split=test")), ElementsAre(0));
  EXPECT_THAT(labels(*open("cifar100:" + dir_.path("h") + "?label_dtype=u8"), 2), ElementsAre(19, 0));
}

TEST_F(ImageSetsTest, PackedFilesAndOtherUsualNamesAreFound) {
  if (!gzip_is_read()) GTEST_SKIP() << "this build has no libdeflate";
  dir_.write("a/train-images-idx3-ubyte.gz", gzip_stored(mnist_images(3)));
  dir_.write("a/train-labels-idx1-ubyte", mnist_labels({1, 2, 3}));
  dir_.write("b/MNIST/raw/train-images.idx3-ubyte", mnist_images(3));
  dir_.write("b/MNIST/raw/train-labels.idx1-ubyte.gz", gzip_stored(mnist_labels({1, 2, 3})));
  for (const char* name : {"a", "b", "b/MNIST", "b/MNIST/raw", "b/MNIST/raw/"}) {
    EXPECT_THAT(labels(*open("mnist:" + dir_.path(name))), ElementsAre(1, 2, 3)) << name;
  }
  EXPECT_THAT(open("mnist:" + dir_.path("a"))->info().notes, ElementsAre(HasSubstr("gzip")));
}

TEST_F(ImageSetsTest, APlainFileGoesBeforeItsPackedCopy) {
  write_mnist(dir_);
  dir_.write("m/train-labels-idx1-ubyte.gz", "no gzip");
  EXPECT_THAT(labels(*open("mnist:" + dir_.path("m"))), ElementsAre(7, 0, 9));
}

TEST_F(ImageSetsTest, Cifar10HasFiveFilesInOrder) {
  write_cifar10(dir_);
  SourceRef source = open("cifar10:" + dir_.path("c"));
  EXPECT_EQ(schema_text(*source), "image u8[3x32x32] CHW;label i64 ;");
  EXPECT_THAT(labels(*source), ElementsAre(1, 5, 2, 6, 3, 7, 4, 8, 5, 9));
  EXPECT_EQ(fetch_all(*source).bytes[0][4], std::string(3072, '\x03'));
  EXPECT_THAT(labels(*open("cifar10:" + dir_.path("c") + "?split=test")), ElementsAre(0));
}

TEST_F(ImageSetsTest, CifarFilesMayBePackedAndShort) {
  if (!gzip_is_read()) GTEST_SKIP() << "this build has no libdeflate";
  write_cifar10(dir_, "c/cifar-10-batches-bin");
  std::filesystem::remove(dir_.path("c/cifar-10-batches-bin/data_batch_3.bin"));
  dir_.write("c/cifar-10-batches-bin/data_batch_3.bin.gz", gzip_stored(cifar10_record(8, 1)));
  SourceRef source = open("cifar10:" + dir_.path("c"));
  EXPECT_THAT(labels(*source), ElementsAre(1, 5, 2, 6, 8, 4, 8, 5, 9));
}

TEST_F(ImageSetsTest, Cifar100HasCoarseLabelsToo) {
  write_cifar100(dir_);
  SourceRef source = open("cifar100:" + dir_.path("h"));
  EXPECT_EQ(schema_text(*source), "image u8[3x32x32] CHW;label i64 ;coarse i64 ;");
  EXPECT_THAT(labels(*source, 1), ElementsAre(99, 0));
  EXPECT_THAT(labels(*source, 2), ElementsAre(19, 0));
  EXPECT_EQ(fetch_all(*source).bytes[0][1], std::string(3072, '\x02'));
}

TEST_F(ImageSetsTest, EveryIoModeAndRunLengthGivesTheSameRows) {
  write_mnist(dir_);
  write_cifar100(dir_);
  for (const std::string& uri : {"mnist:" + dir_.path("m"), "cifar100:" + dir_.path("h")}) {
    std::vector<std::vector<std::string>> expected = fetch_all(*open(uri)).bytes;
    for (IoMode io : {IoMode::kMmap, IoMode::kPread, IoMode::kMemory}) {
      for (int64_t run_records : {1, 2, 64}) {
        for (bool cold : {false, true}) {
          FetchOptions options;
          options.run_records = run_records;
          options.cold = cold;
          EXPECT_EQ(fetch_all(*open(uri, io), options).bytes, expected) << uri;
        }
      }
    }
  }
}

TEST_F(ImageSetsTest, ALabelOutOfRangeFailsItsRecordAlone) {
  write_mnist(dir_);
  write_cifar10(dir_);
  write_cifar100(dir_);
  dir_.write("m/train-labels-idx1-ubyte", mnist_labels({7, 10, 9}));
  dir_.write("c/data_batch_2.bin", cifar10_record(3, 1) + cifar10_record(200, 1) + cifar10_record(4, 1));
  dir_.write("h/train.bin",
             cifar100_record(20, 5, 1) + cifar100_record(19, 100, 1) + cifar100_record(1, 2, 1));
  struct Case {
    std::string uri;
    std::vector<int64_t> bad_rows;
    std::string part;
  };
  for (const char* key : {"", "?label_dtype=u8"}) {
    for (const Case& c :
         {Case{"mnist:" + dir_.path("m"),
               {1},
               "train-labels-idx1-ubyte: record 1: label is 10, expected 0 to 9"},
          Case{"cifar10:" + dir_.path("c"), {3}, "data_batch_2.bin: record 1: label is 200, expected 0 to 9"},
          Case{
              "cifar100:" + dir_.path("h"), {0, 1}, "train.bin: record 0: coarse is 20, expected 0 to 19"}}) {
      Fetched rows = fetch_all(*open(c.uri + key));
      ASSERT_EQ(rows.errors.size(), c.bad_rows.size()) << c.uri;
      for (int64_t row : c.bad_rows) {
        EXPECT_EQ(rows.errors.at(row).code(), Code::kCorrupt);
        EXPECT_EQ(rows.errors.at(row).sample_index(), row);
      }
      EXPECT_THAT(rows.errors.at(c.bad_rows[0]).message(), HasSubstr(c.part));
    }
  }
}

TEST_F(ImageSetsTest, SeveralDirectoriesAreOneSet) {
  write_mnist(dir_, "a");
  write_mnist(dir_, "b");
  SourceRef source = open("mnist:" + dir_.path("a") + "," + dir_.path("b"));
  EXPECT_THAT(labels(*source), ElementsAre(7, 0, 9, 7, 0, 9));
}

TEST_F(ImageSetsTest, TheRealMnistFilesAreRead) {
  std::string path = tests::in_shared_data("mnist");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not here";
  if (!gzip_is_read()) GTEST_SKIP() << "this build has no libdeflate";
  SourceRef train = open("mnist:" + path);
  ASSERT_EQ(train->count(), 60'000);
  EXPECT_EQ(open("mnist:" + path + "?split=test")->count(), 10'000);
  std::vector<int64_t> seen = labels(*train);
  EXPECT_THAT(std::vector<int64_t>(seen.begin(), seen.begin() + 10),
              ElementsAre(5, 0, 4, 1, 9, 2, 1, 3, 1, 4));
  std::array<int64_t, 10> counts{};
  for (int64_t label : seen) ++counts[static_cast<size_t>(label)];
  EXPECT_THAT(counts, ElementsAre(5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949));
}

}  // namespace
}  // namespace dataline::image_sets_test
