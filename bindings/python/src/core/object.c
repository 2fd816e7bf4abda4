/* The types of the module, and what their objects have in common.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

#include <stdlib.h>

PyTypeObject *options_type, *token_type, *loan_type, *dataset_type, *cells_type, *loader_type, *epoch_type,
    *batch_type, *tensor_type, *opening_type, *extensions_type, *lent_type, *file_type, *metrics_type,
    *pieces_type, *writer_type;

PyObject* from_package(const char* module, const char* name) {
  PyObject* package = PyImport_ImportModule(module);
  PyObject* value = package == NULL ? NULL : PyObject_GetAttrString(package, name);
  Py_XDECREF(package);
  return value;
}

PyObject* keep_first(_Atomic(PyObject*)* place, PyObject* made) {
  PyObject* before = NULL;
  if (made == NULL || atomic_compare_exchange_strong(place, &before, made)) return made;
  Py_DECREF(made);
  return before;
}

PyObject* kept_from_package(_Atomic(PyObject*)* place, const char* module, const char* name) {
  PyObject* kept = atomic_load(place);
  return kept != NULL ? kept : keep_first(place, from_package(module, name));
}

dl_status text_from(dl_status (*call)(const void*, char*, size_t*, dl_error*), const void* of, char** text,
                    dl_error* error) {
  size_t bytes = 0;
  dl_status status = call(of, NULL, &bytes, error);
  while (status == DL_OK) {
    const size_t room = bytes;
    *text = malloc(room);
    if (*text == NULL) return DL_ERR_NO_MEMORY;
    status = call(of, *text, &bytes, error);
    if (status == DL_OK) return DL_OK;
    free(*text);
    *text = NULL;
    if (bytes > room) status = DL_OK; /* the text has grown since its length was returned */
  }
  return status;
}

void object_free(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF((PyObject*)type);
}

PyObject* not_by_hand(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  (void)arguments, (void)keywords;
  return PyErr_Format(PyExc_TypeError, "%R cannot be created directly", (PyObject*)type);
}

/* Python's name of a type may be another than the one it is found by here. */
bool add_type(PyObject* module, const char* name, PyType_Spec* spec, PyTypeObject** type) {
  *type = (PyTypeObject*)PyType_FromSpec(spec);
  if (*type == NULL) return false;
  Py_INCREF((PyObject*)*type); /* one for the module, one for the pointer */
  return PyModule_AddObject(module, name, (PyObject*)*type) == 0;
}
