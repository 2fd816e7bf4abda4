/* Calls of the library that may run Python code on the thread that makes them: a reader with num_workers=0, a format that
 * opens, an operator's `prepare`.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

/* caller_is_in knows this many calls inside each other, and no deeper ones. */
enum { kKnownCalls = 8 };

static _Thread_local struct {
  PyObject *type, *value, *traceback; /* the exception that is kept; type NULL: none */
  const void* objects[kKnownCalls];   /* of the calls in progress, outermost first; compared, never read */
  int calls;
} caller;

bool caller_is_in(const void* object) {
  for (int at = 0; at < caller.calls && at < kKnownCalls; at++)
    if (caller.objects[at] == object) return true;
  return false;
}

void caller_enter(const void* object) {
  if (caller.calls < kKnownCalls) caller.objects[caller.calls] = object;
  caller.calls++;
}

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
