// dataline_torch.hpp - batches as tensors of LibTorch, and tensors as a dataset; header-only, over dataline.hpp.
//
//   for (dataline::Batch& batch : loader) {
//     auto [image, label] = dataline::to_tensors(batch, "image", "label");
//     torch::Tensor loss = torch::nll_loss(net->forward(image), label);
//     ...
//   }
//
// Memory     Nothing is copied. A tensor uses the batch's own bytes and holds the batch, a lease that counts towards
//            max_leases, until its last alias is destroyed: on any thread, also after the loader. To keep the data,
//            clone() it. In-place changes never affect the dataset's bytes. But read_only() views overlap another view
//            of the batch (tokens, views=true), and LibTorch has no read-only tensors.
// Devices    With device=cuda:N (device_option of a torch::Device), tensors are CUDA tensors over the batch's device
//            memory. Creating one makes LibTorch's current stream wait for the copies. The memory is not reused before
//            the work queued there when the last alias is destroyed has finished. This needs no synchronisation and no
//            record_stream. For a second stream: also_on(batch, stream). For a CUDA graph's static inputs:
//            copy_into(batch, "image", input).
// Tensors    Shape, strides and dtype are those of the view; requires_grad is off. Ragged: the packed data;
//            offsets_tensor returns the sample offsets.
// Errors     As in dataline.hpp: f() throws dataline::Error, try_f() returns a Result. LibTorch's exceptions
//            (c10::Error) propagate. DL_ERR_UNSUPPORTED: this LibTorch does not support the dtype or device.
// Versions   LibTorch 1.13 and later. Since 0.1.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>
#include <c10/util/StringUtil.h>
#include <torch/version.h>

#include <array>
#include <cstdint>
#include <dataline.hpp>
#include <dataline_torch/cuda.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dataline {
inline namespace DATALINE_CPP_ABI {

namespace detail {

struct TorchType {
  int32_t dtype;
  at::ScalarType type;
};
constexpr TorchType kTorchTypes[] = {
    {DL_DTYPE_F32, at::ScalarType::Float},        {DL_DTYPE_I64, at::ScalarType::Long},
    {DL_DTYPE_U8, at::ScalarType::Byte},          {DL_DTYPE_BF16, at::ScalarType::BFloat16},
    {DL_DTYPE_F16, at::ScalarType::Half},         {DL_DTYPE_I32, at::ScalarType::Int},
    {DL_DTYPE_BOOL, at::ScalarType::Bool},        {DL_DTYPE_F64, at::ScalarType::Double},
    {DL_DTYPE_I8, at::ScalarType::Char},          {DL_DTYPE_I16, at::ScalarType::Short},
    {DL_DTYPE_C64, at::ScalarType::ComplexFloat}, {DL_DTYPE_C128, at::ScalarType::ComplexDouble},
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 3)
    {DL_DTYPE_U16, at::ScalarType::UInt16},       {DL_DTYPE_U32, at::ScalarType::UInt32},
    {DL_DTYPE_U64, at::ScalarType::UInt64},
#endif
};

// A tensor over memory of `batch`; it holds its own reference to the batch. `where` is an argument because
// LibTorch would query the driver for it.
inline at::Tensor tensor_of(const Batch& batch, const void* data, at::IntArrayRef shape,
                            at::IntArrayRef strides, at::ScalarType type,
                            at::Device where = at::Device(at::DeviceType::CPU)) {
  Batch held = batch;
  // A plain pointer fits into std::function without an allocation; a Batch would not.
  dl_batch* const raw = held.get();
  at::Tensor tensor = at::from_blob(
      const_cast<void*>(data), shape, strides, [raw](void*) { dl_batch_release(raw); },
      at::TensorOptions(type).device(where), where);
  static_cast<void>(held.release());  // the tensor owns it now
  return tensor;
}

inline at::IntArrayRef array_ref(Span<const int64_t> span) noexcept { return {span.data(), span.size()}; }

inline Error torch_refusal(const View& view, const std::string& why) {
  return Error(DL_ERR_UNSUPPORTED, "field '" + std::string(view.name()) + "' is " + why);
}

// Returns DL_OK if `from`, the tensor of `view`, can be copied into `target`.
inline Error unlike(const View& view, const at::Tensor& from, const at::Tensor& target) {
  const auto what = [](const at::Tensor& tensor) {
    return c10::str(tensor.scalar_type(), " ", tensor.sizes());
  };
  if (target.defined() && target.scalar_type() == from.scalar_type() && target.sizes() == from.sizes())
    return {};
  return Error(DL_ERR_MISMATCH, "field '" + std::string(view.name()) + "' is " + what(from) +
                                    ", the target is " + (target.defined() ? what(target) : "not a tensor"));
}

}  // namespace detail

// The at::ScalarType of a DL_DTYPE_*. DL_ERR_UNSUPPORTED: this LibTorch has none (u16, u32, u64 before 2.3).
inline Result<at::ScalarType> try_scalar_type(int32_t dtype) {
  for (const detail::TorchType& known : detail::kTorchTypes) {
    if (known.dtype == dtype) return known.type;
  }
  return Error(DL_ERR_UNSUPPORTED, std::string("LibTorch " TORCH_VERSION " has no ") + dl_dtype_name(dtype));
}
inline at::ScalarType scalar_type(int32_t dtype) { return try_scalar_type(dtype).value(); }

// The DL_DTYPE_* of a tensor's elements.
inline Result<int32_t> try_dtype_of(at::ScalarType type) {
  for (const detail::TorchType& known : detail::kTorchTypes) {
    if (known.type == type) return known.dtype;
  }
  return Error(DL_ERR_UNSUPPORTED, std::string("Dataline has no dtype ") + at::toString(type));
}

namespace detail {

// The tensor of a view after wait_current.
inline Result<at::Tensor> ready_tensor(const Batch& batch, const View& view) {
  const Result<at::ScalarType> type = try_scalar_type(view.dtype());
  if (!type) {
    return torch_refusal(
        view, std::string(view.dtype_name()) + ", which LibTorch " TORCH_VERSION " does not have: cast it");
  }
  at::Device where(at::DeviceType::CPU);
  if (!view.device().is_cpu()) {
    where = at::Device(at::DeviceType::CUDA, static_cast<at::DeviceIndex>(view.device_index()));
  }
  return tensor_of(batch, view.data(), array_ref(view.shape()), array_ref(view.strides()), *type, where);
}

}  // namespace detail

// The tensor of `view`, which belongs to `batch`. On a device: for LibTorch's current stream there.
inline Result<at::Tensor> try_to_tensor(const Batch& batch, const View& view) {
  if (const Result<void> ready = detail::wait_current(batch, view); !ready) return ready.error();
  return detail::ready_tensor(batch, view);
}
// A field by name or index.
template <typename Name>
Result<at::Tensor> try_to_tensor(const Batch& batch, const Name& field) {
  const Result<View> view = batch.try_view(field);
  if (!view) return view.error();
  return try_to_tensor(batch, *view);
}
template <typename Field>
at::Tensor to_tensor(const Batch& batch, const Field& field) {
  return try_to_tensor(batch, field).value();
}

// auto [image, label] = to_tensors(batch, "image", "label"); the stream waits once for all of them.
template <typename... Names>
std::array<at::Tensor, sizeof...(Names)> to_tensors(const Batch& batch, const Names&... fields) {
  const Views views = batch.views();
  if (!views.empty()) detail::wait_current(batch, views[0]).value();  // a loader has one device
  return {detail::ready_tensor(batch, batch[fields]).value()...};
}

// Copies a field into a tensor with a fixed address, such as a CUDA graph's static input. The copy runs in LibTorch's
// current stream, outside of a capture. The batch may be released immediately. From the cpu, the call waits for the copy.
// DL_ERR_MISMATCH: another shape or dtype, such as a shorter last batch (use last_batch=drop or pad).
inline Result<void> try_copy_into(const Batch& batch, const View& view, const at::Tensor& target) {
  const Result<at::Tensor> from = try_to_tensor(batch, view);
  if (!from) return from.error();
  if (const Error wrong = detail::unlike(view, *from, target); wrong.code() != DL_OK) return wrong;
  // Host memory may be refilled as soon as the batch is released; device memory only after the copy.
  target.copy_(*from, !view.device().is_cpu());
  return {};
}
template <typename Name>
Result<void> try_copy_into(const Batch& batch, const Name& field, const at::Tensor& target) {
  const Result<View> view = batch.try_view(field);
  if (!view) return view.error();
  return try_copy_into(batch, *view, target);
}
template <typename Field>
void copy_into(const Batch& batch, const Field& field, const at::Tensor& target) {
  try_copy_into(batch, field, target).value();
}

// The offsets of a ragged view: i64 [samples + 1]; sample i is rows [offsets[i], offsets[i + 1]) of the data.
// DL_ERR_MISMATCH: dense.
inline Result<at::Tensor> try_offsets_tensor(const Batch& batch, const View& view) {
  if (!view.is_ragged()) {
    return Error(DL_ERR_MISMATCH, "field '" + std::string(view.name()) + "' is dense and has no offsets");
  }
  const Span<const int64_t> offsets = view.offsets();
  return detail::tensor_of(batch, offsets.data(), static_cast<int64_t>(offsets.size()), 1,
                           at::ScalarType::Long);
}
inline at::Tensor offsets_tensor(const Batch& batch, std::string_view field) {
  return try_offsets_tensor(batch, batch[field]).value();
}

// i64 [samples]: the sample index of each row.
inline at::Tensor indices_tensor(const Batch& batch) {
  const Span<const int64_t> indices = batch.sample_indices();
  return detail::tensor_of(batch, indices.data(), static_cast<int64_t>(indices.size()), 1,
                           at::ScalarType::Long);
}

// A named tensor whose first dim is the sample count.
struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};

// borrow_tensors({{"image", images}, {"label", labels}}): a dataset over tensors in host memory with equal first dims.
// It keeps them until the dataset and everything created from it are destroyed; they must not change meanwhile.
// Non-contiguous tensors are copied once, here. DL_ERR_UNSUPPORTED: not on the host, sparse, or a dtype that Dataline
// does not have.
inline Result<Dataset> try_borrow_tensors(std::vector<NamedTensor> tensors, const Options& options = {}) {
  std::vector<Array> arrays;
  for (NamedTensor& named : tensors) {
    if (!named.tensor.defined() || !named.tensor.device().is_cpu() || named.tensor.layout() != at::kStrided) {
      return Error(DL_ERR_UNSUPPORTED, "tensor '" + named.name + "': expected a dense tensor in host memory");
    }
    const Result<int32_t> dtype = try_dtype_of(named.tensor.scalar_type());
    if (!dtype) return Error(DL_ERR_UNSUPPORTED, "tensor '" + named.name + "': " + dtype.error().message());
    named.tensor = named.tensor.detach().resolve_conj().resolve_neg().contiguous();
    arrays.emplace_back(named.name, *dtype, named.tensor.data_ptr(), named.tensor.sizes().vec());
  }
  return Dataset::try_borrow_arrays(arrays, keep(std::move(tensors)), options);
}
inline Dataset borrow_tensors(std::vector<NamedTensor> tensors, const Options& options = {}) {
  return try_borrow_tensors(std::move(tensors), options).value();
}

}  // namespace DATALINE_CPP_ABI
}  // namespace dataline
