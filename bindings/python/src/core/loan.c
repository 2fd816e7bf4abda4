/* Loans: memory of other objects, described and kept.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core.h"
#include "dlpack.h"

#include <string.h>

enum { HELD_NOT, HELD_BUFFER, HELD_DLPACK, HELD_DLPACK_VERSIONED, HELD_OBJECT };

static void loan_free(Loan* self) {
  if (self->held == HELD_BUFFER)
    PyBuffer_Release(&self->by.buffer);
  else if (self->held == HELD_DLPACK || self->held == HELD_DLPACK_VERSIONED)
    dlpack_release(self->by.dlpack, self->held == HELD_DLPACK_VERSIONED);
  else if (self->held == HELD_OBJECT)
    Py_DECREF(self->by.object);
  object_free((PyObject*)self);
}

static Loan* loan_make(PyObject* type) {
  allocfunc allocate = (allocfunc)PyType_GetSlot((PyTypeObject*)type, Py_tp_alloc);
  return (Loan*)allocate((PyTypeObject*)type, 0);
}

/* The dtype of one item in the words of the `struct` module, 0 when there is none. */
static int32_t dtype_of_format(const char* format, Py_ssize_t bytes) {
  if (format == NULL) format = "B";
  if (*format == '@' || *format == '=' || (*format == '<' && PY_LITTLE_ENDIAN)) format++;
  if (*format == '\0') return 0;
  if (format[0] == 'Z' && format[1] != '\0' && format[2] == '\0')
    return format[1] == 'f' ? DL_DTYPE_C64 : format[1] == 'd' ? DL_DTYPE_C128 : 0;
  if (format[1] != '\0') return 0;
  char name[8] = "";
  if (*format == '?') return DL_DTYPE_BOOL;
  if (strchr("BHILQNc", *format) != NULL)
    PyOS_snprintf(name, sizeof name, "u%d", (int)(8 * bytes));
  else if (strchr("bhilqn", *format) != NULL)
    PyOS_snprintf(name, sizeof name, "i%d", (int)(8 * bytes));
  else if (strchr("efd", *format) != NULL)
    PyOS_snprintf(name, sizeof name, "f%d", (int)(8 * bytes));
  return dl_dtype_from_name(name);
}

/* Any bytes, whatever they are of, as a row of u8. */
static PyObject* loan_of_bytes(PyObject* type, PyObject* object) {
  Loan* self = loan_make(type);
  if (self == NULL) return NULL;
  if (PyObject_GetBuffer(object, &self->by.buffer, PyBUF_SIMPLE) != 0) {
    Py_DECREF(self);
    return NULL;
  }
  self->held = HELD_BUFFER;
  self->dtype = DL_DTYPE_U8;
  self->data = self->by.buffer.buf;
  self->rank = 1;
  self->shape[0] = self->by.buffer.len;
  self->strides[0] = 1;
  return (PyObject*)self;
}

static PyObject* loan_of_buffer(PyObject* type, PyObject* object) {
  Loan* self = loan_make(type);
  if (self == NULL) return NULL;
  if (PyObject_GetBuffer(object, &self->by.buffer, PyBUF_RECORDS_RO) != 0) {
    Py_DECREF(self);
    return NULL;
  }
  self->held = HELD_BUFFER;
  const Py_buffer* buffer = &self->by.buffer;
  self->dtype = dtype_of_format(buffer->format, buffer->itemsize);
  if (self->dtype == 0 || buffer->ndim > DL_MAX_RANK) {
    raise_local(DL_ERR_UNSUPPORTED, "items of format \"%s\" in %d dims: expected %s", buffer->format,
                buffer->ndim, "numbers of this machine's byte order");
    Py_DECREF(self);
    return NULL;
  }
  self->data = buffer->buf;
  self->rank = buffer->ndim;
  int64_t packed = buffer->itemsize; /* exporters such as ctypes omit strides, whatever was requested */
  for (int at = buffer->ndim - 1; at >= 0; at--) {
    self->shape[at] = buffer->shape == NULL ? buffer->len / buffer->itemsize : buffer->shape[at];
    self->strides[at] = buffer->strides == NULL ? packed : buffer->strides[at];
    packed *= self->shape[at];
  }
  return (PyObject*)self;
}

/* of_memory(owner, address, dtype, shape, strides in bytes) */
static PyObject* loan_of_memory(PyObject* type, PyObject* arguments) {
  PyObject *owner, *shape, *strides;
  unsigned long long address;
  const char* dtype;
  if (!PyArg_ParseTuple(arguments, "OKsO!O!:of_memory", &owner, &address, &dtype, &PyTuple_Type, &shape,
                        &PyTuple_Type, &strides))
    return NULL;
  Py_ssize_t rank = PyTuple_Size(shape);
  if (dl_dtype_from_name(dtype) == 0 || rank > DL_MAX_RANK || PyTuple_Size(strides) != rank)
    return raise_local(DL_ERR_UNSUPPORTED, "items of dtype %s in %d dims", dtype, (int)rank);
  Loan* self = loan_make(type);
  if (self == NULL) return NULL;
  Py_INCREF(owner);
  self->held = HELD_OBJECT;
  self->by.object = owner;
  self->data = (char*)(uintptr_t)address;
  self->dtype = dl_dtype_from_name(dtype);
  self->rank = (int32_t)rank;
  for (Py_ssize_t at = 0; at < rank; at++) {
    self->shape[at] = PyLong_AsLongLong(PyTuple_GetItem(shape, at));
    self->strides[at] = PyLong_AsLongLong(PyTuple_GetItem(strides, at));
  }
  if (!PyErr_Occurred()) return (PyObject*)self;
  Py_DECREF(self);
  return NULL;
}

/* The tensor of a capsule, which nobody else can take from here on; NULL: somebody did, or it is a capsule of something else. */
static void* take_from(PyObject* capsule, bool* versioned) {
  void* managed = NULL;
  BEGIN_EXCLUSIVE(capsule);
  *versioned = PyCapsule_IsValid(capsule, DLPACK_VERSIONED);
  if (*versioned || PyCapsule_IsValid(capsule, DLPACK_PLAIN)) {
    managed = PyCapsule_GetPointer(capsule, *versioned ? DLPACK_VERSIONED : DLPACK_PLAIN);
    PyCapsule_SetName(capsule, *versioned ? "used_" DLPACK_VERSIONED : "used_" DLPACK_PLAIN);
  }
  END_EXCLUSIVE();
  return managed;
}

/* The capsule frees it again. */
static PyObject* refuse(PyObject* capsule, bool versioned, const char* reason) {
  PyCapsule_SetName(capsule, versioned ? DLPACK_VERSIONED : DLPACK_PLAIN);
  return reason == NULL ? NULL : PyErr_Format(PyExc_BufferError, "%s", reason);
}

PyObject* loan_of_capsule(PyObject* type, PyObject* capsule) {
  bool versioned;
  void* managed = take_from(capsule, &versioned);
  if (managed == NULL) return PyErr_Format(PyExc_ValueError, "expected a DLPack capsule that is not used up");
  const DLTensor* tensor =
      versioned ? &((DLManagedTensorVersioned*)managed)->tensor : &((DLManagedTensor*)managed)->tensor;
  if (versioned && ((DLManagedTensorVersioned*)managed)->version.major != DLPACK_MAJOR)
    return refuse(capsule, versioned, "unsupported major version of DLPack");
  Loan* self = loan_make(type);
  if (self == NULL) return refuse(capsule, versioned, NULL);
  self->dtype = dlpack_dtype(tensor->dtype);
  bool on_host = tensor->device.device_type == DLPACK_CPU || tensor->device.device_type == DLPACK_CUDA_HOST;
  if (self->dtype == 0 || !on_host || tensor->ndim > DL_MAX_RANK) {
    Py_DECREF(self);
    return refuse(capsule, versioned, "expected numbers in host memory");
  }
  self->held = versioned ? HELD_DLPACK_VERSIONED : HELD_DLPACK;
  self->by.dlpack = managed;
  self->data = (char*)tensor->data + tensor->byte_offset;
  self->rank = tensor->ndim;
  int64_t packed = dl_dtype_bytes(self->dtype);
  for (int32_t at = tensor->ndim - 1; at >= 0; at--) {
    self->shape[at] = tensor->shape[at];
    self->strides[at] = tensor->strides == NULL ? packed : tensor->strides[at] * dl_dtype_bytes(self->dtype);
    packed *= tensor->shape[at];
  }
  return (PyObject*)self;
}

static PyObject* loan_dtype(Loan* self, void* none) {
  (void)none;
  return PyUnicode_FromString(dl_dtype_name(self->dtype));
}
static PyObject* loan_shape(Loan* self, void* none) {
  (void)none;
  return shape_tuple(self->shape, self->rank, 1);
}
static PyObject* loan_strides(Loan* self, void* none) {
  (void)none;
  return shape_tuple(self->strides, self->rank, 1);
}
static PyObject* loan_address(Loan* self, void* none) {
  (void)none;
  return PyLong_FromVoidPtr(self->data);
}

static PyObject* loan_item(Loan* self, PyObject* index) {
  long long at = PyLong_AsLongLong(index);
  if (at == -1 && PyErr_Occurred()) return NULL;
  if (self->rank != 1 || self->dtype != DL_DTYPE_I64 || at < 0 || at >= self->shape[0])
    return PyErr_Format(PyExc_IndexError, "expected an index into a row of i64");
  return PyLong_FromLongLong(*(const int64_t*)(self->data + at * self->strides[0]));
}

static PyGetSetDef loan_properties[] = {
    {"dtype", (getter)loan_dtype, NULL, "The library's name.", NULL},
    {"shape", (getter)loan_shape, NULL, "Items per dim.", NULL},
    {"strides", (getter)loan_strides, NULL, "Bytes per dim.", NULL},
    {"address", (getter)loan_address, NULL, "The address of the first item.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyMethodDef loan_methods[] = {
    {"of_buffer", (PyCFunction)loan_of_buffer, METH_O | METH_CLASS,
     "of_buffer($type, object, /)\n--\n\nFrom an object with the buffer protocol."},
    {"of_bytes", (PyCFunction)loan_of_bytes, METH_O | METH_CLASS,
     "of_bytes($type, object, /)\n--\n\nFrom the bytes of an object with the buffer protocol, whatever its "
     "items are."},
    {"of_capsule", (PyCFunction)loan_of_capsule, METH_O | METH_CLASS,
     "of_capsule($type, capsule, /)\n--\n\nFrom a DLPack capsule, which is used up."},
    {"of_memory", (PyCFunction)loan_of_memory, METH_VARARGS | METH_CLASS,
     "of_memory($type, owner, address, dtype, shape, strides, /)\n--\n\nFrom memory that the object `owner` "
     "keeps in place."},
    {"item", (PyCFunction)loan_item, METH_O, "item($self, index, /)\n--\n\nAn item of a row of i64."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot loan_slots[] = {{Py_tp_doc, "Memory of another object, kept alive and in place."},
                                   {Py_tp_dealloc, loan_free},
                                   {Py_tp_methods, loan_methods},
                                   {Py_tp_getset, loan_properties},
                                   {Py_tp_new, not_by_hand},
                                   {0, NULL}};
PyType_Spec loan_spec = {"dataline._core.Loan", sizeof(Loan), 0, Py_TPFLAGS_DEFAULT, loan_slots};
