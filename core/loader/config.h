// A loader's settings, checked against each other and against the dataset.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/base/status.h"
#include "core/loader/options.h"
#include "core/order/order.h"
#include "core/transform/decode/decoder.h"

namespace dataline {

enum class LastBatch : int32_t { kKeep, kDrop, kPad };
enum class LeaseOverflow : int32_t { kCopy, kError, kWait };
enum class DeviceSync : int32_t { kStream, kHost };
enum class OnError : int32_t { kRaise, kReplace, kQuarantine };

struct LoaderConfig {
  int64_t global_batch = 32;  // slots of a full step over all ranks
  LastBatch last_batch = LastBatch::kKeep;
  Shuffle shuffle = Shuffle::kNone;
  uint64_t seed = 0;
  int64_t epochs = 0;  // 0: for ever
  int64_t start_epoch = 0, start_step = 0;
  int64_t rank = 0, world_size = 1;
  int64_t num_workers = 1;
  bool workers_are_auto = false;
  int64_t prefetch_depth = 4, max_leases = 4;
  LeaseOverflow lease_overflow = LeaseOverflow::kCopy;
  int64_t budget_bytes = 0;  // the limit in force
  bool budget_is_auto = true;
  int64_t max_bytes_per_sample = 1 << 20;
  DecodeLimits decode_limits;
  OnError on_error = OnError::kRaise;
  int64_t max_bad = -1;
  bool has_indices = false, has_weights = false, replacement = true;
  int64_t samples_per_epoch = -1;
  std::string transform;
  std::string device, cuda_library;
  bool pin_memory = false;
  bool resident = false;  // io=device: the set lives on the device
  DeviceSync device_sync = DeviceSync::kStream;
  HostArray<int64_t> indices;
  HostArray<double> weights;
};

// kBadOption and kUnsupported, naming the options.
Result<LoaderConfig> make_config(const Options& options);

std::string_view last_batch_name(LastBatch value);
std::string_view on_error_name(OnError value);
std::string_view shuffle_name(Shuffle value);

}  // namespace dataline
