/* The module dataline._core.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

PyTypeObject *options_type, *token_type, *loan_type, *dataset_type, *cells_type, *loader_type, *epoch_type,
    *batch_type, *tensor_type;

PyObject* from_package(const char* module, const char* name) {
  PyObject* package = PyImport_ImportModule(module);
  PyObject* value = package == NULL ? NULL : PyObject_GetAttrString(package, name);
  Py_XDECREF(package);
  return value;
}

void object_free(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF((PyObject*)type);
}

PyObject* not_by_hand(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  (void)arguments, (void)keywords;
  return PyErr_Format(PyExc_TypeError, "%R is not made by hand", (PyObject*)type);
}

/* Before the interpreter ends: no thread of a loader may need it from here on. */
static PyObject* shut_down(PyObject* self, PyObject* none) {
  (void)self, (void)none;
  loaders_close_all();
  mailbox_empty();
  mailbox_close();
  Py_RETURN_NONE;
}

static PyObject* after_fork(PyObject* self, PyObject* none) {
  (void)self, (void)none;
  mailbox_after_fork();
  Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"option_table", option_table, METH_NOARGS, "option_table($module, /)\n--\n\n"},
    {"transform_table", transform_table, METH_NOARGS, "transform_table($module, /)\n--\n\n"},
    {"library_version", library_version, METH_NOARGS,
     "library_version($module, /)\n--\n\n(version, ABI, build)."},
    {"dtype_names", dtype_names, METH_NOARGS,
     "dtype_names($module, /)\n--\n\nBy number; there is no number 0."},
    {"shut_down", shut_down, METH_NOARGS, "shut_down($module, /)\n--\n\nAt exit."},
    {"after_fork", after_fork, METH_NOARGS, "after_fork($module, /)\n--\n\nIn the child."},
    {NULL, NULL, 0, NULL}};

/* Python's name of a type may be another than the one it is found by here. */
static bool add_type(PyObject* module, const char* name, PyType_Spec* spec, PyTypeObject** type) {
  *type = (PyTypeObject*)PyType_FromSpec(spec);
  if (*type == NULL) return false;
  Py_INCREF((PyObject*)*type); /* one for the module, one for this file */
  return PyModule_AddObject(module, name, (PyObject*)*type) == 0;
}

static int execute(PyObject* module) {
  static bool loaded = false;
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0 || loaded) {
    PyErr_SetString(PyExc_ImportError, "dataline loads once in a process, in the main interpreter");
    return -1;
  }
  if (dl_abi_version() != DL_ABI_VERSION) {
    PyErr_Format(PyExc_ImportError, "libdataline has ABI %d, this module was built for %d",
                 (int)dl_abi_version(), DL_ABI_VERSION);
    return -1;
  }
  loaded = add_type(module, "Options", &options_spec, &options_type) &&
           add_type(module, "CancelToken", &token_spec, &token_type) &&
           add_type(module, "Loan", &loan_spec, &loan_type) &&
           add_type(module, "Dataset", &dataset_spec, &dataset_type) &&
           add_type(module, "Cells", &cells_spec, &cells_type) &&
           add_type(module, "Loader", &loader_spec, &loader_type) &&
           add_type(module, "Epoch", &epoch_spec, &epoch_type) &&
           add_type(module, "Batch", &batch_spec, &batch_type) &&
           add_type(module, "Tensor", &tensor_spec, &tensor_type);
  return loaded ? 0 : -1;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, execute}, {0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "dataline._core",
                                        .m_doc = "What the package dataline is made on.",
                                        .m_methods = functions, .m_slots = slots};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void) { return PyModuleDef_Init(&definition); }
