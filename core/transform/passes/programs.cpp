// SPDX-License-Identifier: Apache-2.0
#include "core/transform/passes/pass.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/checked.h"
#include "core/base/random.h"
#include "core/transform/elements/kernels.h"
#include "core/transform/elements/row_copy.h"
#include "core/transform/passes/flat_pass.h"

namespace dataline {
namespace {

// Rows up to this size are gathered first and mapped together: one call, with vectors across row boundaries.
constexpr int64_t kSmallRowBytes = 256;
constexpr int64_t kGroupRows = 64;

RowCopy row_copy(const FieldRows& rows, int64_t first, int64_t count, int64_t row_bytes, std::byte* target,
                 int64_t stride) {
  return {.source = rows.source + first,
          .source_offset = rows.source_offset,
          .count = count,
          .row_bytes = row_bytes,
          .target = target,
          .target_stride = stride};
}

class FieldProgram : public Program {
 public:
  explicit FieldProgram(ProgramOutput output) : output_(std::move(output)) {}
  const Field& output() const override { return output_.field; }
  bool draws() const override { return output_.draws; }
  std::vector<PixelScale> pixel_scales() const override { return output_.scales; }

 protected:
  ProgramOutput output_;
};

class DenseCopy : public FieldProgram {
 public:
  DenseCopy(const Field& input, ProgramOutput output, SimdTarget target)
      : FieldProgram(std::move(output)),
        row_bytes_(input.bytes()),
        kernel_(row_copy_kernel(target, row_bytes_)) {}
  bool identity() const override { return true; }

  void run(const FieldRows& rows) const override {
    if (rows.count == 0 || row_bytes_ == 0) return;
    if (rows.contiguous && rows.target_stride == row_bytes_) {
      std::memcpy(rows.target, rows.source[0] + rows.source_offset,
                  static_cast<size_t>(rows.count * row_bytes_));
    } else {
      kernel_(row_copy(rows, 0, rows.count, row_bytes_, rows.target, rows.target_stride));
    }
  }

 private:
  int64_t row_bytes_;
  RowCopyKernel kernel_;
};

// Rows of varying length.
class RaggedCopy : public FieldProgram {
 public:
  using FieldProgram::FieldProgram;
  bool identity() const override { return true; }

  void run(const FieldRows& rows) const override {
    for (int64_t i = 0; i < rows.count; ++i) {
      if (i + kAhead < rows.count) prefetch_row(rows.source[i + kAhead], rows.source_offset, kFirstBytes);
      if (rows.source[i] == nullptr) continue;
      rows.target_bytes[i] = 0;
      const int64_t bytes = rows.source_bytes[i];
      if (bytes > rows.target_stride) {
        rows.errors->fail(i, error(Code::kTooLarge, "field '", output_.field.name, "': sample needs ", bytes,
                                   " bytes, max_bytes_per_sample is ", rows.target_stride));
        continue;
      }
      if (bytes > 0)
        std::memcpy(rows.target + i * rows.target_stride, rows.source[i] + rows.source_offset,
                    static_cast<size_t>(bytes));
      rows.target_bytes[i] = bytes;
    }
  }

 private:
  static constexpr int64_t kAhead = 4;
};

class FlatProgram : public FieldProgram {
 public:
  FlatProgram(const Field& input, ProgramOutput output, std::shared_ptr<const FlatPass> pass,
              SimdTarget target)
      : FieldProgram(std::move(output)),
        pass_(std::move(pass)),
        from_bytes_(input.bytes()),
        to_bytes_(output_.field.bytes()),
        elements_(from_bytes_ / dtype_bytes(input.dtype)),
        gather_(row_copy_kernel(target, from_bytes_)),
        gather_bytes_(from_bytes_ <= kSmallRowBytes ? round_up(kGroupRows * from_bytes_, 64) : 0) {}
  int64_t scratch_bytes() const override { return gather_bytes_ + pass_->scratch_bytes(); }

  void run(const FieldRows& rows) const override {
    if (rows.count == 0 || elements_ == 0) return;
    const bool dense = rows.target_stride == to_bytes_;
    if (dense && rows.contiguous) {
      pass_->run_elements(rows.source[0] + rows.source_offset, rows.target, rows.count * elements_,
                          rows.scratch + gather_bytes_);
    } else if (dense && gather_bytes_ > 0 && !any_failed(rows)) {
      run_gathered(rows);
    } else {
      run_rows(rows);
    }
  }

 private:
  static bool any_failed(const FieldRows& rows) {
    return std::find(rows.source, rows.source + rows.count, nullptr) != rows.source + rows.count;
  }

  void run_gathered(const FieldRows& rows) const {
    for (int64_t first = 0; first < rows.count; first += kGroupRows) {
      const int64_t count = std::min(kGroupRows, rows.count - first);
      gather_(row_copy(rows, first, count, from_bytes_, rows.scratch, from_bytes_));
      pass_->run_elements(rows.scratch, rows.target + first * to_bytes_, count * elements_,
                          rows.scratch + gather_bytes_);
    }
  }

  void run_rows(const FieldRows& rows) const {
    const int64_t ahead = prefetch_rows(from_bytes_);
    for (int64_t i = 0; i < ahead && i < rows.count; ++i)
      prefetch_row(rows.source[i], rows.source_offset, from_bytes_);
    for (int64_t i = 0; i < rows.count; ++i) {
      if (i + ahead < rows.count) prefetch_row(rows.source[i + ahead], rows.source_offset, from_bytes_);
      if (rows.source[i] == nullptr) continue;
      pass_->run_elements(rows.source[i] + rows.source_offset, rows.target + i * rows.target_stride,
                          elements_, rows.scratch + gather_bytes_);
    }
  }

  std::shared_ptr<const FlatPass> pass_;
  int64_t from_bytes_;
  int64_t to_bytes_;
  int64_t elements_;
  RowCopyKernel gather_;
  int64_t gather_bytes_;
};

// One state per pass.
struct PassStates : public ProgramState {
  std::vector<std::unique_ptr<ProgramState>> of_pass;
};

class PassProgram : public FieldProgram {
 public:
  PassProgram(const Field& input, ProgramOutput output, std::vector<PassRef> passes,
              const std::vector<int64_t>& pass_bytes, const std::vector<std::string>& texts)
      : FieldProgram(std::move(output)),
        passes_(std::move(passes)),
        row_bytes_(input.bytes()),
        tells_bytes_(output_.field.bytes() < 0 && !output_.field.to_bucket) {
    for (size_t i = 0; i < passes_.size(); ++i) {
      first_parts_.push_back(static_cast<int32_t>(parts_.size()));
      const std::vector<std::string> own = passes_[i]->parts();
      parts_.insert(parts_.end(), own.begin(), own.end());
      if (own.empty()) parts_.push_back(texts[i]);
      pass_scratch_bytes_ = std::max(pass_scratch_bytes_, passes_[i]->scratch_bytes());
      if (!ends_in_slot(i)) between_bytes_ = std::max(between_bytes_, round_up(pass_bytes[i], 64));
    }
  }
  int64_t scratch_bytes() const override { return 2 * between_bytes_ + pass_scratch_bytes_; }
  std::vector<std::string> parts() const override { return parts_; }
  bool heavy() const override {
    return std::any_of(passes_.begin(), passes_.end(), [](const PassRef& pass) { return pass->heavy(); });
  }
  int64_t state_bytes() const override {
    int64_t total = 0;
    for (const PassRef& pass : passes_) total += pass->state_bytes();
    return total;
  }
  Result<std::unique_ptr<ProgramState>> make_state(HostMemory& memory) const override {
    auto states = std::make_unique<PassStates>();
    bool any = false;
    for (const PassRef& pass : passes_) {
      DL_ASSIGN_OR_RETURN(std::unique_ptr<ProgramState> state, pass->make_state(memory));
      any |= state != nullptr;
      states->of_pass.push_back(std::move(state));
    }
    if (!any) return std::unique_ptr<ProgramState>();
    return std::unique_ptr<ProgramState>(std::move(states));
  }

  void run(const FieldRows& rows) const override {
    RowContext context;
    context.rows = &rows;
    context.field = output_.field.name;
    context.key = random_key(rows.seed, static_cast<uint64_t>(rows.epoch), Domain::kAugment);
    context.scratch = rows.scratch + 2 * between_bytes_;
    const int64_t ahead = prefetch_rows(row_bytes_ < 0 ? kFirstBytes : row_bytes_);
    for (int64_t i = 0; i < ahead && i < rows.count; ++i) prefetch(rows, i);
    for (int64_t i = 0; i < rows.count; ++i) {
      if (i + ahead < rows.count) prefetch(rows, i + ahead);
      if (rows.source[i] == nullptr) continue;
      context.row = i;
      if (rows.clock != nullptr) rows.clock->begin_row(*rows.parts);
      const int64_t written = run_row(context);
      if (rows.clock != nullptr) rows.clock->end_row();
      if (tells_bytes_) rows.target_bytes[i] = std::max<int64_t>(written, 0);
    }
  }

 private:
  [[gnu::always_inline]] void prefetch(const FieldRows& rows, int64_t row) const {
    prefetch_row(rows.source[row], rows.source_offset, row_bytes_ < 0 ? kFirstBytes : row_bytes_);
  }

  // Whether all later passes work in place, so that this pass writes to the slot.
  bool ends_in_slot(size_t pass) const {
    return std::all_of(passes_.begin() + static_cast<int64_t>(pass) + 1, passes_.end(),
                       [](const PassRef& later) { return later->in_place(); });
  }

  int64_t run_row(RowContext& context) const {
    const FieldRows& rows = *context.rows;
    const auto* states = static_cast<const PassStates*>(rows.state);
    const std::byte* from = rows.source[context.row] + rows.source_offset;
    int64_t bytes = row_bytes_ < 0 ? rows.source_bytes[context.row] : row_bytes_;
    for (size_t i = 0; i < passes_.size(); ++i) {
      const bool last = ends_in_slot(i);
      std::byte* to = last ? rows.target + context.row * rows.target_stride
                           : rows.scratch + static_cast<int64_t>(i % 2) * between_bytes_;
      if (i > 0 && passes_[i]->in_place()) to = const_cast<std::byte*>(from);  // written by the pass before
      context.state = states != nullptr ? states->of_pass[i].get() : nullptr;
      context.part = first_parts_[i];
      if (rows.clock != nullptr) rows.clock->enter(context.part);
      bytes = passes_[i]->run(context, from, bytes, to, last ? rows.target_stride : between_bytes_);
      if (bytes < 0) return bytes;
      from = to;
    }
    return bytes;
  }

  std::vector<PassRef> passes_;
  std::vector<std::string> parts_;
  std::vector<int32_t> first_parts_;  // of each pass
  int64_t row_bytes_;                 // -1: ragged
  bool tells_bytes_;                  // of each row
  int64_t between_bytes_ = 0;
  int64_t pass_scratch_bytes_ = 0;
};

}  // namespace

std::unique_ptr<const Program> make_copy_program(const Field& input, ProgramOutput output,
                                                 SimdTarget target) {
  if (input.kind == FieldKind::kRagged) return std::make_unique<RaggedCopy>(std::move(output));
  return std::make_unique<DenseCopy>(input, std::move(output), target);
}

std::unique_ptr<const Program> make_flat_program(const Field& input, ProgramOutput output,
                                                 std::shared_ptr<const FlatPass> pass, SimdTarget target) {
  return std::make_unique<FlatProgram>(input, std::move(output), std::move(pass), target);
}

std::unique_ptr<const Program> make_pass_program(const Field& input, ProgramOutput output,
                                                 std::vector<PassRef> passes,
                                                 const std::vector<int64_t>& pass_bytes,
                                                 const std::vector<std::string>& texts) {
  return std::make_unique<PassProgram>(input, std::move(output), std::move(passes), pass_bytes, texts);
}

}  // namespace dataline
