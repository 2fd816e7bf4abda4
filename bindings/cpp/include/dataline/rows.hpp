// Rows: the samples of one field, one span each.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline/span.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace dataline {
inline namespace DATALINE_CPP_ABI {

// Returned by View::rows; borrows like the view. Counts are in elements of T; [i] is not checked.
template <typename T>
class Rows {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Span<const T>;
    using difference_type = std::ptrdiff_t;
    using pointer = const Span<const T>*;
    using reference = Span<const T>;
    Iterator() noexcept = default;
    Iterator(const Rows* rows, int64_t at) noexcept : rows_(rows), at_(at) {}
    Span<const T> operator*() const noexcept { return (*rows_)[at_]; }
    Iterator& operator++() noexcept { return ++at_, *this; }
    Iterator operator++(int) noexcept {
      Iterator before = *this;
      ++at_;
      return before;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) noexcept { return a.at_ == b.at_; }
    friend bool operator!=(const Iterator& a, const Iterator& b) noexcept { return a.at_ != b.at_; }

   private:
    const Rows* rows_ = nullptr;
    int64_t at_ = 0;
  };

  Rows() noexcept = default;
  // With `offsets` NULL, sample i is `width` items at data + i * step. Otherwise it is rows [offsets[i], offsets[i
  // + 1]) of `width` items.
  Rows(const T* data, int64_t samples, int64_t width, int64_t step, const int64_t* offsets) noexcept
      : data_(data), samples_(samples), width_(width), step_(step), offsets_(offsets) {}

  int64_t size() const noexcept { return samples_; }
  bool empty() const noexcept { return samples_ == 0; }
  Iterator begin() const noexcept { return {this, 0}; }
  Iterator end() const noexcept { return {this, samples_}; }
  Span<const T> operator[](int64_t sample) const noexcept {
    if (offsets_ == nullptr) return detail::span_of(data_ + sample * step_, width_);
    const int64_t first = offsets_[sample];
    return detail::span_of(data_ + first * width_, (offsets_[sample + 1] - first) * width_);
  }

 private:
  const T* data_ = nullptr;
  int64_t samples_ = 0;
  int64_t width_ = 0;
  int64_t step_ = 0;
  const int64_t* offsets_ = nullptr;
};

}  // namespace DATALINE_CPP_ABI
}  // namespace dataline
