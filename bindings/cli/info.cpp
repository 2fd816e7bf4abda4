// `dataline info`: the contents of a dataset, and with --plan what runs where in a loader of it.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
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

dl_part part_at(const dl_dataset* dataset, int32_t index) {
  auto part = sized<dl_part>();
  dl_error error = DL_ERROR_INIT;
  check(dl_dataset_part_at(dataset, index, &part, &error), error);
  return part;
}

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

std::string share_text(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g %%", 100 * share);
  return text;
}

// The parts of a mix, one a line.
std::string parts_table(const dl_dataset* dataset) {
  constexpr int32_t kShown = 32;
  const int32_t count = dl_dataset_part_count(dataset);
  std::vector<std::vector<std::string>> rows = {{"part", "samples", "repeat", "share", "uri"}};
  bool transforms = false;
  for (int32_t i = 0; i < count; ++i) transforms = transforms || *part_at(dataset, i).transform != '\0';
  if (transforms) rows[0].emplace_back("transform");
  for (int32_t i = 0; i < std::min(count, kShown); ++i) {
    const dl_part part = part_at(dataset, i);
    char repeat[32] = "-";
    if (part.repeat > 0) std::snprintf(repeat, sizeof repeat, "%.6g", part.repeat);
    rows.push_back(
        {shown(part.name), grouped(part.samples), repeat, share_text(part.share_asked), shown(part.uri)});
    if (transforms) rows.back().push_back(*part.transform == '\0' ? "-" : shown(part.transform));
  }
  if (count > kShown) {
    rows.push_back({"... " + grouped(count - kShown) + " more"});
    rows.back().resize(rows[0].size());
  }
  return table_text(rows, output_width(), 0);
}

void append_parts(const dl_dataset* dataset, Json& json) {
  json.key("parts").begin_array();
  for (int32_t i = 0; i < dl_dataset_part_count(dataset); ++i) {
    const dl_part part = part_at(dataset, i);
    json.begin_object();
    json.key("name").value(part.name);
    json.key("uri").value(part.uri);
    json.key("samples").value(part.samples);
    json.key("repeat");
    part.repeat > 0 ? json.value(part.repeat) : json.null();
    json.key("share").value(part.share_asked);
    json.key("transform");
    *part.transform != '\0' ? json.value(part.transform) : json.null();
    json.end_object();
  }
  json.end_array();
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
  if (dl_dataset_part_count(dataset) > 0) append_parts(dataset, json);
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
  const bool mixed = dl_dataset_part_count(dataset) > 0;
  return table_text(head, output_width(), 0) + "\n" + (mixed ? parts_table(dataset) + "\n" : "") +
         table_text(rows, output_width(), 0) + (plan ? "\n" + plan_table(*plan) : "") +
         (images ? "\n" + images_text(*images) : "");
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
    throw usage_failure("--field needs --images", "info");
  }
  progress.clear();
  print(request.has("json") ? as_json(dataset.get(), plan, images) : as_table(dataset.get(), plan, images),
        interrupts);
  return 0;
}

}  // namespace dataline::cli
