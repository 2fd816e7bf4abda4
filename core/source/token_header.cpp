// SPDX-License-Identifier: Apache-2.0
#include "core/source/token_header.h"

#include <algorithm>
#include <array>

#include "core/base/bytes.h"

namespace dataline {
namespace {

constexpr std::array<std::byte, 6> kNpyMagic = {std::byte{0x93}, std::byte{'N'}, std::byte{'U'},
                                                std::byte{'M'},  std::byte{'P'}, std::byte{'Y'}};

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

Status check_size(const MappedFile& file, const LlmcHeader& header) {
  // The count is below 2^31, so neither expression can wrap.
  int64_t expected = header.token_count * dtype_bytes(header.dtype);
  int64_t present = file.bytes() - kLlmcHeaderBytes;
  if (present == expected) return Status::ok();
  return error(present < expected ? Code::kTruncated : Code::kCorrupt, file.path(),
               ": offset 8: the header says ", header.token_count, " tokens, ", expected, " bytes, file has ",
               present);
}

}  // namespace

Result<TokenFormat> token_format(const MappedFile& file) {
  std::array<std::byte, 6> first{};
  int64_t count = std::min<int64_t>(first.size(), file.bytes());
  DL_RETURN_IF_ERROR(file.read(0, count, first.data()));
  if (first == kNpyMagic || file.path().ends_with(".npy")) return TokenFormat::kNpy;
  if (count < 4) return TokenFormat::kHeaderless;
  if (is_llmc_magic(load_little<uint32_t>(first.data()))) return TokenFormat::kLlmc;
  if (!is_llmc_magic(load_big<uint32_t>(first.data()))) return TokenFormat::kHeaderless;
  return error(Code::kUnsupported, file.path(), ": offset 0: an llm.c header in big-endian order");
}

Result<LlmcHeader> read_llmc_header(const MappedFile& file) {
  if (file.bytes() < kLlmcHeaderBytes) {
    return error(Code::kTruncated, file.path(), ": offset 0: an llm.c header needs ", kLlmcHeaderBytes,
                 " bytes, file has ", file.bytes());
  }
  std::array<std::byte, 12> first{};
  DL_RETURN_IF_ERROR(file.read(0, first.size(), first.data()));
  auto magic = load_little<uint32_t>(first.data());
  DL_RETURN_IF_ERROR(check_version(file, magic, load_little<uint32_t>(first.data() + 4)));
  LlmcHeader header;
  header.dtype = magic == kLlmcMagicU16 ? DType::kU16 : DType::kU32;
  header.token_count = static_cast<int32_t>(load_little<uint32_t>(first.data() + 8));
  if (header.token_count < 0) {
    return error(Code::kCorrupt, file.path(), ": offset 8: the header says ", header.token_count, " tokens");
  }
  DL_RETURN_IF_ERROR(check_size(file, header));
  return header;
}

}  // namespace dataline
