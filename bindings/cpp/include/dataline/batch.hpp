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

// Calls a DLPack tensor's own deleter; needs dlpack.h only where it is used.
struct DlpackDeleter {
  template <typename Tensor>
  void operator()(Tensor* tensor) const noexcept {
    if (tensor->deleter != nullptr) tensor->deleter(tensor);
  }
};
template <typename Tensor>
using Dlpack = std::unique_ptr<Tensor, DlpackDeleter>;

// A copy refers to the same bytes; the last one returns the slot. May outlive its loader and its dataset; held batches count
// towards max_leases. Views, spans and indices borrow from it.
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
  // Drops this reference.
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

  // All of the following in one call. Zeros for an empty batch.
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
  // [samples]: the sample index of each row; for replaced samples, of the replacement.
  Span<const int64_t> sample_indices() const noexcept {
    const dl_batch_info all = info();
    return detail::span_of(all.sample_indices, all.samples);
  }
  // [samples]: which dataset of a mix; 0.
  Span<const int64_t> sample_sources() const noexcept {
    const dl_batch_info all = info();
    return detail::span_of(all.sample_sources, all.samples);
  }

  // Batches in device memory are delivered while their copies are in flight. Work queued later in `stream` (a CUstream
  // or cudaStream_t of that device; nullptr: CUDA's legacy stream) starts after the batch is complete; the host does
  // not wait. Call it once for each stream that reads the batch, before its first use there; the stream must live until
  // the batch is released. On the cpu device it does nothing. DL_ERR_DEVICE_LOST, DL_ERR_FORKED.
  Result<void> try_wait(void* stream) const {
    return detail::result_of([&](dl_error* error) { return dl_batch_wait(batch_, stream, error); });
  }
  void wait(void* stream) const { try_wait(stream).value(); }
  // Drops this reference: the memory is written again only after the work now in `stream` is done. The batch is empty
  // afterwards, whatever the result. reset() and the destructor do the same for every stream that waited.
  Result<void> try_release_on(void* stream) {
    dl_batch* const given = std::exchange(batch_, nullptr);
    return detail::result_of([&](dl_error* error) { return dl_batch_release_on(given, stream, error); });
  }
  void release_on(void* stream) { try_release_on(stream).value(); }

  // A field as a DLPack tensor on its device, which holds the batch until its deleter runs (any thread, also after the
  // loader). Call wait() before reading it in a stream.
  // Tensor: DLManagedTensorVersioned, or DLManagedTensor, for which read-only fields are refused
  // (DL_ERR_UNSUPPORTED). The host includes dlpack.h. Ragged: the packed data.
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

  // The rows that are not pads, for Arrow: fills the two structs of its C data interface, which the host defines (with Arrow's
  // C++ library, arrow::ImportRecordBatch takes them). The array holds the batch until it is released. Nothing is copied but
  // bool and fields whose rows do not lie one after another.
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
