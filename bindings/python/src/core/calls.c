/* Calls that have scalars and text as arguments and results, and structs as dicts.
 * Generated from capi/api.json by capi/api/generate.py; do not edit.
 * SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
#include "calls.h"

static const char* const dl_option_words[] = {NULL, "bool", "int", "size", "word", "text", "indices",
    "weights", "lengths"};
static const char* const dl_image_words[] = {NULL, "jpeg", "png", "webp", "pnm"};
static const char* const dl_device_words[] = {NULL, "cpu", "cuda"};
static const char* const dl_metric_words[] = {NULL, "counter", "gauge", "duration"};
static const char* const dl_tune_words[] = {"off", "watch", "on"};

PyObject* launcher_dict(const dl_launcher* from) {
  return Py_BuildValue("{sLsLsLsLsN}", "rank", (long long)from->rank,
      "world_size", (long long)from->world_size, "local_rank", (long long)from->local_rank,
      "local_world_size", (long long)from->local_world_size, "family", call_text(from->family));
}

PyObject* option_info_dict(const dl_option_info* from) {
  return Py_BuildValue("{sNsisNsLsLsNsNsNsNsNsN}", "type", call_word(dl_option_words, 8, from->type),
      "scope", (int)from->scope, "has_range", PyBool_FromLong(from->has_range),
      "minimum", (long long)from->minimum, "maximum", (long long)from->maximum, "key", call_text(from->key),
      "default_value", call_text(from->default_value), "choices", call_text(from->choices),
      "unit", call_text(from->unit), "doc", call_text(from->doc), "since", call_text(from->since));
}

PyObject* stats_dict(const dl_stats* from) {
  return Py_BuildValue("{sisLsLsLsLsLsLsLsLsLsLsLsLsLsLsLsLsLsLsLsLsLsLsLsL}",
      "num_workers", (int)from->num_workers, "batches", (long long)from->batches,
      "samples", (long long)from->samples, "bytes", (long long)from->bytes,
      "skipped", (long long)from->skipped, "dropped", (long long)from->dropped,
      "padded", (long long)from->padded, "replaced", (long long)from->replaced, "bad", (long long)from->bad,
      "wait_ns", (long long)from->wait_ns, "waits", (long long)from->waits,
      "worker_cpu_ns", (long long)from->worker_cpu_ns, "arena_bytes", (long long)from->arena_bytes,
      "held_bytes", (long long)from->held_bytes, "budget_bytes", (long long)from->budget_bytes,
      "leases_held", (long long)from->leases_held, "lease_copies", (long long)from->lease_copies,
      "ready_batches", (long long)from->ready_batches, "pinned_bytes", (long long)from->pinned_bytes,
      "threads_abandoned", (long long)from->threads_abandoned, "device_bytes", (long long)from->device_bytes,
      "copied_bytes", (long long)from->copied_bytes, "warned", (long long)from->warned,
      "cache_read", (long long)from->cache_read, "cache_made", (long long)from->cache_made);
}

PyObject* bad_sample_dict(const dl_bad_sample* from) {
  return Py_BuildValue("{sisLsLsLsLsLsLsNsN}", "code", (int)from->code, "source", (long long)from->source,
      "index", (long long)from->index, "epoch", (long long)from->epoch, "step", (long long)from->step,
      "slot", (long long)from->slot, "replacement", (long long)from->replacement,
      "message", call_text(from->message), "name", call_text(dl_status_name(from->code)));
}

PyObject* progress_dict(const dl_progress* from) {
  return Py_BuildValue("{sNsLsLsLsLsL}", "done", PyBool_FromLong(from->done), "files", (long long)from->files,
      "total_files", (long long)from->total_files, "bytes", (long long)from->bytes,
      "total_bytes", (long long)from->total_bytes, "entries", (long long)from->entries);
}

PyObject* image_info_dict(const dl_image_info* from) {
  return Py_BuildValue("{sNsLsLsisisisNsL}", "format", call_word(dl_image_words, 4, from->format),
      "width", (long long)from->width, "height", (long long)from->height, "channels", (int)from->channels,
      "bits", (int)from->bits, "orientation", (int)from->orientation,
      "progressive", PyBool_FromLong(from->progressive), "bytes", (long long)from->bytes);
}

PyObject* plan_stage_dict(const dl_plan_stage* from) {
  return Py_BuildValue("{sNsNsNsLsL}", "device_type", call_word(dl_device_words, 2, from->device_type),
      "field", call_text(from->field), "text", call_text(from->text), "bytes_in", (long long)from->bytes_in,
      "bytes_out", (long long)from->bytes_out);
}

PyObject* metric_dict(const dl_metric* from) {
  return Py_BuildValue("{sNsNsNsNsNsisLsLsLsLsLsL}", "kind", call_word(dl_metric_words, 3, from->kind),
      "name", call_text(from->name), "part", call_text(from->part), "unit", call_text(from->unit),
      "doc", call_text(from->doc), "thread", (int)from->thread, "value", (long long)from->value,
      "count", (long long)from->count, "bytes", (long long)from->bytes, "p50_ns", (long long)from->p50_ns,
      "p99_ns", (long long)from->p99_ns, "max_ns", (long long)from->max_ns);
}

PyObject* stall_dict(const dl_stall* from) {
  return Py_BuildValue("{sLsLsLsN}", "epoch", (long long)from->epoch, "step", (long long)from->step,
      "wait_ns", (long long)from->wait_ns, "cause", call_text(from->cause));
}

PyObject* tuned_dict(const dl_tuned* from) {
  return Py_BuildValue("{sNsLsLsLsLsLsLsLsNsdsdsN}", "mode", call_word(dl_tune_words, 2, from->mode),
      "num_workers", (long long)from->num_workers, "prefetch_depth", (long long)from->prefetch_depth,
      "most_workers", (long long)from->most_workers, "most_depth", (long long)from->most_depth,
      "wanted_workers", (long long)from->wanted_workers, "wanted_depth", (long long)from->wanted_depth,
      "changes", (long long)from->changes, "frozen", PyBool_FromLong(from->frozen),
      "batches_per_s", (double)from->batches_per_s, "wait_share", (double)from->wait_share,
      "text", call_text(from->text));
}

PyObject* part_dict(const dl_part* from) {
  return Py_BuildValue("{sNsNsLsLsdsdsdsdsN}", "name", call_text(from->name), "uri", call_text(from->uri),
      "samples", (long long)from->samples, "delivered", (long long)from->delivered,
      "repeat", (double)from->repeat, "epochs", (double)from->epochs,
      "share_asked", (double)from->share_asked, "share_got", (double)from->share_got,
      "transform", call_text(from->transform));
}

PyObject* writer_info_dict(const dl_writer_info* from) {
  return Py_BuildValue("{sLsLsLsL}", "samples", (long long)from->samples,
      "resumed_samples", (long long)from->resumed_samples, "shards", (long long)from->shards,
      "bytes", (long long)from->bytes);
}

PyObject* loader_call_position(Loader* self, PyObject* arguments) {
  (void)arguments;
  int64_t epoch = 0;
  int64_t step = 0;
  RETURN_CALLED(loader, dl_loader_position(loader, &epoch, &step, &error),
      Py_BuildValue("LL", (long long)epoch, (long long)step));
}

PyObject* loader_call_seek(Loader* self, PyObject* arguments) {
  long long epoch;
  long long step;
  if (!PyArg_ParseTuple(arguments, "LL:_seek", &epoch, &step)) return NULL;
  RETURN_CALLED(loader, dl_loader_seek(loader, epoch, step, &error), Py_BuildValue(""));
}

PyObject* loader_call_wait_handle(Loader* self, PyObject* arguments) {
  (void)arguments;
  intptr_t out = 0;
  RETURN_CALLED(loader, dl_loader_wait_handle(loader, &out, &error), Py_BuildValue("L", (long long)out));
}

PyObject* loader_call_stats(Loader* self, PyObject* arguments) {
  (void)arguments;
  dl_stats out = {.struct_size = sizeof out};
  RETURN_CALLED(loader, dl_loader_stats(loader, &out, &error), stats_dict(&out));
}

PyObject* loader_call_bad_sample_count(Loader* self, PyObject* arguments) {
  (void)arguments;
  RETURN_GOT(loader, Py_BuildValue("L", (long long)dl_loader_bad_sample_count(loader)));
}

PyObject* loader_call_bad_sample_at(Loader* self, PyObject* arguments) {
  long long index;
  if (!PyArg_ParseTuple(arguments, "L:_bad_sample_at", &index)) return NULL;
  dl_bad_sample out = {.struct_size = sizeof out};
  RETURN_CALLED(loader, dl_loader_bad_sample_at(loader, index, &out, &error), bad_sample_dict(&out));
}

PyObject* opening_call_wait_handle(Opening* self, PyObject* arguments) {
  (void)arguments;
  intptr_t out = 0;
  RETURN_CALLED(opening, dl_opening_wait_handle(opening, &out, &error), Py_BuildValue("L", (long long)out));
}

PyObject* opening_call_progress(Opening* self, PyObject* arguments) {
  (void)arguments;
  dl_progress out = {.struct_size = sizeof out};
  RETURN_CALLED(opening, dl_opening_progress(opening, &out, &error), progress_dict(&out));
}

PyObject* dataset_call_image_info(Dataset* self, PyObject* arguments) {
  const char* field;
  long long index;
  if (!PyArg_ParseTuple(arguments, "zL:_image_info", &field, &index)) return NULL;
  dl_image_info out = {.struct_size = sizeof out};
  RETURN_CALLED(dataset, dl_dataset_image_info(dataset, field, index, &out, &error), image_info_dict(&out));
}

PyObject* loader_call_pixel_scale(Loader* self, PyObject* arguments) {
  int field;
  long long channel;
  if (!PyArg_ParseTuple(arguments, "iL:_pixel_scale", &field, &channel)) return NULL;
  double scale = 0;
  double offset = 0;
  RETURN_CALLED(loader, dl_loader_pixel_scale(loader, field, channel, &scale, &offset, &error),
      Py_BuildValue("dd", (double)scale, (double)offset));
}

PyObject* loader_call_plan_count(Loader* self, PyObject* arguments) {
  (void)arguments;
  RETURN_GOT(loader, Py_BuildValue("i", (int)dl_loader_plan_count(loader)));
}

PyObject* loader_call_plan_at(Loader* self, PyObject* arguments) {
  int index;
  if (!PyArg_ParseTuple(arguments, "i:_plan_at", &index)) return NULL;
  dl_plan_stage out = {.struct_size = sizeof out};
  RETURN_CALLED(loader, dl_loader_plan_at(loader, index, &out, &error), plan_stage_dict(&out));
}

PyObject* loader_call_set_workers(Loader* self, PyObject* arguments) {
  long long count;
  if (!PyArg_ParseTuple(arguments, "L:_set_workers", &count)) return NULL;
  RETURN_CALLED(loader, dl_loader_set_workers(loader, count, &error), Py_BuildValue(""));
}

PyObject* loader_call_tuned(Loader* self, PyObject* arguments) {
  (void)arguments;
  dl_tuned out = {.struct_size = sizeof out};
  RETURN_CALLED(loader, dl_loader_tuned(loader, &out, &error), tuned_dict(&out));
}

PyObject* dataset_call_part_count(Dataset* self, PyObject* arguments) {
  (void)arguments;
  RETURN_GOT(dataset, Py_BuildValue("i", (int)dl_dataset_part_count(dataset)));
}

PyObject* dataset_call_part_at(Dataset* self, PyObject* arguments) {
  int index;
  if (!PyArg_ParseTuple(arguments, "i:_part_at", &index)) return NULL;
  dl_part out = {.struct_size = sizeof out};
  RETURN_CALLED(dataset, dl_dataset_part_at(dataset, index, &out, &error), part_dict(&out));
}

PyObject* loader_call_part_count(Loader* self, PyObject* arguments) {
  (void)arguments;
  RETURN_GOT(loader, Py_BuildValue("i", (int)dl_loader_part_count(loader)));
}

PyObject* loader_call_part_at(Loader* self, PyObject* arguments) {
  int index;
  if (!PyArg_ParseTuple(arguments, "i:_part_at", &index)) return NULL;
  dl_part out = {.struct_size = sizeof out};
  RETURN_CALLED(loader, dl_loader_part_at(loader, index, &out, &error), part_dict(&out));
}

PyObject* writer_call_finish(Writer* self, PyObject* arguments) {
  (void)arguments;
  RETURN_CALLED(writer, dl_writer_finish(writer, &error), Py_BuildValue(""));
}

PyObject* writer_call_get_info(Writer* self, PyObject* arguments) {
  (void)arguments;
  dl_writer_info out = {.struct_size = sizeof out};
  RETURN_CALLED(writer, dl_writer_get_info(writer, &out, &error), writer_info_dict(&out));
}

PyObject* writer_call_position(Writer* self, PyObject* arguments) {
  (void)arguments;
  RETURN_GOT(writer, call_text(dl_writer_position(writer)));
}
