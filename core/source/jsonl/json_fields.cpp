// SPDX-License-Identifier: Apache-2.0
#include "core/source/jsonl/json_fields.h"

#include <optional>
#include <utility>

#include "core/base/message_text.h"
#include "core/base/name_text.h"

namespace dataline {
namespace {

constexpr int kMaxJsonDepth = 32;  // of objects in objects

class Inference {
 public:
  explicit Inference(JsonReader& json) : json_(json) {}

  Status read_object(const std::string& prefix, int depth) {
    if (depth == kMaxJsonDepth) return json_.refuse("more than ", kMaxJsonDepth, " levels of objects");
    return json_.each_member([&](const std::string& key) { return read_value(prefix + key, depth); });
  }
  InferredJson take() { return std::move(found_); }

 private:
  Status read_value(const std::string& name, int depth) {
    const char c = json_.peek();
    if (c == '{') return read_object(name + "/", depth + 1);
    if (c == '"') {
      DL_RETURN_IF_ERROR(json_.skip_value());
      return add({text_field(name), true});
    }
    if (c == '[') return read_array(name);
    std::optional<DType> dtype;
    DL_RETURN_IF_ERROR(read_scalar(dtype));
    if (!dtype) return leave_out(name, "null");
    return add({{name, FieldKind::kDense, *dtype, {}, "", -1}});
  }

  // No dtype: something else, which is skipped.
  Status read_scalar(std::optional<DType>& dtype) {
    if (json_.take_word("true") || json_.take_word("false")) {
      dtype = DType::kBool;
      return Status::ok();
    }
    const char c = json_.peek();
    if (c != '-' && (c < '0' || c > '9')) return json_.skip_value();
    std::string_view text;
    bool whole = false;
    DL_RETURN_IF_ERROR(json_.read_number(text, whole));
    dtype = whole ? DType::kI64 : DType::kF64;
    return Status::ok();
  }

  // Whole numbers among others are others.
  Status read_array(const std::string& name) {
    std::optional<DType> dtype;
    bool alike = true, empty = true;
    Status read = json_.each_item([&]() -> Status {
      std::optional<DType> item;
      DL_RETURN_IF_ERROR(read_scalar(item));
      alike = alike && item && (empty || (*item == DType::kBool) == (*dtype == DType::kBool));
      if (alike && (empty || *item == DType::kF64)) dtype = item;
      empty = false;
      return Status::ok();
    });
    DL_RETURN_IF_ERROR(std::move(read));
    if (empty) return leave_out(name, "an empty array");
    if (!alike) return leave_out(name, "an array with items other than numbers");
    return add({{name, FieldKind::kRagged, *dtype, {-1}, "", -1}});
  }

  Status add(TextField field) {
    const std::string& name = field.field.name;
    if (name.empty() || name.size() > kMaxTextFieldName || !is_name_text(name)) {
      return leave_out(std::string(head_of(name, 32)), "this name cannot name a field");
    }
    for (const TextField& other : found_.fields) {
      if (other.field.name == field.field.name)
        return json_.refuse("the key ", field.field.name, " appears twice");
    }
    if (found_.fields.size() == kMaxTextFields) {
      return error(Code::kUnsupported, json_.place(), "more than ", kMaxTextFields,
                   " values that could be fields; name the ones you want, as in fields=text:text,label:i64");
    }
    found_.fields.push_back(std::move(field));
    return Status::ok();
  }

  Status leave_out(const std::string& name, std::string_view why) {
    found_.left_out.push_back(name + " (" + std::string(why) + ")");
    return Status::ok();
  }

  JsonReader& json_;
  InferredJson found_;
};

}  // namespace

Result<InferredJson> infer_json_fields(JsonReader json) {
  Inference inference(json);
  DL_RETURN_IF_ERROR(inference.read_object("", 0));
  if (!json.at_end()) return json.expected("the end of the line");
  return inference.take();
}

}  // namespace dataline
