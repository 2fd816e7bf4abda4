// What dataline.hpp costs above the C calls it makes: the same batches, taken in C, by next and by a loop.
//
//   cpp_bench --benchmark_repetitions=9 --benchmark_enable_random_interleaving=true --benchmark_report_aggregates_only=true
//
// Batches of one u64, loaded in the calling thread: the work of a batch is the same in all rows, and as small as it gets.
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <cstdint>
#include <dataline.hpp>
#include <vector>

#include "bench/micro/c_calls.h"

namespace {

dataline::Loader make_loader() {
  const std::vector<uint64_t> values(100'000, 1);
  return dataline::Loader(dataline::Dataset::copy_arrays({dataline::Array("data", values)}),
                          {{"batch_size", 1}, {"num_workers", 0}});
}

void CCalls(benchmark::State& state) { run_c_calls<uint64_t>(state, make_loader()); }

void CppNext(benchmark::State& state) {
  dataline::Loader loader = make_loader();
  uint64_t sum = 0;
  for (auto _ : state) {
    dataline::Result<dataline::Batch> batch = loader.next();
    if (batch.status() == DL_END_OF_EPOCH) batch = loader.next();
    sum += (*batch)[0].as<uint64_t>()[0];
  }
  benchmark::DoNotOptimize(sum);
}

// The loop with `touch` on each batch, for as many batches as the benchmark asks for.
template <typename Touch>
void loop(benchmark::State& state, Touch touch) {
  dataline::Loader loader = make_loader();
  uint64_t sum = 0;
  dataline::BatchIterator at = loader.begin();
  for (auto _ : state) {
    sum += touch(*at);
    if (++at == loader.end()) at = loader.begin();
  }
  benchmark::DoNotOptimize(sum);
}

void CppLoop(benchmark::State& state) {
  loop(state, [](const dataline::Batch& batch) { return batch[0].as<uint64_t>()[0]; });
}
void CppLoopByName(benchmark::State& state) {
  loop(state, [](const dataline::Batch& batch) { return batch["data"].as<uint64_t>()[0]; });
}
void CppLoopByValue(benchmark::State& state) {
  loop(state, [](dataline::Batch batch) {
    return batch["data"].as<uint64_t>()[0];
  });  // NOLINT: the copy is measured
}

BENCHMARK(CCalls);
BENCHMARK(CppNext);
BENCHMARK(CppLoop);
BENCHMARK(CppLoopByName);
BENCHMARK(CppLoopByValue);

}  // namespace

BENCHMARK_MAIN();
