// Datasets of the host's own memory, composed ones, and what they say of themselves.
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "tests/cpp/support.h"
#include "tests/memory/temp_files.h"

namespace dataline::cpp_tests::dataset_test {
namespace {

TEST(CppDataset, CopiedArraysStandAlone) {
  Dataset dataset;
  {
    const std::vector<float> pixels = {0, 1, 2, 3, 4, 5};
    const std::array<int64_t, 3> labels = {7, 8, 9};
    dataset = Dataset::copy_arrays({Array("image", pixels, {3, 1, 2}).axes("HW"), Array("label", labels)});
  }
  EXPECT_EQ(dataset.size(), 3);
  EXPECT_STREQ(dataset.format(), "arrays");
  ASSERT_EQ(dataset.fields().size(), 2);
  const View image = dataset.fields()["image"];
  EXPECT_EQ(image.dtype(), DL_DTYPE_F32);
  EXPECT_STREQ(image.axes(), "HW");
  EXPECT_EQ(std::vector<int64_t>(image.shape().begin(), image.shape().end()), (std::vector<int64_t>{1, 2}));
  Loader loader(dataset);
  const Batch batch = loader.next().value();
  const Span<const float> rows = batch["image"].as<float>();
  EXPECT_EQ(std::vector<float>(rows.begin(), rows.end()), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(batch["label"].as<int64_t>()[2], 9);
}

TEST(CppDataset, BorrowedArraysAreSeenInPlaceAndGivenBackOnce) {
  std::atomic<int> returned{0}, alive{0};
  const std::vector<uint64_t> values = count_to(6);
  Dataset dataset = Dataset::borrow_arrays({Array("data", values)}, Loan(&returned, &alive));
  EXPECT_EQ(alive, 1);
  Dataset part = dataset.subset(std::vector<int64_t>{5, 1});
  Loader loader(part);
  dataset = Dataset();
  part = Dataset();
  EXPECT_EQ(returned, 0) << "the loader needs it";
  Batch batch = loader.next().value();
  loader = Loader();
  EXPECT_EQ(returned, 1) << "batches need none of the arrays";
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(values_of(batch), (std::vector<uint64_t>{5, 1}));
}

TEST(CppDataset, KeepOwnsTheMemoryUntilTheEnd) {
  auto values = std::make_shared<std::vector<uint64_t>>(count_to(4));
  const std::weak_ptr<std::vector<uint64_t>> watch = values;
  Dataset dataset = Dataset::borrow_arrays({Array("data", *values)}, keep(values));
  values.reset();
  EXPECT_FALSE(watch.expired());
  Loader loader(dataset);
  EXPECT_EQ(loop(loader), count_to(4));
  loader = Loader();
  dataset = Dataset();
  EXPECT_TRUE(watch.expired());
}

TEST(CppDataset, ARefusedLoanIsNeverGivenBack) {
  std::atomic<int> returned{0}, alive{0};
  const std::vector<uint64_t> four = count_to(4), three = count_to(3);
  const Result<Dataset> uneven =
      Dataset::try_borrow_arrays({Array("a", four), Array("b", three)}, Loan(&returned, &alive));
  EXPECT_EQ(uneven.status(), DL_ERR_MISMATCH);
  EXPECT_TRUE(says(uneven.error(), {"4", "3", "'b'"}));
  EXPECT_EQ(Dataset::try_borrow_arrays({Array("a", 99, four.data(), {4})}, Loan(&returned, &alive)).status(),
            DL_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(Dataset::try_borrow_arrays({}, Loan(&returned, &alive)).status(), DL_ERR_INVALID_ARGUMENT);
  const Dataset dataset = counting(4);
  EXPECT_EQ(dataset.try_borrow_subset(std::vector<int64_t>{4}, Loan(&returned, &alive)).status(),
            DL_ERR_OUT_OF_RANGE);
  EXPECT_EQ(returned, 0);
  EXPECT_EQ(alive, 0);
}

TEST(CppDataset, AShapeThatIsNotThatOfTheContainerIsRefused) {
  const std::vector<uint8_t> bytes(24);
  for (const std::vector<int64_t>& shape :
       std::vector<std::vector<int64_t>>{{4, 7}, {4, 5}, {25}, {24, 2}, {3, INT64_MAX, 3}, {INT64_MAX, 9}}) {
    const Result<Dataset> made = Dataset::try_copy_arrays({Array("image", bytes, shape)});
    EXPECT_FALSE(made);
    if (shape[0] != 3) {
      EXPECT_TRUE(says(made.error(), {"image", "24 bytes"}));
    }
  }
  EXPECT_TRUE(Dataset::try_copy_arrays({Array("image", bytes, {4, 2, 3})}));
}

TEST(CppDataset, StridedRowsMustLieInTheContainer) {
  const std::vector<uint64_t> table = count_to(12);  // 4 rows of 3, of which `data` sees the first two
  const Dataset dataset = Dataset::copy_arrays({Array("data", table, {4, 2}).row_stride_bytes(24)});
  Loader loader(dataset);
  EXPECT_EQ(loop(loader), (std::vector<uint64_t>{0, 1, 3, 4, 6, 7, 9, 10}));
  EXPECT_EQ(Dataset::try_copy_arrays({Array("data", table, {5, 2}).row_stride_bytes(24)}).status(),
            DL_ERR_MISMATCH);
  EXPECT_EQ(Dataset::try_copy_arrays({Array("data", table, {2, 2}).row_stride_bytes(-24)}).status(),
            DL_ERR_MISMATCH);
}

TEST(CppDataset, AStrideOfZeroRepeatsTheRow) {
  const std::vector<uint64_t> row = {7, 8};
  const Dataset dataset = Dataset::copy_arrays({Array("data", row, {3, 2}).row_stride_bytes(0)});
  Loader loader(dataset);
  EXPECT_EQ(loop(loader), (std::vector<uint64_t>{7, 8, 7, 8, 7, 8}));
}

TEST(CppDataset, RaggedArraysKeepTheirLengths) {
  const std::vector<uint16_t> items = {1, 2, 3, 4, 5, 6};
  const std::vector<int64_t> offsets = {0, 2, 2, 3};
  const Dataset dataset = Dataset::copy_arrays({Array::ragged("words", items, offsets, {2})});
  EXPECT_EQ(dataset.size(), 3);
  EXPECT_TRUE(dataset.fields()[0].is_ragged());
  EXPECT_EQ(Dataset::try_copy_arrays({Array::ragged("words", items, offsets, {4})}).status(),
            DL_ERR_MISMATCH);
}

TEST(CppDataset, ComposedOnesHoldTheirParts) {
  Dataset joined, side;
  {
    const Dataset a = counting(2), b = counting(3);
    joined = Dataset::concat({a, b});
    side = Dataset::zip({{"x", b}, {"y", b}});
  }
  EXPECT_EQ(joined.size(), 5);
  Loader loader(joined);
  EXPECT_EQ(loop(loader), (std::vector<uint64_t>{0, 1, 0, 1, 2}));
  EXPECT_STREQ(side.fields()[0].name(), "x");
  EXPECT_STREQ(side.fields()[1].name(), "y");
  std::atomic<int> returned{0}, alive{0};
  const std::vector<int64_t> indices = {4, 4, 0};
  {
    const Dataset part = joined.borrow_subset(indices, Loan(&returned, &alive));
    Loader some(part);
    EXPECT_EQ(loop(some), (std::vector<uint64_t>{2, 2, 0}));
    EXPECT_EQ(returned, 0);
  }
  EXPECT_EQ(returned, 1);
}

TEST(CppDataset, FilesOpenByUriAndTellOfThemselves) {
  const TempDir dir;
  const std::string file = dir.write("tokens.bin", std::string(2 * 11, '\1'));
  const Dataset dataset("tokens:" + file + "?length=4");
  EXPECT_EQ(dataset.size(), 2);
  EXPECT_EQ(std::string(dataset.uri()), "tokens:" + file + "?length=4");
  EXPECT_STREQ(dataset.format(), "tokens");
  bool assumed = false;
  for (const std::string& note : dataset.notes())
    assumed = assumed || note.find("assumed") != std::string::npos;
  EXPECT_TRUE(assumed);
  EXPECT_TRUE(dataset.classes().empty());
  dir.write("pets/owl/1.jpg", "x");
  dir.write("pets/ant/1.jpg", "x");
  EXPECT_EQ(Dataset("folder:" + dir.path("pets")).classes(), (std::vector<std::string>{"ant", "owl"}));
  EXPECT_EQ(Dataset::try_open(file + "x").status(), DL_ERR_NOT_FOUND);
}

TEST(CppDataset, AMixDrawsInSharesAndDescribesItsParts) {
  Dataset mix;
  {
    const Dataset web = counting(50), code = counting(10);
    mix = Dataset::mix({MixPart::weighted("web", web, 3), MixPart::weighted("code", code, 1)}, {{2, {0, 1}}},
                       4096);
    EXPECT_TRUE(web.parts().empty());
    EXPECT_EQ(Dataset::try_mix({MixPart::weighted("a", web, 0)}).error().code(), DL_ERR_OUT_OF_RANGE);
    EXPECT_EQ(Dataset::try_mix({MixPart::weighted("a", web, 1)}, {{1, {}}}).error().code(),
              DL_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(Dataset::mix({MixPart::repeated("", web, 2)}).parts()[0].repeat, 2);
  }
  EXPECT_EQ(mix.parts()[0].share_asked, 0.75);
  Loader loader(mix, {{"batch_size", 2048}, {"shuffle", "full"}});
  int64_t drawn[2] = {0, 0};
  int steps = 0;
  for (Batch& batch : loader) {
    for (const int64_t source : batch.sample_sources()) ++drawn[source];
    if (++steps == 2) break;
  }
  EXPECT_EQ(drawn[0], 3072);
  EXPECT_EQ(drawn[1], 1024);
  const std::vector<dl_part> parts = loader.parts();
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_STREQ(parts[1].name, "code");
  EXPECT_EQ(parts[1].delivered, 1024);
  EXPECT_EQ(parts[1].share_got, 0.25);
}

// The rows of `field` in the first batch of four.
std::vector<uint8_t> first_rows(const Dataset& dataset, const char* transform) {
  Loader loader(dataset, {{"batch_size", 4}, {"transform", transform}});
  const Batch batch = loader.next().value();
  const Span<const uint8_t> rows = batch["image"].as<uint8_t>();
  return {rows.begin(), rows.end()};
}

TEST(CppDataset, PartsOfDifferentShapesBecomeAlikeByTransformsOfTheirOwn) {
  std::vector<uint8_t> small(2 * 2 * 2), large(2 * 3 * 3);
  std::iota(small.begin(), small.end(), uint8_t{1});
  std::iota(large.begin(), large.end(), uint8_t{101});
  const Dataset two = Dataset::copy_arrays({Array("image", small, {2, 2, 2}).axes("HW")});
  const Dataset three = Dataset::copy_arrays({Array("image", large, {2, 3, 3}).axes("HW")});
  const Dataset sizes =
      Dataset::mix({MixPart::repeated("two", two, 1), MixPart::repeated("three", three, 1)});
  EXPECT_EQ(Loader::try_create(sizes, {{"batch_size", 2}}).error().code(), DL_ERR_MISMATCH);
  const Dataset mix = Dataset::mix(
      {MixPart::repeated("two", two, 1), MixPart::repeated("three", three, 1, "resize([2, 2])")});
  EXPECT_STREQ(mix.parts()[0].transform, "");
  EXPECT_STREQ(mix.parts()[1].transform, "resize([2, 2])");
  std::vector<uint8_t> alone = first_rows(two, "hflip(1)");
  const std::vector<uint8_t> resized = first_rows(three, "resize([2, 2]), hflip(1)");
  alone.insert(alone.end(), resized.begin(), resized.end());
  EXPECT_EQ(first_rows(mix, "hflip(1)"), alone);
  const Error error =
      Dataset::try_mix({MixPart::weighted("two", two, 1, "shrink(2)"), MixPart::weighted("b", two, 1)})
          .error();
  EXPECT_EQ(error.code(), DL_ERR_BAD_TRANSFORM);
  EXPECT_NE(std::string(error.what()).find("part two"), std::string::npos) << error.what();
}

TEST(CppDataset, TheDocumentsThatAMixDrawsArePacked) {
  const std::vector<uint16_t> tokens = {1, 2, 3, 4, 5, 6};
  const std::vector<int64_t> offsets = {0, 3, 5, 6};
  const Dataset web = Dataset::copy_arrays({Array::ragged("ids", tokens, offsets)});
  const Dataset code = Dataset::copy_arrays({Array::ragged("ids", tokens, offsets)});
  const std::vector<MixPart> parts = {MixPart::repeated("web", web, 1), MixPart::repeated("code", code, 2)};
  const Dataset packed = Dataset::mix(parts, {}, -1, {{"pack_length", 6}});
  EXPECT_EQ(packed.size(), 3);  // 9 documents of 18 tokens
  EXPECT_TRUE(packed.parts().empty()) << "rows are of several parts";
  const Batch row = packed.read(0);
  EXPECT_EQ(row["x"].shape()[1], 6);
  bool told = false;
  for (const std::string& note : packed.notes())
    told = told || note.find("as one epoch draws them: 9 (web 3, code 6)") != std::string::npos;
  EXPECT_TRUE(told);
  EXPECT_EQ(Dataset::try_mix(parts, {}, -1, {{"pack_window", 6}}).error().code(), DL_ERR_BAD_OPTION);
}

}  // namespace
}  // namespace dataline::cpp_tests::dataset_test
