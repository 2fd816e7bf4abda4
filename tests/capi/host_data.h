// Datasets over the test's own memory: arrays borrowed with a counted release, and ragged texts.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/conformance/files.h"

namespace dataline::tests {

// Counts how often what it stands for was given back.
struct Loan {
  std::atomic<int> released{0};
  static void release(void* context) { static_cast<Loan*>(context)->released.fetch_add(1); }
};

struct Made {
  dl_status status = DL_OK;
  Dataset dataset;
  Error error;
};

inline Made from_arrays(const std::vector<dl_array>& arrays, Loan* loan = nullptr) {
  Made out;
  dl_dataset* dataset = nullptr;
  out.status =
      dl_dataset_from_arrays(arrays.data(), static_cast<int32_t>(arrays.size()),
                             loan != nullptr ? &Loan::release : nullptr, loan, nullptr, &dataset, &out.error);
  out.dataset.reset(dataset);
  EXPECT_EQ(out.dataset != nullptr, out.status == DL_OK);
  return out;
}

// Sample i: lengths[i] items of `width` u16s that count up through all samples.
struct RaggedData {
  std::vector<int64_t> offsets = {0};
  std::vector<uint16_t> items;
  std::vector<int64_t> shape;
  RaggedData(const std::vector<int64_t>& lengths, int64_t width) {
    for (int64_t length : lengths) offsets.push_back(offsets.back() + length);
    items.resize(static_cast<size_t>(offsets.back() * width));
    std::iota(items.begin(), items.end(), uint16_t{0});
    shape = {offsets.back()};
    if (width > 1) shape.push_back(width);
  }
  dl_array array() const { return ragged_array_of("words", DL_DTYPE_U16, shape, items.data(), offsets); }
};

inline const dl_view& view_of(const dl_batch* batch, int32_t field = 0) {
  int32_t count = 0;
  const dl_view* views = dl_batch_views(batch, &count);
  EXPECT_LT(field, count);
  return *dl_view_at(views, field);
}

}  // namespace dataline::tests
