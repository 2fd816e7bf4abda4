// What dataline_torch.hpp costs above the C calls it makes, and the same rows by LibTorch's own loaders.
//
//   torch_bench --benchmark_repetitions=9 --benchmark_enable_random_interleaving=true --benchmark_report_aggregates_only=true
//
// Overhead: batches of one i64, loaded in the calling thread. Rows: 60,000 x 784 u8, shuffled, batch 256; torch::data with
// Stack is a loader, a BatchDataset that calls index_select a limit: the user does the loading.
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <torch/torch.h>

#include <cstdint>
#include <dataline_torch.hpp>
#include <memory>
#include <utility>

#include "bench/micro/c_calls.h"

namespace {

constexpr int64_t kRows = 60'000, kRowBytes = 784, kBatch = 256;

dataline::Loader small_loader() {
  return dataline::Loader(dataline::borrow_tensors({{"data", torch::arange(100'000)}}),
                          {{"num_workers", 0}, {"batch_size", 1}});
}

void CCalls(benchmark::State& state) { run_c_calls<int64_t>(state, small_loader()); }

// One tensor a batch, made and destroyed.
void Tensors(benchmark::State& state) {
  dataline::Loader loader = small_loader();
  int64_t sum = 0;
  dataline::BatchIterator at = loader.begin();
  for (auto _ : state) {
    const torch::Tensor tensor = dataline::to_tensor(*at, "data");
    sum += *tensor.data_ptr<int64_t>();
    if (++at == loader.end()) at = loader.begin();
  }
  benchmark::DoNotOptimize(sum);
}

torch::Tensor rows() {
  static const torch::Tensor made = torch::randint(0, 256, {kRows, kRowBytes}, torch::kByte);
  return made;
}

// Epochs of `next() -> rows of the next batch, 0 at an epoch's end`, in rows a second.
template <typename Next>
void run_rows(benchmark::State& state, Next next) {
  int64_t delivered = 0;
  for (auto _ : state) delivered += next();
  state.SetItemsProcessed(delivered);
}

void RowsByC(benchmark::State& state) {
  const dataline::Loader owner(
      dataline::borrow_tensors({{"data", rows()}}),
      {{"num_workers", state.range(0)}, {"batch_size", kBatch}, {"shuffle", "full"}});
  dl_error error = DL_ERROR_INIT;
  run_rows(state, [&] {
    dl_batch* batch = nullptr;
    if (dl_loader_next(owner.get(), -1, &batch, &error) != DL_OK) return int64_t{0};
    int32_t count = 0;
    const int64_t got = dl_batch_views(batch, &count)->shape[0];
    dl_batch_release(batch);
    return got;
  });
}

void RowsByTensors(benchmark::State& state) {
  dataline::Loader loader(dataline::borrow_tensors({{"data", rows()}}),
                          {{"num_workers", state.range(0)}, {"batch_size", kBatch}, {"shuffle", "full"}});
  dataline::BatchIterator at = loader.begin();
  run_rows(state, [&] {
    const int64_t got = dataline::to_tensor(*at, "data").size(0);
    if (++at == loader.end()) at = loader.begin();
    return got;
  });
}

class Rows : public torch::data::Dataset<Rows, torch::data::TensorExample> {
 public:
  torch::data::TensorExample get(size_t index) override { return rows()[static_cast<int64_t>(index)]; }
  torch::optional<size_t> size() const override { return size_t{kRows}; }
};
class Batches : public torch::data::BatchDataset<Batches, torch::Tensor> {
 public:
  torch::Tensor get_batch(c10::ArrayRef<size_t> indices) override {
    const torch::Tensor chosen = torch::from_blob(const_cast<size_t*>(indices.data()),
                                                  {static_cast<int64_t>(indices.size())}, torch::kInt64);
    return rows().index_select(0, chosen);
  }
  torch::optional<size_t> size() const override { return size_t{kRows}; }
};
int64_t count_of(const torch::Tensor& batch) { return batch.size(0); }
int64_t count_of(const torch::data::TensorExample& batch) { return batch.data.size(0); }

template <typename Set>
void run_torch(benchmark::State& state, Set set) {
  rows();
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
      std::move(set), torch::data::DataLoaderOptions(kBatch).workers(static_cast<size_t>(state.range(0))));
  auto at = loader->begin();
  run_rows(state, [&] {
    const int64_t got = count_of(*at);
    if (++at == loader->end()) at = loader->begin();
    return got;
  });
}
void RowsByTorchDataStack(benchmark::State& state) {
  run_torch(state, Rows().map(torch::data::transforms::Stack<torch::data::TensorExample>()));
}
void RowsByTorchBatchDataset(benchmark::State& state) { run_torch(state, Batches()); }

BENCHMARK(CCalls);
BENCHMARK(Tensors);
BENCHMARK(RowsByC)->DenseRange(0, 2)->UseRealTime();
BENCHMARK(RowsByTensors)->DenseRange(0, 2)->UseRealTime();
BENCHMARK(RowsByTorchDataStack)->DenseRange(0, 2)->UseRealTime();
BENCHMARK(RowsByTorchBatchDataset)->DenseRange(0, 2)->UseRealTime();

}  // namespace

int main(int argc, char** argv) {
  torch::set_num_threads(1);  // its barriers spin; on busy cores two threads are slower than one
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
