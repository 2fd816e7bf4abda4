// Any bytes as a file of this format: refused, or decoded whole and in part.
// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/fuzz_decode.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return dataline::fuzz_image(data, size, dataline::ImageFormat::kWebp);
}
