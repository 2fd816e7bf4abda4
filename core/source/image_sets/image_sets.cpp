// SPDX-License-Identifier: Apache-2.0
#include "core/source/image_sets/image_sets.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/base/bytes.h"
#include "core/memory/file.h"
#include "core/source/files.h"
#include "core/source/forward_source.h"

namespace dataline {
namespace {

Status check_folder(const std::string& path, std::string_view wanted) {
  DL_ASSIGN_OR_RETURN(bool directory, is_directory(path));
  if (directory) return Status::ok();
  return error(Code::kNotFound, path, ": is a file, expected the directory that holds ", wanted);
}

// The path of the first of `names` in `folder`, plain before .gz; empty if there is none.
Result<std::string> find_any(const std::string& folder, std::span<const std::string_view> names) {
  for (std::string_view name : names) {
    for (std::string_view suffix : {"", ".gz"}) {
      std::string path = join_path(folder, concat(name, suffix));
      FileFacts facts;
      const int number = facts_of_path(path, facts);
      if (number == 0) return path;
      if (number != ENOENT && number != ENOTDIR) return file_error(path, number);
    }
  }
  return std::string();
}

class LabelCheck final : public ForwardSource {
 public:
  LabelCheck(SourceRef source, std::string path, std::vector<LabelBound> bounds)
      : ForwardSource(std::move(source)), path_(std::move(path)), bounds_(std::move(bounds)) {}

  void locate(Run& run) const override {
    source_->locate(run);
    for (const LabelBound& bound : bounds_) check(run, bound);
  }

 private:
  int64_t label(const Field& field, const std::byte* data) const {
    return field.dtype == DType::kU8 ? std::to_integer<int64_t>(*data) : load_native<int64_t>(data);
  }

  void check(Run& run, const LabelBound& bound) const {
    const Field& field = schema().fields[bound.field];
    const Run::ColumnRows& rows = run.columns[schema().places[bound.field].column];
    for (int64_t i = 0; i < run.count; ++i) {
      if (rows.data[i] == nullptr || label(field, rows.data[i]) <= bound.max) continue;
      run.fail(i, schema().columns.size(),
               error(Code::kCorrupt, path_, ": record ", run.indices[i], ": ", field.name, " is ",
                     label(field, rows.data[i]), ", expected 0 to ", bound.max));
    }
  }

  std::string path_;
  std::vector<LabelBound> bounds_;
};

}  // namespace

Result<ImageSetOptions> image_set_options(const Uri& uri) {
  ImageSetOptions options;
  DL_ASSIGN_OR_RETURN(options.test, uri_is(uri, kSplitKey, "test"));
  DL_ASSIGN_OR_RETURN(options.label_u8, uri_is(uri, kLabelDtypeKey, "u8"));
  return options;
}

bool any_exists(const std::string& directory, std::initializer_list<std::string_view> names) {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view name) { return path_exists(join_path(directory, name)); });
}

Result<std::string> find_set_folder(const std::string& path, std::span<const std::string_view> folders,
                                    std::span<const std::string_view> names) {
  DL_RETURN_IF_ERROR(check_folder(path, names.front()));
  for (std::string_view inner : folders) {
    std::string folder = inner.empty() ? path : join_path(path, inner);
    DL_ASSIGN_OR_RETURN(std::string found, find_any(folder, names));
    if (!found.empty()) return folder;
  }
  return error(Code::kNotFound, path, ": no ", names.front(), " in it, plain or .gz");
}

Result<std::string> find_set_file(const std::string& folder, std::span<const std::string_view> names) {
  DL_ASSIGN_OR_RETURN(std::string found, find_any(folder, names));
  if (!found.empty()) return found;
  return error(Code::kNotFound, join_path(folder, names.front()), ": no such file, plain or .gz");
}

SourceRef with_label_check(SourceRef source, std::string path, std::vector<LabelBound> bounds) {
  return std::make_shared<LabelCheck>(std::move(source), std::move(path), std::move(bounds));
}

}  // namespace dataline
