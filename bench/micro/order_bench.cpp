// The cost of the order: tables in the background, indices in the workers, for each vector target.
//
//   order_bench --benchmark_repetitions=5 --benchmark_report_aggregates_only=true
//
// ns_per_slot is the figure; runs of 64 are what a worker claims, runs of 256 a batch. No table is colder
// than the last repetition left it. SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/base/simd.h"
#include "core/memory/host_memory.h"
#include "core/order/mix.h"
#include "core/order/order.h"
#include "core/order/orders.h"

namespace dataline {
namespace {

void report_slots(benchmark::State& state, int64_t slots) {
  state.counters["ns_per_slot"] = benchmark::Counter(
      static_cast<double>(slots) * 1e-9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

struct Table {
  explicit Table(const Order& order) : bytes(static_cast<size_t>(order.table_bytes() + 64)) {
    const uintptr_t at = reinterpret_cast<uintptr_t>(bytes.data());
    table.memory = bytes.data() + (64 - at % 64) % 64;
  }
  std::vector<std::byte> bytes;
  EpochTable table;
};

void build_tables(benchmark::State& state, const Order& order) {
  Table table(order);
  int64_t epoch = 0;
  for (auto _ : state) {
    order.begin_table(table.table, epoch++);
    while (table.table.done < order.table_steps()) order.advance_table(table.table, 4096);
    benchmark::ClobberMemory();
  }
  report_slots(state, state.iterations() * order.slots());
}

// Runs of `run` slots one after the other, as workers take them.
void read_slots(benchmark::State& state, const Order& order, int64_t run) {
  Table table(order);
  order.begin_table(table.table, 0);
  order.advance_table(table.table, order.table_steps());
  std::vector<int64_t> out(static_cast<size_t>(run));
  int64_t first = 0;
  for (auto _ : state) {
    order.samples(0, &table.table, first, run, out.data());
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
    first += run;
    if (first + run > order.slots()) first = 0;
  }
  report_slots(state, state.iterations() * run);
}

std::vector<SimdTarget> runnable_targets() {
  const SimdTarget best = best_simd_target();
  if (best == SimdTarget::kNeon) return {SimdTarget::kPlain, SimdTarget::kNeon};
  std::vector<SimdTarget> targets;
  for (int32_t i = 0; i <= static_cast<int32_t>(best); ++i) targets.push_back(static_cast<SimdTarget>(i));
  return targets;
}

void register_shuffles(SimdTarget target) {
  const std::string name = simd_target_name(target);
  for (const int64_t n : {1000, 60000}) {
    benchmark::RegisterBenchmark(
        ("fisher_yates_build/" + name + "/n:" + std::to_string(n)).c_str(),
        [=](benchmark::State& state) { build_tables(state, *fisher_yates_order(n, 1, target)); });
  }
  for (const int64_t n :
       {65537ll, 1'000'000ll, 6'000'000ll, 1'000'000'000ll, (1ll << 32) + 5, 1'000'000'000'000ll}) {
    for (const int64_t run : {64, 256, 4096}) {
      benchmark::RegisterBenchmark(
          ("feistel/" + name + "/n:" + std::to_string(n) + "/run:" + std::to_string(run)).c_str(),
          [=](benchmark::State& state) { read_slots(state, *feistel_order(n, 1, target), run); });
    }
  }
}

// `blocks` blocks of `records` records, of which 512 are open, and steps of 256 slots.
std::unique_ptr<const Order> window_of(int64_t blocks, int64_t records, SimdTarget target) {
  std::vector<int64_t> ends;
  for (int64_t i = 1; i <= blocks; ++i) ends.push_back(i * records);
  OrderSpec spec;
  spec.sample_count = ends.back();
  spec.shuffle = Shuffle::kWindow;
  spec.block_ends = ends;
  spec.step_slots = 256;
  spec.memory = HostMemory::create(AllocatorTable{});
  return window_order(spec, target).take();
}

void register_windows(SimdTarget target) {
  const std::string name = simd_target_name(target);
  // Blocks of 8 MiB of rows of 784 bytes, of token windows of 2 KiB, of photographs of 110 KB.
  for (const int64_t records : {10'700, 4'096, 76}) {
    const std::string size = "/blocks:100000/records:" + std::to_string(records);
    benchmark::RegisterBenchmark(("window/" + name + size).c_str(), [=](benchmark::State& state) {
      read_slots(state, *window_of(100'000, records, target), 256);
    });
  }
  benchmark::RegisterBenchmark(
      ("window_build/" + name + "/blocks:100000").c_str(), [=](benchmark::State& state) {
        const auto order = window_of(100'000, 1, target);  // so that slots are blocks
        build_tables(state, *order);
      });
}

OrderSpec weighted_spec(const std::vector<double>& weights, bool replacement) {
  OrderSpec spec;
  spec.sample_count = static_cast<int64_t>(weights.size());
  spec.weights = weights;
  spec.replacement = replacement;
  spec.memory = HostMemory::create(AllocatorTable{});
  return spec;
}

void register_weighted(int64_t n) {
  const auto weights = std::make_shared<std::vector<double>>();
  for (int64_t i = 0; i < n; ++i)
    weights->push_back(random_unit(random_bits(3, static_cast<uint64_t>(i))) + 0.01);
  const std::string size = "/n:" + std::to_string(n);
  benchmark::RegisterBenchmark(("alias_create" + size).c_str(), [=](benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(Order::create(weighted_spec(*weights, true)).take());
    report_slots(state, state.iterations() * n);
  });
  benchmark::RegisterBenchmark(("alias_draw/run:256" + size).c_str(), [=](benchmark::State& state) {
    read_slots(state, *Order::create(weighted_spec(*weights, true)).take(), 256);
  });
  benchmark::RegisterBenchmark(("race_build" + size).c_str(), [=](benchmark::State& state) {
    build_tables(state, *Order::create(weighted_spec(*weights, false)).take());
  });
  benchmark::RegisterBenchmark(("race_read/run:256" + size).c_str(), [=](benchmark::State& state) {
    read_slots(state, *Order::create(weighted_spec(*weights, false)).take(), 256);
  });
}

// Parts of 1,000,000 samples together, each as likely as the others.
void register_mix(int64_t parts) {
  auto starts = std::make_shared<std::vector<int64_t>>();
  for (int64_t k = 0; k <= parts; ++k) starts->push_back(1'000'000 / parts * k);
  const auto create = [=] {
    const std::vector<double> weights(static_cast<size_t>(parts), 1.0);
    const MixOrderStage stage{0, weights};
    return MixOrder::create({.starts = *starts,
                             .shuffle = Shuffle::kFull,
                             .seed = 1,
                             .repeats = {},
                             .stages = {&stage, 1},
                             .memory = HostMemory::create(AllocatorTable{})})
        .take();
  };
  const std::string name = "/parts:" + std::to_string(parts);
  benchmark::RegisterBenchmark(("mix_create" + name).c_str(), [=](benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(create());
  });
  for (const int64_t run : {64, 256, 1024}) {
    benchmark::RegisterBenchmark(("mix" + name + "/run:" + std::to_string(run)).c_str(),
                                 [=](benchmark::State& state) { read_slots(state, *create(), run); });
  }
}

// The same in windows: blocks of 100 records, of which 512 are open. By repeats each sample comes one and a half times.
void register_mix_windows(int64_t parts, bool repeats) {
  const int64_t samples = 1'000'000 / parts / 100 * 100;
  auto starts = std::make_shared<std::vector<int64_t>>();
  for (int64_t k = 0; k <= parts; ++k) starts->push_back(samples * k);
  const auto create = [=] {
    std::vector<int64_t> ends;
    for (int64_t end = 100; end <= samples * parts; end += 100) ends.push_back(end);
    const std::vector<double> numbers(static_cast<size_t>(parts), 1.5);
    const MixOrderStage stage{0, numbers};
    MixOrderSpec spec{.starts = *starts,
                      .shuffle = Shuffle::kWindow,
                      .seed = 1,
                      .block_ends = ends,
                      .global_batch = 256,
                      .memory = HostMemory::create(AllocatorTable{})};
    if (repeats) {
      spec.repeats = numbers;
    } else {
      spec.stages = {&stage, 1};
    }
    return MixOrder::create(spec).take();
  };
  const std::string name =
      std::string(repeats ? "mix_windows_repeats" : "mix_windows") + "/parts:" + std::to_string(parts);
  benchmark::RegisterBenchmark((name + "/run:256").c_str(),
                               [=](benchmark::State& state) { read_slots(state, *create(), 256); });
  benchmark::RegisterBenchmark((name + "/build").c_str(),
                               [=](benchmark::State& state) { build_tables(state, *create()); });
}

void register_all() {
  benchmark::RegisterBenchmark("best_simd_target", [](benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(best_simd_target());
  });
  benchmark::RegisterBenchmark("fisher_yates_read/n:60000/run:256", [](benchmark::State& state) {
    read_slots(state, *fisher_yates_order(60000, 1, best_simd_target()), 256);
  });
  for (const SimdTarget target : runnable_targets()) {
    register_shuffles(target);
    register_windows(target);
  }
  for (const int64_t n : {10'000, 1'000'000}) register_weighted(n);
  for (const int64_t parts : {1, 2, 8, 1000, 1'000'000}) register_mix(parts);
  for (const int64_t parts : {2, 8, 1000}) {
    for (const bool repeats : {false, true}) register_mix_windows(parts, repeats);
  }
}

}  // namespace
}  // namespace dataline

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  dataline::register_all();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
