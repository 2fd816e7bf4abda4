// Any bytes as an image's header: refused with words, or sizes that are sizes.
// SPDX-License-Identifier: Apache-2.0
#include "core/transform/decode/image_header.h"

#include <cstdlib>

#include "tests/fuzz/target.h"

namespace dataline::fuzz {
namespace {

void run(std::string_view input) {
  const auto copy = exact_copy(input);
  const Bytes encoded(copy.get(), input.size());
  const Result<ImageHeader> header = read_image_header(encoded);
  if (!header.is_ok()) {
    if (header.status().message().empty() || header.status().message().size() > 300) std::abort();
    return;
  }
  const ImageHeader& got = header.value();
  if (got.height < 1 || got.width < 1 || got.orientation < 1 || got.orientation > 8) std::abort();
  if (got.channels < 1 || got.channels > 4 || got.bits < 1 || got.bits > 16) std::abort();
  if (got.format == ImageFormat::kJpeg && count_jpeg_scans(encoded, 100) > 101) std::abort();
}

const Target kTarget("image_header", run);

}  // namespace
}  // namespace dataline::fuzz
