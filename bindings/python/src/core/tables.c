/* What the library knows of itself: options, transforms, formats, storages, versions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "calls.h"

/* Adds to a list, and takes the item. */
static bool add(PyObject* list, PyObject* item) {
  bool added = item != NULL && PyList_Append(list, item) == 0;
  Py_XDECREF(item);
  return added;
}

PyObject* option_table(PyObject* self, PyObject* none) {
  (void)self, (void)none;
  PyObject* list = PyList_New(0);
  for (int32_t at = 0; list != NULL && at < dl_option_count(); at++) {
    dl_option_info info = {.struct_size = sizeof info};
    NEW_ERROR(error);
    if (!check(dl_option_at(at, &info, &error), &error) || !add(list, option_info_dict(&info)))
      Py_CLEAR(list);
  }
  return list;
}

static PyObject* arguments_of(const dl_extensions* extensions, int32_t index, int32_t count) {
  PyObject* list = PyList_New(0);
  for (int32_t at = 0; list != NULL && at < count; at++) {
    dl_argument_info info = {.struct_size = sizeof info};
    NEW_ERROR(error);
    if (!check(dl_transform_argument_at(extensions, index, at, &info, &error), &error) ||
        !add(list, Py_BuildValue("sss", info.name, info.type, info.default_value))) {
      Py_DECREF(list);
      return NULL;
    }
  }
  return list;
}

/* None: NULL. Else of another type: false, with an exception. */
static bool handle_of(PyObject* given, const dl_extensions** out) {
  *out = NULL;
  if (given == Py_None) return true;
  if (PyObject_TypeCheck(given, extensions_type)) {
    *out = ((Extensions*)given)->handle;
    return true;
  }
  PyErr_Format(PyExc_TypeError, "expected Extensions, got %R", (PyObject*)Py_TYPE(given));
  return false;
}

PyObject* transform_table(PyObject* self, PyObject* given) {
  (void)self;
  const dl_extensions* extensions;
  if (!handle_of(given, &extensions)) return NULL;
  PyObject* list = PyList_New(0);
  for (int32_t at = 0; list != NULL && at < dl_transform_count(extensions); at++) {
    dl_transform_info info = {.struct_size = sizeof info};
    NEW_ERROR(error);
    if (!check(dl_transform_at(extensions, at, &info, &error), &error) ||
        !add(list, Py_BuildValue("sNsss", info.name, arguments_of(extensions, at, info.argument_count),
                                 info.doc, info.source, info.since))) {
      Py_DECREF(list);
      return NULL;
    }
  }
  return list;
}

static PyObject* keys_of(const dl_extensions* extensions, int32_t index, int32_t count) {
  PyObject* list = PyList_New(0);
  for (int32_t at = 0; list != NULL && at < count; at++) {
    dl_format_key key = {.struct_size = sizeof key};
    NEW_ERROR(error);
    if (!check(dl_format_key_at(extensions, index, at, &key, &error), &error) ||
        !add(list, Py_BuildValue("sszs", key.name, key.values, key.default_value, key.doc))) {
      Py_DECREF(list);
      return NULL;
    }
  }
  return list;
}

PyObject* format_table(PyObject* self, PyObject* given) {
  (void)self;
  const dl_extensions* extensions;
  if (!handle_of(given, &extensions)) return NULL;
  PyObject* list = PyList_New(0);
  for (int32_t at = 0; list != NULL && at < dl_format_count(extensions); at++) {
    dl_format_info info = {.struct_size = sizeof info};
    NEW_ERROR(error);
    if (!check(dl_format_at(extensions, at, &info, &error), &error) ||
        !add(list, Py_BuildValue("sNs", info.name, keys_of(extensions, at, info.key_count), info.doc))) {
      Py_DECREF(list);
      return NULL;
    }
  }
  return list;
}

PyObject* storage_table(PyObject* self, PyObject* given) {
  (void)self;
  const dl_extensions* extensions;
  if (!handle_of(given, &extensions)) return NULL;
  PyObject* list = PyList_New(0);
  for (int32_t at = 0; list != NULL && at < dl_storage_count(extensions); at++) {
    dl_storage info = {.struct_size = sizeof info};
    NEW_ERROR(error);
    if (!check(dl_storage_at(extensions, at, &info, &error), &error) ||
        !add(list, Py_BuildValue("ss", info.scheme, info.doc))) {
      Py_DECREF(list);
      return NULL;
    }
  }
  return list;
}

PyObject* library_version(PyObject* self, PyObject* none) {
  (void)self, (void)none;
  return Py_BuildValue("sis", dl_version_string(), (int)dl_abi_version(), dl_build_info());
}

/* By number, as DL_DTYPE_*; there is no number 0. */
PyObject* dtype_names(PyObject* self, PyObject* none) {
  (void)self, (void)none;
  PyObject* names = PyList_New(0);
  for (int32_t dtype = 0; names != NULL && (dtype == 0 || dl_dtype_bytes(dtype) > 0); dtype++) {
    if (add(names, PyUnicode_FromString(dl_dtype_name(dtype)))) continue;
    Py_DECREF(names);
    return NULL;
  }
  return names;
}
