// Span: std::span where available; otherwise the subset of it that this header needs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline/config.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#if DATALINE_CPP_STD_SPAN
#include <span>
#endif

namespace dataline {
inline namespace DATALINE_CPP_ABI {

#if DATALINE_CPP_STD_SPAN

template <typename T>
using Span = std::span<T>;

#else

// A pointer and a count. Borrows.
template <typename T>
class Span {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  using size_type = size_t;
  using iterator = T*;

  constexpr Span() noexcept = default;
  constexpr Span(T* data, size_t size) noexcept : data_(data), size_(size) {}
  template <size_t N>
  constexpr Span(T (&array)[N]) noexcept : data_(array), size_(N) {}  // NOLINT(google-explicit-constructor)
  // Anything with data() and size() whose elements are T, optionally with const added.
  template <typename Container,
            typename Item = std::remove_pointer_t<decltype(std::declval<Container&>().data())>,
            typename = std::enable_if_t<std::is_convertible_v<Item (*)[], T (*)[]> > >
  // NOLINTNEXTLINE(google-explicit-constructor,bugprone-forwarding-reference-overload): as std::span
  constexpr Span(Container&& from) noexcept : data_(from.data()), size_(static_cast<size_t>(from.size())) {}

  constexpr T* data() const noexcept { return data_; }
  constexpr size_t size() const noexcept { return size_; }
  constexpr size_t size_bytes() const noexcept { return size_ * sizeof(T); }
  constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr T* begin() const noexcept { return data_; }
  constexpr T* end() const noexcept { return data_ + size_; }
  constexpr T& operator[](size_t index) const noexcept { return data_[index]; }
  constexpr T& front() const noexcept { return data_[0]; }
  constexpr T& back() const noexcept { return data_[size_ - 1]; }
  constexpr Span first(size_t count) const noexcept { return {data_, count}; }
  constexpr Span last(size_t count) const noexcept { return {data_ + size_ - count, count}; }
  constexpr Span subspan(size_t offset) const noexcept { return {data_ + offset, size_ - offset}; }
  constexpr Span subspan(size_t offset, size_t count) const noexcept { return {data_ + offset, count}; }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
};

#endif

namespace detail {

// A span of memory borrowed from the library, with an int64_t count.
template <typename T>
Span<T> span_of(T* data, int64_t count) noexcept {
  return data != nullptr && count > 0 ? Span<T>(data, static_cast<size_t>(count)) : Span<T>();
}

}  // namespace detail

}  // namespace DATALINE_CPP_ABI
}  // namespace dataline
