// Batches by length: the options that ask for them, the lengths they go by, and the order that follows (order/buckets.h).
//
// Rows of a step: batch_size (of each rank) or global_batch_size (over all), or what max_tokens leaves room for, rows x edge,
// counted the same way; both set: the fewer. Lengths are the option's, or the items of the set's first ragged field. The set
// gets one more field, `length`, unless it has one of that name.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "core/base/cancel.h"
#include "core/base/status.h"
#include "core/loader/options.h"
#include "core/memory/host_memory.h"
#include "core/order/buckets.h"
#include "core/source/source.h"

namespace dataline {

// Reads bucket_edges and the rows of each bucket; `config` has the other options. kBadOption, naming the option.
Status read_buckets(const Options& options, LoaderConfig& config);

struct Buckets {
  BucketOrder order;
  SourceRef source;    // with the field `length`
  std::string digest;  // of the lengths
};

// kBadOption: lengths of another count than the set's. kUnsupported names a sample whose length only reading would tell.
// kOutOfRange as bucket_order(). kCancelled. `token` may be null.
Result<Buckets> make_buckets(SourceRef source, const LoaderConfig& config,
                             const std::shared_ptr<HostMemory>& memory, const CancelToken* token);

// "128,256,512"; of many numbers their count and digest.
std::string numbers_text(std::span<const int64_t> numbers);

}  // namespace dataline
