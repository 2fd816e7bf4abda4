// Any bytes as a JPEG, by libjpeg's Huffman decoder and by ours: unless ours gives the file up, they agree.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "core/transform/decode/image_header.h"
#include "tests/transform/decode/jpeg_whole.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace dataline;
  // A copy as large as the input: reads beyond it are seen.
  const std::unique_ptr<std::byte[]> copy(new std::byte[size]);
  for (size_t i = 0; i < size; ++i) copy[i] = static_cast<std::byte>(data[i]);
  const Bytes encoded(copy.get(), size);
  const Result<ImageHeader> header = read_image_header(encoded);
  if (!header.is_ok() || header.value().format != ImageFormat::kJpeg) return 0;
  if (header.value().width * header.value().height > 1 << 14 || header.value().progressive) return 0;
  const Whole ours = decode_whole(encoded, true);
  if (!ours.attached || ours.gave_up) return 0;
  const Whole alone = decode_whole(encoded, false);
  if (ours.status.code() != alone.status.code() || ours.pixels != alone.pixels) std::abort();
  return 0;
}
