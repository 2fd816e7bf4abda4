// A mix by repeats with shuffle=window: the blocks of all parts, each as often as its part comes, are the blocks of one window order
// (window_order.h). Where a part's samples come a fraction of a time more, each of its blocks comes once more with some of its
// samples: of block [f, e) of a part of n samples, of which m come once more, floor((e m + o) / n) - floor((f m + o) / n), where o in
// [0, n) is drawn for each epoch and part. Which ones is drawn for each epoch and block. So each sample of the part comes once more
// with the same chance, and never twice.
//
// Cost: as window_order.h, where a block counts as often as it comes; of a block that comes in part a slot takes one permutation more.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/checked.h"
#include "core/base/simd.h"
#include "core/order/block_table.h"
#include "core/order/mix_places.h"
#include "core/order/window_order.h"

namespace dataline {
namespace {

constexpr int64_t kMostLineBlocks = (int64_t{1} << 32) - 1;

class RepeatedBlocks {
 public:
  // first_blocks: of each part, and the end. `ends`: of each part's blocks in an epoch.
  RepeatedBlocks(const MixPlaces& places, BlockTable table, std::vector<int64_t> first_blocks,
                 std::vector<int64_t> ends, uint64_t seed)
      : places_(&places),
        table_(std::move(table)),
        first_blocks_(std::move(first_blocks)),
        ends_(std::move(ends)),
        seed_(seed) {}

  int64_t count() const { return ends_.back(); }
  int64_t places() const { return places_->total(); }

  LineBlock take(int64_t epoch, int64_t number) const {
    const auto part = std::upper_bound(ends_.begin(), ends_.end(), number) - ends_.begin();
    const auto k = static_cast<size_t>(part);
    const int64_t at = number - (part == 0 ? 0 : ends_[k - 1]);
    const int64_t blocks = first_blocks_[k + 1] - first_blocks_[k];
    const int64_t block = first_blocks_[k] + at % blocks;
    const RecordRange records = table_.records(block);
    const bool whole = at / blocks < places_->whole_passes(part);
    return {static_cast<uint32_t>(block), whole ? records.count : count_chosen(epoch, part, records)};
  }
  int64_t sample(int64_t epoch, uint32_t block, int64_t places, int64_t at) const {
    const RecordRange records = table_.records(block);
    if (places == records.count) return records.first + at;
    const uint64_t key =
        random_bits(random_key(seed_, static_cast<uint64_t>(epoch), Domain::kMixBlocks), block);
    return records.first + permute_place(records.count, key, at);
  }
  RecordRange records(uint32_t block) const { return table_.records(block); }

  int64_t allocated_bytes() const {
    return table_.allocated_bytes() +
           static_cast<int64_t>((first_blocks_.size() + ends_.size()) * sizeof(int64_t));
  }
  void add_to(Digest& digest) const { table_.add_to(digest); }

 private:
  int64_t count_chosen(int64_t epoch, int64_t part, RecordRange records) const {
    const auto n = static_cast<u128>(places_->parts().count(part));
    const auto more = static_cast<u128>(places_->once_more(part));
    const auto offset = static_cast<u128>(places_->drawn_offset(epoch, part));
    const auto before = [&](int64_t index) { return (static_cast<u128>(index) * more + offset) / n; };
    const int64_t first = records.first - places_->parts().start(part);
    return static_cast<int64_t>(before(first + records.count) - before(first));
  }

  const MixPlaces* places_;
  BlockTable table_;
  std::vector<int64_t> first_blocks_, ends_;
  uint64_t seed_;
};

class RepeatedWindows final : public MixOrder {
 public:
  RepeatedWindows(std::unique_ptr<const MixPlaces> places, std::unique_ptr<const Order> windows)
      : places_(std::move(places)), windows_(std::move(windows)) {}

  int64_t slots() const override { return windows_->slots(); }
  int64_t table_bytes() const override { return windows_->table_bytes(); }
  int64_t table_steps() const override { return windows_->table_steps(); }
  void advance_table(EpochTable& table, int64_t steps) const override {
    windows_->advance_table(table, steps);
  }
  bool samples(int64_t epoch, const EpochTable* table, int64_t first, int64_t count,
               int64_t* out) const override {
    return windows_->samples(epoch, table, first, count, out);
  }
  int64_t allocated_bytes() const override {
    return places_->allocated_bytes() + windows_->allocated_bytes();
  }
  std::string parameters() const override { return windows_->parameters(); }
  int64_t steps_per_block() const override { return windows_->steps_per_block(); }
  int64_t records_per_block() const override { return windows_->records_per_block(); }
  void find_blocks(const EpochTable& table, const Sweep& sweep, RecordRanges& found) const override {
    windows_->find_blocks(table, sweep, found);
  }

  double passes(int64_t part, int64_t epoch, int64_t slot) const override {
    return places_->passes(part, epoch, static_cast<double>(slot) / static_cast<double>(slots()));
  }
  double share(int64_t part, int64_t, int64_t) const override { return places_->share(part); }

 private:
  std::unique_ptr<const MixPlaces> places_;  // of which windows_ reads
  std::unique_ptr<const Order> windows_;
};

// Of each part's blocks in an epoch, one part after another.
Result<std::vector<int64_t>> count_blocks(const MixPlaces& places, const std::vector<int64_t>& first_blocks) {
  std::vector<int64_t> ends;
  std::optional<int64_t> end = 0;
  for (int64_t k = 0; k < places.parts().size(); ++k) {
    const auto part = static_cast<size_t>(k);
    const int64_t times = places.whole_passes(k) + (places.once_more(k) > 0 ? 1 : 0);
    const std::optional<int64_t> blocks =
        checked_multiply(first_blocks[part + 1] - first_blocks[part], times);
    end = blocks ? checked_add(*end, *blocks) : std::nullopt;
    if (!end || *end > kMostLineBlocks) {
      return error(Code::kTooLarge, "option shuffle_block: the repeats of a mix make an epoch of more than ",
                   kMostLineBlocks, " blocks (part ", k, "); raise shuffle_block");
    }
    ends.push_back(*end);
  }
  return ends;
}

}  // namespace

MixOrderResult repeated_windows(const MixOrderSpec& spec) {
  DL_ASSIGN_OR_RETURN(MixPlaces made, MixPlaces::create(spec));
  auto places = std::make_unique<const MixPlaces>(std::move(made));
  DL_ASSIGN_OR_RETURN(std::vector<int64_t> first_blocks, mix_first_blocks(spec));
  DL_ASSIGN_OR_RETURN(std::vector<int64_t> ends, count_blocks(*places, first_blocks));
  DL_ASSIGN_OR_RETURN(BlockTable table,
                      BlockTable::create(spec.block_ends, spec.starts.back(), *spec.memory));
  RepeatedBlocks blocks(*places, std::move(table), std::move(first_blocks), std::move(ends), spec.seed);
  const WindowSpec windows{spec.seed, spec.open_blocks, spec.global_batch, best_simd_target()};
  auto order = std::make_unique<const WindowOrder<RepeatedBlocks>>(windows, std::move(blocks));
  return MixOrderResult(std::make_unique<const RepeatedWindows>(std::move(places), std::move(order)));
}

}  // namespace dataline
