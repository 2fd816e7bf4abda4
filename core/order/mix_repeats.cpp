// A mix by repeats: an epoch is all samples, each as often as its part says.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "core/base/simd.h"
#include "core/order/mix_places.h"
#include "core/order/orders.h"

namespace dataline {
namespace {

class RepeatedMix final : public MixOrder {
 public:
  RepeatedMix(MixPlaces places, uint64_t seed) : places_(std::move(places)) {
    if (places_.parts().shuffled() && slots() > 1) {
      shuffle_ = feistel_order(slots(), random_key(seed, 0, Domain::kMixPeriod), best_simd_target());
    }
  }

  int64_t slots() const override { return places_.total(); }
  int64_t allocated_bytes() const override { return places_.allocated_bytes(); }

  bool samples(int64_t epoch, const EpochTable*, int64_t first, int64_t count, int64_t* out) const override {
    if (shuffle_ != nullptr) {
      shuffle_->samples(epoch, nullptr, first, count, out);
    } else {
      for (int64_t i = 0; i < count; ++i) out[i] = first + i;
    }
    bool consecutive = true;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t part = places_.part_of(out[i]);
      out[i] = places_.sample(epoch, part, out[i] - places_.begin(part));
      consecutive = consecutive && (i == 0 || out[i] == out[i - 1] + 1);
    }
    return consecutive;
  }

  double passes(int64_t part, int64_t epoch, int64_t slot) const override {
    return places_.passes(part, epoch, static_cast<double>(slot) / static_cast<double>(slots()));
  }
  double share(int64_t part, int64_t, int64_t) const override { return places_.share(part); }

 private:
  MixPlaces places_;
  std::unique_ptr<const Order> shuffle_;
};

}  // namespace

MixOrderResult repeated_mix(const MixOrderSpec& spec) {
  DL_ASSIGN_OR_RETURN(MixPlaces places, MixPlaces::create(spec));
  return MixOrderResult(std::make_unique<const RepeatedMix>(std::move(places), spec.seed));
}

}  // namespace dataline
