// SPDX-License-Identifier: Apache-2.0
#include "core/source/documents/token_file.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/checked.h"
#include "core/source/flat_file.h"
#include "core/source/names.h"
#include "core/source/npy/npy_header.h"

namespace dataline {
namespace {

constexpr int64_t kLlmcHeaderBytes = 1024;

// llm.c's magics: the dates of its formats.
constexpr uint32_t kLlmcMagicU16 = 20240520;
constexpr uint32_t kLlmcMagicU32 = 20240801;
constexpr uint32_t kLlmcMagicEval = 20240522;

bool is_llmc_magic(uint32_t word) {
  return word == kLlmcMagicU16 || word == kLlmcMagicU32 || word == kLlmcMagicEval;
}

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

using Losses = std::vector<std::string>;

// end=cut: as many tokens as there are.
Status take_whole(const MappedFile& file, TokenSpan& tokens, std::string_view array, Losses& losses) {
  const int64_t token_bytes = dtype_bytes(tokens.dtype);
  const std::optional<int64_t> bytes = checked_multiply(tokens.token_count, token_bytes);
  DL_ASSIGN_OR_RETURN(tokens.token_count,
                      whole_records(file, tokens.data_offset, {token_bytes, bytes.value_or(INT64_MAX)},
                                    tokens.token_count, array, losses));
  return Status::ok();
}

Status check_size(const MappedFile& file, TokenSpan& header, Losses* losses) {
  if (losses != nullptr)
    return take_whole(file, header, concat("array of ", header.token_count, " tokens"), *losses);
  // The count is below 2^31, so neither expression can wrap.
  int64_t expected = header.token_count * dtype_bytes(header.dtype);
  int64_t present = file.bytes() - kLlmcHeaderBytes;
  if (present == expected) return Status::ok();
  return error(present < expected ? Code::kTruncated : Code::kCorrupt, file.path(),
               ": offset 8: the header states ", header.token_count, " tokens, ", expected,
               " bytes, the file has ", present);
}

Status check_dtype(const MappedFile& file, std::optional<DType> wanted, DType found) {
  if (!wanted || *wanted == found) return Status::ok();
  return error(Code::kMismatch, file.path(), ": offset 0: the header states ", dtype_name(found),
               ", the URI states dtype=", dtype_name(*wanted));
}

Result<TokenSpan> npy_tokens(const MappedFile& file, std::optional<DType> wanted, Losses* losses) {
  DL_ASSIGN_OR_RETURN(NpyHeader header, read_npy_header(file, false));
  if (header.shape.size() != 1 || !dtype_is_integer(header.dtype)) {
    return error(Code::kUnsupported, file.path(),
                 ": expected tokens as a one-dimensional array of integers, got a ", header.shape.size(),
                 "-dimensional array of '", header.descr, "'");
  }
  DL_RETURN_IF_ERROR(check_dtype(file, wanted, header.dtype));
  const std::string array = concat("npy array of ", header.shape[0], " tokens");
  TokenSpan tokens{header.dtype, header.swapped, header.data_offset, header.shape[0], {}};
  if (losses != nullptr) {
    DL_RETURN_IF_ERROR(take_whole(file, tokens, array, *losses));
    return tokens;
  }
  std::optional<int64_t> bytes = checked_multiply(header.shape[0], dtype_bytes(header.dtype));
  DL_RETURN_IF_ERROR(check_data_bytes(file, header.data_offset, bytes.value_or(INT64_MAX), array));
  return tokens;
}

Result<TokenSpan> llmc_tokens(const MappedFile& file, std::optional<DType> wanted, Losses* losses) {
  if (file.bytes() < kLlmcHeaderBytes) {
    return error(Code::kTruncated, file.path(), ": offset 0: an llm.c header needs ", kLlmcHeaderBytes,
                 " bytes, the file has ", file.bytes());
  }
  std::array<std::byte, 12> first{};
  DL_RETURN_IF_ERROR(file.read(0, first.size(), first.data()));
  auto magic = load_little<uint32_t>(first.data());
  DL_RETURN_IF_ERROR(check_version(file, magic, load_little<uint32_t>(first.data() + 4)));
  TokenSpan tokens{magic == kLlmcMagicU16 ? DType::kU16 : DType::kU32, false, kLlmcHeaderBytes, 0, {}};
  tokens.token_count = static_cast<int32_t>(load_little<uint32_t>(first.data() + 8));
  if (tokens.token_count < 0) {
    return error(Code::kCorrupt, file.path(), ": offset 8: the header states ", tokens.token_count,
                 " tokens");
  }
  DL_RETURN_IF_ERROR(check_size(file, tokens, losses));
  DL_RETURN_IF_ERROR(check_dtype(file, wanted, tokens.dtype));
  return tokens;
}

Status check_headerless(const MappedFile& file, std::optional<DType> wanted, DType dtype, Losses* losses) {
  const std::string what = describe_first_bytes(file);
  if (!wanted && !has_suffix(file.path(), ".bin")) {
    return error(Code::kBadUri, file.path(),
                 ": dtype is needed: no header, and the name does not end in .bin", kind_note(what));
  }
  if (has_suffix(file.path(), ".gz")) {
    return error(Code::kUnsupported, file.path(),
                 ": compressed token files are not supported; decompress it first");
  }
  // Text may well be meant as u8 tokens; as u16 or wider it is a mistake.
  bool text = what.find("HTML") != std::string::npos || what.find("XML") != std::string::npos;
  if (what.find("git-LFS") != std::string::npos || (text && dtype_bytes(dtype) > 1)) {
    return error(Code::kCorrupt, file.path(), ": offset 0: expected tokens, got ", what);
  }
  int64_t rest = file.bytes() % dtype_bytes(dtype);
  if (rest == 0) return Status::ok();
  if (losses != nullptr) {
    losses->push_back(concat(kDamaged, file.path(), ": cut: ", rest, " bytes from offset ",
                             file.bytes() - rest, " on are left out: a part of a token of ",
                             dtype_name(dtype)));
    return Status::ok();
  }
  return error(Code::kTruncated, file.path(), ": offset ", file.bytes() - rest,
               ": the last token is truncated: ", rest, " bytes of a ", dtype_name(dtype), kind_note(what));
}

Result<TokenSpan> headerless_tokens(const MappedFile& file, std::optional<DType> wanted, Losses* losses) {
  DType dtype = wanted.value_or(DType::kU16);
  DL_RETURN_IF_ERROR(check_headerless(file, wanted, dtype, losses));
  TokenSpan tokens{dtype, false, 0, file.bytes() / dtype_bytes(dtype), {}};
  if (!wanted) tokens.note = "dtype u16 assumed: no header, as nanoGPT writes .bin files";
  return tokens;
}

}  // namespace

Result<TokenSpan> find_tokens(const MappedFile& file, std::optional<DType> wanted, Losses* losses) {
  std::array<std::byte, 6> first{};
  const int64_t count = std::min<int64_t>(first.size(), file.bytes());
  DL_RETURN_IF_ERROR(file.read(0, count, first.data()));
  const std::string_view text(reinterpret_cast<const char*>(first.data()), first.size());
  if (text == "\x93NUMPY" || has_suffix(file.path(), ".npy")) return npy_tokens(file, wanted, losses);
  if (count < 4) return headerless_tokens(file, wanted, losses);
  if (is_llmc_magic(load_little<uint32_t>(first.data()))) return llmc_tokens(file, wanted, losses);
  if (!is_llmc_magic(load_big<uint32_t>(first.data()))) return headerless_tokens(file, wanted, losses);
  return error(Code::kUnsupported, file.path(), ": offset 0: an llm.c header in big-endian order");
}

Sniff sniff_llmc(const FirstBytes& file) {
  return file.count >= 8 && is_llmc_magic(load_little<uint32_t>(file.buffer.data())) ? Sniff::kLikely
                                                                                     : Sniff::kNo;
}

}  // namespace dataline
