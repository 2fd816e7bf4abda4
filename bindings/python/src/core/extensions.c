/* Extensions: formats and storages from Python code, plug-ins. Operators are in host_operator.c.
 *
 * A table's context is a letter that keeps its functions: it is posted when the library lets the table go, on any thread.
 * The same holds for an open object of a storage.
 * SPDX-License-Identifier: Apache-2.0 */
#include "callbacks.h"

#include <stdlib.h>
#include <string.h>

/* ---- Formats: the letter keeps (open, sniff or None) ---- */

typedef struct {
  const dl_format_request* request;
  dl_dataset** out;
} FormatCall;

/* A second reference to what the function made. */
static dl_status share(PyObject* made, dl_dataset** out, dl_error* error) {
  if (!PyObject_TypeCheck(made, dataset_type)) {
    PyErr_Format(PyExc_TypeError, "expected a Dataset, got %R", (PyObject*)Py_TYPE(made));
    return callback_failed(error, NULL);
  }
  dl_dataset* dataset = dataset_enter((Dataset*)made);
  if (dataset == NULL) return callback_failed(error, NULL);
  dl_status status = dl_dataset_concat(&dataset, 1, NULL, out, error);
  dataset_leave((Dataset*)made);
  return status;
}

static PyObject* text_or_none(const char* text) {
  if (text == NULL) Py_RETURN_NONE;
  return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "surrogateescape");
}

static dl_status open_locked(PyObject* functions, void* about, dl_error* error) {
  FormatCall* opening = about;
  const dl_format_request* request = opening->request;
  PyObject* lent = lent_new(request->options, NULL);
  PyObject* values = PyTuple_New(request->key_count);
  for (int32_t at = 0; values != NULL && at < request->key_count; at++) {
    PyObject* value = text_or_none(request->values[at]);
    if (value == NULL || PyTuple_SetItem(values, at, value) != 0) Py_CLEAR(values);
  }
  PyObject* made = NULL;
  if (lent != NULL && values != NULL)
    made = PyObject_CallFunction(PyTuple_GetItem(functions, 0), "NOO", text_or_none(request->path), values,
                                 lent);
  dl_status status = made == NULL ? callback_failed(error, NULL) : share(made, opening->out, error);
  lent_end(lent);
  Py_XDECREF(values);
  Py_XDECREF(made);
  return status;
}

static dl_status format_open(void* context, const dl_format_request* request, dl_dataset** out,
                             dl_error* error) {
  FormatCall opening = {request, out};
  return in_python(open_locked, context, &opening, error);
}

typedef struct {
  const char* path;
  const void* bytes;
  int64_t count, file_bytes;
  int32_t sure;
} Sniffing;

static dl_status sniff_locked(PyObject* functions, void* about, dl_error* error) {
  (void)error;
  Sniffing* file = about;
  PyObject* function = PyTuple_GetItem(functions, 1);
  PyObject* result =
      PyObject_CallFunction(function, "Ny#L", text_or_none(file->path), (const char*)file->bytes,
                            (Py_ssize_t)file->count, (long long)file->file_bytes);
  long sure = result == NULL ? 0 : PyLong_AsLong(result);
  Py_XDECREF(result);
  if (PyErr_Occurred()) {
    if (!caller_keeps_exception()) PyErr_WriteUnraisable(function);
    sure = 0;
  }
  file->sure = sure < 0 ? 0 : sure > DL_SNIFF_CERTAIN ? DL_SNIFF_CERTAIN : (int32_t)sure;
  return DL_OK;
}

static int32_t format_sniff(void* context, const char* path, const void* bytes, int64_t count,
                            int64_t file_bytes) {
  Sniffing file = {path, bytes, count, file_bytes, DL_SNIFF_NO};
  (void)in_python(sniff_locked, context, &file, NULL);
  return file.sure;
}

static bool fill_key(PyObject* item, void* out) {
  dl_format_key* key = out;
  key->struct_size = sizeof *key;
  return PyArg_ParseTuple(item, "sszs", &key->name, &key->values, &key->default_value, &key->doc);
}

/* add_format(name, functions, keys, suffixes, doc): keys are (name, values, default or None, doc) */
static PyObject* extensions_add_format(Extensions* self, PyObject* arguments) {
  PyObject *functions, *keys;
  dl_format table = {.struct_size = sizeof table, .open = format_open, .destroy = give_back};
  if (!PyArg_ParseTuple(arguments, "sO!O!ss:add_format", &table.name, &PyTuple_Type, &functions,
                        &PyTuple_Type, &keys, &table.suffixes, &table.doc))
    return NULL;
  dl_format_key* made = structs_of(keys, sizeof *made, fill_key);
  letter* kept = made == NULL ? NULL : letter_new(functions);
  PyObject* result = NULL;
  if (kept != NULL) {
    table.keys = made;
    table.key_count = (int32_t)PyTuple_Size(keys);
    table.context = kept;
    if (PyTuple_GetItem(functions, 1) != Py_None) table.sniff = format_sniff;
    NEW_ERROR(error);
    result = table_added(kept, dl_extensions_add_format(self->handle, &table, &error), &error);
  }
  free(made);
  return result;
}

/* ---- Storages: the letter keeps open, which returns (read, size, fingerprint); an object's letter keeps all three ---- */

static dl_status object_open_locked(PyObject* function, void* about, dl_error* error) {
  dl_storage_object* object = about;
  PyObject* lent = lent_new(object->options, object->cancelled);
  PyObject* made = NULL;
  if (lent != NULL) made = PyObject_CallFunction(function, "NO", text_or_none(object->path), lent);
  lent_end(lent);
  PyObject* read;
  long long bytes;
  dl_status status = DL_OK;
  if (made == NULL || !PyArg_ParseTuple(made, "OLs", &read, &bytes, &object->fingerprint) ||
      (object->object = letter_new(made)) == NULL)
    status = callback_failed(error, NULL);
  else
    object->bytes = bytes;
  Py_XDECREF(made);
  return status;
}

static dl_status storage_open(void* context, dl_storage_object* object, dl_error* error) {
  return in_python(object_open_locked, context, object, error);
}

static dl_status object_read_locked(PyObject* opened, void* about, dl_error* error) {
  dl_storage_read* request = about;
  PyObject* got = PyObject_CallFunction(PyTuple_GetItem(opened, 0), "LL", (long long)request->offset,
                                        (long long)request->bytes);
  Py_buffer buffer;
  dl_status status = DL_OK;
  if (got == NULL || PyObject_GetBuffer(got, &buffer, PyBUF_SIMPLE) != 0) {
    status = callback_failed(error, NULL);
  } else {
    if (buffer.len == request->bytes) {
      memcpy(request->out, buffer.buf, (size_t)buffer.len);
    } else {
      char text[120];
      PyOS_snprintf(text, sizeof text, "read(%lld, %lld) returned %lld bytes", (long long)request->offset,
                    (long long)request->bytes, (long long)buffer.len);
      status = dl_error_set(error, DL_ERR_TRUNCATED, text);
    }
    PyBuffer_Release(&buffer);
  }
  Py_XDECREF(got);
  return status;
}

static dl_status storage_read(void* context, dl_storage_read* request, dl_error* error) {
  (void)context;
  if (__atomic_load_n(request->cancelled, __ATOMIC_RELAXED) != 0) return DL_CANCELLED;
  return in_python(object_read_locked, request->object, request, error);
}

static void storage_close(void* context, void* object) {
  (void)context;
  give_back(object);
}

/* add_storage(scheme, open, doc) */
static PyObject* extensions_add_storage(Extensions* self, PyObject* arguments) {
  PyObject* open;
  dl_storage table = {.struct_size = sizeof table, .open = storage_open, .read = storage_read};
  table.close = storage_close;
  table.destroy = give_back;
  if (!PyArg_ParseTuple(arguments, "sOs:add_storage", &table.scheme, &open, &table.doc)) return NULL;
  letter* kept = letter_new(open);
  if (kept == NULL) return NULL;
  table.context = kept;
  NEW_ERROR(error);
  return table_added(kept, dl_extensions_add_storage(self->handle, &table, &error), &error);
}

/* ---- The object ---- */

static PyObject* extensions_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  (void)arguments, (void)keywords;
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  Extensions* self = (Extensions*)allocate(type, 0);
  if (self == NULL) return NULL;
  NEW_ERROR(error);
  if (check(dl_extensions_create(&self->handle, &error), &error)) return (PyObject*)self;
  Py_DECREF(self);
  return NULL;
}

static void extensions_free(Extensions* self) {
  dl_extensions_destroy(self->handle);
  mailbox_empty();
  object_free((PyObject*)self);
}

static PyObject* extensions_add_operator(Extensions* self, PyObject* arguments) {
  return add_operator(self->handle, arguments);
}

static PyObject* extensions_load(Extensions* self, PyObject* arguments) {
  const char* path;
  if (!PyArg_ParseTuple(arguments, "s:_load", &path)) return NULL;
  dl_status status;
  NEW_ERROR(error);
  BEGIN_EXCLUSIVE(self);
  status = dl_extensions_load(self->handle, path, &error);
  END_EXCLUSIVE();
  if (!check(status, &error)) return NULL;
  Py_RETURN_NONE;
}

static PyMethodDef extensions_methods[] = {
    {"_add_format", (PyCFunction)extensions_add_format, METH_VARARGS,
     "_add_format($self, name, functions, keys, suffixes, doc, /)\n--\n\n"},
    {"_add_operator", (PyCFunction)extensions_add_operator, METH_VARARGS,
     "_add_operator($self, name, prepare, arguments, doc, source, /)\n--\n\n"},
    {"_add_storage", (PyCFunction)extensions_add_storage, METH_VARARGS,
     "_add_storage($self, scheme, open, doc, /)\n--\n\n"},
    {"_load", (PyCFunction)extensions_load, METH_VARARGS, "_load($self, path, /)\n--\n\n"},
    {NULL, NULL, 0, NULL}};
static PyType_Slot extensions_slots[] = {{Py_tp_doc, "Extensions that a program adds to the library."},
                                         {Py_tp_new, extensions_new},
                                         {Py_tp_dealloc, extensions_free},
                                         {Py_tp_methods, extensions_methods},
                                         {0, NULL}};
PyType_Spec extensions_spec = {"dataline._core.Extensions", sizeof(Extensions), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, extensions_slots};
