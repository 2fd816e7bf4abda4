// SPDX-License-Identifier: Apache-2.0
#include "core/source/arrow/c_schema.h"

#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/bytes.h"
#include "core/base/text.h"
#include "core/source/arrow/batches.h"
#include "core/source/files.h"

namespace dataline {
namespace {

constexpr int64_t kMaxSchemaFields = 1 << 16;
constexpr int kMaxSchemaDepth = 64;
constexpr std::string_view kUnitLetters = "smun";  // in the order of Schema.fbs

std::string_view text_at(const char* text) { return text == nullptr ? std::string_view() : text; }

// What follows `head` in a format; nothing if it does not begin with it.
std::optional<std::string_view> rest_after(std::string_view format, std::string_view head) {
  if (!format.starts_with(head)) return std::nullopt;
  return format.substr(head.size());
}

// Formats of one letter.
bool read_letter(char letter, ArrowField& out) {
  constexpr std::string_view kIntegers = "cCsSiIlL";
  if (const size_t at = kIntegers.find(letter); at != std::string_view::npos) {
    out.type = ArrowType::kInt;
    out.bits = int64_t{8} << (at / 2);
    out.is_signed = at % 2 == 0;
    return true;
  }
  constexpr std::string_view kFloats = "efg";
  if (const size_t at = kFloats.find(letter); at != std::string_view::npos) {
    out.type = ArrowType::kFloat;
    out.unit = static_cast<int32_t>(at);
    out.bits = int64_t{16} << at;
    return true;
  }
  switch (letter) {
    case 'n':
      return out.type = ArrowType::kNull, true;
    case 'b':
      return out.type = ArrowType::kBool, out.bits = 1, true;
    case 'z':
      return out.type = ArrowType::kBinary, true;
    case 'Z':
      return out.type = ArrowType::kLargeBinary, true;
    case 'u':
      return out.type = ArrowType::kUtf8, true;
    case 'U':
      return out.type = ArrowType::kLargeUtf8, true;
    default:
      return false;
  }
}

// A unit's letter, which is the last of what is given.
bool read_time_unit(std::string_view unit, ArrowField& out) {
  const size_t at = unit.size() == 1 ? kUnitLetters.find(unit[0]) : std::string_view::npos;
  if (at != std::string_view::npos) out.unit = static_cast<int32_t>(at);
  return at != std::string_view::npos;
}

// Formats that begin with 't'.
bool read_time(std::string_view format, ArrowField& out) {
  if (const auto day = rest_after(format, "td")) {
    out.type = ArrowType::kDate;
    out.unit = *day == "D" ? 0 : 1;
    out.bits = *day == "D" ? 32 : 64;
    return *day == "D" || *day == "m";
  }
  if (const auto unit = rest_after(format, "tt")) {
    out.type = ArrowType::kTime;
    if (!read_time_unit(*unit, out)) return false;
    out.bits = out.unit <= 1 ? 32 : 64;
    return true;
  }
  out.bits = 64;
  if (const auto unit = rest_after(format, "tD")) {
    out.type = ArrowType::kDuration;
    return read_time_unit(*unit, out);
  }
  if (const auto stamp = rest_after(format, "ts")) {
    out.type = ArrowType::kTimestamp;
    const size_t colon = stamp->find(':');
    if (colon == std::string_view::npos || !read_time_unit(stamp->substr(0, colon), out)) return false;
    out.time_zone = stamp->substr(colon + 1);
    return true;
  }
  out.type = ArrowType::kInterval;
  return format == "tiM" || format == "tiD" || format == "tin";
}

// Formats that begin with '+', and how many children they have; -1: any.
bool read_nested(std::string_view format, ArrowField& out, int64_t& children) {
  children = 1;
  if (const auto size = rest_after(format, "+w:")) {
    const std::optional<int64_t> number = parse_i64(*size);
    out.type = ArrowType::kFixedSizeList;
    out.size = number.value_or(-1);
    return out.size >= 0;
  }
  children = -1;
  if (format == "+s") return out.type = ArrowType::kStruct, true;
  out.unit = format.starts_with("+ud:") ? 1 : 0;
  if (format.starts_with("+ud:") || format.starts_with("+us:")) return out.type = ArrowType::kUnion, true;
  children = format == "+r" ? 2 : 1;
  constexpr std::pair<std::string_view, ArrowType> kPlain[] = {
      {"+l", ArrowType::kList},           {"+L", ArrowType::kLargeList}, {"+vl", ArrowType::kListView},
      {"+vL", ArrowType::kLargeListView}, {"+m", ArrowType::kMap},       {"+r", ArrowType::kRunEndEncoded}};
  for (const auto& [text, type] : kPlain) {
    if (format == text) return out.type = type, true;
  }
  return false;
}

bool read_format(std::string_view format, ArrowField& out, int64_t& children) {
  children = 0;
  if (format.size() == 1) return read_letter(format[0], out);
  if (format.starts_with('t')) return read_time(format, out);
  if (format.starts_with('+')) return read_nested(format, out, children);
  if (format == "vz") return out.type = ArrowType::kBinaryView, true;
  if (format == "vu") return out.type = ArrowType::kUtf8View, true;
  if (const auto size = rest_after(format, "w:")) {
    out.type = ArrowType::kFixedSizeBinary;
    out.size = parse_i64(*size).value_or(-1);
    return out.size >= 0;
  }
  out.type = ArrowType::kDecimal;
  out.bits = format.ends_with(",256") ? 256 : 128;
  return format.starts_with("d:");
}

// Pairs of texts, each behind its length, in the machine's byte order. The interface gives no size of it all.
void read_extension(const char* metadata, ArrowField& out) {
  if (metadata == nullptr) return;
  const auto* at = reinterpret_cast<const std::byte*>(metadata);
  const auto number = [&] {
    const auto value = load_native<int32_t>(at);
    at += sizeof value;
    return std::max<int32_t>(value, 0);
  };
  const auto text = [&] {
    const int32_t bytes = number();
    const std::string_view found(reinterpret_cast<const char*>(at), static_cast<size_t>(bytes));
    at += bytes;
    return found;
  };
  for (int32_t pairs = number(); pairs > 0; --pairs) {
    const std::string_view key = text(), value = text();
    if (key == "ARROW:extension:name") out.extension = value;
    if (key == "ARROW:extension:metadata") out.extension_metadata = value;
  }
}

class CSchemaReader {
 public:
  Result<ArrowField> field(const ArrowSchema& schema, int depth) {
    if (depth > kMaxSchemaDepth)
      return error(Code::kTooLarge, kArrowMemory, ": types nested deeper than ", kMaxSchemaDepth);
    if (++count_ > kMaxSchemaFields)
      return error(Code::kTooLarge, kArrowMemory, ": a schema of more than ", kMaxSchemaFields, " fields");
    // A dictionary stands for the type of its values; the schema around it says the type of the indices.
    const bool encoded = schema.dictionary != nullptr;
    const ArrowSchema& values = encoded ? *schema.dictionary : schema;
    ArrowField out;
    out.name = text_at(schema.name);
    int64_t children = 0;
    if (!read_format(text_at(values.format), out, children))
      return refuse(Code::kUnsupported, out, "the format ", printable(text_at(values.format)),
                    " is not known");
    if (children >= 0 && values.n_children != children)
      return refuse(Code::kCorrupt, out, values.n_children, " children, expected ", children);
    DL_RETURN_IF_ERROR(read_children(values, depth, out));
    read_extension(schema.metadata, out);
    if (encoded) DL_RETURN_IF_ERROR(read_indices(schema, out));
    return out;
  }

 private:
  template <typename... Parts>
  static Status refuse(Code code, const ArrowField& field, const Parts&... parts) {
    return error(code, kArrowMemory, ": column ", printable(field.name), ": ", parts...);
  }

  Status read_children(const ArrowSchema& values, int depth, ArrowField& out) {
    for (int64_t c = 0; c < values.n_children; ++c) {
      const ArrowSchema* child = values.children == nullptr ? nullptr : values.children[c];
      if (child == nullptr) return refuse(Code::kCorrupt, out, "child ", c, " of its type is missing");
      DL_ASSIGN_OR_RETURN(ArrowField made, field(*child, depth + 1));
      out.children.push_back(std::move(made));
    }
    return Status::ok();
  }

  Status read_indices(const ArrowSchema& schema, ArrowField& out) {
    ArrowField index;
    const std::string_view format = text_at(schema.format);
    if (format.size() != 1 || !read_letter(format[0], index) || index.type != ArrowType::kInt)
      return refuse(Code::kCorrupt, out, "the indices of its dictionary have the format ", printable(format));
    out.dictionary = ArrowDictionaryType{count_, index.bits / 8, index.is_signed};
    return Status::ok();
  }

  int64_t count_ = 0;  // of fields; numbers dictionaries, which here belong to one column each
};

}  // namespace

Result<std::vector<ArrowField>> read_c_schema(const ArrowSchema& schema) {
  CSchemaReader reader;
  DL_ASSIGN_OR_RETURN(ArrowField whole, reader.field(schema, 0));
  if (whole.type == ArrowType::kStruct && !whole.dictionary) return std::move(whole.children);
  if (whole.name.empty()) whole.name = "data";
  std::vector<ArrowField> only;
  only.push_back(std::move(whole));
  return only;
}

}  // namespace dataline
