// SPDX-License-Identifier: Apache-2.0
#include "core/source/field_columns.h"

#include <utility>

#include "core/source/forward.h"

namespace dataline {
namespace {

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

Schema column_per_field(std::vector<Field> fields) {
  Schema schema;
  for (size_t f = 0; f < fields.size(); ++f) {
    schema.places.push_back({static_cast<int32_t>(f), 0, false});
    schema.columns.push_back({fields[f].bytes()});
  }
  schema.fields = std::move(fields);
  return schema;
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
