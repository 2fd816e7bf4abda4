/* What the callbacks of extensions share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DATALINE_PYTHON_CALLBACKS_H
#define DATALINE_PYTHON_CALLBACKS_H

#include "core.h"

typedef struct {
  PyObject_HEAD const dl_options* options; /* the caller's; valid while `thread` is set */
  const int32_t* cancelled;                /* NULL: the call is not cancelled */
  _Atomic unsigned long thread;            /* the one that was called; 0: the call is over */
} Lent;

typedef struct {
  PyObject_HEAD dl_file* handle;
} File;

/* The body of a callback, with the interpreter's lock: `function` is what the context's letter keeps. */
typedef dl_status (*python_call)(PyObject* function, void* about, dl_error* error);
/* Runs it on this thread. */
dl_status in_python(python_call call, void* context, void* about, dl_error* error);
/* The exception that is set becomes the error; its code. `wrong_argument` may be NULL. */
dl_status callback_failed(dl_error* error, int32_t* wrong_argument);
PyObject* lent_new(const dl_options* options, const int32_t* cancelled);
void lent_end(PyObject* lent); /* takes the reference; NULL is fine */

/* host_operator.c: the body of Extensions.add_operator. */
PyObject* add_operator(dl_extensions* extensions, PyObject* arguments);

#endif
