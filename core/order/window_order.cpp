// shuffle=window: core/order/window.h says which window a slot draws from; here are the blocks and the draws.
//
// Blocks: block i of the epoch is block permute(i) of the set, by a bijection over the number of blocks, keyed by
// (seed, epoch, kBlocks, number of blocks). The epoch's table holds, for each i, that number and the sum of the records of the
// blocks before it, so a place of the line is found by a short search.
// Samples: slot `offset` of a window of `length` places is place permute(offset) of it, by a bijection over the length, keyed by
// (seed, epoch, kWindow, lane, window).
// Bijections are those of feistel.h; of at most kFewPlaces places, where some orders of a Feistel network are visibly likelier
// than others (tests/order/window_statistics_test.cpp), Fisher-Yates shuffles by the words of splitmix64 from the same key. Such windows
// have large records, beside which that costs nothing.
//
// Costs: 8 bytes a block for the lifetime, 12 a block and open epoch; 5 to 10 ns a block to build, in the background; a few ns
// a slot to read (bench/micro/order_bench.cpp). Seeking needs the epoch's table, nothing else.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "core/base/checked.h"
#include "core/base/digest.h"
#include "core/base/random.h"
#include "core/base/text.h"
#include "core/order/orders.h"
#include "core/order/window.h"

namespace dataline {
namespace {

constexpr int64_t kFewPlaces = 64;
constexpr int64_t kBuildBlocks = 256;  // permuted at once; 2 KiB of stack
constexpr int64_t kRunsAtOnce = 64;    // pieces of windows, permuted at once; 5 KiB of stack

// A table's memory: starts[blocks + 1], then numbers[blocks].
struct Line {
  Line(std::byte* memory, int64_t blocks)
      : starts(reinterpret_cast<int64_t*>(memory)),
        numbers(reinterpret_cast<uint32_t*>(starts + blocks + 1)) {}
  int64_t* starts;    // the first place of each block
  uint32_t* numbers;  // of the block in the set
};

// Slots [first, first + count) of a shuffle of n <= kFewPlaces places.
void shuffle_few(int64_t n, uint64_t key, int64_t first, int64_t count, int64_t* out) {
  std::array<uint8_t, kFewPlaces> places;
  std::iota(places.begin(), places.end(), uint8_t{0});
  for (int64_t i = 0; i < first + count; ++i) {  // step i fixes slot i
    const uint64_t bits = mix64(key += kGolden64);
    const uint64_t other = static_cast<uint64_t>(i) + random_below(bits, static_cast<uint64_t>(n - i));
    std::swap(places[static_cast<size_t>(i)], places[other]);
    if (i >= first) out[i - first] = places[static_cast<size_t>(i)];
  }
}

class WindowOrder final : public Order {
 public:
  WindowOrder(const OrderSpec& spec, Block firsts, SimdTarget target)
      : samples_(spec.sample_count),
        blocks_(static_cast<int64_t>(spec.block_ends.size())),
        seed_(spec.seed),
        firsts_(std::move(firsts)),
        lanes_(samples_, spec.step_slots, make_window(samples_, blocks_, spec.open_blocks, spec.step_slots)),
        blocks_per_record_(static_cast<double>(blocks_) / static_cast<double>(samples_)),
        permute_(feistel_function(target)),
        permute_runs_(feistel_runs_function(target)) {}

  int64_t slots() const override { return samples_; }
  int64_t table_bytes() const override { return round_up(8 * (blocks_ + 1) + 4 * blocks_, 64); }
  int64_t table_steps() const override { return blocks_; }
  void advance_table(EpochTable& table, int64_t steps) const override;
  bool samples(int64_t epoch, const EpochTable* table, int64_t first, int64_t count,
               int64_t* out) const override;
  int64_t allocated_bytes() const override { return firsts_.bytes() + lanes_.allocated_bytes(); }
  std::string parameters() const override;
  int64_t steps_per_block() const override;
  int64_t records_per_block() const override { return samples_ / blocks_; }
  void find_blocks(const EpochTable& table, const Sweep& sweep, RecordRanges& found) const override;

 private:
  int64_t first_of(int64_t block) const { return reinterpret_cast<const int64_t*>(firsts_.data())[block]; }
  int64_t end_of(int64_t block) const { return first_of(block + 1); }
  int64_t block_at(const Line& line, int64_t place, int64_t guess) const;
  int64_t guess_block(int64_t places) const {
    return static_cast<int64_t>(static_cast<double>(places) * blocks_per_record_);
  }
  struct Pieces;
  int64_t* draw(const Line& line, Pieces& pieces, int64_t* out) const;
  void permute_some(int64_t n, uint64_t key, int64_t first, int64_t count, int64_t* out) const;
  void to_samples(const Line& line, int64_t window_begin, int64_t count, int64_t* places) const;
  void find_in_lane(const Line& line, int64_t lane, const Sweep& sweep, RecordRanges& found) const;

  int64_t samples_, blocks_;
  uint64_t seed_;
  Block firsts_;  // the first record of each block, and the set's end
  WindowLanes lanes_;
  double blocks_per_record_;
  FeistelFunction permute_;
  FeistelRunsFunction permute_runs_;
};

// Pieces of whole windows, to be permuted together: by itself each is too short for the vectors.
struct WindowOrder::Pieces {
  std::array<WindowPiece, kRunsAtOnce> pieces;
  std::array<FeistelRun, kRunsAtOnce> runs;
  size_t count = 0;
};

void WindowOrder::advance_table(EpochTable& table, int64_t steps) const {
  const Line line(table.memory, blocks_);
  const int64_t end = table.done + std::clamp<int64_t>(steps, 0, blocks_ - table.done);
  if (table.done == 0) line.starts[0] = 0;
  const uint64_t key = random_bits(random_key(seed_, static_cast<uint64_t>(table.epoch), Domain::kBlocks),
                                   static_cast<uint64_t>(blocks_));
  for (int64_t i = table.done; i < end;) {
    std::array<int64_t, kBuildBlocks> numbers;
    const int64_t count = std::min(end - i, kBuildBlocks);
    permute_some(blocks_, key, i, count, numbers.data());
    for (int64_t k = 0; k < count; ++k, ++i) {
      const int64_t number = numbers[static_cast<size_t>(k)];
      line.numbers[i] = static_cast<uint32_t>(number);
      line.starts[i + 1] = line.starts[i] + end_of(number) - first_of(number);
    }
  }
  table.done = end;
}

bool WindowOrder::samples(int64_t epoch, const EpochTable* table, int64_t first, int64_t count,
                          int64_t* out) const {
  const Line line(table->memory, blocks_);
  const uint64_t key = random_key(seed_, static_cast<uint64_t>(epoch), Domain::kWindow);
  Pieces pieces;
  for (const int64_t end = first + count; first < end;) {
    const WindowPiece piece = lanes_.piece(first, end - first);
    const uint64_t window_key =
        random_bits(key, static_cast<uint64_t>(piece.lane), static_cast<uint64_t>(piece.window));
    first += piece.count;
    if (piece.length == lanes_.size().places() && piece.length > kFewPlaces) {
      pieces.pieces[pieces.count] = piece;
      pieces.runs[pieces.count] = {window_key, static_cast<uint64_t>(piece.offset), piece.count};
      if (++pieces.count == pieces.runs.size()) out = draw(line, pieces, out);
      continue;
    }
    out = draw(line, pieces, out);
    permute_some(piece.length, window_key, piece.offset, piece.count, out);
    to_samples(line, piece.begin, piece.count, out);
    out += piece.count;
  }
  draw(line, pieces, out);
  return false;
}

// Writes the samples of the pieces and empties them; returns where the next ones go.
int64_t* WindowOrder::draw(const Line& line, Pieces& pieces, int64_t* out) const {
  permute_runs_(lanes_.size().places(), pieces.runs.data(), static_cast<int64_t>(pieces.count), out);
  for (size_t p = 0; p < pieces.count; ++p) {
    const WindowPiece& piece = pieces.pieces[p];
    to_samples(line, piece.begin, piece.count, out);
    out += piece.count;
  }
  pieces.count = 0;
  return out;
}

void WindowOrder::permute_some(int64_t n, uint64_t key, int64_t first, int64_t count, int64_t* out) const {
  constexpr int64_t kFewSlots = 2;  // filling the vectors takes longer than two walks
  if (n <= kFewPlaces) return shuffle_few(n, key, first, count, out);
  const Feistel feistel = make_feistel(n, key);
  const auto slot = static_cast<uint64_t>(first);
  if (count > kFewSlots) return permute_(feistel, slot, count, out);
  for (int64_t i = 0; i < count; ++i)
    out[i] = static_cast<int64_t>(feistel_permute(feistel, slot + static_cast<uint64_t>(i)));
}

// In place: places in a window to samples.
void WindowOrder::to_samples(const Line& line, int64_t window_begin, int64_t count, int64_t* places) const {
  const int64_t first_block = block_at(line, window_begin, guess_block(window_begin));
  const int64_t* starts = line.starts;
  const int64_t last_block = blocks_ - 1;
  const int64_t base = window_begin - starts[first_block];
  for (int64_t k = 0; k < count; ++k) {
    const int64_t place = window_begin + places[k];
    // Right at once where blocks are equal, but for places at their ends.
    int64_t i = std::min(first_block + guess_block(base + places[k]), last_block);
    if (place < starts[i] || place >= starts[i + 1]) [[unlikely]]
      i = block_at(line, place, i);
    places[k] = first_of(line.numbers[i]) + place - starts[i];
  }
}

// The block that holds the place: a search in steps that double, from a guess that is rarely far off.
int64_t WindowOrder::block_at(const Line& line, int64_t place, int64_t guess) const {
  const int64_t* starts = line.starts;
  int64_t low = std::clamp<int64_t>(guess, 0, blocks_ - 1), high = low + 1;
  if (starts[low] <= place && place < starts[high]) [[likely]]
    return low;
  for (int64_t step = 1; starts[low] > place; step *= 2) {
    high = low;
    low = std::max<int64_t>(low - step, 0);
  }
  for (int64_t step = 1; starts[high] <= place; step *= 2) {
    low = high;
    high = std::min(high + step, blocks_);
  }
  return std::upper_bound(starts + low + 1, starts + high, place) - starts - 1;
}

// --- Reading ahead ---

int64_t WindowOrder::steps_per_block() const {
  int64_t steps = 1;
  for (int64_t c = 0; c < lanes_.size().lanes; ++c) {
    const int64_t slots = std::max<int64_t>(lanes_.given(c, 1), 1);
    steps = std::max(steps, std::min(lanes_.size().places(), lanes_.length(c)) / slots + 1);
  }
  return std::min(steps, lanes_.whole_steps() + 1);
}

void WindowOrder::find_blocks(const EpochTable& table, const Sweep& sweep, RecordRanges& found) const {
  if (sweep.rows == 0) return;
  const Line line(table.memory, blocks_);
  const int64_t last = lanes_.lane_of_row(sweep.row + sweep.rows - 1);
  for (int64_t c = lanes_.lane_of_row(sweep.row); c <= last; ++c) find_in_lane(line, c, sweep, found);
}

void WindowOrder::find_in_lane(const Line& line, int64_t lane, const Sweep& sweep,
                               RecordRanges& found) const {
  const int64_t begin = lanes_.begin(lane);
  const int64_t needed = begin + lanes_.window_begin(lane, lanes_.given(lane, sweep.now));
  const int64_t from = begin + lanes_.given(lane, sweep.from);
  const int64_t to = begin + lanes_.given(lane, sweep.to);
  if (from >= to) return;
  int64_t i = block_at(line, from, guess_block(from));
  if (!sweep.begins && line.starts[i] < from) ++i;
  for (; i < blocks_ && line.starts[i] < to; ++i) {
    if (line.starts[i + 1] <= needed) continue;
    const int64_t number = line.numbers[i];
    found.add({first_of(number), end_of(number) - first_of(number)});
  }
}

std::string WindowOrder::parameters() const {
  Digest digest;
  digest.add({firsts_.data(), static_cast<size_t>(firsts_.bytes())});
  return concat(" blocks=", blocks_, " lanes=", lanes_.size().lanes, " window=", lanes_.size().places(),
                " cut=", digest.hex());
}

Status check_blocks(const OrderSpec& spec) {
  const std::span<const int64_t> ends = spec.block_ends;
  if (ends.size() > std::numeric_limits<uint32_t>::max()) {
    return error(Code::kTooLarge, "option shuffle_block: expected at most 2^32 - 1 blocks, got ", ends.size(),
                 "; raise it");
  }
  int64_t last = 0;
  for (const int64_t end : ends) {
    if (end <= last) return error(Code::kInternal, "a block of a source ends at ", end, ", begins at ", last);
    last = end;
  }
  if (last == spec.sample_count) return Status::ok();
  return error(Code::kInternal, "the blocks of a source end at ", last, ", it has ", spec.sample_count);
}

}  // namespace

Result<std::unique_ptr<const Order>> window_order(const OrderSpec& spec, SimdTarget target) {
  DL_RETURN_IF_ERROR(check_blocks(spec));
  const auto bytes = static_cast<int64_t>(spec.block_ends.size_bytes() + sizeof(int64_t));
  DL_ASSIGN_OR_RETURN(Block firsts,
                      spec.memory->allocate(bytes, 64, MemoryKind::kTable,
                                            "the blocks of shuffle=window (raise shuffle_block)"));
  std::memset(firsts.data(), 0, sizeof(int64_t));
  std::memcpy(firsts.data() + sizeof(int64_t), spec.block_ends.data(), spec.block_ends.size_bytes());
  return std::unique_ptr<const Order>(std::make_unique<const WindowOrder>(spec, std::move(firsts), target));
}

}  // namespace dataline
