// SPDX-License-Identifier: Apache-2.0
#include "core/transform/frame/image_pass.h"

#include <algorithm>

#include "core/base/checked.h"
#include "core/transform/elements/fill.h"

namespace dataline {
namespace {

constexpr int64_t kBlockBytes = 8192;  // of source elements: two blocks and the chain's buffers fit in L1

}  // namespace

ImagePass::ImagePass(ImagePlan plan, SimdTarget target)
    : plan_(std::move(plan)),
      planar_input_(plan_.input.layout == ImageLayout::kPlanar),
      planar_output_(plan_.output.layout == ImageLayout::kPlanar),
      from_bytes_(dtype_bytes(plan_.chain.input())),
      to_bytes_(dtype_bytes(plan_.chain.output())),
      pixel_bytes_(from_bytes_ * (planar_input_ ? 1 : plan_.input.channels)),
      split_(split_kernel(target, from_bytes_, plan_.input.channels)),
      join_(join_kernel(target, from_bytes_, plan_.input.channels)),
      reverse_(reverse_kernel(target, pixel_bytes_)) {
  const bool by_plane = planar_input_ && planar_output_;
  const int64_t line_bytes = plan_.output.width * from_bytes_ * (by_plane ? 1 : plan_.input.channels);
  block_lines_ = std::clamp<int64_t>(kBlockBytes / std::max<int64_t>(line_bytes, 1), 1,
                                     std::max<int64_t>(plan_.output.height, 1));
  block_bytes_ = round_up(block_lines_ * line_bytes, 64);
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

// Writes output lines [first, first + lines) of one plane, packed. `channel`: the first of the plane.
void ImagePass::copy_lines(const View& view, const std::byte* plane, int64_t channel, int64_t first,
                           int64_t lines, std::byte* to) const {
  const std::byte* const fill = plan_.fill.empty() ? nullptr : plan_.fill.data() + channel * from_bytes_;
  const int64_t width = plan_.output.width;
  const int64_t pixel_bytes = pixel_bytes_, source_line = plan_.input.width * pixel_bytes;
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

// Makes output lines [first, first + lines): from the source to lines of the view, from there to the output's layout, and
// through the chain. A step that is not needed is left out; the last one writes the slot. `channel`: the one to make if both
// layouts are planar; else 0, and all are made.
void ImagePass::run_block(const View& view, const std::byte* from, int64_t channel, int64_t first,
                          int64_t lines, std::byte* to, std::byte* scratch) const {
  const ElementChain& chain = plan_.chain;
  const int64_t channels = plan_.input.channels, pixels = lines * plan_.output.width;
  const int64_t source_plane = plan_.input.pixels() * pixel_bytes_;
  const int64_t target_plane = plan_.output.pixels() * to_bytes_;
  const bool moves = planar_input_ != planar_output_;
  const bool splits = moves && planar_output_, joins = moves && planar_input_;
  std::byte* const target =
      to + channel * target_plane + first * plan_.output.width * to_bytes_ * (planar_output_ ? 1 : channels);
  std::byte* const changed = chain.empty() ? target : scratch + block_bytes_;
  std::byte* const chain_scratch = scratch + 2 * block_bytes_;

  const std::byte* block = from + channel * source_plane;
  int64_t stride = source_plane;  // from plane to plane of the block
  if (view.whole_lines && (moves || !chain.empty())) {
    block += (view.y.offset + first) * plan_.input.width * pixel_bytes_;
  } else {
    std::byte* const copy = moves || !chain.empty() ? scratch : target;
    stride = pixels * from_bytes_;
    for (int64_t plane = 0; plane < (joins ? channels : 1); ++plane)
      copy_lines(view, block + plane * source_plane, channel + plane, first, lines, copy + plane * stride);
    block = copy;
  }
  if (splits) split_(block, changed, pixels, channels, chain.empty() ? target_plane : pixels * from_bytes_);
  if (joins) join_(block, changed, pixels, channels, stride);
  if (chain.empty()) return;
  if (moves) block = changed;
  if (!planar_output_) return chain.run_interleaved(block, target, pixels * channels, chain_scratch);
  for (int64_t plane = 0; plane < (splits ? channels : 1); ++plane)
    chain.run(block + plane * pixels * from_bytes_, target + plane * target_plane, pixels, channel + plane,
              chain_scratch);
}

int64_t ImagePass::run(const RowContext& context, const std::byte* from, int64_t, std::byte* to,
                       int64_t) const {
  const View seen = view(context);
  const int64_t height = plan_.output.height;
  for (int64_t channel = 0; channel < (planar_input_ && planar_output_ ? plan_.input.channels : 1); ++channel)
    for (int64_t first = 0; first < height; first += block_lines_)
      run_block(seen, from, channel, first, std::min(block_lines_, height - first), to, context.scratch);
  return plan_.output.pixels() * plan_.output.channels * to_bytes_;
}

}  // namespace dataline
