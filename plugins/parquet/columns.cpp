// Over 300 lines: the rules for types are one table, read by the plan and by the values.
// SPDX-License-Identifier: Apache-2.0
#include "columns.h"

#include <arrow/extension/fixed_shape_tensor.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <utility>

namespace dataline_parquet {
namespace {

using arrow::Type;
using TypeRef = std::shared_ptr<arrow::DataType>;
using ArrayRef = std::shared_ptr<arrow::Array>;

constexpr size_t kMaxNameBytes = 255;
constexpr size_t kMaxNamesShown = 16;
constexpr int64_t kMaxRecordBytes = int64_t{1} << 40;

struct Element {
  int32_t dtype = 0;
  int64_t bytes = 0;
};

// What values of a type are delivered as; dtype 0 for types that are no element.
Element element_of(const arrow::DataType& type) {
  switch (type.id()) {
    case Type::BOOL:
      return {DL_DTYPE_BOOL, 1};
    case Type::UINT8:
    case Type::FIXED_SIZE_BINARY:
      return {DL_DTYPE_U8, 1};
    case Type::INT8:
      return {DL_DTYPE_I8, 1};
    case Type::UINT16:
      return {DL_DTYPE_U16, 2};
    case Type::INT16:
      return {DL_DTYPE_I16, 2};
    case Type::HALF_FLOAT:
      return {DL_DTYPE_F16, 2};
    case Type::UINT32:
      return {DL_DTYPE_U32, 4};
    case Type::INT32:
    case Type::DATE32:
    case Type::TIME32:
      return {DL_DTYPE_I32, 4};
    case Type::FLOAT:
      return {DL_DTYPE_F32, 4};
    case Type::UINT64:
      return {DL_DTYPE_U64, 8};
    case Type::INT64:
    case Type::DATE64:
    case Type::TIME64:
    case Type::TIMESTAMP:
    case Type::DURATION:
      return {DL_DTYPE_I64, 8};
    case Type::DOUBLE:
      return {DL_DTYPE_F64, 8};
    default:
      return {};
  }
}

// Extension types are what they are stored as.
TypeRef stored(const TypeRef& type) {
  if (type->id() != Type::EXTENSION) return type;
  return stored(static_cast<const arrow::ExtensionType&>(*type).storage_type());
}

ArrayRef stored(const ArrayRef& array) {
  if (array->type_id() != Type::EXTENSION) return array;
  return stored(static_cast<const arrow::ExtensionArray&>(*array).storage());
}

bool is_text(Type::type id) {
  return id == Type::STRING || id == Type::BINARY || id == Type::LARGE_STRING || id == Type::LARGE_BINARY;
}

bool is_a_list(Type::type id) { return id == Type::LIST || id == Type::LARGE_LIST; }

bool is_dense(const TypeRef& type) {
  const TypeRef inner = stored(type);
  if (inner->id() == Type::FIXED_SIZE_LIST) return is_dense(inner->field(0)->type());
  return element_of(*inner).dtype != 0;
}

bool is_read(const TypeRef& given) {
  TypeRef type = stored(given);
  if (type->id() == Type::DICTIONARY)
    type = stored(static_cast<const arrow::DictionaryType&>(*type).value_type());
  return is_text(type->id()) || is_dense(type) || (is_a_list(type->id()) && is_dense(type->field(0)->type()));
}

std::string some_names(const std::vector<std::string>& names, const char* between) {
  std::string out;
  for (size_t i = 0; i < names.size() && i < kMaxNamesShown; ++i) out += (i == 0 ? "" : between) + names[i];
  return names.size() > kMaxNamesShown ? out + between + "..." : out;
}

template <typename T>
bool store_whole(int64_t value, std::vector<uint8_t>& out) {
  const auto stored_value = static_cast<T>(value);
  if (static_cast<int64_t>(stored_value) != value || (value < 0) != (stored_value < T{0})) return false;
  out.resize(sizeof stored_value);
  std::memcpy(out.data(), &stored_value, sizeof stored_value);
  return true;
}

template <typename T>
bool store_real(double value, std::vector<uint8_t>& out) {
  const auto stored_value = static_cast<T>(value);
  if (!std::isfinite(stored_value)) return false;
  out.resize(sizeof stored_value);
  std::memcpy(out.data(), &stored_value, sizeof stored_value);
  return true;
}

// To nearest even, as all of the library's conversions to f16.
bool store_half(double value, std::vector<uint8_t>& out) {
  const double size = std::fabs(value);
  if (!(size < 65520.0)) return false;
  int exponent = 0;
  if (size > 0) exponent = std::max(std::ilogb(size), -14);
  if (size == 0 || exponent < -14) exponent = -14;
  const auto units =
      static_cast<uint32_t>(std::nearbyint(std::ldexp(size, 10 - exponent)));  // 1 is 2^(exponent - 10)
  uint32_t bits = units;  // subnormal: as it is; its carry into the exponent is right too
  if (units >= 1024) bits = static_cast<uint32_t>(exponent + 15) * 1024 + (units - 1024);
  if (std::signbit(value)) bits |= 0x8000;
  const auto half = static_cast<uint16_t>(bits);
  out.resize(2);
  std::memcpy(out.data(), &half, 2);
  return true;
}

bool store_fill(const Fill& fill, int32_t dtype, std::vector<uint8_t>& out) {
  if (dtype == DL_DTYPE_F16) return store_half(fill.number, out);
  if (dtype == DL_DTYPE_F32) return store_real<float>(fill.number, out);
  if (dtype == DL_DTYPE_F64) return store_real<double>(fill.number, out);
  if (!fill.whole) return false;
  const int64_t whole = *fill.whole;
  switch (dtype) {
    case DL_DTYPE_BOOL:
      return (whole == 0 || whole == 1) && store_whole<uint8_t>(whole, out);
    case DL_DTYPE_U8:
      return store_whole<uint8_t>(whole, out);
    case DL_DTYPE_U16:
      return store_whole<uint16_t>(whole, out);
    case DL_DTYPE_U32:
      return store_whole<uint32_t>(whole, out);
    case DL_DTYPE_U64:
      return store_whole<uint64_t>(whole, out);
    case DL_DTYPE_I8:
      return store_whole<int8_t>(whole, out);
    case DL_DTYPE_I16:
      return store_whole<int16_t>(whole, out);
    case DL_DTYPE_I32:
      return store_whole<int32_t>(whole, out);
    default:
      return store_whole<int64_t>(whole, out);
  }
}

// As Unicode has it: no surrogates, nothing longer than needed, at most U+10FFFF.
bool is_utf8(const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const auto first = static_cast<uint8_t>(text[at]);
    const size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if ((first >= 0x80 && first < 0xc2) || first > 0xf4 || length > text.size() - at) return false;
    for (size_t i = 1; i < length; ++i)
      if ((static_cast<uint8_t>(text[at + i]) & 0xc0) != 0x80) return false;
    const uint8_t second = length > 1 ? static_cast<uint8_t>(text[at + 1]) : 0x80;
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
        (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f))
      return false;
    at += length;
  }
  return true;
}

struct Leaf {
  std::string name;
  TypeRef type;
  std::vector<int> path;
  std::vector<int> parquet;  // its columns in the file: one, but for what is not read
};

class Planner {
 public:
  Planner(const std::string& path, const FileOptions& options, Plan& plan)
      : path_(path), options_(options), plan_(plan) {}

  Failure plan(const std::vector<parquet::arrow::SchemaField>& fields) {
    for (size_t i = 0; i < fields.size(); ++i)
      find_leaves(fields[i], fields[i].field->name(), {static_cast<int>(i)});
    std::vector<const Leaf*> chosen;
    if (Failure failed = choose(chosen)) return failed;
    for (const Leaf* leaf : chosen)
      if (Failure failed = add(*leaf)) return failed;
    number_paths();
    for (size_t i = 0; i < chosen.size(); ++i) add_to_top(*chosen[i], i, fields);
    return {};
  }

 private:
  void find_leaves(const parquet::arrow::SchemaField& field, const std::string& name,
                   const std::vector<int>& path) {
    if (field.field->type()->id() != Type::STRUCT) {
      Leaf leaf{name, field.field->type(), path, {}};
      collect(field, leaf.parquet);
      leaves_.push_back(std::move(leaf));
      return;
    }
    for (size_t i = 0; i < field.children.size(); ++i) {
      std::vector<int> below = path;
      below.push_back(static_cast<int>(i));
      find_leaves(field.children[i], name + "/" + field.children[i].field->name(), below);
    }
  }

  static void collect(const parquet::arrow::SchemaField& field, std::vector<int>& out) {
    if (field.is_leaf()) out.push_back(field.column_index);
    for (const auto& child : field.children) collect(child, out);
  }

  Failure choose(std::vector<const Leaf*>& out) const {
    if (options_.fields.empty())
      for (const Leaf& leaf : leaves_) out.push_back(&leaf);
    for (const std::string& name : options_.fields) {
      const size_t before = out.size();
      for (const Leaf& leaf : leaves_)
        if (leaf.name == name || leaf.name.rfind(name + "/", 0) == 0) out.push_back(&leaf);
      if (out.size() == before) {
        std::vector<std::string> names;
        for (const Leaf& leaf : leaves_) names.push_back(printable(leaf.name));
        return failure(DL_ERR_NO_SUCH_FIELD, path_, ": no column ", printable(name), "; it has ",
                       names.empty() ? "none" : some_names(names, ", "));
      }
    }
    if (out.empty()) return failure(DL_ERR_UNSUPPORTED, path_, ": a table without columns");
    if (Failure failed = check_readable(out)) return failed;
    return check_names(out);
  }

  Failure check_readable(const std::vector<const Leaf*>& chosen) const {
    for (const Leaf* leaf : chosen) {
      if (is_read(leaf->type)) continue;
      std::vector<std::string> others;
      for (const Leaf& other : leaves_)
        if (is_read(other.type)) others.push_back(other.name);
      return failure(DL_ERR_UNSUPPORTED, path_, ": column ", printable(leaf->name), " is ",
                     leaf->type->ToString(), ", which is not read",
                     others.empty() ? "" : "; fields=" + some_names(others, ",") + " leaves it out");
    }
    return {};
  }

  Failure check_names(const std::vector<const Leaf*>& chosen) const {
    std::set<std::string> seen;
    for (const Leaf* leaf : chosen) {
      const std::string& name = leaf->name;
      const bool text = std::all_of(name.begin(), name.end(), [](char c) {
        return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
      });
      if (!text || !is_utf8(name) || name.empty() || name.size() > kMaxNameBytes) {
        return failure(DL_ERR_UNSUPPORTED, path_, ": a column is called ", printable(name),
                       ", which cannot name a field (1 to ", kMaxNameBytes,
                       " bytes of UTF-8, no control characters)");
      }
      if (seen.insert(name).second) continue;
      const auto same = std::count_if(leaves_.begin(), leaves_.end(),
                                      [&](const Leaf& other) { return other.name == name; });
      if (same == 1) return failure(DL_ERR_BAD_URI, path_, ": fields=: ", printable(name), " is named twice");
      return failure(DL_ERR_UNSUPPORTED, path_, ": ", same, " columns are called ", printable(name),
                     "; fields= can leave them out, Arrow's rename_columns() tells them apart");
    }
    return {};
  }

  Failure add(const Leaf& leaf) {
    PlannedColumn column;
    column.type = leaf.type;
    column.path = leaf.path;
    column.field.name = leaf.name;
    TypeRef type = stored(leaf.type);
    if (type->id() == Type::DICTIONARY)
      type = stored(static_cast<const arrow::DictionaryType&>(*type).value_type());
    column.field.ragged = is_text(type->id()) || is_a_list(type->id());
    if (column.field.ragged) column.field.shape.push_back(-1);
    if (!is_text(type->id())) {
      const TypeRef value = is_a_list(type->id()) ? type->field(0)->type() : type;
      if (Failure failed = add_dense(value, column.field)) return failed;
      if (Failure failed = shape_tensor(leaf.type, column.field)) return failed;
    }
    if (options_.fill && !column.field.ragged &&
        !store_fill(*options_.fill, column.field.dtype, column.fill)) {
      return failure(DL_ERR_BAD_URI, "nulls: field '", column.field.name, "' is ", column.field.type_text(),
                     ", which cannot be ", number_text());
    }
    column.fills = options_.fill.has_value();
    // Where the items of a ragged field cannot be V, a null among them stays an error.
    if (options_.fill && column.field.ragged) store_fill(*options_.fill, column.field.dtype, column.fill);
    plan_.columns.push_back(std::move(column));
    return {};
  }

  std::string number_text() const {
    return options_.fill->whole ? std::to_string(*options_.fill->whole)
                                : std::to_string(options_.fill->number);
  }

  Failure add_dense(const TypeRef& given, PqField& field) const {
    TypeRef type = stored(given);
    int64_t count = 1;
    bool large = false;
    const auto add_dim = [&](int64_t size) {
      field.shape.push_back(size);
      large = large || size < 0 || (size > 0 && count > kMaxRecordBytes / size);
      count = large ? 0 : count * size;
    };
    for (; type->id() == Type::FIXED_SIZE_LIST; type = stored(type->field(0)->type()))
      add_dim(static_cast<const arrow::FixedSizeListType&>(*type).list_size());
    const Element element = element_of(*type);
    if (type->id() == Type::FIXED_SIZE_BINARY)
      add_dim(static_cast<const arrow::FixedSizeBinaryType&>(*type).byte_width());
    if (large || field.shape.size() > static_cast<size_t>(DL_MAX_RANK)) {
      return failure(DL_ERR_TOO_LARGE, path_, ": column ", printable(field.name), " is ", given->ToString(),
                     ": at most ", DL_MAX_RANK, " dims and ", kMaxRecordBytes, " bytes");
    }
    if (count == 0) {
      return failure(DL_ERR_UNSUPPORTED, path_, ": column ", printable(field.name), " is ", given->ToString(),
                     ": its values hold no bytes; fields= can leave it out");
    }
    field.dtype = element.dtype;
    field.element_bytes = element.bytes;
    field.unit_bytes = count * element.bytes;
    return {};
  }

  // arrow.fixed_shape_tensor: the shape that it declares, in the order of storage.
  Failure shape_tensor(const TypeRef& type, PqField& field) const {
    if (type->id() != Type::EXTENSION) return {};
    const auto* tensor = dynamic_cast<const arrow::extension::FixedShapeTensorType*>(type.get());
    if (tensor == nullptr || field.ragged) return {};
    const std::vector<int64_t>& shape = tensor->shape();
    if (shape.size() > static_cast<size_t>(DL_MAX_RANK)) {
      return failure(DL_ERR_TOO_LARGE, path_, ": column ", printable(field.name), " has ", shape.size(),
                     " dims, at most ", DL_MAX_RANK);
    }
    int64_t count = field.element_bytes;
    for (const int64_t dim : shape) count = dim > 0 && count <= kMaxRecordBytes / dim ? count * dim : 0;
    if (count != field.unit_bytes) {
      return failure(DL_ERR_CORRUPT, path_, ": column ", printable(field.name),
                     ": the tensor's shape has another number of values than ", type->ToString());
    }
    field.shape = shape;
    for (const std::string& name : tensor->dim_names())
      if (name.size() == 1) field.axes += name;
    if (field.axes.size() != shape.size()) field.axes.clear();
    return {};
  }

  // What is read has the chosen children alone, in the file's order.
  void number_paths() {
    for (PlannedColumn& column : plan_.columns) {
      for (size_t depth = 0; depth < column.path.size(); ++depth) {
        std::set<int> siblings;
        for (const PlannedColumn& other : plan_.columns) {
          const bool same = other.path.size() > depth &&
                            std::equal(column.path.begin(), column.path.begin() + static_cast<long>(depth),
                                       other.path.begin());
          if (same) siblings.insert(other.path[depth]);
        }
        column.below.push_back(
            static_cast<int>(std::distance(siblings.begin(), siblings.find(column.path[depth]))));
      }
    }
  }

  void add_to_top(const Leaf& leaf, size_t index, const std::vector<parquet::arrow::SchemaField>& fields) {
    const auto number = static_cast<size_t>(leaf.path[0]);
    const auto known = std::find(numbers_.begin(), numbers_.end(), number);
    const auto at = static_cast<size_t>(known - numbers_.begin());
    if (known == numbers_.end()) {
      numbers_.push_back(number);
      plan_.tops.push_back({fields[number].field->name(), {}, {}});
    }
    Plan::Top& top = plan_.tops[at];
    top.leaves.insert(top.leaves.end(), leaf.parquet.begin(), leaf.parquet.end());
    std::sort(top.leaves.begin(), top.leaves.end());
    top.columns.push_back(index);
  }

  const std::string& path_;
  const FileOptions& options_;
  Plan& plan_;
  std::vector<Leaf> leaves_;
  std::vector<size_t> numbers_;  // of the tops, in the file's schema
};

Failure no_room(const arrow::Status& status) { return failure(DL_ERR_TOO_LARGE, status.message()); }

// Zeroed bytes.
Failure new_bytes(int64_t count, arrow::MemoryPool* pool, std::shared_ptr<arrow::Buffer>* out) {
  auto made = arrow::AllocateBuffer(count, pool);
  if (!made.ok()) return no_room(made.status());
  std::memset((*made)->mutable_data(), 0, static_cast<size_t>(count));
  *out = std::move(*made);
  return {};
}

constexpr const char* kNullRow =
    "a null (nulls=fill(0) delivers 0, or an empty row of a ragged field, in its place)";

}  // namespace

std::string printable(const std::string& text) {
  std::string out = "'";
  const bool whole = is_utf8(text) && text.size() <= 64;
  for (const char c : text.substr(0, 64)) {
    if (!whole && static_cast<unsigned char>(c) >= 0x80) {
      out += '?';
      continue;
    }
    out += static_cast<unsigned char>(c) >= 0x20 && c != 0x7f ? c : '?';
  }
  return out + (text.size() > 64 ? "...'" : "'");
}

std::string PqField::type_text() const {
  constexpr const char* kNames[] = {"?",   "bool", "u8",  "u16",  "u32", "u64", "i8",  "i16",
                                    "i32", "i64",  "f16", "bf16", "f32", "f64", "c64", "c128"};
  std::string out = kNames[dtype];
  for (size_t i = 0; i < shape.size(); ++i)
    out += (i == 0 ? "[" : "x") + (shape[i] < 0 ? std::string("?") : std::to_string(shape[i]));
  return shape.empty() ? out : out + "]";
}

Failure plan_columns(const std::string& path, const std::vector<parquet::arrow::SchemaField>& fields,
                     const FileOptions& options, Plan* out) {
  return Planner(path, options, *out).plan(fields);
}

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
  }
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
      return failure(DL_ERR_CORRUPT, "a fixed-size list has fewer items than it says");
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
      return failure(DL_ERR_CORRUPT, "the column has fewer values than it says");
  }
  for (const auto& [items, count] : inner) {
    if (Failure failed = mark_items(column, *items, count, level_bytes / count, pool)) return failed;
  }
  if (null_items_ != nullptr && !column.fill.empty()) null_items_ = nullptr;  // all are filled
  return {};
}

Failure Values::mark_items(const PlannedColumn& column, const arrow::Array& level, int64_t per_unit,
                           int64_t level_bytes, arrow::MemoryPool* pool) {
  if (level.null_count() == 0) return {};
  if (null_items_ == nullptr) {
    if (Failure failed = new_bytes(units_, pool, &item_buffer_)) return failed;
    null_items_ = item_buffer_->mutable_data();
  }
  if (!column.fill.empty()) {
    if (Failure failed = own_data(column, pool)) return failed;
  }
  for (int64_t i = 0; i < level.length(); ++i) {
    if (!level.IsNull(i)) continue;
    null_items_[i / per_unit] = 1;
    for (int64_t byte = 0; !column.fill.empty() && byte < level_bytes; byte += column.field.element_bytes)
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
      return failure(DL_ERR_CORRUPT, "its value ", static_cast<const uint8_t*>(null) - null_items_ - first,
                     " is null (nulls=fill(0) delivers 0 in its place)");
    }
  }
  *data = data_ == nullptr ? nullptr : data_ + first * column.field.unit_bytes;
  *bytes = count * column.field.unit_bytes;
  return {};
}

}  // namespace dataline_parquet
