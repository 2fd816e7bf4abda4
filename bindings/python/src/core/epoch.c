/* A loop over one epoch.
 * SPDX-License-Identifier: Apache-2.0 */
#include "loader.h"

typedef struct {
  PyObject_HEAD Loader* loader;
  bool over;
} Epoch;

PyObject* loader_iterate(Loader* self) {
  NEW_ERROR(error);
  dl_status status;
  if (!loader_enter(self)) return NULL;
  Py_BEGIN_ALLOW_THREADS status = dl_loader_begin_epoch(self->handle, &error);
  Py_END_ALLOW_THREADS loader_leave(self);
  mailbox_empty();
  if (status != DL_END && !check(status, &error)) return NULL;
  allocfunc allocate = (allocfunc)PyType_GetSlot(epoch_type, Py_tp_alloc);
  Epoch* epoch = (Epoch*)allocate(epoch_type, 0);
  if (epoch == NULL) return NULL;
  Py_INCREF((PyObject*)self);
  epoch->loader = self;
  epoch->over = status == DL_END;
  return (PyObject*)epoch;
}

static PyObject* epoch_next(Epoch* self) {
  dl_status status = DL_OK;
  if (self->over) return NULL;
  PyObject* batch = loader_next_batch(self->loader, -1, &status);
  if (batch == NULL && !PyErr_Occurred()) self->over = true;
  return batch;
}

static PyObject* epoch_length_hint(Epoch* self, PyObject* none) {
  (void)none;
  if (self->over) return PyLong_FromLong(0);
  int64_t epoch = 0, step = 0;
  CALL(self->loader, dl_loader_position(self->loader->handle, &epoch, &step, &error));
  Py_ssize_t steps = loader_length(self->loader);
  return steps < 0 ? NULL : PyLong_FromLongLong(steps - step);
}

static PyObject* epoch_self(PyObject* self) {
  Py_INCREF(self);
  return self;
}

static void epoch_free(Epoch* self) {
  Py_XDECREF((PyObject*)self->loader);
  object_free((PyObject*)self);
}

static PyMethodDef epoch_methods[] = {{"__length_hint__", (PyCFunction)epoch_length_hint, METH_NOARGS,
                                       "__length_hint__($self, /)\n--\n\nBatches that are left."},
                                      {NULL, NULL, 0, NULL}};
static PyType_Slot epoch_slots[] = {{Py_tp_doc, "The batches of one epoch; a loader gives it to a `for`."},
                                    {Py_tp_dealloc, epoch_free},
                                    {Py_tp_iter, epoch_self},
                                    {Py_tp_iternext, epoch_next},
                                    {Py_tp_methods, epoch_methods},
                                    {Py_tp_new, not_by_hand},
                                    {0, NULL}};
PyType_Spec epoch_spec = {"dataline.Epoch", sizeof(Epoch), 0, Py_TPFLAGS_DEFAULT, epoch_slots};
