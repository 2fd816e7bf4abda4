/* What extensions share: their tables, and the calls that come back.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DATALINE_PYTHON_CALLBACKS_H
#define DATALINE_PYTHON_CALLBACKS_H

#include "core.h"

typedef struct {
  PyObject_HEAD const dl_options* options; /* owned by the caller; valid while `thread` is set */
  const int32_t* cancelled;                /* NULL: the call is not cancelled */
  _Atomic unsigned long thread;            /* the one that was called; 0: the call is over */
} Lent;

typedef struct {
  PyObject_HEAD dl_file* handle;
} File;

/* An array of structs of `size` bytes, filled in from the items of a tuple; the caller frees it. NULL: the exception is set. */
void* structs_of(PyObject* tuple, size_t size, bool (*fill)(PyObject* item, void* out));
/* What an add_... returns after the library took or refused the table whose context is `kept`: None, or NULL with the
 * exception. */
PyObject* table_added(letter* kept, dl_status status, const dl_error* error);

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
