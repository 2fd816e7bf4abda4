/* Tensors as DLPack capsules.
 * SPDX-License-Identifier: Apache-2.0 */
#include "dlpack.h"

#include "core.h"

#include <stdlib.h>

static const struct {
  uint8_t code;
  uint8_t bits;
  int32_t dtype;
} types[] = {{6, 8, DL_DTYPE_BOOL}, {1, 8, DL_DTYPE_U8},   {1, 16, DL_DTYPE_U16},  {1, 32, DL_DTYPE_U32},
             {1, 64, DL_DTYPE_U64}, {0, 8, DL_DTYPE_I8},   {0, 16, DL_DTYPE_I16},  {0, 32, DL_DTYPE_I32},
             {0, 64, DL_DTYPE_I64}, {2, 16, DL_DTYPE_F16}, {4, 16, DL_DTYPE_BF16}, {2, 32, DL_DTYPE_F32},
             {2, 64, DL_DTYPE_F64}, {5, 64, DL_DTYPE_C64}, {5, 128, DL_DTYPE_C128}};
#define TYPE_COUNT (sizeof types / sizeof *types)

int32_t dlpack_dtype(DLDataType type) {
  for (size_t at = 0; at < TYPE_COUNT; at++)
    if (types[at].code == type.code && types[at].bits == type.bits && type.lanes == 1) return types[at].dtype;
  return 0;
}

DLDataType dlpack_type(int32_t dtype) {
  DLDataType type = {0, 0, 0};
  for (size_t at = 0; at < TYPE_COUNT; at++)
    if (types[at].dtype == dtype) type = (DLDataType){types[at].code, types[at].bits, 1};
  return type;
}

void dlpack_release(void* managed, bool versioned) {
  if (versioned) {
    DLManagedTensorVersioned* tensor = managed;
    if (tensor->deleter != NULL) tensor->deleter(tensor);
  } else {
    DLManagedTensor* tensor = managed;
    if (tensor->deleter != NULL) tensor->deleter(tensor);
  }
}

/* A capsule that nobody took frees its tensor; one that was taken has another name by then. */
static void capsule_free(PyObject* capsule) {
  bool versioned = PyCapsule_IsValid(capsule, DLPACK_VERSIONED);
  if (!versioned && !PyCapsule_IsValid(capsule, DLPACK_PLAIN)) return;
  dlpack_release(PyCapsule_GetPointer(capsule, versioned ? DLPACK_VERSIONED : DLPACK_PLAIN), versioned);
}

static PyObject* capsule_of(void* managed, bool versioned) {
  PyObject* capsule = PyCapsule_New(managed, versioned ? DLPACK_VERSIONED : DLPACK_PLAIN, capsule_free);
  if (capsule == NULL) dlpack_release(managed, versioned);
  return capsule;
}

PyObject* dlpack_export(dl_batch* batch, int32_t field, bool versioned) {
  struct DLManagedTensor* plain = NULL;
  struct DLManagedTensorVersioned* new = NULL;
  NEW_ERROR(error);
  dl_status status = versioned ? dl_batch_dlpack_versioned(batch, field, &new, &error)
                               : dl_batch_dlpack(batch, field, &plain, &error);
  /* The protocol's word for "cannot be exported so". */
  if (status == DL_ERR_UNSUPPORTED) return PyErr_Format(PyExc_BufferError, "%s", error.message);
  if (!check(status, &error)) return NULL;
  return capsule_of(versioned ? (void*)new : (void*)plain, versioned);
}

/* A copy, in one block of memory with what describes it; any thread may free it. */
typedef struct {
  union {
    DLManagedTensor plain;
    DLManagedTensorVersioned versioned;
  } as;
  int64_t shape[DL_MAX_RANK];
  int64_t strides[DL_MAX_RANK];
} Copy;

static void free_plain(DLManagedTensor* self) { free(self); }
static void free_versioned(DLManagedTensorVersioned* self) { free(self); }

PyObject* dlpack_copy(const dl_view* view, bool versioned) {
  enum { kAlignment = 256 }; /* what DLPack asks of the data */
  int64_t item_bytes = dl_dtype_bytes(view->dtype);
  int64_t strides[DL_MAX_RANK];
  size_t head = (sizeof(Copy) + kAlignment - 1) / kAlignment * kAlignment;
  size_t body = (size_t)(item_bytes * item_count(view->shape, view->rank));
  Copy* made = aligned_alloc(kAlignment, head + (body + kAlignment - 1) / kAlignment * kAlignment);
  if (made == NULL) return PyErr_NoMemory();
  int64_t packed = 1;
  for (int32_t at = view->rank - 1; at >= 0; at--) {
    made->shape[at] = view->shape[at];
    made->strides[at] = packed;
    strides[at] = view->strides[at] * item_bytes;
    packed *= view->shape[at];
  }
  char* data = (char*)made + head;
  if (body > 0)
    copy_strided(data, (const char*)view->data + view->byte_offset, view->rank, view->shape, strides,
                 item_bytes);
  DLTensor tensor = {
      .data = data, .device = {DLPACK_CPU, 0}, .ndim = view->rank, .dtype = dlpack_type(view->dtype)};
  tensor.shape = made->shape;
  tensor.strides = made->strides;
  if (versioned)
    made->as.versioned =
        (DLManagedTensorVersioned){{DLPACK_MAJOR, 0}, NULL, free_versioned, DLPACK_IS_COPIED, tensor};
  else
    made->as.plain = (DLManagedTensor){tensor, NULL, free_plain};
  return capsule_of(made, versioned);
}
