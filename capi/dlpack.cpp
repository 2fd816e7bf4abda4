// Batches as DLPack tensors. Structs and codes: DLPack 1.1, include/dlpack/dlpack.h (dmlc/dlpack).
//
// A tensor holds a reference to its batch; its deleter may run on any thread and after the loader is destroyed.
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <vector>

#include "capi/guard.h"
#include "capi/handles.h"
#include "core/base/dtype.h"

using namespace dataline;
using namespace dataline::capi;

extern "C" {

struct DLDevice {
  int32_t device_type;
  int32_t device_id;
};
struct DLDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};
struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor* self);
};
struct DLPackVersion {
  uint32_t major;
  uint32_t minor;
};
struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned* self);
  uint64_t flags;
  DLTensor dl_tensor;
};
static_assert(sizeof(DLTensor) == 48 && sizeof(DLManagedTensorVersioned) == 80);

}  // extern "C"

namespace {

constexpr uint64_t kDlpackReadOnly = 1;
constexpr DLPackVersion kDlpackVersion = {1, 1};

// One exported tensor: the public struct and what it points to.
template <typename Managed>
struct Export {
  Managed managed = {};
  Batch* batch = nullptr;
  std::vector<int64_t> shape, strides;
};

DLDataType dlpack_dtype(DType dtype) {
  enum : uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBfloat = 4, kComplex = 5, kBool = 6 };
  const uint8_t bits = static_cast<uint8_t>(dtype_bytes(dtype) * 8);
  if (dtype == DType::kBool) return {kBool, bits, 1};
  if (dtype == DType::kBf16) return {kBfloat, bits, 1};
  if (dtype >= DType::kC64) return {kComplex, bits, 1};
  if (dtype_is_float(dtype)) return {kFloat, bits, 1};
  return {dtype >= DType::kI8 ? kInt : kUInt, bits, 1};
}

template <typename Managed>
void delete_export(Managed* self) {
  auto* exported = static_cast<Export<Managed>*>(self->manager_ctx);
  exported->batch->release();
  delete exported;
}

Result<const BatchView*> find_view(const dl_batch* batch, int32_t field) {
  const std::vector<BatchView>& views = to_core(batch)->views.views();
  DL_RETURN_IF_ERROR(check_index("field", field, static_cast<int64_t>(views.size())));
  return &views[static_cast<size_t>(field)];
}

template <typename Managed>
Managed* make_export(dl_batch* batch, const BatchView& view) {
  auto exported = std::make_unique<Export<Managed>>();
  exported->shape.assign(view.shape, view.shape + view.rank);
  exported->strides.assign(view.strides, view.strides + view.rank);
  DLTensor& tensor = exported->managed.dl_tensor;
  tensor.data = view.bytes > 0 ? view.data : nullptr;
  tensor.device = {view.device_type, view.device_index};
  tensor.ndim = view.rank;
  tensor.dtype = dlpack_dtype(static_cast<DType>(view.dtype));
  tensor.shape = exported->shape.data();
  tensor.strides = exported->strides.data();
  tensor.byte_offset = view.bytes > 0 ? view.byte_offset : 0;
  exported->managed.deleter = delete_export<Managed>;
  exported->batch = to_core(batch);
  exported->batch->retain();
  exported->batch->passed_on();
  exported->managed.manager_ctx = exported.get();
  return &exported.release()->managed;
}

}  // namespace

extern "C" {

dl_status dl_batch_dlpack(dl_batch* batch, int32_t field, DLManagedTensor** out, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(out);
    *out = nullptr;
    DL_REQUIRE(batch);
    DL_ASSIGN_OR_RETURN(const BatchView* view, find_view(batch, field));
    if ((view->flags & kViewReadOnly) != 0) {
      return dataline::error(
          Code::kUnsupported, "field '", view->name,
          "' is read-only, which an unversioned DLPack tensor cannot express; use the versioned one");
    }
    *out = make_export<DLManagedTensor>(batch, *view);
    return Status::ok();
  });
}

dl_status dl_batch_dlpack_versioned(dl_batch* batch, int32_t field, DLManagedTensorVersioned** out,
                                    dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(out);
    *out = nullptr;
    DL_REQUIRE(batch);
    DL_ASSIGN_OR_RETURN(const BatchView* view, find_view(batch, field));
    DLManagedTensorVersioned* tensor = make_export<DLManagedTensorVersioned>(batch, *view);
    tensor->version = kDlpackVersion;
    tensor->flags = (view->flags & kViewReadOnly) != 0 ? kDlpackReadOnly : 0;
    *out = tensor;
    return Status::ok();
  });
}

}  // extern "C"
