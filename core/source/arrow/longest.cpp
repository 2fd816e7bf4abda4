// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/source/arrow/batches.h"
#include "core/source/number_reader.h"

namespace dataline {
namespace {

constexpr int64_t kMostLookedAt = int64_t{1} << 24;  // rows: 64 MiB of offsets

// Over the rows of a batch whose offsets are sound; others are bad when they are read.
template <typename Word, typename Offset>
Result<int64_t> longest_of(const MappedFile& file, int64_t offset, int64_t rows, int64_t limit) {
  NumberReader<Word> offsets(file, offset, rows + 1, std::endian::native == std::endian::big);
  DL_ASSIGN_OR_RETURN(const Word first, offsets.next());
  int64_t begin = static_cast<Offset>(first), most = 0;
  for (int64_t row = 0; row < rows; ++row) {
    DL_ASSIGN_OR_RETURN(const Word word, offsets.next());
    const int64_t end = static_cast<Offset>(word);
    if (begin >= 0 && end <= limit && end >= begin) most = std::max(most, end - begin);
    begin = end;
  }
  return most;
}

}  // namespace

Result<int64_t> longest_arrow_row(const MappedFile& file, const ArrowBatches& batches,
                                  const ArrowValues& values, const OpenContext& context) {
  int64_t most = 0;
  for (int64_t b = 0; b < batches.count(); ++b) {
    const int64_t rows = batches.rows_of(b), *slots = batches.slots(b), limit = slots[values.limit];
    if (rows == 0 || limit <= most) continue;
    if (batches.rows() > kMostLookedAt) {
      most = limit;
      continue;
    }
    if (context.cancelled())
      return error(Code::kCancelled, file.path(), ": cancelled while lengths were read");
    context.report("reading ", file.path());
    DL_ASSIGN_OR_RETURN(const int64_t longest,
                        values.offset_bytes == 4
                            ? (longest_of<uint32_t, int32_t>(file, slots[values.offsets], rows, limit))
                            : (longest_of<uint64_t, int64_t>(file, slots[values.offsets], rows, limit)));
    most = std::max(most, longest);
  }
  return most;
}

}  // namespace dataline
