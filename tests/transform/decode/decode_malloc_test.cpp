// A malloc that fails inside libjpeg, libspng, zlib or libwebp is the machine's shortage: never damaged data, never other
// pixels, and the next image decodes.
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/failing_malloc.h"
#include "tests/transform/decode/decoded.h"
#include "tests/transform/decode/jpeg_files.h"
#include "tests/transform/decode/png_files.h"
#include "tests/transform/decode/webp_files.h"

#include <webp/decode.h>

namespace dataline::decode_malloc_test {
namespace {

using tests::arm_malloc;
using tests::disarm_malloc;

struct Outcome {
  Status status;
  std::vector<unsigned char> pixels;
};

// With room for the pixels made before: what fails is of the decoder.
Outcome decode(TestDecoder& decoder, const std::string& encoded, int64_t fail_at, bool for_ever) {
  Outcome out;
  out.pixels.reserve(1 << 20);
  decoder.scratch().reset();
  ImageDecoder& image = decoder.decoder();
  arm_malloc(fail_at, for_ever);
  out.status = image.open(bytes_of(encoded));
  if (out.status.is_ok())
    out.status = image.start({0, 0, image.height(), image.width()}, 1, decoder.scratch());
  for (int64_t y = 0; out.status.is_ok() && y < image.height(); ++y) {
    const std::byte* const* lines = image.lines(y, 1);
    if (lines == nullptr) {
      out.status = image.status();
      break;
    }
    const auto* line = reinterpret_cast<const unsigned char*>(lines[0]);
    out.pixels.insert(out.pixels.end(), line,
                      line + image.width() * image.channels() * image.element_bytes());
  }
  image.close();
  disarm_malloc();
  return out;
}

// A table of 512 bytes in libwebp before 1.4.0, which frees what lies beside it when it gets none: the process ends there,
// and nothing can be proved.
int64_t spared_bytes(const std::string& image_name) {
  return image_name.find("WebP") != std::string::npos && WebPGetDecoderVersion() < 0x010400 ? 512 : 0;
}

struct Image {
  std::string name, bytes;
  PixelMode mode = PixelMode::kRgb;
};

std::vector<Image> images() {
  JpegKind progressive;
  progressive.progressive = true;
  PngKind interlaced;
  interlaced.width = interlaced.height = 1;  // one pass of one pixel
  interlaced.interlace = 1;
  return {{"JPEG", make_jpeg({})},
          {"progressive JPEG", make_jpeg(progressive)},
          {"PNG", make_png({})},
          {"interlaced PNG",
           png_header(interlaced) + png_chunk("IDAT", zlib_stored(std::string(1, '\0') + "rgb")) + kPngEnd},
          {"lossy WebP", make_webp(40, 24, false, false)},
          {"lossy WebP with alpha", make_webp(40, 24, false, true), PixelMode::kRgba},
          {"lossless WebP", make_webp(40, 24, true, true), PixelMode::kRgba},
          {"lossless WebP of groups",
           riff(riff_chunk("VP8L", lossless_header(256, 256) + lossless_groups(256, 256, 1500, 5)))},
          {"animated WebP", animation(0x10, 64, 64, 2, 4, 40, 24, make_webp(40, 24, true, true).substr(12))}};
}

TEST(DecodeMalloc, EveryFailureIsOfTheMachineAndNothingIsSpoiled) {
  if (!tests::kMallocIsOurs) GTEST_SKIP() << "the sanitizer has a malloc of its own";
  for (const Image& image : images()) {
    DecodeOptions options;
    options.mode = image.mode;
    TestDecoder decoder(options);
    const Outcome good = decode(decoder, image.bytes, -1, false);
    ASSERT_TRUE(good.status.is_ok()) << image.name << ": " << good.status.message();
    const int64_t calls = tests::mallocs.calls;
    ASSERT_GT(calls, 0) << image.name << ": no malloc of the decoder was seen";
    int64_t refused = 0;
    tests::mallocs.spared_bytes = spared_bytes(image.name);
    for (bool for_ever : {false, true}) {
      for (int64_t n = 0; n < calls; ++n) {
        const Outcome got = decode(decoder, image.bytes, n, for_ever);
        const std::string where =
            concat(image.name, ", malloc ", n, " of ", calls, for_ever ? ", for ever" : "");
        if (got.status.is_ok()) {
          EXPECT_EQ(got.pixels, good.pixels) << where;
          continue;
        }
        ++refused;
        EXPECT_EQ(got.status.code(), Code::kNoMemory) << where << ": " << got.status.message();
        EXPECT_NE(got.status.message().find("out of memory"), std::string::npos)
            << where << ": " << got.status.message();
      }
    }
    EXPECT_GE(refused, calls) << image.name;
    tests::mallocs.spared_bytes = 0;
    EXPECT_EQ(decode(decoder, image.bytes, -1, false).pixels, good.pixels) << image.name;
  }
}

}  // namespace
}  // namespace dataline::decode_malloc_test
