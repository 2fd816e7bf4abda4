// The plan of a loader, as JSON and as text.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/plan.h"

#include <string_view>
#include <utility>

#include "bindings/cli/failure.h"
#include "bindings/cli/text.h"
#include "bindings/cli/views.h"

namespace dataline::cli {
namespace {

std::string device_text(int32_t type, int32_t index) {
  if (type == DL_DEVICE_CPU) return "cpu";
  const std::string kind = type == DL_DEVICE_CUDA ? "cuda" : "device type " + std::to_string(type);
  return kind + ":" + std::to_string(index);
}

// A loader has one device, and a stage has only its type.
std::string device_of(const dl_loader* loader, int32_t type) {
  for (const dl_view& field : Views(loader)) {
    if (field.device_type == type) return device_text(type, field.device_index);
  }
  return device_text(type, 0);
}

bool crosses_bus(const dl_plan_stage& stage) {
  return stage.device_type != DL_DEVICE_CPU && std::string_view(stage.text) == "copy";
}

std::string bytes_cell(int64_t bytes) { return bytes < 0 ? "varies" : grouped(bytes); }

}  // namespace

std::string device_name(const dl_loader* loader) {
  const Views fields(loader);
  return fields.empty() ? "cpu" : device_text(fields[0].device_type, fields[0].device_index);
}

Plan plan_of(const dl_loader* loader, std::vector<std::string> warnings) {
  Plan plan{.stages = {}, .warnings = std::move(warnings)};
  const int32_t count = dl_loader_plan_count(loader);
  for (int32_t i = 0; i < count; ++i) {
    auto stage = sized<dl_plan_stage>();
    dl_error error = DL_ERROR_INIT;
    check(dl_loader_plan_at(loader, i, &stage, &error), error);
    plan.stages.push_back(
        {stage.field, device_of(loader, stage.device_type), stage.text, stage.bytes_in, stage.bytes_out});
    if (!crosses_bus(stage)) continue;
    if (stage.bytes_in < 0) plan.bus_bytes.reset();
    if (plan.bus_bytes) *plan.bus_bytes += stage.bytes_in;
  }
  return plan;
}

void append_plan(const Plan& plan, Json& json) {
  json.key("warnings").begin_array();
  for (const std::string& warning : plan.warnings) json.value(warning);
  json.end_array().key("plan").begin_array();
  for (const PlanStage& stage : plan.stages) {
    json.begin_object();
    json.key("field").value(stage.field);
    json.key("runs_on").value(stage.runs_on);
    json.key("text").value(stage.text);
    json.key("bytes_in");
    stage.bytes_in < 0 ? json.null() : json.value(stage.bytes_in);
    json.key("bytes_out");
    stage.bytes_out < 0 ? json.null() : json.value(stage.bytes_out);
    json.end_object();
  }
  json.end_array().key("bus_bytes_per_sample");
  plan.bus_bytes ? json.value(*plan.bus_bytes) : json.null();
}

std::string plan_table(const Plan& plan) {
  std::vector<std::vector<std::string>> rows = {{"plan", "runs on", "bytes in", "bytes out", "does"}};
  for (const PlanStage& stage : plan.stages) {
    rows.push_back(
        {stage.field, stage.runs_on, bytes_cell(stage.bytes_in), bytes_cell(stage.bytes_out), stage.text});
  }
  const std::string bus = plan.bus_bytes ? grouped(*plan.bus_bytes) + " bytes a sample" : "bytes that vary";
  std::vector<std::vector<std::string>> tail = {{"across the bus", bus}};
  for (const std::string& warning : plan.warnings) tail.push_back({"warning", warning});
  return table_text(rows, output_width(), 0) + "\n" + table_text(tail, output_width(), 0);
}

}  // namespace dataline::cli
