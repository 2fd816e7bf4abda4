// Any bytes as an image's header: refused with words, or sizes that are sizes.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "core/transform/decode/image_header.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::unique_ptr<std::byte[]> copy(
      new std::byte[size]);  // as large as the input: reads beyond it are seen
  for (size_t i = 0; i < size; ++i) copy[i] = static_cast<std::byte>(data[i]);
  const dataline::Bytes encoded(copy.get(), size);
  const dataline::Result<dataline::ImageHeader> header = dataline::read_image_header(encoded);
  if (!header.is_ok()) {
    if (header.status().message().empty() || header.status().message().size() > 300) std::abort();
    return 0;
  }
  const dataline::ImageHeader& got = header.value();
  if (got.height < 1 || got.width < 1 || got.orientation < 1 || got.orientation > 8) std::abort();
  if (got.channels < 1 || got.channels > 4 || got.bits < 1 || got.bits > 16) std::abort();
  if (got.format == dataline::ImageFormat::kJpeg && dataline::count_jpeg_scans(encoded, 100) > 101)
    std::abort();
  return 0;
}
