// SPDX-License-Identifier: Apache-2.0
#include "core/source/npy/npy_fortran.h"

#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "core/base/checked.h"
#include "core/source/file_check.h"
#include "core/source/flat_file.h"

namespace dataline {
namespace {

constexpr int64_t kMaxElementBytes = 16;

// Walks the elements of sample 0 in C order; position() counts elements from the start of the array. Element (j1, j2, ...)
// is at n * (j1 + d1 * (j2 + d2 * ...)).
class ElementWalk {
 public:
  ElementWalk(const std::vector<int64_t>& shape, const std::vector<int64_t>& steps)
      : shape_(shape), steps_(steps), rank_(shape.size()) {}

  int64_t position() const { return position_; }
  void next() {
    for (size_t d = rank_ - 1; d > 0; --d) {
      position_ += steps_[d];
      if (++at_[d] < shape_[d]) return;
      position_ -= shape_[d] * steps_[d];
      at_[d] = 0;
    }
  }

 private:
  const std::vector<int64_t>& shape_;
  const std::vector<int64_t>& steps_;
  size_t rank_;
  std::array<int64_t, static_cast<size_t>(kMaxRank)> at_{};
  int64_t position_ = 0;
};

template <int64_t kBytes>
void copy_elements(const std::byte* from, const int64_t* indices, int64_t count, std::byte* to,
                   int64_t record_bytes) {
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * record_bytes, from + indices[i] * kBytes, static_cast<size_t>(kBytes));
  }
}

class FortranFile final : public Source {
 public:
  FortranFile(MappedFile file, Schema schema, FortranLayout layout, SourceInfo info)
      : file_(std::move(file)),
        schema_(std::move(schema)),
        layout_(std::move(layout)),
        info_(std::move(info)) {
    // open_fortran() has checked that the product of all dims fits.
    int64_t step = 1;
    for (int64_t dim : layout_.shape) {
      steps_.push_back(step);
      step *= dim;
    }
  }

  int64_t count() const override { return layout_.shape[0]; }
  const Schema& schema() const override { return schema_; }
  SourceInfo info() const override { return info_; }
  void locate(Run& run) const override;
  bool unchanged(const ReadSpan& span) const override { return check_.unchanged(file_, span); }
  void confirm(Run& run, const ReadSpan& span) const override {
    check_.confirm(file_, span, run, [this](int64_t index) { return extent_of(index); });
  }
  int64_t scratch_bytes(int64_t) const override { return round_up(record_bytes(), 64); }
  bool resident(int64_t index) const override;
  // Without an offset: the elements are spread over the file.
  Place place_of(int64_t index, size_t) const override { return {file_.path(), concat("record ", index)}; }
  void fingerprint(Digest& digest) const override {
    fingerprint_schema(*this, digest);
    digest.add(static_cast<uint64_t>(file_.file_bytes()));
    digest.add(static_cast<uint64_t>(layout_.data_offset));
    digest.add("fortran");
  }

 private:
  int64_t record_bytes() const { return schema_.columns[0].row_bytes; }
  // From a sample's first element to its last; elements of other samples are in between.
  FileExtent extent_of(int64_t index) const {
    const int64_t last = (element_count() - 1) * layout_.shape[0] + index;
    const int64_t begin = offset_of(index);
    return {begin, offset_of(last) + layout_.element_bytes - begin};
  }
  int64_t element_count() const { return record_bytes() / layout_.element_bytes; }
  int64_t offset_of(int64_t position) const { return layout_.data_offset + position * layout_.element_bytes; }
  void gather_mapped(Run& run) const;
  void gather_by_reading(Run& run) const;
  void read_element(Run& run, int64_t element, int64_t position) const;

  MappedFile file_;
  Schema schema_;
  FortranLayout layout_;
  SourceInfo info_;
  std::vector<int64_t> steps_;  // stride of each axis in elements
  FileCheck check_;
};

void FortranFile::locate(Run& run) const {
  if (run.count == 0) return;
  for (int64_t i = 0; i < run.count; ++i) run.columns[0].data[i] = run.scratch + i * record_bytes();
  run.columns[0].contiguous = true;
  // If pages may be missing, every element is read and checked separately.
  const bool whole = check_.before(file_, run.opened_ns);
  const bool direct = whole && file_.addressable() && !run.cold;
  direct ? gather_mapped(run) : gather_by_reading(run);
  convert_bytes(layout_.conversion, run.scratch, run.count * record_bytes(), run.scratch);
}

void FortranFile::gather_mapped(Run& run) const {
  ElementWalk walk(layout_.shape, steps_);
  std::byte* to = run.scratch;
  for (int64_t e = 0; e < element_count(); ++e, walk.next(), to += layout_.element_bytes) {
    const std::byte* from = file_.at(offset_of(walk.position()));
    switch (layout_.element_bytes) {
      case 1:
        copy_elements<1>(from, run.indices, run.count, to, record_bytes());
        break;
      case 2:
        copy_elements<2>(from, run.indices, run.count, to, record_bytes());
        break;
      case 4:
        copy_elements<4>(from, run.indices, run.count, to, record_bytes());
        break;
      case 8:
        copy_elements<8>(from, run.indices, run.count, to, record_bytes());
        break;
      default:
        copy_elements<kMaxElementBytes>(from, run.indices, run.count, to, record_bytes());
        break;
    }
  }
}

void FortranFile::gather_by_reading(Run& run) const {
  ElementWalk walk(layout_.shape, steps_);
  for (int64_t e = 0; e < element_count(); ++e, walk.next()) read_element(run, e, walk.position());
}

// Reads one element of every sample of the run; for consecutive samples these are contiguous, and one read gets them all.
void FortranFile::read_element(Run& run, int64_t element, int64_t position) const {
  const int64_t bytes = layout_.element_bytes;
  std::byte* to = run.scratch + element * bytes;
  std::array<std::byte, static_cast<size_t>(kMaxRunRecords * kMaxElementBytes)> together;
  if (run.contiguous &&
      file_.read(offset_of(position + run.indices[0]), run.count * bytes, together.data()).is_ok()) {
    for (int64_t i = 0; i < run.count; ++i) {
      std::memcpy(to + i * record_bytes(), together.data() + i * bytes, static_cast<size_t>(bytes));
    }
    return;
  }
  for (int64_t i = 0; i < run.count; ++i) {
    if (run.columns[0].data[i] == nullptr) continue;
    Status status = file_.read(offset_of(position + run.indices[i]), bytes, to + i * record_bytes());
    if (!status.is_ok()) run.fail(i, 1, std::move(status).with_sample(run.indices[i]));
  }
}

bool FortranFile::resident(int64_t index) const {
  int64_t last = (element_count() - 1) * layout_.shape[0] + index;
  return file_.resident(offset_of(index), layout_.element_bytes) &&
         file_.resident(offset_of(last), layout_.element_bytes);
}

}  // namespace

Result<SourceRef> open_fortran(MappedFile file, Schema schema, FortranLayout layout, SourceInfo info) {
  std::optional<int64_t> elements = checked_product(layout.shape);
  std::optional<int64_t> total = elements ? checked_multiply(*elements, layout.element_bytes) : std::nullopt;
  bool sound = total && !layout.shape.empty() && static_cast<int64_t>(layout.shape.size()) <= kMaxRank &&
               layout.element_bytes <= kMaxElementBytes && schema.columns.size() == 1 &&
               schema.columns[0].row_bytes == schema.fields[0].bytes() &&
               extent_fits(layout.data_offset, *total, file.bytes());
  if (!sound) return error(Code::kInternal, file.path(), ": schema and layout of the array do not fit");
  if (schema.columns[0].row_bytes > kMaxRecordBytes) {
    return error(Code::kTooLarge, file.path(), ": offset ", layout.data_offset, ": samples of ",
                 schema.columns[0].row_bytes, " bytes, at most ", kMaxRecordBytes);
  }
  return SourceRef(
      std::make_shared<FortranFile>(std::move(file), std::move(schema), std::move(layout), std::move(info)));
}

}  // namespace dataline
