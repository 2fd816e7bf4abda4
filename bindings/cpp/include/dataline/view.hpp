// View: one field of a batch, or of a schema, without a copy.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline/device.hpp>
#include <dataline/dtype.hpp>
#include <dataline/error.hpp>
#include <dataline/rows.hpp>
#include <dataline/span.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace dataline {
inline namespace DATALINE_CPP_ABI {

// Borrows from its batch, dataset or loader, and is valid as long as that object. To keep the bytes, copy the
// Batch. In a batch, shape()[0] is the sample count; for a ragged field, it is the sum of all lengths, and rows()
// returns the samples. A dataset's schema has no batch dim; in a loader's schema it is batch_size or -1. In
// schemas, data() is NULL.
class View {
 public:
  View() noexcept = default;
  explicit View(const dl_view* view, const dl_batch* batch = nullptr) noexcept : view_(view), batch_(batch) {}

  // False for the result of find() if there is no such field; then the view must not be used.
  explicit operator bool() const noexcept { return view_ != nullptr; }

  const char* name() const noexcept { return view_->name; }
  int32_t dtype() const noexcept { return view_->dtype; }
  const char* dtype_name() const noexcept { return dl_dtype_name(view_->dtype); }
  bool is_ragged() const noexcept { return view_->kind == DL_KIND_RAGGED; }
  int rank() const noexcept { return view_->rank; }
  // In a schema, a dim is -1 if it is unknown or varies.
  Span<const int64_t> shape() const noexcept { return detail::span_of(view_->shape, view_->rank); }
  // In elements.
  Span<const int64_t> strides() const noexcept { return detail::span_of(view_->strides, view_->rank); }
  // One letter per dim ("NHWC"), or "".
  const char* axes() const noexcept { return view_->axes; }
  // The bytes delivered; -1 if they vary (schemas).
  int64_t bytes() const noexcept { return view_->bytes; }
  bool read_only() const noexcept { return (view_->flags & DL_VIEW_READ_ONLY) != 0; }
  // Shares bytes with another view of the batch.
  bool overlapping() const noexcept { return (view_->flags & DL_VIEW_OVERLAPPING) != 0; }
  bool pinned() const noexcept { return (view_->flags & DL_VIEW_PINNED) != 0; }
  // DL_DEVICE_*
  int32_t device_type() const noexcept { return view_->device_type; }
  int32_t device_index() const noexcept { return view_->device_index; }
  Device device() const noexcept { return {view_->device_type, view_->device_index}; }
  // The first element, on that device; NULL in a schema. If it is not on the cpu, call Batch::wait(stream) before
  // reading it in a stream; as, writable and rows are errors.
  const void* data() const noexcept {
    return view_->data == nullptr ? nullptr : static_cast<const char*>(view_->data) + view_->byte_offset;
  }
  // Ragged: samples + 1 row indices; sample i is rows [offsets[i], offsets[i + 1]). Dense: empty.
  Span<const int64_t> offsets() const noexcept {
    return view_->offsets == nullptr ? Span<const int64_t>() : detail::span_of(view_->offsets, samples() + 1);
  }
  // The sample count of the batch, including pads; 0 in a schema.
  int64_t samples() const noexcept;

  // All elements in C order, dense or packed ragged. DL_ERR_MISMATCH: T is another dtype (std::byte matches all).
  // DL_ERR_UNSUPPORTED: on a device, or not contiguous (rows() may work). DL_ERR_WRONG_STATE: a schema.
  template <typename T>
  Span<const T> as() const {
    if (const Fault fault = as_fault<T>(); fault != Fault::kNone) refuse<T>(fault);
    return elements<const T>();
  }
  template <typename T>
  Result<Span<const T>> try_as() const {
    if (const Fault fault = as_fault<T>(); fault != Fault::kNone) return refusal<T>(fault);
    return elements<const T>();
  }

  // The same with write access. The consumer may change the bytes until it releases the batch. DL_ERR_UNSUPPORTED:
  // read-only views.
  template <typename T>
  Span<T> writable() const {
    if (const Fault fault = writable_fault<T>(); fault != Fault::kNone) refuse<T>(fault);
    return elements<T>();
  }
  template <typename T>
  Result<Span<T>> try_writable() const {
    if (const Fault fault = writable_fault<T>(); fault != Fault::kNone) return refusal<T>(fault);
    return elements<T>();
  }

  // Sample by sample: rows<T>()[i] is sample i as a span, of any length if ragged. Only each sample has to be
  // contiguous, so overlapping windows (tokens, views=true) can be read.
  template <typename T>
  Rows<T> rows() const {
    if (const Fault fault = rows_fault<T>(); fault != Fault::kNone) refuse<T>(fault);
    return make_rows<T>();
  }
  template <typename T>
  Result<Rows<T>> try_rows() const {
    if (const Fault fault = rows_fault<T>(); fault != Fault::kNone) return refusal<T>(fault);
    return make_rows<T>();
  }

  // The struct of dataline.h.
  const dl_view& raw() const noexcept { return *view_; }

 private:
  // Why the requested access is not possible.
  enum class Fault { kNone, kEmpty, kDtype, kSchema, kDevice, kStrides, kReadOnly };

  template <typename T>
  Fault access_fault() const noexcept {
    if (view_ == nullptr) return Fault::kEmpty;
    if constexpr (!std::is_same_v<T, std::byte>) {
      if (view_->dtype != dtype_of<T>()) return Fault::kDtype;
    }
    if (view_->data == nullptr && batch_ == nullptr) return Fault::kSchema;
    return view_->device_type == DL_DEVICE_CPU ? Fault::kNone : Fault::kDevice;
  }
  template <typename T>
  Fault as_fault() const noexcept {
    if (const Fault fault = access_fault<T>(); fault != Fault::kNone) return fault;
    return contiguous_from(0) ? Fault::kNone : Fault::kStrides;
  }
  template <typename T>
  Fault writable_fault() const noexcept {
    if (const Fault fault = as_fault<T>(); fault != Fault::kNone) return fault;
    return read_only() ? Fault::kReadOnly : Fault::kNone;
  }
  template <typename T>
  Fault rows_fault() const noexcept {
    if (const Fault fault = access_fault<T>(); fault != Fault::kNone) return fault;
    return contiguous_from(is_ragged() ? 0 : 1) ? Fault::kNone : Fault::kStrides;
  }

  // Whether the dims from `first` are in C order without gaps.
  bool contiguous_from(int first) const noexcept {
    int64_t expected = 1;
    for (int dim = view_->rank - 1; dim >= first; --dim) {
      if (view_->shape[dim] == 0) return true;
      if (view_->shape[dim] != 1 && view_->strides[dim] != expected) return false;
      expected *= view_->shape[dim];
    }
    return true;
  }
  int64_t item_bytes() const noexcept { return dl_dtype_bytes(view_->dtype); }
  template <typename T>
  Span<T> elements() const noexcept {
    return detail::span_of(static_cast<T*>(const_cast<void*>(data())),
                           view_->bytes / static_cast<int64_t>(sizeof(T)));
  }
  template <typename T>
  Rows<T> make_rows() const noexcept {
    int64_t row = 1;  // in elements of the dtype; std::byte counts its bytes
    for (int dim = 1; dim < view_->rank; ++dim) row *= view_->shape[dim];
    const int64_t scale = std::is_same_v<T, std::byte> ? item_bytes() : 1;
    const int64_t step = is_ragged() || view_->rank == 0 ? row : view_->strides[0];
    return Rows<T>(static_cast<const T*>(data()), samples(), row * scale, step * scale, view_->offsets);
  }

  template <typename T>
  [[noreturn]] DATALINE_CPP_COLD void refuse(Fault fault) const {
    detail::fail(refusal<T>(fault));
  }
  template <typename T>
  DATALINE_CPP_COLD Error refusal(Fault fault) const {
    int32_t wanted = 0;
    if constexpr (!std::is_same_v<T, std::byte>) wanted = dtype_of<T>();
    return refusal(fault, wanted);
  }
  DATALINE_CPP_COLD Error refusal(Fault fault, int32_t wanted) const {
    switch (fault) {
      case Fault::kNone:
      case Fault::kEmpty:
        return Error(DL_ERR_INVALID_ARGUMENT,
                     "the view is empty: no such field, or the batch was moved from");
      case Fault::kDtype:
        return about(DL_ERR_MISMATCH,
                     std::string("is ") + dtype_name() + ", expected " + dl_dtype_name(wanted));
      case Fault::kSchema:
        return about(DL_ERR_WRONG_STATE, "belongs to a schema and has no data");
      case Fault::kDevice:
        return about(DL_ERR_UNSUPPORTED, "is on " + device().name() +
                                             ", not in host memory: pass data() to code on the device after "
                                             "Batch::wait(stream), or load with device=cpu");
      case Fault::kStrides:
        return about(DL_ERR_UNSUPPORTED, "is not contiguous");
      case Fault::kReadOnly:
        return about(DL_ERR_UNSUPPORTED, "is read-only");
    }
    return Error(DL_ERR_INTERNAL, "no such fault");
  }
  Error about(dl_status code, const std::string& what) const {
    return Error(code, "field '" + std::string(name()) + "' " + what);
  }

  const dl_view* view_ = nullptr;
  const dl_batch* batch_ = nullptr;
};

inline int64_t View::samples() const noexcept {
  if (batch_ == nullptr) return 0;
  if (!is_ragged()) return view_->rank > 0 ? view_->shape[0] : 0;
  dl_batch_info info = {};
  info.struct_size = sizeof info;
  return dl_batch_get_info(batch_, &info, nullptr) == DL_OK ? info.samples : 0;
}

}  // namespace DATALINE_CPP_ABI
}  // namespace dataline
