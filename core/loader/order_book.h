// The orders of a job: which order holds in which epoch, and how often the parts of a mix have been delivered.
//
// Owns the orders, and keeps the mix that its order reads.
// Threads: externally synchronized (the loader's lock). The lists that versions() returns are immutable, so the window and
// its batches read them without it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/batch/slot.h"
#include "core/loader/epochs.h"
#include "core/loader/orders.h"
#include "core/order/mix.h"
#include "core/source/composed/mix.h"
#include "core/source/source.h"

namespace dataline {

// A part of a mix as the loader sees it now.
struct PartStats {
  std::string_view name;  // NUL-terminated; lives as long as the loader
  int64_t samples = 0;    // the part has
  int64_t delivered = 0;  // to this rank since create, without pads
  double epochs = 0;      // how often the job has gone through the part by now, over all ranks
  double share_asked = 0,
         share_got = 0;  // requested share of the current slots; share of the delivered samples
};

class OrderBook {
 public:
  // What follows from the order, for those who keep it.
  struct Facts {
    Steps steps;
    OrderTexts texts;
  };
  // At create, once. Changes `source` and `config` as make_order() does, and fails as it does.
  Result<Facts> prepare(SourceRef& source, LoaderConfig& config, const OrderContext& context);
  // Releases the orders, the mix and what the host lent for them.
  void clear() noexcept;

  const std::shared_ptr<const OrderVersions>& versions() const { return versions_; }
  const OrderVersion& of(int64_t epoch) const { return versions_->of(epoch); }
  void replace(std::shared_ptr<const OrderVersions> versions) noexcept { versions_ = std::move(versions); }

  const Mix* mix() const { return mix_source_ != nullptr ? mix_source_->facts().mix : nullptr; }
  // A batch that goes out. Nothing to do without a mix.
  void count_parts(const Batch& batch) {
    if (part_delivered_.empty()) return;
    for (int64_t row = 0; row < batch.valid; ++row)
      ++part_delivered_[static_cast<size_t>(batch.sample_sources[row])];
  }
  // At slot `slot` of an epoch; `samples`: delivered to this rank so far. kInvalidArgument.
  Result<PartStats> part(int64_t index, int64_t epoch, int64_t slot, int64_t samples) const;

 private:
  SourceRef mix_source_;  // null: not a mix
  std::shared_ptr<const OrderVersions> versions_;
  const MixOrder* mix_order_ =
      nullptr;  // of versions_, where the recipe of a mix decides the order; null else
  std::vector<int64_t> part_delivered_;  // one a part
};

}  // namespace dataline
