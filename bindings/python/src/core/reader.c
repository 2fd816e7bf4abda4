/* Records from Python code.
 *
 * The library calls `read` from its own threads. Each call takes the GIL, so records are made one call at a time, whatever
 * the number of workers; a free-threaded Python has none, and workers make records at the same time. At exit the interpreter terminates threads that wait for the GIL; unwinding through the library
 * would end the process, so such a thread sleeps forever instead.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where a call of `read` puts its records; empty when the call is over. */
typedef struct {
  PyObject_HEAD dl_reader_cell* cells; /* NULL: the call is over */
  int64_t records;
  int64_t fields;
} Cells;

/* What left a reader that this thread was in and is no failure of data: KeyboardInterrupt, SystemExit. */
static _Thread_local struct {
  PyObject *type, *value, *traceback;
  bool wanted;
} interruption;

void reader_in_caller(bool begins) { interruption.wanted = begins; }

bool reader_interrupted(void) {
  if (interruption.type == NULL) return false;
  PyErr_Restore(interruption.type, interruption.value, interruption.traceback);
  interruption.type = interruption.value = interruption.traceback = NULL;
  return true;
}

static void tell(char* message, size_t room, PyObject* text) {
  PyObject* bytes = text == NULL ? NULL : PyUnicode_AsEncodedString(text, "utf-8", "replace");
  if (bytes == NULL)
    PyErr_Clear();
  else if (room > 0)
    PyOS_snprintf(message, room, "%s", PyBytes_AsString(bytes));
  Py_XDECREF(bytes);
}

static int32_t failed(char* message, size_t room) {
  if (interruption.wanted && !PyErr_ExceptionMatches(PyExc_Exception)) {
    PyErr_Fetch(&interruption.type, &interruption.value, &interruption.traceback);
    return 1;
  }
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  PyObject* text = value == NULL ? NULL : PyUnicode_FromFormat("%R", value);
  tell(message, room, text);
  Py_XDECREF(text);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(traceback);
  return 1;
}

static int32_t read_locked(PyObject* function, int64_t field_count, const int64_t* indices, int64_t count,
                           dl_reader_cell* cells, char* message, size_t room) {
  if (interruption.type != NULL) return 1; /* nothing more, until who asked has heard of it */
  allocfunc allocate = (allocfunc)PyType_GetSlot(cells_type, Py_tp_alloc);
  Cells* out = (Cells*)allocate(cells_type, 0);
  PyObject* list = shape_tuple(indices, (int32_t)count, 1);
  PyObject* text = NULL;
  if (out != NULL && list != NULL) {
    out->cells = cells;
    out->records = count;
    out->fields = field_count;
    text = PyObject_CallFunctionObjArgs(function, list, (PyObject*)out, NULL);
    BEGIN_EXCLUSIVE(out); /* another thread may have been given it */
    out->cells = NULL;
    END_EXCLUSIVE();
  }
  Py_XDECREF(out);
  Py_XDECREF(list);
  if (text == NULL) return failed(message, room);
  if (text != Py_None) tell(message, room, text);
  Py_DECREF(text);
  return 0;
}

static void sleep_for_ever(void* unused) {
  (void)unused;
  for (;;) pause();
}

typedef struct {
  letter* kept; /* holds the function */
  int64_t field_count;
} Reader;

static int32_t reader_read(void* context, const int64_t* indices, int64_t count, dl_reader_cell* cells,
                           char* message, size_t room) {
  Reader* reader = context;
  int32_t result = 1;
  if (!interpreter_open()) {
    if (room > 0) PyOS_snprintf(message, room, "Python is ending");
    return result;
  }
  pthread_cleanup_push(sleep_for_ever, NULL);
  PyGILState_STATE state = PyGILState_Ensure();
  result = read_locked(letter_owner(reader->kept), reader->field_count, indices, count, cells, message, room);
  PyGILState_Release(state);
  pthread_cleanup_pop(0);
  return result;
}

static void reader_destroy(void* context) {
  Reader* reader = context;
  give_back(reader->kept);
  free(reader);
}

/* (name, dtype, shape, ragged, axes, the most bytes of a ragged sample or 0) */
static bool read_field(PyObject* described, dl_view* view, int64_t* shape) {
  PyObject* dims;
  const char* dtype;
  int ragged;
  long long max_bytes;
  *view = (dl_view){.struct_size = sizeof *view, .device_type = DL_DEVICE_CPU, .shape = shape};
  if (!PyArg_ParseTuple(described, "ssO!psL", &view->name, &dtype, &PyTuple_Type, &dims, &ragged, &view->axes,
                        &max_bytes))
    return false;
  view->dtype = dl_dtype_from_name(dtype);
  view->kind = ragged ? DL_KIND_RAGGED : DL_KIND_DENSE;
  view->rank = (int32_t)PyTuple_Size(dims);
  if (view->dtype == 0 || view->rank > DL_MAX_RANK) {
    raise_local(DL_ERR_INVALID_ARGUMENT, "%s: dtype \"%s\", %d dims", view->name, dtype, (int)view->rank);
    return false;
  }
  for (int32_t at = 0; at < view->rank; at++) shape[at] = PyLong_AsLongLong(PyTuple_GetItem(dims, at));
  view->bytes = ragged ? max_bytes : dl_dtype_bytes(view->dtype) * item_count(shape, view->rank);
  return !PyErr_Occurred();
}

/* _from_reader(read, fields, count, fingerprint or None, options) */
PyObject* dataset_from_reader(Dataset* self, PyObject* arguments) {
  PyObject *function, *fields;
  long long records;
  const char* fingerprint;
  Options* options;
  if (!PyArg_ParseTuple(arguments, "OO!LzO!:_from_reader", &function, &PyTuple_Type, &fields, &records,
                        &fingerprint, options_type, &options))
    return NULL;
  Py_ssize_t count = PyTuple_Size(fields);
  dl_view* views = calloc((size_t)count + 1, sizeof *views);
  int64_t(*shapes)[DL_MAX_RANK] = calloc((size_t)count + 1, sizeof *shapes);
  Reader* reader = calloc(1, sizeof *reader);
  dl_status status = DL_ERR_INVALID_ARGUMENT;
  PyObject* result = NULL;
  if (views == NULL || shapes == NULL || reader == NULL) {
    PyErr_NoMemory();
  } else if ((reader->kept = letter_new(function)) != NULL) {
    Py_ssize_t at = 0;
    while (at < count && read_field(PyTuple_GetItem(fields, at), &views[at], shapes[at])) at++;
    reader->field_count = count;
    dl_reader table = {.struct_size = sizeof table, .field_count = (int32_t)count, .fields = views};
    table.record_count = records;
    table.context = reader;
    table.read = reader_read;
    table.destroy = reader_destroy;
    table.fingerprint = fingerprint;
    if (at == count) {
      dl_dataset* made = NULL;
      NEW_ERROR(error);
      Py_BEGIN_ALLOW_THREADS status = dl_dataset_from_reader(&table, options->handle, &made, &error);
      Py_END_ALLOW_THREADS result = dataset_opened(self, made, status, &error);
    }
    if (status != DL_OK) letter_discard(reader->kept);
  }
  if (status != DL_OK) free(reader);
  free(views);
  free(shapes);
  return result;
}

/* NULL: there is none. */
static dl_reader_cell* cell_at(Cells* self, long long record, long long field) {
  if (self->cells != NULL && record >= 0 && record < self->records && field >= 0 && field < self->fields)
    return &self->cells[record * self->fields + field];
  return NULL;
}

static PyObject* done(bool found) {
  if (found) Py_RETURN_NONE;
  PyErr_SetString(PyExc_IndexError, "no such cell, or the call it was for is over");
  return NULL;
}

static void fill(dl_reader_cell* cell, const Loan* loan) {
  int64_t item_bytes = dl_dtype_bytes(loan->dtype);
  cell->bytes = item_bytes * item_count(loan->shape, loan->rank);
  if (cell->bytes > 0 && cell->bytes <= cell->capacity) { /* more than that is reported, not written */
    char* items = cell->data;
    copy_strided(items, loan->data, loan->rank, loan->shape, loan->strides, item_bytes);
    /* Pillow, for one, writes true as 255. */
    for (int64_t at = 0; loan->dtype == DL_DTYPE_BOOL && at < cell->bytes; at++) items[at] = items[at] != 0;
  }
}

static PyObject* cells_put(Cells* self, PyObject* arguments) {
  long long record, field;
  Loan* loan;
  if (!PyArg_ParseTuple(arguments, "LLO!:put", &record, &field, loan_type, &loan)) return NULL;
  dl_reader_cell* cell;
  BEGIN_EXCLUSIVE(self);
  cell = cell_at(self, record, field);
  if (cell != NULL) fill(cell, loan);
  END_EXCLUSIVE();
  return done(cell != NULL);
}

static PyObject* cells_fail(Cells* self, PyObject* record) {
  long long index = PyLong_AsLongLong(record);
  if (index == -1 && PyErr_Occurred()) return NULL;
  bool found = true;
  BEGIN_EXCLUSIVE(self);
  for (int64_t field = 0; found && field < self->fields; field++) {
    dl_reader_cell* cell = cell_at(self, index, field);
    if (cell != NULL) cell->status = 1;
    found = cell != NULL;
  }
  END_EXCLUSIVE();
  return done(found);
}

static PyMethodDef cells_methods[] = {
    {"put", (PyCFunction)cells_put, METH_VARARGS,
     "put($self, record, field, loan, /)\n--\n\nCopies a field of a record."},
    {"fail", (PyCFunction)cells_fail, METH_O, "fail($self, record, /)\n--\n\nThe record is bad."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot cells_slots[] = {{Py_tp_doc, "Room for the records of one call."},
                                    {Py_tp_methods, cells_methods},
                                    {Py_tp_new, not_by_hand},
                                    {0, NULL}};
PyType_Spec cells_spec = {"dataline._core.Cells", sizeof(Cells), 0, Py_TPFLAGS_DEFAULT, cells_slots};
