/* Options and cancel tokens.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

static PyObject* options_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  (void)arguments, (void)keywords;
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  Options* self = (Options*)allocate(type, 0);
  if (self == NULL) return NULL;
  NEW_ERROR(error);
  if (check(dl_options_create(&self->handle, &error), &error)) return (PyObject*)self;
  Py_DECREF(self);
  return NULL;
}

static void options_free(Options* self) {
  dl_options_destroy(self->handle);
  mailbox_empty();
  object_free((PyObject*)self);
}

static PyObject* done(dl_status status, const dl_error* error) {
  if (!check(status, error)) return NULL;
  Py_RETURN_NONE;
}

static PyObject* options_set(Options* self, PyObject* arguments) {
  const char *key, *value;
  if (!PyArg_ParseTuple(arguments, "ss:set", &key, &value)) return NULL;
  NEW_ERROR(error);
  return done(dl_options_set(self->handle, key, value, &error), &error);
}

static PyObject* options_get(Options* self, PyObject* arguments) {
  const char *key, *value = NULL;
  if (!PyArg_ParseTuple(arguments, "s:get", &key)) return NULL;
  NEW_ERROR(error);
  if (!check(dl_options_get(self->handle, key, &value, &error), &error)) return NULL;
  return PyUnicode_FromString(value);
}

/* A packed row of numbers of one type, or an exception. */
static bool is_row(const Loan* loan, int32_t dtype) {
  if (loan->rank == 1 && loan->dtype == dtype && (loan->shape[0] < 2 || loan->strides[0] == 8)) return true;
  raise_local(DL_ERR_INVALID_ARGUMENT, "expected a packed row of %s", dl_dtype_name(dtype));
  return false;
}

typedef dl_status (*set_i64_row)(dl_options*, const int64_t*, int64_t, void (*)(void*), void*, dl_error*);

static PyObject* lend_i64_row(Options* self, Loan* loan, set_i64_row set) {
  if (!is_row(loan, DL_DTYPE_I64)) return NULL;
  letter* kept = letter_new((PyObject*)loan);
  if (kept == NULL) return NULL;
  NEW_ERROR(error);
  dl_status status = set(self->handle, (const int64_t*)loan->data, loan->shape[0], give_back, kept, &error);
  if (status != DL_OK) letter_discard(kept);
  return done(status, &error);
}

static PyObject* options_set_indices(Options* self, PyObject* arguments) {
  Loan* loan;
  if (!PyArg_ParseTuple(arguments, "O!:set_indices", loan_type, &loan)) return NULL;
  return lend_i64_row(self, loan, dl_options_set_indices);
}

static PyObject* options_set_lengths(Options* self, PyObject* arguments) {
  Loan* loan;
  if (!PyArg_ParseTuple(arguments, "O!:set_lengths", loan_type, &loan)) return NULL;
  return lend_i64_row(self, loan, dl_options_set_lengths);
}

static PyObject* options_set_weights(Options* self, PyObject* arguments) {
  Loan* loan;
  if (!PyArg_ParseTuple(arguments, "O!:set_weights", loan_type, &loan) || !is_row(loan, DL_DTYPE_F64))
    return NULL;
  letter* kept = letter_new((PyObject*)loan);
  if (kept == NULL) return NULL;
  NEW_ERROR(error);
  dl_status status = dl_options_set_weights(self->handle, (const double*)loan->data, loan->shape[0],
                                            give_back, kept, &error);
  if (status != DL_OK) letter_discard(kept);
  return done(status, &error);
}

static PyObject* options_set_cancel_token(Options* self, PyObject* arguments) {
  Token* token;
  if (!PyArg_ParseTuple(arguments, "O!:set_cancel_token", token_type, &token)) return NULL;
  NEW_ERROR(error);
  return done(dl_options_set_cancel_token(self->handle, token->handle, &error), &error);
}

static PyObject* options_set_extensions(Options* self, PyObject* arguments) {
  Extensions* extensions;
  if (!PyArg_ParseTuple(arguments, "O!:set_extensions", extensions_type, &extensions)) return NULL;
  NEW_ERROR(error);
  return done(dl_options_set_extensions(self->handle, extensions->handle, &error), &error);
}

static PyObject* options_set_log(Options* self, PyObject* function) {
  if (!PyCallable_Check(function))
    return PyErr_Format(PyExc_TypeError, "log: expected a function of (level, text)");
  letter* kept = letter_new(function);
  if (kept == NULL) return NULL;
  const dl_log table = {.struct_size = sizeof table, .context = kept, .write = remark, .destroy = give_back};
  NEW_ERROR(error);
  dl_status status = dl_options_set_log(self->handle, &table, &error);
  if (status != DL_OK) letter_discard(kept);
  return done(status, &error);
}

static PyMethodDef options_methods[] = {
    {"set", (PyCFunction)options_set, METH_VARARGS,
     "set($self, key, value, /)\n--\n\nSets a text value, as the shell does."},
    {"get", (PyCFunction)options_get, METH_VARARGS, "get($self, key, /)\n--\n\nThe current value, as text."},
    {"set_indices", (PyCFunction)options_set_indices, METH_VARARGS,
     "set_indices($self, loan, /)\n--\n\nBorrowed."},
    {"set_weights", (PyCFunction)options_set_weights, METH_VARARGS,
     "set_weights($self, loan, /)\n--\n\nBorrowed."},
    {"set_lengths", (PyCFunction)options_set_lengths, METH_VARARGS,
     "set_lengths($self, loan, /)\n--\n\nBorrowed."},
    {"set_cancel_token", (PyCFunction)options_set_cancel_token, METH_VARARGS,
     "set_cancel_token($self, token, /)\n--\n\nEnds opening and waiting."},
    {"set_extensions", (PyCFunction)options_set_extensions, METH_VARARGS,
     "set_extensions($self, extensions, /)\n--\n\nThe extensions added so far."},
    {"set_log", (PyCFunction)options_set_log, METH_O, "set_log($self, function, /)\n--\n\nKept forever."},
    {"set_environment", (PyCFunction)options_set_environment, METH_O,
     "set_environment($self, entries, /)\n--\n\nFor rank=auto and world_size=auto; copied."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot options_slots[] = {{Py_tp_doc, "Settings by the keys of the option table."},
                                      {Py_tp_new, options_new},
                                      {Py_tp_dealloc, options_free},
                                      {Py_tp_methods, options_methods},
                                      {0, NULL}};
PyType_Spec options_spec = {"dataline._core.Options", sizeof(Options), 0, Py_TPFLAGS_DEFAULT, options_slots};

static PyObject* token_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  if (!PyArg_ParseTuple(arguments, ":CancelToken") || (keywords != NULL && PyDict_Size(keywords) != 0)) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "CancelToken does not accept arguments");
    return NULL;
  }
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  Token* self = (Token*)allocate(type, 0);
  if (self == NULL) return NULL;
  NEW_ERROR(error);
  if (check(dl_cancel_token_create(&self->handle, &error), &error)) return (PyObject*)self;
  Py_DECREF(self);
  return NULL;
}

static void token_free(Token* self) {
  dl_cancel_token_destroy(self->handle);
  object_free((PyObject*)self);
}

static PyObject* token_cancel(Token* self, PyObject* none) {
  (void)none;
  dl_cancel_token_cancel(self->handle);
  Py_RETURN_NONE;
}

static PyMethodDef token_methods[] = {
    {"cancel", (PyCFunction)token_cancel, METH_NOARGS,
     "cancel($self, /)\n--\n\nCancels permanently. Any thread; never blocks."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot token_slots[] = {{Py_tp_doc,
                                     "CancelToken()\n--\n\nPermanently ends the opening of datasets and the "
                                     "waits of loaders created with it (``cancel_token=``), with "
                                     "CancelledError."},
                                    {Py_tp_new, token_new},
                                    {Py_tp_dealloc, token_free},
                                    {Py_tp_methods, token_methods},
                                    {0, NULL}};
PyType_Spec token_spec = {"dataline.CancelToken", sizeof(Token), 0, Py_TPFLAGS_DEFAULT, token_slots};
