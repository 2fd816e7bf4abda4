// Array: a field in host memory, for Dataset::copy_arrays and borrow_arrays, and Writer::append.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline/dtype.hpp>
#include <dataline/error.hpp>
#include <dataline/span.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace dataline {
inline namespace DATALINE_CPP_ABI {

// Describes memory without owning it. The memory must live until it has been copied, written or released. The dtype
// follows from the element type (dtype_of). shape[0] is the sample count; C order.
//   std::vector<uint8_t> pixels(n * 28 * 28);
//   std::vector<int64_t> labels(n);
//   Dataset::copy_arrays({Array("image", pixels, {n, 28, 28}).axes("HW"), Array("label", labels)});
class Array {
 public:
  // Dense, from anything with data() and size(). Without a shape, each element is one sample.
  template <typename Items, typename T = std::remove_cv_t<
                                std::remove_pointer_t<decltype(std::declval<const Items&>().data())>>>
  Array(std::string name, const Items& items, std::vector<int64_t> shape = {})
      : Array(std::move(name), dtype_of<T>(), items.data(), std::move(shape)) {
    room_bytes_ = static_cast<int64_t>(items.size() * sizeof(T));
    if (shape_.empty()) shape_ = {static_cast<int64_t>(items.size())};
  }
  // Dense, from a plain address. The shape determines the size.
  template <typename T, typename = std::enable_if_t<DtypeOf<T>::value != 0>>
  Array(std::string name, const T* data, std::vector<int64_t> shape)
      : Array(std::move(name), dtype_of<T>(), data, std::move(shape)) {}
  // The same with a DL_DTYPE_* that is known only at run time.
  Array(std::string name, int32_t dtype, const void* data, std::vector<int64_t> shape)
      : name_(std::move(name)), dtype_(dtype), data_(data), shape_(std::move(shape)) {}

  // Ragged: sample i is rows [offsets[i], offsets[i + 1]) of `items`. A row is one item, or an array of
  // item_shape. `offsets` has samples + 1 elements in host memory.
  template <typename Items>
  static Array ragged(std::string name, const Items& items, Span<const int64_t> offsets,
                      const std::vector<int64_t>& item_shape = {}) {
    int64_t width = 1;
    for (int64_t dim : item_shape) width *= dim;
    std::vector<int64_t> shape = {width > 0 ? static_cast<int64_t>(items.size()) / width : 0};
    shape.insert(shape.end(), item_shape.begin(), item_shape.end());
    Array made(std::move(name), items, std::move(shape));
    made.kind_ = DL_KIND_RAGGED;
    made.offsets_ = offsets;
    return made;
  }

  // The axes of one sample: "HWC".
  Array& axes(std::string axes) {
    axes_ = std::move(axes);
    return *this;
  }
  // Distance from one sample to the next, if samples are not packed. 0: all samples are the same row.
  Array& row_stride_bytes(int64_t bytes) {
    row_stride_bytes_ = bytes;
    return *this;
  }

  // Borrows from this Array.
  dl_array raw() const noexcept {
    dl_array array = {};
    array.struct_size = sizeof array;
    array.kind = row_stride_bytes_ ? DL_KIND_STRIDED : kind_;
    array.name = name_.c_str();
    array.dtype = dtype_;
    array.rank = static_cast<int32_t>(shape_.size());
    array.shape = shape_.data();
    array.axes = axes_.empty() ? nullptr : axes_.c_str();
    array.data = data_;
    array.row_stride_bytes = row_stride_bytes_.value_or(0);
    array.offsets = offsets_.data();
    array.sample_count = offsets_.empty() ? 0 : static_cast<int64_t>(offsets_.size()) - 1;
    return array;
  }

  // Checks that the container is as large as the shape requires; the library cannot see its size. The library
  // reports invalid shapes.
  Result<void> fits() const {
    if (room_bytes_ < 0 || shape_.empty()) return {};
    int64_t row = dl_dtype_bytes(dtype_);
    for (size_t dim = 1; dim < shape_.size(); ++dim) {
      if (shape_[dim] < 0 || (shape_[dim] > 0 && row > INT64_MAX / shape_[dim])) return {};
      row *= shape_[dim];
    }
    const int64_t samples = shape_[0];
    if (samples < 0) return {};
    const int64_t step = row_stride_bytes_.value_or(row);
    // data() is the container's first element, so a negative step would leave the container.
    const bool room =
        samples == 0 || (row <= room_bytes_ && (samples == 1 || step == 0 ||
                                                (step > 0 && samples - 1 <= (room_bytes_ - row) / step)));
    const bool whole = row_stride_bytes_ || (row > 0 ? room_bytes_ == samples * row : room_bytes_ == 0);
    if (room && whole) return {};
    std::string shape;
    for (int64_t dim : shape_) shape += (shape.empty() ? "" : "x") + std::to_string(dim);
    return Error(DL_ERR_MISMATCH, "field '" + name_ + "': shape " + shape + " of " + dl_dtype_name(dtype_) +
                                      " does not fit " + std::to_string(room_bytes_) + " bytes");
  }

 private:
  std::string name_;
  int32_t kind_ = DL_KIND_DENSE;
  int32_t dtype_;
  const void* data_;
  std::vector<int64_t> shape_;
  std::string axes_;
  std::optional<int64_t> row_stride_bytes_;
  int64_t room_bytes_ = -1;  // -1: unknown
  Span<const int64_t> offsets_;
};

namespace detail {

// Borrows from the arrays. DL_ERR_MISMATCH: a container does not have the size that its shape requires.
inline Result<std::vector<dl_array>> raw_of(const std::vector<Array>& arrays) {
  std::vector<dl_array> raw;
  for (const Array& array : arrays) {
    if (const Result<void> fits = array.fits(); !fits) return fits.error();
    raw.push_back(array.raw());
  }
  return raw;
}

}  // namespace detail

}  // namespace DATALINE_CPP_ABI
}  // namespace dataline
