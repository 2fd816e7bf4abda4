/* What loaders and their epochs share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DATALINE_PYTHON_LOADER_H
#define DATALINE_PYTHON_LOADER_H

#include "core.h"

bool loader_enter(Loader* self); /* false: an exception is set; true: loader_leave has to follow */
void loader_leave(Loader* self);
/* The next batch. NULL with an exception, or with a soft status. */
PyObject* loader_next_batch(Loader* self, int64_t timeout_ns, dl_status* status);
Py_ssize_t loader_length(Loader* self);

/* epoch.c */
PyObject* loader_iterate(Loader* self);
void loop_after_fork(Loader* self);

/* loader_about.c */
PyObject* loader_position(Loader* self, PyObject* none);
PyObject* loader_save_state(Loader* self, PyObject* none);
PyObject* loader_fileno(Loader* self, PyObject* none);
PyObject* loader_fields(Loader* self, PyObject* none);
PyObject* loader_stats(Loader* self, PyObject* none);
PyObject* loader_pixel_scale(Loader* self, PyObject* arguments);
PyObject* loader_plan(Loader* self, PyObject* none);
PyObject* loader_bad_samples(Loader* self, PyObject* none);

/* One call of the library on a loader, for a function that returns an object. Without the interpreter's lock: the library
 * may wait for a worker, and that for the lock. */
#define CALL(self, made)                   \
  NEW_ERROR(error);                        \
  dl_status status;                        \
  if (!loader_enter(self)) return NULL;    \
  Py_BEGIN_ALLOW_THREADS status = (made);  \
  Py_END_ALLOW_THREADS loader_leave(self); \
  mailbox_empty();                         \
  if (!check(status, &error)) return NULL

#endif
