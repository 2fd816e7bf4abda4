// The three C calls of a batch (next, views, release) and one value read: what the wrappers are measured against.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <dataline.hpp>

// Batches of `loader` in an endless job, whose first field is of T.
template <typename T>
void run_c_calls(benchmark::State& state, const dataline::Loader& loader) {
  T sum = 0;
  dl_error error = DL_ERROR_INIT;
  for (auto _ : state) {
    dl_batch* batch = nullptr;
    dl_status status = dl_loader_next(loader.get(), -1, &batch, &error);
    if (status == DL_END_OF_EPOCH) status = dl_loader_next(loader.get(), -1, &batch, &error);
    if (status != DL_OK) std::exit(1);
    int32_t count = 0;
    const dl_view* view = dl_batch_views(batch, &count);
    sum += *reinterpret_cast<const T*>(static_cast<const char*>(view->data) + view->byte_offset);
    dl_batch_release(batch);
  }
  benchmark::DoNotOptimize(sum);
}
