// Making and ending a loader.
// SPDX-License-Identifier: Apache-2.0
#include "core/loader/loader.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/loader/cache/kept_samples.h"
#include "core/loader/cache/sample_maker.h"
#include "core/loader/config.h"
#include "core/loader/option_table.h"
#include "core/loader/options.h"
#include "core/loader/pass_names.h"
#include "core/memory/machine_limits.h"
#include "core/source/set_directories.h"

namespace dataline {
namespace {

// A thread opens small batches together up to this size.
constexpr int64_t kOpenedAtOnceBytes = 64 << 10;

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

Loader::Loader() = default;

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
  DL_ASSIGN_OR_RETURN(LoaderConfig config, make_config(options));
  config_ = std::make_unique<LoaderConfig>(std::move(config));
  DL_ASSIGN_OR_RETURN(device_, open_device({.name = config_->delivery.device,
                                            .cuda_library = config_->delivery.cuda_library,
                                            .pin_memory = config_->delivery.pin_memory,
                                            .pin_device = config_->delivery.pin_memory_device,
                                            .log = log_}));
  memory_ = HostMemory::create(options.allocator, config_->memory.budget_bytes);
  pipeline_.source = std::move(source);
  DL_ASSIGN_OR_RETURN(OrderBook::Facts facts,
                      book_.prepare(pipeline_.source, *config_, {memory_, token_.get(), log_}));
  steps_ = std::move(facts.steps);
  // An epoch's batches at most: a small set does not take memory for the same samples over and over.
  config_->window.prefetch_depth = std::clamp<int64_t>(steps_.count(), 1, config_->window.prefetch_depth);
  config_->window.start_depth = std::min(config_->window.start_depth, config_->window.prefetch_depth);
  const SourceRef stored = pipeline_.source;
  DL_ASSIGN_OR_RETURN(pipeline_, make_pipeline(stored, pipeline_config(), steps_, *device_));
  std::shared_ptr<SampleMaker> maker;
  if (!config_->cache.directory.empty()) {
    DL_ASSIGN_OR_RETURN(maker, put_cache_before(stored));
  }
  delivery_ = Delivery::create(*device_, pipeline_, config_->delivery, config_->workers);
  if (pipeline_.wants_kernels && delivery_->to_device())
    log_(LogLevel::kWarning, concat("option device: transforms run on the CPU, not on ",
                                    config_->delivery.device, ": ", device_->info().why_not));
  // On the trainer's only CPU a worker whose work the trainer could do itself takes turns with it and gains nothing (rows
  // of 784 bytes: a third slower); one that decodes, waits for the host's reader or for a device still does.
  if (config_->workers.workers_are_auto && available_cpus() == 1 && !delivery_->to_device() &&
      pipeline_.consumer_fills(1) && (config_->workers.tune_is_auto || config_->workers.tune == Tune::kOff)) {
    config_->workers.num_workers = config_->workers.start_workers = 0;
    config_->workers.tune = Tune::kOff;
  }
  stages_ = describe_plan(pipeline_, *device_);
  position_ = {config_->job.start_epoch, config_->job.start_step};
  DL_RETURN_IF_ERROR(check_position(position_));
  DL_RETURN_IF_ERROR(prepare_memory(maker.get()));
  if (!config_->metrics.trace.empty()) DL_RETURN_IF_ERROR(trace_start({.path = config_->metrics.trace}));

  state_ = std::make_unique<JobState>(*config_, steps_, stored->schema().fields, std::move(facts.texts));
  schema_views_ = std::make_unique<ViewSet>(pipeline_.outputs, /*with_batch=*/true);
  const bool fixed_rows = steps_.rows_are_fixed() && config_->bad_samples.on_error != OnError::kRaise &&
                          config_->buckets.edges.empty();
  schema_views_->set_device(device_->type(), device_->index(), 0);
  schema_views_->set_schema_rows(fixed_rows ? steps_.max_rows() : -1);
  DL_RETURN_IF_ERROR(start_workers());
  if (token_ != nullptr) token_->attach(this);
  return Status::ok();
}

PipelineConfig Loader::pipeline_config() const {
  return {.sample = config_->sample,
          .buckets = config_->buckets,
          .workers = config_->workers,
          .window = config_->window,
          .delivery = config_->delivery,
          .batches_of_one_part = config_->order.homogeneous == Homogeneous::kBatch};
}

// The pipeline that the whole transform made has shown that it is right; this one begins with what the cache keeps.
Result<std::shared_ptr<SampleMaker>> Loader::put_cache_before(const SourceRef& stored) {
  DL_RETURN_IF_ERROR(refuse_in_set(*stored, config_->cache.directory, "option cache"));
  DL_ASSIGN_OR_RETURN(
      const KeptSamples kept,
      keep_samples(stored,
                   {.directory = config_->cache.directory,
                    .max_bytes = config_->cache.bytes,
                    .jpeg_quality = static_cast<int>(config_->cache.quality),
                    .threads = config_->workers.num_workers + 1,
                    .transform = config_->sample.transform,
                    .settings = transform_settings(*stored, config_->sample, config_->buckets, 0)},
                   log_, *memory_));
  cache_counts_ = kept.counts;
  config_->sample.transform = kept.after;
  config_->sample.transform_places = kept.places;
  DL_ASSIGN_OR_RETURN(pipeline_, make_pipeline(kept.source, pipeline_config(), steps_, *device_, kept.heavy));
  pipeline_.state_bytes += kept.state_bytes;
  for (size_t f = 0; f < pipeline_.routes.size(); ++f) {
    std::string& text = pipeline_.routes[f].host_text;
    text =
        concat(kept.before[f], kept.before[f].empty() ? "" : ", ", "cache", text.empty() ? "" : ", ", text);
  }
  return kept.maker;
}

// `maker` processes samples for the cache; null if there is no cache.
Status Loader::prepare_memory(SampleMaker* maker) {
  const Order& order = *book_.of(config_->job.start_epoch).order;
  DL_ASSIGN_OR_RETURN(const MemoryPlan plan,
                      fit_plan(*config_, pipeline_, order, steps_, delivery_->pins_slots()));
  // What the loader begins with: the free slots of the lowest numbers are taken first, and so are the workers. What tuning
  // adds later, and what consumers hold beyond a few leases, takes memory when it is used.
  DL_RETURN_IF_ERROR(arena_.allocate(plan,
                                     config_->window.start_depth + std::min(plan.lease_slots, kFewLeaseSlots),
                                     config_->workers.start_workers + 1, *memory_));

  std::vector<std::unique_ptr<Slot>> slots;
  DL_RETURN_IF_ERROR(prepare_slots(slots));
  const int64_t runs_per_batch =
      std::max<int64_t>((steps_.max_rows() + pipeline_.run_records - 1) / pipeline_.run_records, 1);
  if (plan.table_count > 0) {
    tables_.plan(order, arena_.tables(), plan.table_count, plan.table_stride,
                 steps_.count() * runs_per_batch);
  }
  filler_ = std::make_unique<Filler>(
      pipeline_,
      Filler::Setup{.seed = config_->order.seed,
                    .replaces_bad_samples = config_->bad_samples.on_error != OnError::kRaise,
                    .budget_bytes = config_->memory.budget_bytes},
      steps_, order, tables_);
  const int64_t slot_bytes = std::max<int64_t>(pipeline_.layout.slot_bytes, 1);
  const BatchWindow::Setup setup{
      .depth = config_->window.start_depth,
      .epochs = config_->job.epochs,
      .runs_per_batch = runs_per_batch,
      .opened_at_once = std::clamp<int64_t>(kOpenedAtOnceBytes / slot_bytes, 1,
                                            std::max<int64_t>(config_->window.start_depth / 2, 1)),
      .open_ahead = config_->workers.num_workers > 0,
      .share_batches = config_->workers.num_workers == 0 || pipeline_.shares_batches()};
  window_ = std::make_unique<BatchWindow>(steps_, tables_, *delivery_, gate_, setup, std::move(slots),
                                          position_, book_.versions());
  DL_RETURN_IF_ERROR(prepare_threads(maker));
  tuning_ = std::make_unique<TuneControl>(*config_, *window_, *pool_);
  return Status::ok();
}

Status Loader::prepare_slots(std::vector<std::unique_ptr<Slot>>& slots) {
  DL_RETURN_IF_ERROR(delivery_->prepare(arena_.slots(), arena_.plan().slot_stride));
  for (int64_t s = 0; s < arena_.plan().slot_count; ++s) {
    SlotPlace place = arena_.slot(s);
    delivery_->place(s, place);
    slots.push_back(std::make_unique<Slot>(pipeline_.layout, pipeline_.outputs, place));
    slots.back()->number = static_cast<int32_t>(s);
  }
  return Status::ok();
}

// The scratch memory of each thread that fills: the workers', and last the consumer's.
Status Loader::prepare_threads(SampleMaker* maker) {
  const MemoryPlan& plan = arena_.plan();
  metrics_ = std::make_shared<Metrics>(weak_from_this(), name_passes(pipeline_), plan.scratch_count,
                                       delivery_->to_device());
  delivery_->time_for(*metrics_);
  if (config_->metrics.stats == StatsLevel::kFull) metrics_->switch_on();
  pool_ = std::make_unique<WorkerPool>(*window_, *filler_, *delivery_, gate_, pipeline_, config_->workers);
  if (maker != nullptr) DL_RETURN_IF_ERROR(maker->add_states(plan.state_count - 1, *memory_));
  for (int64_t w = 0; w < plan.scratch_count; ++w) {
    PassStates states;
    if (w < plan.state_count) {
      DL_ASSIGN_OR_RETURN(states, make_states(pipeline_.passes, *memory_));
    }
    auto scratch = std::make_unique<WorkerScratch>(pipeline_, arena_.scratch(w), std::move(states),
                                                   static_cast<int32_t>(w));
    scratch->call.seed = config_->order.seed;
    scratch->run.cancelled = &gate_.cancel_flag();
    scratch->watch = &metrics_->watch(w);
    if (w == config_->workers.num_workers)
      DL_RETURN_IF_ERROR(delivery_->upload(token_.get(), arena_.slots(), *scratch, *memory_));
    pool_->add(std::move(scratch));
  }
  return Status::ok();
}

// Where the system refuses a thread, num_workers=auto works with those that it gave.
Status Loader::start_workers() {
  DL_RETURN_IF_ERROR(pool_->start(shared_from_this(),
                                  config_->workers.workers_are_auto ? 1 : config_->workers.start_workers));
  if (pool_->count() < config_->workers.num_workers)
    log_(LogLevel::kInfo,
         concat("num_workers=auto: ", pool_->count(), " workers at most: ", pool_->refused().text()));
  tuning_->start();
  return Status::ok();
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
  book_.clear();
  window_->drop_orders();
  config_->order.indices = {};
  config_->order.weights = {};
  config_->buckets.lengths = {};
}

}  // namespace dataline
