// The resampler as layout.h defines it, one output pixel after the other: slow, and the twin in the tests.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <vector>

#include "core/transform/resample/layout.h"

namespace dataline {
namespace {

// Where an axis is not scaled the views' rectangles are what shows.
class PlainResampler : public Resampler {
 public:
  Need need(const View& view) override {
    const Touched touched = touched_by(view);
    Need need;
    need.region = {view.top + touched.rows.first, view.left + touched.columns.first, touched.rows.count,
                   touched.columns.count};
    need.most_lines = touched.rows.count;
    return need;
  }

  Status run(const View& view, int64_t channels, int64_t element_bytes, LineSource& source, LineSink& sink,
             FrameScratch&) override {
    const Touched touched = touched_by(view);
    const std::byte* const* lines = source.lines(0, touched.rows.count);
    if (lines == nullptr) return source.status();
    if (!view.scales()) {
      copy(view, channels * element_bytes, lines, sink);
      return Status::ok();
    }
    const Passes passes = passes_of(view);
    std::vector<std::byte> row_memory, column_memory;
    const Taps rows = build(rows_wanted(view, touched, passes), row_memory);
    const Taps columns = build(columns_wanted(view, touched, passes), column_memory);
    for (int64_t y = 0; y < view.out_height; ++y) {
      const int64_t at = view.flip_y ? view.out_height - 1 - y : y;
      auto* out = reinterpret_cast<uint8_t*>(sink.line(at));
      for (int64_t x = 0; x < view.out_width; ++x)
        for (int64_t c = 0; c < channels; ++c)
          out[x * channels + c] = passes.columns_first
                                      ? columns_then_rows(passes, rows, columns, y, x, c, channels, lines)
                                      : rows_then_columns(passes, rows, columns, y, x, c, channels, lines);
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

  static int32_t pixel(const std::byte* const* lines, int64_t y, int64_t element) {
    return std::to_integer<int32_t>(lines[y][element]);
  }

  static int32_t rounded(int32_t sum, int32_t shift) { return (sum + (1 << (shift - 1))) >> shift; }

  static int32_t between(const Passes& passes, int32_t sum, int32_t shift) {
    const int32_t value = rounded(sum, shift - passes.middle_bits);
    return passes.clips ? std::clamp(value, 0, 255 << passes.middle_bits) : value;
  }

  static uint8_t finished(const Passes& passes, int32_t sum, int32_t shift) {
    return static_cast<uint8_t>(std::clamp(rounded(sum, shift + passes.middle_bits), 0, 255));
  }

  static uint8_t rows_then_columns(const Passes& passes, const Taps& rows, const Taps& columns, int64_t y,
                                   int64_t x, int64_t c, int64_t channels, const std::byte* const* lines) {
    int32_t sum = 0;
    for (int32_t i = 0; i < columns.counts[x]; ++i) {
      int32_t line_sum = 0;
      for (int32_t j = 0; j < rows.counts[y]; ++j)
        line_sum += rows.weights[y * rows.stride + j] *
                    pixel(lines, rows.first[y] + j, (columns.first[x] + i) * channels + c);
      sum += columns.weights[x * columns.stride + i] * between(passes, line_sum, rows.shift);
    }
    return finished(passes, sum, columns.shift);
  }

  static uint8_t columns_then_rows(const Passes& passes, const Taps& rows, const Taps& columns, int64_t y,
                                   int64_t x, int64_t c, int64_t channels, const std::byte* const* lines) {
    int32_t sum = 0;
    for (int32_t j = 0; j < rows.counts[y]; ++j) {
      int32_t line_sum = 0;
      for (int32_t i = 0; i < columns.counts[x]; ++i)
        line_sum += columns.weights[x * columns.stride + i] *
                    pixel(lines, rows.first[y] + j, (columns.first[x] + i) * channels + c);
      sum += rows.weights[y * rows.stride + j] * between(passes, line_sum, columns.shift);
    }
    return finished(passes, sum, rows.shift);
  }
};

}  // namespace

std::unique_ptr<Resampler> make_plain_resampler() { return std::make_unique<PlainResampler>(); }

std::unique_ptr<Resampler> make_resampler(SimdTarget) { return make_plain_resampler(); }

}  // namespace dataline
