/* Tensors are made: a field of a batch, or numbers that belong to it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tensor.h"

static Tensor* tensor_make(dl_batch* batch, const dl_view* view, int32_t field, int32_t numbers) {
  allocfunc allocate = (allocfunc)PyType_GetSlot(tensor_type, Py_tp_alloc);
  Tensor* self = (Tensor*)allocate(tensor_type, numbers);
  if (self == NULL) return NULL;
  dl_batch_retain(batch);
  self->batch = batch;
  self->view = *view;
  self->field = field;
  self->packed = true;
  return self;
}

void tensor_waited(PyObject* tensor, uintptr_t stream) { ((Tensor*)tensor)->stream = stream; }

PyObject* tensor_of(dl_batch* batch, int32_t field) {
  int32_t count = 0;
  const dl_view* view = dl_view_at(dl_batch_views(batch, &count), field);
  Tensor* self = tensor_make(batch, view, field, view->rank);
  if (self == NULL) return NULL;
  int64_t packed = dl_dtype_bytes(view->dtype);
  bool empty = item_count(view->shape, view->rank) == 0;
  for (int32_t at = view->rank - 1; at >= 0; at--) {
    self->strides[at] = (Py_ssize_t)(view->strides[at] * dl_dtype_bytes(view->dtype));
    if (self->strides[at] != packed && view->shape[at] > 1 && !empty) self->packed = false;
    packed *= view->shape[at];
  }
  return (PyObject*)self;
}

PyObject* integers_of(dl_batch* batch, const int64_t* values, int64_t count) {
  static const int64_t unit = 1;
  dl_view view = {.name = "", .axes = "", .dtype = DL_DTYPE_I64, .rank = 1, .flags = DL_VIEW_READ_ONLY};
  view.device_type = DL_DEVICE_CPU;
  view.strides = &unit;
  view.data = (void*)values;
  Tensor* self = tensor_make(batch, &view, -1, 2);
  if (self == NULL) return NULL;
  self->strides[0] = sizeof(int64_t);
  self->strides[1] = (Py_ssize_t)count;
  self->view.shape = (const int64_t*)&self->strides[1];
  PyObject* memory = PyMemoryView_FromObject((PyObject*)self);
  Py_DECREF((PyObject*)self);
  return memory;
}

bool tensor_on_host(const Tensor* self) {
  if (self->view.device_type == DL_DEVICE_CPU) return true;
  PyErr_Format(PyExc_BufferError,
               "%s is in the memory of cuda:%d, which the CPU cannot read: use DLPack "
               "(torch.from_dlpack, cupy.from_dlpack) or __cuda_array_interface__, or device=\"cpu\"",
               self->view.name, (int)self->view.device_index);
  return false;
}
