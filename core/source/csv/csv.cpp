// SPDX-License-Identifier: Apache-2.0
#include "core/source/csv/csv.h"

#include <optional>
#include <utility>

#include "core/base/text.h"
#include "core/source/csv/csv_cells.h"
#include "core/source/files.h"
#include "core/source/identity.h"

namespace dataline {

CsvFile::CsvFile(MappedFile file, Schema schema, SourceInfo info, CsvRecords records, CsvPlan plan)
    : TextRecords(std::move(file), std::move(schema), std::move(info), std::move(records.records),
                  records.longest, plan.fields),
      plan_(std::move(plan)) {}

template <typename... Parts>
Status CsvFile::refuse(Code code, int64_t index, const Parts&... parts) const {
  const Place place = place_of(index, 0);
  return error(code, place.path, ": ", place.within, ": ", parts...);
}

Status CsvFile::read_values(int64_t index, std::string_view record, Rooms rooms, Cells cells) const {
  for (size_t f = 0; f < plan_.fields.size(); ++f)
    cells[f] = {rooms[f].data, plan_.fields[f].field.bytes()};  // where numbers are put
  CsvCells reader(csv_record_text(record, plan_.delimiter), plan_.delimiter);
  size_t column = 0;
  for (CsvCell cell; reader.next(cell); ++column) {
    if (column >= plan_.targets.size()) continue;
    const CsvPlan::Target& target = plan_.targets[column];
    if (target.field < 0) continue;
    const auto f = static_cast<size_t>(target.field);
    if (target.is_text) {
      DL_RETURN_IF_ERROR(read_text(index, column, cell, rooms[f], cells[f]));
      continue;
    }
    const Code code = read_number(target, cell, rooms[f].data + target.offset, cells[f]);
    if (code != Code::kOk) return wrong_number(code, index, column, cell);
  }
  if (reader.fault() != CsvFault::kNone) {
    return refuse(Code::kCorrupt, index, "after the closing quote of cell ", column + 1, ": expected '",
                  std::string_view(&plan_.delimiter, 1), "' or the end of the record, got ",
                  printable_character(reader.rest()));
  }
  if (column == plan_.targets.size()) return Status::ok();
  return refuse(Code::kCorrupt, index, column, column == 1 ? " cell" : " cells", ", expected ",
                plan_.targets.size());
}

Code CsvFile::read_number(const CsvPlan::Target& target, const CsvCell& cell, std::byte* out,
                          ValueCell& value) const {
  const Code code = store_csv_value(target.dtype, cell.text, out);
  if (code != Code::kEmpty || !plan_.fill) return code;
  // A mask is of a whole value.
  if (plan_.fill->mask && value.bytes > dtype_bytes(target.dtype)) return code;
  value.null = true;
  store_fill(*plan_.fill, target.dtype, out);
  return Code::kOk;
}

Status CsvFile::wrong_number(Code code, int64_t index, size_t column, const CsvCell& cell) const {
  const DType dtype = plan_.targets[column].dtype;
  if (code == Code::kEmpty) {
    return refuse(Code::kCorrupt, index, "column '", plan_.names[column],
                  "': empty (nulls=fill(0) sets a value)");
  }
  const char* expected = dtype == DType::kBool      ? ", expected true or false ("
                         : !dtype_is_integer(dtype) ? ", expected a number ("
                                                    : ", expected an integer (";
  const bool range = code == Code::kOutOfRange;
  return refuse(code, index, "column '", plan_.names[column], "': ", printable(cell.text),
                range ? " is out of range of " : expected, dtype_name(dtype), range ? "" : ")");
}

Status CsvFile::read_text(int64_t index, size_t column, const CsvCell& cell, const ValueRoom& room,
                          ValueCell& out) const {
  std::string_view text = cell.text;
  if (cell.doubled) {
    const std::span<char> chars(reinterpret_cast<char*>(room.data), static_cast<size_t>(room.bytes));
    const size_t bytes = write_undoubled(text, chars);
    if (bytes > chars.size()) {
      return refuse(Code::kTooLarge, index, "column '", plan_.names[column], "': ", bytes,
                    " bytes, max_bytes_per_sample is ", chars.size());
    }
    text = {chars.data(), bytes};
  }
  if (const std::optional<size_t> bad = find_no_utf8(text)) {
    return refuse(Code::kCorrupt, index, "column '", plan_.names[column], "': byte ", *bad + 1,
                  " of the cell is not UTF-8");
  }
  out = cell_of(text);
  return Status::ok();
}

Place CsvFile::place_of(int64_t index, size_t) const {
  return {file_.path(), concat("record ", index, ", offset ", extent_of(index).offset)};
}

void CsvFile::identify(IdentityBuilder& identity) const {
  identity.add_schema(*this);
  identity.add("csv");
  identity.add(static_cast<uint64_t>(static_cast<unsigned char>(plan_.delimiter)));
  for (const CsvPlan::Target& target : plan_.targets) {
    identity.add(static_cast<uint64_t>(target.field) + 1);
    identity.add(static_cast<uint64_t>(target.offset));
  }
  add_records(plan_.fill, identity);
}

}  // namespace dataline
