// SPDX-License-Identifier: Apache-2.0
#include "core/source/composed/parts.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/field.h"
#include "core/source/forward_source.h"
#include "core/source/identity.h"

namespace dataline {
namespace {

std::string field_names(const Schema& schema) {
  std::string out;
  for (const Field& field : schema.fields) out += concat(out.empty() ? "" : ", ", field.name);
  return out;
}

// How the names of fields of parts[index] differ from the first part's, or "".
std::string name_difference(const std::vector<Part>& parts, size_t index) {
  const Schema &first = parts[0].source->schema(), &schema = parts[index].source->schema();
  const std::vector<Field>&x = first.fields, &y = schema.fields;
  const bool same = std::equal(x.begin(), x.end(), y.begin(), y.end(),
                               [](const Field& p, const Field& q) { return p.name == q.name; });
  if (same) return {};
  return concat(part_text(parts, index), " has fields ", field_names(schema), "; ", part_text(parts, 0),
                " has ", field_names(first));
}

// How parts[index] differs from the first part, or "".
std::string difference(const std::vector<Part>& parts, size_t index) {
  if (std::string differs = name_difference(parts, index); !differs.empty()) return differs;
  const std::vector<Field>&x = parts[0].source->schema().fields, &y = parts[index].source->schema().fields;
  auto name = [&](size_t i) { return part_text(parts, i); };
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

// Works in place in the run's arrays: the inner source fills the first columns, which are then spread from the last field
// to the first. Field f reads a column c <= f, so no column is overwritten before it has been read.
class FieldColumns final : public ForwardSource {
 public:
  explicit FieldColumns(SourceRef source)
      : ForwardSource(std::move(source)), schema_(column_per_field(source_->schema().fields)) {}

  const Schema& schema() const override { return schema_; }

  void locate(Run& run) const override {
    source_->locate(run);
    const Schema& inner = source_->schema();
    for (size_t f = schema_.fields.size(); f-- > 0;) spread(inner, inner.places[f], f, run);
  }

  Place place_of(int64_t index, size_t column) const override {
    return source_->place_of(index, static_cast<size_t>(source_->schema().places[column].column));
  }

 private:
  void spread(const Schema& inner, const FieldPlace& place, size_t field, Run& run) const {
    const auto column = static_cast<size_t>(place.column);
    const Run::ColumnRows& from = run.columns[column];
    Run::ColumnRows& to = run.columns[field];
    const bool ragged = schema_.columns[field].row_bytes < 0;
    for (int64_t i = 0; i < run.count; ++i) {
      to.data[i] = from.data[i] == nullptr ? nullptr : from.data[i] + place.offset;
      if (ragged) to.bytes[i] = from.bytes[i];
    }
    to.contiguous = from.contiguous && inner.columns[column].row_bytes == schema_.columns[field].row_bytes;
  }

  Schema schema_;
};

bool has_column_per_field(const Schema& schema) {
  if (schema.columns.size() != schema.fields.size()) return false;
  for (size_t f = 0; f < schema.fields.size(); ++f) {
    const FieldPlace& place = schema.places[f];
    if (place.column != static_cast<int32_t>(f) || place.offset != 0 || place.shared) return false;
    if (schema.columns[f].row_bytes != schema.fields[f].bytes()) return false;
  }
  return true;
}

}  // namespace

std::string part_text(const std::vector<Part>& parts, size_t index) {
  const Part& part = parts[index];
  if (!part.path.empty()) return part.path;
  return part.name.empty() ? concat("part ", index) : part.name;
}

SourceFacts Composed::joined_facts(const std::vector<Part>& parts) {
  SourceFacts joined;
  for (const Part& part : parts) {
    // Names each fact, so that one that is added to SourceFacts does not compile until it is joined here.
    const auto& [classes, mix, packing, host_calls, opens_blocks, held_blocks] = part.source->facts();
    if (joined.classes == nullptr) joined.classes = classes;
    static_cast<void>(mix);  // to a composed source a mix is a dataset whose parts follow one another
    if (joined.packing.empty()) joined.packing = packing;  // identify() describes those of all parts
    joined.host_calls = std::max(joined.host_calls, host_calls);
    joined.opens_blocks = joined.opens_blocks || opens_blocks;
    // Each part may have as many of its own, but not more.
    joined.held_blocks = std::min(joined.held_blocks, held_blocks);
  }
  return joined;
}

SourceInfo Composed::info() const {
  constexpr size_t kMaxNotes = 16;
  SourceInfo info{std::string(format_), "", {}};
  std::vector<std::string> losses;
  for (const Part& part : parts_) {
    for (std::string& note : part.source->info().notes) {
      if (is_loss(note)) {
        losses.push_back(std::move(note));
      } else if (info.notes.size() < kMaxNotes &&
                 std::find(info.notes.begin(), info.notes.end(), note) == info.notes.end()) {
        info.notes.push_back(std::move(note));
      }
    }
  }
  std::move(info.notes.begin(), info.notes.end(), std::back_inserter(losses));
  info.notes = std::move(losses);
  return info;
}

void Composed::identify(IdentityBuilder& identity) const {
  identity.add_schema(*this);
  identity.add(format_);
  for (const Part& part : parts_) part.source->identify(identity);
}

Place Composed::place_in_part(size_t part, int64_t record, size_t column) const {
  Place place = parts_[part].source->place_of(record, column);
  if (place.path.empty()) place.path = part_text(parts_, part);
  return place;
}

Status check_fields(const std::vector<Part>& parts, std::string_view what) {
  for (size_t i = 1; i < parts.size(); ++i) {
    const std::string differs = difference(parts, i);
    if (!differs.empty()) return error(Code::kMismatch, what, ": ", differs);
  }
  return Status::ok();
}

Status check_same_names(const std::vector<Part>& parts, std::string_view what) {
  for (size_t i = 1; i < parts.size(); ++i) {
    const std::string differs = name_difference(parts, i);
    if (!differs.empty()) return error(Code::kMismatch, what, ": ", differs);
  }
  return Status::ok();
}

Status check_classes(const std::vector<Part>& parts, std::string_view what) {
  size_t first = parts.size();
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::vector<std::string>* classes = parts[i].source->facts().classes;
    if (classes == nullptr) continue;
    if (first == parts.size()) first = i;
    const std::vector<std::string>& known = *parts[first].source->facts().classes;
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

bool same_layout(const Schema& a, const Schema& b) {
  if (a.places.size() != b.places.size() || a.columns.size() != b.columns.size()) return false;
  for (size_t f = 0; f < a.places.size(); ++f) {
    const FieldPlace &p = a.places[f], &q = b.places[f];
    if (p.column != q.column || p.offset != q.offset || p.shared != q.shared) return false;
  }
  for (size_t c = 0; c < a.columns.size(); ++c) {
    if (a.columns[c].row_bytes != b.columns[c].row_bytes) return false;
  }
  return true;
}

Result<SourceRef> with_column_per_field(SourceRef source) {
  const Schema& schema = source->schema();
  if (has_column_per_field(schema)) return source;
  bool in_order = schema.columns.size() <= schema.fields.size();
  for (size_t f = 0; f < schema.places.size(); ++f)
    in_order &= schema.places[f].column <= static_cast<int32_t>(f);
  if (!in_order)
    return error(Code::kInternal, source->info().format, ": columns are not in the order of the fields");
  return SourceRef(std::make_shared<FieldColumns>(std::move(source)));
}

}  // namespace dataline
