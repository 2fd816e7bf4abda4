/* Tensors as NumPy's arrays, without its headers: its own constructor over the buffer.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tensor.h"

/* NumPy's array type, its `asarray`, and its dtypes by the library's numbers. */
static PyObject* numpy_parts(void) {
  static _Atomic(PyObject*) kept = NULL;
  PyObject* parts = atomic_load(&kept);
  if (parts != NULL) return parts;
  PyObject* load = from_package("dataline._numpy", "load");
  if (load != NULL) parts = PyObject_CallFunctionObjArgs(load, NULL);
  Py_XDECREF(load);
  return keep_first(&kept, parts);
}

static PyObject* packed_array(PyObject* tensor) {
  PyObject *make, *take, *dtypes;
  const Tensor* self = (const Tensor*)tensor;
  if (!tensor_on_host(self)) return NULL;
  PyObject* parts = numpy_parts();
  if (parts == NULL || !PyArg_ParseTuple(parts, "OOO", &make, &take, &dtypes)) return NULL;
  PyObject* dtype = PyTuple_GetItem(dtypes, self->view.dtype);
  if (dtype == Py_None)
    return raise_local(DL_ERR_UNSUPPORTED,
                       "%s: NumPy has no %s without the package ml_dtypes; use the tensor with DLPack, "
                       "or cast(f32) in the transform",
                       self->view.name, dl_dtype_name(self->view.dtype));
  if (!self->packed) return PyObject_CallFunctionObjArgs(take, tensor, NULL);
  PyObject* shape = shape_tuple(self->view.shape, self->view.rank, 1);
  PyObject* array = shape == NULL ? NULL : PyObject_CallFunctionObjArgs(make, shape, dtype, tensor, NULL);
  Py_XDECREF(shape);
  return array;
}

PyObject* tensor_offsets_of(const Tensor* self) {
  dl_batch_info info = {.struct_size = sizeof info};
  NEW_ERROR(error);
  if (!check(dl_batch_get_info(self->batch, &info, &error), &error)) return NULL;
  return integers_of(self->batch, self->view.offsets, info.samples + 1);
}

PyObject* tensor_numpy(Tensor* self, PyObject* none) {
  (void)none;
  static _Atomic(PyObject*) kept = NULL;
  PyObject* data = packed_array((PyObject*)self);
  if (data == NULL || self->view.kind == DL_KIND_DENSE) return data;
  PyObject *make = kept_from_package(&kept, "dataline._numpy", "ragged"), *offsets = NULL, *ragged = NULL;
  if (make != NULL) offsets = tensor_offsets_of(self);
  if (offsets != NULL) ragged = PyObject_CallFunctionObjArgs(make, data, offsets, NULL);
  Py_DECREF(data);
  Py_XDECREF(offsets);
  return ragged;
}

PyObject* array_of(dl_batch* batch, int32_t field) {
  PyObject* tensor = tensor_of(batch, field);
  PyObject* array = tensor == NULL ? NULL : tensor_numpy((Tensor*)tensor, NULL);
  Py_XDECREF(tensor);
  return array;
}

/* NumPy calls it if it cannot get a buffer. Otherwise it would silently make an array of one object. */
PyObject* tensor_array(Tensor* self, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {"dtype", "copy", NULL};
  PyObject *dtype = Py_None, *copy = Py_None;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|OO:__array__", names, &dtype, &copy)) return NULL;
  PyObject* array = packed_array((PyObject*)self);
  if (array == NULL || (dtype == Py_None && copy != Py_True)) return array;
  PyObject* made;
  if (dtype == Py_None)
    made = PyObject_CallMethod(array, "copy", NULL);
  else /* dtype, order, casting, subok, copy */
    made = PyObject_CallMethod(array, "astype", "OssOO", dtype, "C", "unsafe", Py_False,
                               copy == Py_True ? Py_True : Py_False);
  if (made != NULL && made != array && copy == Py_False) {
    Py_DECREF(made);
    made = NULL;
    PyErr_SetString(PyExc_ValueError, "copy=False: another dtype needs a copy");
  }
  Py_DECREF(array);
  return made;
}
