// dl_dataset_image_info and dl_loader_pixel_scale: what encoded images say of themselves, and how values become pixels
// again.
// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "tests/capi/host_data.h"

namespace dataline::tests::images_test {
namespace {

// The first 33 bytes of a PNG file: all that says its size.
std::string png_header(uint32_t width, uint32_t height, char bits, char color, char interlace) {
  std::string out("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16);
  for (uint32_t side : {width, height}) {
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(side >> shift & 0xff);
  }
  out += {bits, color, 0, 0, interlace};
  return out + std::string(4, '\0') + "more that is never looked at";
}

struct Files {
  explicit Files(std::vector<std::string> files) {
    for (const std::string& file : files) {
      data += file;
      offsets.push_back(static_cast<int64_t>(data.size()));
    }
    shape = {offsets.back()};
  }
  dl_array array(const char* name) const {
    return ragged_array_of(name, DL_DTYPE_U8, shape, data.data(), offsets);
  }
  std::string data;
  std::vector<int64_t> offsets = {0}, shape;
};

dl_image_info info_of(const Dataset& dataset, const char* field, int64_t index) {
  dl_image_info info = {};
  info.struct_size = sizeof info;
  Error error;
  EXPECT_EQ(dl_dataset_image_info(dataset.get(), field, index, &info, &error), DL_OK) << error.message;
  return info;
}

struct Failure {
  dl_status status;
  std::string message;
  int64_t sample;
};
Failure failure_of(const Dataset& dataset, const char* field, int64_t index) {
  dl_image_info info = {};
  info.struct_size = sizeof info;
  Error error;
  const dl_status status = dl_dataset_image_info(dataset.get(), field, index, &info, &error);
  EXPECT_EQ(info.width, 0) << "a failure leaves the struct alone";
  return {status, error.message, error.sample_index};
}

TEST(ImageInfo, SaysWhatTheHeaderSays) {
  const Files files({png_header(640, 480, 8, 2, 0), png_header(17, 9000, 16, 4, 1)});
  const Made made = from_arrays({files.array("image")});
  ASSERT_EQ(made.status, DL_OK) << made.error.message;
  const dl_image_info first = info_of(made.dataset, nullptr, 0), second = info_of(made.dataset, "image", 1);
  EXPECT_EQ(first.format, DL_IMAGE_PNG);
  EXPECT_EQ(first.width, 640);
  EXPECT_EQ(first.height, 480);
  EXPECT_EQ(first.channels, 3);
  EXPECT_EQ(first.bits, 8);
  EXPECT_EQ(first.orientation, 1);
  EXPECT_EQ(first.progressive, 0);
  EXPECT_EQ(first.bytes, files.offsets[1]);
  EXPECT_EQ(second.width, 17);
  EXPECT_EQ(second.height, 9000);
  EXPECT_EQ(second.channels, 2);
  EXPECT_EQ(second.bits, 16);
  EXPECT_EQ(second.progressive, 1);
  EXPECT_EQ(second.bytes, files.offsets[2] - files.offsets[1]);
}

TEST(ImageInfo, WithoutANameIsTheImageOrTheOnlyFieldOfItsKind) {
  const Files a({png_header(1, 2, 8, 2, 0)}), b({png_header(3, 4, 8, 2, 0)});
  const std::vector<int64_t> one = {1};
  const int64_t label = 5;
  const dl_array labels = array_of("label", DL_DTYPE_I64, one, &label);
  EXPECT_EQ(info_of(from_arrays({a.array("jpg"), labels}).dataset, nullptr, 0).width, 1);
  EXPECT_EQ(info_of(from_arrays({a.array("jpg"), b.array("image")}).dataset, nullptr, 0).width, 3);
  const Made two = from_arrays({a.array("left"), b.array("right"), labels});
  EXPECT_EQ(info_of(two.dataset, "right", 0).width, 3);
  const Failure unnamed = failure_of(two.dataset, nullptr, 0);
  EXPECT_EQ(unnamed.status, DL_ERR_NO_SUCH_FIELD);
  EXPECT_EQ(unnamed.message, "expected a field of encoded images (fields: left, right, label), got no name");
  const Failure absent = failure_of(two.dataset, "image", 0);
  EXPECT_EQ(absent.status, DL_ERR_NO_SUCH_FIELD);
  EXPECT_EQ(absent.message, "expected a field of encoded images (fields: left, right, label), got 'image'");
  const Failure other = failure_of(two.dataset, "label", 0);
  EXPECT_EQ(other.status, DL_ERR_UNSUPPORTED);
  EXPECT_NE(other.message.find("got i64"), std::string::npos) << other.message;
}

TEST(ImageInfo, OtherRaggedFieldsAndOtherBytesAreNoImages) {
  const Files files({png_header(1, 2, 8, 2, 0)});
  const RaggedData words({3}, 1), pairs({3}, 2);
  const std::vector<int64_t> row = {1, 4};
  const dl_array mask = array_of("mask", DL_DTYPE_U8, row, "abcd");
  dl_array twos = pairs.array();
  twos.name = "twos";
  const Made made = from_arrays({words.array(), twos, mask, files.array("jpg")});
  ASSERT_EQ(made.status, DL_OK) << made.error.message;
  EXPECT_EQ(info_of(made.dataset, nullptr, 0).width, 1) << "the only one";
  for (const char* field : {"words", "twos", "mask"}) {
    const Failure other = failure_of(made.dataset, field, 0);
    EXPECT_EQ(other.status, DL_ERR_UNSUPPORTED) << field;
    EXPECT_NE(other.message.find("expected encoded images"), std::string::npos) << other.message;
  }
}

TEST(ImageInfo, OfAHostsReaderHasRoomForWhatItGives) {
  static const std::string file = png_header(640, 480, 8, 2, 0);
  const auto read = [](void*, dl_reader_request* request) -> int32_t {
    dl_reader_cell* cell = request->cells;
    cell->bytes = static_cast<int64_t>(file.size());
    std::copy(file.begin(), file.end(), static_cast<char*>(cell->data));
    return 0;
  };
  const Dataset dataset = reader_dataset({field_of("image", DL_DTYPE_U8, {-1})}, 1, read);
  const dl_image_info info = info_of(dataset, nullptr, 0);
  EXPECT_EQ(info.width, 640);
  EXPECT_EQ(info.bytes, static_cast<int64_t>(file.size()));
}

TEST(ImageInfo, FailsForTheSampleThatIsWrong) {
  const Files files(
      {png_header(640, 480, 8, 2, 0), "no image", "", png_header(640, 480, 8, 2, 0).substr(0, 20)});
  const Made made = from_arrays({files.array("image")});
  const Failure corrupt = failure_of(made.dataset, nullptr, 1);
  EXPECT_EQ(corrupt.status, DL_ERR_CORRUPT);
  EXPECT_EQ(corrupt.sample, 1);
  EXPECT_TRUE(corrupt.message.starts_with("sample 1: ")) << corrupt.message;
  EXPECT_LT(failure_of(made.dataset, nullptr, 2).status, 0);
  EXPECT_EQ(failure_of(made.dataset, nullptr, 3).status, DL_ERR_TRUNCATED);
  for (int64_t index : {int64_t{-1}, int64_t{4}, INT64_MAX, INT64_MIN})
    EXPECT_EQ(failure_of(made.dataset, nullptr, index).status, DL_ERR_OUT_OF_RANGE);
  info_of(made.dataset, nullptr, 0);
}

TEST(ImageInfo, ReadsComposedSetsFromAnyThread) {
  const Files a({png_header(1, 2, 8, 2, 0)}), b({png_header(3, 4, 8, 2, 0)});
  const Made first = from_arrays({a.array("image")}), second = from_arrays({b.array("image")});
  dl_dataset* parts[] = {first.dataset.get(), second.dataset.get()};
  dl_dataset* joined = nullptr;
  Error error;
  ASSERT_EQ(dl_dataset_concat(parts, 2, nullptr, &joined, &error), DL_OK) << error.message;
  const Dataset both(joined);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) EXPECT_EQ(info_of(both, nullptr, i % 2).width, i % 2 == 0 ? 1 : 3);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(ImageInfo, RefusesNullAndSmallStructs) {
  const Files files({png_header(640, 480, 8, 2, 0)});
  const Made made = from_arrays({files.array("image")});
  Error error;
  dl_image_info info = {};
  EXPECT_EQ(dl_dataset_image_info(made.dataset.get(), nullptr, 0, &info, &error), DL_ERR_INVALID_ARGUMENT);
  info.struct_size = sizeof info;
  EXPECT_EQ(dl_dataset_image_info(nullptr, nullptr, 0, &info, &error), DL_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(dl_dataset_image_info(made.dataset.get(), nullptr, 0, nullptr, &error), DL_ERR_INVALID_ARGUMENT);
}

// One image u8 2x2x3 and a label.
Made raw_images() {
  static constexpr uint8_t kPixels[24] = {0, 50, 100, 150, 200, 250, 1, 2, 3, 4, 5, 6};
  static constexpr int64_t kLabels[2] = {3, 4};
  const std::vector<int64_t> shape = {2, 2, 2, 3}, rows = {2};
  dl_array image = array_of("image", DL_DTYPE_U8, shape, kPixels);
  image.axes = "HWC";
  return from_arrays({image, array_of("label", DL_DTYPE_I64, rows, kLabels)});
}

struct Scale {
  dl_status status = DL_OK;
  double scale = -1, offset = -1;
  std::string message;
};
Scale scale_of(const Loader& loader, int32_t field, int64_t channel) {
  Scale out;
  Error error;
  out.status = dl_loader_pixel_scale(loader.get(), field, channel, &out.scale, &out.offset, &error);
  out.message = error.message;
  return out;
}

TEST(PixelScale, GivesThePixelsBack) {
  const Made made = raw_images();
  const Loader loader =
      make_loader(made.dataset, {{"transform", "image: normalize(imagenet)"}, {"batch_size", "2"}});
  const Delivered got = next(loader);
  int32_t count = 0;
  const auto* values = static_cast<const float*>(dl_batch_views(got.batch.get(), &count)[0].data);
  const std::vector<double> pixels = {0, 50, 100, 150, 200, 250};
  for (size_t i = 0; i < pixels.size(); ++i) {
    const Scale scale = scale_of(loader, 0, static_cast<int64_t>(i % 3));
    ASSERT_EQ(scale.status, DL_OK) << scale.message;
    EXPECT_NEAR((static_cast<double>(values[i]) - scale.offset) / scale.scale, pixels[i], 1e-4);
  }
}

TEST(PixelScale, OfPixelsAsTheyAreIsOneAndNone) {
  const Made made = raw_images();
  for (const char* text : {"", "image: hflip, chw", "image: cast(f32)"}) {
    const Scale scale = scale_of(make_loader(made.dataset, {{"transform", text}}), 0, 2);
    EXPECT_EQ(scale.status, DL_OK) << text << ": " << scale.message;
    EXPECT_EQ(scale.scale, 1) << text;
    EXPECT_EQ(scale.offset, 0) << text;
  }
}

TEST(PixelScale, OfOtherNumbersThatPixelsAreStoredAsIsOneAndNoneToo) {
  const std::vector<int64_t> shape = {2, 5};
  const std::string bytes(20, 'x');
  const Made made = from_arrays({array_of("small", DL_DTYPE_U8, shape, bytes.data()),
                                 array_of("wide", DL_DTYPE_U16, shape, bytes.data())});
  ASSERT_EQ(made.status, DL_OK) << made.error.message;
  const Loader loader = make_loader(made.dataset, {{"batch_size", "2"}});
  for (int32_t field : {0, 1}) {
    const Scale scale = scale_of(loader, field, 0);
    EXPECT_EQ(scale.status, DL_OK) << scale.message;
    EXPECT_EQ(scale.scale, 1);
    EXPECT_EQ(scale.offset, 0);
  }
}

TEST(PixelScale, RefusesWhatAreNoPixelsAndWhatIsNotThere) {
  const Made made = raw_images();
  const Loader loader =
      make_loader(made.dataset, {{"transform", "image: normalize(imagenet); label: one_hot(5)"}});
  EXPECT_EQ(scale_of(loader, 1, 0).status, DL_ERR_UNSUPPORTED);
  for (int32_t field : {-1, 2}) EXPECT_EQ(scale_of(loader, field, 0).status, DL_ERR_INVALID_ARGUMENT);
  for (int64_t channel : {-1, 3}) EXPECT_EQ(scale_of(loader, 0, channel).status, DL_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(scale_of(loader, 1, 0).scale, -1) << "a failure leaves the numbers alone";
  Error error;
  double number = 0;
  EXPECT_EQ(dl_loader_pixel_scale(loader.get(), 0, 0, nullptr, &number, &error), DL_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(dl_loader_pixel_scale(nullptr, 0, 0, &number, &number, &error), DL_ERR_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace dataline::tests::images_test
