/* The tables that extensions pass to the library, and calls from the library into Python. These come on any of its threads,
 * with objects that are lent for the call. Errors are converted to those of the library.
 * SPDX-License-Identifier: Apache-2.0 */
#include "callbacks.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- Tables ---- */

void* structs_of(PyObject* tuple, size_t size, bool (*fill)(PyObject* item, void* out)) {
  Py_ssize_t count = PyTuple_Size(tuple);
  char* made = calloc((size_t)count + 1, size);
  if (made == NULL) return PyErr_NoMemory();
  for (Py_ssize_t at = 0; at < count; at++) {
    if (fill(PyTuple_GetItem(tuple, at), made + (size_t)at * size)) continue;
    free(made);
    return NULL;
  }
  return made;
}

PyObject* table_added(letter* kept, dl_status status, const dl_error* error) {
  if (check(status, error)) Py_RETURN_NONE;
  letter_discard(kept);
  return NULL;
}

/* ---- Calls ---- */

dl_status in_python(python_call call, void* context, void* about, dl_error* error) {
  dl_status status = DL_ERR_READER;
  pthread_cleanup_push(thread_is_ended, NULL);
  PyGILState_STATE state;
  if (interpreter_enter(&state)) {
    mailbox_empty();
    status = call(context == NULL ? NULL : letter_owner(context), about, error);
    interpreter_leave(state);
  } else {
    status = dl_error_set(error, DL_ERR_READER, "Python is ending");
  }
  pthread_cleanup_pop(0);
  return status;
}

dl_status callback_failed(dl_error* error, int32_t* wrong_argument) {
  if (caller_keeps_exception()) return DL_CANCELLED;
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  int code = DL_ERR_READER, argument = -1;
  PyObject* told = NULL;
  PyObject* describe = from_package("dataline._extensions", "describe");
  if (describe != NULL && value != NULL) told = PyObject_CallFunctionObjArgs(describe, value, NULL);
  PyObject* text = NULL;
  if (told == NULL || !PyArg_ParseTuple(told, "iOi", &code, &text, &argument)) text = NULL;
  PyErr_Clear();
  if (wrong_argument != NULL) *wrong_argument = argument;
  dl_error_set(error, code, text == NULL ? "the callback failed" : PyBytes_AsString(text));
  Py_XDECREF(told);
  Py_XDECREF(describe);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(traceback);
  return code;
}

/* ---- What is lent for a call: usable by the thread that was called, until it returns ---- */

PyObject* lent_new(const dl_options* options, const int32_t* cancelled) {
  allocfunc allocate = (allocfunc)PyType_GetSlot(lent_type, Py_tp_alloc);
  Lent* self = (Lent*)allocate(lent_type, 0);
  if (self == NULL) return NULL;
  self->options = options;
  self->cancelled = cancelled;
  self->thread = PyThread_get_thread_ident();
  return (PyObject*)self;
}

void lent_end(PyObject* lent) {
  if (lent == NULL) return;
  atomic_store(&((Lent*)lent)->thread, 0);
  Py_DECREF(lent);
}

static bool is_lent(Lent* self) {
  if (atomic_load(&self->thread) == PyThread_get_thread_ident()) return true;
  raise_local(DL_ERR_WRONG_STATE, "a request was used after its call, or on another thread");
  return false;
}

static PyObject* lent_cancelled(Lent* self, PyObject* none) {
  (void)none;
  if (!is_lent(self)) return NULL;
  return PyBool_FromLong(self->cancelled != NULL && __atomic_load_n(self->cancelled, __ATOMIC_RELAXED) != 0);
}

static PyObject* lent_file(Lent* self, PyObject* arguments) {
  const char* path;
  if (!PyArg_ParseTuple(arguments, "s:file", &path) || !is_lent(self)) return NULL;
  dl_file* made = NULL;
  dl_status status;
  NEW_ERROR(error);
  Py_BEGIN_ALLOW_THREADS status = dl_file_open(path, self->options, &made, &error);
  Py_END_ALLOW_THREADS mailbox_empty();
  if (!check(status, &error)) return NULL;
  allocfunc allocate = (allocfunc)PyType_GetSlot(file_type, Py_tp_alloc);
  File* file = (File*)allocate(file_type, 0);
  if (file == NULL)
    dl_file_destroy(made);
  else
    file->handle = made;
  return (PyObject*)file;
}

/* open(dataset, uri): the dataset is opened with the caller's options. */
static PyObject* lent_open(Lent* self, PyObject* arguments) {
  Dataset* dataset;
  const char* uri;
  if (!PyArg_ParseTuple(arguments, "O!s:open", dataset_type, &dataset, &uri) || !is_lent(self)) return NULL;
  dl_dataset* made = NULL;
  dl_status status;
  NEW_ERROR(error);
  Py_BEGIN_ALLOW_THREADS status = dl_dataset_open(uri, self->options, &made, &error);
  Py_END_ALLOW_THREADS return dataset_opened(dataset, made, status, &error);
}

static PyMethodDef lent_methods[] = {
    {"file", (PyCFunction)lent_file, METH_VARARGS, "file($self, path, /)\n--\n\n"},
    {"open", (PyCFunction)lent_open, METH_VARARGS, "open($self, dataset, uri, /)\n--\n\n"},
    {"cancelled", (PyCFunction)lent_cancelled, METH_NOARGS, "cancelled($self, /)\n--\n\n"},
    {NULL, NULL, 0, NULL}};
static PyType_Slot lent_slots[] = {{Py_tp_doc, "The caller's options, valid during a call."},
                                   {Py_tp_methods, lent_methods},
                                   {Py_tp_new, not_by_hand},
                                   {0, NULL}};
PyType_Spec lent_spec = {"dataline._core.Lent", sizeof(Lent), 0, Py_TPFLAGS_DEFAULT, lent_slots};

/* ---- Files: never closed before they are dropped, so that reads need no lock ---- */

static void file_free(File* self) {
  Py_BEGIN_ALLOW_THREADS dl_file_destroy(self->handle);
  Py_END_ALLOW_THREADS mailbox_empty();
  object_free((PyObject*)self);
}

static PyObject* file_size(File* self, void* none) {
  (void)none;
  return PyLong_FromLongLong(dl_file_bytes(self->handle));
}

static PyObject* file_read(File* self, PyObject* arguments) {
  long long offset, length;
  if (!PyArg_ParseTuple(arguments, "LL:read", &offset, &length)) return NULL;
  if (length < 0 || offset < 0 || length > dl_file_bytes(self->handle) - offset)
    return raise_local(DL_ERR_TRUNCATED, "offset %lld, length %lld: the file has %lld bytes", offset, length,
                       (long long)dl_file_bytes(self->handle));
  PyObject* bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)length);
  if (bytes == NULL) return NULL;
  char* out = PyBytes_AsString(bytes);
  dl_status status;
  NEW_ERROR(error);
  Py_BEGIN_ALLOW_THREADS status = dl_file_read(self->handle, offset, length, out, NULL, &error);
  Py_END_ALLOW_THREADS if (check(status, &error)) return bytes;
  Py_DECREF(bytes);
  return NULL;
}

static PyMethodDef file_methods[] = {
    {"read", (PyCFunction)file_read, METH_VARARGS,
     "read($self, offset, length, /)\n--\n\nReturns exactly `length` bytes. Any thread."},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef file_properties[] = {{"size", (getter)file_size, NULL, "Bytes when it was opened.", NULL},
                                        {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot file_slots[] = {
    {Py_tp_doc, "An open file of a format or storage; closed when it is dropped."},
    {Py_tp_dealloc, file_free},
    {Py_tp_methods, file_methods},
    {Py_tp_getset, file_properties},
    {Py_tp_new, not_by_hand},
    {0, NULL}};
PyType_Spec file_spec = {"dataline.File", sizeof(File), 0, Py_TPFLAGS_DEFAULT, file_slots};
