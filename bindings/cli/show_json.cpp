// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/show_json.h"

#include "bindings/cli/pixels.h"

namespace dataline::cli {
namespace {

constexpr int64_t kMaxValues = 1000;

void append_summary(const SampleView& sample, Json& json) {
  const Summary summary = sample.is_complex() ? Summary{} : summary_of(sample);
  const auto number = [&](const char* key, double value) {
    json.key(key);
    summary.finite > 0 ? json.value(value) : json.null();
  };
  number("min", summary.min);
  number("max", summary.max);
  number("mean", summary.mean);
}

void append_value(const SampleView& sample, int64_t element, Json& json) {
  const dl_view& view = *sample.view;
  if (view.dtype == DL_DTYPE_BOOL) {
    json.value(value_at(view, element) != 0);
  } else if (sample.is_complex() || view.dtype == DL_DTYPE_U64) {
    json.value(value_text(view, element));  // JSON has no such numbers
  } else if (sample.is_integer()) {
    json.value(integer_at(view, element));
  } else {
    json.value(value_at(view, element));  // null for nan and infinities
  }
}

}  // namespace

void append_field(const SampleView& sample, const std::string& class_name,
                  const std::optional<std::string>& text, Json& json) {
  json.begin_object();
  json.key("name").value(sample.view->name);
  json.key("dtype").value(dl_dtype_name(sample.view->dtype));
  json.key("shape").begin_array();
  for (const int64_t n : sample.shape) json.value(n);
  json.end_array().key("axes").text_or_null(sample.view->axes[0] != '\0' ? sample.view->axes + 1 : "");
  json.key("class").text_or_null(class_name);
  json.key("text");
  text ? json.value(*text) : json.null();
  append_summary(sample, json);
  json.key("values").begin_array();
  int64_t left = sample.is_bytes() && text ? 0 : kMaxValues;
  sample.for_each([&](int64_t element) {
    if (left > 0) append_value(sample, element, json);
    return --left > 0;
  });
  json.end_array().end_object();
}

}  // namespace dataline::cli
