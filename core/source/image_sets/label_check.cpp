// SPDX-License-Identifier: Apache-2.0
#include "core/source/image_sets/label_check.h"

#include <utility>

#include "core/base/bytes.h"
#include "core/source/forward.h"

namespace dataline {
namespace {

class LabelCheck final : public ForwardSource {
 public:
  LabelCheck(SourceRef source, std::string path, std::vector<LabelBound> bounds)
      : ForwardSource(std::move(source)), path_(std::move(path)), bounds_(std::move(bounds)) {}

  void locate(Run& run) const override {
    source_->locate(run);
    for (const LabelBound& bound : bounds_) check(run, bound);
  }

 private:
  int64_t label(const Field& field, const std::byte* data) const {
    return field.dtype == DType::kU8 ? std::to_integer<int64_t>(*data) : load_native<int64_t>(data);
  }

  void check(Run& run, const LabelBound& bound) const {
    const Field& field = schema().fields[bound.field];
    const Run::ColumnRows& rows = run.columns[schema().places[bound.field].column];
    for (int64_t i = 0; i < run.count; ++i) {
      if (rows.data[i] == nullptr || label(field, rows.data[i]) <= bound.max) continue;
      run.fail(i, static_cast<int64_t>(schema().columns.size()),
               error(Code::kCorrupt, path_, ": record ", run.indices[i], ": ", field.name, " is ",
                     label(field, rows.data[i]), ", expected 0 to ", bound.max)
                   .with_sample(run.indices[i]));
    }
  }

  std::string path_;
  std::vector<LabelBound> bounds_;
};

}  // namespace

SourceRef with_label_check(SourceRef source, std::string path, std::vector<LabelBound> bounds) {
  return std::make_shared<LabelCheck>(std::move(source), std::move(path), std::move(bounds));
}

}  // namespace dataline
