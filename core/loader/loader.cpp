// Making and ending a loader.
// SPDX-License-Identifier: Apache-2.0
#include "core/loader/loader.h"

#include <algorithm>

#include "core/base/digest.h"
#include "core/base/text.h"
#include "core/loader/cache/kept_samples.h"
#include "core/loader/cache/sample_maker.h"
#include "core/memory/machine_limits.h"
#include "core/memory/pages.h"
#include "core/source/set_directories.h"

namespace dataline {
namespace {

// A longer description of the fields enters a state as its digest, so that the state stays below 4 KiB.
constexpr size_t kFieldsTextBytes = 1024;
// A thread opens small batches together up to this size.
constexpr int64_t kOpenedAtOnceBytes = 64 << 10;

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

Status read_sample(const SourceRef& source, int64_t index, const Options& options, Batch** out) {
  // What says what a sample is; the others decide order, batches, threads and what becomes of bad samples.
  constexpr Option kOfSamples[] = {Option::kTransform,         Option::kSeed,        Option::kMemoryBudget,
                                   Option::kMaxBytesPerSample, Option::kMaxPixels,   Option::kMaxScans,
                                   Option::kMaxDecodedBytes,   Option::kOnWarning,   Option::kDevice,
                                   Option::kDeviceSync,        Option::kCudaLibrary, Option::kPinMemory,
                                   Option::kPinMemoryDevice};
  if (index < 0 || index >= source->count()) {
    return error(Code::kOutOfRange, "sample ", index, ": expected 0 to ", source->count(), " exclusive")
        .with_sample(index);
  }
  Options one;
  for (const Option option : kOfSamples) {
    if (!options.is_set(option)) continue;
    DL_RETURN_IF_ERROR(one.set(option_table()[static_cast<size_t>(option)].key, options.as_text(option)));
  }
  one.indices = hold_array(&index, 1, {});
  one.allocator = options.allocator;
  one.log = options.log;
  one.cancel = options.cancel;
  one.extensions = options.extensions;
  for (const char* key : {"batch_size", "epochs", "prefetch_depth"}) DL_RETURN_IF_ERROR(one.set(key, "1"));
  DL_RETURN_IF_ERROR(one.set("num_workers", "0"));
  DL_ASSIGN_OR_RETURN(const std::shared_ptr<Loader> loader, Loader::create(source, one));
  Status status = loader->next(-1, out);
  loader->stop();
  return status;
}

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
  pool_.reset();
  window_.reset();
  delivery_.reset();
  // Nobody can tell any more when a lost device has read its last byte of the slots.
  if (device_ != nullptr && device_->lost()) arena_.leak();
}

Status Loader::prepare(SourceRef source, const Options& options) {
  ThreadLock lock(mutex_);
  log_ = options.log;
  token_ = options.cancel;
  DL_ASSIGN_OR_RETURN(config_, make_config(options));
  DL_ASSIGN_OR_RETURN(device_, open_device({.name = config_.device,
                                            .cuda_library = config_.cuda_library,
                                            .pin_memory = config_.pin_memory,
                                            .pin_device = config_.pin_memory_device,
                                            .log = log_}));
  memory_ = HostMemory::create(options.allocator, config_.budget_bytes);
  pipeline_.source = std::move(source);
  DL_RETURN_IF_ERROR(prepare_order());
  // An epoch's batches at most: a small set does not take memory for the same samples over and over.
  config_.prefetch_depth = std::clamp<int64_t>(steps_.count(), 1, config_.prefetch_depth);
  config_.start_depth = std::min(config_.start_depth, config_.prefetch_depth);
  const SourceRef stored = pipeline_.source;
  DL_ASSIGN_OR_RETURN(pipeline_, make_pipeline(stored, config_, steps_, *device_));
  if (!config_.cache.empty()) DL_RETURN_IF_ERROR(put_cache_before(stored));
  delivery_ = Delivery::create(*device_, pipeline_, config_);
  if (pipeline_.wants_kernels && delivery_->to_device())
    log_(LogLevel::kWarning, concat("option device: transforms run on the CPU, not on ", config_.device, ": ",
                                    device_->info().why_not));
  // On the trainer's only CPU a worker whose work the trainer could do itself takes turns with it and gains nothing (rows
  // of 784 bytes: a third slower); one that decodes, waits for the host's reader or for a device still does.
  if (config_.workers_are_auto && available_cpus() == 1 && !delivery_->to_device() &&
      pipeline_.consumer_fills(1) && (config_.tune_is_auto || config_.tune == Tune::kOff)) {
    config_.num_workers = config_.start_workers = 0;
    config_.tune = Tune::kOff;
  }
  stages_ = describe_plan(pipeline_, *device_);
  position_ = {config_.start_epoch, config_.start_step};
  DL_RETURN_IF_ERROR(check_position(position_));
  DL_RETURN_IF_ERROR(prepare_memory());
  if (!config_.trace.empty()) DL_RETURN_IF_ERROR(trace_start({.path = config_.trace}));

  fingerprint_fields_ = describe_fields(stored->schema().fields);  // the same with a cache and without
  schema_views_ = std::make_unique<ViewSet>(pipeline_.outputs, /*with_batch=*/true);
  const bool fixed_rows = config_.last_batch != LastBatch::kKeep && config_.on_error != OnError::kRaise &&
                          config_.global_batch % config_.world_size == 0 && config_.bucket_edges.empty();
  schema_views_->set_device(device_->type(), device_->index(), 0);
  schema_views_->set_schema_rows(fixed_rows ? steps_.max_rows() : -1);
  DL_RETURN_IF_ERROR(start_workers());
  if (token_ != nullptr) token_->attach(this);
  return Status::ok();
}

// The pipeline that the whole transform made has shown that it is right; this one begins with what the cache keeps.
Status Loader::put_cache_before(const SourceRef& stored) {
  DL_RETURN_IF_ERROR(refuse_in_set(*stored, config_.cache, "option cache"));
  DL_ASSIGN_OR_RETURN(const KeptSamples kept, keep_samples(stored, config_, log_, *memory_));
  maker_ = kept.maker;
  cache_counts_ = kept.counts;
  config_.transform = kept.after;
  config_.transform_places = kept.places;
  DL_ASSIGN_OR_RETURN(pipeline_, make_pipeline(kept.source, config_, steps_, *device_, kept.heavy));
  pipeline_.state_bytes += kept.state_bytes;
  for (size_t f = 0; f < pipeline_.routes.size(); ++f) {
    std::string& text = pipeline_.routes[f].host_text;
    text =
        concat(kept.before[f], kept.before[f].empty() ? "" : ", ", "cache", text.empty() ? "" : ", ", text);
  }
  return Status::ok();
}

Status Loader::prepare_memory() {
  const Order& order = *orders_->of(config_.start_epoch).order;
  DL_ASSIGN_OR_RETURN(plan_, fit_plan(order));
  DL_ASSIGN_OR_RETURN(arena_,
                      memory_->allocate(plan_.arena_bytes, kHugePageBytes, MemoryKind::kArena, "the arena"));
  DL_RETURN_IF_ERROR(prefault_arena());
  // The host's allocator may hand out used memory; tensors start from zeros so that padding tells nothing.
  if (memory_->table().allocate != nullptr) std::fill_n(arena_.data(), arena_.bytes(), std::byte{0});

  std::vector<std::unique_ptr<Slot>> slots;
  DL_RETURN_IF_ERROR(prepare_slots(slots));
  const int64_t runs_per_batch =
      std::max<int64_t>((steps_.max_rows() + pipeline_.run_records - 1) / pipeline_.run_records, 1);
  if (plan_.table_count > 0) {
    tables_.plan(order, arena_.data() + plan_.tables_offset, plan_.table_count, plan_.table_stride,
                 steps_.count() * runs_per_batch);
  }
  filler_ = std::make_unique<Filler>(pipeline_, config_, steps_, order, tables_);
  const int64_t slot_bytes = std::max<int64_t>(pipeline_.layout.slot_bytes, 1);
  const BatchWindow::Setup setup{
      .depth = config_.start_depth,
      .epochs = config_.epochs,
      .runs_per_batch = runs_per_batch,
      .opened_at_once = std::clamp<int64_t>(kOpenedAtOnceBytes / slot_bytes, 1,
                                            std::max<int64_t>(config_.start_depth / 2, 1)),
      .open_ahead = config_.num_workers > 0,
      .share_batches = config_.num_workers == 0 || pipeline_.shares_batches()};
  window_ = std::make_unique<BatchWindow>(steps_, tables_, *delivery_, gate_, setup, std::move(slots),
                                          position_, orders_);
  DL_RETURN_IF_ERROR(prepare_threads());
  if (config_.num_workers > 0) put_in_force({config_.start_workers, config_.start_depth});
  return Status::ok();
}

// What the loader begins with: the free slots of the lowest numbers are taken first, and so are the workers. What tuning
// adds later, and what consumers hold beyond a few leases, takes memory when it is used.
Status Loader::prefault_arena() {
  const int64_t slots =
      std::min(plan_.slot_count, config_.start_depth + std::min(plan_.lease_slots, kFewLeaseSlots));
  const int64_t scratches = std::min(plan_.scratch_count, config_.start_workers + 1);
  DL_RETURN_IF_ERROR(prefault(arena_.data() + plan_.slots_offset, slots * plan_.slot_stride));
  return prefault(arena_.data() + plan_.tables_offset,
                  plan_.scratch_offset - plan_.tables_offset + scratches * plan_.scratch_stride);
}

Status Loader::prepare_slots(std::vector<std::unique_ptr<Slot>>& slots) {
  DL_ASSIGN_OR_RETURN(shares_,
                      memory_->allocate_address_space(
                          plan_.slot_count * plan_.shares_stride,
                          "rows without a fixed size (batch_size x max_bytes_per_sample in each slot)"));
  DL_RETURN_IF_ERROR(delivery_->prepare(slots_memory(), plan_.slot_stride));
  for (int64_t s = 0; s < plan_.slot_count; ++s) {
    SlotPlace place{.host = slots_memory().data() + s * plan_.slot_stride,
                    .shares = shares_ ? &shares_ : nullptr,
                    .shares_offset = s * plan_.shares_stride};
    delivery_->place(s, place);
    slots.push_back(std::make_unique<Slot>(pipeline_.layout, pipeline_.outputs, place));
    slots.back()->number = static_cast<int32_t>(s);
  }
  return Status::ok();
}

// The scratch memory of each thread that fills: the workers', and last the consumer's.
Status Loader::prepare_threads() {
  metrics_ = std::make_shared<Metrics>(weak_from_this(), name_passes(pipeline_), plan_.scratch_count,
                                       delivery_->to_device());
  delivery_->time_for(*metrics_);
  if (config_.stats == StatsLevel::kFull) metrics_->switch_on();
  pool_ = std::make_unique<WorkerPool>(*window_, *filler_, *delivery_, gate_, pipeline_, config_);
  if (maker_ != nullptr) DL_RETURN_IF_ERROR(maker_->add_states(plan_.state_count - 1, *memory_));
  maker_.reset();
  std::byte* const memory = arena_.data() + plan_.scratch_offset;
  for (int64_t w = 0; w < plan_.scratch_count; ++w) {
    PassStates states;
    if (w < plan_.state_count) {
      DL_ASSIGN_OR_RETURN(states, make_states(pipeline_.passes, *memory_));
    }
    auto scratch = std::make_unique<WorkerScratch>(pipeline_, memory + w * plan_.scratch_stride,
                                                   std::move(states), static_cast<int32_t>(w));
    scratch->call.seed = config_.seed;
    scratch->run.cancelled = &gate_.cancel_flag();
    scratch->watch = &metrics_->watch(w);
    if (w == config_.num_workers)
      DL_RETURN_IF_ERROR(delivery_->upload(token_.get(), slots_memory(), *scratch, *memory_));
    pool_->add(std::move(scratch));
  }
  return Status::ok();
}

std::span<std::byte> Loader::slots_memory() const {
  return {arena_.data() + plan_.slots_offset, static_cast<size_t>(plan_.slot_count * plan_.slot_stride)};
}

Status Loader::forked_error() {
  return error(Code::kForked, "this loader belongs to the parent process; create one here");
}

void Loader::stop() noexcept {
  if (pool_ == nullptr) return;  // create failed before there was anything to stop
  if (forked()) return pool_->forget();
  {
    ThreadLock lock(mutex_);
    end_loop(EpochLoop::State::kEnded);
  }
  gate_.cancel();
  window_->close();
  if (token_ != nullptr) token_->detach(this);
  const int64_t left_behind = pool_->stop();
  end_measuring();
  ThreadLock lock(mutex_);
  abandoned_threads_ += left_behind;
  if (left_behind > 0) {
    log_(LogLevel::kWarning, "workers were abandoned in a host read that did not return within a second");
    return;
  }
  // Batches still held need none of this: what the host lent goes back now.
  pipeline_.source.reset();
  orders_.reset();
  mix_order_ = nullptr;
  mix_source_.reset();
  window_->drop_orders();
  config_.indices = {};
  config_.weights = {};
  config_.lengths = {};
}

}  // namespace dataline
