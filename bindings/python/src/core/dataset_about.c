/* The description of a dataset. Creating an object may run other Python code, which may close the dataset, so each function
 * holds it meanwhile.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

#include <stdlib.h>
#include <string.h>

PyObject* dataset_fields(Dataset* self, PyObject* none) {
  (void)none;
  int32_t count = 0;
  const dl_dataset* dataset = dataset_enter(self);
  if (dataset == NULL) return NULL;
  const dl_view* views = dl_dataset_fields(dataset, &count);
  PyObject* fields = fields_of(views, count);
  dataset_leave(self);
  return fields;
}

static PyObject* text_of(const char* text, const char* when_no_utf8) {
  return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), when_no_utf8);
}

/* A tuple of the results of `of`. */
static PyObject* tuple_of(const dl_dataset* dataset, int64_t count,
                          PyObject* (*of)(const dl_dataset*, int64_t)) {
  PyObject* tuple = PyTuple_New((Py_ssize_t)count);
  for (int64_t at = 0; tuple != NULL && at < count; at++) {
    PyObject* item = of(dataset, at);
    if (item == NULL || PyTuple_SetItem(tuple, (Py_ssize_t)at, item) != 0) {
      Py_DECREF(tuple);
      return NULL;
    }
  }
  return tuple;
}

static PyObject* class_at(const dl_dataset* dataset, int64_t at) {
  return text_of(dl_dataset_class_name(dataset, at), "surrogateescape");
}

static PyObject* note_at(const dl_dataset* dataset, int64_t at) {
  return text_of(dl_dataset_note(dataset, (int32_t)at), "replace");
}

PyObject* dataset_classes(Dataset* self, PyObject* none) {
  (void)none;
  const dl_dataset* dataset = dataset_enter(self);
  if (dataset == NULL) return NULL;
  PyObject* names = tuple_of(dataset, dl_dataset_class_count(dataset), class_at);
  dataset_leave(self);
  return names;
}

/* _read(index, Options): a batch of one sample, read without the interpreter's lock, for a reader may want it. */
PyObject* dataset_read(Dataset* self, PyObject* arguments) {
  long long index;
  Options* options;
  if (!PyArg_ParseTuple(arguments, "LO!:_read", &index, options_type, &options)) return NULL;
  const dl_dataset* dataset = dataset_enter(self);
  if (dataset == NULL) return NULL;
  dl_batch* batch = NULL;
  dl_status status;
  NEW_ERROR(error);
  Py_BEGIN_ALLOW_THREADS status = dl_dataset_read(dataset, index, options->handle, &batch, &error);
  Py_END_ALLOW_THREADS dataset_leave(self);
  mailbox_empty();
  return check(status, &error) ? batch_own(batch) : NULL;
}

static dl_status write_identity(const void* dataset, char* text, size_t* bytes, dl_error* error) {
  return dl_dataset_identity(dataset, text, bytes, error);
}

/* Without the interpreter's lock, because it looks at files. */
PyObject* dataset_identity(Dataset* self, PyObject* none) {
  (void)none;
  const dl_dataset* dataset = dataset_enter(self);
  if (dataset == NULL) return NULL;
  char* text = NULL;
  dl_status status;
  NEW_ERROR(error);
  Py_BEGIN_ALLOW_THREADS status = text_from(write_identity, dataset, &text, &error);
  Py_END_ALLOW_THREADS dataset_leave(self);
  mailbox_empty();
  if (!check(status, &error)) return NULL;
  PyObject* identity = text_of(text, "surrogateescape");
  free(text);
  return identity;
}

/* (format, uri, notes) */
PyObject* dataset_about(Dataset* self, PyObject* none) {
  (void)none;
  const dl_dataset* dataset = dataset_enter(self);
  if (dataset == NULL) return NULL;
  PyObject* about = Py_BuildValue("ssN", dl_dataset_format(dataset), dl_dataset_uri(dataset),
                                  tuple_of(dataset, dl_dataset_note_count(dataset), note_at));
  dataset_leave(self);
  return about;
}
