// Batch: a counted reference to a delivered batch.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline/error.hpp>
#include <dataline/span.hpp>
#include <dataline/view.hpp>
#include <dataline/views.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace dataline {
inline namespace DATALINE_CPP_ABI {

// Calls a DLPack tensor's own deleter. Only code that uses it needs dlpack.h.
struct DlpackDeleter {
  template <typename Tensor>
  void operator()(Tensor* tensor) const noexcept {
    if (tensor->deleter != nullptr) tensor->deleter(tensor);
  }
};
template <typename Tensor>
using Dlpack = std::unique_ptr<Tensor, DlpackDeleter>;

// A copy refers to the same bytes. Releasing the last copy frees the slot. A batch may outlive its loader and its
// dataset. Held batches count towards max_leases. Views, spans and indices borrow from the batch.
class Batch {
 public:
  Batch() noexcept = default;
  // Takes over the caller's reference.
  explicit Batch(dl_batch* taken) noexcept : batch_(taken) {}
  Batch(const Batch& other) noexcept : batch_(other.batch_) { dl_batch_retain(batch_); }
  Batch(Batch&& other) noexcept : batch_(std::exchange(other.batch_, nullptr)) {}
  Batch& operator=(Batch other) noexcept {
    std::swap(batch_, other.batch_);
    return *this;
  }
  ~Batch() {
    if (batch_ != nullptr) dl_batch_release(batch_);
  }

  explicit operator bool() const noexcept { return batch_ != nullptr; }
  // Releases this reference.
  void reset() noexcept {
    if (batch_ != nullptr) dl_batch_release(std::exchange(batch_, nullptr));
  }

  // The fields after transforms, in the order of Loader::fields.
  Views views() const noexcept {
    int32_t count = 0;
    const dl_view* views = dl_batch_views(batch_, &count);
    return Views(views, count, batch_);
  }
  // DL_ERR_NO_SUCH_FIELD lists the existing fields.
  View operator[](std::string_view field) const { return views()[field]; }
  View operator[](int32_t field) const { return views()[field]; }
  Result<View> try_view(std::string_view field) const { return views().try_view(field); }
  Result<View> try_view(int32_t field) const { return views().try_view(field); }

  // All of the following in one call; zeros for an empty batch.
  dl_batch_info info() const noexcept {
    dl_batch_info info = {};
    info.struct_size = sizeof info;
    return dl_batch_get_info(batch_, &info, nullptr) == DL_OK ? info : dl_batch_info{};
  }
  int64_t epoch() const noexcept { return info().epoch; }
  int64_t step() const noexcept { return info().step; }
  // Rows, including pads.
  int64_t samples() const noexcept { return info().samples; }
  // Rows that are not pads.
  int64_t valid() const noexcept { return info().valid; }
  // [samples]: the sample index of each row. For a replaced sample, the index of its replacement.
  Span<const int64_t> sample_indices() const noexcept {
    const dl_batch_info all = info();
    return detail::span_of(all.sample_indices, all.samples);
  }
  // [samples]: the part of a mix that each row comes from; 0 without a mix.
  Span<const int64_t> sample_sources() const noexcept {
    const dl_batch_info all = info();
    return detail::span_of(all.sample_sources, all.samples);
  }

  // Batches in device memory are delivered while their copies are in flight. Work queued in `stream` after this
  // call starts when the batch is complete; the host does not wait. `stream` is a CUstream or cudaStream_t of that
  // device; nullptr is CUDA's legacy stream. Call it once for each stream that reads the batch, before the first
  // use there. The stream must live until the batch is released. Does nothing on the cpu device.
  // DL_ERR_DEVICE_LOST, DL_ERR_FORKED.
  Result<void> try_wait(void* stream) const {
    return detail::result_of([&](dl_error* error) { return dl_batch_wait(batch_, stream, error); });
  }
  void wait(void* stream) const { try_wait(stream).value(); }
  // Releases this reference. The memory is not reused before the work now queued in `stream` is done. The batch is
  // empty afterwards, whatever the result. reset() and the destructor do the same for every stream that waited.
  Result<void> try_release_on(void* stream) {
    dl_batch* const given = std::exchange(batch_, nullptr);
    return detail::result_of([&](dl_error* error) { return dl_batch_release_on(given, stream, error); });
  }
  void release_on(void* stream) { try_release_on(stream).value(); }

  // A field as a DLPack tensor on its device. The tensor holds the batch until its deleter runs (on any thread,
  // also after the loader is destroyed). Call wait() before reading it in a stream. Tensor is
  // DLManagedTensorVersioned, or DLManagedTensor, which rejects read-only fields (DL_ERR_UNSUPPORTED). The host
  // includes dlpack.h. Ragged: the packed data.
  template <typename Tensor = DLManagedTensorVersioned>
  Result<Dlpack<Tensor>> try_dlpack(int32_t field) const {
    return detail::make<Dlpack<Tensor>, Tensor>([&](Tensor** out, dl_error* error) {
      if constexpr (std::is_same_v<Tensor, DLManagedTensor>) {
        return dl_batch_dlpack(batch_, field, out, error);
      } else {
        return dl_batch_dlpack_versioned(batch_, field, out, error);
      }
    });
  }
  template <typename Tensor = DLManagedTensorVersioned>
  Dlpack<Tensor> dlpack(int32_t field) const {
    return try_dlpack<Tensor>(field).value();
  }

  // Exports the rows that are not pads to Arrow: fills the two structs of its C data interface, which the host
  // defines. With Arrow's C++ library, pass them to arrow::ImportRecordBatch. The array holds the batch until it
  // is released. Only bool fields and fields whose rows are not contiguous are copied.
  Result<void> try_arrow(ArrowSchema* schema, ArrowArray* array) const {
    return detail::result_of([&](dl_error* error) { return dl_batch_arrow(batch_, schema, array, error); });
  }
  void arrow(ArrowSchema* schema, ArrowArray* array) const { try_arrow(schema, array).value(); }

  dl_batch* get() const noexcept { return batch_; }
  // Transfers the reference to the caller, who passes it to dl_batch_release.
  dl_batch* release() noexcept { return std::exchange(batch_, nullptr); }

 private:
  dl_batch* batch_ = nullptr;
};

}  // namespace DATALINE_CPP_ABI
}  // namespace dataline
