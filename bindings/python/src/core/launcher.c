/* The environment of the process, for rank=auto and world_size=auto: the library does not read it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "calls.h"

/* The bytes of a list of b"NAME=value", as C has environments; borrowed from the list. NULL: an exception. */
static const char** entries_of(PyObject* list) {
  if (!PyList_Check(list)) return (const char**)PyErr_Format(PyExc_TypeError, "expected a list of bytes");
  const Py_ssize_t count = PyList_Size(list);
  const char** entries = PyMem_Malloc(((size_t)count + 1) * sizeof *entries);
  if (entries == NULL) return (const char**)PyErr_NoMemory();
  for (Py_ssize_t at = 0; at < count; at++) {
    PyObject* entry = PyList_GetItem(list, at);
    entries[at] = entry == NULL ? NULL : PyBytes_AsString(entry);
    if (entries[at] != NULL) continue;
    PyMem_Free(entries);
    return NULL;
  }
  entries[count] = NULL;
  return entries;
}

PyObject* options_set_environment(Options* self, PyObject* list) {
  const char** entries = entries_of(list);
  if (entries == NULL) return NULL;
  NEW_ERROR(error);
  const dl_status status = dl_options_set_environment(self->handle, entries, &error);
  PyMem_Free(entries);
  if (!check(status, &error)) return NULL;
  Py_RETURN_NONE;
}

PyObject* launcher(PyObject* self, PyObject* list) {
  (void)self;
  const char** entries = entries_of(list);
  if (entries == NULL) return NULL;
  dl_launcher found = {.struct_size = sizeof found};
  NEW_ERROR(error);
  const dl_status status = dl_launcher_detect(entries, &found, &error);
  PyMem_Free(entries);
  if (!check(status, &error)) return NULL;
  return launcher_dict(&found);
}
