// Resizes images for scripts. A request is a line "height width channels out_height out_width filter antialias target" and
// the pixels; the answer is the pixels. filter: the number of dataline::Filter; target: of SimdTarget, -1 for the plain twin.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>

#include "tests/transform/resample/memory_lines.h"
#include "tests/transform/support/resampler_twin.h"

int main() {
  using dataline::test::Image;
  long h, w, c, oh, ow;
  int filter, antialias, target;
  while (std::scanf("%ld %ld %ld %ld %ld %d %d %d", &h, &w, &c, &oh, &ow, &filter, &antialias, &target) ==
         8) {
    std::getchar();
    Image in(h, w, c);
    if (std::fread(in.pixels.data(), 1, in.pixels.size(), stdin) != in.pixels.size()) return 2;
    const dataline::View view = whole(in, oh, ow, static_cast<dataline::Filter>(filter), antialias != 0);
    const std::unique_ptr<dataline::Resampler> resampler =
        target < 0 ? dataline::tests::make_plain_resampler()
                   : dataline::make_resampler(static_cast<dataline::SimdTarget>(target));
    const char* wrong = nullptr;
    const Image out = seen(*resampler, view, in, &wrong, int64_t{16} << 20);
    if (wrong != nullptr) {
      std::fprintf(stderr, "%s\n", wrong);
      return 1;
    }
    std::fwrite(out.pixels.data(), 1, out.pixels.size(), stdout);
    std::fflush(stdout);
  }
  return 0;
}
