// Token streams as windows of `length + 1` tokens (x is the first `length`, y is x shifted by one), or as documents.
// What the files are: token_file.h; what documents are: core/source/documents/documents.h.
//
// A file of n tokens has (n - length - 1) / stride + 1 windows, none if n < length + 1.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/text.h"
#include "core/source/documents/documents.h"
#include "core/source/documents/token_file.h"
#include "core/source/flat_file.h"
#include "core/source/format.h"
#include "core/source/packing/packing.h"

namespace dataline {
namespace {

constexpr int64_t kMaxWindowTokens = int64_t{1} << 40;

struct TokensOptions {
  int64_t length = 1024;                  // 1 .. kMaxWindowTokens
  int64_t stride = 1024;                  // tokens from one window to the next, >= 1
  bool views = false;                     // x and y are delivered as overlapping views of the window
  std::optional<DType> dtype;             // an integer type; absent: from the header, or u16 for .bin
  bool cut = false;                       // the whole tokens of a file that is not as long as it says
  std::optional<DocumentRule> documents;  // instead of windows
};

int64_t window_count(int64_t token_count, const TokensOptions& options) {
  return token_count < options.length + 1 ? 0 : (token_count - options.length - 1) / options.stride + 1;
}

Schema window_schema(const TokensOptions& options, DType dtype) {
  int64_t token_bytes = dtype_bytes(dtype);
  Schema schema;
  schema.fields.push_back({"x", FieldKind::kDense, dtype, {options.length}, "T", -1});
  schema.fields.push_back({"y", FieldKind::kDense, dtype, {options.length}, "T", -1});
  schema.places = {{0, 0, options.views}, {0, token_bytes, options.views}};
  schema.columns = {{(options.length + 1) * token_bytes}};
  return schema;
}

FlatLayout window_layout(const TokensOptions& options, const TokenSpan& tokens) {
  FlatLayout layout;
  layout.data_offset = tokens.data_offset;
  layout.record_bytes = (options.length + 1) * dtype_bytes(tokens.dtype);
  layout.record_count = window_count(tokens.token_count, options);
  // With two windows or more the stride is less than the number of tokens, so the product fits.
  layout.record_stride =
      layout.record_count > 1 ? options.stride * dtype_bytes(tokens.dtype) : layout.record_bytes;
  FlatConversion conversion = tokens.swapped ? swap_conversion(tokens.dtype) : FlatConversion::kNone;
  layout.columns.push_back({0, layout.record_bytes, conversion});
  return layout;
}

// Opens one file. kTruncated (an incomplete last token, a header or file shorter than it says), kCorrupt (a header that
// contradicts the file), kUnsupported (llm.c eval files and unknown versions, .npy of other ranks or types), kMismatch
// (`dtype` contradicts the header), kBadUri (`dtype` is needed); of documents, what open_documents() says.
Result<SourceRef> open_tokens(const TokensOptions& options, const std::string& path,
                              const OpenContext& context) {
  DL_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(path, context));
  SourceInfo info{"tokens", path, {}};
  DL_ASSIGN_OR_RETURN(TokenSpan tokens,
                      find_tokens(file, options.dtype, options.cut ? &info.notes : nullptr));
  if (!tokens.note.empty()) info.notes.push_back(tokens.note);
  if (options.documents) {
    return open_documents(std::move(file), tokens, *options.documents, std::move(info), context);
  }
  if (tokens.token_count < options.length + 1) {
    info.notes.push_back(
        concat(path, ": ", tokens.token_count, " tokens, no window of ", options.length + 1));
  }
  return FlatFile::create(std::move(file), window_schema(options, tokens.dtype),
                          window_layout(options, tokens), std::move(info));
}

constexpr KeySpec kViews{"views", "true|false", "false",
                         "deliver x and y as overlapping views of one window"};
constexpr KeySpec kTokenKeys[] = {
    {"length", "INTEGER", "1024", "tokens per sample"},
    {"stride", "INTEGER", "", "tokens from one sample to the next; default: length"},
    kViews,
    {"dtype", "DTYPE", "", "an integer dtype; default: the header's, u16 for .bin"},
    {"documents", "eot:ID|offsets:FILE", "",
     "samples are documents, in one ragged field `tokens`; eot:ID: each ends with the token ID; "
     "offsets:FILE: an .npy of i64 or u64 contains their offsets; default: windows"},
    kArrayEndKey,
    kPackLengthKey,
    kPackMethodKey,
    kPackWindowKey,
    kPackSplitKey};
constexpr std::string_view kTokenSuffixes[] = {".bin"};
constexpr std::string_view kMemberSuffixes[] = {".bin", ".npy"};

constexpr std::string_view kEot = "eot:", kOffsets = "offsets:";

Result<std::optional<DocumentRule>> uri_documents(const Uri& uri) {
  const UriKey* key = uri.find("documents");
  if (key == nullptr) return std::optional<DocumentRule>();
  for (const std::string_view other : {"length", "stride", "views"}) {
    if (const UriKey* found = uri.find(other)) {
      return uri_error(found->column, other,
                       " applies only to windows; use pack_length to turn documents into rows");
    }
  }
  const std::string_view value = key->value;
  DocumentRule rule;
  if (value.starts_with(kOffsets) && value.size() > kOffsets.size()) {
    rule.offsets = value.substr(kOffsets.size());
    if (uri.paths.size() == 1) return std::optional(rule);
    return uri_error(key->value_column, "documents=offsets supports only one file, got ", uri.paths.size(),
                     "; open each file with its own offsets, and concatenate them");
  }
  const std::optional<int64_t> eot =
      value.starts_with(kEot) ? parse_i64(value.substr(kEot.size())) : std::nullopt;
  if (eot) return std::optional(DocumentRule{.eot = *eot, .offsets = {}});
  return uri_error(key->value_column,
                   "documents: expected eot:ID, the number of the token that ends a document, ",
                   "or offsets:FILE, got '", value, "'");
}

Result<OpenOne> configure_tokens(const Uri& uri) {
  TokensOptions options;
  DL_ASSIGN_OR_RETURN(options.cut, uri_is(uri, kArrayEndKey, "cut"));
  DL_ASSIGN_OR_RETURN(options.length, uri_i64(uri, "length", options.length, 1));
  if (options.length > kMaxWindowTokens) {
    return uri_error(uri.find("length")->value_column, "length is at most ", kMaxWindowTokens);
  }
  DL_ASSIGN_OR_RETURN(options.stride, uri_i64(uri, "stride", options.length, 1));
  DL_ASSIGN_OR_RETURN(options.views, uri_is(uri, kViews, "true"));
  DL_ASSIGN_OR_RETURN(options.dtype, uri_dtype(uri, "dtype"));
  if (options.dtype && !dtype_is_integer(*options.dtype)) {
    return uri_error(uri.find("dtype")->value_column, "tokens are integers: u8 u16 u32 u64 i8 i16 i32 i64");
  }
  DL_ASSIGN_OR_RETURN(options.documents, uri_documents(uri));
  DL_RETURN_IF_ERROR(check_packing_words(uri));
  return OpenOne(std::bind_front(open_tokens, options));
}

}  // namespace

constinit const Format kTokensFormat{
    .name = "tokens",
    .doc =
        "windows of token streams, or their documents: headerless, .npy, or llm.c files. Fields: x, and y = "
        "x "
        "shifted by one",
    .keys = kTokenKeys,
    .configure = configure_tokens,
    .ranges = true,
    .is_member = [](const std::string&, std::string_view name,
                    const OpenContext&) { return has_suffix(name, kMemberSuffixes); },
    .members = "*.bin, *.npy",
    .sniff = sniff_llmc,
    .suffixes = kTokenSuffixes,
};

}  // namespace dataline
