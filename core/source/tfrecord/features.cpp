// SPDX-License-Identifier: Apache-2.0
#include "core/source/tfrecord/features.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/checked.h"
#include "core/base/name_text.h"
#include "core/base/text.h"
#include "core/source/files.h"
#include "core/source/flat_file.h"

namespace dataline {
namespace {

constexpr size_t kMaxFeatureNameBytes = 255;
constexpr size_t kMaxListedBytes = 200;
constexpr std::string_view kTypesExpected =
    "expected NAME or NAME:TYPE of bytes, i64, f32, i64[], f32[], i64[AxB], f32[AxB] or u8[AxB], as in "
    "image:bytes,label:i64,box:f32[4],ids:i64[]";

FeatureKind kind_of_type(std::string_view type) {
  if (type == "i64") return FeatureKind::kInts;
  if (type == "f32") return FeatureKind::kFloats;
  return type == "u8" ? FeatureKind::kBytes : FeatureKind::kNone;
}

Status check_feature_size(const FeatureField& field, std::string_view text, int64_t column) {
  if (static_cast<int64_t>(field.shape.size()) > kMaxRank)
    return uri_error(column, "'", text, "': ", field.shape.size(), " dims, at most ", kMaxRank);
  const std::optional<int64_t> values = checked_product(field.shape);
  const std::optional<int64_t> bytes =
      values ? checked_multiply(*values, dtype_bytes(field.dtype())) : std::nullopt;
  if (!bytes || *bytes > kMaxRecordBytes)
    return uri_error(column, "'", text, "': more than ", kMaxRecordBytes, " bytes");
  return *bytes > 0 ? Status::ok() : uri_error(column, "'", text, "': holds no values");
}

// bytes, i64, f32, i64[], i64[AxB], u8[AxB]
Status parse_feature_type(std::string_view type, std::string_view text, int64_t column, FeatureField& field) {
  const size_t bracket = type.find('[');
  const std::string_view dtype = type.substr(0, bracket);
  field.kind = kind_of_type(dtype);
  if (type == "bytes") {
    field.kind = FeatureKind::kBytes;
    field.ragged = true;
    return Status::ok();
  }
  const bool listed = bracket != std::string_view::npos;
  // A byte string without a length is `bytes`.
  const bool bare_bytes = field.kind == FeatureKind::kBytes && (!listed || type.ends_with("[]"));
  if (field.kind == FeatureKind::kNone || bare_bytes || (listed && !type.ends_with(']')))
    return uri_error(column, printable(text), ": ", kTypesExpected);
  if (!listed) return Status::ok();
  const std::string_view dims = type.substr(bracket + 1, type.size() - bracket - 2);
  field.ragged = dims.empty();
  if (field.ragged) return Status::ok();
  std::optional<std::vector<int64_t>> shape = parse_shape(dims);
  if (!shape) return uri_error(column, printable(text), ": ", kTypesExpected);
  field.shape = std::move(*shape);
  DL_RETURN_IF_ERROR(check_feature_size(field, text, column));
  field.values = *checked_product(field.shape);
  return Status::ok();
}

Result<FeatureField> parse_feature_field(std::string_view text, int64_t column) {
  FeatureField field;
  const size_t colon = text.rfind(':');
  field.name = text.substr(0, colon);
  if (field.name.empty() || field.name.size() > kMaxFeatureNameBytes || !is_name_text(field.name))
    return uri_error(column, printable(text), ": ", kTypesExpected);
  if (colon == std::string_view::npos) return field;
  DL_RETURN_IF_ERROR(parse_feature_type(text.substr(colon + 1), text, column, field));
  return field;
}

using FeatureMap = std::map<std::string_view, Feature>;

Result<FeatureMap> features_of(const std::string& place, Bytes record) {
  FeatureMap features;
  ExampleReader reader(record);
  std::string_view name;
  for (Feature feature; reader.next(name, feature);) features[name] = feature;
  if (reader.fault().what != nullptr) {
    return error(Code::kCorrupt, place, "not a tf.train.Example: ", reader.fault().what, " at byte ",
                 reader.fault().at - record.data(), " (records=bytes delivers it unchanged)");
  }
  if (is_sequence_example(record)) return error(Code::kUnsupported, place, kNoSequences);
  return features;
}

// A field of the feature's own type. `fault`: of its values.
Result<FeatureField> field_of_feature(const std::string& place, std::string_view name,
                                      const Feature& feature) {
  FeatureField field;
  field.name = name;
  field.kind = feature.kind;
  WireFault fault;
  int64_t count = 0;
  if (feature.kind == FeatureKind::kBytes) count = read_bytes_values(feature, fault).count;
  if (feature.kind == FeatureKind::kFloats) count = find_float_values(feature, fault).count;
  if (feature.kind == FeatureKind::kInts) count = read_int_values(feature, nullptr, 0, fault);
  const std::string at = concat(place, "feature ", printable(name));
  if (count < 0) return error(Code::kCorrupt, at, ": ", fault.what);
  // The lengths of its lists differ: this one is empty, and a later one is not.
  field.ragged = feature.kind == FeatureKind::kBytes || count == 0;
  if (field.kind == FeatureKind::kBytes && count > 1) {
    return error(Code::kUnsupported, at, " has ", count,
                 " byte strings, but a field holds one: leave it out by naming the others in fields=");
  }
  if (count > 1) field.shape = {count};
  if (!field.ragged) field.values = count;
  return field;
}

Result<FeatureField> named_feature(const std::string& place, const FeatureMap& features,
                                   const std::string& wanted) {
  const auto found = features.find(wanted);
  if (found != features.end()) return field_of_feature(place, found->first, found->second);
  std::vector<std::string_view> names;
  for (const auto& [name, feature] : features) names.push_back(name);
  const Status missing = no_such_field(place, "feature", wanted, names);
  return error(missing.code(), missing.text(), "; and no type is declared for it");
}

// A map entry of feature lists: a name, and a list of features.
bool is_list_entry(Bytes entry) {
  WireReader fields(entry);
  bool named = false, listed = false;
  for (WireField field; fields.next(field);) {
    if (field.is(1, WireField::kBytes)) {
      const std::string_view name(reinterpret_cast<const char*>(field.bytes.data()), field.bytes.size());
      named = !name.empty() && is_name_text(name);
    } else if (field.is(2, WireField::kBytes)) {
      listed = true;
      WireReader list(field.bytes);
      for (WireField feature; list.next(feature);) listed = listed && feature.is(1, WireField::kBytes);
      if (list.fault().what != nullptr) return false;
    } else {
      return false;
    }
  }
  return named && listed && fields.fault().what == nullptr;
}

}  // namespace

std::string FeatureField::type_text() const {
  if (kind == FeatureKind::kBytes && ragged) return "bytes";
  const std::string dims = shape.empty() ? "" : concat('[', shape_text(shape), ']');
  return concat(dtype_name(dtype()), ragged ? "[]" : dims);
}

Result<std::vector<FeatureField>> parse_feature_fields(const UriKey& key) {
  std::vector<FeatureField> fields;
  int64_t column = key.value_column, total = 0;
  for (std::string_view part : split(key.value, ',')) {
    if (fields.size() == kMaxFeatures) return uri_error(column, "more than ", kMaxFeatures, " fields");
    DL_ASSIGN_OR_RETURN(FeatureField field, parse_feature_field(part, column));
    for (const FeatureField& other : fields) {
      if (other.name == field.name) return uri_error(column, "field '", field.name, "' appears twice");
    }
    total += field.values * dtype_bytes(field.dtype());  // at most 2^56
    fields.push_back(std::move(field));
    column += static_cast<int64_t>(part.size()) + 1;
  }
  if (total > kMaxRecordBytes)
    return uri_error(key.value_column, "the fields hold more than ", kMaxRecordBytes, " bytes");
  return fields;
}

bool all_declared(const std::vector<FeatureField>& fields) {
  return !fields.empty() && std::all_of(fields.begin(), fields.end(), [](const FeatureField& field) {
    return field.kind != FeatureKind::kNone;
  });
}

Result<std::vector<FeatureField>> infer_feature_fields(const std::string& place, Bytes record,
                                                       const std::vector<FeatureField>& declared) {
  DL_ASSIGN_OR_RETURN(const FeatureMap features, features_of(place, record));
  std::vector<FeatureField> fields;
  for (const FeatureField& field : declared) {
    if (field.kind != FeatureKind::kNone) {
      fields.push_back(field);
      continue;
    }
    DL_ASSIGN_OR_RETURN(FeatureField inferred, named_feature(place, features, field.name));
    fields.push_back(std::move(inferred));
  }
  if (!declared.empty()) return fields;
  if (features.empty()) {
    return error(Code::kUnsupported, place,
                 "it has no features to infer fields from: declare them in fields=, as in ids:i64[]");
  }
  if (features.size() > kMaxFeatures) {
    return error(Code::kTooLarge, place, features.size(), " features, at most ", kMaxFeatures,
                 " become fields: name the ones to read in fields=");
  }
  for (const auto& [name, feature] : features) {
    if (name.empty() || name.size() > kMaxFeatureNameBytes || !is_name_text(name)) {
      return error(Code::kUnsupported, place, "feature ", printable(name),
                   " cannot name a field (text in UTF-8, at most ", kMaxFeatureNameBytes,
                   " bytes): leave it out by naming the others in fields=");
    }
    DL_ASSIGN_OR_RETURN(FeatureField field, field_of_feature(place, name, feature));
    fields.push_back(std::move(field));
  }
  return fields;
}

Status infer_from_later_record(const std::string& place, Bytes record, std::vector<FeatureField>& fields) {
  DL_ASSIGN_OR_RETURN(const FeatureMap features, features_of(place, record));
  for (FeatureField& field : fields) {
    if (field.kind != FeatureKind::kNone) continue;
    const auto found = features.find(field.name);
    if (found == features.end()) continue;
    DL_ASSIGN_OR_RETURN(FeatureField later, field_of_feature(place, found->first, found->second));
    // The first record has none of the values, so their number is not fixed.
    later.ragged = true;
    later.shape.clear();
    later.values = 1;
    field = std::move(later);
  }
  return Status::ok();
}

std::string feature_list_text(const std::vector<FeatureField>& fields) {
  std::string list;
  for (const FeatureField& field : fields) {
    if (list.size() > kMaxListedBytes) return list + ", ...";
    list += concat(list.empty() ? "" : ", ", field.name, ":", field.type_text());
  }
  return list;
}

bool is_plain_example(Bytes record) {
  ExampleReader reader(record);
  std::string_view name;
  bool has_list = false;
  WireFault fault;
  for (Feature feature; reader.next(name, feature);) {
    has_list = has_list || feature.kind != FeatureKind::kNone;
    int64_t values = 0;
    if (feature.kind == FeatureKind::kBytes) values = read_bytes_values(feature, fault).count;
    if (feature.kind == FeatureKind::kFloats) values = find_float_values(feature, fault).count;
    if (feature.kind == FeatureKind::kInts) values = read_int_values(feature, nullptr, 0, fault);
    if (values < 0) return false;
  }
  return reader.fault().what == nullptr && reader.is_plain() && has_list;
}

std::optional<int64_t> features_without_lists(Bytes record) {
  ExampleReader reader(record);
  std::string_view name;
  int64_t count = 0;
  for (Feature feature; reader.next(name, feature); ++count) {
    if (feature.kind != FeatureKind::kNone) return std::nullopt;
  }
  return reader.fault().what == nullptr && reader.is_plain() ? std::optional(count) : std::nullopt;
}

bool is_sequence_example(Bytes record) {
  WireReader fields(record);
  bool lists = false;
  for (WireField field; fields.next(field);) {
    if (!field.is(2, WireField::kBytes)) {
      if (!field.is(1, WireField::kBytes)) return false;
      continue;
    }
    WireReader entries(field.bytes);
    for (WireField entry; entries.next(entry); lists = true) {
      if (!entry.is(1, WireField::kBytes) || !is_list_entry(entry.bytes)) return false;
    }
    if (entries.fault().what != nullptr) return false;
  }
  return lists && fields.fault().what == nullptr;
}

}  // namespace dataline
