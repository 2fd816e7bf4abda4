// Checks an OrderSpec and creates its order; the two orders without random numbers are here too.
// SPDX-License-Identifier: Apache-2.0
#include "core/order/order.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "core/base/simd.h"
#include "core/order/feistel.h"
#include "core/order/orders.h"

namespace dataline {
namespace {

using OrderResult = Result<std::unique_ptr<const Order>>;

// shuffle=none: slot i is sample i.
class FileOrder final : public Order {
 public:
  explicit FileOrder(int64_t sample_count) : sample_count_(sample_count) {}

  int64_t slots() const override { return sample_count_; }
  bool samples(int64_t, const EpochTable*, int64_t first, int64_t count, int64_t* out) const override {
    int64_t i = 0;
    for (; i + kBlock <= count; i += kBlock) {
      for (int64_t k = 0; k < kBlock; ++k) out[i + k] = first + i + k;
    }
    for (; i < count; ++i) out[i] = first + i;
    return true;
  }

 private:
  static constexpr int64_t kBlock = 16;  // a fixed inner loop, which compilers vectorize at -O2 too
  int64_t sample_count_;
};

// sample_indices: the caller's own order, the same every epoch.
class GivenOrder final : public Order {
 public:
  explicit GivenOrder(std::span<const int64_t> indices)
      : indices_(indices) {}  // borrowed, checked by given()

  int64_t slots() const override { return static_cast<int64_t>(indices_.size()); }
  bool samples(int64_t, const EpochTable*, int64_t first, int64_t count, int64_t* out) const override {
    std::copy_n(indices_.data() + first, count, out);
    return false;
  }

 private:
  std::span<const int64_t> indices_;
};

// The shortest text that reads back as the same double, in every locale.
std::string number_text(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return std::string(text, end);
}

Status check_conflicts(const OrderSpec& spec) {
  const bool weighted = !spec.weights.empty();
  const bool shuffled = spec.shuffle != Shuffle::kNone;
  if (spec.sample_count < 0 || spec.sample_count > kFeistelMaxSamples) {
    return error(Code::kOutOfRange, "expected an order of 0 to 2^62 samples, got ", spec.sample_count);
  }
  if (spec.has_indices && weighted)
    return error(Code::kBadOption, "sample_indices and weights: set only one of the two");
  if (spec.has_indices && shuffled) {
    return error(Code::kBadOption, "sample_indices and shuffle: set only one of the two");
  }
  if (weighted && shuffled) return error(Code::kBadOption, "weights and shuffle: set only one of the two");
  if (!weighted && spec.samples_per_epoch != -1) {
    return error(Code::kBadOption, "samples_per_epoch=", spec.samples_per_epoch, " needs weights");
  }
  return Status::ok();
}

OrderResult shuffled(const OrderSpec& spec) {
  if (spec.shuffle == Shuffle::kWindow) return window_order(spec, best_simd_target());
  const auto order = spec.sample_count < kFisherYatesEnd ? fisher_yates_order : feistel_order;
  return order(spec.sample_count, spec.seed, best_simd_target());
}

OrderResult given(const OrderSpec& spec) {
  for (size_t i = 0; i < spec.indices.size(); ++i) {
    const int64_t index = spec.indices[i];
    if (index >= 0 && index < spec.sample_count) continue;
    if (spec.sample_count == 0) {
      return error(Code::kOutOfRange, "sample_indices[", i, "] is ", index,
                   ", but the dataset has no samples");
    }
    return error(Code::kOutOfRange, "sample_indices[", i, "]: expected 0 to ", spec.sample_count - 1,
                 ", got ", index);
  }
  return OrderResult(std::make_unique<const GivenOrder>(spec.indices));
}

// The number of weights that can be drawn; an error when one is invalid.
Result<int64_t> count_positive(std::span<const double> weights) {
  int64_t positive = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] >= 0) || std::isinf(weights[i])) {
      return error(Code::kOutOfRange, "weights[", i, "]: expected a finite number >= 0, got ",
                   number_text(weights[i]));
    }
    if (can_be_drawn(weights[i])) ++positive;
  }
  if (positive == 0)
    return error(Code::kOutOfRange, "weights: all ", weights.size(), " are 0, so nothing can be drawn");
  return positive;
}

OrderResult weighted(const OrderSpec& spec) {
  const int64_t count = static_cast<int64_t>(spec.weights.size());
  if (count != spec.sample_count) {
    return error(Code::kBadOption, "weights: expected ", spec.sample_count, ", one per sample, got ", count);
  }
  const int64_t draws = spec.samples_per_epoch == -1 ? spec.sample_count : spec.samples_per_epoch;
  if (draws < 1) return error(Code::kBadOption, "samples_per_epoch: expected at least 1, got ", draws);
  DL_ASSIGN_OR_RETURN(const int64_t positive, count_positive(spec.weights));
  if (spec.replacement) return alias_order(spec.weights, draws, spec.seed, *spec.memory);
  if (draws > positive) {
    return error(Code::kBadOption, "samples_per_epoch=", draws, " without replacement: only ", positive,
                 " weights are not 0");
  }
  return race_order(spec.weights, positive, draws, spec.seed);
}

}  // namespace

OrderResult Order::create(const OrderSpec& spec) {
  DL_RETURN_IF_ERROR(check_conflicts(spec));
  if (spec.has_indices) return given(spec);
  if (!spec.weights.empty()) return weighted(spec);
  // At most one sample: there is nothing to shuffle.
  if (spec.shuffle != Shuffle::kNone && spec.sample_count > 1) return shuffled(spec);
  return OrderResult(std::make_unique<const FileOrder>(spec.sample_count));
}

SlotRange rank_slots(int64_t step_begin, int64_t step_slots, int64_t rank, int64_t world_size) {
  if (world_size == 1) return {step_begin, step_begin + step_slots};  // two divisions of 128 bits less
  __extension__ typedef __int128 i128;
  const auto cut = [&](int64_t r) {
    return step_begin + static_cast<int64_t>(static_cast<i128>(step_slots) * r / world_size);
  };
  return {cut(rank), cut(rank + 1)};
}

}  // namespace dataline
