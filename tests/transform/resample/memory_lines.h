// An image in memory as a LineSource and as a LineSink, both of which watch that their rules are kept.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "core/transform/decode/decoder.h"
#include "core/transform/resample/resampler.h"

namespace dataline::test {

struct Image {
  int64_t height = 0, width = 0, channels = 3, element_bytes = 1;
  std::vector<std::byte> pixels;

  Image() = default;
  Image(int64_t h, int64_t w, int64_t c, int64_t bytes = 1)
      : height(h),
        width(w),
        channels(c),
        element_bytes(bytes),
        pixels(static_cast<size_t>(h * w * c * bytes)) {}
  int64_t line_bytes() const { return width * channels * element_bytes; }
  const std::byte* at(int64_t y, int64_t x) const {
    return pixels.data() + y * line_bytes() + x * channels * element_bytes;
  }
  bool operator==(const Image&) const = default;
};

// Each line asked for is a fresh block of exactly the region's width, so that sanitizers see a read beside it; lines before
// `first` are freed, as a decoder's are overwritten.
class MemoryLines : public LineSource {
 public:
  MemoryLines(const Image& image, const Resampler::Need& need) : image_(image), need_(need) {
    lines_.resize(static_cast<size_t>(need.region.height));
    pointers_.resize(static_cast<size_t>(need.region.height));
    inside_ = need.region.top >= 0 && need.region.left >= 0 && need.region.height > 0 &&
              need.region.width > 0 && need.region.top + need.region.height <= image.height &&
              need.region.left + need.region.width <= image.width;
  }
  const std::byte* const* lines(int64_t first, int64_t count) override {
    if (!inside_ || first < first_ || count > need_.max_lines || first + count > need_.region.height) {
      kept_ = false;
      return nullptr;
    }
    for (; first_ < first; ++first_) lines_[static_cast<size_t>(first_)].reset();
    const int64_t bytes = need_.region.width * image_.channels * image_.element_bytes;
    for (int64_t y = first; y < first + count; ++y) {
      auto& line = lines_[static_cast<size_t>(y)];
      if (line == nullptr) {
        line = std::make_unique<std::byte[]>(static_cast<size_t>(bytes));
        std::memcpy(line.get(), image_.at(need_.region.top + y, need_.region.left),
                    static_cast<size_t>(bytes));
      }
      pointers_[static_cast<size_t>(y)] = line.get();
    }
    return pointers_.data() + first;
  }
  const Status& status() const override { return status_; }
  bool kept() const { return kept_; }  // whether the resampler asked only for what it may

 private:
  const Image& image_;
  Resampler::Need need_;
  std::vector<std::unique_ptr<std::byte[]>> lines_;
  std::vector<const std::byte*> pointers_;
  int64_t first_ = 0;
  bool inside_ = true;
  bool kept_ = true;
  Status status_{Code::kInternal, "lines were asked for that no need() had announced"};
};

class MemorySink : public LineSink {
 public:
  explicit MemorySink(Image& image) : image_(image) {
    lines_.resize(static_cast<size_t>(image.height));
    times_.resize(static_cast<size_t>(image.height));
  }
  std::byte* line(int64_t y) override {
    lines_[static_cast<size_t>(y)] = std::make_unique<std::byte[]>(static_cast<size_t>(image_.line_bytes()));
    return lines_[static_cast<size_t>(y)].get();
  }
  void done(int64_t y) override {
    ++times_[static_cast<size_t>(y)];
    std::memcpy(image_.pixels.data() + y * image_.line_bytes(), lines_[static_cast<size_t>(y)].get(),
                static_cast<size_t>(image_.line_bytes()));
    lines_[static_cast<size_t>(y)].reset();
  }
  bool each_once() const {
    for (const int times : times_)
      if (times != 1) return false;
    return true;
  }

 private:
  Image& image_;
  std::vector<std::unique_ptr<std::byte[]>> lines_;
  std::vector<int> times_;
};

// The whole of an image, scaled.
inline View whole(const Image& image, int64_t height, int64_t width, Filter filter, bool antialias = true) {
  View view;
  view.height = image.height;
  view.width = image.width;
  view.scaled_height = view.out_height = height;
  view.scaled_width = view.out_width = width;
  view.filter = filter;
  view.antialias = antialias;
  return view;
}

// The view of an image, or an image without pixels where a rule was broken; `error` (may be null) then says which.
inline Image seen(Resampler& resampler, const View& view, const Image& image, const char** error = nullptr,
                  int64_t scratch_bytes = int64_t{4} << 20) {
  const std::unique_ptr<std::byte, decltype(&std::free)> memory(
      static_cast<std::byte*>(std::aligned_alloc(64, static_cast<size_t>(scratch_bytes))), &std::free);
  FrameScratch scratch(memory.get(), scratch_bytes);
  Image out(view.out_height, view.out_width, image.channels, image.element_bytes);
  MemoryLines source(image, resampler.need(view));
  MemorySink sink(out);
  const char* wrong = nullptr;
  if (!resampler.run(view, image.channels, image.element_bytes, source, sink, scratch).is_ok())
    wrong = "run failed";
  if (!source.kept()) wrong = "lines beyond need()";
  if (!sink.each_once()) wrong = "a line not written exactly once";
  if (error != nullptr) *error = wrong;
  return wrong == nullptr ? out : Image();
}

}  // namespace dataline::test
