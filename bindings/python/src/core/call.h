/* What the generated calls (calls.c) consist of. A call keeps the object of `self` until its results are Python's, because they
 * may borrow from it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DATALINE_PYTHON_CALL_H
#define DATALINE_PYTHON_CALL_H

#include "loader.h"

/* opening.c, writer.c: as loader_enter and loader_leave. */
dl_opening* opening_enter(Opening* self);
void opening_leave(Opening* self);
dl_writer* writer_enter(Writer* self);
void writer_leave(Writer* self);

PyObject* call_text(const char* text); /* NULL: ""; bytes that are not UTF-8 as os.fsdecode has them */
/* The word of a constant, "unknown" for one of a later library. The words have the numbers 0 to `last`. */
PyObject* call_word(const char* const* words, int32_t last, int32_t number);

/* The rest of a function that returns `value` if `call` succeeds. It calls without the interpreter's lock. */
#define RETURN_CALLED(kind, call, value)                                  \
  NEW_ERROR(error);                                                       \
  dl_status status;                                                       \
  dl_##kind* kind = kind##_enter(self);                                   \
  if (kind == NULL) return NULL;                                          \
  Py_BEGIN_ALLOW_THREADS status = (call);                                 \
  Py_END_ALLOW_THREADS PyObject* made = status == DL_OK ? (value) : NULL; \
  kind##_leave(self);                                                     \
  mailbox_empty();                                                        \
  return check(status, &error) ? made : NULL

/* The rest of a function that returns `value`, which cannot fail and never waits. */
#define RETURN_GOT(kind, value)         \
  dl_##kind* kind = kind##_enter(self); \
  if (kind == NULL) return NULL;        \
  PyObject* made = (value);             \
  kind##_leave(self);                   \
  return made

#endif
