/* The library's loop over one epoch as an iterator. What threads, newer loops, seeks and interrupts do to it is documented
 * at dl_epoch_next; nothing of that is decided here.
 * SPDX-License-Identifier: Apache-2.0 */
#include "loader.h"

typedef struct {
  PyObject_HEAD Loader* loader;
  dl_epoch* handle;  /* NULL: no epoch was left */
  int64_t number;    /* the epoch's */
  atomic_bool ended; /* its end was returned, and is returned also after the loader was closed */
} Epoch;

PyObject* loader_iterate(Loader* self) {
  NEW_ERROR(error);
  dl_epoch* made = NULL;
  int64_t number = 0, step = 0;
  dl_status status;
  dl_loader* loader = loader_enter(self);
  if (loader == NULL) return NULL;
  Py_BEGIN_ALLOW_THREADS status = dl_loader_epoch(loader, &made, &error);
  if (status == DL_OK) status = dl_loader_position(loader, &number, &step, &error);
  Py_END_ALLOW_THREADS loader_leave(self);
  mailbox_empty();
  allocfunc allocate = (allocfunc)PyType_GetSlot(epoch_type, Py_tp_alloc);
  Epoch* epoch = status == DL_END || check(status, &error) ? (Epoch*)allocate(epoch_type, 0) : NULL;
  if (epoch == NULL) {
    dl_epoch_release(made);
    return NULL;
  }
  Py_INCREF((PyObject*)self);
  epoch->loader = self;
  epoch->handle = made;
  epoch->number = number;
  epoch->ended = made == NULL;
  return (PyObject*)epoch;
}

/* A batch; NULL at the end, and with an exception. */
static PyObject* take(Epoch* self, int64_t timeout_ns) {
  dl_status status = DL_OK;
  if (self->handle == NULL || (self->ended && self->loader->handle.closed)) return NULL;
  PyObject* batch = loader_next_batch(self->loader, self->handle, timeout_ns, &status);
  if (status == DL_END_OF_EPOCH) self->ended = true;
  return batch;
}

static PyObject* epoch_next(Epoch* self) { return take(self, -1); }

/* _next(timeout in ns, -1: no limit): a Batch, or None at the end. */
static PyObject* epoch_next_in(Epoch* self, PyObject* timeout) {
  int64_t timeout_ns = PyLong_AsLongLong(timeout);
  if (timeout_ns == -1 && PyErr_Occurred()) return NULL;
  PyObject* batch = take(self, timeout_ns);
  if (batch != NULL || PyErr_Occurred()) return batch;
  Py_RETURN_NONE;
}

static PyObject* epoch_interrupt(Epoch* self, PyObject* none) {
  (void)none;
  dl_epoch_interrupt(self->handle);
  Py_RETURN_NONE;
}

static PyObject* epoch_length_hint(Epoch* self, PyObject* none) {
  (void)none;
  if (self->ended) return PyLong_FromLong(0);
  int64_t epoch = 0, step = 0;
  CALL(self->loader, dl_loader_position(loader, &epoch, &step, &error));
  if (epoch != self->number) return PyLong_FromLong(0);
  Py_ssize_t steps = loader_length(self->loader);
  return steps < 0 ? NULL : PyLong_FromLongLong(steps - step);
}

static PyObject* epoch_self(PyObject* self) {
  Py_INCREF(self);
  return self;
}

/* No call on the handle is in progress: each holds a reference to the object. Without the interpreter's lock: the last handle
 * of a closed loader frees its memory. */
static void epoch_free(Epoch* self) {
  Py_BEGIN_ALLOW_THREADS dl_epoch_release(self->handle);
  Py_END_ALLOW_THREADS mailbox_empty();
  Py_XDECREF((PyObject*)self->loader);
  object_free((PyObject*)self);
}

static PyMethodDef epoch_methods[] = {
    {"_next", (PyCFunction)epoch_next_in, METH_O, "_next($self, timeout_ns, /)\n--\n\n"},
    {"interrupt", (PyCFunction)epoch_interrupt, METH_NOARGS,
     "interrupt($self, /)\n--\n\nEnds every wait for a batch of this loop with Interrupted. If no thread "
     "waits, the next call raises it. No batch is lost. Any thread; never blocks."},
    {"__length_hint__", (PyCFunction)epoch_length_hint, METH_NOARGS,
     "__length_hint__($self, /)\n--\n\nThe number of remaining batches."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot epoch_slots[] = {
    {Py_tp_doc,
     "The batches of one epoch; a loader returns it to a `for`. Threads may share it: each batch goes to one "
     "of them, and all see the end. A newer loop over the loader, a seek or a loaded state ends it: its next "
     "step raises WrongStateError."},
    {Py_tp_dealloc, epoch_free},
    {Py_tp_iter, epoch_self},
    {Py_tp_iternext, epoch_next},
    {Py_tp_methods, epoch_methods},
    {Py_tp_new, not_by_hand},
    {0, NULL}};
PyType_Spec epoch_spec = {"dataline.Epoch", sizeof(Epoch), 0, Py_TPFLAGS_DEFAULT, epoch_slots};
