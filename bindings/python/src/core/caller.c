/* Calls of the library that may run Python code on the thread that makes them: a reader with num_workers=0, a format that
 * opens, an operator's `prepare`.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

static _Thread_local struct {
  PyObject *type, *value, *traceback; /* the exception that is kept; type NULL: none */
  int calls;                          /* in progress, inside each other */
} caller;

void caller_enter(void) { caller.calls++; }

void caller_leave(void) { caller.calls--; }

bool caller_keeps_exception(void) {
  if (caller.calls == 0 || PyErr_ExceptionMatches(PyExc_Exception)) return false;
  if (caller.type == NULL)
    PyErr_Fetch(&caller.type, &caller.value, &caller.traceback);
  else
    PyErr_Clear();
  return true;
}

bool caller_has_exception(void) { return caller.type != NULL; }

bool caller_raises(void) {
  if (caller.type == NULL) return false;
  PyErr_Restore(caller.type, caller.value, caller.traceback);
  caller.type = caller.value = caller.traceback = NULL;
  return true;
}
