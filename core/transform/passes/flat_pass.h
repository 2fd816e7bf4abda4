// Casts and affine maps of a row whose elements keep their order, dense or ragged, followed by padding (pad_to).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/transform/elements/element_chain.h"
#include "core/transform/passes/pass.h"

namespace dataline {

// The position of channels in a row: element e belongs to channel (e / inner) % count.
struct Channels {
  int64_t count = 1;
  int64_t inner = 1;
};

struct FlatPlan {
  ElementChain chain;
  Channels channels;               // used if chain.channels() > 1
  int64_t padded_elements = -1;    // of the output; -1: no padding
  bool pads_to_room = false;       // pads to what the row has room for: the edge of its batch's bucket
  std::vector<std::byte> padding;  // one element of the output
  int64_t item_elements = 1;       // of one step of the first dim, for messages
};

class FlatPass : public Pass {
 public:
  explicit FlatPass(FlatPlan plan) : plan_(std::move(plan)) {}
  int64_t scratch_bytes() const override { return plan_.chain.scratch_bytes(); }
  int64_t run(const RowContext& context, const std::byte* from, int64_t from_bytes, std::byte* to,
              int64_t room) const override;

  const Channels& channels() const { return plan_.channels; }
  // The chain over `count` elements starting at channel 0: a row, or contiguous rows.
  void run_elements(const std::byte* from, std::byte* to, int64_t count, std::byte* scratch) const;

 private:
  FlatPlan plan_;
};

}  // namespace dataline
