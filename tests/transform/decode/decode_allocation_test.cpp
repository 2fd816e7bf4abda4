// A decoder that is used again allocates nothing of ours; what libjpeg, libspng and libwebp take they give back.
// SPDX-License-Identifier: Apache-2.0
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/transform/decode/jpeg_files.h"
#include "tests/transform/decode/png_files.h"
#include "tests/transform/decode/webp_files.h"

#include "tests/transform/decode/decoded.h"

namespace {
std::atomic<int64_t> allocations{0};
}

// Not inlined, or the compiler sees malloc meet delete.
[[gnu::noinline]] void* operator new(size_t bytes) {
  ++allocations;
  void* memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace dataline::decode_allocation_test {
namespace {

std::vector<std::string> images() {
  JpegKind progressive;
  progressive.progressive = true;
  return {make_jpeg({}), make_jpeg(progressive), make_png({}), make_webp(40, 24, false, false),
          make_webp(40, 24, true, true)};
}

void pull_all(ImageDecoder& decoder, Bytes encoded, FrameScratch& scratch) {
  scratch.reset();
  ASSERT_TRUE(decoder.open(encoded).is_ok());
  const int64_t height = decoder.height();
  ASSERT_TRUE(decoder.start({0, 0, height, decoder.width()}, 2, scratch).is_ok());
  for (int64_t y = 0; y + 2 <= height; y += 2) ASSERT_NE(decoder.lines(y, 2), nullptr);
  decoder.close();
}

TEST(DecodeAllocation, DecodingAgainAllocatesNothing) {
  for (bool orient : {false, true}) {
    DecodeOptions options;
    options.orient = orient;
    TestDecoder decoder(options);
    for (const std::string& image : images()) {
      pull_all(decoder.decoder(), bytes_of(image), decoder.scratch());
      const int64_t before = allocations;
      for (int i = 0; i < 3; ++i) pull_all(decoder.decoder(), bytes_of(image), decoder.scratch());
      EXPECT_EQ(allocations, before);
    }
  }
}

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(DecodeAllocation, FailuresLeaveNothingBehind) {
  TestDecoder decoder;
  std::vector<std::string> cuts;
  for (const std::string& image : images()) {
    for (size_t length = 1; length < image.size(); length += 7) cuts.push_back(image.substr(0, length));
  }
  auto decode_cuts = [&] {
    for (const std::string& bytes : cuts) (void)decoder.decode(bytes);
  };
  decode_cuts();
  const size_t before = mallinfo2().uordblks;
  for (int i = 0; i < 5; ++i) decode_cuts();
  EXPECT_LE(mallinfo2().uordblks, before + 4096);
}
#endif

}  // namespace
}  // namespace dataline::decode_allocation_test
