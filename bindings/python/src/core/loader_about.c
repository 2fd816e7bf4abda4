/* The description of a loader.
 * SPDX-License-Identifier: Apache-2.0 */
#include "loader.h"

#include <stdlib.h>

Py_ssize_t loader_length(Loader* self) {
  dl_loader* loader = loader_enter(self);
  if (loader == NULL) return -1;
  int64_t steps = dl_loader_steps(loader);
  loader_leave(self);
  if (steps >= 0) return (Py_ssize_t)steps;
  PyErr_SetString(PyExc_TypeError, "the number of batches is unknown");
  return -1;
}

static dl_status save_state(const void* loader, char* text, size_t* bytes, dl_error* error) {
  return dl_loader_state_save(loader, text, bytes, error);
}

PyObject* loader_save_state(Loader* self, PyObject* none) {
  (void)none;
  char* text = NULL;
  CALL(self, text_from(save_state, loader, &text, &error));
  PyObject* state = PyUnicode_FromString(text);
  free(text);
  return state;
}

PyObject* loader_fields(Loader* self, PyObject* none) {
  (void)none;
  dl_loader* loader = loader_enter(self);
  if (loader == NULL) return NULL;
  int32_t count = 0;
  const dl_view* views = dl_loader_fields(loader, &count);
  PyObject* fields = fields_of(views, count);
  loader_leave(self);
  return fields;
}
