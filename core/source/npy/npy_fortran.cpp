// SPDX-License-Identifier: Apache-2.0
#include "core/source/identity.h"
#include "core/source/npy/npy_header.h"

#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "core/base/checked.h"
#include "core/source/file_source.h"
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
  std::array<int64_t, static_cast<size_t>(kMaxRank) + 1>
      at_{};  // a whole array of 32 dims is the only record of a file
  int64_t position_ = 0;
};

template <int64_t kBytes>
void copy_elements(const std::byte* from, const int64_t* indices, int64_t count, std::byte* to,
                   int64_t record_bytes) {
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * record_bytes, from + indices[i] * kBytes, static_cast<size_t>(kBytes));
  }
}

// By the logarithm of the element's size, so that every copy is of a constant size.
constexpr decltype(&copy_elements<1>) kCopies[] = {copy_elements<1>, copy_elements<2>, copy_elements<4>,
                                                   copy_elements<8>, copy_elements<kMaxElementBytes>};

class FortranFile final : public FileSource {
 public:
  template <typename File>  // MappedFile, WatchedFileRef
  FortranFile(File file, Schema schema, SourceInfo info, const NpyHeader& header)
      : FileSource(std::move(file), std::move(schema), std::move(info)),
        shape_(header.shape),
        data_offset_(header.data_offset),
        element_bytes_(dtype_bytes(header.dtype)),
        conversion_(header.swapped ? swap_conversion(header.dtype) : FlatConversion::kNone) {
    // The caller of open_fortran() has checked that the product of all dims fits.
    int64_t step = 1;
    for (int64_t dim : shape_) {
      steps_.push_back(step);
      step *= dim;
    }
  }

  int64_t count() const override { return shape_[0]; }

  void locate(Run& run) const override {
    if (run.count == 0) return;
    for (int64_t i = 0; i < run.count; ++i) run.columns[0].data[i] = run.scratch + i * record_bytes();
    run.columns[0].contiguous = true;
    // If pages may be missing, every element is read and checked separately.
    const bool whole = check_before(run.opened_ns);
    const bool direct = whole && file_.addressable() && !run.cold;
    direct ? gather_mapped(run) : gather_by_reading(run);
    convert_bytes(conversion_, run.scratch, run.count * record_bytes(), run.scratch);
  }

  int64_t scratch_bytes(int64_t) const override { return round_up(record_bytes(), 64); }
  void advise(std::span<const int64_t>) const override {}  // a sample's extent is most of the file
  // Without an offset: the elements are spread over the file.
  Place place_of(int64_t index, size_t) const override { return {file_.path(), concat("record ", index)}; }
  void identify(IdentityBuilder& identity) const override {
    identity.add_schema(*this);
    identity.add_file(file_);
    identity.add(static_cast<uint64_t>(data_offset_));
    identity.add("fortran");
  }

 private:
  int64_t record_bytes() const { return schema_.columns[0].row_bytes; }
  // Elements of other samples are in between.
  FileExtent extent_of(int64_t index) const override {
    const int64_t begin = offset_of(index);
    return {begin, offset_of(last_position(index)) + element_bytes_ - begin};
  }
  int64_t element_count() const { return record_bytes() / element_bytes_; }
  int64_t last_position(int64_t index) const { return (element_count() - 1) * shape_[0] + index; }
  int64_t offset_of(int64_t position) const { return data_offset_ + position * element_bytes_; }

  void gather_mapped(Run& run) const {
    ElementWalk walk(shape_, steps_);
    std::byte* to = run.scratch;
    const auto copy = kCopies[std::countr_zero(static_cast<uint64_t>(element_bytes_))];
    for (int64_t e = 0; e < element_count(); ++e, walk.next(), to += element_bytes_)
      copy(file_.at(offset_of(walk.position())), run.indices, run.count, to, record_bytes());
  }

  void gather_by_reading(Run& run) const {
    ElementWalk walk(shape_, steps_);
    for (int64_t e = 0; e < element_count(); ++e, walk.next()) read_element(run, e, walk.position());
  }

  // Reads one element of every sample of the run; for consecutive samples these are contiguous, and one read gets them all.
  void read_element(Run& run, int64_t element, int64_t position) const {
    const int64_t bytes = element_bytes_;
    std::byte* to = run.scratch + element * bytes;
    std::array<std::byte, static_cast<size_t>(kMaxRunRecords * kMaxElementBytes)> together;
    if (run.contiguous &&
        file_.read(offset_of(position + run.indices[0]), run.count * bytes, together.data(), run.cancelled)
            .is_ok()) {
      for (int64_t i = 0; i < run.count; ++i) {
        std::memcpy(to + i * record_bytes(), together.data() + i * bytes, static_cast<size_t>(bytes));
      }
      return;
    }
    for (int64_t i = 0; i < run.count; ++i) {
      if (run.columns[0].data[i] == nullptr) continue;
      Status status =
          file_.read(offset_of(position + run.indices[i]), bytes, to + i * record_bytes(), run.cancelled);
      if (!status.is_ok()) run.fail(i, 1, std::move(status));
    }
  }

  const std::vector<int64_t> shape_;  // of the array: samples first
  const int64_t data_offset_;
  const int64_t element_bytes_;
  const FlatConversion conversion_;
  std::vector<int64_t> steps_;  // stride of each axis in elements
};

Status check_fortran(const MappedFile& file, const Schema& schema, const NpyHeader& header) {
  if (schema.columns[0].row_bytes <= kMaxRecordBytes) return Status::ok();
  return error(Code::kTooLarge, file.path(), ": offset ", header.data_offset, ": samples of ",
               schema.columns[0].row_bytes, " bytes, at most ", kMaxRecordBytes);
}

}  // namespace

Result<SourceRef> open_fortran(MappedFile file, Schema schema, SourceInfo info, const NpyHeader& header) {
  DL_RETURN_IF_ERROR(check_fortran(file, schema, header));
  return SourceRef(
      std::make_shared<FortranFile>(std::move(file), std::move(schema), std::move(info), header));
}

Result<SourceRef> open_fortran(WatchedFileRef file, Schema schema, SourceInfo info, const NpyHeader& header) {
  DL_RETURN_IF_ERROR(check_fortran(file->file(), schema, header));
  return SourceRef(
      std::make_shared<FortranFile>(std::move(file), std::move(schema), std::move(info), header));
}

}  // namespace dataline
