// SPDX-License-Identifier: Apache-2.0
#include "core/loader/order_book.h"

#include <algorithm>
#include <utility>
#include "core/loader/config.h"

namespace dataline {

Result<OrderBook::Facts> OrderBook::prepare(SourceRef& source, LoaderConfig& config,
                                            const OrderContext& context) {
  if (const Mix* mix = source->facts().mix; mix != nullptr) {
    mix_source_ = source;
    part_delivered_.assign(static_cast<size_t>(mix->part_count()), 0);
  }
  DL_ASSIGN_OR_RETURN(MadeOrder made, make_order(source, config, context));
  mix_order_ = made.mix;
  versions_ =
      std::make_shared<const OrderVersions>(make_version(std::move(made.order), config.order.indices));
  return Facts{std::move(made.steps), std::move(made.texts)};
}

void OrderBook::clear() noexcept {
  mix_order_ = nullptr;
  versions_.reset();
  mix_source_.reset();
}

Result<PartStats> OrderBook::part(int64_t index, int64_t epoch, int64_t slot, int64_t samples) const {
  const Mix* const mix = this->mix();
  const int64_t count = mix != nullptr ? mix->part_count() : 0;
  if (index < 0 || index >= count)
    return error(Code::kInvalidArgument, "part ", index, ": expected 0 to ", count, " exclusive");
  PartStats stats{.name = mix->name(index),
                  .samples = mix->samples(index),
                  .delivered = part_delivered_[static_cast<size_t>(index)]};
  if (samples > 0) stats.share_got = static_cast<double>(stats.delivered) / static_cast<double>(samples);
  if (mix_order_ == nullptr) return stats;  // the caller's own order asks for nothing
  slot = std::min(slot, mix_order_->slots());
  stats.epochs = mix_order_->passes(index, epoch, slot);
  stats.share_asked = mix_order_->share(index, epoch, slot);
  return stats;
}

}  // namespace dataline
