// SPDX-License-Identifier: Apache-2.0
#include "core/source/packing/best_fit.h"

#include <algorithm>
#include <array>
#include <bit>

namespace dataline {
namespace {

constexpr int kWordShift = 6;
constexpr int64_t kWordMask = 63;

size_t word_index(int64_t number) { return static_cast<size_t>(number >> kWordShift); }
uint64_t bit_of(int64_t number) { return uint64_t{1} << (number & kWordMask); }

constexpr int kDocumentBits = 16;  // of a window
constexpr int kDigitBits = 12;

}  // namespace

NumberSet::NumberSet(int64_t bound) {
  do {
    bound = (bound + kWordMask) >> kWordShift;
    levels_.emplace_back(static_cast<size_t>(bound), 0);
  } while (bound > 1);
}

void NumberSet::insert(int64_t number) {
  for (std::vector<uint64_t>& level : levels_) {
    level[word_index(number)] |= bit_of(number);
    number >>= kWordShift;
  }
}

void NumberSet::erase(int64_t number) {
  for (std::vector<uint64_t>& level : levels_) {
    if ((level[word_index(number)] &= ~bit_of(number)) != 0) return;
    number >>= kWordShift;
  }
}

// Up to the first level that has one at or after the number, then down to the smallest below it.
int64_t NumberSet::next(int64_t number) const {
  for (size_t level = 0; level < levels_.size(); ++level) {
    if (word_index(number) >= levels_[level].size()) return -1;
    const uint64_t after = levels_[level][word_index(number)] & (~uint64_t{0} << (number & kWordMask));
    if (after == 0) {
      number = (number >> kWordShift) + 1;
      continue;
    }
    number = (number & ~kWordMask) + std::countr_zero(after);
    while (level-- > 0)
      number = (number << kWordShift) + std::countr_zero(levels_[level][static_cast<size_t>(number)]);
    return number;
  }
  return -1;
}

BestFit::BestFit(int64_t length)
    : length_(length), rooms_(length), last_with_room_(static_cast<size_t>(length), -1) {}

void BestFit::pack(std::span<const int64_t> lengths) {
  sort_pieces(lengths);
  row_of_.assign(lengths.size(), -1);
  fit_pieces();
  number_rows(lengths);
}

// By the room that a piece leaves of a row, ascending, and then by document: the radix sort is stable.
void BestFit::sort_pieces(std::span<const int64_t> lengths) {
  sorted_.clear();
  for (size_t d = 0; d < lengths.size(); ++d) {
    const int64_t piece = lengths[d] <= length_ ? lengths[d] : lengths[d] % length_;
    if (piece > 0) sorted_.push_back(static_cast<uint64_t>(length_ - piece) << kDocumentBits | d);
  }
  spare_.resize(sorted_.size());
  constexpr size_t kDigits = size_t{1} << kDigitBits;
  for (int shift = kDocumentBits; (length_ - 1) >> (shift - kDocumentBits) > 0; shift += kDigitBits) {
    std::array<uint32_t, kDigits + 1> begin{};
    const auto digit = [&](uint64_t piece) { return (piece >> shift) & (kDigits - 1); };
    for (const uint64_t piece : sorted_) ++begin[digit(piece) + 1];
    for (size_t i = 1; i <= kDigits; ++i) begin[i] += begin[i - 1];
    for (const uint64_t piece : sorted_) spare_[begin[digit(piece)]++] = piece;
    sorted_.swap(spare_);
  }
}

void BestFit::put_row(int32_t row, int64_t room) {
  room_of_[static_cast<size_t>(row)] = room;
  if (room == 0) return;  // full
  int32_t& last = last_with_room_[static_cast<size_t>(room)];
  if (last < 0) rooms_.insert(room);
  earlier_[static_cast<size_t>(row)] = last;
  last = row;
}

// The row for a piece; -1: a new one is needed.
int32_t BestFit::take_row(int64_t piece) {
  const int64_t room = piece < length_ ? rooms_.next(piece) : -1;
  if (room < 0) return -1;
  int32_t& last = last_with_room_[static_cast<size_t>(room)];
  const int32_t row = last;
  last = earlier_[static_cast<size_t>(row)];
  if (last < 0) rooms_.erase(room);
  return row;
}

void BestFit::fit_pieces() {
  room_of_.clear();
  earlier_.clear();
  for (const uint64_t packed : sorted_) {
    const int64_t piece = length_ - static_cast<int64_t>(packed >> kDocumentBits);
    const auto document = static_cast<size_t>(packed & ((1u << kDocumentBits) - 1));
    int32_t row = take_row(piece);
    if (row < 0) {
      row = static_cast<int32_t>(room_of_.size());
      room_of_.push_back(length_);
      earlier_.push_back(-1);
    }
    row_of_[document] = row;
    put_row(row, room_of_[static_cast<size_t>(row)] - piece);
  }
  for (const int64_t room : room_of_) {  // empty for the next window
    if (room == 0 || last_with_room_[static_cast<size_t>(room)] < 0) continue;
    last_with_room_[static_cast<size_t>(room)] = -1;
    rooms_.erase(room);
  }
}

void BestFit::number_rows(std::span<const int64_t> lengths) {
  // How many pieces each row has, then where they begin; a document's full rows come before the row of its rest.
  number_of_.assign(room_of_.size(), -1);
  row_ends_.clear();
  const auto full_rows = [&](size_t d) { return lengths[d] > length_ ? lengths[d] / length_ : int64_t{0}; };
  for (size_t d = 0; d < lengths.size(); ++d) {
    row_ends_.insert(row_ends_.end(), static_cast<size_t>(full_rows(d)), 1);
    if (row_of_[d] < 0) continue;
    int32_t& number = number_of_[static_cast<size_t>(row_of_[d])];
    if (number < 0) {
      number = static_cast<int32_t>(row_ends_.size());
      row_ends_.push_back(0);
    }
    ++row_ends_[static_cast<size_t>(number)];
  }
  uint32_t pieces = 0;
  for (uint32_t& end : row_ends_) {  // for now where the row begins
    const uint32_t count = end;
    end = pieces;
    pieces += count;
  }
  pieces_.resize(pieces);
  int64_t next = 0;  // the first row whose first document has not come
  for (size_t d = 0; d < lengths.size(); ++d) {
    for (int64_t full = full_rows(d); full > 0; --full, ++next) {
      pieces_[row_ends_[static_cast<size_t>(next)]++] = static_cast<uint16_t>(d);
    }
    if (row_of_[d] < 0) continue;
    const auto number = static_cast<int64_t>(number_of_[static_cast<size_t>(row_of_[d])]);
    next = std::max(next, number + 1);
    pieces_[row_ends_[static_cast<size_t>(number)]++] = static_cast<uint16_t>(d);
  }
}

}  // namespace dataline
