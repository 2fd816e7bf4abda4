// SPDX-License-Identifier: Apache-2.0
#include "core/source/null_masks.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/checked.h"
#include "core/source/flat_file.h"
#include "core/source/forward_source.h"
#include "core/source/identity.h"

namespace dataline {
namespace {

constexpr std::string_view kMaskName = "/valid";

class NullMasks final : public ForwardSource {
 public:
  NullMasks(SourceRef source, Schema schema)
      : ForwardSource(std::move(source)),
        schema_(std::move(schema)),
        columns_(source_->schema().columns.size()) {}

  const Schema& schema() const override { return schema_; }

  // A byte for each column and row, behind the source's own scratch.
  int64_t scratch_bytes(int64_t max_bytes_per_sample) const override {
    return source_->scratch_bytes(max_bytes_per_sample) +
           round_up(static_cast<int64_t>(columns_), kScratchAlignment);
  }

  void locate(Run& run) const override {
    Run inner = run;
    inner.valid = run.scratch + run.count * source_->scratch_bytes(run.max_bytes_per_sample);
    std::memset(inner.valid, 1, columns_ * static_cast<size_t>(run.count));
    source_->locate(inner);
    for (size_t c = 0; c < columns_; ++c)
      place_mask(run, c, inner.valid + static_cast<int64_t>(c) * run.count);
  }

  Place place_of(int64_t index, size_t column) const override {
    return source_->place_of(index, column < columns_ ? column : column - columns_);
  }

  void identify(IdentityBuilder& identity) const override {
    identity.add_schema(*this);
    identity.add("masks");
    source_->identify(identity);
  }

 private:
  void place_mask(Run& run, size_t column, const std::byte* mask) const {
    Run::ColumnRows& out = run.columns[columns_ + column];
    out.contiguous = true;
    for (int64_t i = 0; i < run.count; ++i) {
      const bool failed = run.columns[column].data[i] == nullptr;
      out.data[i] = failed ? nullptr : mask + i;
      out.contiguous = out.contiguous && !failed;
    }
  }

  const Schema schema_;
  const size_t columns_;  // of the source
};

}  // namespace

Result<SourceRef> with_null_masks(SourceRef source, const std::optional<NullFill>& fill) {
  if (!fill || !fill->mask) return source;
  std::vector<Field> fields = source->schema().fields;
  const size_t count = fields.size();
  for (size_t f = 0; f < count; ++f) {
    Field mask{fields[f].name + std::string(kMaskName), FieldKind::kDense, DType::kBool, {}, "", -1};
    const bool taken = std::any_of(fields.begin(), fields.end(),
                                   [&](const Field& other) { return other.name == mask.name; });
    if (taken) {
      return error(Code::kUnsupported, source->info().uri, ": nulls=mask: a field is already called '",
                   mask.name, "'; leave it out with fields=");
    }
    fields.push_back(std::move(mask));
  }
  return SourceRef(std::make_shared<NullMasks>(std::move(source), column_per_field(std::move(fields))));
}

}  // namespace dataline
