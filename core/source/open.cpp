// SPDX-License-Identifier: Apache-2.0
#include "core/source/open.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/over_budget.h"
#include "core/base/text.h"
#include "core/memory/file.h"
#include "core/source/composed/composed.h"
#include "core/source/composed/mix.h"
#include "core/source/directory_files.h"
#include "core/source/files.h"
#include "core/source/format.h"
#include "core/source/forward_source.h"
#include "core/source/identity.h"
#include "core/source/open_files.h"
#include "core/source/packing/packing.h"
#include "core/source/plugin_formats.h"
#include "core/source/set_checks.h"
#include "core/source/uri.h"

namespace dataline {
namespace {

// A dataset opened by URI as the user sees it: the scheme as its format, the URI as given, the key `axes` applied.
class OpenedSource final : public ForwardSource {
 public:
  OpenedSource(SourceRef source, Schema schema, SourceInfo info, const Uri& uri)
      : ForwardSource(std::move(source)), schema_(std::move(schema)), info_(std::move(info)) {
    for (const UriKey& key : uri.keys) keys_.push_back(concat(key.key, "=", key.value));
    for (const UriPath& path : uri.paths) {
      FileFacts facts;
      if (facts_of_path(path.path, facts) == 0 && facts.is_directory)
        directories_.push_back({path.path, facts});
    }
  }

  const Schema& schema() const override { return schema_; }
  SourceInfo info() const override { return info_; }
  // All keys, so that none that changes a value is forgotten; one that changes none costs a cache of its own.
  void identify(IdentityBuilder& identity) const override {
    source_->identify(identity);
    identity.add_local(info_.format);
    for (const std::string& key : keys_) identity.add_local(key);
    for (const auto& [path, facts] : directories_) identity.add_directory(path, facts);
  }

 private:
  Schema schema_;
  SourceInfo info_;
  std::vector<std::string> keys_;
  std::vector<std::pair<std::string, FileFacts>> directories_;  // that the URI names
};

std::string scheme_list(FormatSpan known) {
  std::string list;
  for (std::string_view name : format_names(known)) list += concat(list.empty() ? "" : " ", name);
  return list;
}

// ", did you mean 'rom://'?" or "". Only schemes that this open can read: those of its storages and formats.
std::string nearest_scheme(std::string_view scheme, const OpenContext& context, FormatSpan known) {
  std::vector<std::string_view> names;
  for (const HostStorageRef& storage : context.storages) names.push_back(storage->scheme());
  const size_t storages = names.size();
  for (const std::string_view name : format_names(known)) names.push_back(name);
  const std::string_view best = nearest(scheme, names);
  if (best.empty()) return "";
  const bool stored = std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(storages), best) !=
                      names.begin() + static_cast<std::ptrdiff_t>(storages);
  return concat(", did you mean '", best, stored ? "://" : "", "'?");
}

std::string storage_list(const OpenContext& context) {
  std::string list;
  for (const HostStorageRef& storage : context.storages)
    list += concat(list.empty() ? "" : " ", storage->scheme(), "://");
  return list;
}

// Explains why `s3://bucket/key` and the like are not opened; ok for a path, and where a storage has the scheme.
Status refuse_foreign(std::string_view text, int64_t column, const OpenContext& context, FormatSpan known) {
  struct Tool {
    std::string_view scheme, words;
  };
  constexpr Tool kTools[] = {{"s3", " (aws s3 cp, mount-s3)"},
                             {"gs", " (gcloud storage cp, gcsfuse)"},
                             {"az", " (azcopy copy, blobfuse2)"},
                             {"http", " (curl -O)"},
                             {"https", " (curl -O)"},
                             {"hf", " (hf download)"}};
  const std::string_view scheme = scheme_of_path(text);
  if (scheme.size() < 2 || find_format(scheme, known) != nullptr) return Status::ok();
  if (storage_of(text, context.storages) != nullptr) return Status::ok();
  if (scheme == "file") {
    return uri_error(column, "file:// is not supported; write the path: SCHEME:", text.substr(7),
                     ", the schemes are ", scheme_list(known));
  }
  const auto tool =
      std::find_if(std::begin(kTools), std::end(kTools), [&](const Tool& t) { return t.scheme == scheme; });
  if (tool == std::end(kTools)) {
    const std::string nearest = nearest_scheme(scheme, context, known);
    const std::string storages = storage_list(context);
    return uri_error(column, "no storage reads ", scheme, "://", nearest, nearest.empty() ? ";" : "",
                     storages.empty() ? " no plug-in or extension has added a storage" : " the storages are ",
                     storages, "; the schemes of local files are ", scheme_list(known));
  }
  return uri_error(column, scheme,
                   ":// is remote storage, and only local files are read: download or mount them",
                   tool->words, ", then open SCHEME:PATH; the schemes are ", scheme_list(known));
}

// A format of the host's lists a directory itself, and has no notes: the library reports what is not of its kind, and the
// subdirectories of which no file was opened.
void note_left_out(const Format& format, const std::string& path, const Source& source,
                   const OpenContext& context, std::vector<std::string>& notes) {
  const Result<bool> directory = is_directory(path);
  if (format.suffixes.empty() || !directory.is_ok() || !directory.value()) return;
  const std::string note = left_out_beside(format, path, data_files_of(source), context);
  if (!note.empty()) notes.push_back(note);
}

Result<Files> files_of(const Format& format, const std::string& path, const OpenContext& context,
                       std::vector<std::string>& notes) {
  const HostStorage* const storage = storage_of(path, context.storages);
  if (storage != nullptr && (format.is_member != nullptr || format.host != nullptr)) return Files{path};
  if (storage != nullptr) {
    return error(Code::kUnsupported, path, ": ", format.name, " needs a directory, and storage ",
                 storage->scheme(), " has none");
  }
  if (format.host != nullptr) return Files{path};
  const bool may_be_missing = format.prefix || context.bad_files == BadFiles::kSkip;
  if (format.is_member == nullptr || (may_be_missing && !path_exists(path))) return Files{path};
  DL_ASSIGN_OR_RETURN(bool directory, is_directory(path));
  if (!directory) return Files{path};
  DL_ASSIGN_OR_RETURN(DirectoryFiles files, directory_files(format, path, context));
  if (!files.note.empty()) notes.push_back(std::move(files.note));
  return std::move(files.paths);
}

Result<Files> files_of(const Uri& uri, const Format& format, const UriPath& path, const OpenContext& context,
                       std::vector<std::string>& notes) {
  // A bare path is literal: braces in it are part of the name.
  const std::string_view text = uri.text_of(path);
  const bool literal =
      uri.text.size() == path.path.size() || text.find_first_of("{}") == std::string_view::npos;
  if (!format.ranges || literal) return files_of(format, path.path, context, notes);
  return expand_ranges(text, path.path_column);
}

Result<SourceRef> open_paths(const Uri& uri, const Format& format, const OpenContext& context,
                             FormatSpan known, std::vector<std::string>& notes) {
  DL_ASSIGN_OR_RETURN(OpenOne open_one, configure(format, uri));
  if (format.compose != nullptr) {
    open_one = [&format, known](const std::string& path, const OpenContext& at) {
      return format.compose(path, at, known);
    };
  }
  SetChecks checks(context);
  std::vector<Files> files;
  size_t file_count = 0;
  for (const UriPath& path : uri.paths) {
    if (!path_exists(path.path))
      DL_RETURN_IF_ERROR(refuse_foreign(path.path, path.path_column, context, known));
    DL_ASSIGN_OR_RETURN(Files found, files_of(uri, format, path, context, notes));
    const Result<bool> directory = is_directory(path.path);
    if (context.checksums == Checksums::kFiles && directory.is_ok() && directory.value())
      checks.take_directory(path.path, format.name, found);
    file_count += found.size();
    files.push_back(std::move(found));
  }
  context.progress->expect_files(static_cast<int64_t>(file_count));
  if (format.host != nullptr) {
    open_one = [&format, &notes, open = std::move(open_one)](const std::string& path,
                                                             const OpenContext& at) -> Result<SourceRef> {
      DL_ASSIGN_OR_RETURN(SourceRef source, open(path, at));
      if (storage_of(path, at.storages) == nullptr) note_left_out(format, path, *source, at, notes);
      return source;
    };
  }
  OpenFiles opening(uri, format, std::move(open_one), context, checks, file_count);
  if (!uri.named()) {
    Files all;
    for (Files& some : files) std::move(some.begin(), some.end(), std::back_inserter(all));
    Result<SourceRef> opened = opening.open(all);
    for (std::string& note : opening.notes()) notes.push_back(std::move(note));
    return opened;
  }
  if (context.bad_files == BadFiles::kSkip && file_count > files.size())
    return error(
        Code::kBadOption,
        "bad_files=skip: paths side by side must have the same samples; skip files of one path only");
  std::vector<Part> parts;
  for (size_t i = 0; i < files.size(); ++i) {
    DL_ASSIGN_OR_RETURN(SourceRef source, opening.open(files[i]));
    parts.push_back({uri.paths[i].name, std::move(source), uri.paths[i].path});
  }
  for (std::string& note : opening.notes()) notes.push_back(std::move(note));
  return zip_sources(std::move(parts));
}

// What to write instead of a path that is not there, and has a pattern or a range in it.
Status explain_missing(Status status, const Uri& uri, bool bare, FormatSpan known) {
  if (status.code() != Code::kNotFound) return status;
  for (const UriPath& path : uri.paths) {
    const std::string& name = path.path;
    if (path_exists(name)) continue;
    const bool pattern = name.find('*') != std::string::npos, range = name.find('{') != std::string::npos;
    if (!pattern && !(bare && range)) continue;
    const PluginFormat* const apart = bare ? plugin_format_of_file(name, {}) : nullptr;
    if (apart != nullptr && find_format(apart->name, known) == nullptr)
      return error(Code::kNotFound, status.message(), "; ", apart->name, ": ", plugin_advice(*apart));
    if (pattern)
      return error(Code::kNotFound, status.message(), "; patterns are not expanded: name the directory");
    for (const Format* format : known) {
      if (format->ranges && has_suffix(name, format->suffixes))
        return error(Code::kNotFound, status.message(), "; a range of files needs its scheme: ", format->name,
                     ":", name);
    }
  }
  return status;
}

Result<const Format*> format_of(const Uri& uri, const OpenContext& context, FormatSpan known) {
  const Format* format = find_format(uri.scheme, known);
  if (format != nullptr) return format;
  if (const PluginFormat* apart = plugin_format(uri.scheme))
    return uri_error(1, apart->name, ": ", plugin_advice(*apart));
  const std::string nearest = nearest_scheme(uri.scheme, context, known);
  return uri_error(1, "unknown scheme '", uri.scheme, "'", nearest, nearest.empty() ? ";" : "",
                   " the schemes are ", scheme_list(known), " (a path with ':' in it is written ./",
                   uri.scheme, ":...)");
}

Status check_keys(const Uri& uri, const Format& format) {
  std::vector<std::string_view> known;
  for (const KeySpec& key : format.keys) known.push_back(key.name);
  for (const UriKey& key : uri.keys) {
    if (std::find(known.begin(), known.end(), key.key) != known.end()) continue;
    std::string expected;
    for (std::string_view name : known) expected += concat(expected.empty() ? " (keys: " : ", ", name);
    expected += known.empty() ? " (it has no keys)" : ")";
    const bool packs = std::any_of(std::begin(kPackingKeys), std::end(kPackingKeys),
                                   [&](const KeySpec& spec) { return spec.name == key.key; });
    return uri_error(key.column, format.name, " has no key '", key.key, "'",
                     packs ? "; set it as an option when you open the dataset" : did_you_mean(key.key, known),
                     expected);
  }
  return Status::ok();
}

// The key `axes` applies to the only field, or to the one called `image`.
Status apply_axes(const Uri& uri, Schema& schema) {
  const UriKey* key = uri.find("axes");
  if (key == nullptr) return Status::ok();
  auto wanted = std::find_if(schema.fields.begin(), schema.fields.end(), [&](const Field& field) {
    return schema.fields.size() == 1 || field.name == "image";
  });
  if (key->value.empty())
    return uri_error(key->value_column, "axes=: expected one letter per dim, as in HWC");
  if (wanted == schema.fields.end()) {
    return uri_error(key->column, "axes is for the only field or for 'image'; this dataset has ",
                     schema.fields.size(), " fields and no 'image'");
  }
  const std::string &axes = key->value, &path = uri.paths.front().path;
  auto is_letter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); };
  for (size_t i = 0; i < axes.size(); ++i) {
    if (is_letter(axes[i]) && axes.find(axes[i]) == i) continue;
    return uri_error(key->value_column, path, ": axes=", axes,
                     ": expected different letters, one per dim, as in HWC");
  }
  if (axes.size() != wanted->shape.size()) {
    return uri_error(key->value_column, path, ": axes=", axes, " names ", axes.size(), " dims, a sample of '",
                     wanted->name, "' is ", field_type_text(*wanted));
  }
  wanted->axes = axes;
  return Status::ok();
}

Result<SourceRef> open_counted(std::string_view text, const OpenContext& context, FormatSpan known) {
  DL_RETURN_IF_ERROR(refuse_foreign(text, 1, context, known));  // before our rules for `? & =` apply to it
  const bool stored =
      storage_of(text, context.storages) != nullptr;  // a bare path with the scheme of a storage
  DL_ASSIGN_OR_RETURN(Uri uri, stored ? bare_uri(text) : parse_uri(text));
  if (context.cancelled()) {  // before touching any path
    return error(Code::kCancelled, uri.text, ": cancelled before it was opened");
  }
  const bool bare = uri.scheme.empty();
  if (bare) {
    Result<const Format*> detected = detect_format(uri.paths.front().path, context, known);
    if (!detected.is_ok()) return explain_missing(detected.take_status(), uri, bare, known);
    uri.scheme = detected.value()->name;
  }
  DL_ASSIGN_OR_RETURN(const Format* format, format_of(uri, context, known));
  DL_RETURN_IF_ERROR(check_keys(uri, *format));
  DL_ASSIGN_OR_RETURN(const std::optional<PackOptions> packing, uri_packing(uri));
  std::vector<std::string> opening_notes;
  Result<SourceRef> opened = open_paths(uri, *format, context, known, opening_notes);
  if (!opened.is_ok()) return explain_missing(opened.take_status(), uri, bare, known);
  SourceRef source = opened.take();
  if (packing) {
    DL_ASSIGN_OR_RETURN(source, pack_source(std::move(source), *packing, context));
  }
  Schema schema = source->schema();
  const UriKey* const axes = uri.find("axes");
  if (const Mix* const mix = source->facts().mix; axes != nullptr && mix != nullptr && mix->grouped()) {
    return uri_error(axes->column,
                     "axes is not supported for a mix whose parts have their own transforms or shapes; set "
                     "it in the URIs of the parts");
  }
  DL_RETURN_IF_ERROR(apply_axes(uri, schema));
  SourceInfo info{std::string(format->name), uri.text, std::move(opening_notes)};
  const std::vector<std::string> notes = source->info().notes;
  info.notes.insert(info.notes.end(), notes.begin(), notes.end());
  return SourceRef(
      std::make_shared<OpenedSource>(std::move(source), std::move(schema), std::move(info), uri));
}

}  // namespace

Result<SourceRef> open_source(std::string_view text, const OpenContext& context, FormatSpan known) {
  try {
    return open_counted(text, context, known);
  } catch (const OverBudget& refused) {
    return refused.status(concat(text, ": an index of it"));
  }
}

}  // namespace dataline
