// Resampling alone: the crop of a photograph that random_resized_crop(224) draws on average, and its stages.
// For a comparison with other libraries see the row fused_pass of bench/run.sh.
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "core/base/random.h"
#include "core/transform/resample/kernels.h"
#include "core/transform/resample/resampler.h"

namespace dataline {
namespace {

constexpr int64_t kHeight = 260, kWidth = 350, kOut = 224;

// Lines of an image in memory: nothing is copied.
class Lines : public LineSource {
 public:
  Lines(const std::byte* pixels, int64_t height, int64_t line_bytes) {
    for (int64_t y = 0; y < height; ++y) pointers_.push_back(pixels + y * line_bytes);
  }
  const std::byte* const* lines(int64_t first, int64_t) override { return pointers_.data() + first; }
  const Status& status() const override { return status_; }

 private:
  std::vector<const std::byte*> pointers_;
  Status status_;
};

class Sink : public LineSink {
 public:
  explicit Sink(int64_t lines, int64_t line_bytes)
      : pixels_(static_cast<size_t>(lines * line_bytes)), line_bytes_(line_bytes) {}
  std::byte* line(int64_t y) override { return pixels_.data() + y * line_bytes_; }
  void done(int64_t) override {}

 private:
  std::vector<std::byte> pixels_;
  int64_t line_bytes_;
};

std::vector<std::byte> noise(int64_t bytes) {
  std::vector<std::byte> out(static_cast<size_t>(bytes));
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::byte>(random_bits(7, i));
  return out;
}

View view_of(int64_t height, int64_t width, Filter filter) {
  View view;
  view.height = height;
  view.width = width;
  view.scaled_height = view.scaled_width = view.out_height = view.out_width = kOut;
  view.filter = filter;
  return view;
}

// Arguments: height, width, filter, target; `fresh`: a size never met before each time, as random crops have.
void resize(benchmark::State& state, bool fresh) {
  const auto target = static_cast<SimdTarget>(state.range(3));
  if (target > best_simd_target()) return state.SkipWithError("not on this machine");
  const int64_t height = state.range(0), width = state.range(1);
  const std::vector<std::byte> pixels = noise(height * width * 3), memory(size_t{16} << 20);
  FrameScratch scratch(const_cast<std::byte*>(memory.data()), static_cast<int64_t>(memory.size()));
  const auto resampler = make_resampler(target);
  Lines lines(pixels.data(), height, width * 3);
  Sink sink(kOut, kOut * 3);
  int64_t turn = 0;
  for (auto _ : state) {
    View view = view_of(height, width, static_cast<Filter>(state.range(2)));
    if (fresh) {
      view.height -= turn % 16;
      view.width -= turn++ / 16 % 16;
    }
    scratch.reset();
    benchmark::DoNotOptimize(resampler->run(view, 3, 1, lines, sink, scratch).is_ok());
  }
  state.SetLabel(simd_target_name(target));
}

void cases(benchmark::internal::Benchmark* benchmark) {
  const auto best = static_cast<int64_t>(best_simd_target());
  for (int64_t filter = 0; filter < 5; ++filter) benchmark->Args({kHeight, kWidth, filter, best});
  for (const int64_t target : {0, 1, 2, 3}) benchmark->Args({kHeight, kWidth, 1, target});
  benchmark->Args({1200, 1600, 1, best});
  benchmark->Unit(benchmark::kMicrosecond);
}
BENCHMARK_CAPTURE(resize, same_size, false)->Apply(cases);
BENCHMARK_CAPTURE(resize, new_sizes, true)
    ->Args({kHeight, kWidth, 1, 3})
    ->Args({kHeight, kWidth, 1, 2})
    ->Unit(benchmark::kMicrosecond);

void tables(benchmark::State& state) {
  TapsWanted wanted;
  wanted.axis = {kWidth, kOut, static_cast<Filter>(state.range(0)), true};
  wanted.count = kOut;
  wanted.fixed_shift = true;
  wanted.max_shift = 14;
  std::vector<std::byte> memory(static_cast<size_t>(taps_bytes(wanted)));
  for (auto _ : state) benchmark::DoNotOptimize(build_taps(wanted, memory.data()));
}
BENCHMARK(tables)->DenseRange(0, 4)->Unit(benchmark::kMicrosecond);

void rows(benchmark::State& state) {
  const ResampleKernels kernels =
      resample_kernels(static_cast<SimdTarget>(state.range(0)), Arithmetic::kPositive);
  const std::vector<std::byte> pixels = noise(4 * kWidth * 3);
  std::vector<int16_t> out(4096);
  const std::byte* lines[4];
  for (int64_t i = 0; i < 4; ++i) lines[i] = pixels.data() + i * kWidth * 3;
  const int16_t weights[] = {8000, 16000, 8768};
  RowsJob job;
  job.lines = lines;
  job.weights = weights;
  job.elements = kWidth * 3;
  job.out = reinterpret_cast<std::byte*>(out.data());
  for (auto _ : state)
    for (int64_t y = 0; y < kOut; ++y) {
      job.count = 2 + (y % 3 == 0);
      kernels.rows_from_bytes(job);
      benchmark::ClobberMemory();
    }
}
BENCHMARK(rows)->Arg(2)->Arg(3)->Unit(benchmark::kMicrosecond);

void columns(benchmark::State& state) {
  const ResampleKernels kernels =
      resample_kernels(static_cast<SimdTarget>(state.range(0)), Arithmetic::kPositive);
  TapsWanted wanted;
  wanted.axis = {kWidth, kOut, Filter::kBilinear, true};
  wanted.count = kOut;
  wanted.fixed_shift = true;
  std::vector<std::byte> memory(static_cast<size_t>(taps_bytes(wanted)));
  std::vector<int16_t> line_memory(32 * 2048), turned(1 << 16), results(1 << 16);
  std::vector<std::byte> out_memory(32 * 2048);
  const int16_t* lines[32];
  std::byte* out[32];
  for (int64_t i = 0; i < 32; ++i) {
    lines[i] = line_memory.data() + i * 1472;
    out[i] = out_memory.data() + i * 1024;
  }
  ColumnsJob job;
  job.lines = lines;
  job.out = out;
  job.outputs = kOut;
  job.taps = build_taps(wanted, memory.data());
  job.strip = state.range(1);
  job.turned = turned.data();
  job.results = results.data();
  for (auto _ : state)
    for (int64_t y = 0; y < kOut; y += kernels.block) {
      kernels.columns_to_bytes(job);
      benchmark::ClobberMemory();
    }
}
BENCHMARK(columns)->ArgsProduct({{2, 3}, {16, 32, 64}})->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace dataline

BENCHMARK_MAIN();
