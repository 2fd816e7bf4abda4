/* From a status to an exception.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

#include <stdarg.h>
#include <stdio.h>

PyObject* raise_error(const dl_error* error) {
  PyObject* make = from_package("dataline.errors", "from_status");
  if (make == NULL) return NULL;
  PyObject* exception =
      PyObject_CallFunction(make, "issLii", (int)error->code, dl_status_name(error->code), error->message,
                            (long long)error->sample_index, (int)error->column, (int)error->os_error);
  Py_DECREF(make);
  if (exception != NULL) {
    PyErr_SetObject((PyObject*)Py_TYPE(exception), exception);
    Py_DECREF(exception);
  }
  return NULL;
}

PyObject* raise_local(dl_status code, const char* format, ...) {
  NEW_ERROR(error);
  error.code = code;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error.message, sizeof error.message, format, arguments);
  va_end(arguments);
  return raise_error(&error);
}

bool check(dl_status status, const dl_error* error) {
  if (status == DL_OK) return true;
  if (status < 0)
    raise_error(error);
  else if (status == DL_CANCELLED)
    raise_local(status, "cancelled");
  else if (status == DL_INTERRUPTED)
    raise_local(status, "interrupted");
  else if (status == DL_TIMEOUT)
    raise_local(status, "no batch was ready in time; a later call returns it");
  else
    raise_local(status, "%s", status == DL_END ? "the last epoch is over" : dl_status_name(status));
  return false;
}
