// The calls of dataline.h one by one, on sets in memory: what a batch, a hand-off, a loader's life, an
// option, a state and a lease cost.
//
//   abi_bench --benchmark_repetitions=5 --benchmark_report_aggregates_only=true
//
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "capi/dataline.h"

namespace {

void check(dl_status status, const dl_error& error) {
  if (status >= 0) return;
  std::fprintf(stderr, "abi_bench: %s\n", error.message);
  std::exit(1);
}

// `rows` rows of `row_bytes` in memory, borrowed.
class Set {
 public:
  Set(int64_t rows, int64_t row_bytes) : bytes_(static_cast<size_t>(rows * row_bytes)) {
    std::iota(bytes_.begin(), bytes_.end(), uint8_t{0});
    const int64_t shape[] = {rows, row_bytes};
    dl_array array{};
    array.struct_size = sizeof array;
    array.name = "data";
    array.dtype = DL_DTYPE_U8;
    array.rank = 2;
    array.shape = shape;
    array.data = bytes_.data();
    dl_error error = DL_ERROR_INIT;
    check(dl_dataset_from_arrays(
              &array, 1, [](void*) {}, nullptr, nullptr, &dataset_, &error),
          error);
  }
  ~Set() { dl_dataset_destroy(dataset_); }
  Set(const Set&) = delete;
  Set& operator=(const Set&) = delete;
  dl_dataset* dataset() const { return dataset_; }

 private:
  std::vector<uint8_t> bytes_;
  dl_dataset* dataset_ = nullptr;
};

dl_loader* make_loader(dl_dataset* dataset, int64_t batch_size, int64_t workers, const char* shuffle) {
  dl_error error = DL_ERROR_INIT;
  dl_options* options = nullptr;
  dl_loader* loader = nullptr;
  check(dl_options_create(&options, &error), error);
  check(dl_options_set_i64(options, "batch_size", batch_size, &error), error);
  check(dl_options_set_i64(options, "num_workers", workers, &error), error);
  check(dl_options_set(options, "shuffle", shuffle, &error), error);
  check(dl_loader_create(dataset, options, &loader, &error), error);
  dl_options_destroy(options);
  return loader;
}

dl_batch* take(dl_loader* loader) {
  dl_error error = DL_ERROR_INIT;
  dl_batch* batch = nullptr;
  dl_status status = dl_loader_next(loader, -1, &batch, &error);
  while (status == DL_END_OF_EPOCH) status = dl_loader_next(loader, -1, &batch, &error);
  check(status, error);
  return batch;
}

// A host's reader of the same: rows copied to their cells, or borrowed where they lie.
class ReadSet {
 public:
  ReadSet(int64_t rows, int64_t row_bytes, bool lends)
      : bytes_(static_cast<size_t>(rows * row_bytes)), row_bytes_(row_bytes), lends_(lends) {
    std::iota(bytes_.begin(), bytes_.end(), uint8_t{0});
    dl_view field{};
    field.struct_size = sizeof field;
    field.name = "data";
    field.dtype = DL_DTYPE_U8;
    field.rank = 1;
    field.shape = &row_bytes_;
    dl_reader reader{};
    reader.struct_size = sizeof reader;
    reader.field_count = 1;
    reader.fields = &field;
    reader.record_count = rows;
    reader.context = this;
    reader.read = &ReadSet::read;
    dl_error error = DL_ERROR_INIT;
    check(dl_dataset_from_reader(&reader, nullptr, &dataset_, &error), error);
  }
  ~ReadSet() { dl_dataset_destroy(dataset_); }
  ReadSet(const ReadSet&) = delete;
  ReadSet& operator=(const ReadSet&) = delete;
  dl_dataset* dataset() const { return dataset_; }

 private:
  static int32_t read(void* context, dl_reader_request* request) {
    const ReadSet& self = *static_cast<const ReadSet*>(context);
    for (int32_t r = 0; r < request->record_count; ++r) {
      dl_reader_cell* cell = dl_reader_cell_at(request, r, 0);
      const uint8_t* row = self.bytes_.data() + request->indices[r] * self.row_bytes_;
      if (self.lends_) {
        cell->borrowed = row;
      } else {
        std::memcpy(cell->data, row, static_cast<size_t>(self.row_bytes_));
      }
    }
    return 0;
  }

  std::vector<uint8_t> bytes_;
  int64_t row_bytes_;
  bool lends_;
  dl_dataset* dataset_ = nullptr;
};

// A shuffled batch of records from a reader. Arguments: row bytes, workers, whether rows are lent.
void ReaderRows(benchmark::State& state) {
  const int64_t batch_size = 64;
  const ReadSet set(std::max<int64_t>((int64_t{64} << 20) / state.range(0), batch_size * 4), state.range(0),
                    state.range(2) != 0);
  dl_loader* loader = make_loader(set.dataset(), batch_size, state.range(1), "full");
  for (auto _ : state) dl_batch_release(take(loader));
  state.SetBytesProcessed(state.iterations() * batch_size * state.range(0));
  state.SetItemsProcessed(state.iterations() * batch_size);
  dl_loader_destroy(loader);
}
BENCHMARK(ReaderRows)
    ->ArgNames({"row_bytes", "workers", "lent"})
    ->ArgsProduct({{64, 784, 12'288, 150'528}, {0, 1}, {0, 1}})
    ->UseRealTime();

// next, views, release: all that a consumer calls. Arguments: batch size, row bytes, workers, shuffled.
void NextViewsRelease(benchmark::State& state) {
  const int64_t batch_size = state.range(0);
  const int64_t row_bytes = state.range(1);
  const Set set(std::max<int64_t>(60'000, batch_size * 100), row_bytes);
  dl_loader* loader =
      make_loader(set.dataset(), batch_size, state.range(2), state.range(3) != 0 ? "full" : "none");
  for (auto _ : state) {
    dl_batch* batch = take(loader);
    int32_t count = 0;
    benchmark::DoNotOptimize(dl_batch_views(batch, &count));
    dl_batch_release(batch);
  }
  state.SetBytesProcessed(state.iterations() * batch_size * row_bytes);
  state.SetItemsProcessed(state.iterations() * batch_size);
  dl_loader_destroy(loader);
}
BENCHMARK(NextViewsRelease)
    ->ArgNames({"batch", "row_bytes", "workers", "shuffled"})
    ->Args({1, 4, 0, 0})
    ->Args({1, 4, 1, 0})
    ->Args({256, 4, 0, 0})
    ->Args({256, 4, 1, 0})
    ->Args({1, 4, 0, 1})
    ->Args({256, 784, 0, 0})
    ->Args({256, 784, 0, 1})
    ->Args({256, 784, 1, 1})
    ->Args({16, 2050, 0, 1})
    ->UseRealTime();

// A whole loader: arena planned, mapped and prefaulted, workers started and joined. Argument: slot bytes x 8.
void CreateDestroy(benchmark::State& state) {
  const int64_t batch_size = 256;
  const Set set(1024, state.range(0) / batch_size);
  for (auto _ : state) dl_loader_destroy(make_loader(set.dataset(), batch_size, state.range(1), "none"));
  state.counters["arena_MiB"] = static_cast<double>(state.range(0) * 8) / (1 << 20);
}
BENCHMARK(CreateDestroy)
    ->ArgNames({"slot_bytes", "workers"})
    ->Args({1 << 14, 0})
    ->Args({1 << 14, 1})
    ->Args({1 << 20, 0})
    ->Args({8 << 20, 0})
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime();

void OptionsSetSix(benchmark::State& state) {
  dl_error error = DL_ERROR_INIT;
  for (auto _ : state) {
    dl_options* options = nullptr;
    check(dl_options_create(&options, &error), error);
    check(dl_options_set(options, "batch_size", "256", &error), error);
    check(dl_options_set(options, "shuffle", "full", &error), error);
    check(dl_options_set(options, "seed", "7", &error), error);
    check(dl_options_set(options, "num_workers", "1", &error), error);
    check(dl_options_set(options, "last_batch", "drop", &error), error);
    check(dl_options_set(options, "memory_budget", "64MiB", &error), error);
    dl_options_destroy(options);
  }
}
BENCHMARK(OptionsSetSix);

void StateSave(benchmark::State& state) {
  const Set set(100'000, 64);
  dl_loader* loader = make_loader(set.dataset(), 256, 0, "full");
  dl_error error = DL_ERROR_INIT;
  char text[4096];
  for (auto _ : state) {
    size_t bytes = sizeof text;
    check(dl_loader_state_save(loader, text, &bytes, &error), error);
  }
  dl_loader_destroy(loader);
}
BENCHMARK(StateSave);

// Another step each time, and the batch that follows.
void SeekAndNext(benchmark::State& state) {
  const Set set(100'000, 64);
  dl_loader* loader = make_loader(set.dataset(), 256, state.range(0), "full");
  dl_error error = DL_ERROR_INIT;
  int64_t step = 0;
  for (auto _ : state) {
    step = (step + 97) % dl_loader_steps(loader);
    check(dl_loader_seek(loader, 0, step, &error), error);
    dl_batch_release(take(loader));
  }
  dl_loader_destroy(loader);
}
BENCHMARK(SeekAndNext)->ArgName("workers")->Arg(0)->Arg(1)->UseRealTime();

// A batch beyond max_leases is a fresh allocation and a copy.
void NextBeyondMaxLeases(benchmark::State& state) {
  const Set set(60'000, 784);
  dl_loader* loader = make_loader(set.dataset(), 256, 0, "full");
  std::vector<dl_batch*> held;
  for (int i = 0; i < 4; ++i) held.push_back(take(loader));
  for (auto _ : state) dl_batch_release(take(loader));
  for (dl_batch* batch : held) dl_batch_release(batch);
  dl_loader_destroy(loader);
}
BENCHMARK(NextBeyondMaxLeases);

void StatusName(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(dl_status_name(DL_ERR_CORRUPT));
}
BENCHMARK(StatusName);  // the cost of any call at all

}  // namespace

BENCHMARK_MAIN();
