// A rectangle of an image that is overwritten: torchvision.transforms.v2.RandomErasing.
//
// Draws: 0: whether it happens. Attempt t of ten: 1 + 2t the area, uniform in scale; 2 + 2t the ratio of height to width,
// log-uniform; 21 and 22 the upper left corner; from 64 on one number for each value of the rectangle, channel by channel.
// Ten attempts that give no rectangle smaller than the image leave it as it is.
//
// Threads: pure functions; stages and passes immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/transform/frame/stage.h"
#include "core/transform/geometry.h"
#include "core/transform/pass.h"

namespace dataline {

struct Erasing {
  double probability = 0.5;
  double scale_low = 0.02, scale_high = 0.33;
  double ratio_low = 0.3, ratio_high = 3.3;
  std::vector<std::byte> value;  // one element a channel; empty: from the standard normal distribution
};

struct ErasedRectangle {
  int64_t top = 0, left = 0, height = 0, width = 0;
};
std::optional<ErasedRectangle> draw_rectangle(const Erasing& erasing, const Draws& draws, int64_t height,
                                              int64_t width);

// On u8 frames; value has one byte a channel. In place.
class EraseStage : public FrameStage {
 public:
  explicit EraseStage(Erasing erasing) : erasing_(std::move(erasing)) {}
  bool draws() const override { return erasing_.probability > 0; }
  Status apply(const Draws& draws, FrameScratch& scratch, Frame& frame) const override;

 private:
  Erasing erasing_;
};

// On a finished row of any real dtype (normal values: of a float), HWC or CHW.
class ErasePass : public Pass {
 public:
  ErasePass(Erasing erasing, const ImageShape& image, DType dtype, int64_t place);
  int64_t scratch_bytes() const override { return 0; }
  bool in_place() const override { return true; }
  int64_t run(const RowContext& context, const std::byte* from, int64_t from_bytes, std::byte* to,
              int64_t room) const override;

 private:
  Erasing erasing_;
  ImageShape image_;
  DType dtype_;
  int64_t element_bytes_;
  int64_t place_;
};

}  // namespace dataline
