/* Batches: mappings from field names to NumPy arrays that are created on demand.
 * SPDX-License-Identifier: Apache-2.0 */
#include "batch.h"

PyObject* batch_own(dl_batch* handle) {
  allocfunc allocate = (allocfunc)PyType_GetSlot(batch_type, Py_tp_alloc);
  Batch* self = (Batch*)allocate(batch_type, 0);
  if (self == NULL) {
    dl_batch_release(handle);
    return NULL;
  }
  int32_t count = 0;
  const dl_view* views = dl_batch_views(handle, &count);
  self->on_device = count > 0 && views->device_type != DL_DEVICE_CPU;
  self->handle = handle;
  return (PyObject*)self;
}

static void batch_free(Batch* self) {
  batch_give_up(self->handle, self->on_device);
  mailbox_empty();
  object_free((PyObject*)self);
}

/* The handle, which the caller must now release; NULL: it is already released. */
static dl_batch* taken_out(Batch* self) {
  dl_batch* batch;
  BEGIN_EXCLUSIVE(self);
  batch = self->handle;
  self->handle = NULL;
  END_EXCLUSIVE();
  return batch;
}

static void batch_drop(Batch* self) {
  batch_give_up(taken_out(self), self->on_device);
  mailbox_empty();
}

/* Keeps the batch for one call, even if it is released meanwhile: creating almost any object may run other Python code, in
 * this thread or in another. NULL: it is already released. Otherwise let_go has to follow. */
static dl_batch* hold_if_there(Batch* self) {
  dl_batch* batch;
  BEGIN_EXCLUSIVE(self);
  batch = self->handle;
  if (batch != NULL) dl_batch_retain(batch);
  END_EXCLUSIVE();
  return batch;
}

/* NULL: an exception is set. */
static dl_batch* hold(Batch* self) {
  dl_batch* batch = hold_if_there(self);
  if (batch == NULL) raise_local(DL_ERR_WRONG_STATE, "the batch was released");
  return batch;
}

/* Hands `result` on. */
static PyObject* let_go(Batch* self, dl_batch* batch, PyObject* result) {
  batch_give_up(batch, self->on_device);
  mailbox_empty();
  return result;
}

/* The result of `of` for the field of that name; `otherwise` (NULL: an error) if there is none. */
static PyObject* one(Batch* self, PyObject* name, PyObject* (*of)(dl_batch*, int32_t), PyObject* otherwise) {
  dl_batch* batch = hold(self);
  if (batch == NULL) return NULL;
  int32_t at = batch_find(batch, name);
  PyObject* made = NULL;
  if (at >= 0) {
    made = of(batch, at);
  } else if (at == -1 && otherwise == NULL) {
    batch_no_such_field(batch, name);
  } else if (at == -1) {
    Py_INCREF(otherwise);
    made = otherwise;
  }
  return let_go(self, batch, made);
}

static PyObject* batch_getitem(Batch* self, PyObject* name) { return one(self, name, array_of, NULL); }

static PyObject* batch_get(Batch* self, PyObject* arguments) {
  PyObject *name, *otherwise = Py_None;
  if (!PyArg_ParseTuple(arguments, "O|O:get", &name, &otherwise)) return NULL;
  return one(self, name, array_of, otherwise);
}

static PyObject* batch_tensor(Batch* self, PyObject* name) {
  PyObject* tensor = one(self, name, tensor_of, NULL);
  if (tensor != NULL) tensor_waited(tensor, self->stream);
  return tensor;
}

static int batch_contains(Batch* self, PyObject* name) {
  dl_batch* batch = hold(self);
  if (batch == NULL) return -1;
  int32_t at = batch_find(batch, name);
  (void)let_go(self, batch, NULL);
  return at == -2 ? -1 : at >= 0;
}

static Py_ssize_t batch_length(Batch* self) {
  dl_batch* batch = hold(self);
  if (batch == NULL) return -1;
  int32_t count = 0;
  dl_batch_views(batch, &count);
  (void)let_go(self, batch, NULL);
  return count;
}

static PyObject* batch_keys(Batch* self, PyObject* none) {
  (void)none;
  dl_batch* batch = hold(self);
  return batch == NULL ? NULL : let_go(self, batch, batch_names(batch));
}

static PyObject* batch_iterate(Batch* self) {
  PyObject* keys = batch_keys(self, NULL);
  PyObject* iterator = keys == NULL ? NULL : PyObject_GetIter(keys);
  Py_XDECREF(keys);
  return iterator;
}

static PyObject* batch_values(Batch* self, PyObject* none) {
  (void)none;
  dl_batch* batch = hold(self);
  return batch == NULL ? NULL : let_go(self, batch, batch_each(batch, array_of));
}

static PyObject* batch_tensors(Batch* self, PyObject* none) {
  (void)none;
  dl_batch* batch = hold(self);
  if (batch == NULL) return NULL;
  PyObject* tensors = let_go(self, batch, batch_each(batch, tensor_of));
  for (Py_ssize_t at = 0; tensors != NULL && at < PyTuple_Size(tensors); at++)
    tensor_waited(PyTuple_GetItem(tensors, at), self->stream);
  return tensors;
}

static PyObject* batch_items(Batch* self, PyObject* none) {
  (void)none;
  dl_batch* batch = hold(self);
  return batch == NULL ? NULL : let_go(self, batch, batch_pairs(batch));
}

static PyObject* batch_info(Batch* self, void* none) {
  (void)none;
  dl_batch* batch = hold(self);
  return batch == NULL ? NULL : let_go(self, batch, batch_about(batch));
}

static PyObject* batch_wait(Batch* self, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {"stream", NULL};
  PyObject* given = Py_None;
  uintptr_t stream;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|O:wait", names, &given)) return NULL;
  dl_batch* batch = hold(self);
  if (batch == NULL) return NULL;
  bool waits = stream_of(given, &stream) && stream_waits(batch, stream);
  if (waits) self->stream = stream;
  (void)let_go(self, batch, NULL);
  if (!waits) return NULL;
  Py_RETURN_NONE;
}

static PyObject* batch_release(Batch* self, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {"stream", NULL};
  PyObject* given = Py_None;
  uintptr_t stream;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|O:release", names, &given)) return NULL;
  if (given != Py_None && !stream_of(given, &stream)) return NULL;
  dl_batch* batch = taken_out(self);
  bool released = true;
  if (given == Py_None || batch == NULL)
    batch_give_up(batch, self->on_device);
  else
    released = batch_release_after(batch, stream);
  mailbox_empty();
  if (!released) return NULL;
  Py_RETURN_NONE;
}

static PyObject* batch_arrow(Batch* self, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {"requested_schema", NULL};
  PyObject* requested = Py_None; /* what the fields are, they stay: the protocol allows that */
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|O:__arrow_c_array__", names, &requested))
    return NULL;
  dl_batch* batch = hold(self);
  return batch == NULL ? NULL : let_go(self, batch, arrow_export(batch));
}

static PyObject* batch_enter(PyObject* self, PyObject* none) {
  (void)none;
  Py_INCREF(self);
  return self;
}

static PyObject* batch_exit(Batch* self, PyObject* what) {
  (void)what;
  batch_drop(self);
  Py_RETURN_NONE;
}

static PyObject* batch_reduce(Batch* self, PyObject* none) {
  (void)self, (void)none;
  return PyErr_Format(PyExc_TypeError,
                      "a Batch cannot be pickled or copied: copy its arrays, {name: array.copy()}");
}

static PyObject* batch_repr(Batch* self) {
  dl_batch* batch = hold_if_there(self);
  if (batch == NULL) return PyUnicode_FromString("<dataline.Batch, released>");
  return let_go(self, batch, batch_text(batch));
}

static PyMethodDef batch_methods[] = {
    {"keys", (PyCFunction)batch_keys, METH_NOARGS, "keys($self, /)\n--\n\nThe names of the fields."},
    {"values", (PyCFunction)batch_values, METH_NOARGS,
     "values($self, /)\n--\n\nThe arrays of all fields, in order."},
    {"items", (PyCFunction)batch_items, METH_NOARGS, "items($self, /)\n--\n\nNames and arrays."},
    {"get", (PyCFunction)batch_get, METH_VARARGS,
     "get($self, name, default=None, /)\n--\n\nThe array, or `default`."},
    {"tensor", (PyCFunction)batch_tensor, METH_O,
     "tensor($self, name, /)\n--\n\nThe field as a Tensor: buffer protocol and DLPack, no NumPy needed."},
    {"tensors", (PyCFunction)batch_tensors, METH_NOARGS,
     "tensors($self, /)\n--\n\nAll fields as Tensors, in order."},
    {"wait", (PyCFunction)(void (*)(void))batch_wait, METH_VARARGS | METH_KEYWORDS,
     "wait($self, /, stream=None)\n--\n\nMakes `stream` wait until the batch is complete in device memory; "
     "the call does not wait. "
     "Batches of a device are delivered while their copies are in flight. "
     "When the batch is dropped, its memory is not reused before the work then queued in the stream is done. "
     "A handle, a stream of PyTorch or CuPy, or None: CUDA's legacy default stream. "
     "Does nothing on the cpu device."},
    {"release", (PyCFunction)(void (*)(void))batch_release, METH_VARARGS | METH_KEYWORDS,
     "release($self, /, stream=None)\n--\n\nReleases this object's part of the lease; arrays and tensors "
     "keep theirs. Does nothing if called again. "
     "With a `stream`: the memory is not reused before the work now queued in it is done."},
    {"__arrow_c_array__", (PyCFunction)(void (*)(void))batch_arrow, METH_VARARGS | METH_KEYWORDS,
     "__arrow_c_array__($self, /, requested_schema=None)\n--\n\nThe rows that are not pads, for Arrow: "
     "pyarrow.record_batch(batch). It holds the lease."},
    {"__enter__", batch_enter, METH_NOARGS, "__enter__($self, /)\n--\n\n"},
    {"__exit__", (PyCFunction)batch_exit, METH_VARARGS, "__exit__($self, /, *what)\n--\n\n"},
    {"__reduce__", (PyCFunction)batch_reduce, METH_NOARGS, "__reduce__($self, /)\n--\n\n"},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef batch_properties[] = {
    {"info", (getter)batch_info, NULL, "BatchInfo: epoch, step, samples, valid, indices, sources.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot batch_slots[] = {
    {Py_tp_doc,
     "One batch: a mapping from field names to NumPy arrays that share its memory.\n\nThe first dim is the "
     "samples. "
     "Arrays and tensors hold the lease. They stay valid past the next batch, past ``release`` and past the "
     "loader. "
     "A ragged field is a Ragged of two arrays. Any thread may use and drop it."},
    {Py_tp_dealloc, batch_free},
    {Py_tp_methods, batch_methods},
    {Py_tp_getset, batch_properties},
    {Py_tp_iter, batch_iterate},
    {Py_tp_repr, batch_repr},
    {Py_mp_subscript, batch_getitem},
    {Py_mp_length, batch_length},
    {Py_sq_contains, batch_contains},
    {Py_tp_new, not_by_hand},
    {0, NULL}};
PyType_Spec batch_spec = {"dataline.Batch", sizeof(Batch), 0, Py_TPFLAGS_DEFAULT, batch_slots};
