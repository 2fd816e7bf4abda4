// Makes the order of a job and its steps when a loader is created: plain, for a mix, or for buckets by length or shape.
// Threads: externally synchronized.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "core/base/cancel.h"
#include "core/base/log.h"
#include "core/base/status.h"
#include "core/loader/buckets.h"
#include "core/loader/epochs.h"
#include "core/memory/host_memory.h"
#include "core/order/mix.h"
#include "core/order/steps.h"
#include "core/source/host/host_array.h"
#include "core/source/source.h"

namespace dataline {

struct LoaderConfig;  // core/loader/config.h

// How a state names the order; "none" where the job has no such thing.
struct OrderTexts {
  std::string shuffle;
  std::string weights;  // digest
  std::string lengths;  // digest of the lengths or shapes that buckets go by
};

struct MadeOrder {
  std::unique_ptr<const Order> order;
  const MixOrder* mix = nullptr;  // `order`, where the recipe of a mix decides it; null else
  Steps steps;
  OrderTexts texts;
};

// What making an order needs beside the options.
struct OrderContext {
  std::shared_ptr<HostMemory> memory;
  const CancelToken* token = nullptr;  // may be null
  Log log;
};

// Lowers config.shuffle_blocks to what `source` can keep open. With buckets, replaces `source` by one with their field and
// sets adds_field and bucket_table_bytes. `source` outlives the order. kEmpty, kOverBudget, kBadOption, what make_buckets()
// returns.
Result<MadeOrder> make_order(SourceRef& source, LoaderConfig& config, const OrderContext& context);

// The order of the caller's indices of one epoch.
Result<OrderVersion> make_order_of(HostArray<int64_t> indices, int64_t samples,
                                   std::shared_ptr<HostMemory> memory);

}  // namespace dataline
