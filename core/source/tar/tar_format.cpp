// The format `tar`: its keys and how it is detected.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/text.h"
#include "core/source/format.h"
#include "core/source/tar/tar.h"

namespace dataline {
namespace {

constexpr KeySpec kTarEnd{
    "end", "required|optional|cut", "required",
    "whether an archive must have its end mark; cut: bytes after the last complete member are left out"};
constexpr KeySpec kDamagedHeader{
    "damage", "error|skip", "error",
    "what to do if a header is missing; skip: leaves out the bytes before the next header, at any byte, and "
    "members that lost or gained bytes; reads all data for this"};
constexpr KeySpec kTarKeys[] = {
    kLabelDtypeKey,
    {"fields", "NAMES", "", "the fields to read, as in image,label; default: the fields of most samples"},
    {"image", "EXTENSION", "", "the extension of the field `image`; default: jpg, jpeg, png and webp"},
    kTarEnd,
    kDamagedHeader};
constexpr std::string_view kTarSuffixes[] = {".tar"};

Result<OpenOne> configure_tar(const Uri& uri) {
  TarOptions options;
  DL_ASSIGN_OR_RETURN(options.label_u8, uri_is(uri, kLabelDtypeKey, "u8"));
  DL_ASSIGN_OR_RETURN(const bool optional, uri_is(uri, kTarEnd, "optional"));
  DL_ASSIGN_OR_RETURN(const bool cut, uri_is(uri, kTarEnd, "cut"));
  options.end = cut ? TarEnd::kCut : optional ? TarEnd::kOptional : TarEnd::kRequired;
  DL_ASSIGN_OR_RETURN(options.skip_damage, uri_is(uri, kDamagedHeader, "skip"));
  if (const UriKey* image = uri.find("image")) options.image = lower_case(image->value);  // as extensions are
  DL_ASSIGN_OR_RETURN(options.fields, uri_names(uri, "fields"));
  return OpenOne([options](const std::string& path, const OpenContext& context) {
    return open_tar(path, options, context);
  });
}

Sniff sniff_tar(const FirstBytes& file) {
  constexpr size_t kMagicOffset = 257;
  return file.text().substr(std::min(kMagicOffset, file.text().size())).starts_with("ustar") ? Sniff::kCertain
                                                                                             : Sniff::kNo;
}

}  // namespace

constinit const Format kTarFormat{
    .name = "tar",
    .doc =
        "samples in tar archives, in WebDataset's layout; shard-{000..127}.tar is 128 archives. Fields: one "
        "per extension (jpg, jpeg, png and webp are image, cls is label), and key",
    .keys = kTarKeys,
    .configure = configure_tar,
    .ranges = true,
    .is_member = [](const std::string&, std::string_view name,
                    const OpenContext&) { return has_suffix(name, kTarSuffixes); },
    .members = "*.tar",
    .sniff = sniff_tar,
    .suffixes = kTarSuffixes,
};

}  // namespace dataline
