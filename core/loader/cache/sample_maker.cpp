// SPDX-License-Identifier: Apache-2.0
#include "core/loader/cache/sample_maker.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/checked.h"
#include "core/base/thread.h"
#include "core/source/run_memory.h"
#include "core/transform/decode/image_header.h"
#include "core/transform/decode/jpeg_encoder.h"

namespace dataline {
namespace {

constexpr int64_t kPartAlignment = 64;
constexpr int64_t kFileHeaderBytes =
    1024;  // of a PAM file, and of a JPEG file that has hardly a pixel, at most
constexpr int64_t kCountBytes = 8;

int64_t load_count(const std::byte* sample, size_t field) {
  return static_cast<int64_t>(load_little<uint64_t>(sample + kCountBytes * static_cast<int64_t>(field)));
}
void store_count(std::byte* sample, size_t field, int64_t value) {
  std::byte* const at = sample + kCountBytes * static_cast<int64_t>(field);
  for (int i = 0; i < kCountBytes; ++i)
    at[i] = static_cast<std::byte>(static_cast<uint64_t>(value) >> (8 * i));
}

// What a field takes at most.
int64_t room_of(const CutField& field, const Field& stored, int64_t share) {
  // Of an image that is only decoded also as it is stored, where it is too large.
  if (field.as != KeptAs::kValues)
    return std::max(share + kFileHeaderBytes, field.only_decodes ? stored.max_bytes : 0);
  if (field.kept.kind == FieldKind::kDense) return field.kept.bytes();
  return field.kept.max_bytes >= 0 && field.before.empty() ? field.kept.max_bytes : share;
}

using ProgramStates = std::vector<std::unique_ptr<ProgramState>>;  // null for programs that keep nothing

}  // namespace

struct SampleMaker::State {
  State(const Source& source, Block block, int64_t record_bytes, int64_t scratch_bytes,
        ProgramStates program_states)
      : memory(std::move(block)),
        record(source, 1, memory.data()),
        states(std::move(program_states)),
        program_scratch(memory.data() + record_bytes),
        frame(program_scratch + scratch_bytes) {}

  Block memory;
  RunMemory record;      // a run of one
  ProgramStates states;  // one a field
  std::byte* program_scratch;
  std::byte* frame;  // pixels of which a file is made
};

SampleMaker::SampleMaker(SourceRef source, std::vector<CutField> fields, int64_t max_bytes_per_sample,
                         int quality)
    : source_(std::move(source)),
      fields_(std::move(fields)),
      max_bytes_per_sample_(max_bytes_per_sample),
      quality_(quality) {
  sample_bytes_ = head_bytes();
  for (size_t f = 0; f < fields_.size(); ++f) {
    rooms_.push_back(room_of(fields_[f], source_->schema().fields[f], max_bytes_per_sample));
    sample_bytes_ += round_up(rooms_.back(), kPartAlignment);
    if (fields_[f].as == KeptAs::kValues) continue;
    const int64_t pixels = fields_[f].program->output().bytes();  // -1: varies
    frame_bytes_ = std::max(frame_bytes_, pixels >= 0 ? pixels : max_bytes_per_sample);
  }
}

SampleMaker::~SampleMaker() = default;

int64_t SampleMaker::head_bytes() const {
  return round_up(static_cast<int64_t>(fields_.size()) * kCountBytes, kPartAlignment);
}

bool SampleMaker::heavy() const {
  return std::any_of(fields_.begin(), fields_.end(), [](const CutField& f) { return f.program->heavy(); });
}

int64_t SampleMaker::state_bytes() const {
  int64_t bytes = round_up(source_->scratch_bytes(max_bytes_per_sample_), kPartAlignment), scratch = 0;
  for (const CutField& field : fields_) {
    bytes += field.program->state_bytes();
    scratch = std::max(scratch, field.program->scratch_bytes());
  }
  return bytes + round_up(scratch, kPartAlignment) + frame_bytes_ + kPartAlignment;
}

Status SampleMaker::add_states(int64_t count, HostMemory& memory) {
  const int64_t record = round_up(source_->scratch_bytes(max_bytes_per_sample_), kPartAlignment);
  int64_t scratch = 0;
  for (const CutField& field : fields_) scratch = std::max(scratch, field.program->scratch_bytes());
  scratch = round_up(scratch, kPartAlignment);
  ThreadLock lock(mutex_);
  for (int64_t i = 0; i < count; ++i) {
    DL_ASSIGN_OR_RETURN(Block block,
                        memory.allocate(record + scratch + frame_bytes_ + kPartAlignment, kPartAlignment,
                                        MemoryKind::kTable, "what makes the samples of a cache"));
    std::memset(block.data(), 0, static_cast<size_t>(record));
    ProgramStates made;
    for (const CutField& field : fields_) {
      DL_ASSIGN_OR_RETURN(std::unique_ptr<ProgramState> state, field.program->make_state(memory));
      made.push_back(std::move(state));
    }
    states_.push_back(std::make_unique<State>(*source_, std::move(block), record, scratch, std::move(made)));
  }
  return Status::ok();
}

std::unique_ptr<SampleMaker::State> SampleMaker::take_state() const {
  ThreadLock lock(mutex_);
  std::unique_ptr<State> state = std::move(states_.back());
  states_.pop_back();
  return state;
}

void SampleMaker::give_back(std::unique_ptr<State> state) const {
  ThreadLock lock(mutex_);
  states_.push_back(std::move(state));  // has its room from before
}

bool SampleMaker::is_sample(const std::byte* sample, int64_t bytes) const {
  if (bytes < head_bytes()) return false;
  int64_t end = head_bytes();
  for (size_t f = 0; f < fields_.size(); ++f) {
    const int64_t size = load_count(sample, f);
    const Field& kept = fields_[f].kept;
    if (size < 0 || size > rooms_[f] || (kept.kind == FieldKind::kDense && size != kept.bytes()))
      return false;
    end += round_up(size, kPartAlignment);
  }
  return end == bytes;
}

void SampleMaker::point(const std::byte* sample, Run& run, int64_t row) const {
  const std::byte* at = sample + head_bytes();
  for (size_t f = 0; f < fields_.size(); ++f) {
    const int64_t size = load_count(sample, f);
    run.columns[f].data[row] = at;
    run.columns[f].bytes[row] = size;
    at += round_up(size, kPartAlignment);
  }
}

Result<MadeSample> SampleMaker::make(const Run& run, int64_t row, bool as_stored, std::byte* out) const {
  std::unique_ptr<State> state = take_state();
  Run& one = state->record.run;
  one.count = 1;
  one.indices = run.indices + row;
  one.contiguous = true;
  one.cold = run.cold;
  one.opened_ns = run.opened_ns;
  one.max_bytes_per_sample = run.max_bytes_per_sample;
  one.slots = run.slots == nullptr ? nullptr : run.slots + row;
  one.call = run.call != nullptr ? run.call : &state->record.call;
  one.cancelled = run.cancelled;
  state->record.locate(*source_);
  Result<MadeSample> made = [&]() -> Result<MadeSample> {
    if (!state->record.errors.empty()) return std::move(state->record.errors.all().front().status);
    Result<MadeSample> of_fields = make_fields(as_stored, out, *state);
    DL_RETURN_IF_ERROR(changed(run, *state));
    return of_fields;
  }();
  give_back(std::move(state));
  return made;
}

Result<MadeSample> SampleMaker::make_fields(bool as_stored, std::byte* out, State& state) const {
  MadeSample made;
  std::byte* at = out + head_bytes();
  for (size_t f = 0; f < fields_.size(); ++f) {
    const bool may_stay = fields_[f].only_decodes;
    Result<int64_t> bytes = may_stay && as_stored ? copy_stored(f, at, state) : run_program(f, at, state);
    made.whole = made.whole && !(may_stay && as_stored);
    if (!bytes.is_ok() && may_stay && !as_stored && bytes.status().code() == Code::kTooLarge) {
      bytes = copy_stored(f, at, state);
      made.whole = false;
    }
    if (!bytes.is_ok()) return bytes.take_status();
    store_count(out, f, bytes.value());
    const int64_t taken = round_up(bytes.value(), kPartAlignment);
    std::memset(at + bytes.value(), 0, static_cast<size_t>(taken - bytes.value()));
    at += taken;
  }
  const int64_t used = static_cast<int64_t>(fields_.size()) * kCountBytes;
  std::memset(out + used, 0, static_cast<size_t>(head_bytes() - used));
  made.bytes = at - out;
  return made;
}

Result<int64_t> SampleMaker::run_program(size_t f, std::byte* to, State& state) const {
  RowErrors& errors = state.record.errors;
  errors.clear();  // an image that stays as it is stored left one
  const CutField& field = fields_[f];
  const Run::ColumnRows& column = state.record.run.columns[f];
  const bool file = field.as != KeptAs::kValues;
  int64_t bytes = 0;
  RowExtent extent;
  FieldRows rows;
  rows.count = 1;
  rows.source = column.data;
  rows.source_bytes = column.bytes;
  rows.target = file ? state.frame : to;
  const int64_t output = field.program->output().bytes();
  rows.target_stride = output >= 0 ? output : file ? max_bytes_per_sample_ : rooms_[f];
  rows.target_bytes = &bytes;
  rows.target_extents = &extent;
  rows.scratch = state.program_scratch;
  rows.state = state.states[f].get();
  rows.errors = &errors;
  field.program->run(rows);
  if (!errors.empty()) {
    name_places(*source_, state.record.run, f, 0);
    return std::move(errors.all().front().status);
  }
  if (file) return write_file(f, extent, to, state);
  return field.kept.kind == FieldKind::kDense ? field.kept.bytes() : bytes;
}

Result<int64_t> SampleMaker::write_file(size_t f, const RowExtent& size, std::byte* to, State& state) const {
  const Field& pixels = fields_[f].program->output();
  const Frame frame{.pixels = state.frame,
                    .height = pixels.varies() ? size.height : pixels.shape[0],
                    .width = pixels.varies() ? size.width : pixels.shape[1],
                    .channels = pixels.shape[2]};
  if (fields_[f].as == KeptAs::kJpeg) return encode_jpeg(frame, quality_, to, rooms_[f]);
  const std::string header = pam_header(frame.height, frame.width, frame.channels);
  std::memcpy(to, header.data(), header.size());
  std::memcpy(to + header.size(), frame.pixels, static_cast<size_t>(frame.bytes()));
  return static_cast<int64_t>(header.size()) + frame.bytes();
}

Result<int64_t> SampleMaker::copy_stored(size_t f, std::byte* to, const State& state) const {
  const Run::ColumnRows& column = state.record.run.columns[f];
  const int64_t bytes = column.bytes[0];
  if (bytes > rooms_[f]) {
    return error(Code::kTooLarge, "field '", fields_[f].kept.name, "': an image of ", bytes,
                 " encoded bytes, max_bytes_per_sample is ", max_bytes_per_sample_)
        .with_sample(state.record.run.indices[0]);
  }
  std::memcpy(to, column.data[0], static_cast<size_t>(bytes));
  return bytes;
}

Status SampleMaker::changed(const Run& run, State& state) const {
  const ReadSpan span{run.opened_ns, monotonic_ns()};
  if (source_->unchanged(span)) return Status::ok();
  state.record.errors.clear();
  source_->confirm(state.record.run, span);
  if (state.record.errors.empty()) return Status::ok();
  return std::move(state.record.errors.all().front().status);
}

}  // namespace dataline
