/* Datasets that are being opened.
 * SPDX-License-Identifier: Apache-2.0 */
#include "calls.h"

static const int64_t kSliceNs = 50 * 1000 * 1000; /* the longest wait between two looks for signals */

static void destroy(void* opening) { dl_opening_destroy(opening); }
static void cancel(void* opening) { dl_opening_cancel(opening); }

static const HandleKind kOpening = {"the opening is closed", "the opening is already started or closed",
                                    destroy, cancel};

static void opening_free(Opening* self) {
  handle_close(&self->handle, &kOpening);
  object_free((PyObject*)self);
}

static PyObject* opening_close(Opening* self, PyObject* none) {
  (void)none;
  handle_close(&self->handle, &kOpening);
  Py_RETURN_NONE;
}

dl_opening* opening_enter(Opening* self) { return handle_enter(&self->handle, &kOpening); }
void opening_leave(Opening* self) { handle_leave(&self->handle, &kOpening); }

static PyObject* opening_start(Opening* self, PyObject* arguments) {
  const char* uri;
  Options* options;
  if (!PyArg_ParseTuple(arguments, "sO!:_start", &uri, options_type, &options)) return NULL;
  dl_opening* made = NULL;
  NEW_ERROR(error);
  if (!check(dl_dataset_open_async(uri, options->handle, &made, &error), &error) ||
      !handle_put(&self->handle, &kOpening, made))
    return NULL;
  Py_RETURN_NONE;
}

/* _take(Dataset, timeout_ns): opens that one. Waits in slices, so that Ctrl-C is seen. */
static PyObject* opening_take(Opening* self, PyObject* arguments) {
  Dataset* dataset;
  long long left;
  if (!PyArg_ParseTuple(arguments, "O!L:_take", dataset_type, &dataset, &left)) return NULL;
  dl_opening* opening = opening_enter(self);
  if (opening == NULL) return NULL;
  dl_dataset* made = NULL;
  dl_status status = DL_TIMEOUT;
  bool interrupted = false;
  NEW_ERROR(error);
  for (bool goes_on = true; goes_on;) {
    int64_t slice = left >= 0 && left < kSliceNs ? left : kSliceNs;
    Py_BEGIN_ALLOW_THREADS status = dl_opening_wait(opening, slice, &made, &error);
    Py_END_ALLOW_THREADS if (left >= 0) left -= slice;
    if (status == DL_TIMEOUT) interrupted = PyErr_CheckSignals() != 0;
    goes_on = status == DL_TIMEOUT && !interrupted && left != 0;
  }
  opening_leave(self);
  if (interrupted) return NULL;
  if (status == DL_TIMEOUT) return raise_local(status, "the dataset is not open yet; try again later");
  return dataset_opened(dataset, made, status, &error);
}

static PyObject* opening_cancel(Opening* self, PyObject* none) {
  (void)none;
  handle_tell(&self->handle, cancel);
  Py_RETURN_NONE;
}

static PyObject* opening_is_closed(Opening* self, void* none) {
  (void)none;
  return PyBool_FromLong(!handle_is_open(&self->handle));
}

static PyMethodDef opening_methods[] = {
    OPENING_CALLS,
    {"_start", (PyCFunction)opening_start, METH_VARARGS, "_start($self, uri, options, /)\n--\n\n"},
    {"_take", (PyCFunction)opening_take, METH_VARARGS, "_take($self, dataset, timeout_ns, /)\n--\n\n"},
    {"cancel", (PyCFunction)opening_cancel, METH_NOARGS,
     "cancel($self, /)\n--\n\nEnds the opening soon, with CancelledError, unless it has already finished. "
     "Any thread; never blocks."},
    {"close", (PyCFunction)opening_close, METH_NOARGS,
     "close($self, /)\n--\n\nEnds the opening if it is running, and frees it; a dataset that ``result`` "
     "returned stays. Any "
     "thread, also while another is in ``result``, which then fails. Does nothing if called again."},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef opening_properties[] = {
    {"closed", (getter)opening_is_closed, NULL, "After ``close``.", NULL}, {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot opening_slots[] = {{Py_tp_doc, "A handle on a dataset that is being opened."},
                                      {Py_tp_dealloc, opening_free},
                                      {Py_tp_methods, opening_methods},
                                      {Py_tp_getset, opening_properties},
                                      {0, NULL}};
PyType_Spec opening_spec = {"dataline._core.Opening", sizeof(Opening), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, opening_slots};
