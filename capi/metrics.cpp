// What a loader measures: the table, its text, and traces.
// SPDX-License-Identifier: Apache-2.0
#include "capi/guard.h"
#include "capi/handles.h"
#include "capi/host_struct.h"

using namespace dataline;
using namespace dataline::capi;

namespace {

Status readable(const dl_metrics* metrics) {
  DL_REQUIRE(metrics);
  return metrics->core->forked() ? Loader::forked_error() : Status::ok();
}

}  // namespace

extern "C" {

dl_status dl_loader_metrics(const dl_loader* loader, dl_metrics** out, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(out);
    *out = nullptr;
    DL_REQUIRE(loader);
    if (loader->core->forked()) return Loader::forked_error();
    auto handle = std::make_unique<dl_metrics>();
    handle->core = loader->core->metrics();
    *out = handle.release();
    return Status::ok();
  });
}

void dl_metrics_destroy(dl_metrics* metrics) { delete metrics; }

int64_t dl_metrics_count(const dl_metrics* metrics) {
  return metrics == nullptr ? 0 : metrics->core->row_count();
}

dl_status dl_metrics_at(const dl_metrics* metrics, int64_t index, dl_metric* out, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_RETURN_IF_ERROR(readable(metrics));
    DL_REQUIRE(out);
    DL_RETURN_IF_ERROR(check_index("metric", index, metrics->core->row_count()));
    const MetricRow from = metrics->core->row(index);
    dl_metric row = {};
    row.kind = static_cast<int32_t>(from.kind);
    row.name = from.name;
    row.part = from.part;
    row.unit = from.unit;
    row.doc = from.doc;
    row.thread = from.thread;
    row.value = from.value;
    row.count = from.count;
    row.bytes = from.bytes;
    row.p50_ns = from.p50_ns;
    row.p99_ns = from.p99_ns;
    row.max_ns = from.max_ns;
    return copy_struct(row, out);
  });
}

dl_status dl_metrics_text(const dl_metrics* metrics, const char* labels, char* text, size_t* bytes,
                          dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_RETURN_IF_ERROR(readable(metrics));
    DL_REQUIRE(bytes);
    DL_ASSIGN_OR_RETURN(const std::string out,
                        prometheus_text(*metrics->core, labels != nullptr ? labels : ""));
    return copy_text(out, "metrics", text, bytes);
  });
}

int64_t dl_metrics_stall_count(const dl_metrics* metrics) {
  return metrics == nullptr || metrics->core->forked() ? 0 : metrics->core->stall_count();
}

dl_status dl_metrics_stall_at(const dl_metrics* metrics, int64_t index, dl_stall* out, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_RETURN_IF_ERROR(readable(metrics));
    DL_REQUIRE(out);
    DL_ASSIGN_OR_RETURN(const Stall from, metrics->core->stall(index));
    dl_stall stall = {};
    stall.epoch = from.epoch;
    stall.step = from.step;
    stall.wait_ns = from.wait_ns;
    stall.cause = from.cause;
    return copy_struct(stall, out);
  });
}

dl_status dl_loader_trace_start(dl_loader* loader, const char* path, const dl_trace_sink* sink,
                                dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(loader);
    if ((path == nullptr) == (sink == nullptr))
      return dataline::error(Code::kInvalidArgument, "trace: expected a path or a sink, got ",
                             path == nullptr ? "neither" : "both");
    TraceTarget target;
    if (path != nullptr) {
      if (*path == '\0') return dataline::error(Code::kInvalidArgument, "trace: the path is empty");
      target.path = path;
    } else {
      DL_ASSIGN_OR_RETURN(const dl_trace_sink to, read_struct(*sink));
      DL_RETURN_IF_ERROR(check_reserved<dl_trace_sink>("reserved", to.reserved == 0));
      if (to.write == nullptr) return dataline::error(Code::kInvalidArgument, "dl_trace_sink: write is NULL");
      target.context = to.context;
      target.write = to.write;
    }
    return loader->core->trace_start(target);
  });
}

dl_status dl_loader_trace_stop(dl_loader* loader, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(loader);
    return loader->core->trace_stop();
  });
}

}  // extern "C"
