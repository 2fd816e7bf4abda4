// Datasets that are opened on a thread of the library.
// SPDX-License-Identifier: Apache-2.0
#include "capi/guard.h"
#include "capi/handles.h"

using namespace dataline;
using namespace dataline::capi;

extern "C" {

dl_status dl_dataset_open_async(const char* uri, const dl_options* options, dl_opening** out,
                                dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(out);
    *out = nullptr;
    DL_REQUIRE(uri);
    auto handle = std::make_unique<dl_opening>();
    DL_ASSIGN_OR_RETURN(handle->core, DatasetOpening::start(uri, options_or_default(options, Options())));
    *out = handle.release();
    return Status::ok();
  });
}

// The handle is allocated first: a dataset that was handed out is never lost.
dl_status dl_opening_wait(dl_opening* opening, int64_t timeout_ns, dl_dataset** out, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(out);
    *out = nullptr;
    DL_REQUIRE(opening);
    auto handle = std::make_unique<dl_dataset>();
    Status status = opening->core->wait(timeout_ns, &handle->core);
    if (status.is_ok()) *out = handle.release();
    return status;
  });
}

dl_status dl_opening_wait_handle(dl_opening* opening, intptr_t* out, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(opening);
    DL_REQUIRE(out);
    DL_ASSIGN_OR_RETURN(*out, opening->core->wait_handle());
    return Status::ok();
  });
}

dl_status dl_opening_progress(const dl_opening* opening, dl_progress* out, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(opening);
    DL_REQUIRE(out);
    dl_progress progress = {};
    progress.done = opening->core->done() ? 1 : 0;  // first: what is done changes no more
    const OpenProgress::Numbers from = opening->core->progress();
    progress.files = from.files;
    progress.total_files = from.total_files;
    progress.bytes = from.bytes;
    progress.total_bytes = from.total_bytes;
    progress.entries = from.entries;
    return copy_struct(progress, out);
  });
}

void dl_opening_cancel(dl_opening* opening) {
  if (opening != nullptr) opening->core->cancel();
}

void dl_opening_destroy(dl_opening* opening) { delete opening; }

}  // extern "C"
