// Carries out a View: lines of the source's rectangle in, lines of the result out, each pixel's taps in fixed point.
// Vertical taps first, over contiguous bytes; then horizontal ones; result rounded to u8 once.
//
// Same bytes on every machine and vector width; within 1 level of Pillow's resize, which rounds twice (bicubic and lanczos:
// of one that takes columns first, layout.h).
//
// Threads: a Resampler belongs to one worker: it keeps the tables of the sizes it met last.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "core/base/simd.h"
#include "core/base/status.h"
#include "core/transform/pixels/frame.h"
#include "core/transform/pixels/lines.h"
#include "core/transform/resample/view.h"

namespace dataline {

class Resampler {
 public:
  virtual ~Resampler() = default;
  // The source rectangle that a view needs (its taps may reach a little beyond what shows, never outside
  // view.top .. + height), and how many lines at once.
  struct Need {
    ImageRegion region;
    int64_t max_lines = 1;
  };
  virtual Need need(const View& view) = 0;
  // `source` was started with need(view). Lines of view.out_width pixels go to `sink`. u8 of 1, 3 or 4 channels; where the view
  // does not scale, u16 (element_bytes 2) too.
  virtual Status run(const View& view, int64_t channels, int64_t element_bytes, LineSource& source,
                     LineSink& sink, FrameScratch& scratch) = 0;
};

std::unique_ptr<Resampler> make_resampler(SimdTarget target);

// The same, written as the definition reads, slowly: the twin in the tests.
std::unique_ptr<Resampler> make_plain_resampler();

}  // namespace dataline
