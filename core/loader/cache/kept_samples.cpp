// SPDX-License-Identifier: Apache-2.0
#include "core/loader/cache/kept_samples.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "core/base/checked.h"
#include "core/base/digest.h"
#include "core/base/text.h"
#include "core/base/thread.h"
#include "core/base/thread_mutex.h"
#include "core/loader/cache/cut.h"
#include "core/loader/cache/sample_store.h"
#include "core/loader/pipeline.h"
#include "core/source/composed/mix.h"
#include "core/source/composed/parts.h"

namespace dataline {
namespace {

constexpr int64_t kPartAlignment = 64;    // of each field of a kept sample
constexpr int64_t kPamHeaderBytes = 128;  // at most: three numbers of 19 digits

// A kept sample: the bytes of each field as u64, then the fields, each from a multiple of 64 on.
struct SampleLayout {
  std::vector<int64_t> rooms;  // of each field, at most
  int64_t head_bytes = 0;
  int64_t row_bytes = 0;  // of all, at most

  explicit SampleLayout(std::vector<int64_t> field_rooms) : rooms(std::move(field_rooms)) {
    head_bytes = row_bytes = round_up(static_cast<int64_t>(rooms.size()) * 8, kPartAlignment);
    for (const int64_t room : rooms) row_bytes += round_up(room, kPartAlignment);
  }
};

uint64_t load_count(const std::byte* at) { return load_little<uint64_t>(at); }
void store_count(std::byte* at, int64_t value) {
  for (int i = 0; i < 8; ++i) at[i] = static_cast<std::byte>(static_cast<uint64_t>(value) >> (8 * i));
}

// What one locate() works with.
struct MakerState {
  MakerState(const Source& source, Block block, int64_t scratch_bytes, PassStates pass_states)
      : memory(std::move(block)),
        run(source, 1, memory.data()),
        states(std::move(pass_states)),
        program_scratch(memory.data() + scratch_bytes) {}

  Block memory;
  RunMemory run;
  PassStates states;  // one a field
  std::byte* program_scratch;
};

class KeptSource final : public ForwardSource {
 public:
  KeptSource(SourceRef stored, SourceRef by_field, TransformCut cut, int64_t max_bytes_per_sample,
             std::unique_ptr<SampleStore> store)
      : ForwardSource(std::move(by_field)),
        stored_(std::move(stored)),
        fields_(std::move(cut.fields)),
        schema_(column_per_field(kept_fields(fields_))),
        layout_(rooms_of(fields_, source_->schema(), max_bytes_per_sample)),
        store_(std::move(store)) {}

  Status add_states(int64_t count, int64_t max_bytes_per_sample, HostMemory& memory);
  int64_t bytes_of_state(int64_t max_bytes_per_sample) const;
  bool heavy() const {
    return std::any_of(fields_.begin(), fields_.end(), [](const CutField& f) { return f.program->heavy(); });
  }

  const Schema& schema() const override { return schema_; }
  const Mix* mix() const override { return stored_->mix(); }
  void locate(Run& run) const override;
  // Rows are copies, and what they were made of was looked at again before.
  bool unchanged(const ReadSpan&) const override { return true; }
  void confirm(Run&, const ReadSpan&) const override {}
  int64_t scratch_bytes(int64_t) const override { return layout_.row_bytes; }
  int64_t record_items(int64_t) const override { return -1; }
  Result<const std::byte*> locate_items(const Run& run, const ItemRange& range,
                                        std::byte* room) const override {
    return Source::locate_items(run, range, room);  // NOLINT(bugprone-parent-virtual-call)
  }
  void advise(std::span<const int64_t> indices) const override {
    // Where much is kept, reading ahead what it was made of would only take its place in memory.
    if (!store_->full()) return;
    source_->advise(indices);
  }

 private:
  static std::vector<Field> kept_fields(const std::vector<CutField>& fields) {
    std::vector<Field> out;
    for (const CutField& field : fields) out.push_back(field.kept);
    return out;
  }
  static std::vector<int64_t> rooms_of(const std::vector<CutField>& fields, const Schema& stored,
                                       int64_t share);
  std::unique_ptr<MakerState> take_state() const DL_EXCLUDES(mutex_);
  void give_back(std::unique_ptr<MakerState> state) const DL_EXCLUDES(mutex_);

  bool find_kept(Run& run, int64_t row, std::byte* out) const;
  void make(Run& run, int64_t row, std::byte* out, MakerState& state) const;
  bool read_record(const Run& run, int64_t row, MakerState& state) const;
  Result<int64_t> make_field(size_t f, std::byte* to, MakerState& state) const;
  Result<int64_t> run_program(size_t f, std::byte* to, MakerState& state) const;
  Result<int64_t> copy_stored(size_t f, std::byte* to, const MakerState& state) const;
  Status changed(const Run& run, MakerState& state) const;
  void point(Run& run, int64_t row, std::byte* sample) const;

  const SourceRef stored_;
  const std::vector<CutField> fields_;
  const Schema schema_;
  const SampleLayout layout_;
  const std::unique_ptr<SampleStore> store_;
  mutable ThreadMutex mutex_;
  mutable std::vector<std::unique_ptr<MakerState>> states_ DL_GUARDED_BY(mutex_);
};

std::vector<int64_t> KeptSource::rooms_of(const std::vector<CutField>& fields, const Schema& stored,
                                          int64_t share) {
  std::vector<int64_t> rooms;
  for (size_t f = 0; f < fields.size(); ++f) {
    const Field& kept = fields[f].kept;
    if (fields[f].as_pam) {
      // Or the image as it is stored, where it is too large for a PAM file.
      rooms.push_back(
          std::max(share + kPamHeaderBytes, fields[f].only_decodes ? stored.fields[f].max_bytes : 0));
    } else if (kept.kind == FieldKind::kRagged) {
      rooms.push_back(kept.max_bytes >= 0 && fields[f].before.empty() ? kept.max_bytes : share);
    } else {
      rooms.push_back(kept.bytes());
    }
  }
  return rooms;
}

int64_t KeptSource::bytes_of_state(int64_t max_bytes_per_sample) const {
  int64_t bytes = round_up(source_->scratch_bytes(max_bytes_per_sample), kPartAlignment);
  int64_t scratch = 0;
  for (const CutField& field : fields_) {
    bytes += field.program->state_bytes();
    scratch = std::max(scratch, field.program->scratch_bytes());
  }
  return bytes + scratch + kPartAlignment;
}

Status KeptSource::add_states(int64_t count, int64_t max_bytes_per_sample, HostMemory& memory) {
  const int64_t record = round_up(source_->scratch_bytes(max_bytes_per_sample), kPartAlignment);
  int64_t scratch = kPartAlignment;
  std::vector<StoragePass> passes;
  for (const CutField& field : fields_) {
    scratch = std::max(scratch, field.program->scratch_bytes());
    passes.push_back({.program = field.program.get()});
  }
  ThreadLock lock(mutex_);
  for (int64_t i = 0; i < count; ++i) {
    DL_ASSIGN_OR_RETURN(Block block, memory.allocate(record + scratch, kPartAlignment, MemoryKind::kTable,
                                                     "what makes the samples of a cache"));
    std::memset(block.data(), 0, static_cast<size_t>(record));
    DL_ASSIGN_OR_RETURN(PassStates made, make_states(passes, memory));
    states_.push_back(std::make_unique<MakerState>(*source_, std::move(block), record, std::move(made)));
  }
  return Status::ok();
}

std::unique_ptr<MakerState> KeptSource::take_state() const {
  ThreadLock lock(mutex_);
  std::unique_ptr<MakerState> state = std::move(states_.back());
  states_.pop_back();
  return state;
}

void KeptSource::give_back(std::unique_ptr<MakerState> state) const {
  ThreadLock lock(mutex_);
  states_.push_back(std::move(state));  // has its room from before
}

void KeptSource::locate(Run& run) const {
  for (size_t c = 0; c < fields_.size(); ++c) run.columns[c].contiguous = false;
  std::unique_ptr<MakerState> state;
  for (int64_t row = 0; row < run.count; ++row) {
    std::byte* const out = run.scratch + row * layout_.row_bytes;
    if (find_kept(run, row, out)) continue;
    if (state == nullptr) state = take_state();
    make(run, row, out, *state);
  }
  if (state != nullptr) give_back(std::move(state));
}

bool KeptSource::find_kept(Run& run, int64_t row, std::byte* out) const {
  const int64_t index = run.indices[row];
  const std::optional<uint64_t> stamp = source_->stamp(index);
  if (!stamp) return false;
  const int64_t bytes = store_->read(index, *stamp, out, layout_.row_bytes);
  if (bytes < layout_.head_bytes) return false;
  int64_t end = layout_.head_bytes;
  for (size_t f = 0; f < fields_.size(); ++f) {
    const uint64_t size = load_count(out + 8 * f);
    const Field& kept = fields_[f].kept;
    const bool fits = size <= static_cast<uint64_t>(layout_.rooms[f]);
    if (!fits || (kept.kind == FieldKind::kDense && static_cast<int64_t>(size) != kept.bytes())) return false;
    end += round_up(static_cast<int64_t>(size), kPartAlignment);
  }
  if (end != bytes) return false;
  point(run, row, out);
  return true;
}

// The columns' pointers into a sample.
void KeptSource::point(Run& run, int64_t row, std::byte* sample) const {
  const std::byte* at = sample + layout_.head_bytes;
  for (size_t f = 0; f < fields_.size(); ++f) {
    const auto size = static_cast<int64_t>(load_count(sample + 8 * f));
    run.columns[f].data[row] = at;
    run.columns[f].bytes[row] = size;
    at += round_up(size, kPartAlignment);
  }
}

void KeptSource::make(Run& run, int64_t row, std::byte* out, MakerState& state) const {
  const int64_t index = run.indices[row];
  const std::optional<uint64_t> stamp =
      source_->stamp(index);  // before: what is written meanwhile has another
  bool whole = true;
  Status status;
  if (!read_record(run, row, state)) {
    status = std::move(state.run.errors.all().front().status);
  } else {
    std::byte* at = out + layout_.head_bytes;
    for (size_t f = 0; f < fields_.size() && status.is_ok(); ++f) {
      Result<int64_t> made = make_field(f, at, state);
      if (made.is_ok() && made.value() < 0) {  // as it is stored
        whole = false;
        made = copy_stored(f, at, state);
      }
      if (!made.is_ok()) {
        status = made.take_status();
        break;
      }
      store_count(out + 8 * f, made.value());
      const int64_t room = round_up(made.value(), kPartAlignment);
      std::memset(at + made.value(), 0, static_cast<size_t>(room - made.value()));
      at += room;
    }
    // What a file that is cut, or written to, gave is not what it holds, whatever it was made into.
    Status other = changed(run, state);
    if (!other.is_ok()) status = std::move(other);
    if (status.is_ok()) {
      point(run, row, out);
      if (whole && stamp) store_->keep(index, *stamp, {out, static_cast<size_t>(at - out)});
      return;
    }
  }
  run.fail(row, fields_.size(), std::move(status));
}

// Of the run one record, into the state's.
bool KeptSource::read_record(const Run& run, int64_t row, MakerState& state) const {
  Run& one = state.run.run;
  one.count = 1;
  one.indices = run.indices + row;
  one.contiguous = true;
  one.cold = run.cold;
  one.opened_ns = run.opened_ns;
  one.max_bytes_per_sample = run.max_bytes_per_sample;
  one.slots = run.slots == nullptr ? nullptr : run.slots + row;
  one.call = run.call != nullptr ? run.call : &state.run.call;
  one.cancelled = run.cancelled;
  state.run.locate(*source_);
  return state.run.errors.empty();
}

// The bytes written; -1: what is left of the transform takes the stored image, for which there is no other room.
Result<int64_t> KeptSource::make_field(size_t f, std::byte* to, MakerState& state) const {
  if (fields_[f].only_decodes && store_->full()) return int64_t{-1};
  Result<int64_t> made = run_program(f, to, state);
  if (!made.is_ok() && fields_[f].only_decodes && made.status().code() == Code::kTooLarge) return int64_t{-1};
  return made;
}

Result<int64_t> KeptSource::run_program(size_t f, std::byte* to, MakerState& state) const {
  const CutField& field = fields_[f];
  state.run.errors.clear();  // an image that is taken as it is stored left one
  const Run::ColumnRows& column = state.run.run.columns[f];
  const int64_t before = field.as_pam ? kPamHeaderBytes : 0;
  int64_t bytes = 0;
  RowExtent extent;
  FieldRows rows;
  rows.count = 1;
  rows.source = column.data;
  rows.source_bytes = column.bytes;
  rows.target = to + before;
  rows.target_stride = layout_.rooms[f] - before;
  rows.target_bytes = &bytes;
  rows.target_extents = &extent;
  rows.scratch = state.program_scratch;
  rows.state = state.states[f].get();
  rows.errors = &state.run.errors;
  field.program->run(rows);
  if (!state.run.errors.empty()) {
    name_places(*source_, state.run.run, f, 0);
    return std::move(state.run.errors.all().front().status);
  }
  if (!field.as_pam) return field.kept.kind == FieldKind::kDense ? field.kept.bytes() : bytes;
  // The header's length is known now: it goes right before the pixels, and the file to the front.
  const int64_t pixels = extent.height * extent.width * field.program->output().shape[2];
  const std::string header = pam_header(extent.height, extent.width, field.program->output().shape[2]);
  const auto head = static_cast<int64_t>(header.size());
  std::memcpy(to, header.data(), header.size());
  std::memmove(to + head, to + before, static_cast<size_t>(pixels));
  return head + pixels;
}

Result<int64_t> KeptSource::copy_stored(size_t f, std::byte* to, const MakerState& state) const {
  const Run::ColumnRows& column = state.run.run.columns[f];
  const int64_t bytes = column.bytes[0];
  if (bytes > layout_.rooms[f]) {
    return error(Code::kTooLarge, "field '", fields_[f].kept.name, "': an image of ", bytes,
                 " encoded bytes, max_bytes_per_sample has room for ", layout_.rooms[f] - kPamHeaderBytes);
  }
  std::memcpy(to, column.data[0], static_cast<size_t>(bytes));
  return bytes;
}

Status KeptSource::changed(const Run& run, MakerState& state) const {
  const ReadSpan span{run.opened_ns, monotonic_ns()};
  if (source_->unchanged(span)) return Status::ok();
  state.run.errors.clear();
  source_->confirm(state.run.run, span);
  if (state.run.errors.empty()) return Status::ok();
  return std::move(state.run.errors.all().front().status);
}

// What decides what is kept, beside the stamps of records.
std::string key_of(const Source& source, const TransformCut& cut, const LoaderConfig& config) {
  Digest digest;
  digest.add("samples 1");  // another number when operators or the layout come to give other bytes
  source.fingerprint(digest);
  for (const CutField& field : cut.fields) {
    digest.add(field.before);
    digest.add(field_type_text(field.kept));
  }
  digest.add(static_cast<uint64_t>(config.decode_limits.accept_warnings));
  return digest.hex();
}

Status want_stamps(const Source& source) {
  if (source.mix() != nullptr && source.mix()->grouped())
    return error(Code::kUnsupported,
                 "option cache: not for a mix whose parts have transforms or fields of their own");
  if (source.count() == 0 || source.stamp(0)) return Status::ok();
  return error(Code::kUnsupported, "option cache: this dataset (", source.info().format,
               ") cannot tell when its data changes: it is for files, and for readers with a fingerprint");
}

}  // namespace

Result<KeptSamples> keep_samples(SourceRef source, const LoaderConfig& config, const Log& log,
                                 HostMemory& memory) {
  DL_RETURN_IF_ERROR(want_stamps(*source));
  DL_ASSIGN_OR_RETURN(TransformCut cut, cut_transform(*source, config));
  DL_ASSIGN_OR_RETURN(std::unique_ptr<SampleStore> store,
                      SampleStore::open({.directory = config.cache,
                                         .budget_bytes = config.cache_bytes,
                                         .key = key_of(*source, cut, config),
                                         .samples = source->count(),
                                         .log = log}));
  KeptSamples out;
  out.after = cut.after;
  out.places = cut.places;
  for (const CutField& field : cut.fields) out.before.push_back(field.before);
  DL_ASSIGN_OR_RETURN(SourceRef by_field, with_column_per_field(source));
  auto kept = std::make_shared<KeptSource>(std::move(source), std::move(by_field), std::move(cut),
                                           config.max_bytes_per_sample, std::move(store));
  DL_RETURN_IF_ERROR(kept->add_states(config.num_workers + 1, config.max_bytes_per_sample, memory));
  out.heavy = kept->heavy();
  out.state_bytes = kept->bytes_of_state(config.max_bytes_per_sample);
  out.source = std::move(kept);
  return out;
}

}  // namespace dataline
