// Where the values of a decoded column lie, and which are null.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <utility>

#include "columns.h"
#include "types.h"

namespace dataline_parquet {
namespace {

using arrow::Type;

Failure no_room(const arrow::Status& status) { return failure(DL_ERR_TOO_LARGE, status.message()); }

// Zeroed bytes.
Failure new_bytes(int64_t count, arrow::MemoryPool* pool, std::shared_ptr<arrow::Buffer>* out) {
  auto made = arrow::AllocateBuffer(count, pool);
  if (!made.ok()) return no_room(made.status());
  std::memset((*made)->mutable_data(), 0, static_cast<size_t>(count));
  *out = std::move(*made);
  return {};
}

}  // namespace

Failure Values::make(const PlannedColumn& column, const ArrayRef& given, const uint8_t* structs_valid,
                     arrow::MemoryPool* pool) {
  array_ = stored(given);
  rows_ = array_->length();
  if (structs_valid != nullptr || array_->null_count() > 0) {
    if (Failure failed = new_bytes(rows_, pool, &null_buffer_)) return failed;
    uint8_t* nulls = null_buffer_->mutable_data();
    for (int64_t i = 0; i < rows_; ++i)
      nulls[i] = array_->IsNull(i) || (structs_valid != nullptr && structs_valid[i] == 0) ? 1 : 0;
    null_rows_ = nulls;
  }
  if (column.is_mask) return make_mask(pool);
  if (array_->type_id() == Type::DICTIONARY) {
    indices_ = std::static_pointer_cast<arrow::DictionaryArray>(array_);
    dictionary_ = std::make_shared<Values>();
    if (column.fills && !column.field.ragged && null_rows_ != nullptr) {
      for (int64_t byte = 0; byte < column.field.unit_bytes; byte += column.field.element_bytes)
        filled_row_.insert(filled_row_.end(), column.fill.begin(), column.fill.end());
    }
    return dictionary_->make(column, indices_->dictionary(), nullptr, pool);
  }
  if (column.field.ragged) return make_ragged(column, array_, pool);
  if (Failure failed = make_dense(column, array_, rows_, pool)) return failed;
  if (null_rows_ == nullptr || !column.fills) return {};
  if (Failure failed = own_data(column, pool)) return failed;
  for (int64_t row = 0; row < rows_; ++row) {
    uint8_t* const at = own_ + row * column.field.unit_bytes;
    for (int64_t byte = 0; null_rows_[row] != 0 && byte < column.field.unit_bytes;
         byte += column.field.element_bytes)
      std::memcpy(at + byte, column.fill.data(), column.fill.size());
    // What lies in a null list is null too.
    if (null_rows_[row] != 0 && null_items_ != nullptr) null_items_[row] = 0;
  }
  null_rows_ = nullptr;
  return {};
}

Failure Values::make_mask(arrow::MemoryPool* pool) {
  if (Failure failed = new_bytes(rows_, pool, &data_buffer_)) return failed;
  uint8_t* const valid = data_buffer_->mutable_data();
  for (int64_t row = 0; row < rows_; ++row)
    valid[row] = null_rows_ == nullptr || null_rows_[row] == 0 ? 1 : 0;
  if (array_->type_id() == Type::DICTIONARY) {
    const auto& encoded = static_cast<const arrow::DictionaryArray&>(*array_);
    for (int64_t row = 0; encoded.dictionary()->null_count() > 0 && row < rows_; ++row)
      if (valid[row] != 0 && encoded.dictionary()->IsNull(encoded.GetValueIndex(row))) valid[row] = 0;
  }
  data_ = valid;
  units_ = rows_;
  null_rows_ = nullptr;
  return {};
}

Failure Values::make_ragged(const PlannedColumn& column, const ArrayRef& array, arrow::MemoryPool* pool) {
  switch (array->type_id()) {
    case Type::STRING:
    case Type::BINARY: {
      const auto& text = static_cast<const arrow::BinaryArray&>(*array);
      offsets32_ = text.raw_value_offsets();
      data_ = text.raw_data();
      units_ = text.value_data() == nullptr ? 0 : text.value_data()->size();
      return {};
    }
    case Type::LARGE_STRING:
    case Type::LARGE_BINARY: {
      const auto& text = static_cast<const arrow::LargeBinaryArray&>(*array);
      offsets64_ = text.raw_value_offsets();
      data_ = text.raw_data();
      units_ = text.value_data() == nullptr ? 0 : text.value_data()->size();
      return {};
    }
    case Type::LIST: {
      const auto& list = static_cast<const arrow::ListArray&>(*array);
      offsets32_ = list.raw_value_offsets();
      return make_dense(column, list.values(), list.values()->length(), pool);
    }
    case Type::LARGE_LIST: {
      const auto& list = static_cast<const arrow::LargeListArray&>(*array);
      offsets64_ = list.raw_value_offsets();
      return make_dense(column, list.values(), list.values()->length(), pool);
    }
    default:
      return failure(DL_ERR_CORRUPT, "the column was decoded as ", array->type()->ToString());
  }
}

Failure Values::make_dense(const PlannedColumn& column, const ArrayRef& given, int64_t units,
                           arrow::MemoryPool* pool) {
  units_ = units;
  ArrayRef level = stored(given);
  int64_t per_unit = 1, level_bytes = column.field.unit_bytes;
  std::vector<std::pair<ArrayRef, int64_t>> inner;  // levels whose nulls are those of items
  if (column.field.ragged) inner.emplace_back(level, per_unit);
  while (level->type_id() == Type::FIXED_SIZE_LIST) {
    const auto& list = static_cast<const arrow::FixedSizeListArray&>(*level);
    const int64_t size = list.list_type()->list_size();
    if (list.value_offset(0) + list.length() * size > list.values()->length())
      return failure(DL_ERR_CORRUPT, "a fixed-size list has fewer items than it states");
    level = stored(list.values()->Slice(list.value_offset(0), list.length() * size));
    per_unit *= size;
    inner.emplace_back(level, per_unit);
  }
  const auto& data = *level->data();
  const Element element = element_of(*level->type());
  if (element.dtype != column.field.dtype)
    return failure(DL_ERR_CORRUPT, "the column was decoded as ", level->type()->ToString());
  if (level->type_id() == Type::BOOL) {
    if (Failure failed = new_bytes(level->length(), pool, &data_buffer_)) return failed;
    own_ = data_buffer_->mutable_data();
    const auto& bits = static_cast<const arrow::BooleanArray&>(*level);
    for (int64_t i = 0; i < level->length(); ++i) own_[i] = bits.Value(i) ? 1 : 0;
    data_ = own_;
  } else if (data.buffers[1] != nullptr) {
    const int64_t width = per_unit == 0 ? 0 : level_bytes / per_unit;
    data_ = data.buffers[1]->data() + data.offset * width;
    if (data.buffers[1]->size() < (data.offset + level->length()) * width)
      return failure(DL_ERR_CORRUPT, "the column has fewer values than it states");
  }
  for (const auto& [items, count] : inner) {
    if (Failure failed = mark_items(column, *items, count, level_bytes / count, pool)) return failed;
  }
  if (null_items_ != nullptr && column.fills_items) null_items_ = nullptr;  // all are filled
  return {};
}

Failure Values::mark_items(const PlannedColumn& column, const arrow::Array& level, int64_t per_unit,
                           int64_t level_bytes, arrow::MemoryPool* pool) {
  if (level.null_count() == 0) return {};
  if (null_items_ == nullptr) {
    if (Failure failed = new_bytes(units_, pool, &item_buffer_)) return failed;
    null_items_ = item_buffer_->mutable_data();
  }
  if (column.fills_items) {
    if (Failure failed = own_data(column, pool)) return failed;
  }
  for (int64_t i = 0; i < level.length(); ++i) {
    if (!level.IsNull(i)) continue;
    null_items_[i / per_unit] = 1;
    for (int64_t byte = 0; column.fills_items && byte < level_bytes; byte += column.field.element_bytes)
      std::memcpy(own_ + i * level_bytes + byte, column.fill.data(), column.fill.size());
  }
  return {};
}

// Makes the data a copy that may be written.
Failure Values::own_data(const PlannedColumn& column, arrow::MemoryPool* pool) {
  if (own_ != nullptr) return {};
  const int64_t bytes = units_ * column.field.unit_bytes;
  std::shared_ptr<arrow::Buffer> copy;
  if (Failure failed = new_bytes(bytes, pool, &copy)) return failed;
  own_ = copy->mutable_data();
  if (data_ != nullptr && bytes > 0) std::memcpy(own_, data_, static_cast<size_t>(bytes));
  data_ = own_;
  data_buffer_ = std::move(copy);
  return {};
}

const uint8_t* Values::plain(const PlannedColumn& column) const {
  const bool simple =
      !column.field.ragged && null_rows_ == nullptr && null_items_ == nullptr && indices_ == nullptr;
  return simple ? data_ : nullptr;
}

Failure Values::find(const PlannedColumn& column, int64_t row, const uint8_t** data, int64_t* bytes) const {
  if (row < 0 || row >= rows_) return failure(DL_ERR_CORRUPT, "the column has ", rows_, " rows");
  if (null_rows_ != nullptr && null_rows_[row] != 0) {
    if (!column.fills) return failure(DL_ERR_CORRUPT, kNullRow);
    *data = filled_row_.data();  // ragged: no bytes; dense ones without indices were filled in place
    *bytes = static_cast<int64_t>(filled_row_.size());
    return {};
  }
  if (indices_ != nullptr) return dictionary_->find(column, indices_->GetValueIndex(row), data, bytes);
  int64_t first = row, count = 1;
  if (column.field.ragged) {
    first = offsets32_ != nullptr ? offsets32_[row] : offsets64_[row];
    const int64_t end = offsets32_ != nullptr ? offsets32_[row + 1] : offsets64_[row + 1];
    if (first < 0 || end < first || end > units_)
      return failure(DL_ERR_CORRUPT, "its items are ", first, " to ", end, " of ", units_);
    count = end - first;
  }
  if (null_items_ != nullptr && count > 0) {
    const void* const null = std::memchr(null_items_ + first, 1, static_cast<size_t>(count));
    if (null != nullptr) {
      const auto item = static_cast<const uint8_t*>(null) - null_items_ - first;
      return failure(DL_ERR_CORRUPT, column.field.ragged ? concat("its value ", item) : "one of its values",
                     " is null (nulls=fill(0) delivers 0 instead)");
    }
  }
  *data = data_ == nullptr ? nullptr : data_ + first * column.field.unit_bytes;
  *bytes = count * column.field.unit_bytes;
  return {};
}

}  // namespace dataline_parquet
