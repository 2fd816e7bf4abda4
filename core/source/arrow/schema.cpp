// SPDX-License-Identifier: Apache-2.0
#include "core/source/arrow/schema.h"

#include <bit>
#include <iterator>
#include <string_view>
#include <utility>

#include "core/base/message_text.h"

namespace dataline {
namespace {

constexpr int64_t kMaxFieldCount = 1 << 16;
constexpr int kMaxTypeDepth = 64;
constexpr int64_t kMaxTextBytes = 16 << 20;  // of all names and metadata of extensions together
constexpr int64_t kDistanceBytes = 4;        // elements of a vector of tables

// Fields of the tables by their numbers.
namespace schema_table {
constexpr int kEndianness = 0, kFields = 1;
}
namespace field_table {
constexpr int kName = 0, kTypeType = 2, kTypeTable = 3, kDictionary = 4, kChildren = 5, kMetadata = 6;
}

constexpr std::string_view kArrowUnits[] = {"s", "ms", "us", "ns"};

std::string_view unit_text(int32_t unit) {
  return unit >= 0 && unit < static_cast<int32_t>(std::size(kArrowUnits)) ? kArrowUnits[unit] : "?";
}

class SchemaReader {
 public:
  explicit SchemaReader(FlatBuffer& buffer) : buffer_(buffer) {}

  std::vector<ArrowField> fields(const FlatVector& tables, int depth) {
    std::vector<ArrowField> out;
    if (depth > kMaxTypeDepth)
      buffer_.refuse(Code::kTooLarge, tables.at(), "types nested deeper than ", kMaxTypeDepth);
    for (int64_t i = 0; i < tables.size() && buffer_.ok(); ++i) {
      if (++count_ > kMaxFieldCount)
        buffer_.refuse(Code::kTooLarge, tables.at(), "a schema of more than ", kMaxFieldCount, " fields");
      const FlatTable table = tables.table(i);
      if (buffer_.ok()) out.push_back(field(table, depth));
    }
    return out;
  }

 private:
  ArrowField field(const FlatTable& table, int depth) {
    ArrowField out;
    out.name = text(table, field_table::kName);
    out.type = static_cast<ArrowType>(table.number<uint8_t>(field_table::kTypeType));
    out.children = fields(table.vector(field_table::kChildren, kDistanceBytes), depth + 1);
    read_type(table.table(field_table::kTypeTable), table.at(), out);
    check_children(table.at(), out);
    if (const FlatTable dictionary = table.table(field_table::kDictionary); dictionary.present())
      out.dictionary = read_dictionary(dictionary);
    read_extension(table.vector(field_table::kMetadata, kDistanceBytes), out);
    return out;
  }

  std::string text(const FlatTable& table, int field) {
    const std::string_view found = table.text(field);
    text_bytes_ += static_cast<int64_t>(found.size());
    if (text_bytes_ <= kMaxTextBytes) return std::string(found);
    buffer_.refuse(Code::kTooLarge, table.at(), "more than ", kMaxTextBytes, " bytes of names in the schema");
    return {};
  }

  void read_type(const FlatTable& type, int64_t at, ArrowField& out) {
    switch (out.type) {
      case ArrowType::kInt:
        out.bits = type.number<int32_t>(0);
        out.is_signed = type.number<uint8_t>(1) != 0;
        return want(out.bits == 8 || out.bits == 16 || out.bits == 32 || out.bits == 64, at, out, out.bits);
      case ArrowType::kFloat:
        out.unit = type.number<int16_t>(0);
        want(out.unit >= 0 && out.unit <= 2, at, out, out.unit);
        out.bits = int64_t{16} << (out.unit & 3);
        return;
      case ArrowType::kBool:
        out.bits = 1;
        return;
      case ArrowType::kDecimal:
        out.bits = type.number<int32_t>(2, 128);
        return want(out.bits == 32 || out.bits == 64 || out.bits == 128 || out.bits == 256, at, out,
                    out.bits);
      case ArrowType::kDate:
        out.unit = type.number<int16_t>(0, 1);
        out.bits = out.unit == 0 ? 32 : 64;
        return want(out.unit == 0 || out.unit == 1, at, out, out.unit);
      case ArrowType::kTime:
        out.unit = type.number<int16_t>(0, 1);
        out.bits = type.number<int32_t>(1, 32);
        return want(out.unit >= 0 && out.unit <= 3 && out.bits == (out.unit <= 1 ? 32 : 64), at, out,
                    out.bits);
      case ArrowType::kTimestamp:
        out.time_zone = text(type, 1);
        return read_unit(type, 0, at, out);
      case ArrowType::kDuration:
        return read_unit(type, 1, at, out);
      case ArrowType::kInterval:
        out.unit = type.number<int16_t>(0);
        out.bits = int64_t{32} << (out.unit & 3);
        return want(out.unit >= 0 && out.unit <= 2, at, out, out.unit);
      case ArrowType::kUnion:
        out.unit = type.number<int16_t>(0);
        return want(out.unit == 0 || out.unit == 1, at, out, out.unit);
      case ArrowType::kFixedSizeBinary:
      case ArrowType::kFixedSizeList:
        out.size = type.number<int32_t>(0);
        return want(out.size >= 0, at, out, out.size);
      default:
        return;
    }
  }

  void read_unit(const FlatTable& type, int16_t fallback, int64_t at, ArrowField& out) {
    out.unit = type.number<int16_t>(0, fallback);
    out.bits = 64;
    want(out.unit >= 0 && out.unit <= 3, at, out, out.unit);
  }

  void want(bool sound, int64_t at, const ArrowField& field, int64_t got) {
    if (!sound) {
      buffer_.refuse(Code::kCorrupt, at, "field ", printable(field.name), ": ", arrow_type_text(field),
                     " cannot have the width, unit or size ", got);
    }
  }

  void check_children(int64_t at, const ArrowField& field) {
    const size_t count = field.children.size();
    switch (field.type) {
      case ArrowType::kList:
      case ArrowType::kLargeList:
      case ArrowType::kFixedSizeList:
      case ArrowType::kListView:
      case ArrowType::kLargeListView:
      case ArrowType::kMap:
        return want_children(count == 1, at, field, "1");
      case ArrowType::kRunEndEncoded:
        return want_children(count == 2, at, field, "2");
      case ArrowType::kStruct:
      case ArrowType::kUnion:
        return;
      default:
        break;
    }
    if (field.type == ArrowType::kNone || field.type > ArrowType::kLargeListView) {
      buffer_.refuse(Code::kUnsupported, at, "field ", printable(field.name), " has the unknown type ",
                     static_cast<int>(field.type));
    }
    want_children(count == 0, at, field, "none");
  }

  void want_children(bool sound, int64_t at, const ArrowField& field, std::string_view expected) {
    if (!sound) {
      buffer_.refuse(Code::kCorrupt, at, "field ", printable(field.name), " of type ", arrow_type_text(field),
                     " has ", field.children.size(), " children, expected ", expected);
    }
  }

  ArrowDictionaryType read_dictionary(const FlatTable& table) {
    ArrowDictionaryType out;
    out.id = table.number<int64_t>(0);
    if (const FlatTable index = table.table(1); index.present()) {
      const auto bits = index.number<int32_t>(0);
      if (bits != 8 && bits != 16 && bits != 32 && bits != 64)
        buffer_.refuse(Code::kCorrupt, index.at(), "dictionary ", out.id, " has indices of ", bits, " bits");
      out.index_bytes = bits / 8;
      out.index_signed = index.number<uint8_t>(1) != 0;
    }
    return out;
  }

  void read_extension(const FlatVector& metadata, ArrowField& out) {
    for (int64_t i = 0; i < metadata.size() && buffer_.ok(); ++i) {
      const FlatTable pair = metadata.table(i);
      const std::string_view key = pair.text(0);
      if (key == "ARROW:extension:name") out.extension = text(pair, 1);
      if (key == "ARROW:extension:metadata") out.extension_metadata = text(pair, 1);
    }
  }

  FlatBuffer& buffer_;
  int64_t count_ = 0, text_bytes_ = 0;
};

std::string first_child_text(const ArrowField& field) {
  return field.children.empty() ? "?" : arrow_type_text(field.children[0]);
}

std::string plain_type_text(const ArrowField& field) {
  switch (field.type) {
    case ArrowType::kNull:
      return "null";
    case ArrowType::kInt:
      return concat(field.is_signed ? "int" : "uint", field.bits);
    case ArrowType::kFloat:
      return field.bits == 16 ? "halffloat" : field.bits == 32 ? "float" : "double";
    case ArrowType::kBinary:
      return "binary";
    case ArrowType::kUtf8:
      return "string";
    case ArrowType::kBool:
      return "bool";
    case ArrowType::kDecimal:
      return concat("decimal", field.bits);
    case ArrowType::kDate:
      return concat("date", field.bits);
    case ArrowType::kTime:
      return concat("time", field.bits, "[", unit_text(field.unit), "]");
    case ArrowType::kTimestamp:
      return concat("timestamp[", unit_text(field.unit),
                    field.time_zone.empty() ? "" : ", tz=", field.time_zone, "]");
    case ArrowType::kInterval:
      return "interval";
    case ArrowType::kList:
      return concat("list<", first_child_text(field), ">");
    case ArrowType::kStruct:
      return "struct";
    case ArrowType::kUnion:
      return field.unit == 0 ? "sparse_union" : "dense_union";
    case ArrowType::kFixedSizeBinary:
      return concat("fixed_size_binary[", field.size, "]");
    case ArrowType::kFixedSizeList:
      return concat("fixed_size_list<", first_child_text(field), ">[", field.size, "]");
    case ArrowType::kMap:
      return "map";
    case ArrowType::kDuration:
      return concat("duration[", unit_text(field.unit), "]");
    case ArrowType::kLargeBinary:
      return "large_binary";
    case ArrowType::kLargeUtf8:
      return "large_string";
    case ArrowType::kLargeList:
      return concat("large_list<", first_child_text(field), ">");
    case ArrowType::kRunEndEncoded:
      return "run_end_encoded";
    case ArrowType::kBinaryView:
      return "binary_view";
    case ArrowType::kUtf8View:
      return "string_view";
    case ArrowType::kListView:
      return "list_view";
    case ArrowType::kLargeListView:
      return "large_list_view";
    case ArrowType::kNone:
      break;
  }
  return concat("type ", static_cast<int>(field.type));
}

}  // namespace

std::string arrow_type_text(const ArrowField& field) {
  if (!field.dictionary) return plain_type_text(field);
  return concat("dictionary<values=", plain_type_text(field),
                ", indices=", field.dictionary->index_signed ? "int" : "uint",
                field.dictionary->index_bytes * 8, ">");
}

Result<std::vector<ArrowField>> read_arrow_schema(const FlatTable& schema) {
  FlatBuffer& buffer = schema.buffer();
  const auto endianness = schema.number<int16_t>(schema_table::kEndianness);
  if (endianness != (std::endian::native == std::endian::big ? 1 : 0)) {
    buffer.refuse(
        Code::kUnsupported, schema.at(), "its numbers are in the byte order ", endianness,
        " (0 little, 1 big), which differs from this machine's; write it again in this machine's order");
  }
  SchemaReader reader(buffer);
  std::vector<ArrowField> fields = reader.fields(schema.vector(schema_table::kFields, kDistanceBytes), 0);
  if (!buffer.ok()) return buffer.take_status();
  return fields;
}

}  // namespace dataline
