// SPDX-License-Identifier: Apache-2.0
#include "core/source/composed/parts.h"

#include <algorithm>

#include "core/base/field.h"
#include "core/base/text.h"

namespace dataline {
namespace {

std::string field_names(const Schema& schema) {
  std::string out;
  for (const Field& field : schema.fields) out += concat(out.empty() ? "" : ", ", field.name);
  return out;
}

// How parts[index] differs from the first part, or "".
std::string difference(const std::vector<Part>& parts, size_t index) {
  const Schema &first = parts[0].source->schema(), &schema = parts[index].source->schema();
  const std::vector<Field>&x = first.fields, &y = schema.fields;
  auto name = [&](size_t i) { return part_text(parts, i); };
  bool same_names = std::equal(x.begin(), x.end(), y.begin(), y.end(),
                               [](const Field& p, const Field& q) { return p.name == q.name; });
  if (!same_names) {
    return concat(name(index), " has fields ", field_names(schema), "; ", name(0), " has ",
                  field_names(first));
  }
  for (size_t f = 0; f < x.size(); ++f) {
    if (x[f].dtype != y[f].dtype || x[f].shape != y[f].shape || x[f].kind != y[f].kind) {
      return concat(name(index), ": field '", y[f].name, "' is ", field_type_text(y[f]), ", in ", name(0),
                    " it is ", field_type_text(x[f]));
    }
    if (!x[f].axes.empty() && !y[f].axes.empty() && x[f].axes != y[f].axes) {
      return concat(name(index), ": field '", y[f].name, "' has axes ", y[f].axes, ", in ", name(0),
                    " it has ", x[f].axes);
    }
  }
  return {};
}

}  // namespace

std::string part_text(const std::vector<Part>& parts, size_t index) {
  const Part& part = parts[index];
  if (!part.path.empty()) return part.path;
  return part.name.empty() ? concat("part ", index) : part.name;
}

Place place_in_part(const std::vector<Part>& parts, size_t index, int64_t record, size_t column) {
  Place place = parts[index].source->place_of(record, column);
  if (place.path.empty()) place.path = part_text(parts, index);
  return place;
}

void add_part_notes(const Part& part, std::vector<std::string>& notes) {
  for (std::string& note : part.source->info().notes) {
    if (notes.size() >= kMaxPartNotes) return;
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(std::move(note));
  }
}

const std::vector<std::string>* first_classes(const std::vector<Part>& parts) {
  for (const Part& part : parts) {
    if (part.source->classes() != nullptr) return part.source->classes();
  }
  return nullptr;
}

Status check_fields(const std::vector<Part>& parts, std::string_view what) {
  for (size_t i = 1; i < parts.size(); ++i) {
    const std::string differs = difference(parts, i);
    if (!differs.empty()) return error(Code::kMismatch, what, ": ", differs);
  }
  return Status::ok();
}

Status check_classes(const std::vector<Part>& parts, std::string_view what) {
  size_t first = parts.size();
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::vector<std::string>* classes = parts[i].source->classes();
    if (classes == nullptr) continue;
    if (first == parts.size()) first = i;
    const std::vector<std::string>& known = *parts[first].source->classes();
    if (*classes == known) continue;
    auto differs = static_cast<size_t>(
        std::mismatch(known.begin(), known.end(), classes->begin(), classes->end()).first - known.begin());
    auto name = [&](const std::vector<std::string>& names) {
      return differs < names.size() ? concat("'", names[differs], "'") : std::string("none");
    };
    return error(Code::kMismatch, what, ": ", part_text(parts, i), " has ", classes->size(), " classes, ",
                 part_text(parts, first), " has ", known.size(), "; class ", differs, " is ", name(*classes),
                 " and ", name(known));
  }
  return Status::ok();
}

Status check_parts(const std::vector<Part>& parts, std::string_view what) {
  if (parts.empty()) return error(Code::kInvalidArgument, what, " needs at least one dataset");
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].source == nullptr)
      return error(Code::kInvalidArgument, what, ": ", part_text(parts, i), " is null");
    if (parts[i].source->count() >= 0) continue;
    return error(Code::kUnsupported, what, ": ", part_text(parts, i), " is a stream of unknown length");
  }
  return Status::ok();
}

}  // namespace dataline
