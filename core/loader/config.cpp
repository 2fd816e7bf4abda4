// SPDX-License-Identifier: Apache-2.0
#include "core/loader/config.h"

#include <algorithm>

#include "core/base/checked.h"
#include "core/base/thread.h"
#include "core/memory/machine_limits.h"

namespace dataline {
namespace {

Status read_batch(const Options& options, LoaderConfig& config) {
  config.world_size = options.integer(Option::kWorldSize);
  config.rank = options.integer(Option::kRank);
  if (config.rank >= config.world_size) {
    return error(Code::kBadOption, "option rank: expected less than world_size ", config.world_size, ", got ",
                 config.rank);
  }
  if (options.is_set(Option::kGlobalBatchSize) && options.is_set(Option::kBatchSize)) {
    return error(Code::kBadOption,
                 "options batch_size and global_batch_size: expected one of the two, got both");
  }
  if (options.is_set(Option::kGlobalBatchSize)) {
    config.global_batch = options.integer(Option::kGlobalBatchSize);
    return Status::ok();
  }
  std::optional<int64_t> global = checked_multiply(options.integer(Option::kBatchSize), config.world_size);
  if (!global)
    return error(Code::kBadOption, "options batch_size and world_size: their product is too large");
  config.global_batch = *global;
  return Status::ok();
}

Status read_last_batch(const Options& options, LoaderConfig& config) {
  std::string_view word = options.text(Option::kLastBatch);
  config.last_batch = word == "drop" ? LastBatch::kDrop : word == "pad" ? LastBatch::kPad : LastBatch::kKeep;
  if (!options.is_set(Option::kDropLast)) return Status::ok();
  const bool drop = options.integer(Option::kDropLast) != 0;
  if (options.is_set(Option::kLastBatch) && drop != (config.last_batch == LastBatch::kDrop)) {
    return error(Code::kBadOption, "options drop_last and last_batch contradict each other: drop_last=",
                 drop ? "true" : "false", ", last_batch=", word);
  }
  if (drop) config.last_batch = LastBatch::kDrop;
  return Status::ok();
}

Status read_order(const Options& options, LoaderConfig& config) {
  config.shuffle = options.text(Option::kShuffle) == "full" ? Shuffle::kFull : Shuffle::kNone;
  config.seed = static_cast<uint64_t>(options.integer(Option::kSeed));
  config.indices = options.indices;
  config.weights = options.weights;
  config.has_indices = options.indices.given;
  config.has_weights = options.weights.given;
  config.replacement = options.integer(Option::kReplacement) != 0;
  config.samples_per_epoch =
      options.is_set(Option::kSamplesPerEpoch) ? options.integer(Option::kSamplesPerEpoch) : -1;
  if (config.has_indices && config.has_weights) {
    return error(Code::kBadOption, "options sample_indices and weights: expected one of the two, got both");
  }
  if ((config.has_indices || config.has_weights) && config.shuffle != Shuffle::kNone) {
    return error(Code::kBadOption, "options shuffle and ", config.has_indices ? "sample_indices" : "weights",
                 ": expected one of the two, got both");
  }
  if (!config.has_weights && config.samples_per_epoch >= 0) {
    return error(Code::kBadOption, "option samples_per_epoch: needs weights");
  }
  if (!config.has_weights && options.is_set(Option::kReplacement)) {
    return error(Code::kBadOption, "option replacement: needs weights");
  }
  return Status::ok();
}

// What the device's name means is open_device()'s to say.
Status read_device(const Options& options, LoaderConfig& config) {
  config.device = options.text(Option::kDevice);
  config.cuda_library = options.text(Option::kCudaLibrary);
  config.pin_memory = options.integer(Option::kPinMemory) != 0;
  config.resident = options.text(Option::kIo) == "device";
  config.device_sync = options.text(Option::kDeviceSync) == "host" ? DeviceSync::kHost : DeviceSync::kStream;
  const bool on_cpu = config.device == "cpu";
  if (on_cpu && config.resident) {
    return error(Code::kBadOption, "options io and device: io=device needs device=cuda, got device=cpu");
  }
  if (on_cpu && options.is_set(Option::kCudaLibrary) && !config.pin_memory) {
    return error(Code::kBadOption, "option cuda_library: needs device=cuda or pin_memory");
  }
  const bool on_cuda = config.device.starts_with("cuda");
  if (on_cuda && options.is_set(Option::kPinMemory) && !config.pin_memory) {
    return error(Code::kBadOption,
                 "options pin_memory and device contradict each other: pin_memory=false, device=",
                 config.device, ", which page-locks its slots");
  }
  return Status::ok();
}

}  // namespace

Result<LoaderConfig> make_config(const Options& options) {
  LoaderConfig config;
  DL_RETURN_IF_ERROR(read_batch(options, config));
  DL_RETURN_IF_ERROR(read_last_batch(options, config));
  DL_RETURN_IF_ERROR(read_order(options, config));

  config.epochs = options.integer(Option::kEpochs);
  config.start_epoch = options.integer(Option::kStartEpoch);
  config.start_step = options.integer(Option::kStartStep);
  config.num_workers = options.integer(Option::kNumWorkers);
  config.workers_are_auto = config.num_workers < 0;
  if (config.workers_are_auto) config.num_workers = std::max(available_cpus() - 1, 1);
  config.prefetch_depth = options.integer(Option::kPrefetchDepth);
  config.max_leases = options.integer(Option::kMaxLeases);
  std::string_view overflow = options.text(Option::kLeaseOverflow);
  config.lease_overflow = overflow == "error"  ? LeaseOverflow::kError
                          : overflow == "wait" ? LeaseOverflow::kWait
                                               : LeaseOverflow::kCopy;
  config.budget_bytes = options.integer(Option::kMemoryBudget);
  config.budget_is_auto = config.budget_bytes < 0;
  if (config.budget_is_auto) config.budget_bytes = memory_limit().bytes / 2;
  config.max_bytes_per_sample = options.integer(Option::kMaxBytesPerSample);
  config.decode_limits = {.accept_warnings = options.text(Option::kOnWarning) == "accept",
                          .max_pixels = options.integer(Option::kMaxPixels),
                          .max_scans = options.integer(Option::kMaxScans),
                          .max_decoded_bytes = options.integer(Option::kMaxDecodedBytes)};
  std::string_view policy = options.text(Option::kOnError);
  config.on_error = policy == "replace"      ? OnError::kReplace
                    : policy == "quarantine" ? OnError::kQuarantine
                                             : OnError::kRaise;
  config.max_bad = options.integer(Option::kMaxBad);
  config.transform = options.text(Option::kTransform);
  DL_RETURN_IF_ERROR(read_device(options, config));
  return config;
}

std::string_view last_batch_name(LastBatch value) {
  return value == LastBatch::kDrop ? "drop" : value == LastBatch::kPad ? "pad" : "keep";
}
std::string_view on_error_name(OnError value) {
  return value == OnError::kReplace ? "replace" : value == OnError::kQuarantine ? "quarantine" : "raise";
}
std::string_view shuffle_name(Shuffle value) { return value == Shuffle::kFull ? "full" : "none"; }

}  // namespace dataline
