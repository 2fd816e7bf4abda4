// Small C++ hands on the C ABI for tests: loaders that collect what they deliver. Everything goes through dataline.h, as a
// host's calls do.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/datasets.h"

namespace dataline::tests {

inline Loader make_loader(const Dataset& dataset, const Settings& settings = {}) {
  Error error;
  dl_loader* loader = nullptr;
  EXPECT_EQ(dl_loader_create(dataset.get(), make_options(settings).get(), &loader, &error), DL_OK)
      << error.message;
  return Loader(loader);
}

inline Epoch make_epoch(const Loader& loader) {
  Error error;
  dl_epoch* epoch = nullptr;
  EXPECT_EQ(dl_loader_epoch(loader.get(), &epoch, &error), DL_OK) << error.message;
  return Epoch(epoch);
}

// The status and message of a create that should fail.
inline std::pair<dl_status, std::string> create_error(const Dataset& dataset, const Settings& settings) {
  Error error;
  dl_loader* loader = nullptr;
  dl_status status = dl_loader_create(dataset.get(), make_options(settings).get(), &loader, &error);
  EXPECT_EQ(loader, nullptr);
  dl_loader_destroy(loader);
  return {status, error.message};
}

struct Delivered {
  dl_status status = DL_OK;
  std::string message;
  Batch batch;
  std::vector<uint64_t> values;  // of field 0, as u64
  std::vector<int64_t> indices;
  int64_t epoch = -1, step = -1, valid = -1;
};

// `next`: dl_loader_next or dl_epoch_next.
template <typename From>
Delivered take(dl_status (*next)(From*, int64_t, dl_batch**, dl_error*), From* from, int64_t timeout_ns) {
  Delivered out;
  Error error;
  dl_batch* batch = nullptr;
  out.status = next(from, timeout_ns, &batch, &error);
  out.batch.reset(batch);
  out.message = error.message;
  if (out.status != DL_OK) return out;
  dl_batch_info info = {};
  info.struct_size = sizeof info;
  EXPECT_EQ(dl_batch_get_info(batch, &info, &error), DL_OK);
  out.epoch = info.epoch, out.step = info.step, out.valid = info.valid;
  out.indices.assign(info.sample_indices, info.sample_indices + info.samples);
  int32_t count = 0;
  const dl_view* views = dl_batch_views(batch, &count);
  if (count > 0 && views[0].dtype == DL_DTYPE_U64 && views[0].kind == DL_KIND_DENSE) {
    const auto* values = static_cast<const uint64_t*>(views[0].data);
    out.values.assign(values, values + views[0].shape[0]);
  }
  return out;
}

inline Delivered next(const Loader& loader, int64_t timeout_ns = -1) {
  return take(dl_loader_next, loader.get(), timeout_ns);
}
inline Delivered next(const Epoch& epoch, int64_t timeout_ns = -1) {
  return take(dl_epoch_next, epoch.get(), timeout_ns);
}

// All samples up to the next END_OF_EPOCH, batch by batch.
inline std::vector<std::vector<uint64_t>> epoch_batches(const Loader& loader) {
  std::vector<std::vector<uint64_t>> batches;
  for (;;) {
    Delivered got = next(loader);
    if (got.status != DL_OK) {
      EXPECT_EQ(got.status, DL_END_OF_EPOCH) << got.message;
      return batches;
    }
    batches.push_back(std::move(got.values));
  }
}

inline std::vector<uint64_t> joined(const std::vector<std::vector<uint64_t>>& batches) {
  std::vector<uint64_t> all;
  for (const auto& batch : batches) all.insert(all.end(), batch.begin(), batch.end());
  return all;
}

inline std::vector<uint64_t> epoch_samples(const Loader& loader) { return joined(epoch_batches(loader)); }

inline std::string save_state(const Loader& loader) {
  char text[4096];
  size_t bytes = sizeof text;
  Error error;
  EXPECT_EQ(dl_loader_state_save(loader.get(), text, &bytes, &error), DL_OK) << error.message;
  EXPECT_LE(bytes, sizeof text);
  return text;
}

inline dl_tuned tuned_of(const Loader& loader) {
  dl_tuned tuned = {};
  tuned.struct_size = sizeof tuned;
  Error error;
  EXPECT_EQ(dl_loader_tuned(loader.get(), &tuned, &error), DL_OK) << error.message;
  return tuned;
}

inline dl_stats stats_of(const Loader& loader) {
  dl_stats stats = {};
  stats.struct_size = sizeof stats;
  Error error;
  EXPECT_EQ(dl_loader_stats(loader.get(), &stats, &error), DL_OK) << error.message;
  return stats;
}

}  // namespace dataline::tests
