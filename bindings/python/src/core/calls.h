/* See calls.c.
 * Generated from capi/api.json by capi/api/generate.py; do not edit.
 * SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
#ifndef DATALINE_PYTHON_CALLS_H
#define DATALINE_PYTHON_CALLS_H

#include "call.h"

PyObject* launcher_dict(const dl_launcher* from);
PyObject* option_info_dict(const dl_option_info* from);
PyObject* stats_dict(const dl_stats* from);
PyObject* bad_sample_dict(const dl_bad_sample* from);
PyObject* progress_dict(const dl_progress* from);
PyObject* image_info_dict(const dl_image_info* from);
PyObject* plan_stage_dict(const dl_plan_stage* from);
PyObject* metric_dict(const dl_metric* from);
PyObject* stall_dict(const dl_stall* from);
PyObject* tuned_dict(const dl_tuned* from);
PyObject* part_dict(const dl_part* from);
PyObject* writer_info_dict(const dl_writer_info* from);

PyObject* loader_call_position(Loader* self, PyObject* arguments);
PyObject* loader_call_seek(Loader* self, PyObject* arguments);
PyObject* loader_call_wait_handle(Loader* self, PyObject* arguments);
PyObject* loader_call_stats(Loader* self, PyObject* arguments);
PyObject* loader_call_bad_sample_count(Loader* self, PyObject* arguments);
PyObject* loader_call_bad_sample_at(Loader* self, PyObject* arguments);
PyObject* loader_call_pixel_scale(Loader* self, PyObject* arguments);
PyObject* loader_call_plan_count(Loader* self, PyObject* arguments);
PyObject* loader_call_plan_at(Loader* self, PyObject* arguments);
PyObject* loader_call_set_workers(Loader* self, PyObject* arguments);
PyObject* loader_call_tuned(Loader* self, PyObject* arguments);
PyObject* loader_call_part_count(Loader* self, PyObject* arguments);
PyObject* loader_call_part_at(Loader* self, PyObject* arguments);
#define LOADER_CALLS \
  {"_position", (PyCFunction)loader_call_position, METH_NOARGS, "_position($self, /)\n--\n\n"}, \
  {"_seek", (PyCFunction)loader_call_seek, METH_VARARGS, "_seek($self, epoch, step, /)\n--\n\n"}, \
  {"_wait_handle", (PyCFunction)loader_call_wait_handle, METH_NOARGS, "_wait_handle($self, /)\n--\n\n"}, \
  {"_stats", (PyCFunction)loader_call_stats, METH_NOARGS, "_stats($self, /)\n--\n\n"}, \
  {"_bad_sample_count", (PyCFunction)loader_call_bad_sample_count, METH_NOARGS, "_bad_sample_count($self, /)\n--\n\n"}, \
  {"_bad_sample_at", (PyCFunction)loader_call_bad_sample_at, METH_VARARGS, "_bad_sample_at($self, index, /)\n--\n\n"}, \
  {"_pixel_scale", (PyCFunction)loader_call_pixel_scale, METH_VARARGS, "_pixel_scale($self, field, channel, /)\n--\n\n"}, \
  {"_plan_count", (PyCFunction)loader_call_plan_count, METH_NOARGS, "_plan_count($self, /)\n--\n\n"}, \
  {"_plan_at", (PyCFunction)loader_call_plan_at, METH_VARARGS, "_plan_at($self, index, /)\n--\n\n"}, \
  {"_set_workers", (PyCFunction)loader_call_set_workers, METH_VARARGS, "_set_workers($self, count, /)\n--\n\n"}, \
  {"_tuned", (PyCFunction)loader_call_tuned, METH_NOARGS, "_tuned($self, /)\n--\n\n"}, \
  {"_part_count", (PyCFunction)loader_call_part_count, METH_NOARGS, "_part_count($self, /)\n--\n\n"}, \
  {"_part_at", (PyCFunction)loader_call_part_at, METH_VARARGS, "_part_at($self, index, /)\n--\n\n"}

PyObject* opening_call_wait_handle(Opening* self, PyObject* arguments);
PyObject* opening_call_progress(Opening* self, PyObject* arguments);
#define OPENING_CALLS \
  {"_wait_handle", (PyCFunction)opening_call_wait_handle, METH_NOARGS, "_wait_handle($self, /)\n--\n\n"}, \
  {"_progress", (PyCFunction)opening_call_progress, METH_NOARGS, "_progress($self, /)\n--\n\n"}

PyObject* dataset_call_image_info(Dataset* self, PyObject* arguments);
PyObject* dataset_call_part_count(Dataset* self, PyObject* arguments);
PyObject* dataset_call_part_at(Dataset* self, PyObject* arguments);
#define DATASET_CALLS \
  {"_image_info", (PyCFunction)dataset_call_image_info, METH_VARARGS, "_image_info($self, field, index, /)\n--\n\n"}, \
  {"_part_count", (PyCFunction)dataset_call_part_count, METH_NOARGS, "_part_count($self, /)\n--\n\n"}, \
  {"_part_at", (PyCFunction)dataset_call_part_at, METH_VARARGS, "_part_at($self, index, /)\n--\n\n"}

PyObject* writer_call_finish(Writer* self, PyObject* arguments);
PyObject* writer_call_get_info(Writer* self, PyObject* arguments);
PyObject* writer_call_position(Writer* self, PyObject* arguments);
#define WRITER_CALLS \
  {"_finish", (PyCFunction)writer_call_finish, METH_NOARGS, "_finish($self, /)\n--\n\n"}, \
  {"_get_info", (PyCFunction)writer_call_get_info, METH_NOARGS, "_get_info($self, /)\n--\n\n"}, \
  {"_position", (PyCFunction)writer_call_position, METH_NOARGS, "_position($self, /)\n--\n\n"}

#endif
