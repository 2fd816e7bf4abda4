// Small C++ hands on the C ABI for tests: options from text, datasets that tell which sample a row is, and loaders
// that collect what they deliver. Everything goes through dataline.h, as a host's calls do.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "capi/dataline.h"

namespace dataline::testing {

using Settings = std::vector<std::pair<std::string, std::string>>;

struct Error : dl_error {
  Error() { dl_error_init(this, sizeof(dl_error)); }
};

template <typename Handle, void (*destroy)(Handle*)>
struct Destroy {
  void operator()(Handle* handle) const { destroy(handle); }
};
using Options = std::unique_ptr<dl_options, Destroy<dl_options, dl_options_destroy>>;
using Dataset = std::unique_ptr<dl_dataset, Destroy<dl_dataset, dl_dataset_destroy>>;
using Loader = std::unique_ptr<dl_loader, Destroy<dl_loader, dl_loader_destroy>>;
using Batch = std::unique_ptr<dl_batch, Destroy<dl_batch, dl_batch_release>>;
using CancelToken = std::unique_ptr<dl_cancel_token, Destroy<dl_cancel_token, dl_cancel_token_destroy>>;

inline Options make_options(const Settings& settings = {}) {
  Error error;
  dl_options* options = nullptr;
  EXPECT_EQ(dl_options_create(&options, &error), DL_OK) << error.message;
  for (const auto& [key, value] : settings) {
    EXPECT_EQ(dl_options_set(options, key.c_str(), value.c_str(), &error), DL_OK) << error.message;
  }
  return Options(options);
}

// n samples of one u64 field `data`: sample i is i. Copied, so that the dataset stands alone.
inline Dataset counting_dataset(int64_t n) {
  std::vector<uint64_t> values(static_cast<size_t>(n));
  std::iota(values.begin(), values.end(), 0);
  const int64_t shape[] = {n};
  dl_array array = {};
  array.struct_size = sizeof array;
  array.name = "data";
  array.dtype = DL_DTYPE_U64;
  array.rank = 1;
  array.shape = shape;
  array.data = values.data();
  Error error;
  dl_dataset* dataset = nullptr;
  EXPECT_EQ(dl_dataset_from_arrays(&array, 1, nullptr, nullptr, nullptr, &dataset, &error), DL_OK)
      << error.message;
  return Dataset(dataset);
}

// A reader in the test's hands: sample i is the u64 i, unless `fails(i)`; every call first runs `before`. Must
// outlive its dataset.
struct TestReader {
  std::function<bool(int64_t index)> fails = [](int64_t) { return false; };
  std::function<void(const int64_t* indices, int64_t count)> before = [](const int64_t*, int64_t) {};
  std::atomic<int64_t> records_read{0};
  std::atomic<int64_t> destroyed{0};

  Dataset dataset(int64_t n) {
    dl_view field = {};
    field.struct_size = sizeof field;
    field.name = "data";
    field.dtype = DL_DTYPE_U64;
    dl_reader reader = {};
    reader.struct_size = sizeof reader;
    reader.field_count = 1;
    reader.fields = &field;
    reader.record_count = n;
    reader.context = this;
    reader.read = &TestReader::read;
    reader.destroy = [](void* context) { static_cast<TestReader*>(context)->destroyed.fetch_add(1); };
    Error error;
    dl_dataset* dataset = nullptr;
    EXPECT_EQ(dl_dataset_from_reader(&reader, nullptr, &dataset, &error), DL_OK) << error.message;
    return Dataset(dataset);
  }

 private:
  static int32_t read(void* context, dl_reader_request* request) {
    auto* self = static_cast<TestReader*>(context);
    self->before(request->indices, request->record_count);
    self->records_read.fetch_add(request->record_count);
    for (int32_t i = 0; i < request->record_count; ++i) {
      dl_reader_cell& cell = *dl_reader_cell_at(request, i, 0);
      *static_cast<uint64_t*>(cell.data) = static_cast<uint64_t>(request->indices[i]);
      if (!self->fails(request->indices[i])) continue;
      cell.status = 7;
      snprintf(request->messages + i * request->message_bytes, static_cast<size_t>(request->message_bytes),
               "the test says no");
    }
    return 0;
  }
};

inline Loader make_loader(const Dataset& dataset, const Settings& settings = {}) {
  Error error;
  dl_loader* loader = nullptr;
  EXPECT_EQ(dl_loader_create(dataset.get(), make_options(settings).get(), &loader, &error), DL_OK)
      << error.message;
  return Loader(loader);
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

inline Delivered next(const Loader& loader, int64_t timeout_ns = -1) {
  Delivered out;
  Error error;
  dl_batch* batch = nullptr;
  out.status = dl_loader_next(loader.get(), timeout_ns, &batch, &error);
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

inline dl_stats stats_of(const Loader& loader) {
  dl_stats stats = {};
  stats.struct_size = sizeof stats;
  Error error;
  EXPECT_EQ(dl_loader_stats(loader.get(), &stats, &error), DL_OK) << error.message;
  return stats;
}

}  // namespace dataline::testing
