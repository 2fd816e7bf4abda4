// SPDX-License-Identifier: Apache-2.0
#include "core/transform/passes/image_pass.h"

#include <algorithm>

#include "core/base/checked.h"
#include "core/transform/elements/fill.h"

namespace dataline {
namespace {

constexpr int64_t kBlockBytes = 8192;  // of source elements: two blocks and the chain's buffers fit in L1

}  // namespace

ImagePass::ImagePass(ImagePlan plan, SimdTarget target) : plan_(std::move(plan)) {
  from_bytes_ = dtype_bytes(plan_.chain.input());
  to_bytes_ = dtype_bytes(plan_.chain.output());
  const bool by_plane =
      plan_.input.layout == ImageLayout::kPlanar && plan_.output.layout == ImageLayout::kPlanar;
  const int64_t line_bytes = plan_.output.width * from_bytes_ * (by_plane ? 1 : plan_.input.channels);
  block_lines_ = std::clamp<int64_t>(kBlockBytes / std::max<int64_t>(line_bytes, 1), 1,
                                     std::max<int64_t>(plan_.output.height, 1));
  block_bytes_ = round_up(block_lines_ * line_bytes, 64);
  split_ = split_kernel(target, from_bytes_, plan_.input.channels);
  join_ = join_kernel(target, from_bytes_, plan_.input.channels);
  reverse_ = reverse_kernel(
      target, plan_.input.layout == ImageLayout::kPlanar ? from_bytes_ : from_bytes_ * plan_.input.channels);
}

ImagePass::View ImagePass::view(const RowContext& context) const {
  View out{compose_view(plan_.steps, plan_.input, context.key,
                        static_cast<uint64_t>(context.rows->first_slot + context.row))};
  const int64_t height = plan_.output.height, width = plan_.output.width;
  // Output columns whose source column is in [low, high).
  const ImageAxis& x = out.x;
  const int64_t begin = x.sign > 0 ? x.low - x.offset : x.offset - x.high + 1;
  const int64_t end = x.sign > 0 ? x.high - x.offset : x.offset - x.low + 1;
  out.x_begin = std::clamp<int64_t>(begin, 0, width);
  out.x_end = std::clamp<int64_t>(end, out.x_begin, width);
  out.whole_lines = out.x_begin == 0 && out.x_end == width && width == plan_.input.width && x.sign > 0 &&
                    out.y.sign > 0 && out.y.low <= out.y.offset && out.y.offset + height <= out.y.high;
  return out;
}

// Writes output lines [first, first + lines) of one plane, packed.
void ImagePass::copy_lines(const View& view, const std::byte* plane, int64_t first, int64_t lines,
                           int64_t pixel_bytes, const std::byte* fill, std::byte* to) const {
  const int64_t width = plan_.output.width;
  const int64_t source_line = plan_.input.width * pixel_bytes;
  const int64_t seen = view.x_end - view.x_begin;
  const int64_t column = view.x.sign > 0 ? view.x.offset + view.x_begin : view.x.offset - (view.x_end - 1);
  for (int64_t i = 0; i < lines; ++i, to += width * pixel_bytes) {
    const int64_t y = view.y.sign * (first + i) + view.y.offset;
    if (y < view.y.low || y >= view.y.high) {
      fill_elements(to, width, fill, pixel_bytes);
      continue;
    }
    const std::byte* line = plane + y * source_line + column * pixel_bytes;
    std::byte* target = to + view.x_begin * pixel_bytes;
    if (view.x_begin > 0) fill_elements(to, view.x_begin, fill, pixel_bytes);
    if (view.x.sign > 0)
      copy_line(target, line, seen * pixel_bytes);
    else if (seen > 0)
      reverse_(line, target, seen, pixel_bytes);
    if (view.x_end < width)
      fill_elements(to + view.x_end * pixel_bytes, width - view.x_end, fill, pixel_bytes);
  }
}

// The same without a copy if the lines are contiguous in the source.
const std::byte* ImagePass::lines_of(const View& view, const std::byte* plane, int64_t first, int64_t lines,
                                     int64_t pixel_bytes, const std::byte* fill, std::byte* scratch) const {
  if (view.whole_lines) return plane + (view.y.offset + first) * plan_.input.width * pixel_bytes;
  copy_lines(view, plane, first, lines, pixel_bytes, fill, scratch);
  return scratch;
}

void ImagePass::from_interleaved(const View& view, const std::byte* from, std::byte* to,
                                 std::byte* scratch) const {
  const ElementChain& chain = plan_.chain;
  const int64_t channels = plan_.input.channels, width = plan_.output.width, height = plan_.output.height;
  const bool split = plan_.output.layout == ImageLayout::kPlanar;
  const int64_t pixel_bytes = channels * from_bytes_;
  std::byte* const planes = scratch + block_bytes_;
  std::byte* const chain_scratch = planes + block_bytes_;
  for (int64_t first = 0; first < height; first += block_lines_) {
    const int64_t lines = std::min(block_lines_, height - first), pixels = lines * width;
    const int64_t done = first * width;
    if (!split && chain.empty()) {
      copy_lines(view, from, first, lines, pixel_bytes, plan_.fill.data(), to + done * pixel_bytes);
      continue;
    }
    const std::byte* block = lines_of(view, from, first, lines, pixel_bytes, plan_.fill.data(), scratch);
    if (!split) {
      chain.run_interleaved(block, to + done * channels * to_bytes_, pixels * channels, chain_scratch);
    } else if (chain.empty()) {
      split_(block, to + done * to_bytes_, pixels, channels, height * width * to_bytes_);
    } else {
      split_(block, planes, pixels, channels, pixels * from_bytes_);
      for (int64_t c = 0; c < channels; ++c)
        chain.run(planes + c * pixels * from_bytes_, to + (c * height * width + done) * to_bytes_, pixels, c,
                  chain_scratch);
    }
  }
}

void ImagePass::from_planar(const View& view, const std::byte* from, std::byte* to,
                            std::byte* scratch) const {
  const ElementChain& chain = plan_.chain;
  const int64_t channels = plan_.input.channels, width = plan_.output.width, height = plan_.output.height;
  const int64_t source_plane = plan_.input.pixels() * from_bytes_;
  std::byte* const joined = scratch + block_bytes_;
  std::byte* const chain_scratch = joined + block_bytes_;
  for (int64_t first = 0; first < height; first += block_lines_) {
    const int64_t lines = std::min(block_lines_, height - first), pixels = lines * width;
    std::byte* const target = to + first * width * channels * to_bytes_;
    const std::byte* planes = scratch;
    int64_t stride = pixels * from_bytes_;
    if (view.whole_lines) {
      planes = from + (view.y.offset + first) * plan_.input.width * from_bytes_;
      stride = source_plane;
    } else {
      for (int64_t c = 0; c < channels; ++c)
        copy_lines(view, from + c * source_plane, first, lines, from_bytes_,
                   plan_.fill.empty() ? nullptr : plan_.fill.data() + c * from_bytes_, scratch + c * stride);
    }
    join_(planes, chain.empty() ? target : joined, pixels, channels, stride);
    if (!chain.empty()) chain.run_interleaved(joined, target, pixels * channels, chain_scratch);
  }
}

void ImagePass::plane_by_plane(const View& view, const std::byte* from, std::byte* to,
                               std::byte* scratch) const {
  const ElementChain& chain = plan_.chain;
  const int64_t width = plan_.output.width, height = plan_.output.height;
  for (int64_t c = 0; c < plan_.input.channels; ++c) {
    const std::byte* plane = from + c * plan_.input.pixels() * from_bytes_;
    const std::byte* fill = plan_.fill.empty() ? nullptr : plan_.fill.data() + c * from_bytes_;
    for (int64_t first = 0; first < height; first += block_lines_) {
      const int64_t lines = std::min(block_lines_, height - first);
      std::byte* const target = to + (c * height + first) * width * to_bytes_;
      if (chain.empty()) {
        copy_lines(view, plane, first, lines, from_bytes_, fill, target);
      } else {
        const std::byte* block = lines_of(view, plane, first, lines, from_bytes_, fill, scratch);
        chain.run(block, target, lines * width, c, scratch + 2 * block_bytes_);
      }
    }
  }
}

int64_t ImagePass::run(const RowContext& context, const std::byte* from, int64_t, std::byte* to,
                       int64_t) const {
  const View seen = view(context);
  if (plan_.input.layout == ImageLayout::kInterleaved)
    from_interleaved(seen, from, to, context.scratch);
  else if (plan_.output.layout == ImageLayout::kInterleaved)
    from_planar(seen, from, to, context.scratch);
  else
    plane_by_plane(seen, from, to, context.scratch);
  return plan_.output.pixels() * plan_.output.channels * to_bytes_;
}

}  // namespace dataline
