// Any bytes as a JPEG, by libjpeg's Huffman decoder and by ours: unless ours gives the file up, they agree.
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "core/transform/decode/image_header.h"
#include "tests/fuzz/target.h"
#include "tests/transform/decode/jpeg_whole.h"

namespace dataline::fuzz {
namespace {

void run(std::string_view input) {
  const auto copy = exact_copy(input);
  const Bytes encoded(copy.get(), input.size());
  const Result<ImageHeader> header = read_image_header(encoded);
  if (!header.is_ok() || header.value().format != ImageFormat::kJpeg) return;
  if (header.value().width * header.value().height > 1 << 14 || header.value().progressive) return;
  const Whole ours = decode_whole(encoded, true);
  if (!ours.attached || ours.gave_up) return;
  const Whole alone = decode_whole(encoded, false);
  if (ours.status.code() != alone.status.code() || ours.pixels != alone.pixels) std::abort();
}

const Target kTarget("jpeg_huffman", run);

}  // namespace
}  // namespace dataline::fuzz
