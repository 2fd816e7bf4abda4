// Mixes of sets of encoded images: parts that are decoded, or cropped, each in its own way.
// SPDX-License-Identifier: Apache-2.0
#include "tests/loader/images/photographs.h"
#include "tests/loader/transformed_parts.h"

namespace dataline::tests::parts_test {
namespace {

// Sets whose images have sizes and pixels of their own.
Photographs photographs(int64_t count, int smallest) {
  Photographs set;
  set.count = count;
  set.size = [smallest](int64_t i) {
    return ImageSize{smallest + static_cast<int>(i % 5) * 8, smallest + 20 + static_cast<int>(i % 3) * 16};
  };
  return set;
}

std::string alone(const Photographs& set, int64_t index, const std::string& transform) {
  dl_batch* batch = nullptr;
  Error error;
  EXPECT_EQ(dl_dataset_read(set.dataset().get(), index, make_options({{"transform", transform}}).get(),
                            &batch, &error),
            DL_OK)
      << error.message;
  const Batch owned(batch);
  return bytes_of(view_of(owned, 0));
}

std::string pixels_of_all(const Dataset& set) {
  const Loader loader = make_loader(set, {{"batch_size", "1000"}});
  return see_next(loader).fields[0].bytes;
}

struct TwoSets {
  Photographs sets[2] = {photographs(21, 40), photographs(12, 90)};
  std::string own[2];

  Dataset mix() const {
    const Dataset first = sets[0].dataset(), second = sets[1].dataset();
    return good_mix(
        {{"first", first.get(), "image: " + own[0], 2}, {"second", second.get(), "image: " + own[1], 1}});
  }

  void expect_samples(const Settings& settings, const std::string& transform) const {
    const Loader loader = make_loader(
        mix(),
        with(settings, {{"transform", transform.empty() ? "" : "image: " + transform}, {"epochs", "1"}}));
    for (const SeenBatch& batch : see_job(loader)) {
      ASSERT_GE(batch.status, 0) << batch.message;
      if (batch.status != DL_OK) break;
      const std::string& bytes = batch.fields[0].bytes;
      const size_t row_bytes = bytes.size() / batch.indices.size();
      for (size_t row = 0; row < batch.indices.size(); ++row) {
        const auto part = static_cast<size_t>(batch.sources[row]);
        const std::string list = "image: " + own[part] + (transform.empty() ? "" : ", " + transform);
        ASSERT_EQ(bytes.substr(row * row_bytes, row_bytes), alone(sets[part], batch.indices[row], list))
            << "part " << part << ", sample " << batch.indices[row];
      }
    }
  }
};

TEST(PartsOfImages, AreDecodedAndResizedEachInTheirWay) {
  const TwoSets two = {.own = {"decode, resize([24, 32])", "decode, center_crop([24, 32])"}};
  for (const char* workers : {"0", "2"}) {
    const Settings job = {{"batch_size", "5"}, {"shuffle", "full"}, {"num_workers", workers}};
    two.expect_samples(job, "");
    two.expect_samples(job, "hflip(1), normalize(imagenet), chw");
  }
}

TEST(PartsOfImages, OfTwoSizesMakeBatchesOfOnePart) {
  const TwoSets two = {.own = {"decode, resize([24, 32])", "decode, resize([48, 40])"}};
  two.expect_samples({{"batch_size", "5"}, {"homogeneous", "batch"}, {"shuffle", "full"}},
                     "normalize(imagenet), chw");
}

TEST(PartsOfImages, OfSizesKnownOnlyWhenDecodedComeOneByOne) {
  const TwoSets two = {.own = {"decode", "decode, hflip(1)"}};
  two.expect_samples({{"batch_size", "1"}, {"shuffle", "full"}}, "vflip(1)");
}

// Pixels as they are: [n, 24, 32, 3].
Dataset pixels(int64_t count) {
  std::vector<uint8_t> data(static_cast<size_t>(count * 24 * 32 * 3));
  for (size_t at = 0; at < data.size(); ++at) data[at] = static_cast<uint8_t>(at * 7 + at / 251);
  const std::vector<int64_t> shape = {count, 24, 32, 3}, labels(static_cast<size_t>(count), 3),
                             label_shape = {count};
  dl_array arrays[] = {array_of("image", DL_DTYPE_U8, shape, data.data()),
                       array_of("label", DL_DTYPE_I64, label_shape, labels.data())};
  arrays[0].axes = "HWC";
  Error error;
  dl_dataset* dataset = nullptr;
  EXPECT_EQ(dl_dataset_from_arrays(arrays, 2, nullptr, nullptr, nullptr, &dataset, &error), DL_OK);
  return Dataset(dataset);
}

TEST(PartsOfImages, EncodedOnesAndPixelsMakeOneBatch) {
  const Photographs set = photographs(21, 40);
  const Dataset encoded = set.dataset(), stored = pixels(9);
  const Dataset mix = good_mix({{"encoded", encoded.get(), "image: decode, resize([24, 32])", 0, 1},
                                {"stored", stored.get(), "", 0, 2}});
  const std::string all = pixels_of_all(stored);
  const Loader loader = make_loader(mix, {{"batch_size", "6"}, {"shuffle", "full"}, {"epochs", "2"}});
  int64_t seen[2] = {0, 0};
  constexpr size_t kBytes = 24 * 32 * 3;
  for (const SeenBatch& batch : see_job(loader)) {
    ASSERT_GE(batch.status, 0) << batch.message;
    for (size_t row = 0; row < batch.indices.size(); ++row) {
      const std::string got = batch.fields[0].bytes.substr(row * kBytes, kBytes);
      const auto index = static_cast<size_t>(batch.indices[row]);
      ++seen[batch.sources[row]];
      EXPECT_EQ(got, batch.sources[row] == 1
                         ? all.substr(index * kBytes, kBytes)
                         : alone(set, batch.indices[row], "image: decode, resize([24, 32])"));
    }
  }
  EXPECT_EQ(seen[0], 2 * 21);
  EXPECT_EQ(seen[1], 2 * 18);
}

TEST(PartsOfImages, ABrokenOneIsReplacedFromItsPart) {
  TwoSets two = {.own = {"decode, resize([24, 32])", "decode, resize([48, 40])"}};
  two.sets[1].broken = {2, 7};
  two.expect_samples(
      {{"batch_size", "4"}, {"homogeneous", "batch"}, {"shuffle", "full"}, {"on_error", "replace"}}, "");
}

}  // namespace
}  // namespace dataline::tests::parts_test
