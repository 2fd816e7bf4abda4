// Workers and depth that move while a job runs.
// SPDX-License-Identifier: Apache-2.0
#include "capi/guard.h"
#include "capi/handles.h"

using namespace dataline;
using namespace dataline::capi;

extern "C" {

dl_status dl_loader_set_workers(dl_loader* loader, int64_t count, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(loader);
    return loader->core->set_workers(count);
  });
}

dl_status dl_loader_tuned(const dl_loader* loader, dl_tuned* out, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(loader);
    DL_REQUIRE(out);
    DL_ASSIGN_OR_RETURN(const Tuned from, loader->core->tuned());
    dl_tuned tuned = {};
    tuned.mode = static_cast<int32_t>(from.mode);
    tuned.num_workers = from.force.workers;
    tuned.prefetch_depth = from.force.depth;
    tuned.most_workers = from.most.workers;
    tuned.most_depth = from.most.depth;
    tuned.wanted_workers = from.chosen.workers;
    tuned.wanted_depth = from.chosen.depth;
    tuned.changes = from.changes;
    tuned.frozen = from.frozen ? 1 : 0;
    tuned.batches_per_s = from.batches_per_s;
    tuned.wait_share = from.wait_share;
    copy_message(from.text, tuned.text, sizeof tuned.text);
    return copy_struct(tuned, out);
  });
}

}  // extern "C"
