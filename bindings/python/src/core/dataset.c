/* Datasets: a function for each way to make one and for each thing to ask of one, which is what makes it long.
 * SPDX-License-Identifier: Apache-2.0 */
#include "calls.h"

#include <stdlib.h>

static void destroy(void* dataset) { dl_dataset_destroy(dataset); }

static const HandleKind kDataset = {"the dataset is closed", "the dataset is already open or closed", destroy,
                                    NULL};

static void dataset_free(Dataset* self) {
  handle_close(&self->handle, &kDataset);
  object_free((PyObject*)self);
}

static PyObject* dataset_close(Dataset* self, PyObject* none) {
  (void)none;
  handle_close(&self->handle, &kDataset);
  Py_RETURN_NONE;
}

dl_dataset* dataset_enter(Dataset* self) { return handle_enter(&self->handle, &kDataset); }
void dataset_leave(Dataset* self) { handle_leave(&self->handle, &kDataset); }

PyObject* dataset_opened(Dataset* self, dl_dataset* made, dl_status status, const dl_error* error) {
  mailbox_empty();
  if (!check(status, error) || !handle_put(&self->handle, &kDataset, made)) return NULL;
  Py_RETURN_NONE;
}

static PyObject* dataset_open(Dataset* self, PyObject* arguments) {
  const char* uri;
  Options* options;
  if (!PyArg_ParseTuple(arguments, "sO!:_open", &uri, options_type, &options)) return NULL;
  dl_dataset* made = NULL;
  dl_status status;
  NEW_ERROR(error);
  caller_enter();
  Py_BEGIN_ALLOW_THREADS status = dl_dataset_open(uri, options->handle, &made, &error);
  Py_END_ALLOW_THREADS caller_leave();
  if (!caller_raises()) return dataset_opened(self, made, status, &error);
  handle_destroy(&kDataset, made);
  return NULL;
}

/* One field: (name, Loan, axes or None, Loan of offsets or None). */
bool array_of_tuple(PyObject* described, dl_array* array) {
  Loan *loan, *offsets = NULL;
  PyObject* last;
  *array = (dl_array){.struct_size = sizeof *array};
  if (!PyArg_ParseTuple(described, "sO!zO", &array->name, loan_type, &loan, &array->axes, &last))
    return false;
  if (last != Py_None) offsets = (Loan*)last;
  array->kind = offsets == NULL ? DL_KIND_DENSE : DL_KIND_RAGGED;
  array->dtype = loan->dtype;
  array->rank = loan->rank;
  array->shape = loan->shape;
  array->data = loan->data;
  int64_t row_bytes = dl_dtype_bytes(loan->dtype);
  bool empty =
      item_count(loan->shape, loan->rank) == 0; /* of no items, and of one row, strides mean nothing */
  for (int32_t at = loan->rank - 1; at > 0; at--) {
    if (loan->strides[at] != row_bytes && loan->shape[at] > 1 && !empty) {
      raise_local(DL_ERR_INVALID_ARGUMENT,
                  "%s: expected C order within a sample (dim %d has a stride of %lld bytes, expected %lld); "
                  "use numpy.ascontiguousarray(x) or x.contiguous()",
                  array->name, (int)at, (long long)loan->strides[at], (long long)row_bytes);
      return false;
    }
    row_bytes *= loan->shape[at];
  }
  bool apart = loan->rank > 0 && loan->shape[0] > 1 && !empty && loan->strides[0] != row_bytes;
  if (offsets == NULL) {
    if (apart) {
      array->kind = DL_KIND_STRIDED;
      array->row_stride_bytes = loan->strides[0];
    }
    return true;
  }
  if (apart) {
    raise_local(DL_ERR_INVALID_ARGUMENT,
                "%s: expected packed data; use numpy.ascontiguousarray(x) or x.contiguous()", array->name);
    return false;
  }
  if (offsets->rank != 1 || offsets->dtype != DL_DTYPE_I64 || offsets->shape[0] < 1 ||
      (offsets->shape[0] > 1 && offsets->strides[0] != 8)) {
    raise_local(DL_ERR_INVALID_ARGUMENT, "%s: expected offsets as a packed row of i64", array->name);
    return false;
  }
  array->offsets = (const int64_t*)offsets->data;
  array->sample_count = offsets->shape[0] - 1;
  return true;
}

/* _from_arrays(fields, copy, options): a tuple of fields, which is what the loan keeps. */
static PyObject* dataset_from_arrays(Dataset* self, PyObject* arguments) {
  PyObject* fields;
  int copy;
  Options* options;
  if (!PyArg_ParseTuple(arguments, "O!pO!:_from_arrays", &PyTuple_Type, &fields, &copy, options_type,
                        &options))
    return NULL;
  Py_ssize_t count = PyTuple_Size(fields);
  dl_array* arrays = calloc((size_t)count + 1, sizeof *arrays);
  letter* kept = arrays == NULL || copy ? NULL : letter_new(fields);
  PyObject* result = NULL;
  if (arrays == NULL) {
    PyErr_NoMemory();
  } else if (kept != NULL || copy) {
    Py_ssize_t at = 0;
    while (at < count && array_of_tuple(PyTuple_GetItem(fields, at), &arrays[at])) at++;
    dl_dataset* made = NULL;
    dl_status status = DL_ERR_INVALID_ARGUMENT;
    if (at == count) {
      NEW_ERROR(error);
      Py_BEGIN_ALLOW_THREADS status = dl_dataset_from_arrays(arrays, (int32_t)count, copy ? NULL : give_back,
                                                             kept, options->handle, &made, &error);
      Py_END_ALLOW_THREADS result = dataset_opened(self, made, status, &error);
    }
    if (status != DL_OK && kept != NULL) letter_discard(kept);
  }
  free(arrays);
  return result;
}

/* Leaves the first `count` parts. */
static void leave_parts(PyObject* parts, Py_ssize_t count, dl_dataset** handles) {
  for (Py_ssize_t at = 0; at < count; at++) dataset_leave((Dataset*)PyTuple_GetItem(parts, at));
  free(handles);
}

/* The handles of a tuple of datasets, until leave_parts. */
static dl_dataset** enter_parts(PyObject* parts) {
  Py_ssize_t count = PyTuple_Size(parts);
  dl_dataset** handles = calloc((size_t)count + 1, sizeof(dl_dataset*));
  if (handles == NULL) return (dl_dataset**)PyErr_NoMemory();
  for (Py_ssize_t at = 0; at < count; at++) {
    PyObject* part = PyTuple_GetItem(parts, at);
    if (!PyObject_TypeCheck(part, dataset_type)) {
      PyErr_Format(PyExc_TypeError, "expected a Dataset, got %R", (PyObject*)Py_TYPE(part));
    } else if ((handles[at] = dataset_enter((Dataset*)part)) != NULL) {
      continue;
    }
    leave_parts(parts, at, handles);
    return NULL;
  }
  return handles;
}

/* _zip(parts, names as UTF-8 bytes or None) */
static PyObject* dataset_zip(Dataset* self, PyObject* arguments) {
  PyObject *parts, *names;
  if (!PyArg_ParseTuple(arguments, "O!O:_zip", &PyTuple_Type, &parts, &names)) return NULL;
  Py_ssize_t count = PyTuple_Size(parts);
  dl_dataset** handles = enter_parts(parts);
  if (handles == NULL) return NULL;
  const char** texts = calloc((size_t)count + 1, sizeof(char*));
  for (Py_ssize_t at = 0; texts != NULL && names != Py_None && at < count; at++)
    texts[at] = PyBytes_AsString(PyTuple_GetItem(names, at));
  dl_dataset* made = NULL;
  NEW_ERROR(error);
  dl_status status = DL_ERR_NO_MEMORY;
  if (texts != NULL)
    status = dl_dataset_zip(handles, names == Py_None ? NULL : texts, (int32_t)count, NULL, &made, &error);
  free(texts);
  leave_parts(parts, count, handles);
  return dataset_opened(self, made, status, &error);
}

static PyObject* dataset_concat(Dataset* self, PyObject* arguments) {
  PyObject* parts;
  if (!PyArg_ParseTuple(arguments, "O!:_concat", &PyTuple_Type, &parts)) return NULL;
  Py_ssize_t count = PyTuple_Size(parts);
  dl_dataset** handles = enter_parts(parts);
  if (handles == NULL) return NULL;
  dl_dataset* made = NULL;
  NEW_ERROR(error);
  dl_status status = dl_dataset_concat(handles, (int32_t)count, NULL, &made, &error);
  leave_parts(parts, count, handles);
  return dataset_opened(self, made, status, &error);
}

/* _mix(parts, names as UTF-8 bytes, transforms likewise, weights, repeats, stages as (step, weights)..., samples an epoch or
 * -1, options): numbers are tuples of float, one a part. */
static PyObject* dataset_mix(Dataset* self, PyObject* arguments) {
  PyObject *parts, *names, *transforms, *weights, *repeats, *stages;
  long long samples;
  Options* options;
  if (!PyArg_ParseTuple(arguments, "O!O!O!O!O!O!LO!:_mix", &PyTuple_Type, &parts, &PyTuple_Type, &names,
                        &PyTuple_Type, &transforms, &PyTuple_Type, &weights, &PyTuple_Type, &repeats,
                        &PyTuple_Type, &stages, &samples, options_type, &options))
    return NULL;
  const Py_ssize_t count = PyTuple_Size(parts), stage_count = PyTuple_Size(stages);
  dl_dataset** handles = enter_parts(parts);
  if (handles == NULL) return NULL;
  dl_mix_part* raw = calloc((size_t)count + 1, sizeof *raw);
  dl_mix_stage* raw_stages = calloc((size_t)stage_count + 1, sizeof *raw_stages);
  double* numbers = calloc((size_t)(count * stage_count) + 1, sizeof *numbers);
  dl_dataset* made = NULL;
  NEW_ERROR(error);
  dl_status status = DL_ERR_NO_MEMORY;
  if (raw != NULL && raw_stages != NULL && numbers != NULL) {
    for (Py_ssize_t at = 0; at < count; at++) {
      raw[at].struct_size = sizeof *raw;
      raw[at].name = PyBytes_AsString(PyTuple_GetItem(names, at));
      raw[at].dataset = handles[at];
      raw[at].weight = PyFloat_AsDouble(PyTuple_GetItem(weights, at));
      raw[at].repeat = PyFloat_AsDouble(PyTuple_GetItem(repeats, at));
      char* transform = NULL; /* without a length, a NUL in it is an error */
      if (PyBytes_AsStringAndSize(PyTuple_GetItem(transforms, at), &transform, NULL) != 0) break;
      raw[at].transform = transform;
    }
    for (Py_ssize_t s = 0; s < stage_count; s++) {
      PyObject* stage = PyTuple_GetItem(stages, s);
      PyObject* given = PyTuple_GetItem(stage, 1);
      double* row = numbers + s * count;
      for (Py_ssize_t at = 0; at < count; at++) row[at] = PyFloat_AsDouble(PyTuple_GetItem(given, at));
      raw_stages[s].struct_size = sizeof *raw_stages;
      raw_stages[s].step = PyLong_AsLongLong(PyTuple_GetItem(stage, 0));
      raw_stages[s].weights = row;
    }
    if (!PyErr_Occurred()) {
      /* Without the lock: packing draws every document. */
      Py_BEGIN_ALLOW_THREADS status = dl_dataset_mix(raw, (int32_t)count, raw_stages, (int32_t)stage_count,
                                                     samples, options->handle, &made, &error);
      Py_END_ALLOW_THREADS
    }
  }
  free(raw);
  free(raw_stages);
  free(numbers);
  leave_parts(parts, count, handles);
  return PyErr_Occurred() ? NULL : dataset_opened(self, made, status, &error);
}

/* _subset(dataset, Loan of packed i64) */
static PyObject* dataset_subset(Dataset* self, PyObject* arguments) {
  Dataset* whole;
  Loan* indices;
  if (!PyArg_ParseTuple(arguments, "O!O!:_subset", dataset_type, &whole, loan_type, &indices)) return NULL;
  letter* kept = letter_new((PyObject*)indices);
  if (kept == NULL) return NULL;
  dl_dataset* dataset = dataset_enter(whole);
  if (dataset == NULL) {
    letter_discard(kept);
    return NULL;
  }
  dl_dataset* made = NULL;
  NEW_ERROR(error);
  dl_status status = dl_dataset_subset(dataset, (const int64_t*)indices->data, indices->shape[0], give_back,
                                       kept, NULL, &made, &error);
  dataset_leave(whole);
  if (status != DL_OK) letter_discard(kept);
  return dataset_opened(self, made, status, &error);
}

static Py_ssize_t dataset_length(Dataset* self) {
  dl_dataset* dataset = dataset_enter(self);
  if (dataset == NULL) return -1;
  int64_t count = dl_dataset_count(dataset);
  dataset_leave(self);
  if (count >= 0) return (Py_ssize_t)count;
  PyErr_SetString(PyExc_TypeError, "the number of samples is unknown");
  return -1;
}

static PyObject* dataset_is_closed(Dataset* self, void* none) {
  (void)none;
  return PyBool_FromLong(!handle_is_open(&self->handle));
}

static PyMethodDef dataset_methods[] = {
    DATASET_CALLS,
    {"_open", (PyCFunction)dataset_open, METH_VARARGS, "_open($self, uri, options, /)\n--\n\n"},
    {"_from_arrays", (PyCFunction)dataset_from_arrays, METH_VARARGS,
     "_from_arrays($self, fields, copy, options, /)\n--\n\n"},
    {"_from_arrow", (PyCFunction)dataset_from_arrow, METH_VARARGS,
     "_from_arrow($self, capsules, keys, options, /)\n--\n\n"},
    {"_from_reader", (PyCFunction)dataset_from_reader, METH_VARARGS,
     "_from_reader($self, read, fields, count, fingerprint, files, file_ends, block_ends, held_blocks, "
     "options, "
     "/)\n--\n\n"},
    {"_zip", (PyCFunction)dataset_zip, METH_VARARGS, "_zip($self, parts, names, /)\n--\n\n"},
    {"_concat", (PyCFunction)dataset_concat, METH_VARARGS, "_concat($self, parts, /)\n--\n\n"},
    {"_mix", (PyCFunction)dataset_mix, METH_VARARGS,
     "_mix($self, parts, names, transforms, weights, repeats, stages, samples, options, /)\n--\n\n"},
    {"_subset", (PyCFunction)dataset_subset, METH_VARARGS, "_subset($self, dataset, indices, /)\n--\n\n"},
    {"_fields", (PyCFunction)dataset_fields, METH_NOARGS, "_fields($self, /)\n--\n\n"},
    {"_classes", (PyCFunction)dataset_classes, METH_NOARGS, "_classes($self, /)\n--\n\n"},
    {"_read", (PyCFunction)dataset_read, METH_VARARGS, "_read($self, index, options, /)\n--\n\n"},
    {"_about", (PyCFunction)dataset_about, METH_NOARGS, "_about($self, /)\n--\n\n"},
    {"_identity", (PyCFunction)dataset_identity, METH_NOARGS, "_identity($self, /)\n--\n\n"},
    {"close", (PyCFunction)dataset_close, METH_NOARGS,
     "close($self, /)\n--\n\nReleases this object's reference; loaders and composed datasets keep theirs. "
     "Does nothing if called again."},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef dataset_properties[] = {
    {"closed", (getter)dataset_is_closed, NULL, "After ``close``.", NULL}, {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot dataset_slots[] = {{Py_tp_doc, "A handle on a dataset, opened by one of its methods."},
                                      {Py_tp_dealloc, dataset_free},
                                      {Py_tp_methods, dataset_methods},
                                      {Py_tp_getset, dataset_properties},
                                      {Py_sq_length, dataset_length},
                                      {0, NULL}};
PyType_Spec dataset_spec = {"dataline._core.Dataset", sizeof(Dataset), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, dataset_slots};
