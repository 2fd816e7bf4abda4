/* Operators from Python code. The table's letter keeps `prepare`; a use's letter keeps the function that makes its rows.
 * Rows come in as bytes and go out as loans, both copied: a program may keep them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "callbacks.h"

#include <stdlib.h>
#include <string.h>

/* (text or None, numbers or None, given) */
static PyObject* argument_of(const dl_argument_value* value) {
  PyObject* numbers = Py_None;
  if (value->numbers == NULL) {
    Py_INCREF(numbers);
  } else if ((numbers = PyTuple_New((Py_ssize_t)value->number_count)) != NULL) {
    for (Py_ssize_t at = 0; at < (Py_ssize_t)value->number_count; at++)
      PyTuple_SetItem(numbers, at, PyFloat_FromDouble(value->numbers[at]));
  }
  return Py_BuildValue("zNN", value->text, numbers, PyBool_FromLong(value->given));
}

static PyObject* arguments_of(const dl_operator_use* use) {
  PyObject* tuple = PyTuple_New(use->argument_count);
  for (int32_t at = 0; tuple != NULL && at < use->argument_count; at++) {
    const char* first = (const char*)use->arguments;
    PyObject* value = argument_of((const void*)(first + (size_t)at * use->arguments->struct_size));
    if (value == NULL || PyTuple_SetItem(tuple, at, value) != 0) Py_CLEAR(tuple);
  }
  return tuple;
}

/* What prepare returned: (function, dtype, shape, ragged, axes, the most bytes, draws, heavy) */
static bool take_use(PyObject* made, dl_operator_use* use) {
  PyObject *function, *shape;
  const char *dtype, *axes;
  int ragged, draws, heavy;
  long long max_bytes;
  if (!PyArg_ParseTuple(made, "OsO!psLpp", &function, &dtype, &PyTuple_Type, &shape, &ragged, &axes,
                        &max_bytes, &draws, &heavy))
    return false;
  use->kind = ragged ? DL_KIND_RAGGED : DL_KIND_DENSE;
  use->dtype = dl_dtype_from_name(dtype);
  Py_ssize_t rank = PyTuple_Size(shape);
  if (use->dtype == 0 || rank > DL_MAX_RANK || strlen(axes) >= sizeof use->axes) {
    PyErr_Format(PyExc_TypeError, "dtype %s, %zd dims, axes %s", dtype, rank, axes);
    return false;
  }
  use->rank = (int32_t)rank;
  for (Py_ssize_t at = 0; at < rank; at++) use->shape[at] = PyLong_AsLongLong(PyTuple_GetItem(shape, at));
  memcpy(use->axes, axes, strlen(axes) + 1);
  use->max_bytes = max_bytes;
  use->draws = draws;
  use->heavy = heavy;
  if (PyErr_Occurred()) return false;
  use->state = letter_new(function);
  return use->state != NULL;
}

static dl_status prepare_locked(PyObject* function, void* about, dl_error* error) {
  dl_operator_use* use = about;
  PyObject* arguments = arguments_of(use);
  PyObject* field = fields_of(use->input, 1);
  PyObject* made = NULL;
  if (arguments != NULL && field != NULL)
    made = PyObject_CallFunctionObjArgs(function, arguments, PyTuple_GetItem(field, 0), NULL);
  dl_status status = DL_OK;
  if (made == NULL || !take_use(made, use)) status = callback_failed(error, &use->wrong_argument);
  Py_XDECREF(made);
  Py_XDECREF(field);
  Py_XDECREF(arguments);
  return status;
}

static dl_status operator_prepare(void* context, dl_operator_use* use, dl_error* error) {
  return in_python(prepare_locked, context, use, error);
}

static void put(const Loan* loan, dl_operator_row* row) {
  int64_t item_bytes = dl_dtype_bytes(loan->dtype);
  int64_t bytes = item_bytes * item_count(loan->shape, loan->rank);
  row->bytes = bytes; /* another size than the field's is the library's to refuse */
  if (bytes > 0 && bytes <= row->capacity)
    copy_strided(row->output, loan->data, loan->rank, loan->shape, loan->strides, item_bytes);
}

static dl_status apply_locked(PyObject* function, void* about, dl_error* error) {
  dl_operator_row* row = about;
  PyObject* place = Py_BuildValue("LLKKKK", (long long)row->slot, (long long)row->epoch,
                                  (unsigned long long)row->seed, (unsigned long long)row->draw[0],
                                  (unsigned long long)row->draw[1], (unsigned long long)row->draw[2]);
  PyObject* made = NULL;
  if (place != NULL)
    made =
        PyObject_CallFunction(function, "y#N", (const char*)row->input, (Py_ssize_t)row->input_bytes, place);
  if (made != NULL && !PyObject_TypeCheck(made, loan_type)) {
    PyErr_SetString(PyExc_TypeError, "expected a Loan");
    Py_CLEAR(made);
  }
  if (made == NULL) return callback_failed(error, NULL);
  put((const Loan*)made, row);
  Py_DECREF(made);
  return DL_OK;
}

static dl_status operator_apply(void* context, dl_operator_row* row, dl_error* error) {
  (void)context;
  return in_python(apply_locked, row->state, row, error);
}

static void operator_forget(void* context, void* state) {
  (void)context;
  give_back(state);
}

static bool fill_argument(PyObject* item, void* out) {
  dl_argument_info* argument = out;
  argument->struct_size = sizeof *argument;
  return PyArg_ParseTuple(item, "sss", &argument->name, &argument->type, &argument->default_value);
}

/* _add_operator(name, prepare, arguments, doc, source): arguments are (name, type, default) */
PyObject* add_operator(dl_extensions* extensions, PyObject* given) {
  PyObject *prepare, *arguments;
  dl_operator table = {.struct_size = sizeof table, .prepare = operator_prepare, .apply = operator_apply};
  table.forget = operator_forget;
  table.destroy = give_back;
  if (!PyArg_ParseTuple(given, "sOO!ss:add_operator", &table.name, &prepare, &PyTuple_Type, &arguments,
                        &table.doc, &table.source))
    return NULL;
  dl_argument_info* made = structs_of(arguments, sizeof *made, fill_argument);
  letter* kept = made == NULL ? NULL : letter_new(prepare);
  PyObject* result = NULL;
  if (kept != NULL) {
    table.arguments = made;
    table.argument_count = (int32_t)PyTuple_Size(arguments);
    table.context = kept;
    NEW_ERROR(error);
    result = table_added(kept, dl_extensions_add_operator(extensions, &table, &error), &error);
  }
  free(made);
  return result;
}

/* operator_random(draw, number): draw is the last three of a row's place. */
PyObject* operator_random(PyObject* self, PyObject* arguments) {
  (void)self;
  unsigned long long draw[3];
  long long number;
  if (!PyArg_ParseTuple(arguments, "(KKK)L:operator_random", &draw[0], &draw[1], &draw[2], &number))
    return NULL;
  dl_operator_row row = {.struct_size = sizeof row, .draw = {draw[0], draw[1], draw[2]}};
  return PyLong_FromUnsignedLongLong(dl_operator_random(&row, number));
}
