// SPDX-License-Identifier: Apache-2.0
#include "core/source/formats.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "core/source/directory.h"
#include "core/source/folder.h"
#include "core/source/idx.h"
#include "core/source/image_sets.h"
#include "core/source/npy.h"
#include "core/source/peek.h"
#include "core/source/raw.h"
#include "core/source/record_fields.h"
#include "core/source/tar.h"
#include "core/source/tokens.h"

namespace dataline {
namespace {

Result<OpenOne> configure_npy(const Uri& uri) {
  constexpr std::string_view kTrailing[] = {"error", "ignore"};
  NpyOptions options;
  DL_ASSIGN_OR_RETURN(std::string_view trailing, uri_word(uri, "trailing", "error", kTrailing));
  options.trailing_ignore = trailing == "ignore";
  DL_ASSIGN_OR_RETURN(std::optional<DType> dtype, uri_dtype(uri, "dtype"));
  if (dtype && *dtype != DType::kBf16) {
    return uri_error(uri.find("dtype")->value_column,
                     "npy files say their dtype; only dtype=bf16 may be given, ",
                     "to read 2-byte void as bf16");
  }
  options.bf16 = dtype.has_value();
  return OpenOne([options](const std::string& path, const OpenContext& context) {
    return open_npy(path, options, context);
  });
}

Result<OpenOne> configure_idx(const Uri&) {
  return OpenOne(
      [](const std::string& path, const OpenContext& context) { return open_idx(path, {}, context); });
}

Result<OpenOne> configure_raw(const Uri& uri) {
  constexpr std::string_view kPartial[] = {"error", "ignore"};
  RawOptions options;
  DL_ASSIGN_OR_RETURN(options.fields, record_fields(uri));
  DL_ASSIGN_OR_RETURN(options.header_bytes, uri_i64(uri, "header", 0, 0));
  DL_ASSIGN_OR_RETURN(std::string_view partial, uri_word(uri, "partial", "error", kPartial));
  options.partial_ignore = partial == "ignore";
  return OpenOne([options](const std::string& path, const OpenContext& context) -> Result<SourceRef> {
    DL_ASSIGN_OR_RETURN(Peek start, peek(path, context));
    DL_RETURN_IF_ERROR(refuse_stand_ins(start));  // a raw reader would take them for records
    return open_raw(path, options, context);
  });
}

Result<OpenOne> configure_tokens(const Uri& uri) {
  TokensOptions options;
  DL_ASSIGN_OR_RETURN(options.length, uri_i64(uri, "length", options.length, 1));
  if (options.length > kMaxWindowTokens) {
    return uri_error(uri.find("length")->value_column, "length is at most ", kMaxWindowTokens);
  }
  DL_ASSIGN_OR_RETURN(options.stride, uri_i64(uri, "stride", options.length, 1));
  DL_ASSIGN_OR_RETURN(options.views, uri_bool(uri, "views", false));
  DL_ASSIGN_OR_RETURN(options.dtype, uri_dtype(uri, "dtype"));
  if (options.dtype && !dtype_is_integer(*options.dtype)) {
    return uri_error(uri.find("dtype")->value_column, "tokens are integers: u8 u16 u32 u64 i8 i16 i32 i64");
  }
  return OpenOne([options](const std::string& path, const OpenContext& context) {
    return open_tokens(path, options, context);
  });
}

Status read_labels_key(const Uri& uri, FolderOptions& options) {
  const UriKey* key = uri.find("labels");
  if (key == nullptr || key->value == "folder") return Status::ok();
  options.labels = key->value == "none" ? FolderLabels::kNone : FolderLabels::kFile;
  if (options.labels == FolderLabels::kNone) return Status::ok();
  options.label_file = key->value;
  if (!key->value.ends_with(".csv") && !key->value.ends_with(".jsonl")) {
    return uri_error(key->value_column, "labels=", key->value,
                     ": expected folder, none, or a .csv or .jsonl file");
  }
  if (uri.paths.size() == 1) return Status::ok();
  return uri_error(key->value_column, "labels=", key->value, " names the files of one folder, here are ",
                   uri.paths.size());
}

Status read_extensions_key(const Uri& uri, FolderOptions& options) {
  const UriKey* key = uri.find("extensions");
  if (key == nullptr) return Status::ok();
  options.extensions.clear();
  for (std::string_view part : split(key->value, ',')) {
    std::string extension(part.starts_with('.') ? part.substr(1) : part);
    if (extension.empty() || extension.find('/') != std::string::npos) {
      return uri_error(key->value_column, "extensions=", key->value, ": expected them as in jpg,png");
    }
    for (char& c : extension) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
    }
    options.extensions.push_back(concat(".", extension));
  }
  return Status::ok();
}

// Keys that would change nothing are refused: what was meant is not what would happen.
Status refuse_idle_keys(const Uri& uri, const FolderOptions& options) {
  for (std::string_view name : {"index", "extensions"}) {
    const UriKey* key = uri.find(name);
    if (key == nullptr || options.labels != FolderLabels::kFile) continue;
    return uri_error(key->column, name, " is for folders that are walked; labels=", options.label_file,
                     " names its files itself");
  }
  const UriKey* dtype = uri.find("label_dtype");
  if (dtype == nullptr || options.labels != FolderLabels::kNone) return Status::ok();
  return uri_error(dtype->column, "label_dtype: there are no labels with labels=none");
}

Result<OpenOne> configure_folder(const Uri& uri) {
  constexpr std::string_view kLabelTypes[] = {"i64", "u8"};
  FolderOptions options;
  DL_RETURN_IF_ERROR(read_labels_key(uri, options));
  DL_RETURN_IF_ERROR(read_extensions_key(uri, options));
  DL_RETURN_IF_ERROR(refuse_idle_keys(uri, options));
  DL_ASSIGN_OR_RETURN(options.allow_empty, uri_bool(uri, "allow_empty", false));
  DL_ASSIGN_OR_RETURN(std::string_view label_dtype, uri_word(uri, "label_dtype", "i64", kLabelTypes));
  options.label_u8 = label_dtype == "u8";
  if (const UriKey* index = uri.find("index"); index != nullptr) {
    if (index->value.empty()) return uri_error(index->value_column, "index=: expected a file");
    if (uri.paths.size() > 1) {
      return uri_error(index->column, "index is of one folder, here are ", uri.paths.size());
    }
    options.index_file = index->value;
  }
  return OpenOne([options](const std::string& path, const OpenContext& context) {
    return open_folder(path, options, context);
  });
}

using OpenImageSet = Result<SourceRef> (*)(const std::string&, const ImageSetOptions&, const OpenContext&);

template <OpenImageSet open>
Result<OpenOne> configure_image_set(const Uri& uri) {
  constexpr std::string_view kSplits[] = {"train", "test"};
  constexpr std::string_view kLabelTypes[] = {"i64", "u8"};
  ImageSetOptions options;
  DL_ASSIGN_OR_RETURN(std::string_view split, uri_word(uri, "split", "train", kSplits));
  options.test = split == "test";
  DL_ASSIGN_OR_RETURN(std::string_view label_dtype, uri_word(uri, "label_dtype", "i64", kLabelTypes));
  options.label_u8 = label_dtype == "u8";
  return OpenOne([options](const std::string& path, const OpenContext& context) {
    return open(path, options, context);
  });
}

// `fields=image,label`: names, each once.
Result<std::vector<std::string>> wanted_fields(const Uri& uri) {
  std::vector<std::string> names;
  const UriKey* key = uri.find("fields");
  if (key == nullptr) return names;
  for (std::string_view name : split(key->value, ',')) {
    if (name.empty())
      return uri_error(key->value_column, "fields='", key->value, "': expected names, as in image,label");
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      return uri_error(key->value_column, "fields='", key->value, "': '", name, "' is named twice");
    }
    names.emplace_back(name);
  }
  return names;
}

Result<OpenOne> configure_tar(const Uri& uri) {
  constexpr std::string_view kLabelTypes[] = {"i64", "u8"};
  constexpr std::string_view kEnds[] = {"required", "optional"};
  TarOptions options;
  DL_ASSIGN_OR_RETURN(std::string_view label_dtype, uri_word(uri, "label_dtype", "i64", kLabelTypes));
  options.label_u8 = label_dtype == "u8";
  DL_ASSIGN_OR_RETURN(std::string_view end, uri_word(uri, "end", "required", kEnds));
  options.end_optional = end == "optional";
  if (const UriKey* image = uri.find("image")) options.image = image->value;
  DL_ASSIGN_OR_RETURN(options.fields, wanted_fields(uri));
  return OpenOne([options](const std::string& path, const OpenContext& context) {
    return open_tar(path, options, context);
  });
}

bool is_npy_member(const std::string&, std::string_view name, const OpenContext&) {
  return name.ends_with(".npy");
}
bool is_raw_member(const std::string&, std::string_view, const OpenContext&) { return true; }
bool is_tokens_member(const std::string&, std::string_view name, const OpenContext&) {
  return name.ends_with(".bin") || name.ends_with(".npy");
}
bool is_tar_member(const std::string&, std::string_view name, const OpenContext&) {
  return name.ends_with(".tar");
}
bool is_idx_member(const std::string& directory, std::string_view name, const OpenContext& context) {
  std::string_view plain = name.ends_with(".gz") ? name.substr(0, name.size() - 3) : name;
  if (plain.ends_with("-ubyte") || plain.ends_with(".idx")) return true;
  Result<Peek> start = peek(join_path(directory, name), context);
  return start.is_ok() && idx_file_bytes(start.value()).has_value();
}

constexpr std::string_view kNpyKeys[] = {"trailing", "dtype"};
constexpr std::string_view kRawKeys[] = {"dtype", "shape", "fields", "header", "partial"};
constexpr std::string_view kTokensKeys[] = {"length", "stride", "views", "dtype"};
constexpr std::string_view kTarKeys[] = {"label_dtype", "fields", "image", "end"};
constexpr std::string_view kFolderKeys[] = {"labels", "allow_empty", "extensions", "label_dtype", "index"};
constexpr std::string_view kImageSetKeys[] = {"split", "label_dtype"};

constexpr Format kFormats[] = {
    Format{"npy", kNpyKeys, true, configure_npy, is_npy_member, "*.npy"},
    Format{"idx", {}, true, configure_idx, is_idx_member, "*-ubyte, *.idx, or by content"},
    Format{"raw", kRawKeys, true, configure_raw, is_raw_member, "all"},
    Format{"mnist", kImageSetKeys, false, configure_image_set<open_mnist>},
    Format{"cifar10", kImageSetKeys, false, configure_image_set<open_cifar10>},
    Format{"cifar100", kImageSetKeys, false, configure_image_set<open_cifar100>},
    Format{"tokens", kTokensKeys, false, configure_tokens, is_tokens_member, "*.bin, *.npy"},
    Format{"folder", kFolderKeys, false, configure_folder},
    Format{"tar", kTarKeys, false, configure_tar, is_tar_member, "*.tar", true},
};

constexpr auto kNames = [] {
  std::array<std::string_view, std::size(kFormats)> names{};
  for (size_t i = 0; i < names.size(); ++i) names[i] = kFormats[i].name;
  return names;
}();

}  // namespace

std::span<const Format> formats() { return kFormats; }
std::span<const std::string_view> format_names() { return kNames; }

const Format* find_format(std::string_view name) {
  for (const Format& format : kFormats) {
    if (format.name == name) return &format;
  }
  return nullptr;
}

}  // namespace dataline
