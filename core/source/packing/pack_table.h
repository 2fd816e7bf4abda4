// Which parts of which documents make a row.
// Threads: immutable once built.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/source/composed/shard_index.h"
#include "core/source/packing/packing.h"
#include "core/source/sorted_table.h"

namespace dataline {

// What was packed, and how well.
struct PackFacts {
  int64_t documents = 0;  // with tokens
  int64_t tokens = 0;
  int64_t longest = 0;      // document, in tokens
  int64_t most_pieces = 0;  // of a row
};

class PackTable {
 public:
  // As pack_source(). `documents` outlives the table.
  static Result<std::unique_ptr<const PackTable>> build(const Source& documents, const PackOptions& options,
                                                        const OpenContext& context);
  virtual ~PackTable() = default;

  virtual int64_t rows() const = 0;

  // A place in the table: what next() needs to give the piece after it.
  struct Cursor {
    int64_t row = 0;
    int64_t left = 0;                          // tokens of the row that are still to come, or of its room
    int64_t document = 0, first = 0, end = 0;  // as each table uses them
  };
  virtual Cursor begin(int64_t row) const = 0;
  // The next piece of the row; count 0: there is none.
  virtual ItemRange next(Cursor& cursor) const = 0;

  const PackFacts& facts() const { return facts_; }
  uint64_t digest() const { return digest_; }  // of all lengths and of the rows

 protected:
  PackTable(const Source& documents, const PackOptions& options) : documents_(documents), options_(options) {}

  const Source& documents_;
  const PackOptions options_;
  PackFacts facts_;
  uint64_t digest_ = 0;
};

}  // namespace dataline
