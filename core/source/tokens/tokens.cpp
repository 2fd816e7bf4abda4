// Token streams as windows of `length + 1` tokens: x is the first `length`, y is x shifted by one.
//
// Files: headerless integers (nanoGPT's .bin: u16); one-dimensional integer .npy files; and llm.c's .bin, with 256
// little-endian i32 before the tokens, of which
//   [0] is 20240520 and [1] is 1: u16 tokens, or [0] is 20240801 and [1] is 7: u32 tokens; [2] is the number of tokens.
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

#include "core/base/bytes.h"
#include "core/base/checked.h"
#include "core/source/files.h"
#include "core/source/flat_file.h"
#include "core/source/format.h"
#include "core/source/npy/npy_header.h"

namespace dataline {
namespace {

constexpr int64_t kMaxWindowTokens = int64_t{1} << 40;

struct TokensOptions {
  int64_t length = 1024;       // 1 .. kMaxWindowTokens
  int64_t stride = 1024;       // tokens from one window to the next, >= 1
  bool views = false;          // x and y are delivered as overlapping views of the window
  std::optional<DType> dtype;  // an integer type; absent: from the header, or u16 for .bin
};

constexpr int64_t kLlmcHeaderBytes = 1024;

// llm.c's magics: the dates of its formats.
constexpr uint32_t kLlmcMagicU16 = 20240520;
constexpr uint32_t kLlmcMagicU32 = 20240801;
constexpr uint32_t kLlmcMagicEval = 20240522;

bool is_llmc_magic(uint32_t word) {
  return word == kLlmcMagicU16 || word == kLlmcMagicU32 || word == kLlmcMagicEval;
}

// Where the tokens of a file are.
struct TokenSpan {
  DType dtype = DType::kU16;
  bool swapped = false;  // stored in the other byte order
  int64_t data_offset = 0;
  int64_t token_count = 0;
  std::string note;
};

Status check_version(const MappedFile& file, uint32_t magic, uint32_t version) {
  if (magic == kLlmcMagicEval) {
    return error(Code::kUnsupported, file.path(), ": offset 0: an llm.c evaluation file (magic ", magic,
                 ") holds questions, not a token stream");
  }
  uint32_t expected = magic == kLlmcMagicU16 ? 1 : 7;
  if (version == expected) return Status::ok();
  return error(Code::kUnsupported, file.path(), ": offset 4: llm.c version ", version, ", expected ",
               expected, " with magic ", magic);
}

Status check_size(const MappedFile& file, const TokenSpan& header) {
  // The count is below 2^31, so neither expression can wrap.
  int64_t expected = header.token_count * dtype_bytes(header.dtype);
  int64_t present = file.bytes() - kLlmcHeaderBytes;
  if (present == expected) return Status::ok();
  return error(present < expected ? Code::kTruncated : Code::kCorrupt, file.path(),
               ": offset 8: the header says ", header.token_count, " tokens, ", expected, " bytes, file has ",
               present);
}

Status check_dtype(const MappedFile& file, const TokensOptions& options, DType found) {
  if (!options.dtype || *options.dtype == found) return Status::ok();
  return error(Code::kMismatch, file.path(), ": offset 0: the header says ", dtype_name(found),
               ", the URI says dtype=", dtype_name(*options.dtype));
}

Result<TokenSpan> npy_tokens(const MappedFile& file, const TokensOptions& options) {
  DL_ASSIGN_OR_RETURN(NpyHeader header, read_npy_header(file, false));
  if (header.shape.size() != 1 || !dtype_is_integer(header.dtype)) {
    return error(Code::kUnsupported, file.path(),
                 ": tokens are a one-dimensional array of integers, this is ", header.shape.size(),
                 "-dimensional, '", header.descr, "'");
  }
  DL_RETURN_IF_ERROR(check_dtype(file, options, header.dtype));
  std::optional<int64_t> bytes = checked_multiply(header.shape[0], dtype_bytes(header.dtype));
  DL_RETURN_IF_ERROR(check_data_bytes(file, header.data_offset, bytes.value_or(INT64_MAX),
                                      concat("npy array of ", header.shape[0], " tokens")));
  return TokenSpan{header.dtype, header.swapped, header.data_offset, header.shape[0], {}};
}

Result<TokenSpan> llmc_tokens(const MappedFile& file, const TokensOptions& options) {
  if (file.bytes() < kLlmcHeaderBytes) {
    return error(Code::kTruncated, file.path(), ": offset 0: an llm.c header needs ", kLlmcHeaderBytes,
                 " bytes, file has ", file.bytes());
  }
  std::array<std::byte, 12> first{};
  DL_RETURN_IF_ERROR(file.read(0, first.size(), first.data()));
  auto magic = load_little<uint32_t>(first.data());
  DL_RETURN_IF_ERROR(check_version(file, magic, load_little<uint32_t>(first.data() + 4)));
  TokenSpan tokens{magic == kLlmcMagicU16 ? DType::kU16 : DType::kU32, false, kLlmcHeaderBytes, 0, {}};
  tokens.token_count = static_cast<int32_t>(load_little<uint32_t>(first.data() + 8));
  if (tokens.token_count < 0) {
    return error(Code::kCorrupt, file.path(), ": offset 8: the header says ", tokens.token_count, " tokens");
  }
  DL_RETURN_IF_ERROR(check_size(file, tokens));
  DL_RETURN_IF_ERROR(check_dtype(file, options, tokens.dtype));
  return tokens;
}

Status check_headerless(const MappedFile& file, const TokensOptions& options, DType dtype) {
  if (!options.dtype && !file.path().ends_with(".bin")) {
    return error(Code::kBadUri, file.path(),
                 ": dtype is needed: no header, and the name does not end in .bin");
  }
  if (file.path().ends_with(".gz")) {
    return error(Code::kUnsupported, file.path(), ": compressed token files are not read; unpack it first");
  }
  std::string what = describe_first_bytes(file);
  // Text may well be meant as u8 tokens; as u16 or wider it is a mistake.
  bool text = what.find("HTML") != std::string::npos || what.find("XML") != std::string::npos;
  if (what.find("git-LFS") != std::string::npos || (text && dtype_bytes(dtype) > 1)) {
    return error(Code::kCorrupt, file.path(), ": offset 0: tokens expected, this is ", what);
  }
  int64_t rest = file.bytes() % dtype_bytes(dtype);
  if (rest == 0) return Status::ok();
  return error(Code::kTruncated, file.path(), ": offset ", file.bytes() - rest,
               ": the last token is cut: ", rest, " bytes of a ", dtype_name(dtype));
}

Result<TokenSpan> headerless_tokens(const MappedFile& file, const TokensOptions& options) {
  DType dtype = options.dtype.value_or(DType::kU16);
  DL_RETURN_IF_ERROR(check_headerless(file, options, dtype));
  TokenSpan tokens{dtype, false, 0, file.bytes() / dtype_bytes(dtype), {}};
  if (!options.dtype) tokens.note = "dtype u16 assumed: no header, as nanoGPT writes .bin files";
  return tokens;
}

// By the first bytes, and .npy also by name, so that a damaged .npy file is reported as such. kUnsupported for an llm.c
// header in the other byte order.
Result<TokenSpan> find_tokens(const MappedFile& file, const TokensOptions& options) {
  std::array<std::byte, 6> first{};
  const int64_t count = std::min<int64_t>(first.size(), file.bytes());
  DL_RETURN_IF_ERROR(file.read(0, count, first.data()));
  const std::string_view text(reinterpret_cast<const char*>(first.data()), first.size());
  if (text == "\x93NUMPY" || file.path().ends_with(".npy")) return npy_tokens(file, options);
  if (count < 4) return headerless_tokens(file, options);
  if (is_llmc_magic(load_little<uint32_t>(first.data()))) return llmc_tokens(file, options);
  if (!is_llmc_magic(load_big<uint32_t>(first.data()))) return headerless_tokens(file, options);
  return error(Code::kUnsupported, file.path(), ": offset 0: an llm.c header in big-endian order");
}

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
// (`dtype` contradicts the header), kBadUri (`dtype` is needed).
Result<SourceRef> open_tokens(const TokensOptions& options, const std::string& path,
                              const OpenContext& context) {
  DL_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(path, context));
  DL_ASSIGN_OR_RETURN(TokenSpan tokens, find_tokens(file, options));
  SourceInfo info{"tokens", path, {}};
  if (!tokens.note.empty()) info.notes.push_back(tokens.note);
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
    {"length", "INTEGER", "1024", "tokens of a sample"},
    {"stride", "INTEGER", "", "tokens from one sample to the next; default: length"},
    kViews,
    {"dtype", "DTYPE", "", "an integer dtype; default: the header's, u16 for .bin"}};
constexpr std::string_view kTokenSuffixes[] = {".bin"};
constexpr std::string_view kMemberSuffixes[] = {".bin", ".npy"};

Sniff sniff_tokens(const FirstBytes& file) {
  return file.count >= 8 && is_llmc_magic(load_little<uint32_t>(file.buffer.data())) ? Sniff::kLikely
                                                                                     : Sniff::kNo;
}

Result<OpenOne> configure_tokens(const Uri& uri) {
  TokensOptions options;
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
  return OpenOne(std::bind_front(open_tokens, options));
}

}  // namespace

constinit const Format kTokensFormat{
    .name = "tokens",
    .doc = "windows of token streams: headerless, .npy, or llm.c files. Fields: x, and y = x shifted by one",
    .keys = kTokenKeys,
    .configure = configure_tokens,
    .is_member = [](const std::string&, std::string_view name,
                    const OpenContext&) { return has_suffix(kMemberSuffixes, name); },
    .members = "*.bin, *.npy",
    .sniff = sniff_tokens,
    .suffixes = kTokenSuffixes,
};

}  // namespace dataline
