// SPDX-License-Identifier: Apache-2.0
#include "core/source/composed/composed.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "core/source/composed/mix.h"
#include "core/source/composed/parts.h"
#include "core/source/identity.h"

namespace dataline {
namespace {

Status out_of_range(int64_t position, int64_t index, int64_t count) {
  return error(Code::kOutOfRange, "subset: indices[", position, "] is ", index, ", the dataset has ", count,
               " samples");
}

class Subset final : public Source {
 public:
  Subset(SourceRef source, std::span<const int64_t> indices, Block copy)
      : source_(std::move(source)), facts_(source_->facts()), indices_(indices), copy_(std::move(copy)) {
    facts_.mix = nullptr;
    facts_.opens_blocks =
        false;  // blocks are stretches of indices, which may be of many blocks of the source
  }

  void borrow(HostOwner owner) noexcept { loan_.take(owner); }

  int64_t count() const override { return static_cast<int64_t>(indices_.size()); }
  const Schema& schema() const override { return source_->schema(); }
  SourceInfo info() const override { return {"subset", "", source_->info().notes}; }
  const SourceFacts& facts() const override { return facts_; }

  void locate(Run& run) const override {
    std::array<int64_t, kMaxRunRecords> inner;
    RowSet bad_rows;  // whose index has become invalid: they get record 0, and fail afterwards
    Run piece = run;
    piece.contiguous = true;
    for (int64_t i = 0; i < run.count; ++i) {
      const int64_t index = inner_index(run.indices[i]);
      const bool good = valid(index);
      inner[i] = good ? index : 0;
      if (!good) bad_rows.set(static_cast<size_t>(i));
      if (i > 0) piece.contiguous &= inner[i] == inner[i - 1] + 1;
    }
    RowErrors errors;
    piece.indices = inner.data();
    piece.errors = &errors;
    source_->locate(piece);
    if (!errors.empty()) merge_errors(errors, run, 0, nullptr);
    for (int64_t i = 0; bad_rows.any() && i < run.count; ++i) {
      if (!bad_rows[static_cast<size_t>(i)]) continue;
      run.fail(i, schema().columns.size(),
               out_of_range(run.indices[i], inner_index(run.indices[i]), source_->count()));
    }
  }

  bool unchanged(const ReadSpan& span) const override { return source_->unchanged(span); }
  void confirm(Run& run, const ReadSpan& span) const override {
    for (int64_t i = 0; i < run.count; ++i) {
      const int64_t inner = inner_index(run.indices[i]);
      if (valid(inner)) confirm_record(*source_, inner, run, i, span);
    }
  }

  int64_t scratch_bytes(int64_t max_bytes_per_sample) const override {
    return source_->scratch_bytes(max_bytes_per_sample);
  }

  void advise(std::span<const int64_t> indices) const override {
    std::array<int64_t, kMaxRunRecords> inner;
    while (!indices.empty()) {
      size_t taken = std::min(indices.size(), inner.size()), count = 0;
      for (int64_t index : indices.first(taken)) {
        int64_t wanted = inner_index(index);
        if (valid(wanted)) inner[count++] = wanted;
      }
      source_->advise({inner.data(), count});
      indices = indices.subspan(taken);
    }
  }

  // Not neighbours in the source: not its advise_block(), but advise() for each.
  void advise_block(int64_t first, int64_t count) const override { Source::advise_block(first, count); }
  bool cached(int64_t index) const override {
    int64_t inner = inner_index(index);
    return !valid(inner) || source_->cached(inner);
  }
  void append_blocks(int64_t block_bytes, BlockEnds& ends) const override;
  int64_t stored_bytes() const override { return source_->stored_bytes(); }
  int64_t record_items(int64_t index) const override {
    const int64_t inner = inner_index(index);
    return valid(inner) ? source_->record_items(inner) : -1;
  }
  Result<const std::byte*> locate_items(const Run& run, const ItemRange& range,
                                        std::byte* room) const override {
    const int64_t inner = inner_index(range.index);
    if (!valid(inner)) return out_of_range(range.index, inner, source_->count());
    return source_->locate_items(run, {inner, range.first, range.count}, room);
  }
  void advise_items(const ItemRange& range) const override {
    const int64_t inner = inner_index(range.index);
    if (valid(inner)) source_->advise_items({inner, range.first, range.count});
  }
  Place place_of(int64_t index, size_t column) const override {
    const int64_t inner = inner_index(index);
    return valid(inner) ? source_->place_of(inner, column)
                        : Place{"", concat("subset: indices[", index, "]")};
  }
  std::optional<uint64_t> stamp(int64_t index) const override {
    const int64_t inner = inner_index(index);
    return valid(inner) ? source_->stamp(inner) : std::nullopt;
  }
  void identify(IdentityBuilder& identity) const override {
    identity.add_schema(*this);
    identity.add("subset");
    source_->identify(identity);
    for (int64_t index : indices_) identity.add(static_cast<uint64_t>(index));
  }

 private:
  int64_t inner_index(int64_t index) const { return indices_[static_cast<size_t>(index)]; }
  bool valid(int64_t inner) const { return inner >= 0 && inner < source_->count(); }

  const SourceRef source_;
  SourceFacts facts_;
  std::span<const int64_t> indices_;
  Block copy_;     // if not borrowed
  HostLoan loan_;  // if borrowed
};

// A block ends where the indices leave a block of the source, so that each is read in one piece. Indices that jump about
// would give blocks of a few records, which nothing can read in one piece: then blocks have as many records as those of the
// source have on average.
void Subset::append_blocks(int64_t block_bytes, BlockEnds& ends) const {
  if (count() == 0) return;
  BlockEnds of_source;
  source_->append_blocks(block_bytes, of_source);
  const auto blocks = static_cast<int64_t>(of_source.size());
  const int64_t most = std::max<int64_t>(source_->count() / blocks, 1);
  const int64_t even = (count() - 1) / most + 1;
  const size_t known = ends.size();
  const int64_t begin = ends.empty() ? 0 : ends.back();
  int64_t first = 0, end = 0;  // the block of the source that the last index is in
  int64_t cuts = 0;
  for (int64_t i = 0; i < count(); ++i) {
    const int64_t inner = inner_index(i);
    if (inner >= first && inner < end) continue;
    if (i > 0) ends.push_back(begin + i);
    if (++cuts > even + blocks) {
      ends.resize(known);
      return cut_evenly(count(), 1, most, ends);
    }
    const auto after = std::upper_bound(of_source.begin(), of_source.end(), inner);
    end = after == of_source.end() ? inner + 1 : *after;  // an index that the host has changed to a bad one
    first = after == of_source.begin() ? 0 : *(after - 1);
  }
  ends.push_back(begin + count());
}

}  // namespace

Result<SourceRef> subset_source(SourceRef source, std::span<const int64_t> indices, HostOwner owner,
                                HostMemory& memory) {
  if (source == nullptr) return error(Code::kInvalidArgument, "subset: the dataset is null");
  if (source->count() < 0)
    return error(Code::kUnsupported, "subset: the dataset is a stream of unknown length");
  DL_RETURN_IF_ERROR(refuse_grouped(*source, "subset"));
  if (indices.data() == nullptr && !indices.empty())
    return error(Code::kInvalidArgument, "subset: indices are null");
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] >= 0 && indices[i] < source->count()) continue;
    return out_of_range(static_cast<int64_t>(i), indices[i], source->count());
  }
  Block copy;
  if (!owner.lends() && !indices.empty()) {
    auto bytes = static_cast<int64_t>(indices.size_bytes());
    DL_ASSIGN_OR_RETURN(copy, memory.allocate(bytes, 64, MemoryKind::kTable, "the indices of a subset"));
    std::memcpy(copy.data(), indices.data(), indices.size_bytes());
    indices = {reinterpret_cast<const int64_t*>(copy.data()), indices.size()};
  }
  auto subset = std::make_shared<Subset>(std::move(source), indices, std::move(copy));
  subset->borrow(owner);
  return SourceRef(std::move(subset));
}

}  // namespace dataline
