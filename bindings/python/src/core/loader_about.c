/* The description of a loader.
 * SPDX-License-Identifier: Apache-2.0 */
#include "loader.h"

#include <stdlib.h>

Py_ssize_t loader_length(Loader* self) {
  dl_loader* loader = loader_enter(self);
  if (loader == NULL) return -1;
  int64_t steps = dl_loader_steps(loader);
  loader_leave(self);
  if (steps >= 0) return (Py_ssize_t)steps;
  PyErr_SetString(PyExc_TypeError, "the number of batches is unknown");
  return -1;
}

PyObject* loader_position(Loader* self, PyObject* none) {
  (void)none;
  int64_t epoch = 0, step = 0;
  CALL(self, dl_loader_position(loader, &epoch, &step, &error));
  return Py_BuildValue("LL", (long long)epoch, (long long)step);
}

static dl_status save_state(const void* loader, char* text, size_t* bytes, dl_error* error) {
  return dl_loader_state_save(loader, text, bytes, error);
}

PyObject* loader_save_state(Loader* self, PyObject* none) {
  (void)none;
  char* text = NULL;
  CALL(self, text_from(save_state, loader, &text, &error));
  PyObject* state = PyUnicode_FromString(text);
  free(text);
  return state;
}

PyObject* loader_fileno(Loader* self, PyObject* none) {
  (void)none;
  intptr_t handle = -1;
  CALL(self, dl_loader_wait_handle(loader, &handle, &error));
  return PyLong_FromLongLong(handle);
}

PyObject* loader_fields(Loader* self, PyObject* none) {
  (void)none;
  dl_loader* loader = loader_enter(self);
  if (loader == NULL) return NULL;
  int32_t count = 0;
  const dl_view* views = dl_loader_fields(loader, &count);
  PyObject* fields = fields_of(views, count);
  loader_leave(self);
  return fields;
}

PyObject* loader_stats(Loader* self, PyObject* none) {
  (void)none;
  dl_stats s = {.struct_size = sizeof s};
  CALL(self, dl_loader_stats(loader, &s, &error));
  return Py_BuildValue("iLLLLLLLLLLLLLLLLLLLLLLLL", (int)s.num_workers, s.batches, s.samples, s.bytes,
                       s.skipped, s.dropped, s.padded, s.replaced, s.bad, s.wait_ns, s.waits, s.worker_cpu_ns,
                       s.arena_bytes, s.held_bytes, s.budget_bytes, s.leases_held, s.lease_copies,
                       s.ready_batches, s.pinned_bytes, s.threads_abandoned, s.device_bytes, s.copied_bytes,
                       s.warned, s.cache_read, s.cache_made);
}

PyObject* loader_set_workers(Loader* self, PyObject* count) {
  const long long workers = PyLong_AsLongLong(count);
  if (workers == -1 && PyErr_Occurred() != NULL) return NULL;
  CALL(self, dl_loader_set_workers(loader, workers, &error));
  Py_RETURN_NONE;
}

PyObject* loader_tuned(Loader* self, PyObject* none) {
  (void)none;
  static const char* const modes[] = {"off", "watch", "on"};
  dl_tuned t = {.struct_size = sizeof t};
  CALL(self, dl_loader_tuned(loader, &t, &error));
  const int32_t mode = t.mode >= DL_TUNE_OFF && t.mode <= DL_TUNE_ON ? t.mode : DL_TUNE_OFF;
  return Py_BuildValue("sLLLLLLLNdds", modes[mode], (long long)t.num_workers, (long long)t.prefetch_depth,
                       (long long)t.most_workers, (long long)t.most_depth, (long long)t.wanted_workers,
                       (long long)t.wanted_depth, (long long)t.changes, PyBool_FromLong(t.frozen),
                       t.batches_per_s, t.wait_share, t.text);
}

PyObject* loader_pixel_scale(Loader* self, PyObject* arguments) {
  int field;
  long long channel;
  if (!PyArg_ParseTuple(arguments, "iL:_pixel_scale", &field, &channel)) return NULL;
  double scale = 0, offset = 0;
  CALL(self, dl_loader_pixel_scale(loader, field, channel, &scale, &offset, &error));
  return Py_BuildValue("dd", scale, offset);
}

static PyObject* stage_at(Loader* self, int32_t index) {
  dl_plan_stage stage = {.struct_size = sizeof stage};
  CALL(self, dl_loader_plan_at(loader, index, &stage, &error));
  return Py_BuildValue("sssLL", stage.field, stage.text, stage.device_type == DL_DEVICE_CPU ? "cpu" : "cuda",
                       (long long)stage.bytes_in, (long long)stage.bytes_out);
}

PyObject* loader_plan(Loader* self, PyObject* none) {
  (void)none;
  dl_loader* loader = loader_enter(self);
  if (loader == NULL) return NULL;
  PyObject* list = PyList_New(0);
  for (int32_t at = 0; list != NULL && at < dl_loader_plan_count(loader); at++) {
    PyObject* stage = stage_at(self, at);
    if (stage == NULL || PyList_Append(list, stage) != 0) {
      Py_DECREF(list);
      list = NULL;
    }
    Py_XDECREF(stage);
  }
  loader_leave(self);
  return list;
}

static PyObject* loader_part_at(Loader* self, int32_t index) {
  dl_part part = {.struct_size = sizeof part};
  CALL(self, dl_loader_part_at(loader, index, &part, &error));
  return part_of(&part);
}

PyObject* loader_parts(Loader* self, PyObject* none) {
  (void)none;
  dl_loader* loader = loader_enter(self);
  if (loader == NULL) return NULL;
  PyObject* list = PyList_New(0);
  for (int32_t at = 0; list != NULL && at < dl_loader_part_count(loader); at++) {
    PyObject* part = loader_part_at(self, at);
    if (part == NULL || PyList_Append(list, part) != 0) {
      Py_DECREF(list);
      list = NULL;
    }
    Py_XDECREF(part);
  }
  loader_leave(self);
  return list;
}

static PyObject* bad_sample_at(Loader* self, int64_t index) {
  dl_bad_sample bad = {.struct_size = sizeof bad};
  CALL(self, dl_loader_bad_sample_at(loader, index, &bad, &error));
  return Py_BuildValue("isLLLLLLs", (int)bad.code, dl_status_name(bad.code), bad.source, bad.index, bad.epoch,
                       bad.step, bad.slot, bad.replacement, bad.message);
}

PyObject* loader_bad_samples(Loader* self, PyObject* none) {
  (void)none;
  dl_loader* loader = loader_enter(self);
  if (loader == NULL) return NULL;
  PyObject* list = PyList_New(0);
  for (int64_t at = 0; list != NULL && at < dl_loader_bad_sample_count(loader); at++) {
    PyObject* bad = bad_sample_at(self, at);
    if (bad == NULL || PyList_Append(list, bad) != 0) {
      Py_DECREF(list);
      list = NULL;
    }
    Py_XDECREF(bad);
  }
  loader_leave(self);
  return list;
}
