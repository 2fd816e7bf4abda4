// Batches by length or by the shape of images: the options that ask for them, what they go by, and the order that follows
// (order/buckets.h).
//
// Rows of a step: batch_size (of each rank) or global_batch_size (over all), or what max_tokens leaves room for, rows x edge,
// counted the same way; both set: the fewer. An edge of images is the pixels of a shape. Lengths are the option's, or the items
// of the set's first ragged field; sizes of images are those of their headers (aspect.h). The set gets one more field, `length`
// or `size`, unless it has one of that name.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "core/base/cancel.h"
#include "core/base/log.h"
#include "core/base/status.h"
#include "core/memory/host_memory.h"
#include "core/order/buckets.h"
#include "core/order/shapes.h"
#include "core/order/steps.h"
#include "core/source/source.h"

namespace dataline {

class Options;
struct BucketConfig;  // core/loader/config/buckets.h
struct LoaderConfig;
struct OrderConfig;   // core/loader/config/order.h
struct SampleConfig;  // core/loader/config/sample.h

// Reads bucket_edges and the rows of each bucket; `config` has the other options. kBadOption, naming the option.
Status read_buckets(const Options& options, LoaderConfig& config);

struct Buckets {
  BucketOrder order;
  SourceRef source;         // with the field `length` or `size`
  std::string digest;       // of the lengths, or of the shapes that the images have
  int64_t table_bytes = 0;  // of what lives as long as the source, beside the order
};

struct BucketContext {
  const Steps& steps;  // not cut yet
  const OrderConfig& order;
  const SampleConfig& sample;
  std::shared_ptr<HostMemory> memory;
  const CancelToken* token = nullptr;  // may be null
  Log log;
};

// kBadOption: lengths of another count than the set's. kUnsupported names a sample whose length only reading would tell.
// kOutOfRange as check_lengths(). kCancelled. By aspect also kNoSuchField, what compiling the transform says, which is done
// before any header is read, and what read_shapes() says.
Result<Buckets> make_buckets(SourceRef source, const BucketConfig& config, const BucketContext& context);

// "128,256,512"; of many numbers their count and digest.
std::string numbers_text(std::span<const int64_t> numbers);
std::string shape_text(const ImageBucket& shape);  // "448x576"
// "448x576,512x512", or the edges, the same way.
std::string buckets_text(const BucketConfig& config);

}  // namespace dataline
