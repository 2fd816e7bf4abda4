// What every call that makes a dataset does.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "capi/guard.h"
#include "capi/handles.h"

namespace dataline::capi {

using MadeDataset = Result<std::unique_ptr<Dataset>>;

// Allocates the handle first, so that nothing can fail after the dataset has taken over what the host lent.
template <typename Make>
dl_status create_dataset(dl_dataset** out, dl_error* error, Make make) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(out);
    *out = nullptr;
    auto handle = std::make_unique<dl_dataset>();
    DL_ASSIGN_OR_RETURN(handle->core, make());
    *out = handle.release();
    return Status::ok();
  });
}

}  // namespace dataline::capi
