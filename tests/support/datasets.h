// Datasets of the test's own: of arrays, of readers, and some that tell which sample a row is.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <numeric>
#include <vector>

#include "tests/support/handles.h"

namespace dataline::tests {

// `shape` and `data` are borrowed, here and below.
inline dl_array array_of(const char* name, int32_t dtype, const std::vector<int64_t>& shape,
                         const void* data) {
  dl_array array = {};
  array.struct_size = sizeof array;
  array.name = name;
  array.dtype = dtype;
  array.rank = static_cast<int32_t>(shape.size());
  array.shape = shape.data();
  array.data = data;
  return array;
}

// Sample i: items offsets[i] to offsets[i + 1].
inline dl_array ragged_array_of(const char* name, int32_t dtype, const std::vector<int64_t>& shape,
                                const void* data, const std::vector<int64_t>& offsets) {
  dl_array array = array_of(name, dtype, shape, data);
  array.kind = DL_KIND_RAGGED;
  array.offsets = offsets.data();
  array.sample_count = static_cast<int64_t>(offsets.size()) - 1;
  return array;
}

// Copied, so that the dataset stands alone.
inline Dataset array_dataset(const dl_array& array) {
  Error error;
  dl_dataset* dataset = nullptr;
  EXPECT_EQ(dl_dataset_from_arrays(&array, 1, nullptr, nullptr, nullptr, &dataset, &error), DL_OK)
      << error.message;
  return Dataset(dataset);
}

// n samples of one u64 field `data`: sample i is i.
inline Dataset counting_dataset(int64_t n) {
  std::vector<uint64_t> values(static_cast<size_t>(n));
  std::iota(values.begin(), values.end(), 0);
  return array_dataset(array_of("data", DL_DTYPE_U64, {n}, values.data()));
}

// A reader's field; `shape` is that of a sample, ragged if its first dim is -1.
inline dl_view field_of(const char* name, int32_t dtype, const std::vector<int64_t>& shape = {}) {
  dl_view field = {};
  field.struct_size = sizeof field;
  field.name = name;
  field.kind = !shape.empty() && shape[0] < 0 ? DL_KIND_RAGGED : DL_KIND_DENSE;
  field.dtype = dtype;
  field.rank = static_cast<int32_t>(shape.size());
  field.shape = shape.data();
  return field;
}

inline Dataset reader_dataset(const std::vector<dl_view>& fields, int64_t n,
                              int32_t (*read)(void* context, dl_reader_request* request),
                              void* context = nullptr, void (*destroy)(void* context) = nullptr,
                              int32_t prompt = 0, const char* fingerprint = nullptr) {
  dl_reader reader = {};
  reader.struct_size = sizeof reader;
  reader.field_count = static_cast<int32_t>(fields.size());
  reader.fields = fields.data();
  reader.record_count = n;
  reader.context = context;
  reader.read = read;
  reader.destroy = destroy;
  reader.prompt = prompt;
  reader.fingerprint = fingerprint;
  Error error;
  dl_dataset* dataset = nullptr;
  EXPECT_EQ(dl_dataset_from_reader(&reader, nullptr, &dataset, &error), DL_OK) << error.message;
  return Dataset(dataset);
}

// A reader in the test's hands: sample i is the u64 i, unless `fails(i)`; every call first runs `before`. Must
// outlive its dataset.
struct TestReader {
  std::function<bool(int64_t index)> fails = [](int64_t) { return false; };
  std::function<void(const int64_t* indices, int64_t count)> before = [](const int64_t*, int64_t) {};
  std::atomic<int64_t> records_read{0};
  std::atomic<int64_t> destroyed{0};
  int32_t prompt = 0;
  int32_t code = 7;  // of a record that fails
  const char* fingerprint = nullptr;

  Dataset dataset(int64_t n) {
    return reader_dataset(
        {field_of("data", DL_DTYPE_U64)}, n, &TestReader::read, this,
        [](void* context) { static_cast<TestReader*>(context)->destroyed.fetch_add(1); }, prompt,
        fingerprint);
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
      cell.status = self->code;
      snprintf(request->messages + i * request->message_bytes, static_cast<size_t>(request->message_bytes),
               "the test says no");
    }
    return 0;
  }
};

}  // namespace dataline::tests
