// SPDX-License-Identifier: Apache-2.0
#include "core/transform/passes/flat_pass.h"

#include "core/transform/elements/fill.h"

namespace dataline {

void FlatPass::run_elements(const std::byte* from, std::byte* to, int64_t count, std::byte* scratch) const {
  const ElementChain& chain = plan_.chain;
  const auto [channels, inner] = plan_.channels;
  if (chain.channels() == 1) return chain.run(from, to, count, 0, scratch);
  if (inner == 1) return chain.run_interleaved(from, to, count, scratch);
  const int64_t from_bytes = dtype_bytes(chain.input()), to_bytes = dtype_bytes(chain.output());
  for (int64_t i = 0, channel = 0; i < count; i += inner) {
    chain.run(from + i * from_bytes, to + i * to_bytes, inner, channel, scratch);
    if (++channel == channels) channel = 0;
  }
}

int64_t FlatPass::run(const RowContext& context, const std::byte* from, int64_t from_bytes, std::byte* to,
                      int64_t room) const {
  const int64_t count = from_bytes / dtype_bytes(plan_.chain.input());
  const int64_t element_bytes = dtype_bytes(plan_.chain.output());
  const int64_t padded = plan_.pads_to_room ? room / element_bytes : plan_.padded_elements;
  if (padded >= 0 && count > padded) {
    return context.fail(error(Code::kTooLarge, "pad_to: expected at most ", padded / plan_.item_elements,
                              plan_.pads_to_room ? " steps, the edge of its bucket, got " : " steps, got ",
                              count / plan_.item_elements));
  }
  if (count > room / element_bytes) {
    return context.fail(error(Code::kTooLarge, "sample needs ", count * element_bytes,
                              " bytes, max_bytes_per_sample is ", room));
  }
  run_elements(from, to, count, context.scratch);
  if (padded < 0) return count * element_bytes;
  fill_elements(to + count * element_bytes, padded - count, plan_.padding.data(), element_bytes);
  return padded * element_bytes;
}

}  // namespace dataline
