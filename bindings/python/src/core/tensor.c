/* The type of tensors: what one is, and its buffer protocol (tensor_numpy.c, tensor_export.c: the other ways to see it).
 * SPDX-License-Identifier: Apache-2.0 */
#include "tensor.h"

static void tensor_free(Tensor* self) {
  batch_give_up(self->batch, self->view.device_type != DL_DEVICE_CPU);
  mailbox_empty();
  object_free((PyObject*)self);
}

/* ---- The buffer protocol. ---- */

static const char* format_of(int32_t dtype) {
  static const char* const formats[] = {NULL, "?", "B", "H",  "I", "Q", "b",  "h",
                                        "i",  "q", "e", NULL, "f", "d", "Zf", "Zd"};
  return dtype > 0 && dtype <= DL_DTYPE_C128 ? formats[dtype] : NULL;
}

static int tensor_get_buffer(Tensor* self, Py_buffer* out, int flags) {
  const char* format = format_of(self->view.dtype);
  bool read_only = (self->view.flags & DL_VIEW_READ_ONLY) != 0;
  const char* refused = NULL;
  out->obj = NULL;
  if (!tensor_on_host(self)) return -1;
  if ((flags & PyBUF_WRITABLE) != 0 && read_only)
    refused = "the field is read-only";
  else if ((flags & PyBUF_FORMAT) != 0 && format == NULL)
    refused = "the buffer protocol does not support bf16: use DLPack, or cast(f32) in the transform";
  else if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && self->view.rank > 1)
    refused = "the field is in C order";
  else if (!self->packed &&
           ((flags & PyBUF_STRIDES) != PyBUF_STRIDES || (flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS ||
            (flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS))
    refused = "the field is not packed: request strides";
  if (refused != NULL) {
    PyErr_SetString(PyExc_BufferError, refused);
    return -1;
  }
  static char nothing; /* an empty batch may have no memory, but a buffer has an address */
  out->buf = self->view.data == NULL ? &nothing : (char*)self->view.data + self->view.byte_offset;
  Py_INCREF((PyObject*)self);
  out->obj = (PyObject*)self;
  out->itemsize = dl_dtype_bytes(self->view.dtype);
  out->len = (Py_ssize_t)(out->itemsize * item_count(self->view.shape, self->view.rank));
  out->readonly = read_only;
  out->ndim = self->view.rank;
  out->format = (flags & PyBUF_FORMAT) != 0 ? (char*)format : NULL;
  out->shape = (flags & PyBUF_ND) != 0 ? (Py_ssize_t*)self->view.shape : NULL;
  out->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? self->strides : NULL;
  out->suboffsets = NULL;
  out->internal = NULL;
  return 0;
}
_Static_assert(sizeof(Py_ssize_t) == sizeof(int64_t), "shapes are passed on unchanged");

/* ---- What it is. ---- */

static PyObject* tensor_tobytes(Tensor* self, PyObject* none) {
  (void)none;
  if (!tensor_on_host(self)) return NULL;
  int64_t item_bytes = dl_dtype_bytes(self->view.dtype);
  int64_t bytes = item_bytes * item_count(self->view.shape, self->view.rank);
  PyObject* made = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)bytes);
  if (made != NULL && bytes > 0)
    copy_strided(PyBytes_AsString(made), (const char*)self->view.data + self->view.byte_offset,
                 self->view.rank, self->view.shape, (const int64_t*)self->strides, item_bytes);
  return made;
}

static PyObject* tensor_name(Tensor* self, void* none) {
  (void)none;
  return PyUnicode_FromString(self->view.name);
}
static PyObject* tensor_dtype(Tensor* self, void* none) {
  (void)none;
  return PyUnicode_FromString(dl_dtype_name(self->view.dtype));
}
static PyObject* tensor_shape(Tensor* self, void* none) {
  (void)none;
  return shape_tuple(self->view.shape, self->view.rank, 1);
}
static PyObject* tensor_strides(Tensor* self, void* none) {
  (void)none;
  return shape_tuple(self->view.strides, self->view.rank, 1);
}
static PyObject* tensor_axes(Tensor* self, void* none) {
  (void)none;
  return PyUnicode_FromString(self->view.axes);
}
static PyObject* tensor_read_only(Tensor* self, void* none) {
  (void)none;
  return PyBool_FromLong((self->view.flags & DL_VIEW_READ_ONLY) != 0);
}
static PyObject* tensor_overlapping(Tensor* self, void* none) {
  (void)none;
  return PyBool_FromLong((self->view.flags & DL_VIEW_OVERLAPPING) != 0);
}
static PyObject* tensor_pinned(Tensor* self, void* none) {
  (void)none;
  return PyBool_FromLong((self->view.flags & DL_VIEW_PINNED) != 0);
}
static PyObject* tensor_device(Tensor* self, void* none) {
  (void)none;
  if (self->view.device_type == DL_DEVICE_CPU) return PyUnicode_FromString("cpu");
  return PyUnicode_FromFormat("cuda:%d", (int)self->view.device_index);
}
static PyObject* tensor_nbytes(Tensor* self, void* none) {
  (void)none;
  return PyLong_FromLongLong(dl_dtype_bytes(self->view.dtype) *
                             item_count(self->view.shape, self->view.rank));
}
static PyObject* tensor_offsets(Tensor* self, void* none) {
  (void)none;
  if (self->view.kind == DL_KIND_RAGGED) return tensor_offsets_of(self);
  Py_RETURN_NONE;
}

static PyObject* tensor_repr(Tensor* self) {
  PyObject* shape = shape_tuple(self->view.shape, self->view.rank, 1);
  PyObject* text = shape == NULL ? NULL
                                 : PyUnicode_FromFormat("<dataline.Tensor %s: %s %R>", self->view.name,
                                                        dl_dtype_name(self->view.dtype), shape);
  Py_XDECREF(shape);
  return text;
}

static Py_ssize_t tensor_length(Tensor* self) {
  if (self->view.rank > 0) return (Py_ssize_t)self->view.shape[0];
  PyErr_SetString(PyExc_TypeError, "a tensor without dims has no length");
  return -1;
}

static PyMethodDef tensor_methods[] = {
    {"numpy", (PyCFunction)tensor_numpy, METH_NOARGS,
     "numpy($self, /)\n--\n\nAs a NumPy array that shares the memory; a ragged field as a Ragged of two."},
    {"__array__", (PyCFunction)(void (*)(void))tensor_array, METH_VARARGS | METH_KEYWORDS,
     "__array__($self, /, dtype=None, copy=None)\n--\n\nFor NumPy: the result of ``numpy``, or the packed "
     "data of a ragged field."},
    {"tobytes", (PyCFunction)tensor_tobytes, METH_NOARGS,
     "tobytes($self, /)\n--\n\nA packed copy, in C order."},
    {"__dlpack__", (PyCFunction)(void (*)(void))tensor_dlpack, METH_VARARGS | METH_KEYWORDS,
     "__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\nA DLPack "
     "capsule, versioned "
     "if `max_version` is 1.0 or more. An older one has no read-only flag, so it rejects such fields "
     "(BufferError).\n\nFor a field in device memory: `stream` waits until the batch is complete. "
     "None and 1: "
     "CUDA's legacy default stream; 2: the thread's own; -1: no waiting; more: a stream's handle; 0 is "
     "refused."},
    {"__dlpack_device__", (PyCFunction)tensor_dlpack_device, METH_NOARGS,
     "__dlpack_device__($self, /)\n--\n\n(type, index)."},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef tensor_properties[] = {
    {"name", (getter)tensor_name, NULL, "The name of the field; nested names use `/`.", NULL},
    {"dtype", (getter)tensor_dtype, NULL, "The library's name: \"u8\", \"bf16\".", NULL},
    {"shape", (getter)tensor_shape, NULL,
     "Items per dim; the first is the samples, or all rows of a ragged field.", NULL},
    {"strides", (getter)tensor_strides, NULL, "Strides in items, not bytes.", NULL},
    {"axes", (getter)tensor_axes, NULL, "One letter per dim (\"NHWC\"), or \"\" if unknown.", NULL},
    {"read_only", (getter)tensor_read_only, NULL, "Its bytes must not change.", NULL},
    {"overlapping", (getter)tensor_overlapping, NULL, "Shares bytes with another field of the batch.", NULL},
    {"device", (getter)tensor_device, NULL, "The device of its bytes: \"cpu\" or \"cuda:0\".", NULL},
    {"pinned", (getter)tensor_pinned, NULL, "In page-locked memory of the CPU, for copies to a device.",
     NULL},
    {"__cuda_array_interface__", (getter)tensor_cuda_array, NULL,
     "CUDA Array Interface, version 3, of a field in device memory. Its `stream` is the last one that "
     "``Batch.wait`` was called with before the tensor was created. Otherwise it is CUDA's legacy default "
     "stream, which waits for the batch now.",
     NULL},
    {"nbytes", (getter)tensor_nbytes, NULL, "Bytes of all items.", NULL},
    {"offsets", (getter)tensor_offsets, NULL,
     "The offsets of a ragged field: i64, sample i is rows [offsets[i], offsets[i + 1]). None if dense.",
     NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot tensor_slots[] = {
    {Py_tp_doc,
     "A field of a batch: buffer protocol and DLPack over the batch's memory. It holds the lease."},
    {Py_tp_dealloc, tensor_free},
    {Py_tp_methods, tensor_methods},
    {Py_tp_getset, tensor_properties},
    {Py_tp_repr, tensor_repr},
    {Py_sq_length, tensor_length},
    {Py_bf_getbuffer, tensor_get_buffer},
    {Py_tp_new, not_by_hand},
    {0, NULL}};
PyType_Spec tensor_spec = {"dataline.Tensor", sizeof(Tensor), sizeof(Py_ssize_t), Py_TPFLAGS_DEFAULT,
                           tensor_slots};
