// A mix by repeats in homogeneous steps: an epoch has the same samples as without, cut into steps part by part.
//
//   slots        one part after another; each begins at a whole step, so that the pads of last_batch=pad have slots that are
//                nobody else's
//   pieces       each part's slots, cut into steps; the last one of a part may be short
//
// With a shuffle an epoch permutes the places of each part (keyed by seed, part and epoch) and all pieces (keyed by seed and
// epoch). Without one, the parts follow one another in file order.
//
// Cost: 32 bytes a part; a slot is two searches among the parts and at most two Feistel networks, a step one network.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/checked.h"
#include "core/base/simd.h"
#include "core/order/mix_places.h"
#include "core/order/orders.h"

namespace dataline {
namespace {

uint64_t step_seed(uint64_t seed, int64_t what) {
  return random_bits(random_key(seed, 0, Domain::kMixSteps), static_cast<uint64_t>(what));
}
constexpr int64_t kPiecesSeed = 0, kFirstPartSeed = 1;

class PartSteps final : public StepOrder {
 public:
  PartSteps(std::vector<SlotGroup> groups, std::unique_ptr<const Order> order)
      : groups_(std::move(groups)), order_(std::move(order)) {}

  const std::vector<SlotGroup>& groups() const override { return groups_; }
  int64_t piece(int64_t epoch, int64_t step) const override {
    int64_t piece = step;
    if (order_ != nullptr) order_->samples(epoch, nullptr, step, 1, &piece);
    return piece;
  }

 private:
  std::vector<SlotGroup> groups_;       // one a part
  std::unique_ptr<const Order> order_;  // of the pieces; null: part by part
};

class SteppedMix final : public MixOrder {
 public:
  SteppedMix(MixPlaces places, std::shared_ptr<const PartSteps> steps, uint64_t seed)
      : places_(std::move(places)),
        steps_(std::move(steps)),
        seed_(seed),
        permute_(feistel_function(best_simd_target())) {}

  int64_t slots() const override {
    const SlotGroup& last = steps_->groups().back();
    return last.first_slot + last.slots;
  }
  int64_t allocated_bytes() const override {
    return places_.allocated_bytes() + static_cast<int64_t>(steps_->groups().size() * sizeof(SlotGroup));
  }
  std::shared_ptr<const StepOrder> steps() const override { return steps_; }
  bool samples(int64_t epoch, const EpochTable*, int64_t first, int64_t count, int64_t* out) const override;

  double passes(int64_t part, int64_t epoch, int64_t slot) const override {
    return places_.passes(part, epoch, static_cast<double>(slot) / static_cast<double>(slots()));
  }
  double share(int64_t part, int64_t, int64_t) const override { return places_.share(part); }

 private:
  MixPlaces places_;
  std::shared_ptr<const PartSteps> steps_;
  uint64_t seed_;
  FeistelFunction permute_;
};

// Of one part, as the slots of a step are.
bool SteppedMix::samples(int64_t epoch, const EpochTable*, int64_t first, int64_t count, int64_t* out) const {
  const std::vector<SlotGroup>& groups = steps_->groups();
  const auto after =
      std::upper_bound(groups.begin(), groups.end(), first,
                       [](int64_t slot, const SlotGroup& group) { return slot < group.first_slot; });
  const int64_t part = after - groups.begin() - 1, size = places_.size(part);
  const int64_t at = first - groups[static_cast<size_t>(part)].first_slot;
  if (places_.parts().shuffled() && size > 1) {
    const uint64_t key = permutation_key(step_seed(seed_, kFirstPartSeed + part), epoch, size);
    permute_(make_feistel(size, key), static_cast<uint64_t>(at), count, out);
  } else {
    for (int64_t i = 0; i < count; ++i) out[i] = at + i;
  }
  bool consecutive = true;
  for (int64_t i = 0; i < count; ++i) {
    out[i] = places_.sample(epoch, part, out[i]);
    consecutive = consecutive && (i == 0 || out[i] == out[i - 1] + 1);
  }
  return consecutive;
}

}  // namespace

MixOrderResult stepped_mix(const MixOrderSpec& spec) {
  DL_ASSIGN_OR_RETURN(MixPlaces places, MixPlaces::create(spec));
  const int64_t batch = spec.global_batch;
  std::vector<SlotGroup> groups;
  int64_t pieces = 0;
  std::optional<int64_t> slot = 0;
  for (int64_t k = 0; k < places.parts().size(); ++k) {
    const int64_t size = places.size(k), whole = size / batch, rest = size % batch;
    groups.push_back({*slot, size, batch});
    pieces += whole + (!spec.drops_last && rest != 0 ? 1 : 0);
    slot = checked_add(*slot, whole * batch);
    if (slot && rest != 0) slot = checked_add(*slot, batch);
    if (!slot)
      return error(Code::kTooLarge, "an epoch of a mix in homogeneous steps: part ", k,
                   " ends beyond 2^63 slots");
  }
  std::unique_ptr<const Order> order;
  if (spec.shuffle == Shuffle::kFull && pieces > 1)
    order = feistel_order(pieces, step_seed(spec.seed, kPiecesSeed), best_simd_target());
  auto steps = std::make_shared<const PartSteps>(std::move(groups), std::move(order));
  return MixOrderResult(std::make_unique<const SteppedMix>(std::move(places), std::move(steps), spec.seed));
}

}  // namespace dataline
