// The configuration of a loader: the values of its options, checked against each other.
// SPDX-License-Identifier: Apache-2.0
#include "core/loader/config.h"

#include <algorithm>
#include <utility>

#include "core/base/checked.h"
#include "core/base/thread.h"
#include "core/loader/buckets.h"
#include "core/loader/extensions.h"
#include "core/loader/option_table.h"
#include "core/loader/options.h"
#include "core/memory/machine_limits.h"
#include "core/memory/pages.h"

namespace dataline {
namespace {

// Options that set more than one member, or one member that others also set.

Result<int64_t> combine_batch_sizes(const Options& options, const StepConfig& steps) {
  if (steps.rank >= steps.world_size) {
    return error(Code::kBadOption, "option rank: expected less than world_size ", steps.world_size, ", got ",
                 steps.rank);
  }
  if (options.is_set(Option::kGlobalBatchSize) && options.is_set(Option::kBatchSize)) {
    return error(Code::kBadOption, "options batch_size and global_batch_size: set only one of the two");
  }
  if (options.is_set(Option::kGlobalBatchSize)) return options.integer(Option::kGlobalBatchSize);
  const std::optional<int64_t> global =
      checked_multiply(options.integer(Option::kBatchSize), steps.world_size);
  if (!global)
    return error(Code::kBadOption, "options batch_size and world_size: their product is too large");
  return *global;
}

Status apply_drop_last(const Options& options, StepConfig& steps) {
  if (!options.is_set(Option::kDropLast)) return Status::ok();
  const bool drop = options.integer(Option::kDropLast) != 0;
  if (options.is_set(Option::kLastBatch) && drop != (steps.last_batch == LastBatch::kDrop)) {
    return error(Code::kBadOption, "options drop_last and last_batch contradict each other: drop_last=",
                 drop ? "true" : "false", ", last_batch=", option_word(Option::kLastBatch, steps.last_batch));
  }
  if (drop) steps.last_batch = LastBatch::kDrop;
  return Status::ok();
}

Status check_order(const Options& options, const LoaderConfig& config) {
  const bool has_indices = config.order.indices.given, has_weights = config.order.weights.given;
  if (has_indices && has_weights) {
    return error(Code::kBadOption, "options sample_indices and weights: set only one of the two");
  }
  if ((has_indices || has_weights) && config.order.shuffle != Shuffle::kNone) {
    return error(Code::kBadOption, "options shuffle and ", has_indices ? "sample_indices" : "weights",
                 ": set only one of the two");
  }
  for (const auto& [option, key] : {std::pair(Option::kShuffleBlock, "shuffle_block"),
                                    std::pair(Option::kShuffleBlocks, "shuffle_blocks")}) {
    if (options.is_set(option) && config.order.shuffle != Shuffle::kWindow)
      return error(Code::kBadOption, "option ", key, ": needs shuffle=window");
  }
  if (!has_weights && config.order.samples_per_epoch >= 0) {
    return error(Code::kBadOption, "option samples_per_epoch: needs weights");
  }
  if (!has_weights && options.is_set(Option::kReplacement)) {
    return error(Code::kBadOption, "option replacement: needs weights");
  }
  return Status::ok();
}

// What num_workers=auto and prefetch_depth=auto begin with, and what they may grow to. More workers than CPUs: for
// storage that is waited for, which a small machine does too.
constexpr int64_t kAutoDepth = 4, kMostAutoDepth = 16, kMostAutoWorkers = 8;

void resolve_auto(const Options& options, LoaderConfig& config) {
  config.workers.workers_are_auto = config.workers.num_workers < 0;
  config.workers.tune_is_auto = config.workers.tune == Tune::kAuto;
  if (config.workers.tune_is_auto)
    config.workers.tune = config.workers.workers_are_auto ? Tune::kOn : Tune::kOff;
  const bool tuned = config.workers.tune == Tune::kOn;
  config.order.shuffle_blocks_given = options.is_set(Option::kShuffleBlocks);
  if (config.workers.workers_are_auto) config.workers.num_workers = std::max(available_cpus(), 1);
  config.workers.start_workers = config.workers.num_workers;
  // A pool of the host's is asked for no more threads than it would be without tuning.
  const ThreadHooks* const hooks = config.workers.threads.get();
  const bool own_threads = hooks == nullptr || !hooks->runs();
  if (config.workers.workers_are_auto && tuned && (own_threads || !config.workers.tune_is_auto))
    config.workers.num_workers = std::max(config.workers.num_workers, kMostAutoWorkers);
  const bool depth_is_auto =
      config.window.prefetch_depth < 0 || (tuned && !options.is_set(Option::kPrefetchDepth));
  if (depth_is_auto) config.window.prefetch_depth = kAutoDepth;
  config.window.start_depth = config.window.prefetch_depth;
  if (depth_is_auto && tuned) config.window.prefetch_depth = kMostAutoDepth;
  config.memory.budget_is_auto = config.memory.budget_bytes < 0;
  if (config.memory.budget_is_auto) config.memory.budget_bytes = memory_limit().bytes / 2;
}

Status check_tune(const LoaderConfig& config) {
  if (config.workers.tune == Tune::kOff || config.workers.num_workers > 0) return Status::ok();
  return error(Code::kBadOption,
               "options num_workers and tune: tune=", option_word(Option::kTune, config.workers.tune),
               " needs workers, got num_workers=0");
}

Status check_cache(const Options& options, const LoaderConfig& config) {
  for (const auto& [option, key] :
       {std::pair(Option::kCacheBytes, "cache_bytes"), std::pair(Option::kCacheQuality, "cache_quality")}) {
    if (config.cache.directory.empty() && options.is_set(option))
      return error(Code::kBadOption, "option ", key, ": needs cache");
  }
  return Status::ok();
}

// open_device() checks the name of the device itself.
Status check_device(const Options& options, const LoaderConfig& config) {
  const bool on_cpu = config.delivery.device == "cpu";
  if (on_cpu && config.delivery.io == Io::kDevice) {
    return error(Code::kBadOption, "options io and device: io=device needs device=cuda, got device=cpu");
  }
  if (on_cpu && options.is_set(Option::kCudaLibrary) && !config.delivery.pin_memory) {
    return error(Code::kBadOption, "option cuda_library: needs device=cuda or pin_memory");
  }
  const bool on_cuda = config.delivery.device.starts_with("cuda");
  if (!config.delivery.pin_memory_device.empty() && (on_cuda || !config.delivery.pin_memory)) {
    return error(Code::kBadOption, "option pin_memory_device: needs pin_memory and device=cpu");
  }
  if (on_cuda && options.is_set(Option::kPinMemory) && !config.delivery.pin_memory) {
    return error(Code::kBadOption,
                 "options pin_memory and device contradict each other: pin_memory=false, device=",
                 config.delivery.device, ", which page-locks its slots");
  }
  return Status::ok();
}

}  // namespace

Result<LoaderConfig> make_config(const Options& options) {
  LoaderConfig config;
  for (const OptionInfo& entry : option_table()) {
    if (entry.fill != nullptr) entry.fill(config, options, entry.option);
  }
  config.sample.extensions = options.extensions;
  if (options.extensions != nullptr) config.workers.threads = options.extensions->threads;
  DL_ASSIGN_OR_RETURN(const Ranks ranks,
                      resolve_ranks({config.steps.rank, config.steps.world_size}, options.environment));
  config.steps.rank = ranks.rank;
  config.steps.world_size = ranks.world_size;
  resolve_auto(options, config);
  DL_RETURN_IF_ERROR(check_tune(config));
  DL_ASSIGN_OR_RETURN(const int64_t global_batch, combine_batch_sizes(options, config.steps));
  config.steps.global_batches = {global_batch};
  DL_RETURN_IF_ERROR(apply_drop_last(options, config.steps));
  DL_RETURN_IF_ERROR(check_order(options, config));
  DL_RETURN_IF_ERROR(read_buckets(options, config));
  DL_RETURN_IF_ERROR(check_cache(options, config));
  DL_RETURN_IF_ERROR(check_device(options, config));
  config.sample.fits_any_image = kAddressSpaceIsFree && !options.is_set(Option::kMaxBytesPerSample) &&
                                 global_batch <= config.steps.world_size && config.delivery.device == "cpu" &&
                                 !config.delivery.pin_memory && options.allocator.allocate == nullptr;
  return config;
}

}  // namespace dataline
