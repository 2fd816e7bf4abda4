/* Objects created from a batch: names, values, texts. The caller holds the batch.
 * SPDX-License-Identifier: Apache-2.0 */
#include "batch.h"

#include <string.h>

int32_t batch_find(dl_batch* batch, PyObject* name) {
  if (!PyUnicode_Check(name)) return -1;
  PyObject* bytes = PyUnicode_AsUTF8String(name);
  if (bytes == NULL) return -2;
  const char* text = PyBytes_AsString(bytes);
  int32_t count = 0, at = 0;
  const dl_view* views = dl_batch_views(batch, &count);
  while (at < count && strcmp(dl_view_at(views, at)->name, text) != 0) at++;
  Py_DECREF(bytes);
  return at < count ? at : -1;
}

PyObject* batch_names(dl_batch* batch) {
  int32_t count = 0;
  const dl_view* views = dl_batch_views(batch, &count);
  PyObject* keys = PyTuple_New(count);
  for (int32_t at = 0; keys != NULL && at < count; at++) {
    PyObject* name = PyUnicode_FromString(dl_view_at(views, at)->name);
    if (name == NULL || PyTuple_SetItem(keys, at, name) != 0) {
      Py_DECREF(keys);
      return NULL;
    }
  }
  return keys;
}

PyObject* batch_no_such_field(dl_batch* batch, PyObject* name) {
  PyObject *keys = batch_names(batch), *text = NULL, *bytes = NULL;
  if (keys != NULL) text = PyUnicode_FromFormat("no field %R; the fields are %R", name, keys);
  if (text != NULL) bytes = PyUnicode_AsUTF8String(text);
  if (bytes != NULL) raise_local(DL_ERR_NO_SUCH_FIELD, "%s", PyBytes_AsString(bytes));
  Py_XDECREF(keys);
  Py_XDECREF(text);
  Py_XDECREF(bytes);
  return NULL;
}

PyObject* batch_each(dl_batch* batch, PyObject* (*of)(dl_batch*, int32_t)) {
  int32_t count = 0;
  dl_batch_views(batch, &count);
  PyObject* values = PyTuple_New(count);
  for (int32_t at = 0; values != NULL && at < count; at++) {
    PyObject* value = of(batch, at);
    if (value == NULL || PyTuple_SetItem(values, at, value) != 0) {
      Py_DECREF(values);
      return NULL;
    }
  }
  return values;
}

PyObject* batch_pairs(dl_batch* batch) {
  PyObject *keys = batch_names(batch), *values = keys == NULL ? NULL : batch_each(batch, array_of),
           *items = NULL;
  if (values != NULL) items = PyList_New(0);
  for (Py_ssize_t at = 0; items != NULL && at < PyTuple_Size(keys); at++) {
    PyObject* item = PyTuple_Pack(2, PyTuple_GetItem(keys, at), PyTuple_GetItem(values, at));
    if (item == NULL || PyList_Append(items, item) != 0) {
      Py_DECREF(items);
      items = NULL;
    }
    Py_XDECREF(item);
  }
  Py_XDECREF(keys);
  Py_XDECREF(values);
  return items;
}

PyObject* batch_about(dl_batch* batch) {
  static _Atomic(PyObject*) kept = NULL;
  dl_batch_info info = {.struct_size = sizeof info};
  NEW_ERROR(error);
  if (!check(dl_batch_get_info(batch, &info, &error), &error)) return NULL;
  PyObject* make = kept_from_package(&kept, "dataline.schema", "BatchInfo");
  if (make == NULL) return NULL;
  PyObject* indices = integers_of(batch, info.sample_indices, info.samples);
  PyObject* sources = indices == NULL ? NULL : integers_of(batch, info.sample_sources, info.samples);
  PyObject* made = sources == NULL ? NULL
                                   : PyObject_CallFunction(make, "LLLLOO", (long long)info.epoch,
                                                           (long long)info.step, (long long)info.samples,
                                                           (long long)info.valid, indices, sources);
  Py_XDECREF(indices);
  Py_XDECREF(sources);
  return made;
}

PyObject* batch_text(dl_batch* batch) {
  dl_batch_info info = {.struct_size = sizeof info};
  PyObject *keys = batch_names(batch), *text = NULL;
  NEW_ERROR(error);
  if (keys != NULL && check(dl_batch_get_info(batch, &info, &error), &error))
    text = PyUnicode_FromFormat("<dataline.Batch %lld:%lld, %lld samples of %R>", (long long)info.epoch,
                                (long long)info.step, (long long)info.samples, keys);
  Py_XDECREF(keys);
  return text;
}
