// SPDX-License-Identifier: Apache-2.0
#include "core/source/arrow/flatbuffer.h"

namespace dataline {
namespace {

constexpr int64_t kWord = 4;  // of distances and counts

}  // namespace

bool FlatBuffer::fits(int64_t at, int64_t bytes, std::string_view what) {
  if (!ok()) return false;
  if (++visits_ > kMaxVisits) {
    refuse(Code::kTooLarge, 0, "metadata with more than ", kMaxVisits, " references to its parts");
    return false;
  }
  if (extent_fits(at, bytes, size())) return true;
  refuse(Code::kCorrupt, 0, what, " is at byte ", at, " of the metadata, which has ", size(), " bytes");
  return false;
}

int64_t FlatBuffer::follow(int64_t at, std::string_view what) {
  if (!fits(at, kWord, what)) return -1;
  const int64_t to = at + load<uint32_t>(at);
  return fits(to, kWord, what) ? to : -1;
}

FlatTable FlatBuffer::root() {
  const int64_t at = follow(0, "the root table");
  return at < 0 ? FlatTable() : FlatTable(this, at);
}

FlatTable::FlatTable(FlatBuffer* buffer, int64_t at) {
  if (!buffer->fits(at, kWord, "a table")) return;
  const int64_t vtable = at - buffer->load<int32_t>(at);
  if (!buffer->fits(vtable, kWord, "a vtable")) return;
  vtable_bytes_ = buffer->load<uint16_t>(vtable);
  table_bytes_ = buffer->load<uint16_t>(vtable + 2);
  if (!buffer->fits(vtable, vtable_bytes_, "a vtable") || !buffer->fits(at, table_bytes_, "a table")) return;
  buffer_ = buffer;
  at_ = at;
  vtable_ = vtable;
}

int64_t FlatTable::place(int field, int64_t bytes) const {
  const int64_t entry = kWord + int64_t{2} * field;
  if (!present() || !buffer_->ok() || entry + 2 > vtable_bytes_) return -1;
  const int64_t offset = buffer_->load<uint16_t>(vtable_ + entry);
  if (offset == 0) return -1;
  if (extent_fits(offset, bytes, table_bytes_)) return at_ + offset;
  buffer_->refuse(Code::kCorrupt, at_, "field ", field, " is at byte ", offset,
                  " of a table of the metadata, which has ", table_bytes_, " bytes");
  return -1;
}

FlatTable FlatTable::table(int field) const {
  const int64_t at = place(field, kWord);
  const int64_t to = at < 0 ? -1 : buffer_->follow(at, "a table");
  return to < 0 ? FlatTable() : FlatTable(buffer_, to);
}

FlatVector FlatTable::vector(int field, int64_t element_bytes) const {
  FlatVector out;
  const int64_t at = place(field, kWord);
  const int64_t to = at < 0 ? -1 : buffer_->follow(at, "a vector");
  if (to < 0) return out;
  const int64_t count = buffer_->load<uint32_t>(to);
  // Of two 32-bit numbers: no overflow.
  if (!buffer_->fits(to + kWord, count * element_bytes, "a vector")) return out;
  out.buffer_ = buffer_;
  out.begin_ = to + kWord;
  out.size_ = count;
  out.element_bytes_ = element_bytes;
  return out;
}

std::string_view FlatTable::text(int field) const {
  const FlatVector bytes = vector(field, 1);
  if (bytes.size() == 0) return {};
  return {reinterpret_cast<const char*>(buffer_->bytes_.data()) + bytes.at(),
          static_cast<size_t>(bytes.size())};
}

FlatTable FlatVector::table(int64_t i) const {
  const int64_t to = buffer_->follow(begin_ + i * element_bytes_, "a table");
  return to < 0 ? FlatTable() : FlatTable(buffer_, to);
}

}  // namespace dataline
