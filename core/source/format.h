// The description of a dataset format, and all formats by name and by content. Each defines its Format in its own folder;
// formats.def lists them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/memory/mapped_file.h"
#include "core/source/files.h"
#include "core/source/names.h"
#include "core/source/source.h"
#include "core/source/uri.h"

namespace dataline {

// Opens one file, or one directory for formats that are directories. The URI's keys are already bound.
using OpenOne = std::function<Result<SourceRef>(const std::string& path, const OpenContext& context)>;

// How sure a format is that a file is its own. The surest format wins; among equals, the first in the list.
enum class Sniff {
  kNo,
  kGuess,    // compressed data that is usually of this format
  kLikely,   // a header that other data could start with by chance
  kCertain,  // a magic that is long enough
};

class HostFormat;

struct Format {
  std::string_view name;  // the URI scheme
  std::string_view doc;
  std::span<const KeySpec> keys = {};
  // Reads the keys of a URI. kBadUri with column.
  Result<OpenOne> (*configure)(const Uri& uri) = nullptr;
  // Instead of what configure() gives, for formats whose files name datasets of any format: opens one file.
  Result<SourceRef> (*compose)(const std::string& path, const OpenContext& context,
                               std::span<const Format* const> known) = nullptr;
  bool ranges = false;  // {000..127} in a path stands for 128 files
  bool prefix = false;  // a path may be what the names of several files begin with
  // Whether each record is compared with a checksum of its own when it is read. Null: none is.
  bool (*proves_records)(const Uri& uri) = nullptr;
  // checksums=files: compares what the file itself states of its bytes and the opener does not compare. Null: nothing.
  Status (*check_sums)(const std::string& path, const OpenContext& context) = nullptr;
  bool infers =
      false;  // each file's fields are inferred from its records where the key `fields` does not declare them

  // Paths that are directories: which files in them belong to the dataset, and the same in words ("*.npy"). Null: the
  // opener takes the directory itself.
  bool (*is_member)(const std::string& directory, std::string_view name,
                    const OpenContext& context) = nullptr;
  std::string_view members = {};
  // Which other files in a directory belong to a member, so that they are not reported as left out.
  bool (*is_companion)(const std::string& directory, std::string_view name) = nullptr;
  // The members of a directory must have the same suffix: what they hold does not tell their layout.
  bool one_kind = false;
  // Its files also lie beside those of other formats, as lists of them: without a scheme a directory is of this format only
  // if all its files are members, and no tree of another format.
  bool lists = false;

  // Detection of paths without a scheme, in this order (formats.def). All are optional.
  bool (*is_set)(const std::string& directory,
                 const OpenContext& context) = nullptr;  // by well-known file names
  Sniff (*sniff)(const FirstBytes& file) = nullptr;      // by content
  std::span<const std::string_view> suffixes = {};       // by the file's name
  // A directory in which no file was recognized by the above.
  bool (*is_tree)(const std::string& directory, const DirectoryNames& names) = nullptr;

  // Of a format of the host's: instead of configure and sniff.
  const HostFormat* host = nullptr;
};

using FormatSpan = std::span<const Format* const>;

// A format of the host's (an extension). Kept alive by what it opened.
class HostFormat : public std::enable_shared_from_this<HostFormat> {
 public:
  virtual ~HostFormat() = default;
  const Format& format() const { return format_; }

  virtual Sniff sniff(const FirstBytes& file) const = 0;
  // `values`: of format().keys, in their order; nothing where a key has neither a value nor a default.
  using Values = std::vector<std::optional<std::string>>;
  virtual Result<SourceRef> open(const std::string& path, const Values& values,
                                 const OpenContext& context) const = 0;

 protected:
  Format format_{.name = {}, .doc = {}, .host = this};  // the rest is filled in by whoever made it
};

// The key of sets with labels: whether they are delivered as i64 or as u8.
inline constexpr KeySpec kLabelDtypeKey{"label_dtype", "i64|u8", "i64", "dtype of the labels"};

// The key that names the dims of the only field, or of `image`. open_source() applies it.
inline constexpr KeySpec kAxesKey{
    "axes", "LETTERS", "",
    "names of the dims of a sample, as in HWC, for the only field or for `image`; default: unknown"};

#define FORMAT(name) extern const Format k##name##Format;
#include "core/source/formats.def"
#undef FORMAT

FormatSpan formats();                                                            // the library's
const Format* find_format(std::string_view name, FormatSpan known = formats());  // null when unknown
std::vector<std::string_view> format_names(FormatSpan known = formats());

// What opens the paths of a URI of this format. kBadUri with column.
Result<OpenOne> configure(const Format& format, const Uri& uri);

// The format of a path without a scheme. A directory that holds the well-known files of a dataset (MNIST, CIFAR) is that
// dataset; otherwise it has the format of its first recognized file, or is a folder of images. kBadUri when nothing
// is recognized, with advice on how to name a format; kUnsupported names a known kind of file that is not read; kEmpty;
// file errors.
Result<const Format*> detect_format(const std::string& path, const OpenContext& context,
                                    FormatSpan known = formats());

}  // namespace dataline
