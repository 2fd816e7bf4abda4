// SPDX-License-Identifier: Apache-2.0
#include "core/transform/elements/element_chain.h"

#include <algorithm>
#include <cstring>

#include "core/base/checked.h"

namespace dataline {
namespace {

constexpr int64_t kBlockElements = 1024;  // 4 to 8 KiB a buffer, two buffers

}  // namespace

std::vector<ElementStep> simplified(const std::vector<ElementStep>& steps) {
  std::vector<ElementStep> out;
  for (const ElementStep& step : steps) {
    // A stored bool may be any byte; the output of a step is 0 or 1.
    const bool settles = step.to == DType::kBool && out.empty();
    if (!step.affine && step.from == step.to && !settles) continue;
    const bool joins = step.affine && !out.empty() && !out.back().affine && out.back().to == DType::kF32;
    if (joins) {
      const DType from = out.back().from;
      out.back() = step;
      out.back().from = from;
    } else {
      out.push_back(step);
    }
  }
  return out;
}

ElementChain::ElementChain(const std::vector<ElementStep>& steps, DType input, SimdTarget target)
    : input_(input), output_(input) {
  const std::vector<ElementStep> plan = simplified(steps);
  for (size_t i = 0; i < plan.size(); ++i) {
    const ElementStep& step = plan[i];
    if (!step.affine) {
      add_stage(cast_kernel(target, step.from, step.to), step.from, step.to, nullptr);
      continue;
    }
    const bool rounds_next = i + 1 < plan.size() && !plan[i + 1].affine;
    const ElementKernel joined = rounds_next ? affine_kernel(target, step.from, plan[i + 1].to) : nullptr;
    if (joined != nullptr) {
      add_stage(joined, step.from, plan[i + 1].to, &step);
      ++i;
    } else {
      add_stage(affine_kernel(target, step.from, DType::kF32), step.from, DType::kF32, &step);
    }
  }
  if (!plan.empty()) output_ = plan.back().to;
  block_elements_ = std::max<int64_t>(kBlockElements / channels_, 1) * channels_;
  int64_t widest = 0;
  for (size_t i = 0; i + 1 < stages_.size(); ++i) widest = std::max(widest, stages_[i].to_bytes);
  scratch_bytes_ = 2 * round_up(block_elements_ * widest, 64);
}

void ElementChain::add_stage(ElementKernel kernel, DType from, DType to, const ElementStep* affine) {
  Stage stage;
  stage.kernel = kernel;
  stage.from_bytes = dtype_bytes(from);
  stage.to_bytes = dtype_bytes(to);
  if (affine != nullptr) {
    stage.channels = affine->channels();
    const size_t entries = static_cast<size_t>(stage.channels == 1 ? 1 : stage.channels * kPatternLanes);
    for (size_t i = 0; i < entries; ++i) {
      stage.a.push_back(affine->a[i % affine->a.size()]);
      stage.b.push_back(affine->b[i % affine->b.size()]);
    }
    channels_ = std::max(channels_, stage.channels);
  }
  stages_.push_back(std::move(stage));
}

void ElementChain::run(const std::byte* from, std::byte* to, int64_t count, int64_t channel,
                       std::byte* scratch) const {
  const auto affine_of = [channel](const Stage& stage) {
    if (channel == kInterleaved) return Affine{stage.a.data(), stage.b.data(), stage.channels};
    const int64_t entry = stage.channels == 1 ? 0 : channel;
    return Affine{stage.a.data() + entry, stage.b.data() + entry, 1};
  };
  if (stages_.empty()) {
    if (count > 0) std::memcpy(to, from, static_cast<size_t>(count * dtype_bytes(input_)));
    return;
  }
  if (stages_.size() == 1) return stages_[0].kernel(from, to, count, affine_of(stages_[0]));
  std::byte* const buffers[2] = {scratch, scratch + scratch_bytes_ / 2};
  for (int64_t done = 0; done < count; done += block_elements_) {
    const int64_t block = std::min(block_elements_, count - done);
    const std::byte* in = from + done * stages_.front().from_bytes;
    for (size_t i = 0; i < stages_.size(); ++i) {
      const bool last = i + 1 == stages_.size();
      std::byte* out = last ? to + done * stages_.back().to_bytes : buffers[i % 2];
      stages_[i].kernel(in, out, block, affine_of(stages_[i]));
      in = out;
    }
  }
}

}  // namespace dataline
