// The configuration of a loader: the values of its options, checked against each other.
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
enum class Io : int32_t { kAuto, kMmap, kPread, kMemory, kDevice };

// Most members are filled by the rows of option_rows.inc; the defaults in force are those of the rows.
struct LoaderConfig {
  int64_t global_batch = 32;  // samples in a full step, over all ranks
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
  int64_t budget_bytes = 0;
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
  Io io = Io::kAuto;
  bool resident = false;  // io=device: the whole dataset is held in device memory
  DeviceSync device_sync = DeviceSync::kStream;
  HostArray<int64_t> indices;
  HostArray<double> weights;
};

// Fails with kBadOption, naming the options that contradict each other.
Result<LoaderConfig> make_config(const Options& options);

}  // namespace dataline
