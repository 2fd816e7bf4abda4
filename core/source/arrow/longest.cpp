// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/source/arrow/batches.h"
#include "core/source/number_reader.h"

namespace dataline {
namespace {

constexpr int64_t kMostLookedAt = int64_t{1} << 24;  // rows: 64 MiB of offsets

// Offsets of memory, as NumberReader gives those of a file.
template <typename Word>
class OffsetsInMemory {
 public:
  explicit OffsetsInMemory(int64_t address)
      : next_(reinterpret_cast<const std::byte*>(static_cast<uintptr_t>(address))) {}
  Result<Word> next() {
    const Word word = load_native<Word>(next_);
    next_ += sizeof(Word);
    return word;
  }

 private:
  const std::byte* next_;
};

// Over the rows of a batch whose offsets are sound; others are bad when they are read.
template <typename Offset, typename Offsets>
Result<int64_t> longest_of(Offsets offsets, int64_t rows, int64_t limit) {
  DL_ASSIGN_OR_RETURN(const auto first, offsets.next());
  int64_t begin = static_cast<Offset>(first), most = 0;
  for (int64_t row = 0; row < rows; ++row) {
    DL_ASSIGN_OR_RETURN(const auto word, offsets.next());
    const int64_t end = static_cast<Offset>(word);
    if (begin >= 0 && end <= limit && end >= begin) most = std::max(most, end - begin);
    begin = end;
  }
  return most;
}

template <typename Word, typename Offset>
Result<int64_t> longest_at(const MappedFile* file, int64_t offset, int64_t rows, int64_t limit) {
  if (file == nullptr) return longest_of<Offset>(OffsetsInMemory<Word>(offset), rows, limit);
  constexpr bool kBig = std::endian::native == std::endian::big;
  return longest_of<Offset>(NumberReader<Word>(*file, offset, rows + 1, kBig), rows, limit);
}

}  // namespace

Result<int64_t> longest_arrow_row(const MappedFile* file, const ArrowBatches& batches,
                                  const ArrowValues& values, const OpenContext& context) {
  int64_t most = 0;
  for (int64_t b = 0; b < batches.count(); ++b) {
    const int64_t rows = batches.rows_of(b), *slots = batches.slots(b), limit = slots[values.limit];
    if (rows == 0 || limit <= most) continue;
    if (batches.rows() > kMostLookedAt) {
      most = limit;
      continue;
    }
    const std::string_view name = file != nullptr ? std::string_view(file->path()) : kArrowMemory;
    if (context.cancelled()) return error(Code::kCancelled, name, ": cancelled while lengths were read");
    context.report("reading ", name);
    DL_ASSIGN_OR_RETURN(const int64_t longest,
                        values.offset_bytes == 4
                            ? (longest_at<uint32_t, int32_t>(file, slots[values.offsets], rows, limit))
                            : (longest_at<uint64_t, int64_t>(file, slots[values.offsets], rows, limit)));
    most = std::max(most, longest);
  }
  return most;
}

}  // namespace dataline
