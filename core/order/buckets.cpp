// SPDX-License-Identifier: Apache-2.0
#include "core/order/buckets.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/checked.h"
#include "core/base/random.h"
#include "core/base/simd.h"
#include "core/order/feistel.h"
#include "core/order/orders.h"

namespace dataline {
namespace {

// Numbers below a limit, 4 bytes each where they fit.
class IndexTable {
 public:
  static Result<IndexTable> create(int64_t count, int64_t limit, HostMemory& memory, const char* what) {
    IndexTable table;
    table.wide_ = limit > int64_t{1} << 32;
    const std::optional<int64_t> bytes = checked_multiply(count, table.wide_ ? 8 : 4);
    if (!bytes) return error(Code::kOverBudget, what, ": ", count, " entries do not fit in memory");
    DL_ASSIGN_OR_RETURN(table.block_, memory.allocate(*bytes, 64, MemoryKind::kTable, what));
    return table;
  }

  int64_t get(int64_t i) const { return wide_ ? wide()[i] : static_cast<int64_t>(narrow()[i]); }
  void set(int64_t i, int64_t value) {
    if (wide_)
      wide()[i] = value;
    else
      narrow()[i] = static_cast<uint32_t>(value);
  }
  int64_t bytes() const { return block_.bytes(); }
  template <typename Less>
  void sort(int64_t count, Less less) {
    if (wide_)
      std::sort(wide(), wide() + count, less);
    else
      std::sort(narrow(), narrow() + count, less);
  }

 private:
  int64_t* wide() const { return reinterpret_cast<int64_t*>(block_.data()); }
  uint32_t* narrow() const { return reinterpret_cast<uint32_t*>(block_.data()); }

  Block block_;
  bool wide_ = false;
};

// Of what is shuffled within a seed: the steps, and each bucket's samples. Sizes alone would give two buckets of one size the
// same permutation.
uint64_t seed_of(uint64_t seed, uint64_t what) {
  return random_bits(random_key(seed, 0, Domain::kBuckets), what);
}
constexpr uint64_t kStepsSeed = 0, kFirstBucketSeed = 1;

// Null for fewer than two: there is nothing to shuffle.
std::unique_ptr<const Order> shuffled(const BucketSpec& spec, int64_t count, uint64_t what) {
  if (spec.shuffle == Shuffle::kNone || count < 2) return nullptr;
  return feistel_order(count, seed_of(spec.seed, what), best_simd_target());
}

int64_t pieces_of(const SlotGroup& group, bool drop_short_steps) {
  return group.slots / group.rows + (!drop_short_steps && group.slots % group.rows != 0 ? 1 : 0);
}

class ByBucket final : public Order {
 public:
  struct Bucket {
    int64_t first_slot = 0;
    int64_t first_entry = 0;  // of the table
    std::unique_ptr<const Order> order;
  };

  // step_bytes: of the steps' own table.
  ByBucket(std::vector<Bucket> buckets, IndexTable table, int64_t samples, int64_t step_bytes)
      : buckets_(std::move(buckets)), table_(std::move(table)), samples_(samples), step_bytes_(step_bytes) {}

  int64_t slots() const override { return samples_; }
  int64_t allocated_bytes() const override { return table_.bytes() + step_bytes_; }
  // Of one bucket, as the slots of a step are.
  bool samples(int64_t epoch, const EpochTable*, int64_t first, int64_t count, int64_t* out) const override {
    const Bucket& bucket =
        *(std::upper_bound(buckets_.begin(), buckets_.end(), first,
                           [](int64_t slot, const Bucket& b) { return slot < b.first_slot; }) -
          1);
    const int64_t begin = first - bucket.first_slot;
    if (bucket.order != nullptr) {
      bucket.order->samples(epoch, nullptr, begin, count, out);
    } else {
      for (int64_t i = 0; i < count; ++i) out[i] = begin + i;
    }
    for (int64_t i = 0; i < count; ++i) out[i] = table_.get(bucket.first_entry + out[i]);
    return false;
  }

 private:
  std::vector<Bucket> buckets_;  // those that hold samples
  IndexTable table_;             // samples, bucket by bucket, each in file order
  int64_t samples_, step_bytes_;
};

class BucketSteps final : public StepOrder {
 public:
  BucketSteps(std::vector<SlotGroup> groups, std::unique_ptr<const Order> order, IndexTable by_first_sample)
      : groups_(std::move(groups)), order_(std::move(order)), by_first_sample_(std::move(by_first_sample)) {}

  const std::vector<SlotGroup>& groups() const override { return groups_; }
  int64_t piece(int64_t epoch, int64_t step) const override {
    if (by_first_sample_.bytes() > 0) return by_first_sample_.get(step);
    if (order_ == nullptr) return step;
    int64_t piece = 0;
    order_->samples(epoch, nullptr, step, 1, &piece);
    return piece;
  }

 private:
  std::vector<SlotGroup> groups_;
  std::unique_ptr<const Order> order_;  // with shuffle=full
  IndexTable by_first_sample_;          // with shuffle=none
};

// The pieces, by the table entry of their first sample: entries of one bucket are in file order.
Result<IndexTable> sort_pieces(const std::vector<SlotGroup>& groups, const IndexTable& samples, bool drop,
                               int64_t pieces, HostMemory& memory) {
  DL_ASSIGN_OR_RETURN(IndexTable table,
                      IndexTable::create(pieces, pieces, memory, "the steps by their first sample"));
  DL_ASSIGN_OR_RETURN(IndexTable firsts, IndexTable::create(pieces, std::numeric_limits<int64_t>::max(),
                                                            memory, "the first samples of steps"));
  int64_t piece = 0, first_entry = 0;
  for (const SlotGroup& group : groups) {
    const int64_t end = piece + pieces_of(group, drop);
    for (int64_t entry = first_entry; piece < end; ++piece, entry += group.rows) {
      firsts.set(piece, samples.get(entry));
      table.set(piece, piece);
    }
    first_entry += group.slots;
  }
  table.sort(pieces, [&](int64_t a, int64_t b) { return firsts.get(a) < firsts.get(b); });
  return table;
}

}  // namespace

Status check_lengths(std::span<const int64_t> lengths, std::span<const int64_t> edges) {
  for (size_t i = 0; i < lengths.size(); ++i) {
    const int64_t length = lengths[i];
    if (length >= 0 && length <= edges.back()) continue;
    Status refused = length < 0 ? error(Code::kOutOfRange, "its length is ", length, ", expected 0 or more")
                                : error(Code::kOutOfRange, "its length is ", length,
                                        ", the last of bucket_edges is ", edges.back());
    return std::move(refused).in(concat("sample ", i)).with_sample(static_cast<int64_t>(i));
  }
  return Status::ok();
}

Result<BucketOrder> bucket_order(const BucketSpec& spec) {
  const int64_t samples = spec.samples;
  std::vector<int64_t> counts(spec.rows.size(), 0);
  for (int64_t i = 0; i < samples; ++i) ++counts[spec.bucket_of(i)];
  DL_ASSIGN_OR_RETURN(IndexTable table,
                      IndexTable::create(samples, samples, *spec.memory, "the samples by bucket"));
  std::vector<SlotGroup> groups;
  std::vector<ByBucket::Bucket> buckets;
  std::vector<int64_t> next(counts.size());  // entry of the table, by bucket
  int64_t slot = 0, entry = 0, pieces = 0;
  for (size_t b = 0; b < counts.size(); ++b) {
    next[b] = entry;
    groups.push_back({slot, counts[b], spec.rows[b]});
    if (counts[b] > 0) buckets.push_back({slot, entry, shuffled(spec, counts[b], kFirstBucketSeed + b)});
    pieces += pieces_of(groups.back(), spec.drop_short_steps);
    entry += counts[b];
    slot += (counts[b] + spec.rows[b] - 1) / spec.rows[b] * spec.rows[b];
  }
  for (int64_t i = 0; i < samples; ++i) table.set(next[spec.bucket_of(i)]++, i);
  IndexTable by_first_sample;
  if (spec.shuffle == Shuffle::kNone) {
    DL_ASSIGN_OR_RETURN(by_first_sample,
                        sort_pieces(groups, table, spec.drop_short_steps, pieces, *spec.memory));
  }
  BucketOrder out;
  const int64_t step_bytes = by_first_sample.bytes();
  out.steps = std::make_shared<BucketSteps>(std::move(groups), shuffled(spec, pieces, kStepsSeed),
                                            std::move(by_first_sample));
  out.order = std::make_unique<ByBucket>(std::move(buckets), std::move(table), samples, step_bytes);
  return out;
}

}  // namespace dataline
