// The opaque handles.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "capi/dataline.h"
#include "core/base/cancel.h"
#include "core/loader/dataset.h"
#include "core/loader/epoch_loop.h"
#include "core/loader/loader.h"
#include "core/loader/opening.h"
#include "core/loader/options.h"

struct dl_options {
  dataline::Options core;
  mutable std::string text;  // backs the result of dl_options_get
};
struct dl_dataset {
  std::unique_ptr<dataline::Dataset> core;
};
struct dl_loader {
  std::shared_ptr<dataline::Loader> core;
};
struct dl_epoch {
  std::shared_ptr<dataline::Loader> loader;
  std::shared_ptr<dataline::EpochLoop> loop;
};
struct dl_metrics {
  std::shared_ptr<dataline::Metrics> core;
};
struct dl_opening {
  std::unique_ptr<dataline::DatasetOpening> core;
};
struct dl_cancel_token {
  dataline::CancelTokenRef core;
};

namespace dataline::capi {

// A dl_batch is a Batch, so that next() allocates nothing.
inline dl_batch* to_handle(Batch* batch) { return reinterpret_cast<dl_batch*>(batch); }
inline Batch* to_core(dl_batch* batch) { return reinterpret_cast<Batch*>(batch); }
inline const Batch* to_core(const dl_batch* batch) { return reinterpret_cast<const Batch*>(batch); }

inline const dl_view* to_views(const std::vector<BatchView>& views, int32_t* count) {
  if (count != nullptr) *count = static_cast<int32_t>(views.size());
  return reinterpret_cast<const dl_view*>(views.data());
}

inline const Options& options_or_default(const dl_options* options, const Options& fallback) {
  return options != nullptr ? options->core : fallback;
}

}  // namespace dataline::capi
