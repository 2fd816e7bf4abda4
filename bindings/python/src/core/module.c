/* The module dataline._core.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

/* Before the interpreter ends: no thread of a loader may need it from here on. */
static PyObject* shut_down(PyObject* self, PyObject* none) {
  (void)self, (void)none;
  const int64_t deadline_ns = monotonic_ns() + 1000000000; /* as long as a loader waits for its workers */
  loaders_close_all();
  interpreter_close(deadline_ns);
  mailbox_empty();
  Py_RETURN_NONE;
}

static PyObject* after_fork(PyObject* self, PyObject* none) {
  (void)self, (void)none;
  interpreter_after_fork();
  Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"launcher", launcher, METH_O, "launcher($module, entries, /)\n--\n\n"},
    {"option_table", option_table, METH_NOARGS, "option_table($module, /)\n--\n\n"},
    {"transform_table", transform_table, METH_O, "transform_table($module, extensions, /)\n--\n\n"},
    {"format_table", format_table, METH_O, "format_table($module, extensions, /)\n--\n\n"},
    {"storage_table", storage_table, METH_O, "storage_table($module, extensions, /)\n--\n\n"},
    {"operator_random", operator_random, METH_VARARGS, "operator_random($module, draw, number, /)\n--\n\n"},
    {"library_version", library_version, METH_NOARGS,
     "library_version($module, /)\n--\n\n(version, ABI, build)."},
    {"dtype_names", dtype_names, METH_NOARGS,
     "dtype_names($module, /)\n--\n\nBy number; there is no number 0."},
    {"shut_down", shut_down, METH_NOARGS, "shut_down($module, /)\n--\n\nAt exit."},
    {"after_fork", after_fork, METH_NOARGS, "after_fork($module, /)\n--\n\nIn the child."},
    {NULL, NULL, 0, NULL}};

static int execute(PyObject* module) {
  static bool loaded = false;
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0 || loaded) {
    PyErr_SetString(PyExc_ImportError, "dataline loads once per process, in the main interpreter");
    return -1;
  }
  if (dl_abi_version() != DL_ABI_VERSION) {
    PyErr_Format(PyExc_ImportError, "libdataline has ABI %d, but this module requires ABI %d",
                 (int)dl_abi_version(), DL_ABI_VERSION);
    return -1;
  }
  interpreter_begin();
  loaded = handles_begin() && add_type(module, "Options", &options_spec, &options_type) &&
           add_type(module, "CancelToken", &token_spec, &token_type) &&
           add_type(module, "Loan", &loan_spec, &loan_type) &&
           add_type(module, "Dataset", &dataset_spec, &dataset_type) &&
           add_type(module, "Cells", &cells_spec, &cells_type) &&
           add_type(module, "Loader", &loader_spec, &loader_type) &&
           add_type(module, "Epoch", &epoch_spec, &epoch_type) &&
           add_type(module, "Batch", &batch_spec, &batch_type) &&
           add_type(module, "Tensor", &tensor_spec, &tensor_type) &&
           add_type(module, "Opening", &opening_spec, &opening_type) &&
           add_type(module, "Extensions", &extensions_spec, &extensions_type) &&
           add_type(module, "Lent", &lent_spec, &lent_type) &&
           add_type(module, "File", &file_spec, &file_type) &&
           add_type(module, "Metrics", &metrics_spec, &metrics_type) &&
           add_type(module, "Pieces", &pieces_spec, &pieces_type) &&
           add_type(module, "Writer", &writer_spec, &writer_type);
  return loaded ? 0 : -1;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, execute},
#ifdef Py_GIL_DISABLED
                                   {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
                                   {0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "dataline._core",
                                        .m_doc = "The extension module of the package dataline.",
                                        .m_methods = functions, .m_slots = slots};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void) { return PyModuleDef_Init(&definition); }
