// SPDX-License-Identifier: Apache-2.0
#include "core/source/tokens.h"

#include <utility>

#include "core/base/checked.h"
#include "core/source/first_bytes.h"
#include "core/source/flat_file.h"
#include "core/source/npy_header.h"
#include "core/source/token_header.h"

namespace dataline {
namespace {

// Where a file's tokens are.
struct TokenSpan {
  DType dtype = DType::kU16;
  bool swapped = false;  // stored in the other byte order
  int64_t data_offset = 0;
  int64_t token_count = 0;
  std::string note;
};

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
  int64_t present = file.bytes() - header.data_offset;
  if (!bytes || *bytes > present) {
    return error(Code::kTruncated, file.path(), ": offset ", header.data_offset, ": ", header.shape[0],
                 " tokens expected, file has ", present, " bytes of them");
  }
  if (*bytes < present) {
    return error(Code::kCorrupt, file.path(), ": offset ", header.data_offset + *bytes, ": ",
                 present - *bytes, " bytes after the last token");
  }
  return TokenSpan{header.dtype, header.swapped, header.data_offset, header.shape[0], {}};
}

Result<TokenSpan> llmc_tokens(const MappedFile& file, const TokensOptions& options) {
  DL_ASSIGN_OR_RETURN(LlmcHeader header, read_llmc_header(file));
  DL_RETURN_IF_ERROR(check_dtype(file, options, header.dtype));
  return TokenSpan{header.dtype, false, kLlmcHeaderBytes, header.token_count, {}};
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
  // Bytes of text are u8 tokens in good faith; as u16 and wider they are a mistake.
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

Result<TokenSpan> find_tokens(const MappedFile& file, const TokensOptions& options) {
  DL_ASSIGN_OR_RETURN(TokenFormat format, token_format(file));
  if (format == TokenFormat::kNpy) return npy_tokens(file, options);
  if (format == TokenFormat::kLlmc) return llmc_tokens(file, options);
  return headerless_tokens(file, options);
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
  // With two windows or more the stride is below the number of tokens, so the product fits.
  layout.record_stride =
      layout.record_count > 1 ? options.stride * dtype_bytes(tokens.dtype) : layout.record_bytes;
  FlatConversion conversion = tokens.swapped ? swap_conversion(tokens.dtype) : FlatConversion::kNone;
  layout.columns.push_back({0, layout.record_bytes, conversion});
  return layout;
}

}  // namespace

Result<SourceRef> open_tokens(const std::string& path, const TokensOptions& options,
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

}  // namespace dataline
