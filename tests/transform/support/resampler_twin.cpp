// SPDX-License-Identifier: Apache-2.0
#include "tests/transform/support/resampler_twin.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/transform/resample/kernels.h"

namespace dataline::tests {
namespace {

class PlainResampler : public Resampler {
 public:
  Need need(const View& view) override {
    const ViewLayout layout = view_layout(view);
    Need need;
    need.region = {view.top + layout.touched_rows.first, view.left + layout.touched_columns.first,
                   layout.touched_rows.count, layout.touched_columns.count};
    need.max_lines = layout.touched_rows.count;
    return need;
  }

  Status run(const View& view, int64_t channels, int64_t element_bytes, LineSource& source, LineSink& sink,
             FrameScratch&) override {
    const ViewLayout layout = view_layout(view);
    const std::byte* const* lines = source.lines(0, layout.touched_rows.count);
    if (lines == nullptr) return source.status();
    if (!view.scales()) {
      copy(view, channels * element_bytes, lines, sink);
      return Status::ok();
    }
    const Passes& passes = layout.passes;
    const Picture picture{lines, channels};
    std::vector<std::byte> row_memory, column_memory;
    const Taps rows = build(layout.rows, row_memory);
    const Taps columns = build(layout.columns, column_memory);
    for (int64_t y = 0; y < view.out_height; ++y) {
      const int64_t at = view.flip_y ? view.out_height - 1 - y : y;
      auto* out = reinterpret_cast<uint8_t*>(sink.line(at));
      for (int64_t x = 0; x < view.out_width; ++x)
        for (int64_t c = 0; c < channels; ++c)
          out[x * channels + c] = passes.columns_first
                                      ? columns_then_rows(passes, rows, columns, picture, y, x, c)
                                      : rows_then_columns(passes, rows, columns, picture, y, x, c);
      sink.done(at);
    }
    return Status::ok();
  }

 private:
  static Taps build(const TapsWanted& wanted, std::vector<std::byte>& memory) {
    memory.resize(static_cast<size_t>(taps_bytes(wanted)));
    return build_taps(wanted, memory.data());
  }

  static void copy(const View& view, int64_t pixel_bytes, const std::byte* const* lines, LineSink& sink) {
    for (int64_t y = 0; y < view.out_height; ++y) {
      std::byte* out = sink.line(y);
      const std::byte* in = lines[view.flip_y ? view.out_height - 1 - y : y];
      for (int64_t x = 0; x < view.out_width; ++x) {
        const int64_t from = view.flip_x ? view.out_width - 1 - x : x;
        std::memcpy(out + x * pixel_bytes, in + from * pixel_bytes, static_cast<size_t>(pixel_bytes));
      }
      sink.done(y);
    }
  }

  static int32_t rounded(int32_t sum, int32_t shift) { return (sum + (1 << (shift - 1))) >> shift; }

  // The weight of tap i of output `at`, in the pass's arithmetic.
  static int32_t weight(const Passes& passes, const Taps& taps, int64_t at, int32_t i) {
    const int16_t stored = taps.weights[at * taps.stride + i];
    return passes.arithmetic == Arithmetic::kPositive ? static_cast<uint16_t>(stored) : stored;
  }

  // First pass: `count` pixels, `step` apart in the units of `pixel_at`.
  template <typename PixelAt>
  static int32_t first_pass(const Passes& passes, const Taps& taps, int64_t at, PixelAt pixel_at) {
    int32_t sum = 0;
    for (int32_t i = 0; i < taps.counts[at]; ++i) {
      const int32_t pixel = pixel_at(taps.first[at] + i), by = weight(passes, taps, at, i);
      switch (passes.arithmetic) {
        case Arithmetic::kPositive:
          sum += static_cast<int32_t>((static_cast<uint32_t>(pixel) * 256 * static_cast<uint32_t>(by)) >> 16);
          break;
        case Arithmetic::kSigned:
          sum += rounded(pixel * 128 * by, 15);
          break;
        case Arithmetic::kExact:
          sum += pixel * by;
      }
    }
    if (passes.arithmetic == Arithmetic::kPositive) return sum + (taps.counts[at] >> 1);
    if (passes.arithmetic == Arithmetic::kSigned) return 2 * std::clamp(sum, 0, 255 << 6);
    const int32_t value = rounded(sum, taps.shift - passes.middle_bits);
    return passes.clips ? std::clamp(value, 0, 255 << passes.middle_bits) : value;
  }

  template <typename MiddleAt>
  static uint8_t second_pass(const Passes& passes, const Taps& taps, int64_t at, MiddleAt middle_at) {
    int32_t sum = 0;
    for (int32_t i = 0; i < taps.counts[at]; ++i) {
      const int32_t middle = middle_at(taps.first[at] + i), by = weight(passes, taps, at, i);
      sum +=
          passes.arithmetic == Arithmetic::kExact ? middle * by : rounded(middle * std::min(by, 32767), 15);
    }
    const int32_t shift = passes.arithmetic == Arithmetic::kPositive ? 7
                          : passes.arithmetic == Arithmetic::kSigned ? 6
                                                                     : taps.shift + passes.middle_bits;
    return static_cast<uint8_t>(std::clamp(rounded(sum, shift), 0, 255));
  }

  struct Picture {
    const std::byte* const* lines;
    int64_t channels;
    int32_t pixel(int64_t y, int64_t x, int64_t c) const {
      return std::to_integer<int32_t>(lines[y][x * channels + c]);
    }
  };

  static uint8_t rows_then_columns(const Passes& passes, const Taps& rows, const Taps& columns,
                                   const Picture& picture, int64_t y, int64_t x, int64_t c) {
    return second_pass(passes, columns, x, [&](int64_t column) {
      return first_pass(passes, rows, y, [&](int64_t row) { return picture.pixel(row, column, c); });
    });
  }

  static uint8_t columns_then_rows(const Passes& passes, const Taps& rows, const Taps& columns,
                                   const Picture& picture, int64_t y, int64_t x, int64_t c) {
    return second_pass(passes, rows, y, [&](int64_t row) {
      return first_pass(passes, columns, x, [&](int64_t column) { return picture.pixel(row, column, c); });
    });
  }
};

}  // namespace

std::unique_ptr<Resampler> make_plain_resampler() { return std::make_unique<PlainResampler>(); }

}  // namespace dataline::tests
