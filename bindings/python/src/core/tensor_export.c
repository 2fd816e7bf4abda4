/* Tensors for other libraries: by DLPack, and as CUDA's arrays.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tensor.h"

/* ---- DLPack. ---- */

/* None or (major, minor); true when consumers take 1.x. */
static bool takes_versioned(PyObject* max_version) {
  if (max_version == NULL || max_version == Py_None) return false;
  PyObject* major = PySequence_GetItem(max_version, 0);
  long number = major == NULL ? -1 : PyLong_AsLong(major);
  Py_XDECREF(major);
  return number >= 1;
}

/* None, or where the tensor is. */
static bool is_there(const Tensor* self, PyObject* device) {
  int type, index;
  if (device == NULL || device == Py_None) return true;
  if (!PyArg_ParseTuple(device, "ii", &type, &index)) return false;
  return type == self->view.device_type && (type == DL_DEVICE_CPU || index == self->view.device_index);
}

/* Copies are made by the CPU here, and those of device memory by who asks, who has a stream for it. */
static bool copy_refused(const Tensor* self) {
  if (self->view.device_type == DL_DEVICE_CPU) return false;
  PyErr_Format(PyExc_BufferError,
               "copy: %s is in the memory of cuda:%d: export it without a copy, and copy it there",
               self->view.name, (int)self->view.device_index);
  return true;
}

PyObject* tensor_dlpack(Tensor* self, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {"stream", "max_version", "dl_device", "copy", NULL};
  PyObject *stream = Py_None, *max_version = Py_None, *device = Py_None, *copy = Py_None;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|$OOOO:__dlpack__", names, &stream, &max_version,
                                   &device, &copy))
    return NULL;
  bool versioned = takes_versioned(max_version);
  bool there = is_there(self, device);
  if (PyErr_Occurred()) return NULL;
  if (!there)
    return PyErr_Format(PyExc_BufferError, "dl_device: expected (%d, %d), the device of the tensor",
                        (int)self->view.device_type, (int)self->view.device_index);
  if (self->view.device_type == DL_DEVICE_CPU) {
    if (stream != Py_None) return PyErr_Format(PyExc_BufferError, "stream: expected None for host memory");
    if (copy != Py_None && PyObject_IsTrue(copy) == 1) return dlpack_copy(&self->view, versioned);
  } else {
    if (copy != Py_None && PyObject_IsTrue(copy) == 1 && copy_refused(self)) return NULL;
    if (!stream_waits_dlpack(self->batch, stream)) return NULL;
  }
  return dlpack_export(self->batch, self->field, versioned);
}

PyObject* tensor_dlpack_device(Tensor* self, PyObject* none) {
  (void)none;
  return Py_BuildValue("ii", (int)self->view.device_type, (int)self->view.device_index);
}

/* ---- CUDA Array Interface. ---- */

/* As NumPy's `typestr`; NULL: it has no word for it. */
static const char* typestr_of(int32_t dtype) {
  static const char* const little[] = {NULL,  "|b1", "|u1", "<u2", "<u4", "<u8", "|i1", "<i2",
                                       "<i4", "<i8", "<f2", NULL,  "<f4", "<f8", "<c8", "<c16"};
  return dtype > 0 && dtype <= DL_DTYPE_C128 ? little[dtype] : NULL;
}
_Static_assert(PY_LITTLE_ENDIAN, "CUDA supports only little-endian CPUs");

static PyObject* strides_or_none(const Tensor* self) {
  if (self->packed) Py_RETURN_NONE;
  return shape_tuple(self->view.strides, self->view.rank, dl_dtype_bytes(self->view.dtype));
}

PyObject* tensor_cuda_array(Tensor* self, void* none) {
  (void)none;
  const char* typestr = typestr_of(self->view.dtype);
  if (self->view.device_type == DL_DEVICE_CPU)
    return PyErr_Format(PyExc_AttributeError, "__cuda_array_interface__: %s is in host memory",
                        self->view.name);
  if (typestr == NULL)
    return PyErr_Format(PyExc_AttributeError, "__cuda_array_interface__ does not support %s: use DLPack",
                        dl_dtype_name(self->view.dtype));
  if (self->stream == 0) {
    if (!stream_waits(self->batch, STREAM_LEGACY)) return NULL;
    self->stream = STREAM_LEGACY;
  }
  bool read_only = (self->view.flags & DL_VIEW_READ_ONLY) != 0;
  return Py_BuildValue("{sNsss(KN)sisNsK}", "shape", shape_tuple(self->view.shape, self->view.rank, 1),
                       "typestr", typestr, "data",
                       (unsigned long long)((uintptr_t)self->view.data + self->view.byte_offset),
                       PyBool_FromLong(read_only), "version", 3, "strides", strides_or_none(self), "stream",
                       (unsigned long long)self->stream);
}
