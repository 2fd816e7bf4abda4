// Element work on a row that keeps its order: casts and affine maps of dense and ragged rows, a filled tail
// behind them (pad_to), and one-hot rows.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/transform/element_chain.h"
#include "core/transform/pass.h"

namespace dataline {

// Where channels lie in a row: element e is of channel (e / inner) % count.
struct Channels {
  int64_t count = 1;
  int64_t inner = 1;
};

struct FlatPlan {
  ElementChain chain;
  Channels channels;               // matters when chain.channels() > 1
  int64_t padded_elements = -1;    // of the output; -1: no tail
  std::vector<std::byte> padding;  // one element of the output
  int64_t item_elements = 1;       // of one step of the first dim, for messages
};

class FlatPass : public Pass {
 public:
  explicit FlatPass(FlatPlan plan) : plan_(std::move(plan)) {}
  int64_t scratch_bytes() const override { return plan_.chain.scratch_bytes(); }
  int64_t run(const RowContext& context, const std::byte* from, int64_t from_bytes, std::byte* to,
              int64_t room) const override;

  const FlatPlan& plan() const { return plan_; }
  // The chain over `count` elements that start at channel 0: a row, or rows side by side.
  void run_elements(const std::byte* from, std::byte* to, int64_t count, std::byte* scratch) const;

 private:
  FlatPlan plan_;
};

// Integers of one type to rows of `classes` elements: one where the label points, zero elsewhere.
class OneHotPass : public Pass {
 public:
  OneHotPass(DType labels, int64_t label_count, int64_t classes, DType output);
  int64_t scratch_bytes() const override { return 0; }
  int64_t run(const RowContext& context, const std::byte* from, int64_t from_bytes, std::byte* to,
              int64_t room) const override;

 private:
  DType labels_;
  int64_t label_count_;
  int64_t classes_;
  int64_t element_bytes_;
  std::vector<std::byte> one_;  // of the output's type
};

}  // namespace dataline
