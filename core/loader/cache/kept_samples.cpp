// SPDX-License-Identifier: Apache-2.0
#include "core/loader/cache/kept_samples.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/digest.h"
#include "core/loader/cache/cut.h"
#include "core/loader/cache/sample_maker.h"
#include "core/loader/cache/sample_store.h"
#include "core/source/composed/mix.h"
#include "core/source/composed/parts.h"
#include "core/source/identity.h"
#include "core/transform/decode/jpeg_encoder.h"

namespace dataline {
namespace {

class KeptSource final : public Source {
 public:
  // `by_field`: the stored source with a column for each field. `store` may be null: nothing is kept.
  KeptSource(SourceRef by_field, std::shared_ptr<const SampleMaker> maker, std::unique_ptr<SampleStore> store,
             std::shared_ptr<CacheCounts> counts)
      : source_(std::move(by_field)),
        maker_(std::move(maker)),
        store_(std::move(store)),
        counts_(std::move(counts)),
        schema_(column_per_field(kept_fields(maker_->fields()))) {}

  int64_t count() const override { return source_->count(); }
  const Schema& schema() const override { return schema_; }
  SourceInfo info() const override { return source_->info(); }
  const SourceFacts& facts() const override { return source_->facts(); }
  void locate(Run& run) const override;
  // Rows are copies, and the files that they were made of were looked at before that.
  bool unchanged(const ReadSpan&) const override { return true; }
  void confirm(Run&, const ReadSpan&) const override {}
  int64_t scratch_bytes(int64_t) const override { return maker_->sample_bytes(); }
  // Of what is kept its own pages; what it was made of is not read again.
  void advise(std::span<const int64_t> indices) const override;
  void advise_block(int64_t first, int64_t count) const override;
  bool cached(int64_t index) const override {
    const std::optional<bool> kept = store_ == nullptr ? std::nullopt : store_->cached(index);
    return kept ? *kept : source_->cached(index);
  }
  void append_blocks(int64_t block_bytes, BlockEnds& ends) const override {
    source_->append_blocks(block_bytes, ends);
  }
  int64_t stored_bytes() const override { return source_->stored_bytes(); }
  // The kept fields are other ones than those that the source knows about.
  int64_t record_items(int64_t) const override { return -1; }
  Result<const std::byte*> locate_items(const Run& run, const ItemRange& range,
                                        std::byte* room) const override {
    return Source::locate_items(run, range, room);
  }
  void advise_items(const ItemRange&) const override {}
  Place place_of(int64_t index, size_t column) const override { return source_->place_of(index, column); }
  void identify(IdentityBuilder& identity) const override { source_->identify(identity); }
  std::optional<uint64_t> stamp(int64_t index) const override { return source_->stamp(index); }

 private:
  static std::vector<Field> kept_fields(const std::vector<CutField>& fields) {
    std::vector<Field> out;
    for (const CutField& field : fields) out.push_back(field.kept);
    return out;
  }
  bool kept_in_memory(int64_t index) const { return store_ != nullptr && store_->cached(index) == true; }
  Status find_or_make(const Run& run, int64_t row, std::byte* out) const;

  const SourceRef source_;
  const std::shared_ptr<const SampleMaker> maker_;
  const std::unique_ptr<SampleStore> store_;
  const std::shared_ptr<CacheCounts> counts_;
  const Schema schema_;
};

void KeptSource::advise(std::span<const int64_t> indices) const {
  if (store_ == nullptr) return source_->advise(indices);
  size_t first = 0;  // of those that are not kept, side by side
  for (size_t i = 0; i < indices.size(); ++i) {
    if (!store_->advise(indices[i])) continue;
    if (first < i) source_->advise(indices.subspan(first, i - first));
    first = i + 1;
  }
  if (first < indices.size()) source_->advise(indices.subspan(first));
}

// The source opens a block only for records that are not kept. If both ends of the block are kept and in memory, as in every
// epoch after the first, the records between them are not checked.
void KeptSource::advise_block(int64_t first, int64_t count) const {
  if (!facts().opens_blocks) return Source::advise_block(first, count);
  if (kept_in_memory(first) && kept_in_memory(first + count - 1)) return;
  int64_t begin = first + count, end = first;  // of the records that are not kept
  for (int64_t index = first; index < first + count; ++index) {
    if (store_ != nullptr && store_->advise(index)) continue;
    begin = std::min(begin, index);
    end = index + 1;
  }
  if (begin < end) source_->advise_block(begin, end - begin);
}

void KeptSource::locate(Run& run) const {
  for (size_t c = 0; c < schema_.columns.size(); ++c) run.columns[c].contiguous = false;
  for (int64_t row = 0; row < run.count; ++row) {
    std::byte* const sample = run.scratch + row * maker_->sample_bytes();
    Status status = find_or_make(run, row, sample);
    if (status.is_ok())
      maker_->point(sample, run, row);
    else
      run.fail(row, schema_.columns.size(), std::move(status));
  }
}

Status KeptSource::find_or_make(const Run& run, int64_t row, std::byte* out) const {
  const int64_t index = run.indices[row];
  if (store_ == nullptr) {
    counts_->made.fetch_add(1, std::memory_order_relaxed);
    Result<MadeSample> made = maker_->make(run, row, /*as_stored=*/true, out);
    return made.is_ok() ? Status::ok() : made.take_status();
  }
  // Before the record is read: what is written meanwhile has another stamp.
  const std::optional<uint64_t> stamp = source_->stamp(index);
  if (stamp) {
    const int64_t bytes = store_->read(index, *stamp, out, maker_->sample_bytes());
    if (bytes >= 0 && maker_->is_sample(out, bytes)) {
      counts_->read.fetch_add(1, std::memory_order_relaxed);
      return Status::ok();
    }
  }
  counts_->made.fetch_add(1, std::memory_order_relaxed);
  DL_ASSIGN_OR_RETURN(const MadeSample made, maker_->make(run, row, store_->full(), out));
  if (made.whole && stamp) store_->keep(index, *stamp, {out, static_cast<size_t>(made.bytes)});
  return Status::ok();
}

// What decides what is kept, beside the stamps of records.
std::string key_of(const Source& source, const TransformCut& cut, const KeptOptions& options) {
  Digest digest;
  digest.add("samples 2");  // another number when operators, or the layout, come to give other bytes
  digest.add(local_structure(source));
  for (const CutField& field : cut.fields) {
    digest.add(field.before);
    digest.add(field_type_text(field.kept));
  }
  digest.add(static_cast<uint64_t>(options.settings.limits.accept_warnings));
  digest.add(static_cast<uint64_t>(options.jpeg_quality));
  return digest.hex();
}

// Per thread a file, its directory and an event; beside them the trace, handles to wait on, and what the host opens meanwhile.
int64_t descriptors_of_job(int64_t threads) {
  constexpr int64_t kPerThread = 3, kBeside = 16;
  return kPerThread * threads + kBeside;
}

Status want_stamps(const Source& source) {
  if (const Mix* mix = source.facts().mix; mix != nullptr && mix->grouped()) {
    return error(Code::kUnsupported,
                 "option cache: not supported for a mix whose parts have their own transforms or fields");
  }
  if (!source.facts().packing.empty()) {
    return error(Code::kUnsupported,
                 "option cache: not supported for rows packed from documents: packing a row is faster than "
                 "reading a stored one");
  }
  if (source.count() == 0 || source.stamp(0)) return Status::ok();
  return error(Code::kUnsupported, "option cache: this dataset (", source.info().format,
               ") cannot detect changes of its data; use files, or a reader with files or a fingerprint");
}

}  // namespace

Result<KeptSamples> keep_samples(SourceRef source, const KeptOptions& options, const Log& log,
                                 HostMemory& memory) {
  DL_RETURN_IF_ERROR(want_stamps(*source));
  if (options.jpeg_quality > 0 && !has_jpeg_encoder())
    return error(Code::kUnsupported,
                 "option cache_quality: JPEG needs libjpeg, which this build does not have");
  DL_ASSIGN_OR_RETURN(TransformCut cut, cut_transform(source->schema().fields, options.transform,
                                                      options.settings, options.jpeg_quality > 0));
  DL_ASSIGN_OR_RETURN(std::unique_ptr<SampleStore> store,
                      SampleStore::open({.directory = options.directory,
                                         .budget_bytes = options.max_bytes,
                                         .key = key_of(*source, cut, options),
                                         .samples = source->count(),
                                         .job_descriptors = descriptors_of_job(options.threads),
                                         .log = log}));
  KeptSamples out;
  out.after = std::move(cut.after);
  out.places = std::move(cut.places);
  for (const CutField& field : cut.fields) out.before.push_back(field.before);
  DL_ASSIGN_OR_RETURN(SourceRef by_field, with_column_per_field(source));
  auto maker = std::make_shared<SampleMaker>(by_field, std::move(cut.fields),
                                             options.settings.max_bytes_per_sample, options.jpeg_quality);
  DL_RETURN_IF_ERROR(maker->add_states(1, memory));
  out.maker = maker;
  out.heavy = maker->heavy();
  out.state_bytes = maker->state_bytes();
  auto counts = std::make_shared<CacheCounts>();
  out.counts = counts;
  out.source = std::make_shared<KeptSource>(std::move(by_field), std::move(maker), std::move(store),
                                            std::move(counts));
  return out;
}

}  // namespace dataline
