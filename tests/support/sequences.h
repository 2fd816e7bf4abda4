// Sequences of lengths of their own, and loaders of them in batches by length.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/support/job.h"

namespace dataline::tests {

constexpr int32_t kPadItem = -7;

// Sample i: `lengths[i]` items, of which the k-th is 1000 i + k.
class Sequences {
 public:
  explicit Sequences(std::vector<int64_t> lengths) : lengths_(std::move(lengths)), offsets_{0} {
    for (size_t i = 0; i < lengths_.size(); ++i) {
      for (int64_t k = 0; k < lengths_[i]; ++k)
        items_.push_back(static_cast<int32_t>(i) * 1000 + static_cast<int32_t>(k));
      offsets_.push_back(static_cast<int64_t>(items_.size()));
    }
  }
  Dataset dataset() const {
    const std::vector<int64_t> shape = {static_cast<int64_t>(items_.size())};
    return array_dataset(ragged_array_of("tokens", DL_DTYPE_I32, shape, items_.data(), offsets_));
  }
  const std::vector<int64_t>& lengths() const { return lengths_; }
  int64_t count() const { return static_cast<int64_t>(lengths_.size()); }

 private:
  std::vector<int64_t> lengths_, offsets_;
  std::vector<int32_t> items_;
};

// Lengths from 0 to 99, many of them short.
inline Sequences sequences(int64_t count) {
  std::vector<int64_t> lengths;
  for (int64_t i = 0; i < count; ++i)
    lengths.push_back((i * i * 31 + i * 7) % 100 * (i % 3 == 0 ? 1 : 0) + i % 10);
  for (int64_t& length : lengths) length = std::min<int64_t>(length, 99);
  return Sequences(std::move(lengths));
}

inline const Settings kBucketed = {
    {"bucket_edges", "10,30, 100"}, {"transform", "pad_to(bucket, value=-7)"}, {"shuffle", "full"}};

inline Loader with_lengths(const Dataset& dataset, const std::vector<int64_t>& lengths,
                           const Settings& settings) {
  const Options options = make_options(settings);
  Error error;
  EXPECT_EQ(dl_options_set_lengths(options.get(), lengths.data(), static_cast<int64_t>(lengths.size()),
                                   nullptr, nullptr, &error),
            DL_OK);
  dl_loader* loader = nullptr;
  EXPECT_EQ(dl_loader_create(dataset.get(), options.get(), &loader, &error), DL_OK) << error.message;
  return Loader(loader);
}

}  // namespace dataline::tests
