// SPDX-License-Identifier: Apache-2.0
#include "core/transform/flat_pass.h"

#include <cstring>

#include "core/base/bytes.h"
#include "core/transform/convert.h"
#include "core/transform/fill.h"

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
  if (plan_.padded_elements >= 0 && count > plan_.padded_elements) {
    return context.fail(error(Code::kTooLarge, "pad_to: expected at most ",
                              plan_.padded_elements / plan_.item_elements, " steps, got ",
                              count / plan_.item_elements));
  }
  if (count > room / element_bytes) {
    return context.fail(error(Code::kTooLarge, "sample needs ", count * element_bytes,
                              " bytes, max_bytes_per_sample is ", room));
  }
  run_elements(from, to, count, context.scratch);
  if (plan_.padded_elements < 0) return count * element_bytes;
  fill_elements(to + count * element_bytes, plan_.padded_elements - count, plan_.padding.data(),
                element_bytes);
  return plan_.padded_elements * element_bytes;
}

OneHotPass::OneHotPass(DType labels, int64_t label_count, int64_t classes, DType output)
    : labels_(labels),
      label_count_(label_count),
      classes_(classes),
      element_bytes_(dtype_bytes(output)),
      one_(static_cast<size_t>(element_bytes_)) {
  with_storage(output, [this](auto storage) {
    const auto one = convert<decltype(storage)>(uint8_t{1});
    std::memcpy(one_.data(), &one, sizeof one);
  });
}

int64_t OneHotPass::run(const RowContext& context, const std::byte* from, int64_t, std::byte* to,
                        int64_t) const {
  std::memset(to, 0, static_cast<size_t>(label_count_ * classes_ * element_bytes_));
  for (int64_t i = 0; i < label_count_; ++i) {
    // A u64 above the i64 range becomes the largest i64, which is out of range as well.
    const int64_t label = with_storage(labels_, [&](auto storage) -> int64_t {
      using Label = decltype(storage);
      if constexpr (std::is_integral_v<Label>)
        return saturate_integer<int64_t>(load_native<Label>(from + i * static_cast<int64_t>(sizeof(Label))));
      else
        return -1;
    });
    if (label < 0 || label >= classes_) {
      return context.fail(
          error(Code::kOutOfRange, "one_hot: expected a label from 0 to ", classes_ - 1, ", got ", label));
    }
    std::memcpy(to + (i * classes_ + label) * element_bytes_, one_.data(), one_.size());
  }
  return label_count_ * classes_ * element_bytes_;
}

}  // namespace dataline
