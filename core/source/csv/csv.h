// Comma-separated values as a dataset: one record a sample, its cells by the names of their columns the fields.
//
// Where records end is found once, at open; a record is parsed when its sample is delivered, so a damaged one is a bad sample
// and no more.
//
// Threads: immutable after open; every function may be called from several workers at once.
// Memory: 4 bytes a record (SortedTable).
// Source: RFC 4180
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/source/csv/csv_columns.h"
#include "core/source/csv/csv_records.h"
#include "core/source/text_records.h"

namespace dataline {

struct CsvCell;

class CsvFile final : public TextRecords {
 public:
  CsvFile(MappedFile file, Schema schema, SourceInfo info, CsvRecords records, CsvPlan plan);

  Place place_of(int64_t index, size_t column) const override;
  void identify(IdentityBuilder& identity) const override;

 private:
  using Cells = std::span<ValueCell>;
  using Rooms = std::span<const ValueRoom>;

  Status read_values(int64_t index, std::string_view record, Rooms rooms, Cells cells) const override;
  Code read_number(const CsvPlan::Target& target, const CsvCell& cell, std::byte* out,
                   ValueCell& value) const;
  Status wrong_number(Code code, int64_t index, size_t column, const CsvCell& cell) const;
  Status read_text(int64_t index, size_t column, const CsvCell& cell, const ValueRoom& room,
                   ValueCell& out) const;
  template <typename... Parts>
  Status refuse(Code code, int64_t index, const Parts&... parts) const;

  const CsvPlan plan_;
};

}  // namespace dataline
