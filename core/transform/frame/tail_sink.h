// The end of a frame pass: finished lines go through the element chain and the layout into the slot, a block of lines at a
// time while they are in the L1 cache.
//
// Threads: externally synchronized; one per row.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/transform/elements/element_chain.h"
#include "core/transform/elements/kernels.h"
#include "core/transform/pixels/frame.h"
#include "core/transform/pixels/lines.h"

namespace dataline {

struct FrameTail {
  ElementChain chain;
  bool planar = false;  // CHW; else HWC
  PlaneKernel split = nullptr;

  int64_t element_bytes() const { return dtype_bytes(chain.output()); }
};

class TailSink : public LineSink {
 public:
  // `frame`: the size of the frame, and its pixels for take_frame(). `chain_scratch` has room for the chain's buffers. Lines
  // and planes come from `scratch`.
  TailSink(const FrameTail& tail, const Frame& frame, std::byte* to, std::byte* chain_scratch)
      : tail_(tail), frame_(frame), to_(to), chain_scratch_(chain_scratch) {}
  Status start(FrameScratch& scratch);

  std::byte* line(int64_t y) override;
  void done(int64_t y) override;
  void finish();  // after the last line

  void take_frame();  // instead of lines: all of frame.pixels

 private:
  bool in_place() const { return tail_.chain.empty() && !tail_.planar; }
  void write(const std::byte* lines, int64_t first, int64_t count);
  void write_planes(const std::byte* lines, int64_t first, int64_t count);

  const FrameTail& tail_;
  Frame frame_;
  std::byte* to_;
  std::byte* chain_scratch_;
  std::byte* block_ = nullptr;
  std::byte* planes_ = nullptr;
  int64_t block_lines_ = 1;
  int64_t block_first_ = 0;  // lines [block_first_, + block_count_) are in the block
  int64_t block_count_ = 0;
};

}  // namespace dataline
