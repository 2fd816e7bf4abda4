// A source maps a sample's index to its record. It finds where the stored bytes lie; the loader copies and converts
// them into a batch, once.
//
// Threads: immutable after open; all functions may be called from several workers at once.
// Failure: a record that cannot be read fails its own row of the Run; the other rows are not affected.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/cancel.h"
#include "core/base/field.h"
#include "core/base/status.h"

namespace dataline {

// A column is one stored piece of a record. Most fields are one column each; two fields may share a column (x and y of
// a window of tokens).
struct Column {
  int64_t row_bytes = 0;  // -1: varies (ragged)
};

struct FieldPlace {
  int32_t column = 0;
  int64_t offset = 0;   // bytes from the start of the column's row
  bool shared = false;  // delivered as a view of the column, overlapping other fields, unless transformed
};

struct Schema {
  std::vector<Field> fields;
  std::vector<FieldPlace> places;  // one per field
  std::vector<Column> columns;
};

// One column per field, each at offset 0.
Schema column_per_field(std::vector<Field> fields);

// A run is up to kMaxRunRecords records of one batch, claimed by one worker. The loader owns it and reuses it.
constexpr int64_t kMaxRunRecords = 256;
using RowSet = std::bitset<kMaxRunRecords>;  // rows of a run

struct HostCall;  // core/source/host/host.h

struct Run {
  // In.
  int64_t count = 0;
  const int64_t* indices = nullptr;  // [count], each in [0, Source::count())
  bool contiguous = false;           // indices are first, first + 1, ...
  bool cold = false;      // storage is slow now: call populate() before handing out mapped pointers
  int64_t opened_ns = 0;  // monotonic: a file that was found complete since then is not checked again
  int64_t max_bytes_per_sample = 0;  // the argument of scratch_bytes()
  // > 0: of ragged columns no more than so many first bytes are wanted. A source that would copy more may give exactly so many.
  int64_t head_bytes = 0;
  std::byte* scratch = nullptr;  // [count * Source::scratch_bytes()], 64-byte aligned, zeroed once at create
  // For sources that call the host (SourceFacts::host_calls); others are not given them.
  const int64_t* slots = nullptr;  // [count]: the rows' places in the epoch's order; null: they have none
  const HostCall* call = nullptr;
  const CancelFlag* cancelled = nullptr;  // of the loader; null: read for none
  // Out.
  struct ColumnRows {
    const std::byte** data = nullptr;  // [count]; null where the row failed
    int64_t* bytes = nullptr;          // [count], never null; filled for ragged columns only
    bool contiguous = false;           // data[i + 1] == data[i] + row_bytes for all i, and no row failed
  };
  ColumnRows* columns = nullptr;  // one per column of the schema
  // [columns * count], 1: a source that puts a value in place of a null makes it 0. Null: nobody asks (null_masks.h).
  std::byte* valid = nullptr;
  void mark_null(size_t column, int64_t row) const {
    if (valid != nullptr) valid[static_cast<int64_t>(column) * count + row] = std::byte{0};
  }
  RowErrors* errors = nullptr;

  // The status gets the sample of the row.
  void fail(int64_t row, size_t column_count, Status status) {
    for (size_t c = 0; c < column_count; ++c) {
      columns[c].data[row] = nullptr;
      columns[c].contiguous = false;
    }
    errors->fail(row, std::move(status).with_sample(indices[row]));
  }
};

// When a batch read its records, monotonic: all were located after `opened_ns` and copied by `copied_ns`.
struct ReadSpan {
  int64_t opened_ns = 0, copied_ns = 0;
};

struct SourceInfo {
  std::string format;              // "idx", "npy", ..., "zip", "concat", "arrays", "reader"
  std::string uri;                 // as given; empty for sources that were not opened by URI
  std::vector<std::string> notes;  // for the user: "dtype u16 assumed", "Fortran order: slower"
};

// Notes on what a dataset lacks: a file that was left out of it, and one whose bytes are not what was written. No limit on how many notes
// are kept applies to them.
constexpr std::string_view kLeftOut = "left out: ", kDamaged = "damaged: ";
inline bool is_loss(std::string_view note) {
  return note.starts_with(kLeftOut) || note.starts_with(kDamaged);
}
// The code of a file in which no record was found: kEmpty, or kCorrupt where some were lost.
inline Code without_records(const std::vector<std::string>& notes) {
  return std::any_of(notes.begin(), notes.end(), is_loss) ? Code::kCorrupt : Code::kEmpty;
}

// Where a record is stored, for messages about a bad sample.
struct Place {
  std::string path;  // of the file; empty where there is none
  std::string
      within;  // "record 7, offset 1024", "member n01/7.jpg, offset 512", "array row 7"; empty: the whole file
};

using BlockEnds = std::pmr::vector<int64_t>;
constexpr int64_t kWholeFiles = std::numeric_limits<int64_t>::max();
constexpr int64_t kAnyBlocks = std::numeric_limits<int64_t>::max();
constexpr int64_t kRaggedBlockBytes = int64_t{64} << 10;

// Items [first, first + count) of the ragged field of a record.
struct ItemRange {
  int64_t index = 0, first = 0, count = 0;
};
class Mix;              // core/source/composed/mix.h
class IdentityBuilder;  // core/source/identity.h

// Whether locate() calls callbacks of the host, in rising order: a composed source has the last value of its parts.
enum class HostCalls : int32_t {
  kNone,
  kPrompt,  // the host has stated that they do not block: a consumer that waits for a batch may make the calls too
  kMayBlock,  // they may block indefinitely
};

// Facts that do not change while the source lives. A wrapper copies the facts of the source that it wraps and changes only its
// own, so it passes on all others.
struct SourceFacts {
  // The names of the classes that labels number from 0; null where there are none. A composed source has those of the
  // first part that has any.
  const std::vector<std::string>* classes = nullptr;
  // What a mix of datasets is made of; null for all others, also for those that have a mix as a part: to them it is a
  // dataset whose parts follow one another.
  const Mix* mix = nullptr;
  // How documents became rows, for a saved state: the options and a digest of the table; empty: they did not.
  std::string_view packing = {};
  HostCalls host_calls = HostCalls::kNone;
  // Whether advise_block() is called for each block, because opening one costs more than reading its pages; else only for
  // those not cached().
  bool opens_blocks = false;
  // How many blocks can be open at once; what one more costs is that some are opened again and again.
  int64_t held_blocks = kAnyBlocks;
};

// No function has a default, so a wrapper that forgets one does not compile. A source that reads records itself derives from
// LeafSource. A wrapper that has the records of one source, under the same indices, derives from ForwardSource. A wrapper that
// numbers or makes records anew derives from Source. Functions "implemented here" are called by name, as in
// Source::advise_block().
class Source {
 public:
  virtual ~Source() = default;

  virtual int64_t count() const = 0;  // records
  virtual const Schema& schema() const = 0;
  virtual SourceInfo info() const = 0;
  virtual const SourceFacts& facts() const = 0;

  // Fills run.columns. The bytes stay valid until the next locate() with the same scratch; those of mapped files and of
  // memory, as long as the source; what a reader lends, until HostCall::loans go back.
  virtual void locate(Run& run) const = 0;
  // Files may be truncated or written to while their bytes are copied, and pages that are gone read as zeros. So after
  // copying all rows of a batch, the loader asks whether every file involved is still what it was at open. True where
  // nothing can change; false also where checking record by record is cheaper.
  virtual bool unchanged(const ReadSpan& span) const = 0;
  // Called when unchanged() returned false, for any number of records: fails those of run.indices whose bytes may not
  // be the file's. Uses only count, indices and errors of the run.
  virtual void confirm(Run& run, const ReadSpan& span) const = 0;

  // Scratch bytes per record that locate() needs; 0 when pointers go straight into mapped files.
  // `max_bytes_per_sample` limits each ragged field.
  virtual int64_t scratch_bytes(int64_t max_bytes_per_sample) const = 0;

  // Read-ahead: these records will be needed soon. A hint; never fails, never blocks for long.
  virtual void advise(std::span<const int64_t> indices) const = 0;
  // The same for records [first, first + count), which lie side by side (append_blocks): one long read.
  // Implemented here: advise() in pieces.
  virtual void advise_block(int64_t first, int64_t count) const = 0;
  // Whether the record's pages are in memory now; true where the source cannot tell.
  virtual bool cached(int64_t index) const = 0;

  // shuffle=window: cuts the records into blocks, runs of neighbours in one file of at most block_bytes, at least one record
  // each, and appends the record after each block, counted from the last of `ends`. kWholeFiles: only where files end. For
  // the same data the cut is the same in every release: saved states depend on it.
  // Implemented here: cuts evenly by stored_bytes().
  virtual void append_blocks(int64_t block_bytes, BlockEnds& ends) const = 0;
  // What a record takes where it is stored, on average, at least 1. Implemented here: its columns, where a ragged one counts
  // as kRaggedBlockBytes.
  virtual int64_t stored_bytes() const = 0;

  // Items of a ragged field of a record, without reading it; -1: not known.
  virtual int64_t record_items(int64_t index) const = 0;
  // Where a part of a record lies: for sources that know record_items() of their only field. The caller has checked the
  // range. Of the run only what says how to read is used (cold, opened_ns, cancelled). `room`, for the items of the range,
  // is used where they do not lie in memory. Implemented here: kUnsupported, for all other sources.
  virtual Result<const std::byte*> locate_items(const Run& run, const ItemRange& range,
                                                std::byte* room) const = 0;
  // advise() for a part of a record.
  virtual void advise_items(const ItemRange& range) const = 0;

  // Where column `column` of a record is stored. Called only for bad samples: it may read a header, and allocates.
  virtual Place place_of(int64_t index, size_t column) const = 0;

  // Describes the data to whoever compares it with other data later.
  virtual void identify(IdentityBuilder& identity) const = 0;
  // The LocalIdentity of the files that hold the record, as one number; no file is opened. nullopt: there is none, as of memory
  // and of most readers. What was made of the record may be reused while this and local_structure() stay the same
  // (core/loader/cache/).
  virtual std::optional<uint64_t> stamp(int64_t index) const = 0;
};

using SourceRef = std::shared_ptr<const Source>;

// For stored_bytes(): at least 1, and far from overflow whatever sizes a file claims.
inline int64_t mean_bytes(double bytes, int64_t records) {
  constexpr double kMost = 0x1p46;
  return static_cast<int64_t>(
      std::clamp(bytes / static_cast<double>(std::max<int64_t>(records, 1)), 1.0, kMost));
}

// Cuts records of equal size evenly; `record_bytes` > 0.
void cut_evenly(int64_t records, int64_t record_bytes, int64_t block_bytes, BlockEnds& ends);

// Cuts records of sizes that differ: add() each record's bytes in turn, then finish().
class BlockCutter {
 public:
  BlockCutter(int64_t block_bytes, BlockEnds& ends)
      : block_bytes_(block_bytes), ends_(&ends), end_(ends.empty() ? 0 : ends.back()) {}
  void add(int64_t record_bytes) {
    if (records_ > 0 && record_bytes > block_bytes_ - bytes_) finish();
    // No overflow: at most block_bytes_, or one record.
    bytes_ += record_bytes;
    ++records_;
  }
  void finish() {
    if (records_ == 0) return;
    end_ += records_;
    ends_->push_back(end_);
    bytes_ = records_ = 0;
  }

 private:
  int64_t block_bytes_;
  BlockEnds* ends_;
  int64_t end_, bytes_ = 0, records_ = 0;
};

// The limit of a place in a message: the cause must fit beside it in dl_bad_sample.
constexpr size_t kMaxPlaceBytes = 176;

// The end of a text that is too long, after "...": of a path, the file name. Never splits a UTF-8 character.
std::string tail_of(std::string_view text, size_t max_bytes);

// "PATH: WITHIN" in at most kMaxPlaceBytes; a long path loses its beginning.
std::string place_text(const Place& place);

// Errors of locate() already name their file: shortens paths that are too long for a message.
void shorten_places(const Source& source, const Run& run);
// Puts the place of the record before the errors, from number `first` on, of a program that ran over a column.
void name_places(const Source& source, const Run& run, size_t column, size_t first);

}  // namespace dataline
