// SPDX-License-Identifier: Apache-2.0
#include "tests/transform/support/frame_twin.h"

#include <gtest/gtest.h>

#include <utility>

#include "core/base/random.h"
#include "core/transform/pixels/lines.h"
#include "tests/transform/support/resampler_twin.h"

namespace dataline::tests {
namespace {

constexpr int64_t kScratchBytes = int64_t{64} << 20;

struct Memory {
  std::unique_ptr<std::byte[]> bytes{new std::byte[kScratchBytes]};
  FrameScratch scratch{bytes.get(), kScratchBytes};
};

Frame frame_in(Tensor& tensor) {
  return {tensor.bytes.data(), tensor.shape[0], tensor.shape[1], tensor.shape[2], dtype_bytes(tensor.dtype)};
}

}  // namespace

Tensor twin_decode(Bytes encoded, const DecodeOptions& options) {
  Memory memory;
  ImageDecoder decoder(options);
  const Status opened = decoder.open(encoded);
  EXPECT_TRUE(opened.is_ok()) << opened.message();
  const int64_t height = decoder.height(), width = decoder.width();
  Tensor out = empty_tensor(decoder.element_bytes() == 2 ? DType::kU16 : DType::kU8,
                            {height, width, decoder.channels()}, "HWC");
  const Status started = decoder.start({0, 0, height, width}, height, memory.scratch);
  EXPECT_TRUE(started.is_ok()) << started.message();
  const std::byte* const* lines = decoder.lines(0, height);
  EXPECT_NE(lines, nullptr) << decoder.status().message();
  const int64_t line_bytes = static_cast<int64_t>(out.bytes.size()) / height;
  for (int64_t y = 0; lines != nullptr && y < height; ++y)
    std::memcpy(out.bytes.data() + y * line_bytes, lines[y], static_cast<size_t>(line_bytes));
  return out;
}

Tensor twin_view(const Tensor& in, ViewStep step, const Draw& draw) {
  if (in.axes == "CHW") return twin_chw(twin_view(twin_hwc(in), step, draw));
  Tensor source = twin_hwc(in);
  step.place = draw.place;
  const uint64_t key = random_key(draw.seed, static_cast<uint64_t>(draw.epoch), Domain::kAugment);
  const Result<View> view =
      compose({step}, source.shape[0], source.shape[1], key, static_cast<uint64_t>(draw.slot));
  EXPECT_TRUE(view.is_ok()) << view.status().message();
  if (!view.is_ok()) return in;
  Tensor out =
      empty_tensor(in.dtype, {view.value().out_height, view.value().out_width, source.shape[2]}, "HWC");
  Memory memory;
  const std::unique_ptr<Resampler> resampler = make_plain_resampler();
  const Resampler::Need need = resampler->need(view.value());
  FrameSource lines;
  EXPECT_TRUE(lines.start(frame_in(source), need.region, need.max_lines, memory.scratch).is_ok());
  FrameSink sink(frame_in(out));
  const Status status =
      resampler->run(view.value(), source.shape[2], dtype_bytes(in.dtype), lines, sink, memory.scratch);
  EXPECT_TRUE(status.is_ok()) << status.message();
  if (in.axes != "HW") return out;
  out.shape.pop_back();
  out.axes = "HW";
  return out;
}

Tensor twin_resize(const Tensor& in, int64_t height, int64_t width, Filter filter) {
  ViewStep step;
  step.kind = ViewStep::Kind::kResize;
  step.height = height;
  step.width = width;
  step.filter = filter;
  return twin_view(in, step, {});
}

}  // namespace dataline::tests
