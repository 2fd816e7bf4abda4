/* Records from Python code.
 *
 * The library calls `read` from its own threads. Each call takes the GIL, so records are made one call at a time, for any
 * number of workers. A free-threaded Python has no GIL, and workers make records concurrently. Large values in C order are
 * lent to the library and kept until it has made the rows.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Below this a copy costs less than keeping the memory. */
enum { LENT_BYTES = 4096 };

/* Where a call of `read` puts its records; empty when the call is over. */
typedef struct {
  PyObject_HEAD const dl_reader_request* request; /* NULL: the call is over */
  PyObject* kept;                                 /* a list of the loans that cells borrow from; NULL: none */
} Cells;

static bool is_cancelled(const dl_reader_request* request) {
  return __atomic_load_n(request->cancelled, __ATOMIC_RELAXED) != 0;
}

static void tell(const dl_reader_request* request, int64_t record, PyObject* text) {
  PyObject* bytes = text == NULL ? NULL : PyUnicode_AsEncodedString(text, "utf-8", "replace");
  if (bytes == NULL)
    PyErr_Clear();
  else
    PyOS_snprintf(request->messages + record * request->message_bytes, (size_t)request->message_bytes, "%s",
                  PyBytes_AsString(bytes));
  Py_XDECREF(bytes);
}

static int32_t failed(const dl_reader_request* request) {
  if (caller_keeps_exception()) return DL_READER_INTERRUPTED;
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  PyObject* text = value == NULL ? NULL : PyUnicode_FromFormat("%R", value);
  tell(request, 0, text);
  Py_XDECREF(text);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(traceback);
  return 1;
}

/* Objects that cells borrow from are released when the library has made the rows, by a letter, which needs no lock of Python. */
static bool lend(dl_reader_request* request, PyObject* kept) {
  letter* made = letter_new(kept);
  if (made == NULL) return false;
  request->release = give_back;
  request->release_context = made;
  return true;
}

static int32_t read_locked(PyObject* function, dl_reader_request* request) {
  if (caller_has_exception()) return DL_READER_INTERRUPTED;
  mailbox_empty(); /* what the call before this one lent */
  allocfunc allocate = (allocfunc)PyType_GetSlot(cells_type, Py_tp_alloc);
  Cells* out = (Cells*)allocate(cells_type, 0);
  PyObject* list = shape_tuple(request->indices, request->record_count, 1);
  PyObject *result = NULL, *kept = NULL;
  if (out != NULL && list != NULL) {
    out->request = request;
    result = PyObject_CallFunctionObjArgs(function, list, (PyObject*)out, NULL);
    BEGIN_EXCLUSIVE(out); /* another thread may have received it */
    out->request = NULL;
    kept = out->kept;
    out->kept = NULL;
    END_EXCLUSIVE();
  }
  Py_XDECREF(out);
  Py_XDECREF(list);
  const bool good = result != NULL && (kept == NULL || lend(request, kept));
  Py_XDECREF(result);
  Py_XDECREF(kept);
  return good ? 0 : failed(request);
}

static int32_t reader_read(void* context, dl_reader_request* request) {
  int32_t result = 1;
  if (is_cancelled(request)) return result;
  pthread_cleanup_push(thread_is_ended, NULL);
  PyGILState_STATE state;
  if (interpreter_enter(&state)) {
    result = read_locked(letter_owner(context), request);
    interpreter_leave(state);
  } else {
    PyOS_snprintf(request->messages, (size_t)request->message_bytes, "Python is ending");
  }
  pthread_cleanup_pop(0);
  if (is_cancelled(request)) result = 1; /* the source may have left records out */
  return result;
}

/* (name, dtype, shape, ragged, axes, the most bytes of a ragged sample or 0) */
bool field_of_tuple(PyObject* described, dl_view* view, int64_t* shape) {
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

static const int64_t* numbers_of(PyObject* loan_or_none, int64_t* count) {
  *count = 0;
  if (!PyObject_TypeCheck(loan_or_none, loan_type)) return NULL;
  const Loan* loan = (const Loan*)loan_or_none;
  *count = loan->shape[0];
  return (const int64_t*)loan->data;
}

/* `paths` are bytes; *kept: the caller frees it. */
static bool add_files(dl_reader* table, PyObject* paths, PyObject* ends, const char*** kept) {
  const Py_ssize_t count = PyTuple_Size(paths);
  const char** files = *kept = calloc((size_t)count + 1, sizeof *files);
  if (files == NULL) return PyErr_NoMemory() != NULL;
  for (Py_ssize_t at = 0; at < count; at++) {
    char* path = NULL; /* without a length, a NUL in it is an error */
    if (PyBytes_AsStringAndSize(PyTuple_GetItem(paths, at), &path, NULL) != 0) return false;
    files[at] = path;
  }
  int64_t end_count;
  table->file_ends = numbers_of(ends, &end_count);
  table->file_count = count;
  table->files = files;
  if (table->file_ends == NULL || end_count == count) return true;
  raise_local(DL_ERR_INVALID_ARGUMENT, "reader: %lld file_ends for %lld files, expected one per file",
              (long long)end_count, (long long)count);
  return false;
}

/* _from_reader(read, fields, count, fingerprint or None, paths as bytes, Loan of packed i64 or None, the same for blocks, held
 * blocks, options) */
PyObject* dataset_from_reader(Dataset* self, PyObject* arguments) {
  PyObject *function, *fields, *files, *file_ends, *block_ends;
  long long records, held_blocks;
  const char* fingerprint;
  Options* options;
  if (!PyArg_ParseTuple(arguments, "OO!LzO!OOLO!:_from_reader", &function, &PyTuple_Type, &fields, &records,
                        &fingerprint, &PyTuple_Type, &files, &file_ends, &block_ends, &held_blocks,
                        options_type, &options))
    return NULL;
  Py_ssize_t count = PyTuple_Size(fields);
  dl_view* views = calloc((size_t)count + 1, sizeof *views);
  int64_t(*shapes)[DL_MAX_RANK] = calloc((size_t)count + 1, sizeof *shapes);
  const char** paths = NULL;
  letter* kept = NULL; /* holds the function */
  dl_status status = DL_ERR_INVALID_ARGUMENT;
  PyObject* result = NULL;
  if (views == NULL || shapes == NULL) {
    PyErr_NoMemory();
  } else if ((kept = letter_new(function)) != NULL) {
    Py_ssize_t at = 0;
    while (at < count && field_of_tuple(PyTuple_GetItem(fields, at), &views[at], shapes[at])) at++;
    dl_reader table = {.struct_size = sizeof table, .field_count = (int32_t)count, .fields = views};
    table.record_count = records;
    table.context = kept;
    table.read = reader_read;
    table.destroy = give_back;
    table.fingerprint = fingerprint;
    table.held_blocks = held_blocks;
    table.block_ends = numbers_of(block_ends, &table.block_count);
    if (at == count && add_files(&table, files, file_ends, &paths)) {
      dl_dataset* made = NULL;
      NEW_ERROR(error);
      Py_BEGIN_ALLOW_THREADS status = dl_dataset_from_reader(&table, options->handle, &made, &error);
      Py_END_ALLOW_THREADS result = dataset_opened(self, made, status, &error);
    }
    if (status != DL_OK) letter_discard(kept);
  }
  free(views);
  free(shapes);
  free(paths);
  return result;
}

/* NULL: there is none. */
static dl_reader_cell* cell_at(Cells* self, long long record, long long field) {
  const dl_reader_request* request = self->request;
  if (request != NULL && record >= 0 && record < request->record_count && field >= 0 &&
      field < request->field_count)
    return dl_reader_cell_at(request, (int32_t)record, (int32_t)field);
  return NULL;
}

static PyObject* done(bool found) {
  if (PyErr_Occurred()) return NULL;
  if (found) Py_RETURN_NONE;
  PyErr_SetString(PyExc_IndexError, "no such cell, or its call is over");
  return NULL;
}

static bool is_packed(const Loan* loan, int64_t item_bytes) {
  int64_t packed = item_bytes;
  for (int32_t at = loan->rank - 1; at >= 0; at--) {
    if (loan->shape[at] != 1 && loan->strides[at] != packed) return false;
    packed *= loan->shape[at];
  }
  return true;
}

/* Without memory for it an exception is set. */
static void borrow(Cells* self, dl_reader_cell* cell, Loan* loan) {
  if (self->kept == NULL) self->kept = PyList_New(0);
  if (self->kept != NULL && PyList_Append(self->kept, (PyObject*)loan) == 0) cell->borrowed = loan->data;
}

static void fill(Cells* self, dl_reader_cell* cell, Loan* loan) {
  int64_t item_bytes = dl_dtype_bytes(loan->dtype);
  cell->bytes = item_bytes * item_count(loan->shape, loan->rank);
  cell->borrowed = NULL;
  if (cell->bytes > cell->capacity || cell->bytes <= 0) return; /* more than that is reported, not written */
  if (cell->bytes >= LENT_BYTES && is_packed(loan, item_bytes))
    borrow(self, cell, loan);
  else
    copy_strided(cell->data, loan->data, loan->rank, loan->shape, loan->strides, item_bytes);
}

static PyObject* cells_put(Cells* self, PyObject* arguments) {
  long long record, field;
  Loan* loan;
  if (!PyArg_ParseTuple(arguments, "LLO!:put", &record, &field, loan_type, &loan)) return NULL;
  dl_reader_cell* cell;
  BEGIN_EXCLUSIVE(self);
  cell = cell_at(self, record, field);
  if (cell != NULL) fill(self, cell, loan);
  END_EXCLUSIVE();
  return done(cell != NULL);
}

static PyObject* cells_fail(Cells* self, PyObject* arguments) {
  long long record;
  PyObject* text;
  if (!PyArg_ParseTuple(arguments, "LU:fail", &record, &text)) return NULL;
  dl_reader_cell* cell;
  BEGIN_EXCLUSIVE(self);
  cell = cell_at(self, record, 0);
  if (cell != NULL) {
    cell->status = 1;
    tell(self->request, record, text);
  }
  END_EXCLUSIVE();
  return done(cell != NULL);
}

static PyObject* cells_place(Cells* self, PyObject* record) {
  long long at = PyLong_AsLongLong(record);
  if (at == -1 && PyErr_Occurred()) return NULL;
  long long slot = -1, epoch = -1;
  unsigned long long seed = 0;
  bool found;
  BEGIN_EXCLUSIVE(self);
  found = cell_at(self, at, 0) != NULL;
  if (found) {
    slot = self->request->slots[at];
    epoch = self->request->epoch;
    seed = self->request->seed;
  }
  END_EXCLUSIVE();
  return found ? Py_BuildValue("LLK", slot, epoch, seed) : done(false);
}

static PyObject* cells_cancelled(Cells* self, PyObject* none) {
  (void)none;
  bool cancelled;
  BEGIN_EXCLUSIVE(self);
  cancelled = self->request == NULL || is_cancelled(self->request);
  END_EXCLUSIVE();
  return PyBool_FromLong(cancelled);
}

static PyMethodDef cells_methods[] = {
    {"put", (PyCFunction)cells_put, METH_VARARGS,
     "put($self, record, field, loan, /)\n--\n\nA field of a record: copied, or kept until the row is made."},
    {"fail", (PyCFunction)cells_fail, METH_VARARGS,
     "fail($self, record, text, /)\n--\n\nMarks a record as bad, with a message."},
    {"place", (PyCFunction)cells_place, METH_O,
     "place($self, record, /)\n--\n\nIts slot, the epoch and the seed; slot and epoch may be -1: none."},
    {"cancelled", (PyCFunction)cells_cancelled, METH_NOARGS,
     "cancelled($self, /)\n--\n\nTrue if the records are no longer wanted, or the call is over."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot cells_slots[] = {{Py_tp_doc, "Space for the records of one call."},
                                    {Py_tp_methods, cells_methods},
                                    {Py_tp_new, not_by_hand},
                                    {0, NULL}};
PyType_Spec cells_spec = {"dataline._core.Cells", sizeof(Cells), 0, Py_TPFLAGS_DEFAULT, cells_slots};
