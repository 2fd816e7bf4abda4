// SPDX-License-Identifier: Apache-2.0
#include "core/transform/frame/tail_sink.h"

#include <algorithm>
#include <cstring>

namespace dataline {
namespace {

constexpr int64_t kTailBlockBytes = 8192;  // and as much for planes: fits in L1 beside the resampler's lines

}  // namespace

Status TailSink::start(FrameScratch& scratch) {
  if (in_place()) return Status::ok();
  const int64_t line_bytes = frame_.line_bytes();
  block_lines_ = std::clamp<int64_t>(kTailBlockBytes / std::max<int64_t>(line_bytes, 1), 1,
                                     std::max<int64_t>(frame_.height, 1));
  const int64_t bytes = block_lines_ * line_bytes;
  block_ = scratch.take(bytes);
  planes_ = tail_.planar && !tail_.chain.empty() ? scratch.take(bytes) : block_;
  if (block_ == nullptr || planes_ == nullptr) return scratch.too_large(frame_.height, frame_.width, bytes);
  return Status::ok();
}

std::byte* TailSink::line(int64_t y) {
  if (in_place()) return to_ + y * frame_.line_bytes();
  if (block_count_ > 0 && y != block_first_ + block_count_) finish();
  if (block_count_ == 0) block_first_ = y;
  return block_ + block_count_ * frame_.line_bytes();
}

void TailSink::done(int64_t) {
  if (in_place()) return;
  if (++block_count_ == block_lines_) finish();
}

void TailSink::finish() {
  if (block_count_ > 0) write(block_, block_first_, block_count_);
  block_count_ = 0;
}

void TailSink::take_frame() {
  if (in_place()) {
    if (frame_.bytes() > 0) std::memcpy(to_, frame_.pixels, static_cast<size_t>(frame_.bytes()));
    return;
  }
  for (int64_t first = 0; first < frame_.height; first += block_lines_)
    write(frame_.pixels + first * frame_.line_bytes(), first, std::min(block_lines_, frame_.height - first));
}

void TailSink::write(const std::byte* lines, int64_t first, int64_t count) {
  if (tail_.planar) return write_planes(lines, first, count);
  const int64_t line_elements = frame_.width * frame_.channels;
  tail_.chain.run_interleaved(lines, to_ + first * line_elements * tail_.element_bytes(),
                              count * line_elements, chain_scratch_);
}

void TailSink::write_planes(const std::byte* lines, int64_t first, int64_t count) {
  const int64_t to_bytes = tail_.element_bytes(), from_bytes = frame_.element_bytes;
  const int64_t pixels = count * frame_.width;
  const int64_t plane_bytes = frame_.height * frame_.width * to_bytes;
  std::byte* const to = to_ + first * frame_.width * to_bytes;
  if (tail_.chain.empty()) return tail_.split(lines, to, pixels, frame_.channels, plane_bytes);
  tail_.split(lines, planes_, pixels, frame_.channels, pixels * from_bytes);
  for (int64_t c = 0; c < frame_.channels; ++c)
    tail_.chain.run(planes_ + c * pixels * from_bytes, to + c * plane_bytes, pixels, c, chain_scratch_);
}

}  // namespace dataline
