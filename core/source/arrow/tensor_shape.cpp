// SPDX-License-Identifier: Apache-2.0
#include "core/source/arrow/tensor_shape.h"

#include <optional>

#include "core/base/checked.h"
#include "core/base/field.h"
#include "core/base/text.h"
#include "core/source/files.h"
#include "core/source/json.h"

namespace dataline {
namespace {

Status read_whole_numbers(JsonReader& json, std::vector<int64_t>& out) {
  return json.each_item([&]() -> Status {
    std::string_view text;
    bool whole = false;
    DL_RETURN_IF_ERROR(json.read_number(text, whole));
    const std::optional<int64_t> number = parse_i64(text);
    if (!whole || !number || *number < 0 || static_cast<int64_t>(out.size()) == kMaxRank)
      return json.refuse("expected at most ", kMaxRank, " whole numbers, got ", printable(text));
    out.push_back(*number);
    return Status::ok();
  });
}

Status read_axes(JsonReader& json, std::string& out) {
  bool letters = true;
  Status read = json.each_item([&]() -> Status {
    std::string name;
    DL_RETURN_IF_ERROR(json.read_string(name));
    const bool letter =
        name.size() == 1 && ((name[0] >= 'A' && name[0] <= 'Z') || (name[0] >= 'a' && name[0] <= 'z'));
    letters = letters && letter && out.find(name) == std::string::npos;
    if (letters) out += name;
    return Status::ok();
  });
  if (!letters) out.clear();
  return read;
}

Status read_members(JsonReader& json, TensorShape& out, std::vector<int64_t>& permutation) {
  return json.each_member([&](const std::string& key) {
    const bool list = json.peek() == '[';
    if (key == "shape" && out.shape.empty() && list) return read_whole_numbers(json, out.shape);
    if (key == "permutation" && permutation.empty() && list) return read_whole_numbers(json, permutation);
    if (key == "dim_names" && out.axes.empty() && list) return read_axes(json, out.axes);
    return json.skip_value();
  });
}

}  // namespace

Result<TensorShape> read_tensor_shape(const std::string& path, const ArrowField& field) {
  const std::string name = concat(path, ": column ", printable(field.name), ": ", kTensorExtension);
  if (field.type != ArrowType::kFixedSizeList || field.children[0].type == ArrowType::kFixedSizeList ||
      field.children[0].type == ArrowType::kFixedSizeBinary) {
    return error(Code::kUnsupported, name, " of ", arrow_type_text(field),
                 ", expected a fixed_size_list of numbers");
  }
  JsonReader json(name, 1, field.extension_metadata, "the end of the metadata");
  TensorShape out;
  std::vector<int64_t> permutation;
  DL_RETURN_IF_ERROR(read_members(json, out, permutation));
  if (!json.at_end()) return json.expected("the end of the metadata");
  const std::optional<int64_t> values = checked_product(out.shape);
  if (!values || *values != field.size) {
    return error(Code::kCorrupt, name, ": the shape ", shape_text(out.shape),
                 " has a different number of values than ", arrow_type_text(field));
  }
  for (size_t i = 0; i < permutation.size(); ++i) out.permuted |= permutation[i] != static_cast<int64_t>(i);
  if (out.axes.size() != out.shape.size()) out.axes.clear();
  return out;
}

}  // namespace dataline
