// SPDX-License-Identifier: Apache-2.0
#include "core/source/idx/idx.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <span>
#include <utility>

#include "core/base/bytes.h"
#include "core/base/checked.h"
#include "core/base/field.h"
#include "core/base/text.h"
#include "core/source/compressed_file.h"
#include "core/source/files.h"
#include "core/source/flat_file.h"
#include "core/source/format.h"
#include "core/source/gzip.h"

namespace dataline {
namespace {

constexpr int64_t kDimBytes = 4;
constexpr int64_t kMagicBytes = 4;
constexpr int64_t kMaxHeaderBytes = kMagicBytes + kDimBytes * kMaxRank;

struct TypeByte {
  uint8_t value;
  DType dtype;
};

constexpr TypeByte kIdxTypes[] = {TypeByte{0x08, DType::kU8},  TypeByte{0x09, DType::kI8},
                                  TypeByte{0x0b, DType::kI16}, TypeByte{0x0c, DType::kI32},
                                  TypeByte{0x0d, DType::kF32}, TypeByte{0x0e, DType::kF64}};

std::string array_text(const IdxHeader& header) {
  return concat("idx array ", shape_text(header.shape), " ", dtype_name(header.dtype));
}

// Parses the four bytes before the dims: sets the type, returns the number of dims.
Result<int64_t> parse_magic(const std::string& path, Bytes start, IdxHeader& header) {
  bool zeros =
      std::all_of(start.begin(), start.begin() + static_cast<ptrdiff_t>(std::min<size_t>(start.size(), 2)),
                  [](std::byte b) { return b == std::byte{0}; });
  if (!zeros) {
    return error(Code::kCorrupt, path, ": offset 0: not an idx file: expected two zero bytes, got ",
                 describe_first_bytes(start.first(std::min<size_t>(start.size(), kDescribedBytes))));
  }
  if (static_cast<int64_t>(start.size()) < kMagicBytes) {
    return error(Code::kTruncated, path, ": offset 0: idx magic needs ", kMagicBytes, " bytes, the file has ",
                 start.size());
  }
  auto type = std::to_integer<int32_t>(start[2]);
  for (const TypeByte& known : kIdxTypes) {
    if (known.value != type) continue;
    header.dtype = known.dtype;
    return std::to_integer<int64_t>(start[3]);
  }
  return error(Code::kCorrupt, path, ": offset 2: idx type byte ", type, ", expected 8, 9, 11, 12, 13 or 14");
}

// Without the sizes. `start`: the first bytes of the plain data; fewer than kMaxHeaderBytes if the data is shorter.
Result<IdxHeader> parse_dims(const std::string& path, Bytes start) {
  IdxHeader header;
  DL_ASSIGN_OR_RETURN(int64_t rank, parse_magic(path, start, header));
  if (rank < 1 || rank > kMaxRank) {
    return error(Code::kUnsupported, path, ": offset 3: idx array of ", rank, " dims, expected 1 to ",
                 kMaxRank);
  }
  header.data_offset = kMagicBytes + rank * kDimBytes;
  if (static_cast<int64_t>(start.size()) < header.data_offset) {
    return error(Code::kTruncated, path, ": offset ", kMagicBytes, ": ", rank, " idx dims need ",
                 rank * kDimBytes, " bytes, the file has ", static_cast<int64_t>(start.size()) - kMagicBytes);
  }
  for (int64_t d = 0; d < rank; ++d) {
    header.shape.push_back(load_big<uint32_t>(start.data() + kMagicBytes + d * kDimBytes));
  }
  return header;
}

Result<IdxHeader> parse_header(const std::string& path, Bytes start) {
  DL_ASSIGN_OR_RETURN(IdxHeader header, parse_dims(path, start));
  const std::string at = concat(path, ": offset ", kMagicBytes, ": ", array_text(header));
  DL_ASSIGN_OR_RETURN(ArraySize size, size_of_array(at, header.dtype, header.shape, header.data_offset));
  header.record_bytes = size.record_bytes;
  header.total_bytes = size.total_bytes;
  return header;
}

Result<IdxHeader> read_header(const MappedFile& file) {
  std::array<std::byte, static_cast<size_t>(kMaxHeaderBytes)> start;
  int64_t count = std::min(file.bytes(), kMaxHeaderBytes);
  DL_RETURN_IF_ERROR(file.read(0, count, start.data()));
  return parse_header(file.path(), Bytes(start).first(static_cast<size_t>(count)));
}

// The size that the header inside a .gz gives, after checking that it is possible. Sets `text` to name the array.
Result<int64_t> inflated_size(const std::string& path, Bytes compressed, std::string& text) {
  DL_ASSIGN_OR_RETURN(std::string start, inflate_start(path, compressed));
  if (start.empty()) return 0;
  DL_ASSIGN_OR_RETURN(IdxHeader header, parse_header(path, std::as_bytes(std::span(start))));
  auto bytes = static_cast<int64_t>(compressed.size());
  int64_t limit = max_inflated_bytes(bytes);
  if (header.total_bytes > limit) {
    return error(Code::kTruncated, path, ": offset ", header.data_offset, " inflated: ", array_text(header),
                 " needs ", header.total_bytes, " bytes, ", bytes, " compressed bytes hold at most ", limit);
  }
  text = array_text(header);
  return header.total_bytes;
}

// The size that the header gives the whole file; nothing if the first bytes are not an IDX header.
std::optional<int64_t> size_in_header(const FirstBytes& file) {
  const Result<IdxHeader> header = parse_dims(file.path, file.bytes());
  if (!header.is_ok()) return std::nullopt;
  std::optional<int64_t> total = dtype_bytes(header.value().dtype);
  for (int64_t dim : header.value().shape) total = total ? checked_multiply(*total, dim) : std::nullopt;
  return total ? checked_add(*total, header.value().data_offset) : std::nullopt;
}

// A .bin file of another size than the header gives may be tokens that start with two zeros. gzip data is taken for a
// compressed IDX file, unless its name says otherwise.
Sniff sniff_idx(const FirstBytes& file) {
  const std::optional<int64_t> bytes = size_in_header(file);
  if (bytes && (*bytes == file.file_bytes || !has_suffix(file.path, ".bin"))) return Sniff::kLikely;
  constexpr std::string_view kOthers[] = {".npy", ".bin", ".tar", ".tgz"};
  const std::string_view name = without_suffix(file.path, ".gz");
  return is_gzip(file.bytes()) && !has_suffix(name, kOthers) ? Sniff::kGuess : Sniff::kNo;
}

constexpr std::string_view kIdxSuffixes[] = {"-ubyte", ".idx"};

bool is_member(const std::string& directory, std::string_view name, const OpenContext& context) {
  if (has_suffix(without_suffix(name, ".gz"), kIdxSuffixes)) return true;
  Result<FirstBytes> start = read_first_bytes(join_path(directory, name), context);
  if (!start.is_ok()) return true;  // unknown: opening it reports why
  return size_in_header(start.value()).has_value();
}

constexpr KeySpec kIdxKeys[] = {kArrayEndKey, kAxesKey};

Result<OpenOne> configure_idx(const Uri& uri) {
  DL_ASSIGN_OR_RETURN(const bool cut, uri_is(uri, kArrayEndKey, "cut"));
  return OpenOne(
      [cut](const std::string& path, const OpenContext& context) { return open_idx(path, context, cut); });
}

}  // namespace

constinit const Format kIdxFormat{
    .name = "idx",
    .doc = "IDX arrays, the format of MNIST, plain or gzipped. Field: data",
    .keys = kIdxKeys,
    .configure = configure_idx,
    .ranges = true,
    .is_member = is_member,
    .members = "*-ubyte, *.idx, or by content",
    .sniff = sniff_idx,
    .suffixes = kIdxSuffixes,
};

Result<IdxFile> read_idx(const std::string& path, const OpenContext& context, bool cut) {
  std::string inside;
  auto size_of = [&inside](const std::string& name, Bytes compressed) {
    return inflated_size(name, compressed, inside);
  };
  Result<MappedFile> opened = open_maybe_compressed(path, size_of, context);
  if (!opened.is_ok() && !inside.empty()) {
    return error(opened.status().code(), opened.status().message(), ", for an ", inside);
  }
  DL_ASSIGN_OR_RETURN(MappedFile file, std::move(opened));
  if (file.inflated() && file.bytes() == 0)
    return error(Code::kEmpty, path, ": decompresses to no bytes, expected an idx array");
  DL_ASSIGN_OR_RETURN(IdxHeader header, read_header(file));
  const ArraySize size{header.record_bytes, header.total_bytes - header.data_offset};
  std::vector<std::string> notes;
  if (cut) {
    DL_ASSIGN_OR_RETURN(header.shape[0], whole_records(file, header.data_offset, size, header.shape[0],
                                                       array_text(header), notes));
  } else {
    DL_RETURN_IF_ERROR(check_data_bytes(file, header.data_offset, size.total_bytes, array_text(header)));
  }
  DL_RETURN_IF_ERROR(file.load(context));
  return IdxFile{std::move(file), std::move(header), !inside.empty(), std::move(notes)};
}

Result<SourceRef> open_idx(const std::string& path, const OpenContext& context, bool cut) {
  DL_ASSIGN_OR_RETURN(IdxFile idx, read_idx(path, context, cut));
  const std::vector<int64_t> shape(idx.header.shape.begin() + 1, idx.header.shape.end());
  Schema schema = column_per_field({{"data", FieldKind::kDense, idx.header.dtype, shape, "", -1}});
  const bool native = std::endian::native == std::endian::big;
  FlatLayout layout = FlatLayout::packed(idx.header.data_offset, idx.header.record_bytes, idx.header.shape[0],
                                         native ? FlatConversion::kNone : swap_conversion(idx.header.dtype));
  SourceInfo info{"idx", "", std::move(idx.notes)};
  if (idx.inflated)
    info.notes.push_back(concat("gzip: decompressed into ", idx.file.bytes(), " bytes of memory"));
  return FlatFile::create(std::move(idx.file), std::move(schema), std::move(layout), std::move(info));
}

}  // namespace dataline
