// Batches: views, identities, leases.
// SPDX-License-Identifier: Apache-2.0
#include "capi/guard.h"
#include "capi/handles.h"

using namespace dataline;
using namespace dataline::capi;

// A BatchView is returned as a dl_view.
static_assert(sizeof(BatchView) == sizeof(dl_view));
static_assert(offsetof(BatchView, flags) == offsetof(dl_view, flags));
static_assert(offsetof(BatchView, dtype) == offsetof(dl_view, dtype));
static_assert(offsetof(BatchView, shape) == offsetof(dl_view, shape));
static_assert(offsetof(BatchView, device_type) == offsetof(dl_view, device_type));
static_assert(offsetof(BatchView, data) == offsetof(dl_view, data));
static_assert(offsetof(BatchView, offsets) == offsetof(dl_view, offsets));
static_assert(offsetof(BatchView, bytes) == offsetof(dl_view, bytes));
static_assert(offsetof(BatchView, reserved) == offsetof(dl_view, reserved));
static_assert(kViewReadOnly == DL_VIEW_READ_ONLY && kViewOverlapping == DL_VIEW_OVERLAPPING &&
              kViewPinned == DL_VIEW_PINNED);

extern "C" {

const dl_view* dl_batch_views(const dl_batch* batch, int32_t* count) {
  if (count != nullptr) *count = 0;
  return batch == nullptr ? nullptr : to_views(to_core(batch)->views.views(), count);
}

dl_status dl_batch_get_info(const dl_batch* batch, dl_batch_info* out, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(batch);
    DL_REQUIRE(out);
    const Batch& from = *to_core(batch);
    dl_batch_info info = {};
    info.epoch = from.epoch;
    info.step = from.step;
    info.samples = from.samples;
    info.valid = from.valid;
    info.sample_sources = from.sample_sources;
    info.sample_indices = from.sample_indices;
    return copy_struct(info, out);
  });
}

void dl_batch_retain(dl_batch* batch) {
  if (batch != nullptr) to_core(batch)->retain();
}

void dl_batch_release(dl_batch* batch) {
  if (batch != nullptr) to_core(batch)->release();
}

dl_status dl_batch_wait(dl_batch* batch, void* stream, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(batch);
    return to_core(batch)->wait(stream);
  });
}

dl_status dl_batch_release_on(dl_batch* batch, void* stream, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(batch);
    return to_core(batch)->release_on(stream);
  });
}

}  // extern "C"
