// SPDX-License-Identifier: Apache-2.0
#include "core/transform/frame/geometry.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/random.h"
#include "core/transform/pixels/draws.h"

namespace dataline {
namespace {

// Restricts the output to `size` coordinates from `begin` on.
void take(ImageAxis& axis, int64_t begin, int64_t size) {
  axis.offset += axis.sign * begin;
  const int64_t last = axis.offset + axis.sign * (size - 1);
  axis.low = std::max(axis.low, std::min(axis.offset, last));
  axis.high = std::min(axis.high, std::max(axis.offset, last) + 1);
}

// Of the margin of a central crop, rounded to even like Python's round() and so torchvision.
int64_t half(int64_t margin) { return (margin + margin / 2 % 2) / 2; }

TailAxis narrow(const ImageAxis& axis) {
  return {static_cast<int32_t>(axis.sign), static_cast<int32_t>(axis.offset), static_cast<int32_t>(axis.low),
          static_cast<int32_t>(axis.high)};
}

class GeometryProgram : public Program {
 public:
  GeometryProgram(std::string field, std::vector<GeometryStep> steps, const ImageShape& input)
      : steps_(std::move(steps)), input_(input) {
    output_.name = std::move(field);
    output_.dtype = DType::kI32;
    output_.shape = {static_cast<int64_t>(sizeof(TailGeometry) / sizeof(int32_t))};
  }
  const Field& output() const override { return output_; }
  bool draws() const override { return dataline::draws(steps_); }

  void run(const FieldRows& rows) const override {
    const uint64_t key = random_key(rows.seed, static_cast<uint64_t>(rows.epoch), Domain::kAugment);
    for (int64_t i = 0; i < rows.count; ++i) {
      const TailGeometry view =
          narrow_view(compose_view(steps_, input_, key, static_cast<uint64_t>(rows.first_slot + i)));
      std::memcpy(rows.target + i * rows.target_stride, &view, sizeof view);
    }
  }

 private:
  Field output_;
  std::vector<GeometryStep> steps_;
  ImageShape input_;
};

}  // namespace

ImageView compose_view(const std::vector<GeometryStep>& steps, const ImageShape& input, uint64_t key,
                       uint64_t slot) {
  ImageView out;
  out.y.high = input.height;
  out.x.high = input.width;
  int64_t height = input.height, width = input.width;
  for (const GeometryStep& step : steps) {
    const Draws draw(key, slot, step.place);
    const bool vertical = step.kind == ViewStep::Kind::kFlipY;
    if (vertical || step.kind == ViewStep::Kind::kFlipX) {
      if (draw.unit(0) >= step.probability) continue;
      ImageAxis& axis = vertical ? out.y : out.x;
      axis.offset += axis.sign * ((vertical ? height : width) - 1);
      axis.sign = -axis.sign;
      continue;
    }
    const bool random = step.kind == ViewStep::Kind::kRandomCrop;
    const int64_t rows = step.pad_top + height + step.pad_bottom - step.height;
    const int64_t columns = step.pad_left + width + step.pad_right - step.width;
    const int64_t top = random ? draw.below(0, rows + 1) : half(rows);
    const int64_t left = random ? draw.below(1, columns + 1) : half(columns);
    take(out.y, top - step.pad_top, height = step.height);
    take(out.x, left - step.pad_left, width = step.width);
  }
  return out;
}

bool draws(const std::vector<GeometryStep>& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const GeometryStep& step) { return step.draws(); });
}

TailGeometry narrow_view(const ImageView& view) { return {narrow(view.y), narrow(view.x)}; }

std::unique_ptr<const Program> make_geometry_program(std::string field, std::vector<GeometryStep> steps,
                                                     const ImageShape& input) {
  return std::make_unique<GeometryProgram>(std::move(field), std::move(steps), input);
}

}  // namespace dataline
