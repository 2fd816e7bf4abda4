// The fields of a dataset, a loader or a batch, as a range.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "capi/dataline.h"

namespace dataline::cli {

// Steps as dl_view_at does: the library that is loaded may have longer views than this program was built with.
class Views {
 public:
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = dl_view;
    using difference_type = std::ptrdiff_t;
    using pointer = const dl_view*;
    using reference = const dl_view&;
    Iterator() = default;
    Iterator(const dl_view* first, int32_t index) : first_(first), index_(index) {}
    reference operator*() const { return *dl_view_at(first_, index_); }
    pointer operator->() const { return dl_view_at(first_, index_); }
    Iterator& operator++() { return ++index_, *this; }
    Iterator operator++(int) { return {first_, index_++}; }
    bool operator==(const Iterator&) const = default;

   private:
    const dl_view* first_ = nullptr;
    int32_t index_ = 0;
  };

  explicit Views(const dl_dataset* dataset) : first_(dl_dataset_fields(dataset, &count_)) {}
  explicit Views(const dl_loader* loader) : first_(dl_loader_fields(loader, &count_)) {}
  explicit Views(const dl_batch* batch) : first_(dl_batch_views(batch, &count_)) {}

  int32_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  const dl_view& operator[](int32_t index) const { return *dl_view_at(first_, index); }
  Iterator begin() const { return {first_, 0}; }
  Iterator end() const { return {first_, count_}; }

 private:
  int32_t count_ = 0;
  const dl_view* first_;
};

}  // namespace dataline::cli
