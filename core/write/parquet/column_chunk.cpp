// SPDX-License-Identifier: Apache-2.0
#include "core/write/parquet/column_chunk.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "core/source/crc32.h"
#include "core/write/whole_numbers.h"

namespace dataline {
namespace {

// As large as those of other writers: what a reader inflates, checks and decodes at a time lies in its cache.
constexpr int64_t kDataPageBytes = int64_t{1} << 20;
constexpr int64_t kDataPageEntries = int64_t{1} << 20;

// Numbers of parquet.thrift.
constexpr int32_t kDataPage = 0, kDictionaryPage = 2;
constexpr int32_t kPlain = 0, kRle = 3, kRleDictionary = 8;

int level_width(int most) {
  return std::max(1, static_cast<int>(std::bit_width(static_cast<uint32_t>(most))));
}

// What comes before levels: how many bytes they have.
std::array<std::byte, 4> level_length(Bytes bytes) {
  std::array<std::byte, 4> out;
  const auto size = static_cast<uint32_t>(bytes.size());
  for (size_t i = 0; i < 4; ++i) out[i] = static_cast<std::byte>(size >> (8 * i));
  return out;
}

// The head of one run of packed indices of 8 bits: the bits of one, then how many groups of eight come. A run is never empty.
std::vector<std::byte> index_head(int64_t count) {
  std::vector<std::byte> out = {std::byte{8}};
  if (count == 0) return out;
  uint64_t value = static_cast<uint64_t>((count + 7) / 8) << 1 | 1;
  for (; value >= 128; value >>= 7) out.push_back(static_cast<std::byte>(value | 128));
  out.push_back(static_cast<std::byte>(value));
  return out;
}

}  // namespace

void ParquetRange::add(DType dtype, const std::byte* at) {
  const uint64_t value = whole_number_at(dtype, at);
  // Turned over, negative numbers are below others.
  const uint64_t turn = is_signed_dtype(dtype) ? uint64_t{1} << 63 : 0;
  if (!known || (value ^ turn) < (least ^ turn)) least = value;
  if (!known || (value ^ turn) > (most ^ turn)) most = value;
  known = true;
}

ColumnChunk::ColumnChunk(const Field& field, Compressor& compressor)
    : field_(field),
      type_(parquet_column_type(field)),
      compressor_(compressor),
      repetition_(level_width(type_.max_repetition())),
      definition_(level_width(type_.max_definition())) {}

Status ColumnChunk::add(const HostRows& rows, size_t f, int64_t first, int64_t end) {
  if (pages_.empty() && entries_ == 0) DL_RETURN_IF_ERROR(put_dictionary());
  for (int64_t r = first; r < end; ++r) DL_RETURN_IF_ERROR(add_row(rows.cell(f, r)));
  return Status::ok();
}

Status ColumnChunk::add_row(Bytes cell) {
  if (type_.lists.empty()) {
    ++entries_;
    if (type_.type == ParquetType::kByteArray)
      put(level_length(cell));
    else if (dtype_is_integer(field_.dtype))
      range_.add(field_.dtype, cell.data());
  } else {
    add_levels(static_cast<int64_t>(cell.size()) / field_.item_bytes());
  }
  add_values(cell);
  return page_bytes() >= kDataPageBytes || entries_ >= kDataPageEntries ? end_page() : Status::ok();
}

// `items`: how long the outermost list is, where it varies. A value that goes on in list l has repetition l (from 1), and the first
// one of a row 0.
void ColumnChunk::add_levels(int64_t items) {
  const std::vector<int64_t>& lists = type_.lists;
  const auto deepest = static_cast<uint8_t>(lists.size());
  if (lists[0] < 0 && items == 0) {
    repetition_.add(0, 1);
    definition_.add(0, 1);
    ++entries_;
    return;
  }
  int64_t outer = 1;
  for (size_t l = 0; l + 1 < lists.size(); ++l) outer *= lists[l] < 0 ? items : lists[l];
  const int64_t inner = lists.back() < 0 ? items : lists.back();
  for (int64_t o = 0; o < outer; ++o) {
    // The list that goes on with this innermost one: the others within it begin too.
    size_t begin = 0;
    if (o > 0) {
      begin = lists.size() - 1;
      for (int64_t left = o; begin > 1 && left % lists[begin - 1] == 0; --begin) left /= lists[begin - 1];
    }
    repetition_.add(static_cast<uint8_t>(begin), 1);
    repetition_.add(deepest, inner - 1);
  }
  definition_.add(static_cast<uint8_t>(type_.max_definition()), outer * inner);
  entries_ += outer * inner;
}

template <typename Stored, typename Given>
void ColumnChunk::widen(Bytes cell) {
  const size_t before = values_.size(), count = cell.size() / sizeof(Given);
  values_.resize(before + count * sizeof(Stored));
  for (size_t i = 0; i < count; ++i) {
    const auto value = static_cast<Stored>(load_native<Given>(cell.data() + i * sizeof(Given)));
    std::memcpy(values_.data() + before + i * sizeof value, &value, sizeof value);
  }
}

void ColumnChunk::add_bits(Bytes cell) {
  values_.resize(static_cast<size_t>(bits_ + static_cast<int64_t>(cell.size()) + 7) / 8);
  for (const std::byte flag : cell) {
    if (flag != std::byte{0}) values_[static_cast<size_t>(bits_ / 8)] |= std::byte{1} << (bits_ % 8);
    ++bits_;
  }
}

void ColumnChunk::add_values(Bytes cell) {
  switch (field_.dtype) {
    case DType::kBool:
      return add_bits(cell);
    case DType::kU16:
      return widen<uint32_t, uint16_t>(cell);
    case DType::kI16:
      return widen<int32_t, int16_t>(cell);
    default:
      return put(cell);
  }
}

int64_t ColumnChunk::page_bytes() const {
  return static_cast<int64_t>(values_.size()) + repetition_.size() + definition_.size();
}

int64_t ColumnChunk::bytes() const { return static_cast<int64_t>(pages_.size()) + page_bytes(); }

Status ColumnChunk::put_dictionary() {
  if (!type_.indexed) return Status::ok();
  std::array<int32_t, 256> dictionary = {};
  for (size_t i = 0; i < dictionary.size(); ++i)
    dictionary[i] = field_.dtype == DType::kI8 ? static_cast<int8_t>(i) : static_cast<int32_t>(i);
  const std::array<Bytes, 1> body = {std::as_bytes(std::span(dictionary))};
  DL_RETURN_IF_ERROR(put_page(kDictionaryPage, 256, kPlain, body));
  dictionary_bytes_ = static_cast<int64_t>(pages_.size());
  return Status::ok();
}

Status ColumnChunk::end_page() {
  std::vector<std::byte> index;
  if (type_.indexed) {
    index = index_head(static_cast<int64_t>(values_.size()));
    values_.resize((values_.size() + 7) / 8 * 8);
  }
  repetition_.finish();
  definition_.finish();
  const std::array<std::byte, 4> repetition = level_length(repetition_.bytes()),
                                 definition = level_length(definition_.bytes());
  const Bytes none;
  const std::array<Bytes, 6> body = {type_.max_repetition() > 0 ? Bytes(repetition) : none,
                                     repetition_.bytes(),
                                     type_.max_definition() > 0 ? Bytes(definition) : none,
                                     definition_.bytes(),
                                     index,
                                     values_};
  Status status = put_page(kDataPage, entries_, type_.indexed ? kRleDictionary : kPlain, body);
  finished_entries_ += entries_;
  entries_ = bits_ = 0;
  repetition_.clear();
  definition_.clear();
  values_.clear();
  return status;
}

Status ColumnChunk::put_page(int32_t kind, int64_t entries, int32_t encoding, std::span<const Bytes> body) {
  plain_.clear();
  for (const Bytes part : body) plain_.insert(plain_.end(), part.begin(), part.end());
  compressed_.clear();
  const bool compresses = compressor_.codec() != WriteCodec::kNone;
  if (compresses) DL_RETURN_IF_ERROR(compressor_.compress(plain_, compressed_));
  const Bytes stored = compresses ? compressed_ : plain_;
  if (stored.size() > INT32_MAX)
    return error(Code::kTooLarge, "field '", field_.name, "': a page of ", stored.size(),
                 " bytes, expected at most ", INT32_MAX);
  ThriftWriter header;
  header.i32(1, kind);
  header.i32(2, static_cast<int32_t>(plain_.size()));
  header.i32(3, static_cast<int32_t>(stored.size()));
  header.i32(4, static_cast<int32_t>(extend_crc32(0, stored)));
  header.begin(kind == kDataPage ? 5 : 7);
  header.i32(1, static_cast<int32_t>(entries));
  header.i32(2, encoding);
  if (kind == kDataPage) {
    header.i32(3, kRle);
    header.i32(4, kRle);
  }
  header.end();
  header.end();
  pages_.insert(pages_.end(), header.bytes().begin(), header.bytes().end());
  pages_.insert(pages_.end(), stored.begin(), stored.end());
  plain_bytes_ += std::ssize(header.bytes()) + std::ssize(plain_);
  return Status::ok();
}

Status ColumnChunk::write(ShardFile& file, ParquetChunk& out) {
  if (entries_ > 0) DL_RETURN_IF_ERROR(end_page());
  out.offset = file.bytes();
  out.dictionary_bytes = dictionary_bytes_;
  out.bytes = static_cast<int64_t>(pages_.size());
  out.plain_bytes = plain_bytes_;
  out.range = range_;
  out.values = finished_entries_;
  DL_RETURN_IF_ERROR(file.write(pages_));
  clear();
  return Status::ok();
}

void ColumnChunk::clear() {
  repetition_.clear();
  definition_.clear();
  values_.clear();
  pages_.clear();
  range_ = {};
  entries_ = bits_ = dictionary_bytes_ = finished_entries_ = plain_bytes_ = 0;
}

}  // namespace dataline
