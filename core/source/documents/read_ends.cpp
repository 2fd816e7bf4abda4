// Where documents end, from a list of offsets.
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <optional>

#include "core/base/checked.h"
#include "core/source/documents/documents.h"
#include "core/source/flat_file.h"
#include "core/source/npy/npy_header.h"
#include "core/source/number_reader.h"

namespace dataline {
namespace {

constexpr int64_t kNumbersPerLook = 1 << 20;  // numbers between two looks at the cancel token

Result<NpyHeader> offsets_header(const MappedFile& file) {
  DL_ASSIGN_OR_RETURN(NpyHeader header, read_npy_header(file, false));
  if (header.shape.size() != 1 || (header.dtype != DType::kI64 && header.dtype != DType::kU64)) {
    return error(Code::kUnsupported, file.path(),
                 ": expected document offsets as a one-dimensional array of i64 or u64, got a ",
                 header.shape.size(), "-dimensional array of '", header.descr, "'");
  }
  const std::optional<int64_t> bytes = checked_multiply(header.shape[0], dtype_bytes(header.dtype));
  DL_RETURN_IF_ERROR(check_data_bytes(file, header.data_offset, bytes.value_or(INT64_MAX),
                                      concat("npy array of ", header.shape[0], " offsets")));
  return header;
}

}  // namespace

Result<SortedTable> read_ends(const std::string& path, int64_t token_count, const OpenContext& context) {
  OpenContext on_demand = context;  // read once, from its start to its end
  on_demand.io = IoMode::kPread;
  DL_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path, on_demand));
  DL_ASSIGN_OR_RETURN(const NpyHeader header, offsets_header(file));
  const int64_t count = header.shape[0];
  NumberReader<uint64_t> numbers(file, header.data_offset, count,
                                 header.swapped == (std::endian::native == std::endian::little));
  SortedTable ends(context.memory);
  ends.reserve(count + 1);
  int64_t previous = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (i % kNumbersPerLook == 0 && context.cancelled())
      return error(Code::kCancelled, path, ": cancelled after ", i, " of ", count, " offsets");
    DL_ASSIGN_OR_RETURN(const uint64_t word, numbers.next());
    const auto offset = static_cast<int64_t>(word);  // u64 beyond 2^63 becomes negative, and is refused
    if (offset < previous || offset > token_count) {
      return error(Code::kOutOfRange, path, ": offset ", header.data_offset + i * int64_t{sizeof word},
                   ": offsets[", i, "] is ", offset, ", expected ", previous, " to ", token_count,
                   ", the tokens of the file");
    }
    if (i > 0 || offset > 0) ends.add(offset);  // a first 0 begins the first document
    previous = offset;
  }
  const bool starts_at_0 = count > ends.size();
  if (previous == token_count) return ends;
  if (starts_at_0) {
    ends.add(token_count);
    return ends;
  }
  return error(Code::kMismatch, path, ": ", count, " offsets, the last ", previous,
               ": expected them to start at 0 or to end at ", token_count, ", the tokens of the file");
}

}  // namespace dataline
