// Images delivered in sizes of their own: dense batches of one size, named samples where sizes differ.
// SPDX-License-Identifier: Apache-2.0
#include "tests/loader/images/photographs.h"

namespace dataline::tests::varying_test {
namespace {

const Settings kDecode = {{"transform", "image: decode"}, {"epochs", "1"}};

Photographs of_sizes(std::vector<ImageSize> sizes) {
  Photographs set;
  set.count = static_cast<int64_t>(sizes.size());
  set.size = [sizes](int64_t i) { return sizes[static_cast<size_t>(i)]; };
  return set;
}

std::string pixels_of(const Photographs& set, int64_t index) {
  const std::vector<unsigned char> pixels = plain_decode(set.file(index), JCS_RGB);
  return {pixels.begin(), pixels.end()};
}

TEST(VaryingImages, HaveAnOpenSchema) {
  const Dataset dataset = Photographs().dataset();
  const Loader loader = make_loader(dataset, kDecode);
  int32_t count = 0;
  const dl_view* fields = dl_loader_fields(loader.get(), &count);
  EXPECT_EQ(shape_of(fields[0]), (std::vector<int64_t>{-1, -1, -1, 3}));
  EXPECT_EQ(fields[0].kind, DL_KIND_DENSE);
  EXPECT_EQ(fields[0].bytes, -1);
  EXPECT_STREQ(fields[0].axes, "NHWC");
}

TEST(VaryingImages, OneByOneEachHasItsOwnSize) {
  const Photographs set;
  const Dataset dataset = set.dataset();
  for (const char* workers : {"0", "2"}) {
    const Loader loader =
        make_loader(dataset, with(kDecode, {{"batch_size", "1"}, {"num_workers", workers}}));
    for (int64_t i = 0; i < set.count; ++i) {
      const Delivered got = next(loader);
      ASSERT_EQ(got.status, DL_OK) << got.message;
      const dl_view& view = view_of(got.batch, 0);
      const ImageSize size = set.size(i);
      EXPECT_EQ(shape_of(view), (std::vector<int64_t>{1, size.height, size.width, 3}));
      EXPECT_EQ(std::vector<int64_t>(view.strides, view.strides + 4),
                (std::vector<int64_t>{size.height * size.width * 3, size.width * 3, 3, 1}));
      EXPECT_EQ(bytes_of(view), pixels_of(set, i));
    }
  }
}

// 1500 x 1000 pixels take 4.5 MB, above the default of max_bytes_per_sample.
TEST(VaryingImages, ABatchOfOneHasRoomForALargePhotographUnlessALimitIsSet) {
  const Photographs set = of_sizes({{1000, 1500}, {1500, 1000}});
  const Dataset dataset = set.dataset();
  for (const char* workers : {"0", "2"}) {
    for (const char* text : {"image: decode", "image: decode, cast(f32)", "image: decode(gray), hflip(1)"}) {
      const Loader loader = make_loader(
          dataset, {{"transform", text}, {"epochs", "1"}, {"batch_size", "1"}, {"num_workers", workers}});
      for (int64_t i = 0; i < 2; ++i) EXPECT_EQ(next(loader).status, DL_OK) << text;
    }
  }
  const Loader limited = make_loader(
      dataset, with(kDecode, {{"batch_size", "1"}, {"num_workers", "0"}, {"max_bytes_per_sample", "1MiB"}}));
  EXPECT_THAT(next(limited).message,
              testing::HasSubstr(
                  "image of 1500 wide, 1000 high needs 4500000 bytes, max_bytes_per_sample is 1048576; "
                  "raise max_bytes_per_sample to at least 4500000"));
}

TEST(VaryingImages, OfOneSizeMakeADenseBatchAndAnotherSizeTheNext) {
  const Photographs set = of_sizes({{20, 30}, {20, 30}, {20, 30}, {17, 9}, {17, 9}, {17, 9}});
  const Dataset dataset = set.dataset();
  const Loader loader = make_loader(dataset, with(kDecode, {{"batch_size", "3"}}));
  for (int64_t first : {0, 3}) {
    const Delivered got = next(loader);
    ASSERT_EQ(got.status, DL_OK) << got.message;
    const ImageSize size = set.size(first);
    EXPECT_EQ(shape_of(view_of(got.batch, 0)), (std::vector<int64_t>{3, size.height, size.width, 3}));
    EXPECT_EQ(bytes_of(view_of(got.batch, 0)),
              pixels_of(set, first) + pixels_of(set, first + 1) + pixels_of(set, first + 2));
  }
  EXPECT_EQ(stats_of(loader).bytes, 3 * 3 * (20 * 30 + 17 * 9) + 6 * 8);
}

TEST(VaryingImages, OfTheShorterSideAloneStillDiffer) {
  const Photographs set = of_sizes({{20, 30}, {40, 60}, {30, 20}});
  const Dataset dataset = set.dataset();
  const Loader loader = make_loader(
      dataset, {{"transform", "image: decode, resize(10), chw"}, {"batch_size", "3"}, {"epochs", "1"}});
  EXPECT_EQ(next(loader).status, DL_ERR_BAD_SAMPLE);
  const Delivered got = next(loader);
  ASSERT_EQ(got.status, DL_OK) << got.message;
  EXPECT_EQ(shape_of(view_of(got.batch, 0)), (std::vector<int64_t>{2, 3, 10, 15}));
  EXPECT_EQ(got.indices, (std::vector<int64_t>{0, 1}));
}

TEST(VaryingImages, AnotherSizeIsSkippedByNameUnderEveryPolicy) {
  const Photographs set = of_sizes({{20, 30}, {30, 20}, {20, 30}, {20, 31}});
  const Dataset dataset = set.dataset();
  for (const char* policy : {"raise", "replace", "quarantine"}) {
    for (const char* workers : {"0", "2"}) {
      const Loader loader = make_loader(
          dataset, with(kDecode, {{"batch_size", "4"}, {"on_error", policy}, {"num_workers", workers}}));
      const Delivered told = next(loader);
      ASSERT_EQ(told.status, DL_ERR_BAD_SAMPLE);
      for (const char* part :
           {"2 of 4 samples are bad",
            "field 'image': sample 1 is 20 wide, 30 high, sample 0 of the same batch is 30 wide, 20 high",
            "sample 3 is 31 wide, 20 high", "add resize([h, w]) or random_resized_crop"}) {
        EXPECT_NE(told.message.find(part), std::string::npos) << part << " in: " << told.message;
      }
      const Delivered got = next(loader);
      ASSERT_EQ(got.status, DL_OK);
      EXPECT_EQ(got.indices, (std::vector<int64_t>{0, 2}));
      EXPECT_EQ(bytes_of(view_of(got.batch, 0)), pixels_of(set, 0) + pixels_of(set, 2));
      EXPECT_EQ(next(loader).status, DL_END_OF_EPOCH);
      EXPECT_EQ(stats_of(loader).skipped, 2);
      EXPECT_EQ(stats_of(loader).bad, 2);
    }
  }
}

TEST(VaryingImages, CopiesBeyondTheLeasesKeepTheirSizes) {
  const Photographs set;
  const Dataset dataset = set.dataset();
  const Loader loader = make_loader(dataset, with(kDecode, {{"batch_size", "1"}, {"max_leases", "1"}}));
  std::vector<Delivered> held;
  for (int64_t i = 0; i < 6; ++i) held.push_back(next(loader));
  EXPECT_EQ(stats_of(loader).lease_copies, 5);
  for (int64_t i = 0; i < 6; ++i) {
    const dl_view& view = view_of(held[static_cast<size_t>(i)].batch, 0);
    EXPECT_EQ(shape_of(view), (std::vector<int64_t>{1, set.size(i).height, set.size(i).width, 3}));
    EXPECT_EQ(bytes_of(view), pixels_of(set, i));
  }
}

// DLPack 1.1, include/dlpack/dlpack.h, as far as this test looks.
struct Tensor {
  void* data;
  int32_t device_type, device_id, ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
  void* manager;
  void (*deleter)(Tensor*);
};

TEST(VaryingImages, AreOrdinaryTensorsOfDlpack) {
  const Dataset dataset = of_sizes({{20, 30}, {20, 30}}).dataset();
  const Loader loader = make_loader(dataset, with(kDecode, {{"batch_size", "2"}}));
  const Delivered got = next(loader);
  ASSERT_EQ(got.status, DL_OK) << got.message;
  Error error;
  DLManagedTensor* managed = nullptr;
  ASSERT_EQ(dl_batch_dlpack(got.batch.get(), 0, &managed, &error), DL_OK) << error.message;
  auto* tensor = reinterpret_cast<Tensor*>(managed);
  ASSERT_EQ(tensor->ndim, 4);
  EXPECT_EQ(std::vector<int64_t>(tensor->shape, tensor->shape + 4), (std::vector<int64_t>{2, 20, 30, 3}));
  EXPECT_EQ(std::vector<int64_t>(tensor->strides, tensor->strides + 4),
            (std::vector<int64_t>{20 * 30 * 3, 30 * 3, 3, 1}));
  tensor->deleter(tensor);
}

TEST(VaryingImages, AreDecodedToFloatsAndPlanesToo) {
  const Photographs set = of_sizes({{20, 30}, {20, 30}});
  const Dataset dataset = set.dataset();
  const Loader loader = make_loader(
      dataset, {{"transform", "image: decode, cast(f32), chw"}, {"batch_size", "2"}, {"epochs", "1"}});
  const Delivered got = next(loader);
  ASSERT_EQ(got.status, DL_OK) << got.message;
  const dl_view& view = view_of(got.batch, 0);
  EXPECT_EQ(shape_of(view), (std::vector<int64_t>{2, 3, 20, 30}));
  const std::string pixels = pixels_of(set, 1);
  const auto* values = static_cast<const float*>(view.data) + 3 * 20 * 30;
  for (size_t p = 0; p < 600; ++p) {
    for (size_t c = 0; c < 3; ++c)
      ASSERT_EQ(values[c * 600 + p], static_cast<float>(static_cast<unsigned char>(pixels[p * 3 + c])));
  }
}

}  // namespace
}  // namespace dataline::tests::varying_test
