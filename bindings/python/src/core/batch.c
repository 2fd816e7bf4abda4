/* Batches: mappings from field names to NumPy arrays that are made when asked for.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

#include <string.h>

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

static void batch_drop(Batch* self) {
  dl_batch* handle = self->handle;
  self->handle = NULL;
  batch_give_up(handle, self->on_device);
  mailbox_empty();
}

static void batch_free(Batch* self) {
  batch_drop(self);
  object_free((PyObject*)self);
}

static const dl_view* views_of(Batch* self, int32_t* count) {
  *count = 0;
  if (self->handle != NULL) return dl_batch_views(self->handle, count);
  raise_local(DL_ERR_WRONG_STATE, "the batch was released");
  return NULL;
}

/* The field of that name; -1 without an exception when there is none, -2 with one. */
static int32_t find(Batch* self, PyObject* name) {
  int32_t count;
  const dl_view* views = views_of(self, &count);
  if (views == NULL) return -2;
  if (!PyUnicode_Check(name)) return -1;
  PyObject* bytes = PyUnicode_AsUTF8String(name);
  if (bytes == NULL) return -2;
  const char* text = PyBytes_AsString(bytes);
  int32_t at = 0;
  while (at < count && strcmp(view_at(views, at)->name, text) != 0) at++;
  Py_DECREF(bytes);
  return at < count ? at : -1;
}

static PyObject* keys_of(Batch* self) {
  int32_t count;
  const dl_view* views = views_of(self, &count);
  PyObject* keys = views == NULL ? NULL : PyTuple_New(count);
  for (int32_t at = 0; keys != NULL && at < count; at++) {
    PyObject* name = PyUnicode_FromString(view_at(views, at)->name);
    if (name == NULL || PyTuple_SetItem(keys, at, name) != 0) {
      Py_DECREF(keys);
      return NULL;
    }
  }
  return keys;
}

static PyObject* no_such_field(Batch* self, PyObject* name) {
  PyObject *keys = keys_of(self), *text = NULL, *bytes = NULL;
  if (keys != NULL) text = PyUnicode_FromFormat("no field %R; there are %R", name, keys);
  if (text != NULL) bytes = PyUnicode_AsUTF8String(text);
  if (bytes != NULL) raise_local(DL_ERR_NO_SUCH_FIELD, "%s", PyBytes_AsString(bytes));
  Py_XDECREF(keys);
  Py_XDECREF(text);
  Py_XDECREF(bytes);
  return NULL;
}

static PyObject* batch_getitem(Batch* self, PyObject* name) {
  int32_t at = find(self, name);
  if (at == -1) return no_such_field(self, name);
  return at < 0 ? NULL : array_of(self->handle, at);
}

static PyObject* batch_tensor(Batch* self, PyObject* name) {
  int32_t at = find(self, name);
  if (at == -1) return no_such_field(self, name);
  PyObject* tensor = at < 0 ? NULL : tensor_of(self->handle, at);
  if (tensor != NULL) tensor_waited(tensor, self->stream);
  return tensor;
}

static int batch_contains(Batch* self, PyObject* name) {
  int32_t at = find(self, name);
  return at == -2 ? -1 : at >= 0;
}

static Py_ssize_t batch_length(Batch* self) {
  int32_t count;
  return views_of(self, &count) == NULL ? -1 : count;
}

static PyObject* batch_iterate(Batch* self) {
  PyObject* keys = keys_of(self);
  PyObject* iterator = keys == NULL ? NULL : PyObject_GetIter(keys);
  Py_XDECREF(keys);
  return iterator;
}

static PyObject* batch_keys(Batch* self, PyObject* none) {
  (void)none;
  return keys_of(self);
}

/* What `of` gives for each field. */
static PyObject* each(Batch* self, PyObject* (*of)(dl_batch*, int32_t)) {
  int32_t count;
  PyObject* values = views_of(self, &count) == NULL ? NULL : PyTuple_New(count);
  for (int32_t at = 0; values != NULL && at < count; at++) {
    PyObject* value = of(self->handle, at);
    if (value == NULL || PyTuple_SetItem(values, at, value) != 0) {
      Py_DECREF(values);
      return NULL;
    }
  }
  return values;
}

static PyObject* batch_values(Batch* self, PyObject* none) {
  (void)none;
  return each(self, array_of);
}

static PyObject* batch_tensors(Batch* self, PyObject* none) {
  (void)none;
  PyObject* tensors = each(self, tensor_of);
  for (Py_ssize_t at = 0; tensors != NULL && at < PyTuple_Size(tensors); at++)
    tensor_waited(PyTuple_GetItem(tensors, at), self->stream);
  return tensors;
}

static PyObject* batch_items(Batch* self, PyObject* none) {
  (void)none;
  PyObject *keys = keys_of(self), *values = keys == NULL ? NULL : each(self, array_of), *items = NULL;
  if (values != NULL) items = PyList_New(0);
  for (Py_ssize_t at = 0; items != NULL && at < PyTuple_Size(keys); at++) {
    PyObject* item = PyTuple_Pack(2, PyTuple_GetItem(keys, at), PyTuple_GetItem(values, at));
    if (item == NULL || PyList_Append(items, item) != 0) {
      Py_DECREF(items);
      items = NULL;
    }
    Py_XDECREF(item);
  }
  Py_XDECREF(keys);
  Py_XDECREF(values);
  return items;
}

static PyObject* batch_get(Batch* self, PyObject* arguments) {
  PyObject *name, *otherwise = Py_None;
  if (!PyArg_ParseTuple(arguments, "O|O:get", &name, &otherwise)) return NULL;
  int32_t at = find(self, name);
  if (at >= 0) return array_of(self->handle, at);
  if (at == -1) Py_INCREF(otherwise);
  return at == -1 ? otherwise : NULL;
}

static PyObject* batch_info(Batch* self, void* none) {
  (void)none;
  static PyObject* make = NULL;
  int32_t count;
  dl_batch_info info = {.struct_size = sizeof info};
  NEW_ERROR(error);
  if (views_of(self, &count) == NULL || !check(dl_batch_get_info(self->handle, &info, &error), &error))
    return NULL;
  if (make == NULL && (make = from_package("dataline.schema", "BatchInfo")) == NULL) return NULL;
  PyObject* indices = integers_of(self->handle, info.sample_indices, info.samples);
  PyObject* sources = indices == NULL ? NULL : integers_of(self->handle, info.sample_sources, info.samples);
  PyObject* made = sources == NULL ? NULL
                                   : PyObject_CallFunction(make, "LLLLOO", (long long)info.epoch,
                                                           (long long)info.step, (long long)info.samples,
                                                           (long long)info.valid, indices, sources);
  Py_XDECREF(indices);
  Py_XDECREF(sources);
  return made;
}

static PyObject* batch_wait(Batch* self, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {"stream", NULL};
  PyObject* given = Py_None;
  uintptr_t stream;
  int32_t count;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|O:wait", names, &given)) return NULL;
  if (views_of(self, &count) == NULL || !stream_of(given, &stream)) return NULL;
  dl_batch* handle = self->handle; /* another thread may release it meanwhile */
  dl_batch_retain(handle);
  bool waits = stream_waits(handle, stream);
  if (waits) self->stream = stream;
  batch_give_up(handle, self->on_device);
  if (!waits) return NULL;
  Py_RETURN_NONE;
}

static PyObject* batch_release(Batch* self, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {"stream", NULL};
  PyObject* given = Py_None;
  uintptr_t stream;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|O:release", names, &given)) return NULL;
  if (given != Py_None && !stream_of(given, &stream)) return NULL;
  if (given == Py_None || self->handle == NULL) {
    batch_drop(self);
    Py_RETURN_NONE;
  }
  dl_batch* handle = self->handle;
  self->handle = NULL;
  bool released = batch_release_after(handle, stream);
  mailbox_empty();
  if (!released) return NULL;
  Py_RETURN_NONE;
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
                      "a Batch cannot be pickled or copied: take {name: array.copy()} of it");
}

static PyObject* batch_repr(Batch* self) {
  if (self->handle == NULL) return PyUnicode_FromString("<dataline.Batch, released>");
  dl_batch_info info = {.struct_size = sizeof info};
  PyObject *keys = keys_of(self), *text = NULL;
  if (keys != NULL && dl_batch_get_info(self->handle, &info, NULL) == DL_OK)
    text = PyUnicode_FromFormat("<dataline.Batch %lld:%lld, %lld samples of %R>", (long long)info.epoch,
                                (long long)info.step, (long long)info.samples, keys);
  Py_XDECREF(keys);
  return text;
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
     "wait($self, /, stream=None)\n--\n\nWork that `stream` is given later begins when the batch is complete "
     "in device memory. "
     "The batch remembers the stream, and its memory is not written again before the work the stream has "
     "when "
     "the batch is dropped is done. "
     "A handle, a stream of PyTorch or CuPy, or None: CUDA's legacy default stream. Never waits itself; "
     "nothing on the cpu device."},
    {"release", (PyCFunction)(void (*)(void))batch_release, METH_VARARGS | METH_KEYWORDS,
     "release($self, /, stream=None)\n--\n\nGives up this object's part of the lease; what was made of it "
     "keeps its own. "
     "Twice is fine. With a `stream`: the memory is not written again before the work it has now is done."},
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
     "Arrays and tensors hold the lease, so they stay valid past the next batch, past ``release`` and past "
     "the loader. "
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
