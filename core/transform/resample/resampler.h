// Executes a View: lines of the source rectangle in, lines of the result out, with weights in fixed point and one rounding
// to u8 (layout.h).
//
// The same bytes on every machine and vector width; within 1 level of Pillow's resize, which rounds twice (for bicubic and
// lanczos: of a resize that does columns first).
//
// Threads: a Resampler belongs to one worker: it caches the tables of recent sizes.
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
  // The source rectangle that a view reads (taps may extend beyond the visible part, never outside view.top .. + height), and
  // how many lines at once.
  struct Need {
    ImageRegion region;
    int64_t max_lines = 1;
  };
  virtual Need need(const View& view) = 0;
  // `source` was started with need(view). Lines of view.out_width pixels go to `sink`. u8 of 1, 3 or 4 channels; also u16
  // (element_bytes 2) if the view does not scale.
  virtual Status run(const View& view, int64_t channels, int64_t element_bytes, LineSource& source,
                     LineSink& sink, FrameScratch& scratch) = 0;
};

std::unique_ptr<Resampler> make_resampler(SimdTarget target);

}  // namespace dataline
