// A source: index -> record. It hands out the places of stored bytes; copying and converting them into a
// batch slot is done once, by others.
//
// Threads: immutable after open; all functions may be called from several workers at once.
// Failure: a record that cannot be read fails its own row in the Run; the others go on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/digest.h"
#include "core/base/field.h"
#include "core/base/row_errors.h"
#include "core/base/status.h"
#include "core/source/place.h"

namespace dataline {

// A column is one stored piece of a record; most fields are one column. Two fields may look into the same
// column (tokens: x and y of one window).
struct Column {
  int64_t row_bytes = 0;  // -1: varies (ragged)
};

struct FieldPlace {
  int32_t column = 0;
  int64_t offset = 0;   // bytes from the start of the column's record
  bool shared = false;  // delivered as a view of the column's row, overlapping others, unless transformed
};

struct Schema {
  std::vector<Field> fields;
  std::vector<FieldPlace> places;  // one a field
  std::vector<Column> columns;
};

// Up to kMaxRunRecords records of one batch, claimed by one worker. The loader owns it and reuses it.
constexpr int64_t kMaxRunRecords = 256;
using RowSet = std::bitset<kMaxRunRecords>;  // rows of a run

struct Run {
  // In.
  int64_t count = 0;
  const int64_t* indices = nullptr;  // [count], each in [0, Source::count())
  bool contiguous = false;           // indices are first, first + 1, ...
  bool cold = false;                 // storage is slow now: populate() before handing out mapped pointers
  int64_t opened_ns = 0;  // monotonic: a file that was found whole since then is not looked at again
  int64_t max_bytes_per_sample = 0;  // what scratch_bytes() was asked with
  std::byte* scratch = nullptr;  // [count * Source::scratch_bytes()], 64-byte aligned, zeroed once at create
  // Out.
  struct ColumnRows {
    const std::byte** data = nullptr;  // [count]; null where the row failed
    int64_t* bytes = nullptr;          // [count], never null; filled for ragged columns only
    bool contiguous = false;           // data[i + 1] == data[i] + row_bytes for all i, and no row failed
  };
  ColumnRows* columns = nullptr;  // one a column of the schema
  RowErrors* errors = nullptr;

  void fail(int64_t row, int64_t column_count, Status status) {
    for (int64_t c = 0; c < column_count; ++c) {
      columns[c].data[row] = nullptr;
      columns[c].contiguous = false;
    }
    errors->fail(row, std::move(status));
  }
};

// When a batch read its records, monotonic: everything was located after `opened_ns` and copied by `copied_ns`.
struct ReadSpan {
  int64_t opened_ns = 0, copied_ns = 0;
};

struct SourceInfo {
  std::string format;              // "idx", "npy", ..., "zip", "concat", "arrays", "reader"
  std::string uri;                 // as given; empty for sources not opened by URI
  std::vector<std::string> notes;  // what a user should know: "dtype u16 assumed", "Fortran order: slower"
};

class Source {
 public:
  virtual ~Source() = default;

  virtual int64_t count() const = 0;  // records
  virtual const Schema& schema() const = 0;
  virtual SourceInfo info() const = 0;

  // Fills run.columns. Bytes stay valid until the next locate() with the same scratch, or (mapped and memory
  // sources) as long as the source.
  virtual void locate(Run& run) const = 0;
  // Files may be cut or written while their bytes are copied, and what a page has lost then reads as zeros. So the loader
  // asks once all rows of a batch are copied whether every file they came from is still what it was at open. True where
  // nothing can change; false also where it is cheaper to ask for each record.
  virtual bool unchanged(const ReadSpan& span) const { return static_cast<void>(span), true; }
  // Fails those of run.indices whose bytes may not have been the file's; only count, indices and errors of the run are
  // used. For any number of records; called after unchanged() was false.
  virtual void confirm(Run& run, const ReadSpan& span) const {
    static_cast<void>(run), static_cast<void>(span);
  }

  // Scratch bytes a record needs in locate(): 0 when pointers go straight into mapped files.
  // `max_bytes_per_sample` bounds each ragged field.
  virtual int64_t scratch_bytes(int64_t max_bytes_per_sample) const {
    return static_cast<void>(max_bytes_per_sample), 0;
  }

  // Look-ahead: these records will be wanted soon. A hint; never fails, never blocks for long.
  virtual void advise(std::span<const int64_t> indices) const { static_cast<void>(indices); }
  // Whether this record's bytes are in memory now; true where the source cannot tell.
  virtual bool resident(int64_t index) const { return static_cast<void>(index), true; }

  // Where the stored piece `column` of a record lies. Called only about samples that are bad.
  virtual Place place_of(int64_t index, size_t column) const = 0;

  // Names of the classes that labels number, from 0; null where there are none. Of composed sources: of the first part
  // that has some.
  virtual const std::vector<std::string>* classes() const { return nullptr; }

  // What identifies the data in a saved state: record count, fields, file sizes; never paths.
  virtual void fingerprint(Digest& digest) const = 0;
  // True when records come from the host's callbacks, which may block for ever.
  virtual bool calls_host() const { return false; }
};

using SourceRef = std::shared_ptr<const Source>;

// Count, fields, dtypes and shapes; every fingerprint() starts with it.
void fingerprint_schema(const Source& source, Digest& digest);

}  // namespace dataline
