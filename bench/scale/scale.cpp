// shuffle=window on paper: a set of 10^12 samples in 10^6 files, read by 10,000 ranks. What the plan takes in time and memory, how
// long a seek takes, and how many bytes the ranks read over those that they need: ranks that share lanes read blocks twice, and a
// resize in mid-epoch opens blocks anew.
//
//   dataline_scale            prints the table of bench/README.md
//   dataline_scale --small    a thousandth of it, for a test that it runs
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <vector>

#include "core/memory/host_memory.h"
#include "core/order/order.h"

namespace dataline {
namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// Of the process, which has one thread: what others take of the machine does not count.
double cpu_ms() { return static_cast<double>(std::clock()) * 1e3 / CLOCKS_PER_SEC; }

struct Set {
  int64_t files, blocks_per_file, records_per_file;
};

// Files differ by up to a tenth in length.
std::vector<int64_t> cut(const Set& set) {
  std::vector<int64_t> ends;
  ends.reserve(static_cast<size_t>(set.files * set.blocks_per_file));
  int64_t end = 0;
  for (int64_t file = 0; file < set.files; ++file) {
    const int64_t records = set.records_per_file * (95 + file * 7919 % 11) / 100;
    for (int64_t i = 1; i <= set.blocks_per_file; ++i)
      ends.push_back(end + records * i / set.blocks_per_file);
    end += records;
  }
  return ends;
}

struct Table {
  explicit Table(const Order& order) : memory(static_cast<size_t>(order.table_bytes() + 64)) {
    void* at = memory.data();
    size_t space = memory.size();
    table.memory = static_cast<std::byte*>(std::align(64, memory.size() - 64, at, space));
  }
  std::vector<std::byte> memory;
  EpochTable table;
};

class CountRecords final : public RecordRanges {
 public:
  void add(RecordRange range) override { records += range.count; }
  int64_t records = 0;
};

// What all ranks of a world read from step `from` on.
int64_t records_read(const Order& order, const EpochTable& table, int64_t step_slots, int64_t world,
                     int64_t from) {
  CountRecords count;
  const int64_t steps = order.slots() / step_slots + 1;
  for (int64_t rank = 0; rank < world; ++rank) {
    const SlotRange rows = rank_slots(0, step_slots, rank, world);
    const int64_t begin = std::max<int64_t>(from - order.steps_per_block(), 0);
    order.find_blocks(
        table,
        {.row = rows.begin, .rows = rows.count(), .now = from, .from = begin, .to = steps, .begins = true},
        count);
  }
  return count.records;
}

void measure(const Set& set, int64_t ranks, int64_t rank_slots_, int64_t open_blocks) {
  const int64_t step_slots = ranks * rank_slots_;
  const double begin_ms = cpu_ms();
  const auto memory = HostMemory::create(AllocatorTable{});
  std::unique_ptr<const Order> order;
  {
    const std::vector<int64_t> ends = cut(set);
    OrderSpec spec;
    spec.sample_count = ends.back();
    spec.shuffle = Shuffle::kWindow;
    spec.block_ends = ends;
    spec.open_blocks = open_blocks;
    spec.step_slots = step_slots;
    spec.memory = memory;
    order = Order::create(spec).take();
  }
  Table table(*order);
  order->begin_table(table.table, 1);
  order->advance_table(table.table, order->table_steps());
  const double plan_ms = cpu_ms() - begin_ms;
  constexpr int64_t kTables = 3;  // that a loader holds: of the open epochs and the next
  const double mib =
      static_cast<double>(order->allocated_bytes() + kTables * order->table_bytes()) / (1 << 20);

  // A seek: the first batch of a rank in mid-epoch.
  std::vector<int64_t> out(static_cast<size_t>(rank_slots_));
  std::vector<double> seeks_ms;
  for (int64_t i = 1; i <= 100; ++i) {
    const int64_t step = order->slots() / step_slots / 101 * i;
    const SlotRange mine = rank_slots(step * step_slots, step_slots, ranks * i / 101, ranks);
    const auto seek = Clock::now();
    order->samples(1, &table.table, mine.begin, mine.count(), out.data());
    seeks_ms.push_back(ms_since(seek));
  }
  std::sort(seeks_ms.begin(), seeks_ms.end());

  const double needed = static_cast<double>(order->slots());
  const double whole = static_cast<double>(records_read(*order, table.table, step_slots, ranks, 0)) / needed;
  const int64_t middle = order->slots() / step_slots / 2;
  const double rest =
      static_cast<double>(records_read(*order, table.table, step_slots, ranks * 7 / 10, middle)) /
      (needed - static_cast<double>(middle * step_slots));
  std::printf("| %lld | %lld | %lld | %lld | %.0f ms | %.0f MiB | %.4f ms | %.4f | %.4f |\n",
              static_cast<long long>(order->table_steps()), static_cast<long long>(open_blocks),
              static_cast<long long>(ranks), static_cast<long long>(rank_slots_), plan_ms, mib,
              seeks_ms[seeks_ms.size() / 2], whole, rest);
  std::fflush(stdout);
}

}  // namespace
}  // namespace dataline

int main(int argc, char** argv) {
  using dataline::measure;
  const bool small = argc > 1 && std::strcmp(argv[1], "--small") == 0;
  const dataline::Set set{
      .files = small ? 1000 : 1'000'000, .blocks_per_file = 4, .records_per_file = 1'000'000};
  const int64_t ranks = small ? 10 : 10'000;
  std::printf(
      "| blocks | shuffle_blocks | ranks | slots of a rank | plan | memory | seek | read / needed | after a "
      "resize |\n"
      "|---|---|---|---|---|---|---|---|---|\n");
  for (const int64_t slots : {8, 64}) {
    for (const int64_t open : {512, 4096, 16'384, 65'536, 262'144}) measure(set, ranks, slots, open);
  }
  for (const int64_t few : {8, 64, 1000}) measure(set, few, 64, 4096);
  return 0;
}
