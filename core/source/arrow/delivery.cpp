// SPDX-License-Identifier: Apache-2.0
#include "core/source/arrow/delivery.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/source/files.h"
#include "core/source/flat_file.h"

namespace dataline {
namespace {

Status prepare_fill(const ArrowColumn& column, const ArrowStore& store, ArrowDelivery& out) {
  // Rows of ragged fields become empty, their items are numbers.
  if (column.values.ragged() && column.values.item_nulls.empty()) return Status::ok();
  Field element = column.field;
  element.kind = FieldKind::kDense;
  DL_RETURN_IF_ERROR(check_fill(*store.fill, element));
  store_fill(*store.fill, column.field.dtype, out.fill.bytes.data());
  if (column.values.ragged()) return Status::ok();
  const int64_t bytes = column.values.unit_bytes;
  if (bytes > store.max_value_bytes) {
    return error(Code::kCorrupt, store.name, ": column ", printable(column.field.name), " has values of ",
                 bytes, " bytes, more than the data has");
  }
  DL_ASSIGN_OR_RETURN(out.fill_row,
                      store.memory.allocate(bytes, 64, MemoryKind::kTable, "the value of nulls"));
  write_fill(*store.fill, column.field, out.fill_row.data());
  return Status::ok();
}

Result<ArrowDelivery> deliver(const ArrowColumn& column, const ArrowTables& tables, const ArrowStore& store,
                              std::vector<std::string>& notes) {
  ArrowDelivery out;
  int64_t rows = 0, items = 0;
  for (const int32_t slot : column.row_nulls)
    rows += std::min(tables.nulls[static_cast<size_t>(slot)], kMaxRecordBytes);
  const bool encoded = column.dictionary >= 0;
  for (const ArrowItemNulls& nulls : column.values.item_nulls) {
    if (!encoded) items += std::min(tables.nulls[static_cast<size_t>(nulls.slot)], kMaxRecordBytes);
  }
  const bool values = encoded && tables.value_nulls;
  out.nulls = rows > 0;
  out.element_bytes = dtype_bytes(column.field.dtype);
  const bool fills = store.fill && !store.fill->mask && (items > 0 || values);
  out.copies = !store.addressable || column.values.bits || fills;
  out.plain = !encoded && !out.nulls && items == 0 && !out.copies && column.values.views < 0;
  if (rows + items == 0 && !values) return out;
  const std::string_view what = !store.fill ? ": these samples are bad (nulls=fill(0) delivers 0)"
                                : store.fill->mask
                                    ? ", delivered as 0 or empty rows, and marked in the field's mask"
                                    : ", delivered as the number of nulls=fill(), or as empty rows";
  notes.push_back(
      concat(column.field.name, ": ", rows + items, rows + items == 1 ? " null" : " nulls", what));
  if (store.fill) DL_RETURN_IF_ERROR(prepare_fill(column, store, out));
  return out;
}

}  // namespace

Result<std::vector<ArrowDelivery>> deliver_columns(const ArrowPlan& plan, const ArrowTables& tables,
                                                   const ArrowStore& store, std::vector<std::string>& notes) {
  std::vector<ArrowDelivery> out;
  for (const ArrowColumn& column : plan.columns) {
    DL_ASSIGN_OR_RETURN(ArrowDelivery delivery, deliver(column, tables, store, notes));
    out.push_back(std::move(delivery));
  }
  return out;
}

}  // namespace dataline
