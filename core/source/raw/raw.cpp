// Files without a header: packed little-endian records, described by the URI.
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/checked.h"
#include "core/base/text.h"
#include "core/source/files.h"
#include "core/source/flat_file.h"
#include "core/source/format.h"
#include "core/source/names.h"

namespace dataline {
namespace {

struct RawOptions {
  std::vector<Field> fields;    // dense, in the order they are stored; at least one
  int64_t header_bytes = 0;     // at the start of the file, skipped
  bool partial_ignore = false;  // skips an incomplete last record instead of reporting an error
};

// One column per field.
Result<FlatLayout> pack_fields(const std::string& path, const std::vector<Field>& fields) {
  FlatLayout layout;
  const bool native = std::endian::native == std::endian::little;
  for (const Field& field : fields) {
    const FlatConversion conversion = native ? FlatConversion::kNone : swap_conversion(field.dtype);
    layout.columns.push_back(FlatColumn{layout.record_bytes, field.bytes(), conversion});
    std::optional<int64_t> record = checked_add(layout.record_bytes, field.bytes());
    if (!record) return error(Code::kBadUri, path, ": raw records have more than 2^63 bytes");
    layout.record_bytes = *record;
  }
  layout.record_stride = layout.record_bytes;
  return layout;
}

constexpr size_t kMaxFields = 1024;  // they are compared pairwise
constexpr std::string_view kExpected =
    "expected name:dtype or name:dtype[AxB], as in label:u8,image:u8[3x32x32]";

// A field must have at least one byte, and its size must fit 63 bits.
Status check_size(const Field& field, std::string_view text, int64_t column) {
  if (static_cast<int64_t>(field.shape.size()) > kMaxRank) {
    return uri_error(column, "'", text, "': ", field.shape.size(), " dims, at most ", kMaxRank);
  }
  std::optional<int64_t> items = checked_product(field.shape);
  std::optional<int64_t> bytes = items ? checked_multiply(*items, dtype_bytes(field.dtype)) : std::nullopt;
  if (!bytes) return uri_error(column, "'", text, "': more than 2^63 - 1 bytes");
  return *bytes > 0 ? Status::ok() : uri_error(column, "'", text, "': holds no bytes");
}

// name:dtype[AxBxC]
Result<Field> parse_field(std::string_view text, int64_t column) {
  size_t colon = text.rfind(':');
  if (colon == 0 || colon == std::string_view::npos) return uri_error(column, "'", text, "': ", kExpected);
  Field field;
  field.name = text.substr(0, colon);
  std::string_view type = text.substr(colon + 1);
  if (size_t bracket = type.find('['); bracket != std::string_view::npos) {
    if (!type.ends_with(']')) return uri_error(column, "'", text, "': ", kExpected);
    std::optional<std::vector<int64_t>> shape =
        parse_shape(type.substr(bracket + 1, type.size() - bracket - 2));
    if (!shape) return uri_error(column, "'", text, "': ", kExpected);
    field.shape = std::move(*shape);
    type = type.substr(0, bracket);
  }
  std::optional<DType> dtype = dtype_from_name(type);
  if (!dtype) return uri_error(column, "'", text, "': unknown dtype '", type, "'");
  field.dtype = *dtype;
  DL_RETURN_IF_ERROR(check_size(field, text, column));
  return field;
}

Result<std::vector<Field>> parse_field_list(const UriKey& key) {
  std::vector<Field> fields;
  int64_t column = key.value_column;
  for (std::string_view part : split(key.value, ',')) {
    if (fields.size() == kMaxFields) return uri_error(column, "more than ", kMaxFields, " fields");
    DL_ASSIGN_OR_RETURN(Field field, parse_field(part, column));
    for (const Field& other : fields) {
      if (other.name == field.name) return uri_error(column, "field '", field.name, "' appears twice");
    }
    fields.push_back(std::move(field));
    column += static_cast<int64_t>(part.size()) + 1;
  }
  return fields;
}

// `fields=label:u8,image:u8[3x32x32]`, or `dtype=u8&shape=28x28` for one field `data` (a scalar without `shape`).
Result<std::vector<Field>> record_fields(const Uri& uri) {
  const UriKey *fields = uri.find("fields"), *dtype_key = uri.find("dtype"), *shape_key = uri.find("shape");
  const UriKey* other = dtype_key != nullptr ? dtype_key : shape_key;
  if (fields != nullptr && other != nullptr) {
    return uri_error(other->column, "'", other->key, "' and 'fields': set only one of the two");
  }
  if (fields != nullptr) return parse_field_list(*fields);
  DL_ASSIGN_OR_RETURN(std::optional<DType> dtype, uri_dtype(uri, "dtype"));
  if (!dtype) {
    return uri_error(static_cast<int64_t>(uri.text.size()) + 1, uri.scheme,
                     " needs dtype= (and shape=), or fields=: ", kExpected);
  }
  Field field;
  field.name = "data";
  field.dtype = *dtype;
  if (shape_key != nullptr) {
    std::optional<std::vector<int64_t>> shape = parse_shape(shape_key->value);
    if (!shape)
      return uri_error(shape_key->value_column, "shape='", shape_key->value,
                       "': expected dims as in 3x32x32");
    field.shape = std::move(*shape);
    DL_RETURN_IF_ERROR(check_size(field, shape_key->value, shape_key->value_column));
  }
  return std::vector<Field>{std::move(field)};
}

// The dtype that a suffix names, in our words or NumPy's: .f32, .float32.
std::optional<DType> dtype_of_suffix(std::string_view path) {
  const size_t dot = path.find_last_of("./\\");
  if (dot == std::string_view::npos || path[dot] != '.') return std::nullopt;
  std::string word = lower_case(path.substr(dot + 1));
  constexpr std::string_view kNumPys[][2] = {{"uint", "u"}, {"int", "i"}, {"bfloat", "bf"}, {"float", "f"}};
  for (const auto& [long_name, short_name] : kNumPys) {
    if (word.starts_with(long_name)) {
      word.replace(0, long_name.size(), short_name);
      break;
    }
  }
  return dtype_from_name(word);
}

// kTruncated if the file is shorter than its header or ends inside a record, with the offset of that record.
Result<SourceRef> open_raw(const RawOptions& options, const std::string& path, const OpenContext& context) {
  DL_ASSIGN_OR_RETURN(FirstBytes start, read_first_bytes(path, context));
  DL_RETURN_IF_ERROR(refuse_stand_ins(start));  // they would be read as records
  DL_ASSIGN_OR_RETURN(FlatLayout layout, pack_fields(path, options.fields));
  DL_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open_unloaded(path, context));
  if (options.header_bytes > file.bytes()) {
    return error(Code::kTruncated, path, ": offset 0: header=", options.header_bytes, " needs ",
                 options.header_bytes, " bytes, the file has ", file.bytes());
  }
  int64_t body = file.bytes() - options.header_bytes;
  int64_t cut = body % layout.record_bytes;
  if (cut != 0 && !options.partial_ignore) {
    return error(Code::kTruncated, path, ": offset ", file.bytes() - cut, ": last record has ", cut,
                 " bytes, expected ", layout.record_bytes, " (partial=ignore skips it)",
                 kind_note(describe_first_bytes(start.bytes())));
  }
  DL_RETURN_IF_ERROR(file.load(context));
  layout.data_offset = options.header_bytes;
  layout.record_count = body / layout.record_bytes;
  SourceInfo info{"raw", "", {}};
  if (cut != 0)
    info.notes.push_back(
        concat(kDamaged, path, ": the last ", cut, " bytes are an incomplete record, skipped"));
  if (const std::optional<DType> named = dtype_of_suffix(path);
      named && options.fields.size() == 1 && *named != options.fields[0].dtype)
    info.notes.push_back(concat("read as ", dtype_name(options.fields[0].dtype),
                                ", although the suffix names ", dtype_name(*named), ": ", path));
  return FlatFile::create(std::move(file), column_per_field(options.fields), std::move(layout),
                          std::move(info));
}

// What writers of bare arrays call their files: by habit, or by the dtype. Any other file of a directory could be a README,
// which no check of ours tells from records; it is left out, and reported.
constexpr std::string_view kRawSuffixes[] = {
    ".bin",   ".raw",     ".dat",      ".data",    ".bool",   ".u8",   ".u16",   ".u32",
    ".u64",   ".i8",      ".i16",      ".i32",     ".i64",    ".f16",  ".bf16",  ".f32",
    ".f64",   ".uint8",   ".uint16",   ".uint32",  ".uint64", ".int8", ".int16", ".int32",
    ".int64", ".float16", ".bfloat16", ".float32", ".float64"};

constexpr KeySpec kPartial{"partial", "error|ignore", "error", "what to do with an incomplete last record"};
constexpr KeySpec kRawKeys[] = {
    {"dtype", "DTYPE", "", "dtype of the only field, `data`"},
    {"shape", "DIMS", "", "shape of the only field, as in 3x32x32; default: a scalar"},
    {"fields", "FIELDS", "",
     "the fields of a record, as in label:u8,image:u8[3x32x32], instead of dtype and shape"},
    {"header", "INTEGER", "0", "bytes to skip at the start of the file"},
    kPartial,
    kAxesKey};

Result<OpenOne> configure_raw(const Uri& uri) {
  RawOptions options;
  DL_ASSIGN_OR_RETURN(options.fields, record_fields(uri));
  DL_ASSIGN_OR_RETURN(options.header_bytes, uri_i64(uri, "header", 0, 0));
  DL_ASSIGN_OR_RETURN(options.partial_ignore, uri_is(uri, kPartial, "ignore"));
  return OpenOne(std::bind_front(open_raw, options));
}

}  // namespace

constinit const Format kRawFormat{
    .name = "raw",
    .doc =
        "packed little-endian records without a header, described by the URI. Field: data, or the fields of "
        "the key `fields`",
    .keys = kRawKeys,
    .configure = configure_raw,
    .ranges = true,
    .is_member = [](const std::string&, std::string_view name,
                    const OpenContext&) { return has_suffix(name, kRawSuffixes); },
    .members = "*.bin, *.raw, *.dat, *.data, or a dtype as in *.u8; name other files: raw:a.img,b.img",
    .one_kind = true,
};

}  // namespace dataline
