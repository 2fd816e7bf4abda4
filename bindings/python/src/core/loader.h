/* What loaders and their epochs share. Each of these files uses those before it alone: loader_life.c, loader_next.c,
 * loader_about.c, metrics.c, pieces.c, epoch.c, and loader.c, the type.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DATALINE_PYTHON_LOADER_H
#define DATALINE_PYTHON_LOADER_H

#include "core.h"

/* loader_life.c */

/* What was made for it, which is taken, whatever it returns. False: an exception is set. */
bool loader_begin(Loader* self, dl_loader* made, bool in_caller);
dl_loader* loader_enter(Loader* self); /* NULL: an exception is set; else loader_leave has to follow */
void loader_leave(Loader* self);
PyObject* loader_cancel(Loader* self, PyObject* none);
PyObject* loader_interrupt(Loader* self, PyObject* none);
PyObject* loader_close(Loader* self, PyObject* none);
PyObject* loader_is_closed(Loader* self, void* none);
void loader_end(Loader* self); /* before its memory goes */

/* One call of the library on `loader`, for a function that returns an object. Without the interpreter's lock: the library
 * may wait for a worker, and that for the lock. */
#define CALL(self, made)                   \
  NEW_ERROR(error);                        \
  dl_status status;                        \
  dl_loader* loader = loader_enter(self);  \
  if (loader == NULL) return NULL;         \
  Py_BEGIN_ALLOW_THREADS status = (made);  \
  Py_END_ALLOW_THREADS loader_leave(self); \
  mailbox_empty();                         \
  if (!check(status, &error)) return NULL

/* loader_next.c */

/* The next batch of a loop; `loop` NULL: of the loader. NULL with an exception, or with the status of an end and none. */
PyObject* loader_next_batch(Loader* self, dl_epoch* loop, int64_t timeout_ns, dl_status* status);

/* epoch.c */
PyObject* loader_iterate(Loader* self);

/* loader_about.c */
Py_ssize_t loader_length(Loader* self);
PyObject* loader_save_state(Loader* self, PyObject* none);
PyObject* loader_fields(Loader* self, PyObject* none);

/* metrics.c */
PyObject* loader_metrics(Loader* self, PyObject* none);

/* pieces.c */
PyObject* loader_trace_start(Loader* self, PyObject* arguments);
PyObject* loader_trace_stop(Loader* self, PyObject* none);
void pieces_end(PyObject* pieces); /* nothing more comes; any thread, never waits */

#endif
