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

// The longest of all buffers, or what a view can hold itself: no value is longer.
int64_t longest_buffer(const ArrowValues& values, const int64_t* slots) {
  int64_t most = kArrowInlineBytes;
  const auto* table = reinterpret_cast<const ArrowViewBuffer*>(static_cast<uintptr_t>(slots[values.data]));
  for (int64_t b = 0; b < slots[values.limit]; ++b) most = std::max(most, table[b].bytes);
  return most;
}

// Views whose lengths cannot be are bad when they are read.
template <typename Words>
Result<int64_t> longest_view(Words words, int64_t rows, int64_t limit) {
  int64_t most = 0;
  for (int64_t row = 0; row < rows; ++row) {
    for (int word = 0; word < 4; ++word) {  // the first is the length
      DL_ASSIGN_OR_RETURN(const auto number, words.next());
      const int64_t bytes = static_cast<int32_t>(number);
      if (word == 0 && bytes <= limit) most = std::max(most, bytes);
    }
  }
  return most;
}

Result<int64_t> longest_view_at(const MappedFile* file, int64_t offset, int64_t rows, int64_t limit) {
  if (file == nullptr) return longest_view(OffsetsInMemory<uint32_t>(offset), rows, limit);
  constexpr bool kBig = std::endian::native == std::endian::big;
  return longest_view(NumberReader<uint32_t>(*file, offset, rows * 4, kBig), rows, limit);
}

}  // namespace

Result<int64_t> longest_arrow_row(const MappedFile* file, const ArrowBatches& batches,
                                  const ArrowValues& values, const OpenContext& context) {
  int64_t most = 0;
  for (int64_t b = 0; b < batches.count(); ++b) {
    const int64_t rows = batches.rows_of(b), *slots = batches.slots(b);
    const int64_t limit = values.views >= 0 ? longest_buffer(values, slots) : slots[values.limit];
    if (rows == 0 || limit <= most) continue;
    if (batches.rows() > kMostLookedAt) {
      most = limit;
      continue;
    }
    const std::string_view name = file != nullptr ? std::string_view(file->path()) : kArrowMemory;
    if (context.cancelled()) return error(Code::kCancelled, name, ": cancelled while lengths were read");
    context.report("reading ", name);
    DL_ASSIGN_OR_RETURN(const int64_t longest,
                        values.views >= 0 ? longest_view_at(file, slots[values.views], rows, limit)
                        : values.offset_bytes == 4
                            ? (longest_at<uint32_t, int32_t>(file, slots[values.offsets], rows, limit))
                            : (longest_at<uint64_t, int64_t>(file, slots[values.offsets], rows, limit)));
    most = std::max(most, longest);
  }
  return most;
}

}  // namespace dataline
