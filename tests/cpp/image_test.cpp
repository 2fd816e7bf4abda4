// What encoded images say of themselves, and how values become pixels again.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "tests/cpp/support.h"
#include "tests/memory/temp_files.h"

namespace dataline::cpp_tests::image_test {
namespace {

// 2x1 grey pixels, 10 and 200.
constexpr unsigned char kPng[] = {
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52, 0x00,
    0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x00, 0x00, 0x00, 0xd1, 0x49, 0x20, 0x56, 0x00,
    0x00, 0x00, 0x0b, 0x49, 0x44, 0x41, 0x54, 0x78, 0xda, 0x63, 0xe0, 0x3a, 0x01, 0x00, 0x00, 0xdf, 0x00,
    0xd3, 0xd8, 0x85, 0xd2, 0xae, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82};

Dataset pictures(const TempDir& dir) {
  dir.write("grey/1.png", std::string(reinterpret_cast<const char*>(kPng), sizeof kPng));
  return Dataset("folder:" + dir.path(""));
}

TEST(CppImage, HeadersAreReadWithoutDecoding) {
  const TempDir dir;
  const Dataset dataset = pictures(dir);
  for (const dl_image_info& info : {dataset.image_info(0), dataset.image_info(0, "image")}) {
    EXPECT_EQ(info.format, DL_IMAGE_PNG);
    EXPECT_EQ(info.width, 2);
    EXPECT_EQ(info.height, 1);
    EXPECT_EQ(info.channels, 1);
    EXPECT_EQ(info.bytes, static_cast<int64_t>(sizeof kPng));
  }
  EXPECT_EQ(dataset.try_image_info(1).status(), DL_ERR_OUT_OF_RANGE);
  EXPECT_EQ(dataset.try_image_info(0, "label").status(), DL_ERR_UNSUPPORTED);
  EXPECT_EQ(dataset.try_image_info(0, "imag").status(), DL_ERR_NO_SUCH_FIELD);
  EXPECT_EQ(thrown_by([&] { dataset.image_info(1); }).code(), DL_ERR_OUT_OF_RANGE);
  EXPECT_EQ(Dataset().try_image_info(0).status(), DL_ERR_INVALID_ARGUMENT);
}

TEST(CppImage, DeliveredValuesArePixelsAgain) {
  const TempDir dir;
  Loader loader(pictures(dir), {{"transform", "image: decode, normalize(imagenet)"}});
  const Batch batch = loader.next().value();
  std::vector<double> pixels;
  for (float value : batch["image"].as<float>()) {
    const PixelScale of = loader.pixel_scale("image", static_cast<int64_t>(pixels.size() % 3));
    pixels.push_back(std::round((static_cast<double>(value) - of.offset) / of.scale));
  }
  EXPECT_EQ(pixels, (std::vector<double>{10, 10, 10, 200, 200, 200}));
  EXPECT_EQ(loader.pixel_scale(0).scale, loader.pixel_scale("image").scale);
  EXPECT_EQ(loader.try_pixel_scale("image", 3).status(), DL_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(thrown_by([&] { loader.pixel_scale("imag"); }).code(), DL_ERR_NO_SUCH_FIELD);
  EXPECT_EQ(Loader(counting(3)).try_pixel_scale("data").status(), DL_ERR_UNSUPPORTED);
}

}  // namespace
}  // namespace dataline::cpp_tests::image_test
