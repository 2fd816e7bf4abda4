// Loaders.
// SPDX-License-Identifier: Apache-2.0
#include "capi/guard.h"
#include "capi/handles.h"

using namespace dataline;
using namespace dataline::capi;

extern "C" {

dl_status dl_loader_create(dl_dataset* dataset, const dl_options* options, dl_loader** out, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(out);
    *out = nullptr;
    DL_REQUIRE(dataset);
    auto handle = std::make_unique<dl_loader>();
    DL_ASSIGN_OR_RETURN(handle->core,
                        Loader::create(dataset->core->source(), options_or_default(options, Options())));
    *out = handle.release();
    return Status::ok();
  });
}

dl_status dl_loader_next(dl_loader* loader, int64_t timeout_ns, dl_batch** out, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(out);
    *out = nullptr;
    DL_REQUIRE(loader);
    Batch* batch = nullptr;
    Status status = loader->core->next(timeout_ns, &batch);
    *out = to_handle(batch);
    return status;
  });
}

dl_status dl_loader_work(dl_loader* loader, int64_t budget_ns, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(loader);
    return loader->core->work(budget_ns);
  });
}

dl_status dl_loader_epoch(dl_loader* loader, dl_epoch** out, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(out);
    *out = nullptr;
    DL_REQUIRE(loader);
    auto handle = std::make_unique<dl_epoch>();
    DL_ASSIGN_OR_RETURN(handle->loop, loader->core->begin_loop());
    handle->loader = loader->core;
    *out = handle.release();
    return Status::ok();
  });
}

dl_status dl_loader_stream(dl_loader* loader, dl_epoch** out, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(out);
    *out = nullptr;
    DL_REQUIRE(loader);
    if (loader->core->forked()) return Loader::forked_error();
    auto handle = std::make_unique<dl_epoch>();
    handle->loop = std::make_shared<EpochLoop>();  // never the loader's current one, so nothing ends it
    handle->loader = loader->core;
    *out = handle.release();
    return Status::ok();
  });
}

dl_status dl_epoch_next(dl_epoch* epoch, int64_t timeout_ns, dl_batch** out, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(out);
    *out = nullptr;
    DL_REQUIRE(epoch);
    Batch* batch = nullptr;
    Status status = epoch->loader->next(timeout_ns, &batch, epoch->loop.get());
    *out = to_handle(batch);
    return status;
  });
}

void dl_epoch_interrupt(dl_epoch* epoch) {
  if (epoch != nullptr) epoch->loader->interrupt(epoch->loop.get());
}

void dl_epoch_release(dl_epoch* epoch) {
  // In a forked child locks and memory may be in any state: leak the handle.
  if (epoch != nullptr && !epoch->loader->forked()) delete epoch;
}

dl_status dl_loader_begin_epoch(dl_loader* loader, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(loader);
    return loader->core->begin_epoch();
  });
}

dl_status dl_loader_position(const dl_loader* loader, int64_t* epoch, int64_t* step, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(loader);
    DL_ASSIGN_OR_RETURN(Position at, loader->core->position());
    if (epoch != nullptr) *epoch = at.epoch;
    if (step != nullptr) *step = at.step;
    return Status::ok();
  });
}

dl_status dl_loader_seek(dl_loader* loader, int64_t epoch, int64_t step, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(loader);
    return loader->core->seek({epoch, step});
  });
}

int64_t dl_loader_steps(const dl_loader* loader) { return loader == nullptr ? 0 : loader->core->steps(); }

dl_status dl_loader_set_indices(dl_loader* loader, const int64_t* indices, int64_t count,
                                void (*release)(void*), void* context, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(loader);
    DL_REQUIRE(indices);
    if (count < 0) return dataline::error(Code::kInvalidArgument, "indices: count is ", count);
    return loader->core->set_indices(indices, count, {context, release});
  });
}

dl_status dl_loader_state_save(const dl_loader* loader, char* text, size_t* bytes, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(loader);
    DL_REQUIRE(bytes);
    DL_ASSIGN_OR_RETURN(std::string state, loader->core->save_state());
    return copy_text(state, "state", text, bytes);
  });
}

dl_status dl_loader_state_load(dl_loader* loader, const char* text, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(loader);
    DL_REQUIRE(text);
    return loader->core->load_state(text);
  });
}

void dl_loader_cancel(dl_loader* loader) {
  if (loader != nullptr) loader->core->cancel();
}

void dl_loader_interrupt(dl_loader* loader) {
  if (loader != nullptr) loader->core->interrupt();
}

dl_status dl_loader_wait_handle(dl_loader* loader, intptr_t* out, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(loader);
    DL_REQUIRE(out);
    DL_ASSIGN_OR_RETURN(*out, loader->core->wait_handle());
    return Status::ok();
  });
}

const dl_view* dl_loader_fields(const dl_loader* loader, int32_t* count) {
  if (count != nullptr) *count = 0;
  return loader == nullptr ? nullptr : to_views(loader->core->fields(), count);
}

dl_status dl_loader_pixel_scale(const dl_loader* loader, int32_t field, int64_t channel, double* scale,
                                double* offset, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(loader);
    DL_REQUIRE(scale);
    DL_REQUIRE(offset);
    DL_ASSIGN_OR_RETURN(const PixelScale from, loader->core->pixel_scale(field, channel));
    *scale = from.a;
    *offset = from.b;
    return Status::ok();
  });
}

int32_t dl_loader_plan_count(const dl_loader* loader) {
  return loader == nullptr ? 0 : static_cast<int32_t>(loader->core->stages().size());
}

dl_status dl_loader_plan_at(const dl_loader* loader, int32_t index, dl_plan_stage* out, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(loader);
    DL_REQUIRE(out);
    const std::vector<PlanStage>& stages = loader->core->stages();
    DL_RETURN_IF_ERROR(check_index("plan stage", index, static_cast<int64_t>(stages.size())));
    const PlanStage& from = stages[static_cast<size_t>(index)];
    dl_plan_stage stage = {};
    stage.device_type = from.device_type;
    stage.field = from.field.c_str();
    stage.text = from.text.c_str();
    stage.bytes_in = from.bytes_in;
    stage.bytes_out = from.bytes_out;
    return copy_struct(stage, out);
  });
}

dl_status dl_loader_stats(const dl_loader* loader, dl_stats* out, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(loader);
    DL_REQUIRE(out);
    DL_ASSIGN_OR_RETURN(LoaderStats from, loader->core->stats());
    dl_stats stats = {};
    stats.num_workers = from.num_workers;
    stats.batches = from.ledger.batches;
    stats.samples = from.ledger.samples;
    stats.bytes = from.ledger.bytes;
    stats.skipped = from.ledger.skipped;
    stats.dropped = from.ledger.dropped;
    stats.padded = from.ledger.padded;
    stats.replaced = from.ledger.replaced;
    stats.bad = from.bad;
    stats.wait_ns = from.ledger.wait_ns;
    stats.waits = from.ledger.waits;
    stats.worker_cpu_ns = from.worker_cpu_ns;
    stats.arena_bytes = from.arena_bytes;
    stats.held_bytes = from.held_bytes;
    stats.budget_bytes = from.budget_bytes;
    stats.leases_held = from.leases_held;
    stats.lease_copies = from.ledger.lease_copies;
    stats.ready_batches = from.ready_batches;
    stats.threads_abandoned = from.threads_abandoned;
    stats.pinned_bytes = from.pinned_bytes;
    stats.device_bytes = from.device_bytes;
    stats.copied_bytes = from.copied_bytes;
    stats.warned = from.ledger.warned;
    stats.cache_read = from.cache_read;
    stats.cache_made = from.cache_made;
    return copy_struct(stats, out);
  });
}

int64_t dl_loader_bad_sample_count(const dl_loader* loader) {
  return loader == nullptr ? 0 : loader->core->bad_sample_count();
}

dl_status dl_loader_bad_sample_at(const dl_loader* loader, int64_t index, dl_bad_sample* out,
                                  dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(loader);
    DL_REQUIRE(out);
    DL_ASSIGN_OR_RETURN(BadSample from, loader->core->bad_sample(index));
    dl_bad_sample bad = {};
    bad.code = static_cast<dl_status>(from.code);
    bad.source = from.source;
    bad.index = from.index;
    bad.epoch = from.epoch;
    bad.step = from.step;
    bad.slot = from.slot;
    bad.replacement = from.replacement;
    copy_message(from.message, bad.message, sizeof bad.message);
    return copy_struct(bad, out);
  });
}

void dl_loader_destroy(dl_loader* loader) {
  if (loader == nullptr) return;
  // In a forked child locks and memory may be in any state: leak the handle.
  const bool forked = loader->core->forked();
  loader->core->stop();
  if (!forked) delete loader;
}

}  // extern "C"
