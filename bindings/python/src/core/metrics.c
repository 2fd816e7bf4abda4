/* The measurements of a loader. A dl_metrics ends when its object is dropped, so calls need no lock. Calls of the library may
 * wait for a loader, so they release the interpreter's lock.
 * SPDX-License-Identifier: Apache-2.0 */
#include "calls.h"

#include <stdlib.h>

typedef struct {
  PyObject_HEAD dl_metrics* handle;
} Metrics;

PyObject* loader_metrics(Loader* self, PyObject* none) {
  (void)none;
  dl_metrics* made = NULL;
  CALL(self, dl_loader_metrics(loader, &made, &error));
  allocfunc allocate = (allocfunc)PyType_GetSlot(metrics_type, Py_tp_alloc);
  Metrics* metrics = (Metrics*)allocate(metrics_type, 0);
  if (metrics == NULL)
    dl_metrics_destroy(made);
  else
    metrics->handle = made;
  return (PyObject*)metrics;
}

static void metrics_free(Metrics* self) {
  Py_BEGIN_ALLOW_THREADS dl_metrics_destroy(self->handle);
  Py_END_ALLOW_THREADS object_free((PyObject*)self);
}

static PyObject* metrics_rows(Metrics* self, PyObject* none) {
  (void)none;
  PyObject* list = PyList_New(0);
  const int64_t count = dl_metrics_count(self->handle);
  for (int64_t at = 0; list != NULL && at < count; at++) {
    dl_metric row = {.struct_size = sizeof row};
    dl_status status;
    NEW_ERROR(error);
    Py_BEGIN_ALLOW_THREADS status = dl_metrics_at(self->handle, at, &row, &error);
    Py_END_ALLOW_THREADS PyObject* made = check(status, &error) ? metric_dict(&row) : NULL;
    if (made == NULL || PyList_Append(list, made) != 0) Py_CLEAR(list);
    Py_XDECREF(made);
  }
  return list;
}

/* Others may push the oldest out meanwhile; then the same stalls are read again, as one list. */
static PyObject* metrics_stalls(Metrics* self, PyObject* none) {
  (void)none;
  PyObject* list = PyList_New(0);
  const int64_t count = dl_metrics_stall_count(self->handle);
  for (int64_t at = 0; list != NULL && at < count; at++) {
    dl_stall stall = {.struct_size = sizeof stall};
    NEW_ERROR(error);
    PyObject* made =
        check(dl_metrics_stall_at(self->handle, at, &stall, &error), &error) ? stall_dict(&stall) : NULL;
    if (made == NULL || PyList_Append(list, made) != 0) Py_CLEAR(list);
    Py_XDECREF(made);
  }
  return list;
}

/* *text: the caller's to free, NULL when the status is not DL_OK. */
static dl_status metrics_as_text(const dl_metrics* metrics, const char* labels, char** text,
                                 dl_error* error) {
  size_t bytes = 0;
  dl_status status = dl_metrics_text(metrics, labels, NULL, &bytes, error);
  while (status == DL_OK) {
    const size_t room = bytes;
    *text = malloc(room);
    if (*text == NULL) return dl_error_set(error, DL_ERR_NO_MEMORY, "metrics: no memory for the text");
    status = dl_metrics_text(metrics, labels, *text, &bytes, error);
    if (status == DL_OK) return DL_OK;
    free(*text);
    *text = NULL;
    if (bytes > room) status = DL_OK; /* the numbers have grown meanwhile */
  }
  return status;
}

static PyObject* metrics_text(Metrics* self, PyObject* arguments) {
  const char* labels;
  if (!PyArg_ParseTuple(arguments, "s:_text", &labels)) return NULL;
  char* text = NULL;
  dl_status status;
  NEW_ERROR(error);
  Py_BEGIN_ALLOW_THREADS status = metrics_as_text(self->handle, labels, &text, &error);
  Py_END_ALLOW_THREADS if (!check(status, &error)) return NULL;
  PyObject* made = PyUnicode_FromString(text);
  free(text);
  return made;
}

static PyObject* metrics_count(Metrics* self, PyObject* none) {
  (void)none;
  return PyLong_FromLongLong(dl_metrics_count(self->handle));
}

static PyMethodDef metrics_methods[] = {
    {"_rows", (PyCFunction)metrics_rows, METH_NOARGS, "_rows($self, /)\n--\n\n"},
    {"_count", (PyCFunction)metrics_count, METH_NOARGS, "_count($self, /)\n--\n\n"},
    {"_stalls", (PyCFunction)metrics_stalls, METH_NOARGS, "_stalls($self, /)\n--\n\n"},
    {"_text", (PyCFunction)metrics_text, METH_VARARGS, "_text($self, labels, /)\n--\n\n"},
    {NULL, NULL, 0, NULL}};
static PyType_Slot metrics_slots[] = {{Py_tp_doc, "A handle on the measurements of a loader."},
                                      {Py_tp_dealloc, metrics_free},
                                      {Py_tp_methods, metrics_methods},
                                      {Py_tp_new, not_by_hand},
                                      {0, NULL}};
PyType_Spec metrics_spec = {"dataline._core.Metrics", sizeof(Metrics), 0, Py_TPFLAGS_DEFAULT, metrics_slots};
