// SPDX-License-Identifier: Apache-2.0
#include "core/source/arrays/arrays.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/base/name_text.h"
#include "core/base/text.h"
#include "core/source/composed/composed.h"
#include "core/source/files.h"
#include "core/source/flat_file.h"
#include "core/source/forward_source.h"
#include "core/source/npy/npy_header.h"

namespace dataline {
namespace {

std::string array_text(const NamedArray& array) {
  const std::string shape = array.shape.empty() ? "without dims" : shape_text(array.shape);
  return concat("array ", printable(array.name), " ", shape, " ", dtype_name(array.dtype));
}

// One sample has the first dim that rows count; a whole array gets one of 1 before its own.
std::vector<int64_t> dims_of_records(const NamedArray& array, const ArrayOptions& options) {
  std::vector<int64_t> dims = array.shape;
  if (!options.rows) dims.insert(dims.begin(), 1);
  return dims;
}

Status check_lengths(const std::string& path, const std::vector<NamedArray>& arrays) {
  for (const NamedArray& array : arrays) {
    if (array.shape[0] == arrays[0].shape[0]) continue;
    return error(Code::kMismatch, path, ": ", array_text(array), " and ", array_text(arrays[0]),
                 " differ in their first dim: choose arrays of one length with fields=NAME,NAME, ",
                 "or make the file one sample with rows=false");
  }
  return Status::ok();
}

// The dataset as its format names it, and the array in the place of a bad sample. Array f is column f.
class Arrays final : public ForwardSource {
 public:
  Arrays(SourceRef source, SourceInfo info) : ForwardSource(std::move(source)), info_(std::move(info)) {}

  SourceInfo info() const override { return info_; }
  Place place_of(int64_t index, size_t column) const override {
    Place place = source_->place_of(index, column);
    place.within = concat("array ", printable(schema().fields[column].name), ", ", place.within);
    return place;
  }

 private:
  SourceInfo info_;
};

Result<SourceRef> open_array(const NamedArray& array, const WatchedFileRef& file,
                             const ArrayOptions& options) {
  const std::vector<int64_t> dims = dims_of_records(array, options);
  DL_ASSIGN_OR_RETURN(
      const ArraySize size,
      size_of_array(concat(file->file().path(), ": ", array_text(array)), array.dtype, dims, 0));
  const std::vector<int64_t> shape(dims.begin() + 1, dims.end());
  Schema schema = column_per_field({{array.name, FieldKind::kDense, array.dtype, shape, "", -1}});
  if (array.fortran) {
    NpyHeader header;
    header.dtype = array.dtype;
    header.swapped = array.swapped;
    header.shape = dims;
    header.data_offset = array.offset;
    return open_fortran(file, std::move(schema), {}, header);
  }
  const FlatConversion conversion = array.swapped ? swap_conversion(array.dtype) : FlatConversion::kNone;
  return FlatFile::create(file, std::move(schema),
                          FlatLayout::packed(array.offset, size.record_bytes, dims[0], conversion), {});
}

}  // namespace

Result<ArrayOptions> array_options(const Uri& uri) {
  ArrayOptions options;
  DL_ASSIGN_OR_RETURN(const bool whole, uri_is(uri, kRowsKey, "false"));
  options.rows = !whole;
  DL_ASSIGN_OR_RETURN(options.fields, uri_names(uri, kArrayFieldsKey.name));
  return options;
}

Result<std::vector<size_t>> choose_arrays(const std::string& path, std::span<const std::string_view> names,
                                          const ArrayOptions& options) {
  if (names.empty()) return error(Code::kEmpty, path, ": no arrays in this file");
  std::vector<size_t> chosen;
  for (const std::string& wanted : options.fields) {
    const auto found = std::find(names.begin(), names.end(), wanted);
    if (found == names.end()) return no_such_field(concat(path, ": "), "array", wanted, names);
    chosen.push_back(static_cast<size_t>(found - names.begin()));
  }
  if (!options.fields.empty()) return chosen;
  if (names.size() > kMaxArrayFields) {
    return error(Code::kTooLarge, path, ": ", names.size(), " arrays, at most ", kMaxArrayFields,
                 " are delivered; choose some with fields= from ", some_names(names, ", "));
  }
  for (size_t i = 0; i < names.size(); ++i) chosen.push_back(i);
  return chosen;
}

bool is_array_name(std::string_view name) { return !name.empty() && is_name_text(name); }

Status check_array(const std::string& path, const NamedArray& array, const ArrayOptions& options) {
  const std::string at = concat(path, ": offset ", array.offset, ": ", array_text(array));
  const auto rank = static_cast<int64_t>(array.shape.size());
  if (options.rows && rank == 0)
    return error(Code::kUnsupported, at, ": has no first axis for samples; rows=false delivers it");
  if (rank > kMaxRank) return error(Code::kUnsupported, at, ": at most ", kMaxRank, " dims are supported");
  const auto first = array.shape.begin() + (options.rows ? 1 : 0);
  if (std::find(first, array.shape.end(), 0) != array.shape.end())
    return error(Code::kUnsupported, at, ": ", options.rows ? "its samples hold" : "it holds", " no bytes");
  return Status::ok();
}

Status with_cure(Status refused, std::string_view name, std::span<const std::string_view> names,
                 const ArrayOptions& options) {
  const bool curable = refused.code() == Code::kUnsupported || refused.code() == Code::kUnsafeType;
  if (!curable || !options.fields.empty()) return refused;
  std::vector<std::string_view> others(names.begin(), names.end());
  std::erase(others, name);
  if (others.empty()) return refused;
  return error(refused.code(), refused.message(), " (fields=", some_names(others, ","), " leaves it out)");
}

Result<SourceRef> open_arrays(ArrayFile opened, const ArrayOptions& options, const OpenContext& context) {
  const std::string path = opened.file.path();
  if (options.rows) DL_RETURN_IF_ERROR(check_lengths(path, opened.arrays));
  const bool stored = std::any_of(opened.arrays.begin(), opened.arrays.end(),
                                  [](const NamedArray& array) { return array.own_file == nullptr; });
  if (stored) DL_RETURN_IF_ERROR(opened.file.load(context));
  const auto file = std::make_shared<const WatchedFile>(std::move(opened.file));
  std::vector<Part> parts;
  for (const NamedArray& array : opened.arrays) {
    const WatchedFileRef& from = array.own_file != nullptr ? array.own_file : file;
    DL_ASSIGN_OR_RETURN(SourceRef source, open_array(array, from, options));
    parts.push_back({"", std::move(source), path});
  }
  SourceInfo info{std::string(opened.format), "", std::move(opened.notes)};
  if (parts.size() == 1)
    return SourceRef(std::make_shared<Arrays>(std::move(parts[0].source), std::move(info)));
  DL_ASSIGN_OR_RETURN(SourceRef zipped, zip_sources(std::move(parts)));
  return SourceRef(std::make_shared<Arrays>(std::move(zipped), std::move(info)));
}

}  // namespace dataline
