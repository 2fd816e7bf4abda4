// `dataline info`: the contents of a dataset, and with --plan what runs where in a loader of it.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/cli/commands.h"
#include "bindings/cli/half_blocks.h"
#include "bindings/cli/image_summary.h"
#include "bindings/cli/job.h"
#include "bindings/cli/json.h"
#include "bindings/cli/output.h"
#include "bindings/cli/plan.h"
#include "bindings/cli/text.h"
#include "bindings/cli/views.h"

namespace dataline::cli {
namespace {

const char* kind_name(const dl_view& field) { return field.kind == DL_KIND_RAGGED ? "ragged" : "dense"; }

// Names may be those of files: nothing in them is a command to the terminal.
std::string shown(std::string_view text) { return escaped_text(text, !terminal_shows_utf8()); }

// "1,000: n01440764, n01443537, ...": the number of classes and the first few names; "" without classes.
std::string classes_text(const dl_dataset* dataset) {
  constexpr int64_t kShown = 8;
  const int64_t count = dl_dataset_class_count(dataset);
  if (count == 0) return {};
  std::string text = grouped(count) + ":";
  for (int64_t i = 0; i < std::min(count, kShown); ++i) {
    text += (i == 0 ? " " : ", ") + shown(dl_dataset_class_name(dataset, i));
  }
  return text + (count > kShown ? ", ..." : "");
}

void append_classes(const dl_dataset* dataset, Json& json) {
  const int64_t count = dl_dataset_class_count(dataset);
  json.key("classes");
  if (count == 0) {
    json.null();
    return;
  }
  json.begin_array();
  for (int64_t i = 0; i < count; ++i) json.value(dl_dataset_class_name(dataset, i));
  json.end_array();
}

std::string as_json(const dl_dataset* dataset, const std::optional<Plan>& plan,
                    const std::optional<ImageSummary>& images) {
  Json json;
  json.begin_object();
  json.key("format").value(dl_dataset_format(dataset));
  json.key("uri").value(dl_dataset_uri(dataset));
  json.key("samples").value(dl_dataset_count(dataset));
  json.key("notes").begin_array();
  for (int32_t i = 0; i < dl_dataset_note_count(dataset); ++i) json.value(dl_dataset_note(dataset, i));
  json.end_array().key("fields").begin_array();
  for (const dl_view& field : Views(dataset)) {
    json.begin_object();
    json.key("name").value(field.name);
    json.key("kind").value(kind_name(field));
    json.key("dtype").value(dl_dtype_name(field.dtype));
    json.key("shape").begin_array();
    for (int32_t i = 0; i < field.rank; ++i) json.value(field.shape[i]);
    json.end_array().key("bytes");
    field.bytes < 0 ? json.null() : json.value(field.bytes);
    json.key("axes").text_or_null(field.axes);
    json.end_object();
  }
  json.end_array();
  append_classes(dataset, json);
  if (plan) append_plan(*plan, json);
  if (images) append_images(*images, json);
  return json.end_object().text() + "\n";
}

std::string as_table(const dl_dataset* dataset, const std::optional<Plan>& plan,
                     const std::optional<ImageSummary>& images) {
  const int64_t samples = dl_dataset_count(dataset);
  std::vector<std::vector<std::string>> head = {{"format", dl_dataset_format(dataset)},
                                                {"uri", shown(dl_dataset_uri(dataset))},
                                                {"samples", samples < 0 ? "unknown" : grouped(samples)}};
  for (int32_t i = 0; i < dl_dataset_note_count(dataset); ++i)
    head.push_back({"note", shown(dl_dataset_note(dataset, i))});
  if (std::string classes = classes_text(dataset); !classes.empty())
    head.push_back({"classes", std::move(classes)});
  std::vector<std::vector<std::string>> rows = {{"field", "kind", "dtype", "shape", "axes", "bytes"}};
  for (const dl_view& field : Views(dataset)) {
    rows.push_back({shown(field.name), kind_name(field), dl_dtype_name(field.dtype),
                    shape_text(field.shape, field.rank), field.axes[0] != '\0' ? field.axes : "-",
                    field.bytes < 0 ? "varies" : grouped(field.bytes)});
  }
  return table_text(head, output_width(), 0) + "\n" + table_text(rows, output_width(), 0) +
         (plan ? "\n" + plan_table(*plan) : "") + (images ? "\n" + images_text(*images) : "");
}

}  // namespace

int run_info(const Request& request, const Interrupts& interrupts) {
  Progress progress;
  Job job(request, interrupts, progress);
  const Dataset dataset = job.open();
  std::optional<Plan> plan;
  if (request.has("plan")) {
    const auto loader = job.create(dataset.get());
    plan = plan_of(loader.get(), progress.warnings());
  }
  std::optional<ImageSummary> images;
  if (request.has("images")) {
    images = summarize_images(dataset.get(), request.flag("field").value_or(""), job, interrupts, progress);
  } else if (request.flag("field")) {
    throw usage_failure("--field goes with --images", "info");
  }
  progress.clear();
  print(request.has("json") ? as_json(dataset.get(), plan, images) : as_table(dataset.get(), plan, images),
        interrupts);
  return 0;
}

}  // namespace dataline::cli
