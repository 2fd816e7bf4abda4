/* What the files about tensors share: tensor_make.c; over it tensor_numpy.c and tensor_export.c; over these tensor.c, the type.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DATALINE_PYTHON_TENSOR_H
#define DATALINE_PYTHON_TENSOR_H

#include "core.h"

typedef struct {
  PyObject_VAR_HEAD dl_batch* batch; /* this object's own reference */
  dl_view view;
  int32_t field;            /* -1: not a field, but numbers that belong to one or to the batch */
  _Atomic uintptr_t stream; /* the handle of the one that waits for the batch; 0: none */
  bool packed;
  Py_ssize_t strides[]; /* bytes; for numbers that are not a field: the stride and the count */
} Tensor;

bool tensor_on_host(
    const Tensor* self); /* tensor_make.c: whether this process may read the bytes; else BufferError */

/* tensor_numpy.c */
PyObject* tensor_numpy(Tensor* self, PyObject* none);
PyObject* tensor_array(Tensor* self, PyObject* arguments, PyObject* keywords);
PyObject* tensor_offsets_of(const Tensor* self); /* a memoryview */

/* tensor_export.c */
PyObject* tensor_dlpack(Tensor* self, PyObject* arguments, PyObject* keywords);
PyObject* tensor_dlpack_device(Tensor* self, PyObject* none);
PyObject* tensor_cuda_array(Tensor* self, void* none);

#endif
