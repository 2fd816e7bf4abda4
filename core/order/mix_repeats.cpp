// A mix by repeats: an epoch is all samples, each as often as its part says.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/checked.h"
#include "core/base/simd.h"
#include "core/order/mix_parts.h"
#include "core/order/orders.h"

namespace dataline {
namespace {

class RepeatedMix final : public MixOrder {
 public:
  RepeatedMix(const MixOrderSpec& spec, Block ends)
      : parts_(spec),
        seed_(spec.seed),
        ends_(reinterpret_cast<const int64_t*>(ends.data()), static_cast<size_t>(parts_.size())),
        memory_(std::move(ends)) {
    if (parts_.shuffled() && slots() > 1) {
      shuffle_ = feistel_order(slots(), random_key(seed_, 0, Domain::kMixPeriod), best_simd_target());
    }
  }

  int64_t slots() const override { return ends_.back(); }
  int64_t allocated_bytes() const override { return memory_.bytes(); }

  bool samples(int64_t epoch, const EpochTable*, int64_t first, int64_t count, int64_t* out) const override {
    if (shuffle_ != nullptr) {
      shuffle_->samples(epoch, nullptr, first, count, out);
    } else {
      for (int64_t i = 0; i < count; ++i) out[i] = first + i;
    }
    bool consecutive = true;
    for (int64_t i = 0; i < count; ++i) {
      out[i] = sample_at(epoch, out[i]);
      consecutive = consecutive && (i == 0 || out[i] == out[i - 1] + 1);
    }
    return consecutive;
  }

  double passes(int64_t part, int64_t epoch, int64_t slot) const override {
    return (static_cast<double>(epoch) + static_cast<double>(slot) / static_cast<double>(slots())) *
           static_cast<double>(size(part)) / static_cast<double>(parts_.count(part));
  }
  double share(int64_t part, int64_t, int64_t) const override {
    return static_cast<double>(size(part)) / static_cast<double>(slots());
  }

 private:
  int64_t begin(int64_t part) const { return part == 0 ? 0 : ends_[static_cast<size_t>(part - 1)]; }
  // Slots of a part in each epoch.
  int64_t size(int64_t part) const { return ends_[static_cast<size_t>(part)] - begin(part); }

  // Places are slots before they were shuffled: part by part.
  int64_t sample_at(int64_t epoch, int64_t place) const {
    const int64_t part = std::upper_bound(ends_.begin(), ends_.end(), place) - ends_.begin();
    const int64_t n = parts_.count(part), at = place - begin(part);
    const int64_t whole = size(part) / n, pass = at / n, index = at % n;
    // In whole passes the shuffle of the epoch is enough.
    return parts_.start(part) + (pass < whole ? index : once_more(epoch, part, index, size(part) % n));
  }

  // The index-th of the `chosen` samples that come once more in this epoch.
  int64_t once_more(int64_t epoch, int64_t part, int64_t index, int64_t chosen) const {
    if (parts_.shuffled()) return parts_.permuted(part, epoch, index);
    // In file order, at equal distances from a drawn beginning.
    const int64_t n = parts_.count(part);
    const uint64_t bits = random_bits(random_key(seed_, static_cast<uint64_t>(epoch), Domain::kMixRepeat),
                                      static_cast<uint64_t>(part));
    const uint64_t offset = random_below(bits, static_cast<uint64_t>(n));
    __extension__ typedef unsigned __int128 u128;
    return static_cast<int64_t>((static_cast<u128>(index) * static_cast<u128>(n) + offset) /
                                static_cast<u128>(chosen));
  }

  MixParts parts_;
  uint64_t seed_;
  std::span<const int64_t> ends_;  // of each part's slots in an epoch
  Block memory_;
  std::unique_ptr<const Order> shuffle_;
};

}  // namespace

MixOrderResult repeated_mix(const MixOrderSpec& spec) {
  const size_t count = spec.repeats.size();
  DL_ASSIGN_OR_RETURN(Block block, spec.memory->allocate(static_cast<int64_t>(count * sizeof(int64_t)), 64,
                                                         MemoryKind::kTable, "the parts of a mix"));
  auto* ends = reinterpret_cast<int64_t*>(block.data());
  int64_t end = 0;
  for (size_t k = 0; k < count; ++k) {
    const int64_t n = spec.starts[k + 1] - spec.starts[k];
    // Exact for parts of fewer than 2^53 samples.
    const double whole = std::floor(spec.repeats[k]);
    const double more = std::floor((spec.repeats[k] - whole) * static_cast<double>(n) + 0.5);
    std::optional<int64_t> slots;
    if (whole < static_cast<double>(kFeistelMaxSamples)) {
      slots = checked_multiply(n, static_cast<int64_t>(whole));
    }
    if (slots) slots = checked_add(*slots, std::min(static_cast<int64_t>(more), n));
    if (slots) slots = checked_add(end, *slots);
    if (!slots || *slots > kFeistelMaxSamples) {
      return error(Code::kTooLarge, "the repeats of a mix make an epoch of more than 2^62 samples (part ", k,
                   ")");
    }
    ends[k] = end = *slots;
  }
  if (end == 0) return error(Code::kEmpty, "the repeats of a mix are so small that an epoch has no samples");
  return MixOrderResult(std::make_unique<const RepeatedMix>(spec, std::move(block)));
}

}  // namespace dataline
