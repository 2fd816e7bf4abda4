// The format `arrow`: its keys and how it is detected.
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/source/arrow/arrow.h"
#include "core/source/arrow/messages.h"
#include "core/source/format.h"
#include "core/source/nulls.h"
#include "core/source/packing/packing.h"

namespace dataline {
namespace {

constexpr KeySpec kArrowEnd{"end", "required|cut", "required",
                            "whether a file must be complete; cut: a file without its footer is read as a "
                            "stream, up to its last complete record batch"};
constexpr KeySpec kArrowKeys[] = {{"fields", "NAMES", "",
                                   "the columns to read, in this order, as in image/bytes,label; a struct "
                                   "selects all its leaves; default: all"},
                                  kNullsKey,
                                  kArrowEnd,
                                  kAxesKey,
                                  kPackLengthKey,
                                  kPackMethodKey,
                                  kPackWindowKey,
                                  kPackSplitKey};
constexpr std::string_view kArrowSuffixes[] = {".arrow", ".feather", ".ipc", ".arrows"};

Result<OpenOne> configure_arrow(const Uri& uri) {
  DL_RETURN_IF_ERROR(check_packing_words(uri));
  ArrowOptions options;
  DL_ASSIGN_OR_RETURN(options.fields, uri_names(uri, "fields"));
  DL_ASSIGN_OR_RETURN(options.fill, read_nulls(uri));
  DL_ASSIGN_OR_RETURN(options.cut, uri_is(uri, kArrowEnd, "cut"));
  return OpenOne([options](const std::string& path, const OpenContext& context) {
    return open_arrow(path, options, context);
  });
}

Sniff sniff_arrow(const FirstBytes& file) {
  if (file.text().starts_with("ARROW1")) return Sniff::kCertain;
  return begins_arrow_stream(file.bytes()) ? Sniff::kLikely : Sniff::kNo;
}

}  // namespace

constinit const Format kArrowFormat{
    .name = "arrow",
    .doc =
        "rows of Arrow IPC files (Feather 2) and streams, as pyarrow and Hugging Face datasets write them; "
        "compressed buffers are decompressed into memory; data-{00000..00127}.arrow is 128 files. Fields: "
        "the columns, leaves of structs as struct/leaf",
    .keys = kArrowKeys,
    .configure = configure_arrow,
    .ranges = true,
    .is_member = [](const std::string&, std::string_view name,
                    const OpenContext&) { return has_suffix(name, kArrowSuffixes); },
    .members = "*.arrow, *.feather, *.ipc, *.arrows",
    .sniff = sniff_arrow,
    .suffixes = kArrowSuffixes,
};

}  // namespace dataline
