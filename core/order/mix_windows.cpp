// SPDX-License-Identifier: Apache-2.0
#include "core/order/mix_windows.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/checked.h"
#include "core/base/simd.h"
#include "core/base/text.h"

namespace dataline {
namespace {

constexpr int64_t kMostTableBytes = int64_t{1} << 50;  // beyond any machine

}  // namespace

MixWindows::MixWindows(const MixOrderSpec& spec, int64_t unit_slots, BlockTable table,
                       std::vector<int64_t> first_blocks)
    : parts_(spec),
      unit_slots_(unit_slots),
      table_(std::move(table)),
      first_blocks_(std::move(first_blocks)),
      permute_(feistel_function(best_simd_target())) {}

Result<MixWindows> MixWindows::create(const MixOrderSpec& spec, int64_t unit_slots,
                                      std::span<const uint64_t> shares, std::span<const int64_t> most) {
  DL_ASSIGN_OR_RETURN(std::vector<int64_t> first_blocks, mix_first_blocks(spec));
  DL_ASSIGN_OR_RETURN(BlockTable table,
                      BlockTable::create(spec.block_ends, spec.starts.back(), *spec.memory));
  MixWindows windows(spec, unit_slots, std::move(table), std::move(first_blocks));
  for (int64_t part = 0; part < windows.parts_.size(); ++part) {
    const auto k = static_cast<size_t>(part);
    const int64_t n = windows.parts_.count(part), first = windows.first_blocks_[k];
    const int64_t blocks = windows.first_blocks_[k + 1] - first;
    const auto open = std::max<int64_t>(
        static_cast<int64_t>(static_cast<u128>(spec.open_blocks) * shares[k] >> kMixShareBits), 1);
    windows.window_of_.push_back(open >= blocks ? -1 : static_cast<int32_t>(windows.windowed_.size()));
    if (open >= blocks) continue;
    windows.windowed_.push_back(
        {.part = part,
         .first_block = first,
         .blocks = blocks,
         .seed = windows.parts_.seed(part),
         .lanes = WindowLanes(n, unit_slots, make_window(n, blocks, open, unit_slots)),
         .most_passes = most[k] == 0 ? 0 : (most[k] - 1) / n + (most[k] > 1 ? 2 : 1),
         .blocks_per_place = static_cast<double>(blocks) / static_cast<double>(n)});
  }
  std::optional<int64_t> bytes = static_cast<int64_t>(windows.windowed_.size() * sizeof(Passes));
  for (Windowed& part : windows.windowed_) {
    part.offset = *bytes;
    part.first_step = windows.table_steps_;
    const std::optional<int64_t> lines = checked_multiply(line_stride(part.blocks), part.most_passes);
    bytes = lines ? checked_add(*bytes, *lines) : std::nullopt;
    if (!bytes || *bytes > kMostTableBytes) {
      return error(Code::kTooLarge, "option shuffle: with window, an epoch of this mix reads part ",
                   part.part, " up to ", part.most_passes, " times, and its blocks do not fit in memory; ",
                   "lower samples_per_epoch, or raise shuffle_block or shuffle_blocks");
    }
    windows.table_steps_ += part.blocks * part.most_passes;  // fewer than the bytes
  }
  windows.table_bytes_ = round_up(std::max<int64_t>(*bytes, 1), 64);
  return windows;
}

void MixWindows::set_passes(const EpochTable& table, int64_t part, int64_t first, int64_t end) const {
  const int32_t window = window_of_[static_cast<size_t>(part)];
  if (window < 0) return;
  const Windowed& windowed = windowed_[static_cast<size_t>(window)];
  const int64_t n = parts_.count(part), pass = first / n;
  passes_in(table, windowed) = {pass,
                                end == first ? 0 : std::min((end - 1) / n - pass + 1, windowed.most_passes)};
}

void MixWindows::advance(EpochTable& table, int64_t steps) const {
  int64_t left = steps;
  if (table.done == 0) table.done = 1;
  while (left > 0 && table.done < table_steps_) {
    const auto after =
        std::upper_bound(windowed_.begin(), windowed_.end(), table.done,
                         [](int64_t at, const Windowed& part) { return at < part.first_step; });
    const Windowed& part = *std::prev(after);
    const int64_t at = table.done - part.first_step, pass = at / part.blocks, block = at % part.blocks;
    const Passes& passes = passes_in(table, part);
    if (pass >= passes.count) {
      table.done = after == windowed_.end() ? table_steps_ : after->first_step;
      continue;
    }
    const int64_t end = block + std::min(left, part.blocks - block);
    line_of(table, part, pass)
        .build(permute_, blocks_key(part.seed, passes.first + pass, part.blocks), block, end,
               [&](int64_t number) {
                 const int64_t of_all = part.first_block + number;
                 return LineBlock{static_cast<uint32_t>(of_all), table_.records(of_all).count};
               });
    table.done += end - block;
    left -= end - block;
  }
}

int64_t MixWindows::draw(const EpochTable& table, const Windowed& part, int64_t number, int64_t index,
                         MixParts::Pass& pass) const {
  const WindowPiece piece = part.lanes.piece_of_one(index);
  if (pass.number != number || pass.lane != piece.lane || pass.window != piece.window) {
    pass.number = number, pass.lane = piece.lane, pass.window = piece.window;
    pass.key = random_bits(random_key(part.seed, static_cast<uint64_t>(number), Domain::kWindow),
                           static_cast<uint64_t>(piece.lane), static_cast<uint64_t>(piece.window));
    if (piece.length > kFewPlaces) pass.feistel = make_feistel(piece.length, pass.key);
  }
  const int64_t offset =
      piece.length > kFewPlaces
          ? static_cast<int64_t>(feistel_permute(pass.feistel, static_cast<uint64_t>(piece.offset)))
          : permute_place(piece.length, pass.key, piece.offset);
  const WindowLine line = line_of(table, part, number - passes_in(table, part).first);
  const int64_t place = piece.begin + offset, block = line.block_at(place);
  return table_.first(line.number(block)) + place - line.begin(block);
}

int64_t MixWindows::allocated_bytes() const {
  auto bytes = table_.allocated_bytes() + static_cast<int64_t>(first_blocks_.size() * sizeof(int64_t) +
                                                               window_of_.size() * sizeof(int32_t) +
                                                               windowed_.size() * sizeof(Windowed));
  for (const Windowed& part : windowed_) bytes += part.lanes.allocated_bytes();
  return bytes;
}

std::string MixWindows::parameters() const {
  Digest digest;
  for (const Windowed& part : windowed_) {
    digest.add(static_cast<uint64_t>(part.part));
    digest.add(static_cast<uint64_t>(part.lanes.size().lanes));
    digest.add(static_cast<uint64_t>(part.lanes.size().bits));
  }
  table_.add_to(digest);
  return concat(" blocks=", table_.count(), " parts_in_windows=", windowed_.size(), " cut=", digest.hex());
}

}  // namespace dataline
