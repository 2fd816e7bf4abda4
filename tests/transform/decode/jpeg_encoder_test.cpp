// What is encoded is decoded again by libjpeg as nearly the same pixels, and never goes beyond its room.
// SPDX-License-Identifier: Apache-2.0
#include "core/transform/decode/jpeg_encoder.h"

#include <cmath>

#include "tests/transform/decode/decoded.h"
#include "tests/transform/decode/jpeg_files.h"

namespace dataline::jpeg_encoder_test {
namespace {

struct Pixels {
  int width, height, channels;
  std::vector<unsigned char> values = test_pixels(width, height, channels);

  Frame frame() { return {reinterpret_cast<std::byte*>(values.data()), height, width, channels}; }
};

// Behind the room lies a pattern that nothing may touch.
std::string encoded(Pixels& pixels, int quality, size_t room, Status* status = nullptr) {
  std::string out(room + 64, '\x5A');
  const Result<int64_t> bytes = encode_jpeg(pixels.frame(), quality, reinterpret_cast<std::byte*>(out.data()),
                                            static_cast<int64_t>(room));
  EXPECT_EQ(out.substr(room), std::string(64, '\x5A'));
  if (status != nullptr) *status = bytes.is_ok() ? Status::ok() : bytes.status();
  return bytes.is_ok() ? out.substr(0, static_cast<size_t>(bytes.value())) : "";
}

double mean_difference(const std::vector<unsigned char>& a, const std::vector<unsigned char>& b) {
  EXPECT_EQ(a.size(), b.size());
  double sum = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) sum += std::abs(a[i] - b[i]);
  return sum / static_cast<double>(a.size());
}

TEST(JpegEncoder, GivesNearlyTheSamePixelsBack) {
  for (const auto& [width, height] :
       {std::pair(64, 48), std::pair(1, 1), std::pair(17, 3), std::pair(3, 200)}) {
    for (const int channels : {1, 3}) {
      Pixels pixels{width, height, channels};
      double last = 256;
      for (const int quality : {30, 75, 95}) {
        const std::string file = encoded(pixels, quality, 1 << 20);
        ASSERT_FALSE(file.empty());
        const double difference =
            mean_difference(plain_decode(file, channels == 1 ? JCS_GRAYSCALE : JCS_RGB), pixels.values);
        EXPECT_LT(difference, quality == 95 && channels == 1 ? 3 : 30)
            << width << "x" << height << " " << quality;
        EXPECT_LE(difference, last + 1);
        last = difference;
      }
    }
  }
}

TEST(JpegEncoder, OurDecoderReadsItWithoutAWarning) {
  Pixels pixels{64, 48, 3};
  TestDecoder decoder;
  const Decoded got = decoder.decode(encoded(pixels, 90, 1 << 20));
  ASSERT_TRUE(got.status.is_ok()) << got.status.message();
  EXPECT_FALSE(got.warned);
  EXPECT_EQ(got.pixels, plain_decode(encoded(pixels, 90, 1 << 20), JCS_RGB));
}

TEST(JpegEncoder, TooLittleRoomIsAnErrorAndNothingBehindItIsWritten) {
  Pixels pixels{32, 24, 3};
  const size_t whole = encoded(pixels, 90, 1 << 20).size();
  for (size_t room = 0; room <= whole; room += room < 700 ? 1 : 37) {
    Status status;
    EXPECT_EQ(encoded(pixels, 90, room, &status), "");
    EXPECT_EQ(status.code(), Code::kTooLarge);
    EXPECT_NE(status.message().find("image of 32 wide, 24 high does not fit"), std::string::npos)
        << status.message();
  }
  EXPECT_EQ(encoded(pixels, 90, whole + 1).size(), whole);
}

TEST(JpegEncoder, SidesThatJpegDoesNotHaveAreRefused) {
  Pixels pixels{70000, 1, 1};
  Status status;
  encoded(pixels, 90, 1 << 20, &status);
  EXPECT_EQ(status.code(), Code::kTooLarge);
  EXPECT_NE(status.message().find("70000 wide, 1 high: JPEG does not support this size"), std::string::npos)
      << status.message();
}

}  // namespace
}  // namespace dataline::jpeg_encoder_test
