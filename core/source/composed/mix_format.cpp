// The scheme mix: a recipe, and the datasets that it names.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "core/source/composed/recipe.h"
#include "core/source/open.h"
#include "core/source/text_encoding.h"

namespace dataline {
namespace {

constexpr int64_t kMaxRecipeBytes = int64_t{1} << 30;  // a million parts take about 100 MB

// Bytes of a path that mean something else in a URI.
std::string escaped(std::string_view path) {
  constexpr std::string_view kSpecial = "%,?&={}", kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : path) {
    if (kSpecial.find(c) == std::string_view::npos) {
      out += c;
    } else {
      out += '%';
      out += kDigits[static_cast<unsigned char>(c) >> 4];
      out += kDigits[static_cast<unsigned char>(c) & 15];
    }
  }
  return out;
}

// "a/b/" of "a/b/c"; "./" of "c", so that what is joined to it never looks like a scheme.
std::string directory_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return "./";
  const std::string directory = path.substr(0, slash + 1);
  return directory.starts_with('/') || directory.starts_with('.') ? directory : "./" + directory;
}

bool is_relative(const std::string& path, const OpenContext& context) {
  const bool has_drive = path.size() > 1 && path[1] == ':';
  return !path.starts_with('/') && !path.starts_with('\\') && !has_drive &&
         storage_of(path, context.storages) == nullptr;
}

Result<std::string> read_text(const std::string& path, const OpenContext& context) {
  DL_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(path, context));
  DL_RETURN_IF_ERROR(refuse_other_kinds(file, "a recipe in JSON"));
  if (file.bytes() > kMaxRecipeBytes) {
    return error(Code::kTooLarge, path, ": expected a recipe of at most ", kMaxRecipeBytes, " bytes, got ",
                 file.bytes());
  }
  std::string text(static_cast<size_t>(file.bytes()), '\0');
  DL_RETURN_IF_ERROR(file.read(0, file.bytes(), reinterpret_cast<std::byte*>(text.data())));
  DL_ASSIGN_OR_RETURN(const std::string_view rest, utf8_text(path, text));
  return std::string(rest);
}

// The URI is text of the recipe, no text of the caller's: no column is his.
Status of_part(const std::string& path, const MixRecipe& recipe, size_t k, const Status& status) {
  const std::string& name = recipe.parts[k].name;
  const Code code = status.code() == Code::kBadUri ? Code::kCorrupt : status.code();
  return error(code, path, ": part ", name.empty() ? std::to_string(k) : name, ": ", status.text())
      .with_os_error(status.os_error());
}

Result<SourceRef> open_part(const std::string& written, const std::string& directory,
                            const OpenContext& context, FormatSpan known) {
  DL_ASSIGN_OR_RETURN(const std::string uri, uri_in_directory(written, directory, context));
  DL_ASSIGN_OR_RETURN(const Uri parsed, parse_uri(uri));
  // Before it is opened: recipes that name each other would never end.
  if (parsed.scheme == "mix") {
    return error(Code::kUnsupported, written,
                 " is a mix; list its parts here instead, with their weights multiplied by its own");
  }
  return open_source(uri, context, known);
}

Result<OpenOne> configure_mix(const Uri& uri) {
  if (uri.paths.size() > 1 || uri.named()) {
    return uri_error(uri.paths.back().column,
                     "mix accepts one recipe; a recipe can name any number of datasets");
  }
  return OpenOne();  // compose() opens it
}

constexpr KeySpec kMixKeys[] = {kAxesKey};

}  // namespace

Result<std::string> uri_in_directory(std::string_view text, std::string_view directory,
                                     const OpenContext& context) {
  if (storage_of(text, context.storages) != nullptr) return std::string(text);
  DL_ASSIGN_OR_RETURN(const Uri uri, parse_uri(text));
  // A bare path is literal.
  const std::string before = uri.scheme.empty() ? std::string(directory) : escaped(directory);
  std::string out = uri.text;
  for (size_t i = uri.paths.size(); i-- > 0;) {
    const UriPath& path = uri.paths[i];
    if (is_relative(path.path, context)) out.insert(static_cast<size_t>(path.path_column) - 1, before);
  }
  return out;
}

Result<SourceRef> open_recipe(const std::string& path, const OpenContext& context, FormatSpan known) {
  DL_ASSIGN_OR_RETURN(const std::string text, read_text(path, context));
  DL_ASSIGN_OR_RETURN(MixRecipe recipe, read_recipe(path, text));
  const std::string directory = directory_of(path);
  for (size_t k = 0; k < recipe.parts.size(); ++k) {
    if (context.cancelled()) {
      return error(Code::kCancelled, path, ": cancelled after ", k, " of ", recipe.parts.size(), " parts");
    }
    context.report("opening ", path);
    Result<SourceRef> source = open_part(recipe.parts[k].uri, directory, context, known);
    if (!source.is_ok()) return of_part(path, recipe, k, source.status());
    recipe.parts[k].source = source.take();
  }
  Result<SourceRef> mix = mix_sources(std::move(recipe));
  if (!mix.is_ok()) return mix.take_status().in(path);
  return mix;
}

constinit const Format kMixFormat{
    .name = "mix",
    .doc =
        "a mix of datasets by a recipe, a JSON file: {\"parts\": [{\"name\": ..., \"uri\": ..., \"weight\": "
        "0.7}, ...]}; each part has a weight or a repeat, and may have a transform; schedule and "
        "samples_per_epoch are optional. Fields: the fields of the parts",
    .keys = kMixKeys,
    .configure = configure_mix,
    .compose = open_recipe,
};

}  // namespace dataline
