/* The type of loaders.
 * SPDX-License-Identifier: Apache-2.0 */
#include "calls.h"

static void loader_free(Loader* self) {
  loader_end(self);
  Py_XDECREF(self->pieces);
  object_free((PyObject*)self);
}

static PyObject* loader_create(Loader* self, PyObject* arguments) {
  Dataset* dataset;
  Options* options;
  if (!PyArg_ParseTuple(arguments, "O!O!:_create", dataset_type, &dataset, options_type, &options))
    return NULL;
  if (!interpreter_open()) return raise_local(DL_ERR_WRONG_STATE, "Python is ending");
  dl_dataset* source = dataset_enter(dataset);
  if (source == NULL) return NULL;
  dl_loader* made = NULL;
  dl_status status;
  NEW_ERROR(error);
  caller_enter(); /* an operator's `prepare` */
  Py_BEGIN_ALLOW_THREADS status = dl_loader_create(source, options->handle, &made, &error);
  Py_END_ALLOW_THREADS caller_leave();
  dataset_leave(dataset);
  mailbox_empty();
  if (caller_raises()) {
    Py_BEGIN_ALLOW_THREADS dl_loader_destroy(made);
    Py_END_ALLOW_THREADS return NULL;
  }
  if (!check(status, &error)) return NULL;
  dl_stats stats = {.struct_size = sizeof stats};
  bool in_caller = dl_loader_stats(made, &stats, NULL) == DL_OK && stats.num_workers == 0;
  if (!loader_begin(self, made, in_caller)) return NULL;
  Py_RETURN_NONE;
}

/* _next(timeout in ns, -1: no limit): a Batch, or None at the end of an epoch. */
static PyObject* loader_next(Loader* self, PyObject* timeout) {
  int64_t timeout_ns = PyLong_AsLongLong(timeout);
  if (timeout_ns == -1 && PyErr_Occurred()) return NULL;
  dl_status status = DL_OK;
  PyObject* batch = loader_next_batch(self, NULL, timeout_ns, &status);
  if (batch != NULL || PyErr_Occurred()) return batch;
  if (status == DL_END_OF_EPOCH) Py_RETURN_NONE;
  NEW_ERROR(error);
  check(status, &error);
  return NULL;
}

static PyObject* loader_load_state(Loader* self, PyObject* arguments) {
  const char* text;
  if (!PyArg_ParseTuple(arguments, "s:load_state", &text)) return NULL;
  CALL(self, dl_loader_state_load(loader, text, &error));
  Py_RETURN_NONE;
}

static PyObject* loader_set_indices(Loader* self, PyObject* arguments) {
  Loan* loan;
  if (!PyArg_ParseTuple(arguments, "O!:_set_indices", loan_type, &loan)) return NULL;
  letter* kept = letter_new((PyObject*)loan);
  if (kept == NULL) return NULL;
  NEW_ERROR(error);
  dl_status status = DL_ERR_WRONG_STATE;
  dl_loader* loader = loader_enter(self);
  if (loader != NULL) {
    Py_BEGIN_ALLOW_THREADS status =
        dl_loader_set_indices(loader, (const int64_t*)loan->data, loan->shape[0], give_back, kept, &error);
    Py_END_ALLOW_THREADS loader_leave(self);
    check(status, &error);
  }
  if (status != DL_OK) letter_discard(kept);
  mailbox_empty();
  if (status != DL_OK) return NULL;
  Py_RETURN_NONE;
}

static PyMethodDef loader_methods[] = {
    LOADER_CALLS,
    {"_create", (PyCFunction)loader_create, METH_VARARGS, "_create($self, dataset, options, /)\n--\n\n"},
    {"_next", (PyCFunction)loader_next, METH_O, "_next($self, timeout_ns, /)\n--\n\n"},
    {"_set_indices", (PyCFunction)loader_set_indices, METH_VARARGS, "_set_indices($self, loan, /)\n--\n\n"},
    {"_fields", (PyCFunction)loader_fields, METH_NOARGS, "_fields($self, /)\n--\n\n"},
    {"_metrics", (PyCFunction)loader_metrics, METH_NOARGS, "_metrics($self, /)\n--\n\n"},
    {"_trace_start", (PyCFunction)loader_trace_start, METH_VARARGS, "_trace_start($self, to, /)\n--\n\n"},
    {"_trace_stop", (PyCFunction)loader_trace_stop, METH_NOARGS, "_trace_stop($self, /)\n--\n\n"},
    {"save_state", (PyCFunction)loader_save_state, METH_NOARGS,
     "save_state($self, /)\n--\n\nThe position and the identity of the job, as text under 4 KiB. Counts "
     "batches that were delivered, not those loaded ahead. Any language and the shell can resume from it."},
    {"load_state", (PyCFunction)loader_load_state, METH_VARARGS,
     "load_state($self, text, /)\n--\n\nSeeks to a saved position, and ends the current loop. Threads, "
     "depth, I/O, memory and transform may differ from the saving job. Rank and world size may differ too, "
     "if the global batch is equal.\n\nRaises StateError: damaged, or of another job; names both values."},
    {"cancel", (PyCFunction)loader_cancel, METH_NOARGS,
     "cancel($self, /)\n--\n\nEnds every current and later wait with CancelledError, until a seek or load. "
     "Any thread; never blocks."},
    {"interrupt", (PyCFunction)loader_interrupt, METH_NOARGS,
     "interrupt($self, /)\n--\n\nEnds every current wait, of loops and of ``next``, with Interrupted. If no "
     "thread waits, it ends the next call, unless a seek or load comes first. No batch is lost. Any thread; "
     "never blocks."},
    {"close", (PyCFunction)loader_close, METH_NOARGS,
     "close($self, /)\n--\n\nStops the workers and frees the memory; held batches stay valid. Any thread, "
     "also while another is in ``next``, which then fails. Does nothing if called again."},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef loader_properties[] = {
    {"closed", (getter)loader_is_closed, NULL, "After ``close``.", NULL}, {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot loader_slots[] = {{Py_tp_doc, "A handle on a loader."},
                                     {Py_tp_dealloc, loader_free},
                                     {Py_tp_methods, loader_methods},
                                     {Py_tp_getset, loader_properties},
                                     {Py_tp_iter, loader_iterate},
                                     {Py_sq_length, loader_length},
                                     {0, NULL}};
PyType_Spec loader_spec = {"dataline._core.Loader", sizeof(Loader), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, loader_slots};
