/* The fields, as tuples that the Python side turns into named tuples.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

PyObject* shape_tuple(const int64_t* shape, int32_t rank, int64_t factor) {
  PyObject* tuple = PyTuple_New(rank);
  for (int32_t at = 0; tuple != NULL && at < rank; at++) {
    PyObject* number = PyLong_FromLongLong(shape[at] * factor);
    if (number == NULL || PyTuple_SetItem(tuple, at, number) != 0) {
      Py_DECREF(tuple);
      return NULL;
    }
  }
  return tuple;
}

/* (name, dtype, shape, ragged, axes, bytes of it or -1) */
static PyObject* field_of(const dl_view* view) {
  return Py_BuildValue("ssNNsL", view->name, dl_dtype_name(view->dtype),
                       shape_tuple(view->shape, view->rank, 1), PyBool_FromLong(view->kind == DL_KIND_RAGGED),
                       view->axes, (long long)view->bytes);
}

PyObject* fields_of(const dl_view* views, int32_t count) {
  PyObject* tuple = PyTuple_New(count);
  for (int32_t at = 0; tuple != NULL && at < count; at++) {
    PyObject* field = field_of(dl_view_at(views, at));
    if (field == NULL || PyTuple_SetItem(tuple, at, field) != 0) {
      Py_DECREF(tuple);
      return NULL;
    }
  }
  return tuple;
}
