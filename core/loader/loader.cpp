// Making and ending a loader.
// SPDX-License-Identifier: Apache-2.0
#include "core/loader/loader.h"

#include <algorithm>

#include "core/base/digest.h"
#include "core/base/text.h"
#include "core/memory/machine_limits.h"
#include "core/memory/pages.h"

namespace dataline {
namespace {

// How long stop() waits for a worker that is inside the host's reader callback.
constexpr int64_t kStuckReaderGraceNs = 1'000'000'000;
// Longer descriptions of fields enter a state as a digest, so that it stays below 4 KiB.
constexpr size_t kFieldsTextBytes = 1024;
constexpr int64_t kOpenedAtOnceBytes = 64 << 10;
constexpr int32_t kCpuDevice = 1;  // as DLPack

std::string describe_fields(const std::vector<Field>& fields) {
  std::string text;
  for (const Field& field : fields) {
    std::string name = field.name;
    for (char& c : name) c = c >= 0 && c < ' ' ? '?' : c;  // a state is lines
    text += concat(text.empty() ? "" : ", ", name, " ", field_type_text(field));
  }
  if (text.size() <= kFieldsTextBytes) return text;
  Digest digest;
  digest.add(text);
  return concat(fields.size(), " fields, digest ", digest.hex());
}

}  // namespace

Result<std::shared_ptr<Loader>> Loader::create(SourceRef source, const Options& options) {
  std::shared_ptr<Loader> loader(new Loader());
  Status status;
  try {
    status = loader->prepare(std::move(source), options);
  } catch (...) {
    loader->stop();
    throw;
  }
  if (status.is_ok()) return loader;
  loader->stop();
  return status;
}

Loader::~Loader() {
  if (device_ == nullptr) return;
  device_slots_.clear();
  device_->unpin();
  // Nobody can tell any more when a lost device has read its last byte of the slots.
  if (device_->lost()) arena_.leak();
}

Status Loader::prepare(SourceRef source, const Options& options) {
  log_ = options.log;
  token_ = options.cancel;
  DL_ASSIGN_OR_RETURN(config_, make_config(options));
  DL_ASSIGN_OR_RETURN(device_, open_device({.name = config_.device,
                                            .cuda_library = config_.cuda_library,
                                            .pin_memory = config_.pin_memory,
                                            .log = log_}));
  on_device_ = device_->type() != kCpuDevice;
  memory_ = HostMemory::create(options.allocator, config_.budget_bytes);
  pipeline_.source = std::move(source);
  DL_RETURN_IF_ERROR(prepare_order());
  // An epoch's batches at most: a small set does not take memory for the same samples over and over.
  config_.prefetch_depth = std::clamp<int64_t>(steps_.count(), 1, config_.prefetch_depth);
  DL_ASSIGN_OR_RETURN(pipeline_, make_pipeline(pipeline_.source, config_, steps_.max_rows(), *device_));
  // On the trainer's only CPU a worker whose work the trainer could do itself takes turns with it and gains nothing (rows
  // of 784 bytes: a third slower); one that decodes, waits for the host's reader or for a device still does.
  if (config_.workers_are_auto && available_cpus() == 1 && !on_device_ && pipeline_.consumer_fills(1)) {
    config_.num_workers = 0;
  }
  stages_ = describe_plan(pipeline_, *device_);
  DL_RETURN_IF_ERROR(check_position({config_.start_epoch, config_.start_step}));
  DL_RETURN_IF_ERROR(prepare_memory());

  fingerprint_fields_ = describe_fields(pipeline_.source->schema().fields);
  Digest digest;
  pipeline_.source->fingerprint(digest);
  fingerprint_data_ = digest.hex();
  schema_views_ = std::make_unique<ViewSet>(pipeline_.outputs, /*with_batch=*/true);
  const bool fixed_rows = config_.last_batch != LastBatch::kKeep && config_.on_error != OnError::kRaise &&
                          config_.global_batch % config_.world_size == 0;
  schema_views_->set_device(device_->type(), device_->index(), 0);
  schema_views_->set_schema_rows(fixed_rows ? steps_.max_rows() : -1);
  return start_workers();
}

Status Loader::prepare_order() {
  OrderSpec spec;
  spec.sample_count = pipeline_.source->count();
  spec.shuffle = config_.shuffle;
  spec.seed = config_.seed;
  spec.indices = config_.indices.span();
  spec.has_indices = config_.has_indices;
  spec.weights = config_.weights.span();
  spec.replacement = config_.replacement;
  spec.samples_per_epoch = config_.samples_per_epoch;
  spec.memory = memory_;
  if (config_.has_weights && config_.weights.count != spec.sample_count) {
    return error(Code::kBadOption, "option weights: expected one a sample, ", spec.sample_count, ", got ",
                 config_.weights.count);
  }
  DL_ASSIGN_OR_RETURN(auto order, Order::create(spec));
  steps_ = Steps(order->slots(), config_);
  if (steps_.count() == 0 && config_.epochs == 0) {
    return error(Code::kEmpty, "an epoch has no steps (", spec.sample_count, " samples, ", steps_.slots(),
                 " slots, global batch ", config_.global_batch, "), and epochs=0 asks for them for ever");
  }
  weights_digest_ = "none";
  Digest digest;
  if (config_.has_weights) {
    digest.add(std::as_bytes(config_.weights.span()));
    weights_digest_ = concat(digest.hex(), config_.replacement ? " with" : " without", " replacement");
  } else if (config_.has_indices) {
    digest.add(std::as_bytes(config_.indices.span()));
  }
  orders_.push_back({0, own_indices(std::move(order), config_.indices),
                     config_.has_indices ? digest.hex() : std::string("none")});
  return Status::ok();
}

Status Loader::prepare_memory() {
  const Order& order = *orders_.front().order;
  DL_ASSIGN_OR_RETURN(plan_,
                      plan_memory(config_, pipeline_, order, steps_, on_device_ || config_.pin_memory));
  DL_ASSIGN_OR_RETURN(arena_,
                      memory_->allocate(plan_.arena_bytes, kHugePageBytes, MemoryKind::kArena, "the arena"));
  DL_RETURN_IF_ERROR(prefault(arena_.data(), arena_.bytes()));
  std::byte* base = arena_.data();

  // The host's allocator may hand out used memory; tensors start from zeros so that padding tells nothing.
  if (memory_->table().allocate != nullptr) std::fill_n(base, arena_.bytes(), std::byte{0});
  DL_RETURN_IF_ERROR(prepare_slots());
  runs_per_batch_ =
      std::max<int64_t>((steps_.max_rows() + pipeline_.run_records - 1) / pipeline_.run_records, 1);
  batches_at_once_ =
      std::clamp<int64_t>(kOpenedAtOnceBytes / std::max<int64_t>(pipeline_.layout.slot_bytes, 1), 1,
                          std::max<int64_t>(config_.prefetch_depth / 2, 1));
  if (plan_.table_count > 0) {
    tables_.plan(order, base + plan_.tables_offset, plan_.table_count, plan_.table_stride,
                 steps_.count() * runs_per_batch_);
  }
  const int64_t cpus_for_workers = config_.num_workers > 1 ? std::max(available_cpus() - 1, 1) : 1;
  filler_ = std::make_unique<Filler>(pipeline_, config_, steps_, tables_);
  for (int64_t w = 0; w < plan_.scratch_count; ++w) {
    PassStates states;
    if (w < plan_.state_count) {
      DL_ASSIGN_OR_RETURN(states, make_states(pipeline_.passes, *memory_));
    }
    auto scratch =
        std::make_unique<WorkerScratch>(pipeline_, base + plan_.scratch_offset + w * plan_.scratch_stride,
                                        std::move(states), static_cast<int32_t>(w));
    FillThread thread{.scratch = std::move(scratch)};
    if (w == config_.num_workers) {
      helper_ = std::move(thread);
    } else {
      workers_.push_back(std::make_unique<Worker>());
      workers_.back()->fill = std::move(thread);
      workers_.back()->surplus = w >= cpus_for_workers;
    }
  }
  return device_slots_.resident() == nullptr ? Status::ok() : upload();
}

Status Loader::prepare_slots() {
  std::byte* const base = arena_.data() + plan_.slots_offset;
  DL_ASSIGN_OR_RETURN(shares_,
                      memory_->allocate_address_space(
                          plan_.slot_count * plan_.shares_stride,
                          "rows without a fixed size (batch_size x max_bytes_per_sample in each slot)"));
  if (on_device_ || config_.pin_memory) {
    pinned_slots_ = device_->pin(base, plan_.slot_stride, plan_.slot_count);
  }
  if (on_device_) DL_RETURN_IF_ERROR(device_slots_.prepare(*device_, pipeline_, plan_.slot_count));
  for (int64_t s = 0; s < plan_.slot_count; ++s) {
    SlotPlace place{.host = base + s * plan_.slot_stride,
                    .shares = shares_ ? &shares_ : nullptr,
                    .shares_offset = s * plan_.shares_stride,
                    .pinned = s < pinned_slots_};
    if (on_device_) {
      place.device = device_slots_.at(static_cast<int32_t>(s)).memory();
      place.device_type = device_->type();
      place.device_index = device_->index();
    }
    slots_.push_back(std::make_unique<Slot>(pipeline_.layout, pipeline_.outputs, place));
    slots_.back()->number = static_cast<int32_t>(s);
  }
  for (auto slot = slots_.rbegin(); slot != slots_.rend(); ++slot) free_slots_.push_back(slot->get());
  draining_.reserve(slots_.size());
  copying_.reserve(slots_.size());
  window_ = std::vector<InFlight>(slots_.size());
  return Status::ok();
}

Status Loader::start_workers() {
  position_ = base_ = {config_.start_epoch, config_.start_step};
  for (size_t w = 0; w < workers_.size(); ++w) {
    // Counted before it runs, so that stop() never misses it.
    workers_alive_.fetch_add(1);
    Worker* worker = workers_[w].get();
    Result<Thread> thread =
        Thread::start(concat("dataline-", w), [self = shared_from_this(), worker] { self->work(*worker); });
    if (!thread.is_ok()) {
      workers_alive_.fetch_sub(1);
      worker->done.store(true);
      const Status failure = thread.take_status();
      const std::string limits = thread_limits();
      return error(failure.code(), "worker ", w + 1, " of ", workers_.size(), ": ", failure.message(),
                   limits.empty() ? "" : "; the limits here: ", limits,
                   "; take a smaller num_workers (0 needs no thread), or raise the limit")
          .with_os_error(failure.os_error());
    }
    worker->thread = thread.take();
  }
  if (token_ != nullptr) token_->attach(this);
  return Status::ok();
}

Status Loader::forked_error() {
  return error(Code::kForked, "this loader belongs to the parent process; create one here");
}

void Loader::stop() noexcept {
  if (forked()) {
    for (auto& worker : workers_) worker->thread.forget();
    return;
  }
  cancelled_.store(true);
  stopping_.store(true);
  work_.notify_all();
  surplus_work_.notify_all();
  ready_.notify_all();
  if (token_ != nullptr) token_->detach(this);

  const bool may_hang = pipeline_.calls_host;
  if (may_hang) {
    retired_.wait(monotonic_ns() + kStuckReaderGraceNs, [&] { return workers_alive_.load() == 0; });
  }
  int64_t abandoned = 0;
  for (auto& worker : workers_) {
    if (may_hang && !worker->done.load()) {
      worker->thread.detach();  // its body holds this loader
      ++abandoned;
    } else {
      worker->thread.join();
    }
  }
  std::lock_guard lock(mutex_);
  abandoned_threads_ += abandoned;
  if (abandoned > 0) {
    log_(LogLevel::kWarning,
         "workers are left behind in a reader callback that did not return within a second");
    return;
  }
  // Batches still held need none of this: what the host lent goes back now.
  pipeline_.source.reset();
  orders_.clear();
  config_.indices = {};
  config_.weights = {};
  for (InFlight& place : window_) place.order.order.reset();
}

}  // namespace dataline
